# SPDX-License-Identifier: Apache-2.0
"""What is installed beside the program: manual pages that say what the code does, and systemd units."""

import pathlib
import re
import shutil
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import ROOT, binary  # noqa: E402 (path just set)
from support.installed import Installed, command  # noqa: E402

HEADER = ROOT / "include" / "peal" / "executor.h"
PAGE = ROOT / "man" / "peal_executor.3"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("installed"), "/usr")


def header():
    return re.sub(r"/\*.*?\*/", " ", HEADER.read_text(), flags=re.S)


# -- manual pages --


def test_the_page_of_the_header_has_each_function_and_constant():
    page = PAGE.read_text()
    synopsis, rest = page.split(".Sh DESCRIPTION")
    functions = re.findall(r"^PEAL_PUBLIC\b[^;(]*?(\w+)\(", header(), re.M) + ["peal_executor_main", "PEAL_HANDLER"]
    assert [f for f in functions if not re.search(rf"\b{f}\(", synopsis)] == []
    assert [f for f in functions if not re.search(rf"^\.(It )?.*Fn {f}\b", rest, re.M)] == []
    enums = re.findall(r"enum peal_\w+ \{(.*?)\}", header(), re.S)
    constants = {name for body in enums for name in re.findall(r"\bPEAL_[A-Z_]+\b", body)}
    assert len(constants) > 15
    assert [c for c in sorted(constants) if c not in page] == []


def test_the_page_of_the_header_has_each_member():
    page = PAGE.read_text()
    for struct in ("peal_handler", "peal_status"):
        body = re.search(rf"struct {struct} \{{(.*?)\}};", header(), re.S)[1]
        members = re.findall(r"\(\*(\w+)\)|(\w+)(?=[,;])", body)
        names = {a or b for a, b in members}
        assert len(names) > 4
        assert [n for n in sorted(names) if not re.search(rf"\.(It )?Fa {n}\b", page)] == []


def test_the_synopsis_is_what_the_header_declares():
    """The same functions with the same arguments."""
    def flat(text):
        text = re.sub(r"PEAL_(PUBLIC|FORMAT\([^)]*\))", " ", text)
        return {re.sub(r"\s+", " ", d).strip().replace("( ", "(") for d in re.findall(r"[\w *]+\bpeal_\w+\([^;{]*\)", text)}
    synopsis = PAGE.read_text().split(".Sh DESCRIPTION")[0]
    told = flat(re.sub(r"/\*.*?\*/", " ", synopsis))
    public = flat(" ".join(re.findall(r"^PEAL_PUBLIC[^;]*;", header(), re.M)))
    assert len(public) > 30 and public - told == set()


def test_the_options_are_those_of_the_help():
    command(ROOT / "scripts" / "options-page.py", binary(), ROOT / "man" / "peal-executor.1")


def test_each_command_is_in_the_page_of_the_program():
    commands = re.findall(r"^  (\w+) ", command(binary(), "--help"), re.M)
    assert re.findall(r"^\.It Cm (\w+)", (ROOT / "man" / "peal.1").read_text(), re.M) == commands


def test_pages_are_installed_where_man_looks(installed):
    man = installed.prefix / "share" / "man"
    assert sorted(str(p.relative_to(man)) for p in man.rglob("*.*")) == [
        "man1/peal-executor.1", "man1/peal.1", "man3/peal_executor.3"]


# -- systemd --

UNITS = ["peal-executor.service", "peal-server.service"]
NEEDED = {"NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes",
          "DynamicUser": "yes", "KillMode": "mixed", "Type": "simple", "UMask": "0077", "CapabilityBoundingSet": ""}


def unit(path):
    """{section: {key: value}} of a unit without repeated keys."""
    sections, now = {}, None
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            now = sections.setdefault(line.strip("[]"), {})
            continue
        key, value = line.split("=", 1)
        assert re.fullmatch(r"[A-Z]\w+", key) and key not in now, line
        now[key] = value
    return sections


def seconds(text):
    number, suffix = re.fullmatch(r"(\d+)(ms|s|m|h)", text).groups()
    return int(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[suffix]


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_is_hardened_and_starts_the_installed_program(installed, name):
    path = installed.prefix / "lib" / "systemd" / "system" / name
    sections = unit(path)
    assert list(sections) == ["Unit", "Service", "Install"]
    service = sections["Service"]
    assert {key: service.get(key) for key in NEEDED} == NEEDED
    program, what, *_ = service["ExecStart"].split()
    assert program == "/usr/bin/peal" and (installed.folder / program.lstrip("/")).exists()
    assert name == f"peal-{what}.service"
    assert service["EnvironmentFile"] == f"-/etc/peal/{what}.env"
    assert "@" not in service["ExecStart"] and "ProtectProc" in service


@pytest.mark.parametrize("name", UNITS)
def test_systemd_itself_takes_the_unit(tmp_path, name):
    """systemd-analyze says nothing about it; where it is not installed the test above has to do."""
    if not shutil.which("systemd-analyze"):
        return
    here = Installed(tmp_path, "/usr")
    path = here.prefix / "lib" / "systemd" / "system" / name
    path.write_text(path.read_text().replace("ExecStart=/usr", f"ExecStart={here.prefix}"))
    assert command("systemd-analyze", "verify", "--man=no", path) == ""


def test_systemd_waits_as_long_as_the_executor_takes_to_stop(installed):
    text = command(binary(), "executor", "--help")
    stop, grace = (seconds(re.search(rf"--peal\.executor\.stop\.{k} .*\(default (\w+)\)", text)[1])
                   for k in ("timeout", "grace"))
    service = unit(installed.prefix / "lib" / "systemd" / "system" / "peal-executor.service")["Service"]
    assert seconds(service["TimeoutStopSec"]) > stop + grace + 10
