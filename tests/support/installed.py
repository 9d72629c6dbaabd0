# SPDX-License-Identifier: Apache-2.0
"""Peal as `make install` leaves it, in a folder of the test's, and programs that are built against it as a
user would: a compiler and pkg-config. In a sanitizer's build the programs carry the sanitizer as well."""

import os
import pathlib
import shutil
import subprocess

from .center import ROOT, binary

SANITIZE = {"asan": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"], "tsan": ["-fsanitize=thread"]}
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror"]


def build_folder():
    """The folder that the binary under test was built in."""
    return binary().parent


def command(*words, **more):
    """What a command prints; it must succeed."""
    done = subprocess.run([str(w) for w in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **more)
    assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}"
    return done.stdout


class Installed:
    """An installed tree: folder is DESTDIR, and /usr/local is in it."""

    def __init__(self, folder, prefix="/usr/local"):
        self.folder = pathlib.Path(folder)
        self.prefix = self.folder / prefix.lstrip("/")
        env = {**os.environ, "DESTDIR": str(self.folder)}
        shutil.rmtree(self.folder, ignore_errors=True)
        command("cmake", "--install", build_folder(), "--prefix", prefix, env=env)
        self.header = self.prefix / "include" / "peal" / "executor.h"
        self.lib = self.prefix / "lib"
        self.shared = self.lib / "libpeal.so"
        self.archive = self.lib / "libpeal.a"

    def pkg_config(self, *words):
        env = {**os.environ, "PKG_CONFIG_PATH": str(self.lib / "pkgconfig"),
               "PKG_CONFIG_SYSROOT_DIR": str(self.folder)}
        return command("pkg-config", *words, env=env).split()

    def compile(self, sources, program, static=False, flags=()):
        """Build one file, or several, against the tree, warnings as errors; the program."""
        sources = sources if isinstance(sources, list) else [sources]
        words = self.pkg_config("--cflags", "--libs", "peal-static" if static else "peal")
        sanitize = SANITIZE.get(os.environ.get("PEAL_PRESET", "dev"), [])
        command("gcc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", *WARNINGS, *sanitize, *map(str, sources), *words,
                *flags, "-o", program)
        return pathlib.Path(program)

    def environment(self, **more):
        """The environment in which such a program finds the shared library."""
        return {"LD_LIBRARY_PATH": str(self.lib), **more}


__all__ = ["Installed", "ROOT", "build_folder", "command"]
