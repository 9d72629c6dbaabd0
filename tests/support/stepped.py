# SPDX-License-Identifier: Apache-2.0
"""A wall clock that a test sets for the processes that it starts (clock/step.c)."""

import os
import struct
import subprocess
import time

from .center import ROOT


class Clock:
    """The wall clock of whoever is started with env."""

    def __init__(self, folder):
        library = folder / "step.so"
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o", str(library),
                        str(ROOT / "tests/support/clock/step.c"), "-ldl"], check=True)
        self.file = open(folder / "offset", "w+b", buffering=0)
        self.offset_ms = 0
        self.step(0)
        # a sanitizer's runtime wants to come first; it may come second, as the library only hands on
        options = {name: ":".join(filter(None, [os.environ.get(name), "verify_asan_link_order=0"]))
                   for name in ("ASAN_OPTIONS",)}
        self.env = {"LD_PRELOAD": str(library), "CLOCK_STEP_FILE": self.file.name, **options}

    def step(self, by_ms):
        self.offset_ms += by_ms
        os.pwrite(self.file.fileno(), struct.pack("=q", self.offset_ms * 1000000), 0)

    def now_ms(self):
        return time.time() * 1000 + self.offset_ms
