# SPDX-License-Identifier: Apache-2.0
"""Alarm channels made through /api/v1: who may, what is never shown, where requests may go, what services say; and
alarms for a channel that comes, changes and goes, against an HTTPS server with a CA of its own."""

import base64
import hashlib
import hmac
import http.server
import itertools
import json
import re
import sqlite3
import ssl
import threading
import urllib.parse

import pytest
from support import ledger
from support.center import Center
from support.ctl import FAILED as CTL_FAILED, NOT_FOUND, Ctl
from support.mailserver import certificates
from support.v1 import V1, problem
from support.wait import wait_until

SECRET = "SEC-never-shown"
SENT, FAILED = 2, 3
_names = (f"channel {n}" for n in itertools.count())


class Service:
    """An HTTPS server; answers: (status, body) of the requests to come, then 200 and {}."""

    def __init__(self, folder):
        folder.mkdir()
        self.requests, self.answers = [], []
        self.ca, cert, key = certificates(folder)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(cert, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self._server.server_port}/hook-token"

    def _handler(self):
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def answer(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.requests.append((self.command, self.path, self.headers, body))
                status, said = service.answers.pop(0) if service.answers else (200, b"{}")
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            do_POST = do_PUT = answer

        return Handler

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Service(tmp_path_factory.mktemp("service") / "it") as it:
        yield it


@pytest.fixture(scope="module")
def center(tmp_path_factory, service):
    settings = ["--alarm.targets", "127.0.0.1", "--alarm.ca", str(service.ca)]
    with Center(tmp_path_factory.mktemp("center") / "center", settings) as it:
        yield it


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture(autouse=True)
def forget(service):
    service.requests.clear()
    service.answers.clear()


def made(v1, kind, **settings):
    answer = v1.ask("POST", "/alarm-channels", {"name": next(_names), "kind": kind, "settings": settings})
    assert answer.status == 201, answer.json
    return answer


def tried(v1, channel):
    answer = v1.ask("POST", f"/alarm-channels/{channel}/test")
    assert answer.status == 200, answer.json
    return answer.json["outcome"], answer.json["said"]


# -- the resource --

def test_a_channel_is_made_changed_and_deleted(v1, service):
    new = made(v1, "webhook", url=service.url, secret=SECRET, method="PUT")
    channel = new.json["id"]
    assert new.headers["Location"].endswith(f"/api/v1/alarm-channels/{channel}")
    assert new.json["settings"] == {"method": "PUT"} and new.json["secrets"] == ["url", "secret"]
    assert new.json["target"] == service.url.removesuffix("/hook-token") and new.json["origin"] == "api"
    path = f"/alarm-channels/{channel}"
    problem(v1.ask("PATCH", path, {"enabled": False}), 428, "if_match_required")
    changed = v1.ask("PATCH", path, {"enabled": False, "settings": {"method": None}}, If_Match=new.etag)
    assert changed.status == 200 and changed.json["settings"] == {} and not changed.json["enabled"]
    assert changed.json["secrets"] == ["url", "secret"] and changed.json["version"] == 2  # what is not named stays
    assert v1.ask("PATCH", path, {"enabled": True}, If_Match=new.etag).status == 412
    assert channel in [c["id"] for c in v1.get("/alarm-channels")["items"]]
    assert v1.ask("DELETE", path, If_Match=changed.etag).status == 204
    problem(v1.ask("GET", path), 404, "not_found")


@pytest.mark.parametrize(("to", "target"), [("a@example.org", "a@example.org"),
                                            ("a@example.org, b@example.org,c@example.org", "a@example.org +2")])
def test_the_target_of_mails_is_who_gets_them(v1, to, target):
    assert made(v1, "mail", to=to).json["target"] == target


def test_bad_channels_are_refused_by_field_and_change_nothing(v1, service):
    before = v1.get("/alarm-channels")

    def refused(*fields, **body):
        given = {"name": "x", "kind": "webhook", "settings": {"url": service.url}, **body}
        problem(v1.ask("POST", "/alarm-channels", given), 422, "invalid", *fields)

    refused(("/kind", "word"), kind="carrier pigeon")
    refused(("/name", "channel.taken"), name="mail")
    refused(("/name", "channel.name"), name="a,b")
    refused(("/settings/url", "channel.setting"), settings={})
    refused(("/settings/url", "channel.setting"), settings={"url": "file:///etc/passwd"})
    refused(("/settings/nothing", "unknown"), settings={"url": service.url, "nothing": "x"})
    refused(("/settings/body", "channel.setting"), settings={"url": service.url, "body": "{{title}}"})
    refused(("/settings/body", "channel.setting"), settings={"url": service.url, "body": "{{json nothing}}"})
    refused(("/settings/headers", "channel.setting"), settings={"url": service.url, "headers": "Host: x"})
    assert v1.get("/alarm-channels") == before
    name = made(v1, "slack", url=service.url).json["name"]
    answer = v1.ask("POST", "/alarm-channels", {"name": name, "kind": "slack", "settings": {"url": service.url}})
    assert answer.status == 409, answer.json


def test_secrets_are_shown_nowhere(v1, center, service):
    new = made(v1, "dingtalk", url=service.url, secret=SECRET)
    channel = new.json["id"]
    service.answers.append((500, b""))
    tried(v1, channel)
    changed = v1.ask("PATCH", f"/alarm-channels/{channel}", {"settings": {"secret": SECRET + "2"}}, If_Match=new.etag)
    shown = json.dumps([new.json, changed.json, v1.get("/alarm-channels"), v1.get("/audit")])
    assert "channel.update" in shown and "channel.test" in shown
    for secret in (SECRET, "hook-token"):
        assert secret not in shown
        assert secret not in center.tail(10000)


def test_only_administrators_may(v1, center):
    assert v1.ask("POST", "/users", {"name": "viewer-1", "password": "a first password", "center": "none",
                                     "grants": [{"role": "operator", "groups": None}]}).status == 201
    viewer = V1(center, "viewer-1", "a first password")
    for method, path in (("GET", "/alarm-channels"), ("POST", "/alarm-channels/1/test")):
        problem(viewer.ask(method, path), 403, "forbidden")


# -- what is sent --

def test_a_webhook_is_what_its_settings_say(v1, service):
    channel = made(v1, "webhook", url=service.url, method="PUT", headers="X-Team: nachts\nContent-Type: text/plain",
                   secret=SECRET, body='{"what":{{json title}},"event":"{{event}}"}').json["id"]
    assert tried(v1, channel) == ("sent", "HTTP 200")
    (method, path, headers, body), = service.requests
    assert (method, path, headers["X-Team"]) == ("PUT", "/hook-token", "nachts")
    assert headers.get_all("Content-Type") == ["text/plain"]
    assert json.loads(body)["event"] == "test" and json.loads(body)["what"]
    mac = hmac.new(SECRET.encode(), headers["Peal-Time"].encode() + b"." + body, hashlib.sha256)
    assert headers["Peal-Signature"] == "v1=" + mac.hexdigest()


def test_dingtalk_and_feishu_are_signed_and_their_answers_read(v1, service):
    dingtalk = made(v1, "dingtalk", url=service.url + "?access_token=t", secret=SECRET).json["id"]
    service.answers += [(200, b'{"errcode":0,"errmsg":"ok"}'), (200, b'{"errcode":310000,"errmsg":"sign not match"}'),
                        (200, b"<html>")]
    assert tried(v1, dingtalk)[0] == "sent"
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(service.requests[0][1]).query)
    text = f"{query['timestamp'][0]}\n{SECRET}".encode()
    assert query["sign"] == [base64.b64encode(hmac.new(SECRET.encode(), text, hashlib.sha256).digest()).decode()]
    assert query["access_token"] == ["t"]
    assert tried(v1, dingtalk) == ("failed", "errcode 310000: sign not match")
    assert tried(v1, dingtalk)[0] == "failed"
    feishu = made(v1, "feishu", url=service.url, secret=SECRET).json["id"]
    service.answers += [(200, b'{"code":19021,"msg":"sign match fail"}')]
    assert tried(v1, feishu) == ("failed", "code 19021: sign match fail")
    body = json.loads(service.requests[-1][3])
    mac = hmac.new(f"{body['timestamp']}\n{SECRET}".encode(), b"", hashlib.sha256)
    assert body["sign"] == base64.b64encode(mac.digest()).decode()


def test_redirects_are_not_followed_and_other_targets_refused(v1, service):
    channel = made(v1, "slack", url=service.url).json["id"]
    service.answers.append((302, b""))
    assert tried(v1, channel) == ("failed", "HTTP 302")
    assert len(service.requests) == 1
    for url in (service.url.replace("127.0.0.1", "localhost"), service.url.replace("127.0.0.1", "127.0.0.2"),
                "http://169.254.169.254/latest/meta-data"):
        outcome, said = tried(v1, made(v1, "slack", url=url).json["id"])
        assert (outcome, "alarm.targets" in said) == (("sent", False) if "localhost" in url else ("refused", True))


def test_without_a_list_private_addresses_are_refused(tmp_path, service):
    with Center(tmp_path / "center", ["--alarm.ca", str(service.ca)]) as center:
        v1 = V1(center)
        outcome, said = tried(v1, made(v1, "slack", url=service.url).json["id"])
        assert outcome == "refused" and "alarm.targets" in said and not service.requests


# -- alarms on their way --

def put_alarm(center, log_id, channel):
    """A row as a rule writes it, while the center is down."""
    db = sqlite3.connect(center.data / "peal.db")
    db.execute("INSERT INTO peal_alarm (log_id, job_id, group_id, channel, made_ms, phase, code, cause, fingerprint) "
               "VALUES (?, 1, 1, ?, 1000 * strftime('%s', 'now'), 7, 500, 'boom', 1)", (log_id, channel))
    db.commit()
    db.close()


def test_alarms_go_to_the_channel_they_name_or_end(tmp_path, service):
    settings = ["--alarm.targets", "127.0.0.0/8", "--alarm.ca", str(service.ca)]
    with Center(tmp_path / "center", settings) as center:
        v1 = V1(center)
        on, off = made(v1, "webhook", url=service.url), made(v1, "webhook", url=service.url)
        answer = v1.ask("PATCH", f"/alarm-channels/{off.json['id']}", {"enabled": False}, If_Match=off.etag)
        assert answer.status == 200
        center.stop()
        for log_id, channel in enumerate((on.json["name"], off.json["name"], "nothing of the kind"), start=10 ** 6):
            put_alarm(center, log_id, channel)
        service.answers.append((503, b""))  # tried again
        center.start()
        wait_until(lambda: ledger.number(center, "SELECT count(*) FROM peal_alarm WHERE closed_ms IS NULL") == 0,
                   "all alarms closed", 60)
        statuses = [row["status"] for row in ledger.rows(center, "SELECT status FROM peal_alarm ORDER BY id")]
        assert statuses == [SENT, FAILED, FAILED]
        assert [json.loads(body)["runId"] for _, _, _, body in service.requests] == [10 ** 6] * 2
        said = [row["said"] for row in ledger.rows(center, "SELECT said FROM peal_delivery WHERE outcome = 2")]
        assert len(said) == 2 and all("is not set up, or off" in text for text in said)
        assert center.metric("peal_alarms_total", channel="webhook", result="sent") == 1


def test_a_rule_tells_a_channel_of_the_api(center, v1, service):
    channel = made(v1, "pagerduty", url=service.url, routingKey="R-1").json
    api = center.api()
    group = api.add_group("nobody-is-there")
    job = api.add_job(group, "h")
    rule = v1.ask("POST", "/alarm-rules", {"name": "fails", "kind": "failed", "level": "critical", "groupId": group,
                                            "channels": [channel["name"]]})
    assert rule.status == 201, rule.json
    api.trigger(job)
    wait_until(lambda: service.requests, "a message of the rule", 60)
    event = json.loads(service.requests[0][3])
    assert (event["routing_key"], event["event_action"]) == ("R-1", "trigger") and event["dedup_key"]
    assert event["payload"]["severity"] == "critical" and event["payload"]["summary"]


def test_settings_of_targets_are_checked_at_the_start(tmp_path):
    center = Center(tmp_path / "center", ["--alarm.targets", "10.0.0.0/33"])
    with pytest.raises(Exception, match="alarm.targets"):
        center.start()


# -- the command --

def test_the_command_tries_a_channel(v1, center, service, tmp_path):
    ctl = Ctl(tmp_path / "home")
    ctl.login(center.url)
    name = made(v1, "webhook", url=service.url).json["name"]
    assert re.match(r"sent after \d+ ms: .*200", ctl("alarm", "test", name).stdout)
    assert len(service.requests) == 1
    service.answers.append((410, b"gone for ever"))
    refused = ctl.json("alarm", "test", name, status=CTL_FAILED)
    assert refused["outcome"] == "refused" and "410" in refused["said"]
    service.answers.append((503, b"later"))
    assert ctl("alarm", "test", name, "-o", "name", status=CTL_FAILED).stdout == "failed\n"
    assert f"did you mean {name}" in ctl("alarm", "test", name + "x", status=NOT_FOUND).stderr
