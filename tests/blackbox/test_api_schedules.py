# SPDX-License-Identifier: Apache-2.0
"""/api/v1/schedules on a real center: what a schedule means and when it would fire, and the zones that there are."""

import datetime
import pathlib
import zoneinfo

import pytest
from support.v1 import V1, problem

VECTORS = pathlib.Path(__file__).resolve().parents[1] / "vectors"
FROM = 1795271528000  # 2026-11-21T14:32:08Z


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


def preview(v1, schedule, **more):
    answer = v1.ask("POST", "/schedules/preview", {"schedule": schedule, "fromMs": FROM, **more})
    assert answer.status == 200, answer.json
    return answer.json


def cron(conf, zone="Europe/Berlin", dst="smart"):
    return {"type": "CRON", "conf": conf, "zone": zone, "dst": dst}


def codes(answer):
    return [w["code"] for w in answer["warnings"]]


# -- words --

def test_the_sentence_comes_in_three_languages_and_in_english_unless_asked(v1):
    rows = [line.split("\t") for line in (VECTORS / "cron-explain.tsv").read_text(encoding="utf-8").splitlines()]
    for expression, english, simplified, traditional in rows[3::40]:
        for language, sentence, zone in (("en", english, ", in Asia/Taipei."), ("zh-CN", simplified, "Asia/Taipei"),
                                         ("zh-TW", traditional, "Asia/Taipei"), (None, english, ", in Asia/Taipei.")):
            said = preview(v1, cron(expression, "Asia/Taipei"), **({"language": language} if language else {}))
            assert said["valid"] and said["sentence"].startswith(sentence[:-1]) and zone in said["sentence"]


def test_each_field_has_its_meaning(v1):
    said = preview(v1, cron("0 0/15 9-17 ? * MON-FRI 2027"))
    assert [(f["name"], f["text"], f["meaning"]) for f in said["fields"]] == [
        ("second", "0", "at second 0"), ("minute", "0/15", "every 15 minutes from 0 to 45"),
        ("hour", "9-17", "at 9 to 17"), ("day", "?", "any, the weekday decides"), ("month", "*", "every month"),
        ("weekday", "MON-FRI", "Monday to Friday"), ("year", "2027", "in 2027")]
    assert len(preview(v1, cron("0 0 9 * * ?"))["fields"]) == 6


@pytest.mark.parametrize("schedule, sentence, fires", [
    ({"type": "NONE"}, "Never by itself: runs are started by hand, by another job or through the API.", []),
    ({"type": "FIX_RATE", "conf": "30"}, "Every 30 seconds.", [FROM + 30000, FROM + 60000, FROM + 90000]),
    ({"type": "FIX_RATE", "conf": "250ms"}, "Every 250 milliseconds.", [FROM + 250, FROM + 500, FROM + 750]),
    ({"type": "FIX_DELAY", "conf": "60"}, "1 minute after the end of each run.", [FROM + 60000]),
    ({"type": "ONCE", "conf": "2030-01-31T08:30:00+08:00", "zone": "Asia/Shanghai"},
     "Once, on 31 January 2030 at 08:30, in Asia/Shanghai.", [1896049800000]),
])
def test_every_type_is_explained(v1, schedule, sentence, fires):
    said = preview(v1, schedule, count=3)
    assert said["sentence"].replace(":00,", ",") == sentence and said["fields"] == []
    assert [f["ms"] for f in said["fires"]] == fires
    assert said["valid"] and said["errors"] == [] and said["suggestion"] is None


# -- firings --

def test_the_next_firings_have_the_offset_of_their_day(v1):
    said = preview(v1, cron("0 30 2 * * ?"), fromMs=1805932800000, count=4)  # 2027-03-25T00:00Z
    assert [(f["local"], f["offset"], f["note"]) for f in said["fires"]] == [
        ("2027-03-25T02:30:00", "+01:00", None), ("2027-03-26T02:30:00", "+01:00", None),
        ("2027-03-27T02:30:00", "+01:00", None), ("2027-03-28T03:00:00", "+02:00", "gap_moved")]
    assert all(f["zone"] == "Europe/Berlin" and f["planned"] is False for f in said["fires"])
    twice = preview(v1, cron("0 0/30 * * * ?"), fromMs=1824941700000, count=4)["fires"]  # 2027-10-31T00:15Z
    assert [(f["local"][11:16], f["note"]) for f in twice] == [
        ("02:30", "overlap_first"), ("02:00", "overlap_second"), ("02:30", "overlap_second"), ("03:00", None)]


def test_firings_are_those_of_a_job_with_that_schedule(v1, center):
    forms = center.api()
    group = forms.add_group("v1-preview")
    schedule = {**cron("0 7 3,15 ? * TUE,SAT"), "misfire": "FIRE_ALL", "misfireMax": 5}
    job = v1.ask("POST", "/jobs", {"name": "j", "groupId": group, "schedule": schedule,
                                   "task": {"kind": "BEAN", "handler": "h"}}).json
    fires = v1.get(f"/jobs/{job['id']}/fires?count=20&from={FROM}")["items"]
    said = preview(v1, schedule, count=20, jobId=job["id"])["fires"]
    assert [{k: v for k, v in fire.items() if k != "crowd"} for fire in said] == fires


# -- what the author should know --

def test_clock_changes_are_told_with_what_happens(v1):
    said = preview(v1, cron("0 30 2 ? * SUN-FRI"))["warnings"]
    assert [(w["code"], w["detail"], w["whenAt"], w["params"]) for w in said] == [
        ("gap", "2027-03-28 has no 02:30: it fires at 03:00", "2027-03-28T01:00:00.000Z",
         {"remedy": "choose_another_time", "day": "2027-03-28", "time": "02:30", "fires": "03:00"}),
        ("overlap", "2027-10-31 has 02:30 twice: it fires the first time only", "2027-10-31T01:00:00.000Z",
         {"remedy": "choose_another_time", "day": "2027-10-31", "time": "02:30", "first": True})]
    old = preview(v1, cron("0 30 2 * * ?", dst="xxl"))["warnings"]
    assert [w["detail"] for w in old] == ["2027-03-28 has no 02:30: it does not fire then",
                                          "2027-10-31 has 02:30 twice: it fires the second time only"]
    assert preview(v1, cron("0 0/5 * * * ?"))["warnings"] == []


@pytest.mark.parametrize("conf, code, remedy, when", [
    ("0 0 0 30 2 ?", "never_fires", "change_date", None),
    ("0 0 0 29 2 ?", "leap_day_only", "use_last_day", "2028-02-28T23:00:00.000Z"),
    ("0 0 0 1 1 ? 2030", "rare", "check_dates", "2029-12-31T23:00:00.000Z"),
    ("* * * * * ?", "dense", "fire_less_often", None),
])
def test_a_warning_names_its_remedy(v1, conf, code, remedy, when):
    found = preview(v1, cron(conf))["warnings"]
    assert [(w["code"], w["params"]["remedy"], w["whenAt"]) for w in found] == [(code, remedy, when)]


def test_a_moment_in_another_zone_is_told(v1):
    once = {"type": "ONCE", "conf": "2030-01-31T08:30:00+08:00", "zone": "Europe/Berlin"}
    found = preview(v1, once)["warnings"]
    assert [(w["code"], w["params"]) for w in found] == [
        ("zone_differs", {"remedy": "check_zone", "written": "+08:00", "zone": "+01:00"})]
    assert preview(v1, {**once, "zone": "Asia/Shanghai"})["warnings"] == []


# -- the coming year --

def test_the_calendar_counts_each_day_in_its_zone(v1):
    said = preview(v1, cron("0 0/15 9-17 ? * MON-FRI"), days=371)["calendar"]
    assert len(said) == 371 and said[0] == {"day": "2026-11-21", "count": 0}  # a Saturday
    for row in said:
        weekday = datetime.date.fromisoformat(row["day"]).weekday()
        assert row["count"] == (36 if weekday < 5 else 0), row
    marks = {row["day"]: row["marks"] for row in said if "marks" in row}
    assert marks == {"2027-03-28": ["gap"], "2027-10-31": ["overlap"]}


def test_days_with_a_clock_change_have_an_hour_less_or_more(v1):
    counts = {row["day"]: row["count"] for row in preview(v1, cron("* * * * * ?"), days=371)["calendar"]}
    assert counts["2027-03-28"] == 23 * 3600 and counts["2027-10-31"] == 25 * 3600
    assert sorted(set(counts.values()))[1:] == [23 * 3600, 24 * 3600, 25 * 3600]
    # the day that has begun
    assert counts["2026-11-21"] == 24 * 3600 - (15 * 3600 + 32 * 60 + 8 + 1)


def test_a_rate_fills_the_calendar_and_a_delay_does_not(v1):
    rate = preview(v1, {"type": "FIX_RATE", "conf": "3600", "zone": "Asia/Shanghai"}, days=3)["calendar"]
    assert [row["count"] for row in rate] == [1, 24, 24]
    delay = preview(v1, {"type": "FIX_DELAY", "conf": "3600"}, days=3)["calendar"]
    assert [row["count"] for row in delay] == [0, 0, 0]
    assert preview(v1, {"type": "NONE"}, days=3)["calendar"] == []
    assert preview(v1, cron("0 0 9 * * ?"))["calendar"] == []


# -- refused --

def test_a_refused_expression_is_an_answer_with_the_form_that_works(v1):
    said = preview(v1, cron("*/5 9 * * 1-5"), days=30)
    assert (said["valid"], said["sentence"], said["suggestion"]) == (False, None, "0 */5 9 ? * 2-6")
    assert [(e["field"], e["rule"]) for e in said["errors"]] == [("/schedule/conf", "schedule.conf")]
    assert said["fires"] == said["fields"] == said["calendar"] == said["warnings"] == []
    assert preview(v1, cron("0 0 9 * * *"))["suggestion"] == "0 0 9 * * ?"
    assert preview(v1, cron("@daily"))["suggestion"] == "0 0 0 * * ?"
    assert preview(v1, cron("nonsense"))["suggestion"] is None
    both = preview(v1, cron("0 0 9 1 * MON"))
    assert codes(both) == ["both_days"] and both["suggestion"] is None and not both["valid"]


def test_all_that_is_refused_is_named_at_once(v1):
    said = preview(v1, cron("0 0 25 * * ?", zone="Mars/Olympus"))
    assert sorted(e["field"] for e in said["errors"]) == ["/schedule/conf", "/schedule/zone"]
    for schedule in ({"type": "CRON"}, {"type": "FIX_RATE", "conf": "soon"}, {"type": "ONCE", "conf": "tomorrow"}):
        assert [e["field"] for e in preview(v1, schedule)["errors"]] == ["/schedule/conf"]


def test_what_breaks_the_contract_is_422_with_every_field(v1):
    answer = v1.ask("POST", "/schedules/preview", {
        "schedule": {"type": "SOMETIMES", "dst": "java", "misfireMax": 0, "colour": "red"}, "count": 0, "days": 401,
        "language": "fr", "jobId": 0, "more": 1})
    problem(answer, 422, "invalid", ("/schedule/type", "word"), ("/schedule/dst", "word"),
            ("/schedule/misfireMax", "number.range"), ("/schedule/colour", "unknown"), ("/count", "number.range"),
            ("/days", "number.range"), ("/language", "word"), ("/jobId", "number.range"), ("/more", "unknown"))
    limits = {e["field"]: e.get("params") for e in answer.json["errors"]}
    assert limits["/count"] == {"min": 1, "max": 100} and limits["/schedule/misfireMax"] == {"min": 1, "max": 100000}
    problem(v1.ask("POST", "/schedules/preview", {}), 422, "invalid", ("/schedule", "required"))
    problem(v1.ask("POST", "/schedules/preview", {"schedule": {"type": "CRON", "conf": "0" * 129}}), 422, "invalid",
            ("/schedule/conf", "text.length"))


# -- zones --

def test_zones_are_those_of_the_system_with_their_offsets(v1, center):
    answer = v1.get("/schedules/zones")
    names = [z["name"] for z in answer["items"]]
    assert names == sorted(set(names)) and len(names) > 300
    assert {"UTC", "Europe/Berlin", "Asia/Shanghai", "America/Argentina/Buenos_Aires"} <= set(names)
    assert not [n for n in names if n.startswith(("posix", "right", "leap"))] and answer["server"] in names
    offsets = {z["name"]: z["offset"] for z in answer["items"]}
    assert offsets["UTC"] == "+00:00" and offsets["Asia/Shanghai"] == "+08:00" and offsets["Asia/Kolkata"] == "+05:30"
    now = datetime.datetime.now(zoneinfo.ZoneInfo("Europe/Berlin"))
    assert offsets["Europe/Berlin"] == f"{now:%z}"[:3] + ":" + f"{now:%z}"[3:]
    problem(v1.ask("GET", "/schedules/zones?q=x"), 400, "malformed")
