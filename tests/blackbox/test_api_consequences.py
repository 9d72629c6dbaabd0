# SPDX-License-Identifier: Apache-2.0
"""/api/v1/jobs/{id}/consequences on a real center: what is told before an action is what the action does."""

import itertools

import pytest
from support.stub_executor import Stub
from support.v1 import V1, problem
from support.wait import wait_until

_names = (f"v1-consequences-{n}" for n in itertools.count())


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture
def group(center):
    app = next(_names)
    return center.api().add_group(app), app


def made(v1, group, schedule, **more):
    body = {"name": "j", "groupId": group[0], "schedule": schedule, "start": True,
            "task": {"kind": "BEAN", "handler": "h"}, **more}
    answer = v1.ask("POST", "/jobs", body)
    assert answer.status == 201, answer.json
    return answer.json["id"]


def told(v1, job, action, **schedule):
    asked = "".join(f"&{name}={value.replace(' ', '+').replace('/', '%2F')}" for name, value in schedule.items())
    return v1.get(f"/jobs/{job}/consequences?action={action}{asked}")


def daily(conf="0 30 2 * * ?", zone="UTC"):
    return {"type": "CRON", "conf": conf, "zone": zone, "dst": "smart"}


def test_the_firings_of_a_day_vanish_with_a_stop_or_a_deletion(v1, group):
    job = made(v1, group, daily("0 0/15 * * * ?"))
    for action in ("stop", "delete"):
        said = told(v1, job, action)
        assert said["firings24h"] == 96 and (said["openRuns"], said["retriesWithdrawn"]) == (0, 0)
        changes = said["changes"]
        assert (changes["vanish"], changes["appear"], changes["move"], len(changes["items"])) == (96, 0, 0, 96)
        fires = v1.get(f"/jobs/{job}/fires?count=96")["items"]
        assert [c["ms"] for c in changes["items"]] == [f["ms"] for f in fires]


def test_an_edit_tells_what_vanishes_appears_and_moves(v1, group):
    job = made(v1, group, daily())
    fire = v1.get(f"/jobs/{job}/fires?count=1")["items"][0]["ms"]
    moved = told(v1, job, "update", conf="0 45 2 * * ?")["changes"]
    assert moved["items"] == [{"what": "move", "ms": fire, "toMs": fire + 900_000}] or moved["move"] + moved["vanish"] == 1
    more = told(v1, job, "update", conf="0 30 2,3 * * ?")["changes"]
    assert (more["vanish"], more["appear"], more["move"]) == (0, 1, 0)
    assert more["items"][0]["what"] == "appear" and more["items"][0]["toMs"] is None
    none = told(v1, job, "update", type="NONE")["changes"]
    assert [(c["what"], c["ms"]) for c in none["items"]] == [("vanish", fire)]
    assert told(v1, job, "update", zone="UTC")["changes"]["items"] == []
    elsewhere = told(v1, job, "update", zone="Asia/Shanghai")["changes"]
    assert elsewhere["vanish"] + elsewhere["move"] == 1
    assert "changes" not in told(v1, job, "update")


def test_a_stopped_job_has_no_firings_to_lose(v1, group):
    job = made(v1, group, daily(), start=False)
    said = told(v1, job, "update", conf="0 45 2 * * ?")
    assert said["firings24h"] == 0 and said["changes"]["items"] == []


def test_what_is_planned_goes_and_what_runs_goes_on(v1, center, group):
    with Stub(center, group[1]) as stub:
        job = made(v1, group, daily("* * * * * ?"), running={"block": "SERIAL_EXECUTION"})
        wait_until(lambda: told(v1, job, "stop")["openRuns"] >= 2, "two runs out", 20)
        said = told(v1, job, "stop")
        assert said["firingsWithdrawn"] >= 1  # the second that comes is planned
        assert told(v1, job, "delete")["logRows"] >= said["openRuns"]
        assert told(v1, job, "stop")["logRows"] == 0
        assert v1.ask("POST", f"/jobs/{job}/stop", {}).status == 200
        after = told(v1, job, "stop")
        assert (after["firingsWithdrawn"], after["firings24h"]) == (0, 0)
        assert after["openRuns"] >= said["openRuns"]
        for run in [c[1] for c in stub.calls if c[0] == "run"]:
            stub.call_back(run["logId"])
        wait_until(lambda: told(v1, job, "stop")["openRuns"] == 0, "no open runs", 20)


def test_a_waiting_retry_is_withdrawn(v1, center, group):
    with Stub(center, group[1]) as stub:
        stub.answers["run"] = {"code": 500, "msg": "no", "content": None}
        job = made(v1, group, {"type": "ONCE", "conf": "2030-01-31T08:30:00Z"},
                   running={"retries": 3, "retryDelayMs": 3_600_000})
        assert v1.ask("POST", f"/jobs/{job}/trigger", {}).status in (200, 201)
        wait_until(lambda: told(v1, job, "delete")["retriesWithdrawn"] == 1, "a retry that waits", 20)


def test_parents_of_a_child_are_counted(v1, group):
    child = made(v1, group, {"type": "NONE"}, start=False)
    assert told(v1, child, "delete")["childrenOfOthers"] == 0
    for _ in range(2):
        made(v1, group, {"type": "NONE"}, start=False, children=[child])
    assert told(v1, child, "delete")["childrenOfOthers"] == 2


def test_bad_questions_are_refused(v1, group):
    job = made(v1, group, daily())
    problem(v1.ask("GET", f"/jobs/{job}/consequences"), 400, "malformed", ("action", "required"))
    problem(v1.ask("GET", f"/jobs/{job}/consequences?action=update&conf=0+0+25+*+*+?"), 400, "malformed",
            ("conf", "schedule.conf"))
    problem(v1.ask("GET", f"/jobs/{job}/consequences?action=update&zone=Mars"), 400, "malformed", ("zone", "zone"))
    problem(v1.ask("GET", f"/jobs/{job}/consequences?action=update&dst=java"), 400, "malformed", ("dst", "enum"))
    problem(v1.ask("GET", f"/jobs/{job}/consequences?action=stop&dst=java"), 400, "malformed", ("dst", "enum"))
    problem(v1.ask("GET", "/jobs/999999/consequences?action=stop"), 404, "not_found")
