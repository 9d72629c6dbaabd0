# SPDX-License-Identifier: Apache-2.0
"""What is installed beside the program: manual pages that say what the code does, and systemd units."""

import ctypes.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import PASSWORD, ROOT, TOKEN, Center, binary, clean_environment  # noqa: E402 (path just set)
from support.executor import Executor  # noqa: E402
from support.installed import Installed, command  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.standin import StandinCenter  # noqa: E402
from support.wait import wait_until  # noqa: E402

PRESET = os.environ.get("PEAL_PRESET", "dev")

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
        "man1/peal-ctl.1", "man1/peal-executor.1", "man1/peal.1", "man3/peal_executor.3"]


# -- systemd --

UNITS = ["peal-executor.service", "peal-server.service"]
NEEDED = {"NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes",
          "KillMode": "mixed", "Type": "notify", "WatchdogSec": "30s", "UMask": "0077", "CapabilityBoundingSet": ""}


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
    users = (installed.prefix / "lib" / "sysusers.d" / f"peal-{what}.conf").read_text()
    assert service["User"] == service["Group"] == re.search(r"^u (\S+) ", users, re.M)[1]
    assert f"d /var/lib/{service['StateDirectory']} {service['StateDirectoryMode']} {service['User']} {service['User']}\n" in (
        installed.prefix / "lib" / "tmpfiles.d" / f"peal-{what}.conf").read_text()
    assert service["EnvironmentFile"] == f"-/etc/peal/{what}.env"
    assert "@" not in service["ExecStart"] and "ProtectProc" in service


def findings(path):
    """What systemd-analyze says of a unit, and not of those of other packages, which it reads as well."""
    return [line for line in command("systemd-analyze", "verify", "--man=no", path).splitlines()
            if not re.match(r"/(usr/)?lib/systemd/system/(?!peal)", line)]


@pytest.mark.parametrize("name", UNITS)
def test_systemd_itself_takes_the_unit(tmp_path, name):
    """systemd-analyze says nothing about it; where it is not installed the test above has to do."""
    if not shutil.which("systemd-analyze"):
        return
    here = Installed(tmp_path, "/usr")
    path = here.prefix / "lib" / "systemd" / "system" / name
    path.write_text(path.read_text().replace("ExecStart=/usr", f"ExecStart={here.prefix}"))
    assert findings(path) == []


def test_the_socket_of_the_center_is_where_it_listens_itself(tmp_path):
    here = Installed(tmp_path, "/usr")
    units = here.prefix / "lib" / "systemd" / "system"
    sections = unit(units / "peal-server.socket")
    assert list(sections) == ["Unit", "Socket", "Install"]
    assert sections["Socket"]["ListenStream"] in command(binary(), "server", "--help"), "the default of the setting"
    if shutil.which("systemd-analyze"):  # with the service of the same name, which it starts
        service = units / "peal-server.service"
        service.write_text(service.read_text().replace("ExecStart=/usr", f"ExecStart={here.prefix}"))
        assert findings(units / "peal-server.socket") == []


class Service:
    """A unit's service in a folder of its own: what its administrator writes, and how it is started."""

    def __init__(self, folder, name, settings):
        self.tree = Installed(folder / "tree", "/usr")
        self.unit = self.tree.prefix / "lib" / "systemd" / "system" / f"peal-{name}.service"
        self.conf, self.state = folder / "etc", folder / "state"
        self.conf.mkdir()
        self.state.mkdir(mode=0o700)
        (self.conf / f"{name}.properties").write_text("".join(f"{k}={v}\n" for k, v in settings.items()))
        env = self.conf / f"{name}.env"
        env.write_text(f"# the token\nPEAL_ACCESS_TOKEN={TOKEN}\nPEAL_ADMIN_PASSWORD={PASSWORD}\n")
        if os.geteuid() == 0:
            env.chmod(0o600)
            os.chown(self.state, 61999, 61999)
        # a sanitizer's runtime does not live with the filter: it wants ptrace, personality and the like
        self.filter = (shutil.which("systemd-analyze") and ctypes.util.find_library("seccomp") and
                       PRESET not in ("asan", "tsan"))

        probe = subprocess.run([*self.command, "--may"], capture_output=True, text=True, check=False)
        if probe.returncode == 77:
            pytest.skip(probe.stderr.strip())
        assert probe.returncode == 0, probe.stderr

    @property
    def command(self):
        return [sys.executable, "-I", str(ROOT / "tests" / "support" / "as_service.py"), str(self.unit),
                str(self.tree.prefix), str(self.conf), str(self.state), *([] if self.filter else ["--no-filter"])]

    def written(self):
        """Everything that it wrote, relative to its folder; all is its own business only."""
        paths = list(self.state.rglob("*"))
        assert not [p for p in paths if p.stat().st_mode & 0o077], paths
        return {str(p.relative_to(self.state)) for p in paths}


class ServiceExecutor(Executor):
    def __init__(self, folder, service):
        super().__init__(folder, "")
        self.command, self.env = service.command, clean_environment()


class ServiceCenter(Center):
    def start(self, timeout=20):
        with open(self.output, "ab") as out:
            self.process = subprocess.Popen(self.service.command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                            env=clean_environment())
        self._down = False
        wait_until(self._ready, f"{self.url}/readyz to answer 200", timeout, 0.02)
        return self


def test_the_unit_of_the_executor_starts_serves_and_ends(tmp_path):
    """With the unit's own environment as far as a test can make it: as_service.py says how far."""
    with StandinCenter() as center:
        service = Service(tmp_path, "executor", {
            "xxl.job.admin.addresses": center.url, "xxl.job.executor.appname": "service", "listen": "127.0.0.1",
            "xxl.job.executor.port": 0, "peal.executor.glue": "shell", "peal.executor.commands": "id",
            "peal.executor.http.hosts": "127.0.0.1", "peal.executor.http.private": "true"})
        with ServiceExecutor(tmp_path, service) as executor:
            wait_until(lambda: center.of("registry"), "it to register")
            executor.run(1, 1, "demoJobHandler")
            executor.run(2, 2, "commandJobHandler", "id")
            executor.run_shell(3, 3, "set -e; id -u; pwd; umask; echo >$HOME/x || echo not writable; touch y; "
                                     "grep -E '^(NoNewPrivs|Seccomp|CapBnd):' /proc/self/status; sleep 0.01 & wait; exit 0")
            executor.run(4, 4, "httpJobHandler", f"url: {center.url}/api/registry\nmethod: POST\ndata: {{}}")
            for log in (1, 2, 3, 4):
                assert center.result(log)["handleCode"] == 200, (center.result(log), executor.said())
            said = executor.log(3)["logContent"]
            assert "NoNewPrivs:\t1" in said and "0077" in said
            assert not service.filter or "Seccomp:\t2" in said
            if os.geteuid() == 0:
                assert "61999\n" in said and "not writable" in said and "CapBnd:\t0000000000000000" in said
            executor.run(5, 5, "sleepJobHandler", "3600000")
            executor.wait_for_log(5, "sleeping")
            executor.terminate()
            wait_until(lambda: "stopping" in executor.said(), "it to stop")
            executor.terminate()  # a second one does not wait for what is at work
            executor.wait()
            assert center.result(5)["handleCode"] == 500
            assert center.of("registryRemove")
        assert "peal-executor-logs/journal.db" in service.written()
        executor.start()  # again, on what it left
        executor.stop()


def test_the_unit_of_the_center_starts_serves_and_ends(tmp_path):
    center = ServiceCenter(tmp_path)
    center.service = Service(tmp_path, "server", {"listen": f"127.0.0.1:{center.port}"})
    with center, Puppet(center, "service") as puppet:
        api = center.api()
        job = api.add_job(api.add_group("service"), "each second", scheduleType="CRON", scheduleConf="* * * * * ?")
        api.start_job(job)
        puppet.wait_for_runs(2)
        assert center.metric("peal_recorder") == 1
        api.stop_job(job)
        center.stop()
        assert "peal-data/peal.db" in center.service.written()
        center.start()
        assert center.api().groups("service")


def test_systemd_tries_a_server_that_was_refused_again_without_end(installed):
    it = unit(installed.prefix / "lib" / "systemd" / "system" / "peal-server.service")
    assert it["Service"]["Restart"] == "on-failure" and it["Unit"]["StartLimitIntervalSec"] == "0"


def test_systemd_waits_as_long_as_the_executor_takes_to_stop(installed):
    text = command(binary(), "executor", "--help")
    stop, grace = (seconds(re.search(rf"--peal\.executor\.stop\.{k} .*\(default (\w+)\)", text)[1])
                   for k in ("timeout", "grace"))
    service = unit(installed.prefix / "lib" / "systemd" / "system" / "peal-executor.service")["Service"]
    assert seconds(service["TimeoutStopSec"]) > stop + grace + 10
