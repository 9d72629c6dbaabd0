# SPDX-License-Identifier: Apache-2.0
"""A center whose port speaks TLS, and how to talk to it."""

import http.client
import json
import ssl

from .center import Center
from .mailserver import certificates
from .wait import PATIENCE

WAIT = 15 * PATIENCE


class TlsCenter(Center):
    """ca, cert, key: its files. args: as of Center."""

    def __init__(self, folder, args=(), **more):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tls").mkdir()
        self.ca, self.cert, self.key = certificates(folder / "tls")
        super().__init__(folder, ["--tls.cert", str(self.cert), "--tls.key", str(self.key), *args], **more)

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def context(self, **files):
        """What a client trusts: the center's CA; cert, key: its own."""
        context = ssl.create_default_context(cafile=str(files.pop("ca", self.ca)))
        if files:
            context.load_cert_chain(files["cert"], files["key"])
        return context

    def connect(self, context=None, source=None):
        """A kept connection."""
        c = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=WAIT, context=context or self.context(),
                                        source_address=source)
        c.connect()
        return c

    def ask(self, method, path, body=None, headers=None, over=None):
        """(status, headers, body), on a connection of its own or over one."""
        c = over or self.connect()
        try:
            c.request(method, path, body, headers or {})
            answer = c.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            if not over:
                c.close()

    def get(self, path):
        return self.ask("GET", path)

    def open_api(self, action, body, prefix="/xxl-job-admin", token=None, over=None):
        headers = {"Content-Type": "application/json", "XXL-JOB-ACCESS-TOKEN": self.token if token is None else token}
        status, _, reply = self.ask("POST", f"{prefix}/api/{action}", json.dumps(body), headers, over)
        assert status == 200, (status, reply)
        return json.loads(reply)
