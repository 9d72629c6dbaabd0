# SPDX-License-Identifier: Apache-2.0
"""/api/v1/forecast on a real center: the firings of the next 24 hours by minutes and seconds, and the crowd that a
preview tells of."""

import itertools
import time

import pytest
from support.v1 import V1, problem
from support.wait import wait_until

MINUTE = 60_000
_names = (f"v1-forecast-{n}" for n in itertools.count())


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture
def group(center):
    app = next(_names)
    return center.api().add_group(app), app


def made(v1, group, conf, kind="CRON", name="j", **more):
    schedule = {"type": kind, "conf": conf, "zone": "UTC", "dst": "smart", "misfire": "DO_NOTHING"}
    answer = v1.ask("POST", "/jobs", {"name": name, "groupId": group[0], "schedule": schedule, "start": True,
                                      "task": {"kind": "BEAN", "handler": "h"}, **more})
    assert answer.status == 201, answer.json
    return answer.json["id"]


def forecast(v1, group=None, **more):
    query = "&".join(f"{name}={value}" for name, value in {**({"group": group[1]} if group else {}), **more}.items())
    return v1.get("/forecast" + (f"?{query}" if query else ""))


def settled(v1, group, total):
    """The group's forecast when it has followed the edits; of many firings some fall into the time of the look."""
    def look():
        said = forecast(v1, group)
        about = total * 0.01 + 1 if total > 25 else 0
        assert not said["partial"] and abs(sum(said["counts"]) - total) <= about, sum(said["counts"])
        return said
    return wait_until(look, f"{total} firings", 30)


def minutes_of_day(said):
    """Counts by minute of the day in UTC."""
    first = said["fromMs"] // MINUTE % 1440
    return {(first + i) % 1440: count for i, count in enumerate(said["counts"])}


def test_firings_are_counted_by_minutes(v1, group):
    made(v1, group, "0 30 2 * * ?")
    made(v1, group, "0 0/15 9-17 * * ?")
    made(v1, group, "0/10 5 12 * * ?")
    said = settled(v1, group, 1 + 36 + 6)
    assert len(said["counts"]) == 1440 and said["stepMs"] == MINUTE and said["fromMs"] % MINUTE == 0
    counts = minutes_of_day(said)
    assert counts[2 * 60 + 30] == 1 and counts[12 * 60 + 5] == 6 and counts[12 * 60 + 15] == 1
    assert {m for m, c in counts.items() if c} == ({150, 725} | {h * 60 + m for h in range(9, 18) for m in (0, 15, 30, 45)})


def test_what_fires_each_second_or_more_often_is_counted_too(v1, group):
    jobs = [made(v1, group, "* * * * * ?"), made(v1, group, "250ms", "FIX_RATE")]
    said = settled(v1, group, 86400 + 4 * 86400)
    assert all(abs(count - 300) <= 4 for count in said["counts"][2:])
    for job in jobs:
        assert v1.ask("POST", f"/jobs/{job}/stop", {}).status == 200
    settled(v1, group, 0)


def test_edits_change_it_at_once(v1, group):
    job = made(v1, group, "0 0/5 * * * ?")
    settled(v1, group, 288)
    read = v1.ask("GET", f"/jobs/{job}")
    assert v1.ask("PATCH", f"/jobs/{job}", {"schedule": {"conf": "0 0/10 * * * ?"}}, If_Match=read.etag).status == 200
    settled(v1, group, 144)
    assert v1.ask("POST", f"/jobs/{job}/stop", {}).status == 200
    settled(v1, group, 0)
    assert v1.ask("POST", f"/jobs/{job}/start").status == 200
    settled(v1, group, 144)
    read = v1.ask("GET", f"/jobs/{job}")
    assert v1.ask("DELETE", f"/jobs/{job}", If_Match=read.etag).status == 204
    settled(v1, group, 0)


def test_the_fullest_seconds_name_their_jobs(v1, group):
    jobs = [made(v1, group, "7 41 3 * * ?", name=f"full {n}") for n in range(12)]
    made(v1, group, "8 41 3 * * ?")
    made(v1, group, "8 41 3 * * ?")
    said = settled(v1, group, 14)
    assert [p["count"] for p in said["peaks"]] == [12, 2]
    full = said["peaks"][0]
    assert full["atMs"] % 86_400_000 == (3 * 3600 + 41 * 60 + 7) * 1000
    assert full["jobs"] == [{"id": job, "name": f"full {n}"} for n, job in enumerate(jobs[:10])]


def test_a_preview_tells_of_the_crowd_and_leaves_the_job_itself_out(v1, group):
    jobs = [made(v1, group, "9 43 4 * * ?") for _ in range(25)]
    settled(v1, group, 25)
    schedule = {"type": "CRON", "conf": "9 43 4 * * ?", "zone": "UTC", "dst": "smart"}
    said = v1.ask("POST", "/schedules/preview", {"schedule": schedule, "count": 2}).json
    assert [f["crowd"] for f in said["fires"]] == [25, 25]
    assert [(w["code"], w["params"]) for w in said["warnings"]] == [
        ("crowded", {"remedy": "choose_another_second", "jobs": 25})]
    assert said["warnings"][0]["whenMs"] == said["fires"][0]["ms"]
    said = v1.ask("POST", "/schedules/preview", {"schedule": schedule, "count": 1, "jobId": jobs[0]}).json
    assert said["fires"][0]["crowd"] == 24
    other = {**schedule, "conf": "10 43 4 * * ?"}
    assert v1.ask("POST", "/schedules/preview", {"schedule": other, "count": 1}).json["warnings"] == []


def test_each_sees_the_groups_of_his_scope(v1, center, group):
    other = (center.api().add_group("v1-forecast-other"), "v1-forecast-other")
    made(v1, group, "11 47 5 * * ?")
    made(v1, other, "11 47 5 * * ?", name="not for all")
    settled(v1, group, 1)
    settled(v1, other, 1)
    answer = v1.ask("POST", "/tokens", {"name": "one group", "permissions": ["read"], "groups": [group[0]], "days": 1})
    assert answer.status == 201, answer.json
    mine = V1(center, token=answer.json["secret"])
    assert sum(forecast(mine)["counts"]) == 1 and sum(forecast(mine, other)["counts"]) == 0
    assert "not for all" not in str(forecast(mine))
    said = mine.ask("POST", "/schedules/preview", {"schedule": {"type": "CRON", "conf": "11 47 5 * * ?", "zone": "UTC"}})
    assert said.json["fires"][0]["crowd"] == 1
    both = v1.get(f"/forecast?group={group[0]},{other[0]}")
    assert sum(both["counts"]) == 2 and both["peaks"][0]["count"] == 2


def test_fewer_minutes_and_bad_parameters(v1):
    said = forecast(v1, minutes=30)
    assert len(said["counts"]) == 30 and said["fromMs"] <= time.time() * 1000 < said["fromMs"] + 2 * MINUTE
    assert said["computedMs"] <= time.time() * 1000
    problem(v1.ask("GET", "/forecast?minutes=0"), 400, "malformed", ("minutes", "number.range"))
    problem(v1.ask("GET", "/forecast?hours=1"), 400, "malformed", ("hours", "unknown"))


def test_a_restart_computes_it_anew(center, v1, group):
    made(v1, group, "0 0/20 * * * ?")
    settled(v1, group, 72)
    center.stop()
    center.start()
    settled(V1(center), group, 72)
