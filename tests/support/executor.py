# SPDX-License-Identifier: Apache-2.0
"""`peal executor` as a process, and the calls that a center makes to it."""

import pathlib
import re
import signal
import subprocess
import time

from .center import SANITIZER, TOKEN, binary, clean_environment
from .standin import call
from .wait import PATIENCE, wait_until

LISTENS = re.compile(r"^(?:peal executor|\S+) listens on (\S+)\n", re.M)


class Executor:
    """One executor on a free port of 127.0.0.1. args, env: added to the command's own."""

    def __init__(self, folder, centers, args=(), env=None, token=TOKEN, app="tests"):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.logs = self.folder / "logs"
        self.output = self.folder / "executor.log"
        self.token = token
        self.command = [str(binary()), "executor", "--xxl.job.admin.addresses", centers,
                        "--xxl.job.executor.appname", app, "--xxl.job.executor.logpath", str(self.logs),
                        "--listen", "127.0.0.1", "--xxl.job.executor.port", "0", *args]
        self.env = clean_environment(PEAL_ACCESS_TOKEN=token, **(env or {}))
        self.process = None
        self.address = None
        self._dates = {}  # log id -> the time with which it was sent first

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        if not self.running():
            return
        if kind is None:
            self.stop()
        else:
            self.process.kill()
            self.process.wait()

    def running(self):
        return self.process is not None and self.process.poll() is None

    def start(self):
        with open(self.output, "wb") as out:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                            env=self.env, cwd=self.folder)
        self.address = wait_until(self._address, "the executor to listen", 20, 0.02)
        return self

    def _address(self):
        if not self.running():
            raise RuntimeError(f"the executor ended with {self.process.returncode}:\n{self.said()}")
        found = LISTENS.search(self.said())
        return found and found[1]

    def said(self):
        """Everything that it wrote."""
        return self.output.read_text(errors="replace") if self.output.exists() else ""

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self, timeout=30):
        """It must end by itself with status 0."""
        try:
            status = self.process.wait(timeout * PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the executor did not end:\n{self.said()}") from None
        assert not SANITIZER.search(self.said()), self.said()
        assert status == 0, f"the executor ended with {status}:\n{self.said()}"

    def stop(self):
        self.terminate()
        self.wait()

    # -- what centers say --

    def call(self, action, body, **more):
        """The reply's JSON of a call with the right token."""
        status, reply = call(self.address, action, body, token=self.token, **more)
        assert status == 200
        return reply

    def run(self, job, log, handler="demoJobHandler", params="", **fields):
        """/run as a center sends it; fields override. A log id that comes again has the time of the first unless
        another is given: else it would be another center's run."""
        body = {"jobId": job, "executorHandler": handler, "executorParams": params,
                "executorBlockStrategy": "SERIAL_EXECUTION", "executorTimeout": 0, "logId": log,
                "logDateTime": self._dates.setdefault(log, int(time.time()) * 1000), "glueType": "BEAN",
                "glueSource": "",
                "glueUpdatetime": 1541254891000, "broadcastIndex": 0, "broadcastTotal": 1}
        body.update(fields)
        return self.call("run", body)

    def run_shell(self, job, log, source, params="", **fields):
        return self.run(job, log, "", params, glueType="GLUE_SHELL", glueSource=source, **fields)

    def idle(self, job):
        return self.call("idleBeat", {"jobId": job})["code"] == 200

    def log(self, log, from_line=1, date_ms=None):
        """The page of /log, by the time with which the run was sent; both shapes must say the same."""
        if date_ms is None:
            date_ms = self._dates.get(log) or int(time.time()) * 1000
        reply = self.call("log", {"logDateTim": date_ms, "logId": log, "fromLineNum": from_line})
        assert reply["code"] == 200 and reply["content"] == reply["data"]
        return reply["data"]

    def wait_for_log(self, log, text, date_ms=None):
        """Wait until the run's log contains the text; the log."""
        def look():
            content = self.log(log, date_ms=date_ms)["logContent"]
            return content if text in content else None
        return wait_until(look, f"{text!r} in the log of {log}", 20, 0.02)
