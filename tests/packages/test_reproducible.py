# SPDX-License-Identifier: Apache-2.0
"""A release build has the same bytes in any folder. Of the whole program the packages' test says so; this one compiles
some files of each kind, with debug information, in two folders of other names, the one's build folder outside."""

import filecmp
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns("build", ".git", "node_modules", "pictures", "corpus", "__pycache__", "*.webp")
# C with an assert that names its file, and C with an assembler's .incbin
OBJECTS = ["CMakeFiles/peal_base.dir/src/base/heap.c.o", "CMakeFiles/peal_store.dir/src/store/sqlite/sqlite_migrate.c.o"]


def built(folder, build):
    """The objects, of a copy of the sources in folder."""
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    # a compiler's cache would give both folders what it has made in the first
    env = {key: value for key, value in os.environ.items() if not key.startswith(("CMAKE_", "CCACHE_", "CFLAGS"))}
    for words in (["-S", folder, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DPEAL_UNIT_TESTS=OFF"],
                  ["--build", build, "--target", *OBJECTS]):
        done = subprocess.run(["cmake", *map(str, words)], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        assert done.returncode == 0, done.stdout[-3000:]
    return [build / name for name in OBJECTS]


@pytest.mark.skipif(not shutil.which("ninja"), reason="ninja is not here")
def test_a_release_build_does_not_know_its_folder(tmp_path):
    one = built(tmp_path / "a", tmp_path / "a" / "build" / "release")
    other = built(tmp_path / "another-folder", tmp_path / "elsewhere")
    for x, y in zip(one, other):
        assert filecmp.cmp(x, y, shallow=False), x.name
        assert os.fsencode(tmp_path) not in x.read_bytes(), x.name
