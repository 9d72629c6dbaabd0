# SPDX-License-Identifier: Apache-2.0
"""A connection to an executor that sends bytes as they are given: no library puts them right."""

import http.client
import json
import socket
import urllib.parse

from .wait import PATIENCE


class Raw:
    """Requests in any form; answers read by their Content-Length, as centers read them."""

    def __init__(self, address):
        url = urllib.parse.urlsplit(address)
        self._socket = socket.create_connection((url.hostname, url.port), timeout=20 * PATIENCE)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = self._socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._replies.close()
        self._socket.close()

    def send_bytes(self, *pieces):
        """Each piece in a write of its own."""
        for piece in pieces:
            self._socket.sendall(piece)

    def send_head(self, path, token=None, length=None, method="POST"):
        lines = [f"{method} {path} HTTP/1.1", "Host: x"]
        if token is not None:
            lines.append(f"XXL-JOB-ACCESS-TOKEN: {token}")
        if length is not None:
            lines.append(f"Content-Length: {length}")
        self.send_bytes("\r\n".join([*lines, "", ""]).encode())

    def send(self, path, body=None, token=None, method="POST"):
        """body None: neither a body nor a length, as the 3.3 admins send /beat."""
        self.send_head(path, token, None if body is None else len(body), method)
        if body:
            self.send_bytes(body)

    def status(self):
        return int(self._replies.readline().split()[1])

    def reply(self):
        """The JSON of the next answer, which must have come with HTTP 200 and must not end the connection."""
        line = self._replies.readline()
        assert line == b"HTTP/1.1 200 OK\r\n", line
        headers = http.client.parse_headers(self._replies)
        assert headers["Connection"] != "close"
        assert headers.get_content_type() in ("application/json", "text/html")
        return json.loads(self._replies.read(int(headers["Content-Length"])))

    def line(self):
        return self._replies.readline()
