# SPDX-License-Identifier: Apache-2.0
"""libpeal as it is installed: what it exports, what it keeps to itself, and that both forms can be linked."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import ROOT, binary  # noqa: E402 (path just set)
from support.installed import Installed, command  # noqa: E402

HEADER = ROOT / "include" / "peal" / "executor.h"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("installed"))


def declared():
    """Names of the functions that the header says are public."""
    text = re.sub(r"/\*.*?\*/", " ", HEADER.read_text(), flags=re.S)
    names = re.findall(r"^PEAL_PUBLIC\b[^;(]*?(\w+)\(", text, re.M)
    assert len(names) == len(set(names)) > 30
    return sorted(names)


def defined(*args):
    """Names of the defined symbols that nm lists, without versions and absolute ones."""
    lines = command("nm", "-P", "--defined-only", *args).splitlines()
    fields = [line.split() for line in lines if line and not line.endswith(":")]
    return sorted(f[0].split("@")[0] for f in fields if f[1] in "TtDdBbRrVvWw")


def test_the_shared_library_exports_what_the_header_declares_and_nothing_else(installed):
    assert defined("-D", installed.shared) == declared()


def test_the_archive_shows_its_host_the_same_names(installed):
    assert defined("-g", installed.archive) == declared()


def test_its_name_carries_the_version_of_its_interface(installed):
    dynamic = command("readelf", "-d", installed.shared)
    assert "soname: [libpeal.so.0]" in dynamic
    assert not re.search(r"\((RPATH|RUNPATH)\)", dynamic)
    version = command(binary(), "version").split()[1]
    assert os.path.realpath(installed.shared) == str(installed.lib / f"libpeal.so.{version}")
    assert installed.pkg_config("--modversion", "peal") == installed.pkg_config("--modversion", "peal-static") \
        == [version]


def test_it_never_ends_its_host(installed):
    """It calls neither exit nor abort. (Children that it forks leave by _exit.)"""
    names = {line.split()[0].split("@")[0] for line in command("nm", "-D", "-P", "-u", installed.shared).splitlines()}
    assert not names & {"exit", "_Exit", "quick_exit", "abort", "raise"}


CLASH = r"""
#include <peal/executor.h>
#include <stdio.h>
void log_line(void);
void *buf_add(const char *text);
int mem_new, loop_new, run_log;
void log_line(void) { puts("the host's own"); }
void *buf_add(const char *text) { (void)text; return NULL; }
int main(void)
{
    struct peal_executor *e = peal_executor_new();
    if (!e)
        return 1;
    log_line();
    peal_executor_free(e);
    return mem_new + loop_new + run_log;
}
"""


@pytest.mark.parametrize("static", [False, True], ids=["shared", "static"])
def test_a_host_may_have_names_that_the_library_uses_inside(installed, tmp_path, static):
    source = tmp_path / "clash.c"
    source.write_text(CLASH)
    program = installed.compile(source, tmp_path / "clash", static)
    assert ("libpeal" in command("readelf", "-d", program)) != static
    done = subprocess.run([program], env={**os.environ, **installed.environment()}, capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "the host's own\n", "")


CPLUSPLUS = r"""
#include <peal/executor.h>
static int hello(struct peal_run *run) { peal_log(run, "hello, %s", peal_param(run)); return 0; }
int main(int argc, char **argv)
{
    static const peal_handler handler = { "hello", hello, nullptr, nullptr, nullptr, PEAL_IDEMPOTENT };
    static const peal_handler *const handlers[] = { &handler };
    return peal_executor_run(argc, argv, handlers, 1);
}
"""


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_the_header_is_cplusplus_too(installed, tmp_path, standard):
    source = tmp_path / "hello.cc"
    source.write_text(CPLUSPLUS)
    command("g++", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
            *installed.pkg_config("--cflags", "peal"), source)


@pytest.mark.parametrize("standard", ["c99", "c11", "gnu17"])
def test_the_header_is_plain_c(installed, tmp_path, standard):
    source = tmp_path / "twice.c"
    source.write_text("#include <peal/executor.h>\n#include <peal/executor.h>\nPEAL_HANDLER(a) { return run == 0; }\n"
                      "PEAL_HANDLER(b, .flags = PEAL_PROCESS | PEAL_IDEMPOTENT) { return run == 0; }\n"
                      "PEAL_HANDLER(unused) { return 0; }\n"
                      "PEAL_HANDLER(c) { peal_progress(run, 1, \"text\"); (peal_progress)(run, 2, \"%d\", 3); return 0; }\n"
                      "int main(int argc, char **argv) { return peal_executor_main(argc, argv); }\n")
    command("gcc", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wstrict-prototypes", "-Werror",
            "-fsyntax-only", *installed.pkg_config("--cflags", "peal"), source)


def test_handlers_survive_a_linker_that_throws_away_what_nobody_names(installed, tmp_path):
    flags = ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-Wl,-z,start-stop-gc"]
    program = installed.compile(ROOT / "examples" / "hello.c", tmp_path / "hello", flags=flags)
    assert "peal_handlers" in command("readelf", "-SW", program)


def test_make_uninstall_leaves_nothing(tmp_path):
    """What make install does, and the script behind make uninstall, in a copy of the tree's top."""
    tree = Installed(tmp_path / "root")
    files = [p for p in tree.folder.rglob("*") if not p.is_dir()]
    assert len(files) > 20
    (tmp_path / "top" / "build").mkdir(parents=True)
    (tmp_path / "top" / "scripts").mkdir()
    script = tmp_path / "top" / "scripts" / "uninstall.sh"
    script.write_text((ROOT / "scripts" / "uninstall.sh").read_text())
    (tmp_path / "top" / "build" / "installed").write_text(
        "\n".join("/" + str(p.relative_to(tree.folder)) for p in files))
    (tree.prefix / "bin" / "other").write_text("not ours")
    command("bash", script, env={**os.environ, "DESTDIR": str(tree.folder)})
    assert [p for p in tree.folder.rglob("*") if not p.is_dir()] == [tree.prefix / "bin" / "other"]
    assert not (tree.prefix / "include" / "peal").exists() and not (tree.prefix / "share" / "doc" / "peal").exists()
