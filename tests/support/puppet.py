# SPDX-License-Identifier: Apache-2.0
"""NOT an executor: a puppet that plays its part towards a center under test. It records every call in
order, and the test decides what is answered, when, and which results are reported."""

import contextlib
import http.client
import http.server
import json
import socket
import threading
import time

from .center import free_port
from .standin import YES, Server
from .wait import wait_until

NO_LOG = {"fromLineNum": 1, "toLineNum": 0, "logContent": "", "isEnd": True}


class Page:
    """What a proxy in front of an executor says in its place."""

    def __init__(self, status, html):
        self.status, self.html = status, html


class Call:
    """One request: action, its JSON, its headers, when it came (monotonic) and when it was answered; connection: the
    client's port, which tells the connection it came by."""

    def __init__(self, action, body, headers, connection):
        self.action, self.body, self.headers, self.connection = action, body, headers, connection
        self.at, self.wall_ms, self.answered_at = time.monotonic(), time.time() * 1000, None

    def __repr__(self):
        return f"<{self.action} {self.body.get('jobId')} {self.body.get('logId')}>"


class Puppet:
    """One executor address. automatic: a run that is answered 200 is reported as a success at once.
    answer: what /run is answered with: JSON, None for a connection that breaks, or a Page. hold(): /run is not answered until release()."""

    def __init__(self, center, app, port=0, automatic=True, register=True):
        self.center, self.app, self.automatic = center, app, automatic
        self.calls = []
        self.answer = lambda action, body: YES
        self.result = lambda body: {"handleCode": 200, "handleMsg": "ok"}
        self.lock = threading.Lock()
        self.ended = set()  # log ids of which a result was reported
        self.open = self.most_open = 0  # /run calls that wait for their answer
        self.connected = 0              # connections so far
        self._gate = threading.Event()
        self._gate.set()
        self._register = register
        self._server = None
        self.port = port
        self.listen()

    def listen(self):
        """Take calls (again) on the same port: one that the kernel gives to no client meanwhile."""
        self.port = self.port or free_port()
        self._server = Server(("127.0.0.1", self.port), self._handler())
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __enter__(self):
        if self._register:
            self.register()
        return self

    def __exit__(self, *_):
        self.release()
        self.close()

    def close(self):
        """Refuse connections from now on."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/"

    def _handler(outer):  # noqa: N805 (self is the handler's)
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                with outer.lock:
                    outer.connected += 1
                self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or b"{}")
                call = Call(self.path.lstrip("/"), body, self.headers, self.client_address[1])
                automatic = outer.automatic  # before the test can see the run and change its mind
                reply = outer.take(call)
                if reply is None:
                    self.close_connection = True
                    return
                if isinstance(reply, Page):
                    self.reply(call, reply.html.encode(), reply.status, "text/html")
                    return
                if outer._server is None:  # gone meanwhile: the run is run, its answer is lost
                    self.close_connection = True
                else:
                    self.reply(call, json.dumps(reply).encode())
                if call.action == "run" and reply.get("code") == 200 and automatic:
                    # on a thread of its own: the connection must go on to be read
                    threading.Thread(target=outer.try_to_report, args=(call.body,), daemon=True).start()

            def reply(self, call, data, status=200, kind="application/json"):
                call.answered_at = time.monotonic()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except ConnectionError:  # no client waits any more; the run goes on all the same
                    self.close_connection = True

            do_GET = do_POST

            def log_message(self, *_):
                pass

        return Handler

    def take(self, call):
        """Record a call; the answer's JSON."""
        with self.lock:
            self.calls.append(call)
            if call.action == "run":
                self.open += 1
                self.most_open = max(self.most_open, self.open)
        if call.action == "run":
            self._gate.wait()
            with self.lock:
                self.open -= 1
        said = self.answer(call.action, call.body)
        return self._truth(call) if said is YES else said

    def _truth(self, call):
        """What a real executor would say: busy while a run of the job has no result, start and end in the log."""
        runs = self.runs()
        if call.action == "idleBeat":
            busy = any(run["jobId"] == call.body["jobId"] and run["logId"] not in self.ended for run in runs)
            return {"code": 500, "msg": "job thread is running or has trigger queue."} if busy else YES
        if call.action != "log":
            return YES
        log = call.body["logId"]
        text = "job execute start\n" * any(run["logId"] == log for run in runs)
        text += "job execute end(finish)\n" * (log in self.ended)
        page = dict(NO_LOG, logContent=text, toLineNum=text.count("\n"))
        return dict(YES, content=page, data=page)

    # -- what the test does with it --

    def hold(self):
        self._gate.clear()

    def release(self):
        self._gate.set()

    def wait_for_quiet(self):
        """All that a dead center had sent has been read."""
        wait_until(self._server.quiet, "every connection to come to its end", 20, 0.02)

    def register(self):
        reply = self.center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": self.app,
                                                  "registryValue": self.address})
        assert reply["code"] == 200, reply

    def deregister(self):
        reply = self.center.open_api("registryRemove", {"registryGroup": "EXECUTOR", "registryKey": self.app,
                                                        "registryValue": self.address})
        assert reply["code"] == 200, reply

    def try_to_report(self, run):
        """As report, in the background: the test looks at what came of it."""
        with contextlib.suppress(AssertionError):  # the test is over, and the center with it
            self.report(run)

    def report(self, run, **result):
        """Send the result of a run (the body of its /run) until the center takes it."""
        self.ended.add(run["logId"])
        item = {"logId": run["logId"], "logDateTim": run["logDateTime"], **(result or self.result(run))}

        def taken():
            try:
                return self.center.open_api("callback", [item])["code"] == 200
            except (OSError, http.client.HTTPException):  # the center is away
                return False
        wait_until(taken, f"the center to take the result of {run['logId']}", 60)

    # -- what the center said --

    def of(self, action):
        with self.lock:
            return [c for c in self.calls if c.action == action]

    def runs(self, job=None):
        """Bodies of /run, oldest first."""
        return [c.body for c in self.of("run") if job is None or c.body["jobId"] == job]

    def wait_for_runs(self, count, job=None, timeout=20):
        def enough():
            found = self.runs(job)
            assert len(found) >= count, f"{len(found)} of {count} runs"
            return found
        return wait_until(enough, f"{count} runs", timeout, 0.02)
