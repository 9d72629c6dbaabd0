# SPDX-License-Identifier: Apache-2.0
"""A stub executor: takes what a center sends, keeps it, answers as it is told. Runs in the test's own
process; the test decides when a run ends, by calling back."""

import http.server
import json
import threading

from .standin import Server
from .wait import wait_until

OK = {"code": 200, "msg": None, "content": None}
WRONG_TOKEN = {"code": 500, "msg": "The access token is wrong.", "content": None}


class Stub:
    """Listens on a free port of 127.0.0.1. answers: action -> reply object, or a function of the body."""

    def __init__(self, center, app, token=None):
        self.center = center
        self.app = app
        self.token = center.token if token is None else token
        self.answers = {}
        self.calls = []  # (action, body, headers), oldest first
        self.expects = None  # a token: calls with another are refused, as XXL-JOB's executors do
        self.refused = []  # (action, token)
        self._server = Server(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_port}/"

    def _handler(self):
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "null")
                action = self.path.lstrip("/")
                token = self.headers.get("XXL-JOB-ACCESS-TOKEN")
                if stub.expects is not None and token != stub.expects:
                    stub.refused.append((action, token))
                    answer = WRONG_TOKEN
                else:
                    stub.calls.append((action, body, self.headers))
                    answer = stub.answers.get(action, OK)
                    answer = answer(body) if callable(answer) else answer
                reply = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

        return Handler

    def __enter__(self):
        self.register()
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def register(self, action="registry"):
        reply = self.center.open_api(action, {"registryGroup": "EXECUTOR", "registryKey": self.app,
                                              "registryValue": self.address}, token=self.token)
        assert reply["code"] == 200, reply

    def runs(self, job=None):
        """Bodies of the runs so far."""
        return [body for action, body, _ in list(self.calls)
                if action == "run" and job in (None, body["jobId"])]

    def wait_runs(self, n, job=None, timeout=15):
        return wait_until(lambda: len(self.runs(job)) >= n and self.runs(job), f"{n} runs", timeout)

    def call_back(self, log_id, code=200, msg="done"):
        reply = self.center.open_api("callback", [{"logId": log_id, "logDateTim": 0, "handleCode": code,
                                                   "handleMsg": msg}], token=self.token)
        assert reply["code"] == 200, reply
