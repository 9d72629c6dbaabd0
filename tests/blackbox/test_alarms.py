# SPDX-License-Identifier: Apache-2.0
"""Alarms by mail, against a mail server that is a process of its own: who is told, what of, how often; a server that is
down, that refuses, that hangs; and a center that is killed in between."""

import contextlib
import socket
import time

import pytest
from support import ledger
from support.center import Center, binary, clean_environment, free_port
from support.mailserver import MailServer
from support.stub_executor import Stub
from support.wait import wait_until

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


def body(mail, kind):
    return mail.get_body((kind,)).get_content()


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
    assert center.metric("peal_alarms_total", channel="mail", result="sent") == 2
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
        assert center.metric("peal_alarms_total", channel="mail", result="given_up") == 2


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


def test_alarms_wait_for_a_server_that_is_down_and_outlive_the_center(center, server):
    server.kill()
    api, job = failing_job(center, "a@example.org")
    api.trigger(job)
    ledger.wait_for_rows(center, "a try that failed", "SELECT 1 FROM peal_delivery WHERE outcome = 1")
    assert statuses(center, job) == [CLAIMED]
    assert center.metric("peal_alarms_total", channel="mail", result="failed") >= 1
    center.kill()
    server.start()
    center.start()
    server.wait(1, timeout=60)
    wait_status(center, job, SENT)
    assert len(server.all()) == 1
    tries = [row["n"] for row in ledger.rows(center, "SELECT n FROM peal_delivery ORDER BY n")]
    assert tries == list(range(1, len(tries) + 1)) and len(tries) >= 2


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
            assert time.monotonic() - begun < 15


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


@pytest.mark.parametrize("args, rule", [
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
    import subprocess
    done = subprocess.run([str(binary()), "server", "--data", str(tmp_path / "data"), "--listen",
                           f"127.0.0.1:{free_port()}", *args], env=clean_environment(), capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode != 0 and rule in done.stderr, done.stderr
    assert not (tmp_path / "data" / "peal.db").exists()
