# SPDX-License-Identifier: Apache-2.0
"""The admin's side of the wire as a Java process: the very classes that a release's admin calls executors with
(java/admin). A call goes in as a line of JSON and what the library made of the answer comes out as one."""

import json
import os
import subprocess
import time

import executors
from support.center import clean_environment
from support.wait import PATIENCE


class AdminClient:
    """One release's client, for one executor."""

    def __init__(self, library, address, token):
        self.library = library
        self.address = address
        self.token = token
        folder = executors.BUILD / library.name
        self._process = subprocess.Popen(
            ["java", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
             os.pathsep.join([f"{folder}/classes", f"{folder}/lib/*"]), "peal.interop.AdminClient"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
            env=clean_environment())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(20 * PATIENCE)
        self._process.stdout.close()

    def call(self, action, body=None, token=None):
        """{code, msg, value}; value is content or data, whichever the release reads."""
        line = json.dumps({"address": self.address, "token": self.token if token is None else token,
                           "action": action, "body": body}, ensure_ascii=False)
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the client of {self.library.name} ended with {self._process.poll()}"
        return json.loads(answer)

    # -- the five calls --

    def beat(self, **more):
        return self.call("beat", **more)

    def idle_beat(self, job):
        return self.call("idleBeat", {"jobId": job})

    def run(self, job, log, handler="demoJobHandler", params="", token=None, **fields):
        """/run as an admin sends it; fields override."""
        body = {"jobId": job, "executorHandler": handler, "executorParams": params,
                "executorBlockStrategy": "SERIAL_EXECUTION", "executorTimeout": 0, "logId": log,
                "logDateTime": now_ms(), "glueType": "BEAN", "glueSource": "", "glueUpdatetime": 1541254891000,
                "broadcastIndex": 0, "broadcastTotal": 1}
        return self.call("run", {**body, **fields}, token)

    def kill(self, job):
        return self.call("kill", {"jobId": job})

    def log(self, log, from_line=1, date_ms=None):
        return self.call("log", {"logDateTim": now_ms() if date_ms is None else date_ms, "logId": log,
                                 "fromLineNum": from_line})

    # -- what it makes of a callback --

    def results(self, items):
        """[(log id, date, code, message)] of a callback's body, as the release's own class reads it."""
        read = []
        for item in self.call("results", items)["value"]:
            old = item.get("executeResult") or {}
            read.append((item["logId"], item["logDateTim"], old.get("code", item.get("handleCode")),
                         old.get("msg", item.get("handleMsg"))))
        return read


def now_ms():
    """The whole second, as admins send it."""
    return int(time.time()) * 1000
