# SPDX-License-Identifier: Apache-2.0
"""A reverse proxy as people put before a center: one address, a path of it leads to the center, which gets the path
whole or without its beginning. Streams pass as they come."""

import contextlib
import http.client
import http.server
import threading

from .standin import Server
from .wait import PATIENCE


class Proxy:
    """Listens on a free port of 127.0.0.1. strip: the prefix is taken away."""

    def __init__(self, port, prefix, strip):
        self.target, self.prefix, self.strip = port, prefix, strip
        self.server = Server(("127.0.0.1", 0), self._handler())
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def _handler(self):
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def _pass(self):
                if not (self.path + "/").startswith(proxy.prefix + "/"):
                    self.send_error(404)
                    return
                path = self.path[len(proxy.prefix):] if proxy.strip else self.path
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                center = http.client.HTTPConnection("127.0.0.1", proxy.target, timeout=60 * PATIENCE)
                with contextlib.closing(center):
                    center.putrequest(self.command, path or "/", skip_host=True, skip_accept_encoding=True)
                    for name, value in self.headers.items():
                        center.putheader(name, value)
                    center.endheaders(body)
                    answer = center.getresponse()
                    self.send_response(answer.status)
                    for name, value in answer.headers.items():
                        if name not in ("Connection", "Transfer-Encoding", "Date"):
                            self.send_header(name, value)
                    self.end_headers()
                    with contextlib.suppress(OSError):
                        while piece := answer.read1(65536):
                            self.wfile.write(piece)

            do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = do_HEAD = _pass

        return Handler
