# SPDX-License-Identifier: Apache-2.0
"""What several flows do before the browser comes: jobs, scripts that run, executors that misbehave."""

import socket
import threading

from support.wait import wait_until


def new_job(v1, group, name, **more):
    """Make a job of that group, one without a schedule unless it is given; its id."""
    body = {"name": name, "groupId": group, "schedule": {"type": "NONE"}, "task": {"kind": "BEAN", "handler": "demoJobHandler"}, **more}
    answer = v1.ask("POST", "/jobs", body)
    assert answer.status == 201, answer.json
    return answer.json["id"]


def trigger(v1, job):
    """Run the job by hand; the run's id."""
    answer = v1.ask("POST", f"/jobs/{job}/trigger", {})
    assert answer.status == 201, answer.json
    return answer.json["runId"]


def run_script(v1, group, name, script, **more):
    """Make a shell job of that script and trigger it; the run's id."""
    return trigger(v1, new_job(v1, group, name, task={"kind": "GLUE_SHELL"}, script=script, **more))


def ended(v1, run, timeout=30.0):
    """Wait until the run has ended; the run."""
    return wait_until(lambda: (r := v1.get(f"/runs/{run}")["run"])["outcome"] != "open" and r, f"run {run} to end", timeout)


def log_of(v1, run):
    """All lines of a run's log, as the API has them."""
    lines = []
    while True:
        page = v1.get(f"/runs/{run}/log?fromLine={len(lines) + 1}&limit=5000")
        lines += page["lines"]
        if not page["lines"] or page["end"]:
            return lines


class Hanging:
    """An executor that hangs: it takes connections and reads what is said, and never answers."""

    def __init__(self):
        self._server = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._taken = []
        self.address = f"http://127.0.0.1:{self._server.getsockname()[1]}/"
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self):
        while True:
            try:
                self._taken.append(self._server.accept()[0])
            except OSError:
                return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.close()
        for one in self._taken:
            one.close()
