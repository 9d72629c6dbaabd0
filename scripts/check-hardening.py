#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does a binary carry the hardening that the release preset promises? Read with readelf.

usage: check-hardening.py BINARY...    programs and shared libraries; one line each; exit status 1 if
                                       anything is missing
"""
import re
import subprocess
import sys


def readelf(*args):
    return subprocess.run(["readelf", "-W", *args], check=True, capture_output=True, text=True).stdout


def missing(binary):
    header, segments = readelf("-h", binary), readelf("-l", binary)
    dynamic, names = readelf("-d", binary), readelf("--dyn-syms", binary)
    stack = re.search(r"GNU_STACK\s.*", segments)
    library = "(SONAME)" in dynamic
    promises = {
        "position independent executable": library or "DYN (" in header and re.search(r"FLAGS_1.*\bPIE\b", dynamic),
        "code without relocations": "(TEXTREL)" not in dynamic,
        "RELRO": "GNU_RELRO" in segments,
        "BIND_NOW": re.search(r"\(FLAGS_1\).*\bNOW\b", dynamic),
        "stack that is not executable": stack and not re.search(r"RW?E", stack.group(0)),
        "stack protector": "__stack_chk_fail" in names,
        "fortified calls": re.search(r"__\w+_chk\b", names.replace("__stack_chk_fail", "")),
        "no run path": not re.search(r"\((RPATH|RUNPATH)\)", dynamic),
    }
    return [name for name, kept in promises.items() if not kept]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    failed = False
    for binary in sys.argv[1:]:
        absent = missing(binary)
        failed |= bool(absent)
        print(f"{binary}: " + ("missing: " + ", ".join(absent) if absent else "hardened"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
