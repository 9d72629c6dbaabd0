# SPDX-License-Identifier: Apache-2.0
"""Alarms by mail, against a mail server that is a process of its own, and by webhook: who is told, what of, how often; a
server that is down, that refuses, that hangs; and a center that is killed in between."""

import contextlib
import hashlib
import hmac
import http.server
import json
import socket
import ssl
import subprocess
import threading
import time

import pytest
from support import ledger
from support.center import Center, binary, clean_environment, free_port
from support.mailserver import MailServer, certificates
from support.stub_executor import Stub
from support.wait import PATIENCE, wait_until

CLAIMED, NOT_NEEDED, SENT, FAILED = -1, 1, 2, 3


@pytest.fixture
def server(tmp_path):
    with MailServer(tmp_path / "mail") as it:
        yield it


@pytest.fixture
def center(tmp_path, server):
    with Center(tmp_path / "center", server.settings()) as it:
        yield it


def failing_job(center, email, app="nobody", **fields):
    """A job of a group without executors: each run fails at once. (api, id)"""
    api = center.api()
    group = next((g["id"] for g in api.groups(app)), None) or api.add_group(app, "Night & day")
    return api, api.add_job(group, "h", alarmEmail=email, **fields)


def statuses(center, job):
    return [row["alarm_status"] for row in ledger.rows(
        center, "SELECT alarm_status FROM xxl_job_log WHERE job_id = ? AND (trigger_code NOT IN (0, 200) OR "
                "handle_code <> 0) ORDER BY id", job)]


def wait_status(center, job, *expected, timeout=30):
    wait_until(lambda: statuses(center, job) == list(expected), f"alarm_status {expected}", timeout)


def told(center, result, number):
    """What stands in the tables is counted right after."""
    wait_until(lambda: center.metric("peal_alarms_total", channel="mail", result=result) == number, f"{number} {result}")


def body(mail, kind):
    return mail.get_body((kind,)).get_content()


@pytest.mark.every_engine
def test_a_failure_is_one_mail_to_each_address(center, server):
    api, job = failing_job(center, "a@example.org, b@example.org,a@example.org", jobDesc="日报 <b>&\"x\"",
                           executorParam="password=secret")
    api.trigger(job)
    mails = server.wait(2)
    wait_status(center, job, SENT)
    assert sorted(mail["X-RcptTo"] for mail in mails) == ["a@example.org", "b@example.org"]
    assert len({mail["Message-ID"] for mail in mails}) == 2
    log = api.logs(job)[0]
    for mail in mails:
        assert mail["To"] == mail["X-RcptTo"] and mail["From"] == "Peal <peal@example.org>"
        assert mail["X-MailFrom"] == "peal@example.org"
        assert mail["Subject"] == f'Job failed: 日报 <b>&"x" ({job})'
        assert mail["Auto-Submitted"] == "auto-generated" and mail["Date"] and mail["Message-ID"]
        assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]
        text, html = body(mail, "plain"), body(mail, "html")
        assert f"logId={log['id']}" in text and "Night & day" in text and "unroutable" in text
        assert str(job) in text and '日报 <b>&"x"' in text and "secret" not in text
        assert "日报 &lt;b&gt;&amp;" in html and "<b>" not in html and "secret" not in html
        # what the log page shows of the refusal is in the mail
        assert "trigger: " in text and len(text.split("trigger: ")[1].strip()) > 5
    # nothing else comes
    told(center, "sent", 2)
    assert [row["outcome"] for row in ledger.rows(center, "SELECT outcome FROM peal_delivery")] == [0, 0]


def test_what_the_executor_said_is_in_the_mail_and_successes_are_silent(center, server):
    api = center.api()
    group = api.add_group("stub")
    job = api.add_job(group, "demo", alarmEmail="a@example.org")
    with Stub(center, "stub") as stub:
        wait_until(lambda: stub.address in api.addresses("stub"), "the stub in its group")
        for _ in range(2):
            api.trigger(job)
        first, second = sorted(run["logId"] for run in stub.wait_runs(2, job))
        stub.call_back(first, 200)
        stub.call_back(second, 500, "boom <i>42</i>\nat line 3")
        mail, = server.wait(1)
        wait_status(center, job, 0, SENT)
        assert "handle: boom <i>42</i>\nat line 3" in body(mail, "plain").replace("\r\n", "\n")
        assert "boom &lt;i&gt;42&lt;/i&gt;" in body(mail, "html")
        assert stub.address in body(mail, "plain") and "trigger:" not in body(mail, "plain")
    alarm, = ledger.rows(center, "SELECT * FROM peal_alarm")
    assert (alarm["log_id"], alarm["cause"], alarm["status"], alarm["code"]) == (second, "boom <i>#</i>", SENT, 500)


def test_addresses_are_separated_as_people_do_it(center, server):
    """XXL-JOB takes the comma alone, and mails nobody of any other list."""
    api, job = failing_job(center, "a@example.org; Ann <b@example.org>，c@example.org d@example.org")
    api.trigger(job)
    server.wait(4)
    wait_status(center, job, SENT)
    assert {mail["X-RcptTo"] for mail in server.all()} == {f"{name}@example.org" for name in "abcd"}


def test_each_try_of_a_run_alarms_and_jobs_without_an_address_do_not(center, server):
    api, job = failing_job(center, "a@example.org", executorFailRetryCount=1, retryDelayMs=0)
    _, silent = failing_job(center, "")
    api.trigger(silent)
    api.trigger(job)
    server.wait(2)
    wait_status(center, job, SENT, SENT)
    wait_status(center, silent, NOT_NEEDED)
    assert {mail["X-RcptTo"] for mail in server.all()} == {"a@example.org"} and len(server.all()) == 2


def test_a_refused_address_is_given_up_and_the_others_are_told(tmp_path):
    with MailServer(tmp_path / "mail", refuse=["gone@example.org"]) as server, \
            Center(tmp_path / "center", server.settings()) as center:
        api, job = failing_job(center, "gone@example.org,no address,a@example.org")
        api.trigger(job)
        server.wait(1)
        wait_status(center, job, FAILED)
        rows = {row["target"]: (row["outcome"], row["said"]) for row in ledger.rows(
            center, "SELECT target, outcome, said FROM peal_delivery")}
        assert rows["a@example.org"][0] == 0
        assert rows["gone@example.org"][0] == 2 and "550" in rows["gone@example.org"][1]
        assert rows["no address"][0] == 2 and "mail address" in rows["no address"][1]
        told(center, "given_up", 2)


def test_an_address_that_has_to_wait_keeps_no_other_waiting(tmp_path):
    with MailServer(tmp_path / "mail", later=["slow@example.org"]) as server, \
            Center(tmp_path / "center", server.settings()) as center:
        api, slow = failing_job(center, "slow@example.org")
        _, job = failing_job(center, "a@example.org")
        for _ in range(3):
            api.trigger(slow)
        ledger.wait_for_rows(center, "a try that was put off", "SELECT 1 FROM peal_delivery WHERE outcome = 1")
        api.trigger(job)
        wait_status(center, job, SENT)
        assert set(statuses(center, slow)) == {CLAIMED}
        tries = ledger.rows(center, "SELECT alarm_id, said FROM peal_delivery WHERE target = 'slow@example.org'")
        assert len({row["alarm_id"] for row in tries}) == 1 and "451" in tries[0]["said"]  # one asks for all
        server.kill()
        server.later = []
        server.start()
        wait_status(center, slow, SENT, SENT, SENT, timeout=60)


@pytest.mark.every_engine
def test_alarms_wait_for_a_server_that_is_down_and_outlive_the_center(center, server):
    server.kill()
    api, job = failing_job(center, "a@example.org")
    api.trigger(job)
    ledger.wait_for_rows(center, "a try that failed", "SELECT 1 FROM peal_delivery WHERE outcome = 1")
    assert statuses(center, job) == [CLAIMED]
    wait_until(lambda: center.metric("peal_alarms_total", channel="mail", result="failed") >= 1, "it to be counted")
    center.kill()
    server.start()
    center.start()
    server.wait(1, timeout=60)
    wait_status(center, job, SENT)
    assert len(server.all()) == 1
    tries = [row["n"] for row in ledger.rows(center, "SELECT n FROM peal_delivery ORDER BY n")]
    assert tries == list(range(1, len(tries) + 1)) and len(tries) >= 2


@pytest.mark.every_engine
def test_kills_between_lose_no_mail_and_copies_have_one_id(center, server):
    api, job = failing_job(center, "a@example.org")
    for round_ in range(4):
        for _ in range(5):
            api.trigger(job)
        server.wait(5 * round_ + 1)
        center.restart()
        api = center.api()
    wait_until(lambda: set(statuses(center, job)) == {SENT}, "all to be sent", 60)
    ids = {mail["Message-ID"] for mail in server.all()}
    alarms = ledger.number(center, "SELECT count(*) FROM peal_alarm")
    assert alarms == len(statuses(center, job)) == len(ids) == 20


def test_a_server_that_hangs_delays_no_firing(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as hangs:  # takes connections, never says a word
        with Center(tmp_path / "center", ["--mail.host", "127.0.0.1", "--mail.port", str(hangs.getsockname()[1]),
                                          "--mail.from", "peal@example.org", "--mail.tls", "none"]) as center:
            api, job = failing_job(center, ",".join(f"{c}@example.org" for c in "abcdefgh"))
            quick = api.add_job(api.add_group("stub"), "demo")
            for _ in range(3):
                api.trigger(job)
            with Stub(center, "stub") as stub:
                wait_until(lambda: stub.address in api.addresses("stub"), "the stub in its group")
                for _ in range(10):
                    api.trigger(quick)
                for run in stub.wait_runs(10, quick):
                    stub.call_back(run["logId"], 200)
                wait_until(lambda: ledger.number(center, "SELECT count(*) FROM xxl_job_log WHERE handle_code = 200 "
                                                         "AND job_id = ?", quick) == 10, "ten successes")
            assert set(statuses(center, job)) == {CLAIMED}  # the mails are still on their way
            begun = time.monotonic()
            center.stop()  # and do not keep the center from ending
            assert time.monotonic() - begun < 15 * PATIENCE


def test_alarms_of_a_center_without_a_mail_server_say_so(tmp_path):
    with Center(tmp_path / "center") as center:
        api, job = failing_job(center, "a@example.org")
        api.trigger(job)
        wait_status(center, job, FAILED)
        said, = ledger.rows(center, "SELECT said FROM peal_delivery")
        assert "mail is not set up" in said["said"]
        ledger.check_accounts(center)


def test_a_wrong_certificate_or_password_is_tried_again(tmp_path, server):
    (tmp_path / "wrong").write_text("wrong\n")
    for change in ({"--mail.ca": "/etc/ssl/certs/ca-certificates.crt"}, {"--mail.password-file": str(tmp_path / "wrong")}):
        args = server.settings()
        for option, value in change.items():
            with contextlib.suppress(FileNotFoundError):
                args[args.index(option) + 1] = value
        with Center(tmp_path / f"center{len(server.all())}{len(change)}{list(change)[0][7:9]}", args) as center:
            api, job = failing_job(center, "a@example.org")
            api.trigger(job)
            row = ledger.wait_for_rows(center, "a try", "SELECT outcome, said FROM peal_delivery")[0]
            assert row["outcome"] == 1 and row["said"] and statuses(center, job) == [CLAIMED], dict(row)
    assert not server.all()


# ---- webhooks ----

SECRET = "secret-of-the-webhook"


class Hook:
    """An HTTPS server with a CA of its own. answers: status codes, one a request, then 200; 302 leads to /elsewhere."""

    def __init__(self, folder, *answers):
        folder.mkdir()
        self.requests, self.answers = [], list(answers)
        self.ca, cert, key = certificates(folder)
        self.secret = folder / "secret"
        self.secret.write_text(SECRET + "\n")
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(cert, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self._server.server_port}/hook"

    def _handler(self):
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                hook.requests.append((self.path, self.headers, self.rfile.read(int(self.headers["Content-Length"]))))
                status = hook.answers.pop(0) if hook.answers else 200
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

        return Handler

    def settings(self):
        return ["--webhook.url", self.url, "--webhook.ca", str(self.ca), "--webhook.secret-file", str(self.secret),
                "--webhook.private"]

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


def test_a_webhook_is_told_of_every_failure_and_the_request_is_signed(tmp_path):
    with Hook(tmp_path / "hook") as hook, Center(tmp_path / "center", hook.settings()) as center:
        api, job = failing_job(center, "", jobDesc="日报 \"x\"\r\n", executorParam="password=secret")
        api.trigger(job)
        wait_status(center, job, SENT)
        (path, headers, body_), = hook.requests
        assert path == "/hook" and headers["Content-Type"] == "application/json" and b"secret" not in body_
        sent = json.loads(body_)
        log = api.logs(job)[0]
        assert sent["event"] == "run.failed" and sent["outcome"] == "unroutable" and sent["code"] == 500
        assert (sent["jobId"], sent["runId"], sent["app"]) == (job, log["id"], "nobody")
        assert sent["job"].startswith('日报 "x"') and sent["triggerMsg"] and sent["handleMsg"] == ""
        assert headers["Peal-Alarm-Id"] == sent["id"]
        signed = hmac.new(SECRET.encode(), headers["Peal-Time"].encode() + b"." + body_, hashlib.sha256).hexdigest()
        assert headers["Peal-Signature"] == "v1=" + signed and abs(time.time() - int(headers["Peal-Time"])) < 600


def test_a_webhook_that_fails_is_tried_again_and_redirects_are_not_followed(tmp_path):
    with Hook(tmp_path / "hook", 503, 302) as hook, Center(tmp_path / "center", hook.settings()) as center:
        api, job = failing_job(center, "")
        api.trigger(job)
        wait_status(center, job, SENT)
        assert [path for path, _, _ in hook.requests] == ["/hook"] * 3
        assert len({headers["Peal-Alarm-Id"] for _, headers, _ in hook.requests}) == 1
        assert [row["said"] for row in ledger.rows(center, "SELECT said FROM peal_delivery ORDER BY n")] == [
            "HTTP 503", "HTTP 302", "HTTP 200"]
        hook.answers.append(410)
        api.trigger(job)
        wait_status(center, job, SENT, FAILED)
        assert len(hook.requests) == 4


def test_a_webhook_reaches_no_private_address_unless_it_may(tmp_path):
    with Hook(tmp_path / "hook") as hook, \
            Center(tmp_path / "center", hook.settings()[:-1]) as center:
        api, job = failing_job(center, "")
        api.trigger(job)
        wait_status(center, job, FAILED)
        assert "not public" in ledger.rows(center, "SELECT said FROM peal_delivery")[0]["said"]
        assert not hook.requests


def test_a_channel_that_hangs_keeps_no_other_waiting(tmp_path, server):
    with socket.create_server(("127.0.0.1", 0)) as hangs, Center(tmp_path / "center", [
            *server.settings(), "--webhook.url", f"http://127.0.0.1:{hangs.getsockname()[1]}/", "--webhook.private",
    ]) as center:
        api, job = failing_job(center, "a@example.org")
        for _ in range(3):
            api.trigger(job)
        server.wait(3)
        ledger.wait_for_rows(center, "the mails to be noted", "SELECT 1 FROM peal_alarm WHERE channel = 'mail' AND "
                             "(SELECT count(*) FROM peal_alarm WHERE channel = 'mail' AND status = 2) = 3")
        assert statuses(center, job) == [CLAIMED] * 3  # the webhook has not been told
        assert ledger.number(center, "SELECT count(*) FROM peal_alarm WHERE closed_ms IS NULL") == 3


def test_port_465_is_encrypted_from_the_first_byte(tmp_path):
    """As XXL-JOB's files have it: the port alone. By STARTTLS the sender would wait for a greeting."""
    with socket.socket() as relay:
        relay.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            relay.bind(("127.0.0.77", 465))
        except PermissionError:
            pytest.skip("only root may listen there")
        relay.listen()
        relay.settimeout(30 * PATIENCE)
        with Center(tmp_path / "center", ["--spring.mail.host=127.0.0.77", "--spring.mail.port=465", "--mail.from",
                                          "peal@example.org"]) as center:
            api, job = failing_job(center, "a@example.org")
            api.trigger(job)
            peer, _ = relay.accept()
            with peer:
                peer.settimeout(30 * PATIENCE)
                assert peer.recv(1) == b"\x16", "a ClientHello"


# ---- settings ----


@pytest.mark.parametrize("args, rule", [
    (["--webhook.url", "ftp://example.org/"], "webhook.url must be http"),
    (["--webhook.url", "https://user@example.org/"], "webhook.url must be http"),
    (["--webhook.url", "not a url"], "webhook.url must be http"),
    (["--webhook.url", "https://example.org/", "--webhook.secret-file", "/nowhere"],
     "webhook.secret-file: cannot read /nowhere"),
    (["--webhook.url", "https://example.org/", "--webhook.ca", "/nowhere"], "webhook.ca: cannot read /nowhere"),
    (["--mail.host", "a/b", "--mail.from", "a@b"], "mail.host must be"),
    (["--mail.host", "h"], "mail.from is missing"),
    (["--mail.host", "h", "--mail.from", "nobody"], "mail.from: a mail address is"),
    (["--mail.host", "h", "--mail.from", "a@b", "--mail.tls", "maybe"], "mail.tls must be starttls, tls or none"),
    (["--mail.host", "h", "--mail.from", "a@b", "--mail.user", "u"], "mail.password-file (or mail.password) is missing"),
    (["--mail.host", "h", "--mail.from", "a@b", "--mail.password", "p"], "mail.user is missing"),
    (["--mail.host", "h", "--mail.from", "a@b", "--mail.user", "u", "--mail.password-file", "/nowhere"],
     "mail.password-file: cannot read /nowhere"),
    (["--mail.host", "h", "--mail.from", "a@b", "--mail.ca", "/nowhere"], "mail.ca: cannot read /nowhere"),
])
def test_a_wrong_setting_is_named_and_nothing_starts(tmp_path, args, rule):
    done = subprocess.run([str(binary()), "server", "--data", str(tmp_path / "data"), "--listen",
                           f"127.0.0.1:{free_port()}", *args], env=clean_environment(), capture_output=True, text=True,
                          timeout=60 * PATIENCE, check=False)
    assert done.returncode != 0 and rule in done.stderr, done.stderr
    assert not (tmp_path / "data" / "peal.db").exists()
