# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server that refuses each client at once, with a SQLSTATE and a text in whatever language."""
import contextlib
import socketserver
import struct
import threading

SSL_REQUEST, GSS_REQUEST = 80877103, 80877104


class _Client(socketserver.StreamRequestHandler):
    def handle(self):
        while True:
            head = self.rfile.read(8)
            if len(head) < 8:
                return
            size, code = struct.unpack(">II", head)
            self.rfile.read(size - 8)
            if code not in (SSL_REQUEST, GSS_REQUEST):
                break
            self.wfile.write(b"N")
        fields = b"".join(mark + text.encode() + b"\0" for mark, text in self.server.fields) + b"\0"
        self.wfile.write(b"E" + struct.pack(">I", len(fields) + 4) + fields)


@contextlib.contextmanager
def refusing(state, text, severity="FATAL"):
    """Its port."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Client) as server:
        server.fields = ((b"S", severity), (b"V", "FATAL"), (b"C", state), (b"M", text))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
