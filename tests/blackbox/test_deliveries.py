# SPDX-License-Identifier: Apache-2.0
"""What became of each message of an alarm: the log of tries, sending one again, the limit of a channel, a silence of one
job; and that a rule and its channels stay together."""

import json
import time

import pytest
from support.center import Center
from support.mailserver import MailServer
from support.v1 import V1
from support.wait import wait_until
from test_api_channels import Service, made
from test_users import make


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


def rule(v1, channel, **more):
    return v1.ask("POST", "/alarm-rules", {"name": "fails", "kind": "failed", "channels": [channel], **more})


def deliveries(v1, **filters):
    return v1.pages("/alarm-deliveries", limit=2, **filters)


def wait_states(v1, states, **filters):
    return wait_until(lambda: (d := deliveries(v1, **filters)) and sorted(x["state"] for x in d) == states and d,
                      f"deliveries that are {states}", 60)


def test_the_log_of_tries_the_limit_and_sending_again(center, v1, service):
    api = center.api()
    groups = [api.add_group(f"deliveries-{i}") for i in range(3)]
    jobs = [api.add_job(group, "h") for group in groups]  # without an executor each run fails at once
    channel = made(v1, "webhook", url=service.url)
    path = f"/alarm-channels/{channel.json['id']}"
    limited = v1.ask("PATCH", path, {"perMinute": 1}, If_Match=channel.etag)
    assert limited.status == 200 and limited.json["perMinute"] == 1 and limited.json["held"] == 0
    silence = v1.ask("POST", "/alarm-silences", {"jobId": jobs[2], "reason": "mends", "untilMs": int(time.time() * 1000) + 3600000})
    assert silence.status == 201 and (silence.json["jobId"], silence.json["groupId"]) == (jobs[2], groups[2])
    number = rule(v1, channel.json["name"]).json["id"]

    service.answers.append((400, b"nobody of that name"))  # final
    for job in reversed(jobs):
        api.trigger(job)
    failed, held = sorted(wait_states(v1, ["failed", "held"]), key=lambda d: d["state"])
    assert {failed["group"]["id"], held["group"]["id"]} == set(groups[:2])
    assert failed["message"] == "opened" and failed["channel"] == channel.json["name"] and failed["runId"] is None
    assert failed["tries"] == 1 and "400" in failed["said"] and "1 messages a minute" in held["said"]
    assert v1.get(path)["held"] == 1
    assert [d["id"] for d in deliveries(v1, alarm=failed["alarmId"])] == [failed["id"]] and not deliveries(v1, channel="x")
    assert deliveries(v1, state="held") == [held] and not deliveries(v1, state="sent")
    assert deliveries(v1, state="held", sinceMs=held["closedMs"]) == [held]
    assert not deliveries(v1, state="held", sinceMs=held["closedMs"] + 1)
    assert v1.ask("GET", "/alarm-deliveries?sinceMs=yesterday").status == 400
    quiet, = [a for a in v1.get(f"/alarms?rule={number}")["items"] if a["group"]["id"] == groups[2]]
    assert quiet["open"] == 1 and quiet["messages"] == 0  # it came before the others, and its job is silenced

    again = f"/alarm-deliveries/{failed['id']}"
    make(center, "d-viewer", grants=[{"role": "viewer", "groups": groups}])
    make(center, "d-other", grants=[{"role": "operator", "groups": [api.add_group("deliveries-far")]}])
    viewer, other = V1(center, "d-viewer", "d-viewer"), V1(center, "d-other", "d-other")
    assert viewer.get(again)["id"] == failed["id"] and viewer.ask("POST", again + "/resend").status == 403
    assert other.ask("GET", again).status == 404 and other.ask("POST", again + "/resend").status == 404
    assert not deliveries(other)

    first = json.loads(service.requests[-1][3])
    assert v1.ask("POST", again + "/resend").status == 200
    assert wait_states(v1, ["sent"], alarm=failed["alarmId"])[0]["resentMs"] >= failed["madeMs"]
    second = json.loads(service.requests[-1][3])
    assert second["held"] == 1 and first["held"] == 0 and second["key"] == first["key"] and second["id"] != first["id"]
    one = v1.get(again)
    assert [(t["n"], t["outcome"]) for t in one["items"]] == [(2, "sent"), (1, "given_up")] and one["tries"] == 2
    wait_until(lambda: v1.get(path)["held"] == 0, "nothing kept back that was not told")
    entry, = v1.get(f"/audit?object=delivery:{failed['id']}")["items"]
    assert entry["action"] == "delivery.resend" and entry["object"]["name"] == channel.json["name"]

    # a crash of the center keeps that it is to be sent again
    service.answers.append((503, b""))
    assert v1.ask("POST", f"/alarm-deliveries/{held['id']}/resend").status == 200
    wait_until(lambda: v1.get(f"/alarm-deliveries/{held['id']}")["tries"] == 2, "a try that failed")
    assert v1.ask("POST", f"/alarm-deliveries/{held['id']}/resend").status == 409  # on its way
    center.kill()
    center.start()
    wait_states(V1(center), ["sent"], alarm=held["alarmId"])


def test_a_rule_and_its_channels_stay_together(center, service):
    v1 = V1(center)
    missing = rule(v1, "nothing of the kind")
    assert missing.status == 422 and [e["field"] for e in missing.json["errors"]] == ["/channels"]
    assert "nothing of the kind" in missing.json["errors"][0]["detail"]
    assert rule(v1, "mail").status == 422  # it is told by jobs, not by rules
    channel = made(v1, "webhook", url=service.url)
    path = f"/alarm-channels/{channel.json['id']}"
    number = rule(v1, channel.json["name"], enabled=False).json["id"]
    for refused in (v1.ask("DELETE", path, If_Match="*"), v1.ask("PATCH", path, {"name": "other"}, If_Match="*")):
        assert refused.status == 409 and f"fails ({number})" in refused.json["detail"], refused.json
    assert v1.ask("PATCH", path, {"enabled": False, "perMinute": 0}, If_Match="*").status == 422
    assert v1.ask("PATCH", path, {"enabled": False}, If_Match="*").status == 200
    assert v1.ask("DELETE", f"/alarm-rules/{number}", If_Match="*").status == 204
    assert v1.ask("DELETE", path, If_Match="*").status == 204


def test_what_was_given_up_for_lack_of_a_channel_says_so(center):
    v1, api = V1(center), center.api()
    job = api.add_job(api.add_group("no-mail"), "h", alarmEmail="a@example.org")
    api.trigger(job)
    it, = wait_until(lambda: deliveries(v1, channel="mail", state="failed"), "a mail that is given up", 30)
    assert it["alarmId"] is None and it["message"] is None and deliveries(v1, run=it["runId"]) == [it]
    assert "not set up" in it["said"]
    refused = v1.ask("POST", f"/alarm-deliveries/{it['id']}/resend")
    assert refused.status == 409 and "mail" in refused.json["detail"]


def test_a_rule_tells_by_mail_each_address_for_itself(tmp_path):
    with MailServer(tmp_path / "mail", refuse=["gone@example.org"]) as server, \
            Center(tmp_path / "center", server.settings()) as center:
        v1, api = V1(center), center.api()
        for bad in ("", "no address", "a@example.org,b", ",".join(f"a{i}@example.org" for i in range(21))):
            refused = v1.ask("POST", "/alarm-channels", {"name": "bad", "kind": "mail", "settings": {"to": bad}})
            assert refused.status == 422 and refused.json["errors"][0]["field"] == "/settings/to", refused.json
        channel = made(v1, "mail", to="ops@example.org, gone@example.org").json
        assert channel["settings"]["to"] and channel["secrets"] == []
        answer = v1.ask("POST", f"/alarm-channels/{channel['id']}/test").json
        assert answer["outcome"] == "sent", answer
        assert [mail["X-RcptTo"] for mail in server.wait(1)] == ["ops@example.org"]
        group = api.add_group("by-mail", "Tag & Nacht")
        number = rule(v1, channel["name"], groupId=group, level="critical").json["id"]
        api.trigger(api.add_job(group, "h"))
        mail = server.wait(2, 60)[1]
        assert mail["X-RcptTo"] == "ops@example.org" and "failing" in mail["Subject"]
        for kind in ("plain", "html"):
            text = mail.get_body((kind,)).get_content()
            assert "no_executor" not in text and "failing" in text and "Code" not in text, text
        alarm, = v1.get(f"/alarms?rule={number}")["items"]
        one, = wait_states(v1, ["failed"], alarm=alarm["id"])
        tries = {t["target"]: t["outcome"] for t in v1.get(f"/alarm-deliveries/{one['id']}")["items"]}
        assert tries == {"ops@example.org": "sent", "gone@example.org": "given_up"}
