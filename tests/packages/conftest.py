# SPDX-License-Identifier: Apache-2.0
"""What the tests of packages share, made once: the packages of this tree, and a clean Debian. While one works on a test
both may be had from before: PEAL_PACKAGES=FOLDER with what scripts/deb.sh left there, PEAL_DEBIAN=FOLDER."""

import os
import pathlib
import shutil
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.debian_root import DebianRoot, why_not  # noqa: E402 (path just set)
from support.installed import ROOT, command  # noqa: E402


class Packages:
    """The packages that scripts/deb.sh leaves in a folder, by name."""

    def __init__(self, folder, **environment):
        self.folder = pathlib.Path(folder)
        if not self.folder.exists():
            command(ROOT / "scripts" / "deb.sh", self.folder, env={**os.environ, **environment})
        self.files = {path.name.split("_")[0]: path for path in self.folder.glob("*.deb")}

    def __getitem__(self, name):
        return self.files[name]

    def field(self, name, field):
        return command("dpkg-deb", "-f", self[name], field).strip()

    def unpack(self, folder, *names):
        for name in names:
            command("dpkg-deb", "-x", self[name], folder)
        return pathlib.Path(folder)


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    return Packages(os.environ.get("PEAL_PACKAGES") or tmp_path_factory.mktemp("packages") / "deb")


@pytest.fixture(scope="session")
def clean_debian(tmp_path_factory):
    """A Debian that nobody has used: copy it."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    if os.environ.get("PEAL_DEBIAN"):
        yield DebianRoot(os.environ["PEAL_DEBIAN"])
        return
    folder = tmp_path_factory.mktemp("debian") / "clean"
    yield DebianRoot.make(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def debian(clean_debian, tmp_path):
    folder = tmp_path / "root"
    yield clean_debian.copy(folder)
    shutil.rmtree(folder, ignore_errors=True)
