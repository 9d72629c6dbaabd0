# SPDX-License-Identifier: Apache-2.0
"""A mail server as a process (Debian's python3-aiosmtpd): STARTTLS and AUTH are required, each mail that it takes
becomes a file. Another process, so that it can be killed, and come back on its port."""

import email
import email.policy
import json
import pathlib
import subprocess
import sys

from .center import clean_environment, free_port
from .wait import wait_until

USER, PASSWORD = "peal", "mail-password-of-the-tests"


def certificates(folder):
    """A CA and a certificate of it for 127.0.0.1: (ca, certificate, key)."""
    ca, ca_key, cert, key = (folder / name for name in ("ca.pem", "ca.key", "cert.pem", "key.pem"))
    request, extra = folder / "request.pem", folder / "extra"
    extra.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj"]
    for command in ([*new, "/CN=CA of the tests", "-x509", "-days", "2", "-keyout", ca_key, "-out", ca],
                    [*new, "/CN=127.0.0.1", "-keyout", key, "-out", request],
                    ["openssl", "x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial",
                     "-days", "2", "-extfile", extra, "-out", cert]):
        subprocess.run([str(part) for part in command], check=True, capture_output=True)
    return ca, cert, key


class MailServer:
    """refuse: recipients that are answered 550; later: those that are answered 451."""

    def __init__(self, folder, refuse=(), later=()):
        self.folder = pathlib.Path(folder)
        self.mails = self.folder / "mails"
        self.mails.mkdir(parents=True)
        self.port = free_port()
        self.ca, self.cert, self.key = certificates(self.folder)
        self.refuse, self.later = list(refuse), list(later)
        self.process = None

    def settings(self):
        """Settings of a center that sends by it."""
        password = self.folder / "password"
        password.write_text(PASSWORD + "\n")
        return ["--mail.host", "127.0.0.1", "--mail.port", str(self.port), "--mail.ca", str(self.ca),
                "--mail.user", USER, "--mail.password-file", str(password), "--mail.from", "peal@example.org"]

    def start(self):
        said = self.folder / "server.log"
        with open(said, "ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "support.mailserver", json.dumps(
                    {"port": self.port, "mails": str(self.mails), "cert": str(self.cert), "key": str(self.key),
                     "refuse": self.refuse, "later": self.later})],
                cwd=pathlib.Path(__file__).resolve().parents[1], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=out, env=clean_environment())
        assert self.process.stdout.readline() == b"ready\n", said.read_text()
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()

    def all(self):
        """The mails so far, oldest first; the recipient as the server heard it is mail["X-RcptTo"]."""
        return [email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
                for path in sorted(self.mails.glob("*.eml"))]

    def wait(self, n, timeout=30):
        return wait_until(lambda: self.all() if len(self.all()) >= n else None, f"{n} mails", timeout)


def _main(config):
    import asyncio
    import itertools
    import ssl

    from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

    numbers = itertools.count(len(list(pathlib.Path(config["mails"]).glob("*.eml"))))

    class Handler:
        async def handle_RCPT(self, server, session, envelope, address, options):
            if address in config["refuse"]:
                return "550 no such mailbox"
            if address in config["later"]:
                return "451 come again"
            envelope.rcpt_tos.append(address)
            return "250 OK"

        async def handle_DATA(self, server, session, envelope):
            assert session.ssl and session.authenticated
            head = f"X-MailFrom: {envelope.mail_from}\r\nX-RcptTo: {','.join(envelope.rcpt_tos)}\r\n"
            path = pathlib.Path(config["mails"]) / f"{next(numbers):06d}.tmp"
            path.write_bytes(head.encode() + envelope.original_content)
            path.rename(path.with_suffix(".eml"))
            return "250 taken"

    def authenticate(server, session, envelope, mechanism, data):
        good = isinstance(data, LoginPassword) and data == LoginPassword(USER.encode(), PASSWORD.encode())
        return AuthResult(success=good, handled=good)

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(config["cert"], config["key"])

    async def serve():
        server = await asyncio.get_running_loop().create_server(
            lambda: SMTP(Handler(), hostname="mail.test", tls_context=context, require_starttls=True,
                         authenticator=authenticate, auth_required=True, auth_require_tls=True),
            "127.0.0.1", config["port"])
        print("ready", flush=True)
        await server.serve_forever()
    asyncio.run(serve())


if __name__ == "__main__":
    _main(json.loads(sys.argv[1]))
