# SPDX-License-Identifier: Apache-2.0
"""scripts/check-hardening.py passes a binary built with all the flags and names each one that is left out."""
import os
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = ["-D_FORTIFY_SOURCE=2", "-fstack-protector-strong", "-fPIE", "-pie", "-Wl,-z,relro,-z,now,-z,noexecstack"]
SOURCE = """#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char a[64];
    memcpy(a, argv[0], (size_t)argc);
    return printf("%s", a) < 0;
}
"""


def check(folder, flags):
    (folder / "a.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O2", "-w", "-o", "a", "a.c", *flags], cwd=folder, check=True)
    done = subprocess.run([os.path.join(ROOT, "scripts", "check-hardening.py"), folder / "a"],
                          capture_output=True, text=True)
    return done.returncode, done.stdout


def test_a_hardened_binary_passes(tmp_path):
    assert check(tmp_path, FLAGS) == (0, f"{tmp_path}/a: hardened\n")


def test_a_hardened_shared_library_passes_and_one_that_binds_lazily_does_not(tmp_path):
    flags = [f for f in FLAGS if f not in ("-fPIE", "-pie")] + ["-fPIC", "-shared", "-Wl,-soname,liba.so.0"]
    assert check(tmp_path, flags) == (0, f"{tmp_path}/a: hardened\n")
    assert check(tmp_path, [*flags, "-Wl,-z,lazy"]) == (1, f"{tmp_path}/a: missing: BIND_NOW\n")


@pytest.mark.parametrize("flag, against, missing", [
    ("-D_FORTIFY_SOURCE=2", ["-U_FORTIFY_SOURCE"], "fortified calls"),
    ("-fstack-protector-strong", ["-fno-stack-protector"], "stack protector"),
    ("-pie", ["-no-pie"], "position independent executable"),
    ("-Wl,-z,relro,-z,now,-z,noexecstack", ["-Wl,-z,norelro"], "RELRO"),
    ("-Wl,-z,relro,-z,now,-z,noexecstack", ["-Wl,-z,lazy"], "BIND_NOW"),
    ("-Wl,-z,relro,-z,now,-z,noexecstack", ["-Wl,-z,execstack"], "stack that is not executable"),
    ("-Wl,-z,relro,-z,now,-z,noexecstack", ["-Wl,-rpath,/tmp"], "no run path"),
])
def test_what_is_left_out_is_named(tmp_path, flag, against, missing):
    status, out = check(tmp_path, [f for f in FLAGS if f != flag] + against)
    assert status == 1
    assert missing in out
