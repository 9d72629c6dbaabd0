# SPDX-License-Identifier: Apache-2.0
"""A stand-in for services that are told by webhook, on plain HTTP: it notes every request, and answers as the test says."""

import http.server
import json
import threading


class Hook:
    """got: [(path, message, status)] of all requests, also of those that are refused. status: of the answers; delay: seconds
    that each takes."""

    def __init__(self, status=200, delay=0):
        self.got, self.status, self.delay = [], status, delay
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = hook.status
                hook.got.append((self.path, message, status))
                threading.Event().wait(hook.delay)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.settings = ["--webhook.url", self.url + "/all", "--webhook.private", "--alarm.targets", "127.0.0.1"]

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def at(self, path, status=200):
        """The messages of a path that were answered so."""
        return [message for at, message, answer in list(self.got) if (at, answer) == (path, status)]
