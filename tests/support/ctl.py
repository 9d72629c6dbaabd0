# SPDX-License-Identifier: Apache-2.0
"""`peal ctl` as a shell's user has it."""

import json
import pathlib
import subprocess

from .center import PASSWORD, binary, clean_environment
from .wait import PATIENCE

DONE, FAILED, USAGE, NOT_FOUND, NOT_PERMITTED, CONFLICT, UNREACHABLE, TIMED_OUT = 0, 1, 2, 3, 4, 5, 6, 124


class Ctl:
    """A shell's user with a home of its own."""

    def __init__(self, home, **env):
        self.home = pathlib.Path(home)
        self.home.mkdir(parents=True, exist_ok=True)
        self.env = clean_environment(HOME=str(self.home), **env)
        self.env.pop("XDG_CONFIG_HOME", None)

    @property
    def kept(self):
        return self.home / ".config" / "peal" / "ctl.json"

    def __call__(self, *args, given="", env=None, status=DONE):
        done = subprocess.run([str(binary()), "ctl", *map(str, args)], input=given, capture_output=True, text=True,
                              timeout=60 * PATIENCE, env={**self.env, **(env or {})}, check=False)
        assert done.returncode == status, (args, done)
        return done

    def json(self, *args, **more):
        return json.loads(self(*args, "-o", "json", **more).stdout)

    def login(self, url, *args):
        return self("login", url, "--user", "admin", "--password-file", "-", *args, given=PASSWORD + "\n")
