# SPDX-License-Identifier: Apache-2.0
"""The users of make chaos: they ask any node at any time, for runs by hand, edits and stops, and write down what was
answered and when."""

import contextlib
import dataclasses
import http.client
import json
import random
import threading
import time

from support import webapi

BASE = "/api/v1"
ANSWER_S = 12


@dataclasses.dataclass
class Ask:
    what: str
    job: int
    text: str  # of a run by hand: its parameter
    sent: int  # epoch ms
    answered: int
    status: int  # 0: no answer
    calm: bool
    run: int = 0

    @property
    def took(self):
        return self.answered - self.sent


class Users:
    """One thread. jobs: what -> ids. calm(): nothing has been broken lately."""

    def __init__(self, nodes, password, jobs, calm, seed):
        self.nodes, self.password, self.jobs, self.calm = nodes, password, jobs, calm
        self.dice = random.Random(seed)
        self.asks = []
        self.cookies = {}
        self.count = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def of(self, what):
        return [ask for ask in list(self.asks) if ask.what == what]

    def _cookie(self, port, again=False):
        if again or port not in self.cookies:
            status, headers, _ = webapi.request(port, "POST", BASE + "/session",
                                                json.dumps({"name": "admin", "password": self.password}).encode(),
                                                {"Content-Type": "application/json"}, ANSWER_S)
            if status != 200:
                raise http.client.HTTPException(f"login: {status}")
            self.cookies[port] = headers["Set-Cookie"].split(";")[0]
        return self.cookies[port]

    def ask(self, node, method, path, body=None, more=None):
        """(status, JSON); status 0: no answer."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        try:
            for again in (False, True):
                headers = {"Cookie": self._cookie(node.port, again), "Content-Type": kind, **(more or {})}
                status, _, reply = webapi.request(node.port, method, BASE + path,
                                                  None if body is None else json.dumps(body).encode(), headers, ANSWER_S)
                if status != 401:
                    break
            return status, json.loads(reply) if reply else None
        except (OSError, http.client.HTTPException, ValueError):
            return 0, None

    def insist(self, method, path, body=None, seconds=60):
        """Ask one node after the other until one says yes."""
        end = time.monotonic() + seconds
        while True:
            for node in self.nodes:
                status, reply = self.ask(node, method, path, body)
                if status in (200, 201):
                    return reply
            if time.monotonic() > end:
                raise RuntimeError(f"{method} {path}: no node does it; last answer {status} {reply}")
            time.sleep(0.5)

    def _one(self, what, job, method, path, body=None, text="", more=None):
        calm = self.calm()
        sent = int(time.time() * 1000)
        status, reply = self.ask(self.dice.choice(self.nodes), method, path, body, more)
        ask = Ask(what, job, text, sent, int(time.time() * 1000), status, calm and self.calm())
        if what == "trigger" and status == 201:
            ask.run = reply["runId"]
        self.asks.append(ask)
        return status

    def _work(self):
        turns = [self._trigger, self._edit, self._trigger, self._stop, self._trigger, self._start]
        while not self._end.wait(self.dice.uniform(0.1, 0.5)):
            turn = turns[self.count % len(turns)]
            self.count += 1
            with contextlib.suppress(OSError):
                turn()

    def _trigger(self):
        job, text = self.dice.choice(self.jobs["by hand"]), f"hand {self.count}"
        for _ in range(3):  # the same key: the same run, whichever node is asked
            status = self._one("trigger", job, "POST", f"/jobs/{job}/trigger", {"param": text, "addresses": []}, text,
                               {"Idempotency-Key": f"chaos-{self.count:08}"})
            if status:
                return

    def _edit(self):
        job, text = self.dice.choice(self.jobs["edited"]), f"edit {self.count}"
        status, found = self.ask(self.dice.choice(self.nodes), "GET", f"/jobs/{job}")
        if status == 200:
            self._one("edit", job, "PATCH", f"/jobs/{job}", {"task": {"param": text}}, text,
                      {"If-Match": f'"j{job}-{found["version"]}"'})

    def _stop(self):
        job = self.dice.choice(self.jobs["stopped"])
        self._one("stop", job, "POST", f"/jobs/{job}/stop", {})

    def _start(self):
        job = self.dice.choice(self.jobs["stopped"])
        self._one("start", job, "POST", f"/jobs/{job}/start", {})
