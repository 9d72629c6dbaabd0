# SPDX-License-Identifier: Apache-2.0
"""The center as a process: `peal server` on a free port of 127.0.0.1, with data of its own.

PEAL_BIN names the binary, build/dev/peal without it, and PEAL_TEST_DB the engine (support/engine.py). A center that
ended by itself, or that a sanitizer complained about, fails the test that stops, kills or leaves it, with what it
wrote."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import weakref

from . import engine, webapi
from .ports import free_port
from .wait import PATIENCE, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = "token-of-the-tests"
PASSWORD = "admin-of-the-tests"
SANITIZER = re.compile(r"(ERROR|WARNING): \w+Sanitizer|runtime error:")
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})?\s+(\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def binary():
    """The binary under test."""
    path = pathlib.Path(os.environ.get("PEAL_BIN", ROOT / "build" / "dev" / "peal")).resolve()
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"{path} is not there: build it (cmake --preset dev && "
                                "cmake --build build/dev) or set PEAL_BIN")
    return path


def clean_environment(**more):
    """The environment for a program under test: UTC, UTF-8, no proxies, no settings of ours."""
    env = {key: value for key, value in os.environ.items()
           if not key.startswith("PEAL_") and not key.lower().endswith("_proxy")}
    env.update(TZ="UTC", LC_ALL="C.UTF-8", NO_PROXY="*", no_proxy="*")
    env.update(more)
    return env


class Center:
    """One center. start() it; after stop() or kill() it can be started again on the same data."""

    def __init__(self, folder, args=(), env=None, token=TOKEN, password=PASSWORD):
        """folder: an empty directory for data and output. args, env: added to the command's own."""
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.data = self.folder / "data"
        self.output = self.folder / "center.log"
        self.port = free_port()
        self.program = None  # another binary than the one under test
        own = [*args]  # an iterator can be read once
        self.args = [*([] if "--db" in own else engine.arguments(self.data)), *own]
        self.token = token
        self.password = password
        self.process = None
        self._down = True  # not started, or stopped or killed by us
        # its flight recorder, on tmpfs; a center that was killed leaves it there
        self.recorder = pathlib.Path(tempfile.mkdtemp(prefix="peal-tests-", dir="/dev/shm"))
        weakref.finalize(self, shutil.rmtree, self.recorder, ignore_errors=True)
        self._env = clean_environment(**{"PEAL_ADMIN_PASSWORD": password, "PEAL_ACCESS_TOKEN": token,
                                         "PEAL_RECORDER": str(self.recorder), **(env or {})})

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        if kind is not None:  # there is an error already: do not hide it behind another
            if self.running():
                self.process.kill()
                self.process.wait()
        elif not self._down:
            self.stop()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    # -- the process --

    def running(self):
        return self.process is not None and self.process.poll() is None

    def start(self, timeout=20):
        self.launch()
        wait_until(self._ready, f"{self.url}/readyz to answer 200", timeout, 0.02)
        return self

    def launch(self):
        """Start it and wait for nothing."""
        assert not self.running(), "the center runs already"
        with open(self.output, "ab") as out:
            self.process = subprocess.Popen(
                [str(self.program or binary()), "server", "--listen", f"127.0.0.1:{self.port}", "--data", str(self.data),
                 *self.args], stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=self._env)
        self._down = False

    def _ready(self):
        return self.answers("/readyz")

    def answers(self, path):
        """Does it answer that with 200? It may still be starting."""
        if not self.running():
            raise RuntimeError(self._ended())
        try:
            return self.get(path)[0] == 200
        except OSError:
            return False

    def stop(self, timeout=20):
        """SIGTERM; it must end by itself with status 0."""
        assert self.running(), self._ended()
        self._down = True
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout * PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"SIGTERM did not end the center:\n{self.tail()}") from None
        self._check_output()
        assert status == 0, f"the center ended with {status}:\n{self.tail()}"

    def kill(self):
        """kill -9. Returns when the process is gone."""
        assert self.running(), self._ended()
        self._down = True
        self.process.kill()
        self.process.wait()
        self._check_output()

    def restart(self):
        """kill -9 and start again on the same data."""
        self.kill()
        return self.start()

    def tail(self, lines=40):
        """The last lines that the center wrote."""
        if not self.output.exists():
            return ""
        return "\n".join(self.output.read_text(errors="replace").splitlines()[-lines:])

    def _ended(self):
        status = self.process.returncode if self.process else "no start"
        return f"the center ended by itself ({status}):\n{self.tail(80)}"

    def _check_output(self):
        assert not SANITIZER.search(self.output.read_text(errors="replace")), self.tail(80)

    # -- talking to it --

    def get(self, path):
        """(status, headers, body bytes) of a plain GET."""
        return webapi.request(self.port, "GET", path)

    def api(self, generation="3.3", prefix=""):
        """A logged-in client of that generation."""
        return webapi.WebApi(self.port, generation, "admin", self.password, prefix)

    def open_api(self, action, body, prefix="/xxl-job-admin", token=None):
        """Post what an executor posts to /api/ACTION: the reply, which is JSON with HTTP 200 always."""
        headers = {"Content-Type": "application/json;charset=UTF-8",
                   "XXL-JOB-ACCESS-TOKEN": self.token if token is None else token}
        status, headers, reply = webapi.request(self.port, "POST", f"{prefix}/api/{action}",
                                                json.dumps(body, ensure_ascii=False).encode(), headers)
        assert status == 200 and headers.get_content_type() == "application/json", (status, str(headers), reply)
        return json.loads(reply)

    def metrics(self):
        """[(name, {label: value}, number)] of /metrics."""
        status, _, body = self.get("/metrics")
        assert status == 200, f"/metrics: HTTP {status}"
        samples = []
        for line in body.decode().splitlines():
            match = SAMPLE.match(line)
            if match and not line.startswith("#"):
                samples.append((match[1], dict(LABEL.findall(match[2] or "")), float(match[3])))
        return samples

    def metric(self, name, **labels):
        """The sum of a metric's samples that carry these labels; it must be there."""
        found = [value for n, have, value in self.metrics()
                 if n == name and all(have.get(k) == v for k, v in labels.items())]
        assert found, f"/metrics has no {name} {labels or ''}"
        return sum(found)
