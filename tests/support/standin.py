# SPDX-License-Identifier: Apache-2.0
"""NOT the center: a stand-in that plays its part towards an executor under test. It records what the
executor says, answers what the test tells it to answer, and speaks to executors as centers do."""

import http.client
import http.server
import json
import pathlib
import sys
import threading
import urllib.parse

from .wait import PATIENCE, wait_until

YES = {"code": 200, "msg": None, "content": None}


def waiting_at(port):
    """Connections that the kernel has taken for a listener on 127.0.0.1 and the listener has not."""
    rows = [line.split()[1:5] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(int(queues.split(":")[1], 16) for local, _, state, queues in rows
               if local == f"0100007F:{port:04X}" and state == "0A")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # a burst must not wait for the second for which TCP waits after a full queue

    def __init__(self, *args):
        super().__init__(*args)
        self.serving = 0  # connections that have not come to their end
        self._counts = threading.Lock()

    def get_request(self):
        with self._counts:
            self.serving += 1  # before it leaves the kernel's queue: it is in one of the two places always
        try:
            return super().get_request()
        except OSError:
            with self._counts:
                self.serving -= 1
            raise

    def quiet(self):
        """Every connection has come to its end, also those that the kernel took while this process had no core."""
        return not waiting_at(self.server_address[1]) and self.serving == 0

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._counts:
                self.serving -= 1

    def handle_error(self, request, client_address):
        """Connections end as they like here: executors are stopped and killed in the middle of them."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class StandinCenter:
    """An HTTP server on a port of its own. answer may be set to a function (action, body) -> what to
    say: an object is sent with status 200, a number is a status without a body, None drops the connection."""

    def __init__(self, prefix="/xxl-job-admin", port=0):
        self.prefix = prefix
        self.requests = []  # (action, headers, parsed body), in order
        self.unreadable = []  # bodies that are not JSON
        self.answer = lambda action, body: YES
        self._lock = threading.Lock()
        self._server = Server(("127.0.0.1", port), self._handler())
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}{self.prefix}"

    def _handler(outer):  # noqa: N805 (self is the handler's)
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    body = json.loads(body)
                except ValueError:
                    outer.unreadable.append(body)
                    raise
                action = self.path.removeprefix(outer.prefix + "/api/")
                with outer._lock:
                    outer.requests.append((action, self.headers, body))
                said = outer.answer(action, body)
                if said is None:
                    self.close_connection = True
                    return
                status, reply = (said, b"") if isinstance(said, int) else (200, json.dumps(said).encode())
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_):
                pass

        return Handler

    def wait_for_quiet(self):
        """All that a dead executor had sent has been read."""
        wait_until(self._server.quiet, "every connection to come to its end", 20, 0.02)

    # -- what the executor said --

    def of(self, action):
        """Bodies of an action, oldest first."""
        with self._lock:
            return [body for a, _, body in self.requests if a == action]

    def headers_of(self, action):
        with self._lock:
            return [headers for a, headers, _ in self.requests if a == action]

    def results(self, log_id=None):
        """All callback elements, or those of one run."""
        items = [item for body in self.of("callback") for item in body]
        return [i for i in items if log_id is None or i["logId"] == log_id]

    def result(self, log_id, timeout=20):
        """The first result of a run, once it has come."""
        return wait_until(lambda: self.results(log_id), f"the result of run {log_id}", timeout, 0.02)[0]


def call(address, action, body, token=None, method="POST", headers=None):
    """One request to an executor: (status, reply's JSON). body: JSON value, or bytes as they are."""
    url = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=10 * PATIENCE)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        connection.request(method, url.path + action, body=data, headers={
            "Content-Type": "application/json;charset=UTF-8",
            **({} if token is None else {"XXL-JOB-ACCESS-TOKEN": token}), **(headers or {})})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()
