# SPDX-License-Identifier: Apache-2.0
"""Real XXL-JOB executors as processes, and what is known of each library.

The libraries are published, unmodified code; the programs on top of them (java/, node/, go/) are ours
and have the same handlers and command line. Where a library behaves differently from the others, that
is written down in its Library below and asserted as it is: a difference here is a fact about the
library, never something that the tests tolerate in the center."""

import dataclasses
import json
import os
import pathlib
import subprocess
import threading
import time

from support.center import ROOT, clean_environment, free_port
from support.wait import PATIENCE, wait_until

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("PEAL_INTEROP_BUILD", ROOT / "build" / "interop"))
GO_LOG = "这是日志默认返回，说明没有设置LogHandler"

MESSAGE = "said \"quoted\" <b>&'= 中文 é 😀 \\ end"
FAILURE = "failed on purpose: 失败 <i>\"x\"</i>"


@dataclasses.dataclass(frozen=True)
class Library:
    """One library and version. The fields are its behaviour as recorded from the library itself."""

    name: str  # as build.sh knows it
    generation: str  # the web API that scripts of its time use
    prefix: str  # the context path that its users configure
    suffix: str  # what it appends to http://ip:port when it registers
    fail_code: int = 500  # a handler that reports failure
    throw_text: str = "thrown on purpose"  # in the message of a handler that throws
    timeout: tuple = (502, "job execute timeout")  # handle code, and text in the message
    unknown: str = "job handler [nosuch] not found."  # the refusal of an unknown handler
    queues: bool = False  # SERIAL_EXECUTION queues; if not, a second run is refused
    busy: str = ""  # the refusal of a second run
    covers: bool = False  # COVER_EARLY ends the running run and both report
    resends: bool = False  # results that the center did not take are sent again
    rolling: bool = False  # /log pages through the run's real log, line by line
    dies: bool = False  # the process ends when the center does not answer it
    json_text: bool = False  # a handler's result arrives as JSON text

    def shown(self, message):
        """How a successful handler's message reaches the center."""
        return json.dumps(message, ensure_ascii=False) if self.json_text else message

    def command(self):
        folder = BUILD / self.name
        if self.name.startswith("java-"):
            return ["java", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                    "-Dorg.slf4j.simpleLogger.showDateTime=true", "-cp",
                    f"{folder}/classes:{folder}/lib/*", "peal.interop.Executor"]
        if self.name == "node":
            return ["node", str(folder / "executor.mjs")]
        return [str(folder / "executor")]


def java(version):
    new = int(version.split(".")[0]) > 3 or version.startswith(("3.3.", "3.4."))
    return Library(f"java-{version}", generation="3.3" if new else "2.x",
                   prefix="" if new else "/xxl-job-admin", suffix="/",
                   queues=True, busy="Discard Later", covers=True, resends=True, rolling=True)


# npm xxl-job 0.1.7: one run of a job at a time whatever the strategy; a timeout is a plain failure; the
# first line of a page of the log is skipped; any call to the center that fails ends the process.
NODE = Library("node", generation="3.3", prefix="/xxl-job-admin", suffix="/job",
               timeout=(500, "is Timeout."), unknown="No matched jobHandler: nosuch",
               busy="There is already have a same job is running.", dies=True, json_text=True)

# xxl-job-executor-go 1.2.0: a handler cannot report failure; timeout and kill are "cancelled" with code
# 200; SERIAL_EXECUTION refuses; refusals are JSON arrays; its log is a fixed text.
GO = Library("go", generation="2.x", prefix="", suffix="", fail_code=200, timeout=(200, "cancelled"),
             unknown="Task not registered", busy="There are tasks running")


def libraries():
    """All libraries that build.sh builds."""
    names = subprocess.run([HERE / "build.sh", "--list"], check=True, capture_output=True, text=True)
    found = []
    for name in names.stdout.split():
        if name.startswith("java-"):
            found.append(java(name[len("java-"):]))
        else:
            found.append({"node": NODE, "go": GO}[name])
    return found


class Executor:
    """One executor process."""

    def __init__(self, library, center, app, folder, supervised=False, options=()):
        """supervised: started again whenever it ends by itself, as an operator's service manager does."""
        self.library = library
        self.center = center
        self.app = app
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.trace_file = self.folder / "trace.jsonl"
        self.output = self.folder / "output.log"
        self.port = free_port()
        self.options = list(options)
        self.supervised = supervised
        self.ends = 0  # how often it ended by itself
        self.process = None
        self._stopping = threading.Event()
        self._supervisor = None

    @property
    def address(self):
        """What it registers."""
        return f"http://127.0.0.1:{self.port}{self.library.suffix}"

    def launch(self):
        """Start it, without waiting."""
        self._stopping.clear()
        self._spawn()
        if self.supervised:
            self._supervisor = threading.Thread(target=self._supervise, daemon=True)
            self._supervisor.start()
        return self

    def _spawn(self):
        with open(self.output, "ab") as out:
            self.process = subprocess.Popen(
                [*self.library.command(), "--admin", self.center.url + self.library.prefix,
                 "--app", self.app, "--port", str(self.port), "--token", self.center.token,
                 "--log-dir", str(self.folder / "logs"), "--trace", str(self.trace_file), *self.options],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=clean_environment())

    def _supervise(self):
        while not self._stopping.is_set():
            self.process.wait()
            if self._stopping.wait(0.2):  # a service manager waits a little, too
                return
            self.ends += 1
            self._spawn()

    def wait_ready(self):
        def ready():
            if not self.supervised and self.process.poll() is not None:
                raise RuntimeError(f"{self.library.name} ended with {self.process.returncode}:\n{self.tail()}")
            return "READY" in self.printed().splitlines()

        wait_until(ready, f"{self.library.name} to say READY", 30)
        return self

    def start(self):
        return self.launch().wait_ready()

    def stop(self):
        """SIGTERM, as a service manager stops it; the process must end by itself."""
        self._stopping.set()
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(20 * PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{self.library.name} did not end:\n{self.tail()}") from None

    def printed(self):
        return self.output.read_text(errors="replace") if self.output.exists() else ""

    def tail(self, lines=40):
        return "\n".join(self.printed().splitlines()[-lines:])

    def trace(self, log_id=None, event=None, since=0):
        """What the handlers wrote about their executions; a half-written last line is left out."""
        if not self.trace_file.exists():
            return []
        lines = [line for line in self.trace_file.read_text().split("\n")[:-1]]
        return [entry for entry in map(json.loads, lines)
                if (log_id is None or entry["logId"] == log_id)
                and (event is None or entry["event"] == event) and entry["ms"] >= since]

    def undelivered(self):
        """A number that grows when the library fails to report a result: Java keeps it in a file, npm's
        process ends, Go says so."""
        if self.library.resends:
            return len(list((self.folder / "logs").glob("callbacklog*/*")))
        if self.library.dies:
            return self.ends
        return self.printed().count("callback err")


def now_ms():
    return int(time.time() * 1000)
