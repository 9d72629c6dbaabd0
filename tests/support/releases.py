# SPDX-License-Identifier: Apache-2.0
"""Servers of this release and of later ones, which tests/later builds: `wider` runs beside this one, `breaking` does
not."""
import subprocess

from support import servers
from support.center import binary, clean_environment
from support.cluster import node
from support.wait import PATIENCE

LATER = {name: binary().parent / "tests" / f"peal_later_{name}" for name in ("wider", "breaking")}
OURS = subprocess.run([str(binary()), "version"], capture_output=True, text=True, check=True).stdout.split()[-1]


def launched(folder, url, name, program=None):
    return subprocess.Popen([str(program or binary()), "server", "--listen", "127.0.0.1:0", "--data", str(folder), "--token",
                             "t", "--db", url, "--node.name", name, "--node.cluster"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True,
                            env=clean_environment(PEAL_RECORDER="none", PEAL_DB_PASSWORD=servers.PASSWORD))


def ended(process):
    said = process.communicate(timeout=60 * PATIENCE)[0]
    assert process.returncode > 0, said
    return said


def refused(folder, url, name, program=None):
    """What a server that must not start says."""
    return ended(launched(folder, url, name, program))


def checked(url, program=None):
    """Exit status of the test of a database server, and what it says of releases."""
    done = subprocess.run([str(program or binary()), "db", "check", "--selftest", "--db", url], capture_output=True, text=True,
                          timeout=120 * PATIENCE, check=False, env=clean_environment(PEAL_DB_PASSWORD=servers.PASSWORD))
    return done.returncode, next((line for line in done.stdout.splitlines() if "releases" in line), done.stdout + done.stderr)


def later(folder, url, name, release):
    center = node(folder, url, name)
    center.program = LATER[release]
    return center
