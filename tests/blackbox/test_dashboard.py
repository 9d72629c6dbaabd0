# SPDX-License-Identifier: Apache-2.0
"""/api/v1/dashboard on a real center: what is broken and why, the bars, what a user may see of it, and that a kill
changes nothing of it."""

import itertools
import time

import pytest
from support import ledger
from support.stub_executor import Stub
from support.v1 import V1, problem
from support.wait import wait_until

_names = (f"dashboard-{n}" for n in itertools.count())
QUARTER = 900000


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


class Team:
    """A group with an executor, and jobs that end as they are told."""

    def __init__(self, center, api):
        self.api, self.app = api, next(_names)
        self.group = api.add_group(self.app)
        self.stub = Stub(center, self.app)

    def __enter__(self):
        self.stub.__enter__()
        wait_until(lambda: self.stub.address in self.api.addresses(self.app), "the stub in its group")
        return self

    def __exit__(self, *why):
        return self.stub.__exit__(*why)

    def job(self, name, **more):
        return self.api.add_job(self.group, name, jobDesc=name, **more)

    def run(self, job, code, text=""):
        before = len(self.stub.runs(job))
        self.api.trigger(job)
        log_id = self.stub.wait_runs(before + 1, job)[before]["logId"]
        self.stub.call_back(log_id, code, text)
        wait_until(lambda: any(r["id"] == log_id and r["handleCode"] for r in self.api.logs(job)), "the end on disk")
        return log_id


@pytest.fixture
def team(center, api):
    with Team(center, api) as it:
        yield it


def dashboard(v1, group=None, until=None, **query):
    """The answer for the group, when it is as wanted: it is as old as a second."""
    params = {**({"group": group} if group else {}), **query}
    path = "/dashboard" + ("?" + "&".join(f"{k}={v}" for k, v in params.items()) if params else "")
    return wait_until(lambda: (lambda it: it if until is None or until(it) else None)(v1.get(path)), "the dashboard", 20)


def test_causes_with_their_jobs(v1, team):
    one, two, other, good = (team.job(name) for name in ("one", "two", "other", "good"))
    team.run(one, 200)
    first = team.run(one, 500, "order 17 not found\nat line 5")
    last = team.run(one, 500, "order 18 not found")
    team.run(two, 500, "order 99 not found")
    team.run(other, 502, "too slow")
    team.run(good, 500, "order 1 not found")
    team.run(good, 200)
    it = dashboard(v1, team.group, lambda it: it["brokenTotal"] == 3 and len(it["broken"]) == 2)
    lost, slow = it["broken"]
    assert (lost["count"], lost["cause"]) == (2, {"code": "PE-3001", "text": "order # not found"})
    assert (slow["count"], slow["cause"]) == (1, {"code": "PE-2002", "text": "too slow"})
    assert lost["where"] == team.stub.address and lost["group"]["id"] == team.group
    assert {job["id"]: job["streak"] for job in lost["jobs"]} == {one: 2, two: 1}
    job = next(job for job in lost["jobs"] if job["id"] == one)
    assert (job["name"], job["lastRunId"]) == ("one", last) and job["lastSuccessMs"]
    assert [(dot["runId"], dot["outcome"]) for dot in job["recent"]][1:] == [(first, "failed"), (last, "failed")]
    assert lost["sinceMs"] <= it["nowMs"]
    # a success takes it out, a deletion too
    team.run(one, 200)
    team.api.delete_job(other)
    left = dashboard(v1, team.group, lambda it: it["brokenTotal"] == 1)
    assert [job["id"] for cause in left["broken"] for job in cause["jobs"]] == [two]


def counted(it):
    return sum(it["day"]["succeeded"]), sum(it["day"]["failed"])


def test_bars_count_what_has_ended(v1, team):
    job = team.job("counted")
    for code in (200, 200, 500):
        team.run(job, code, "no")
    it = dashboard(v1, team.group, lambda it: counted(it) == (2, 1))
    day = it["day"]
    assert day["stepMs"] == QUARTER and len(day["succeeded"]) == len(day["failed"]) == len(day["previous"]) == 96
    assert day["fromMs"] % QUARTER == 0
    assert day["fromMs"] + 95 * QUARTER <= it["nowMs"] < day["fromMs"] + 96 * QUARTER
    assert sum(day["previous"]) == 0
    week = dashboard(v1, team.group, range="7d")["day"]
    assert (week["stepMs"], len(week["succeeded"]), sum(week["succeeded"])) == (3600000, 168, 2)
    assert len(dashboard(v1, team.group, range="1h")["day"]["failed"]) == 4


def standing(v1, group, total):
    it = dashboard(v1, group, lambda it: it["brokenTotal"] == total)
    recent = [[{k: v for k, v in job.items()} for job in cause["jobs"]] for cause in it["broken"]]
    causes = [(c["cause"], c["where"], c["count"], c["sinceMs"]) for c in it["broken"]]
    return counted(it), causes, recent


def test_a_kill_changes_nothing(center):
    """What memory has counted and what the next life reads come to the same, and to what the log has."""
    with Team(center, center.api()) as team:
        job, other = team.job("killed"), team.job("killed too")
        for code in (200, 500, 500):
            team.run(job, code, "disk 4 is full")
        team.run(other, 500, "disk 9 is full")
        ledger.settle(center, jobs=[job, other])
        rows = [row for j in (job, other) for row in center.api().logs(j)]
        before = standing(V1(center), team.group, 2)
        assert before[0] == (sum(row["handleCode"] == 200 for row in rows),
                             sum(row["handleCode"] == 500 for row in rows)) == (1, 3)
        for _ in range(2):
            center.kill()
            center.start()
            assert standing(V1(center), team.group, 2) == before
        team.api = center.api()
        wait_until(lambda: team.stub.address in team.api.addresses(team.app), "the stub in its group")
        team.run(job, 200)
        after = dashboard(V1(center), team.group, lambda it: it["brokenTotal"] == 1)
        assert counted(after) == (2, 3)


def test_everybody_sees_their_groups(v1, center, api):
    with Team(center, api) as mine, Team(center, api) as theirs:
        for team in (mine, theirs):
            team.run(team.job("broken"), 500, "same words")
        name = next(_names)
        made = v1.ask("POST", "/users", {"name": name, "password": "secret words 1", "center": "none",
                                         "grants": [{"role": "viewer", "groups": [mine.group]}]})
        assert made.status == 201, made.json
        user = V1(center, name, "secret words 1")
        it = dashboard(user, None, lambda it: it["brokenTotal"] == 1)
        assert [job["name"] for cause in it["broken"] for job in cause["jobs"]] == ["broken"]
        assert it["broken"][0]["group"]["id"] == mine.group
        assert counted(it) == (0, 1) and it["executors"]["groups"] == 1
        assert counted(dashboard(user, theirs.group)) == (0, 0)
        both = dashboard(v1, f"{mine.group},{theirs.group}", lambda it: it["brokenTotal"] == 2)
        same = next(c for c in both["broken"] if c["cause"]["text"] == "same words")
        assert (same["count"], same["group"]) == (2, None)  # of two groups


def test_groups_without_executors(v1, api):
    group = api.add_group(next(_names))
    job = api.add_job(group, "nobody", jobDesc="nobody", scheduleType="CRON", scheduleConf="0 0 0 1 1 ? 2099")
    api.start_job(job)
    it = dashboard(v1, group, lambda it: it["attention"]["unroutable"] == 1)
    assert [(g["id"], g["up"], g["jobs"]) for g in it["executors"]["bad"]] == [(group, 0, 1)]
    assert [(f["job"], f["shards"]) for f in it["next"]] == [({"id": job, "name": "nobody"}, 1)]
    api.stop_job(job)
    dashboard(v1, group, lambda it: it["attention"]["unroutable"] == 0 and it["next"] == [])


def test_what_fires_next_comes_in_order(v1, team):
    jobs = [team.job(f"next-{n}", scheduleType="CRON", scheduleConf=f"*/{n} * * * * ?") for n in (1, 2)]
    for job in jobs:
        team.api.start_job(job)
    it = dashboard(v1, team.group, lambda it: {f["job"]["id"] for f in it["next"]} == set(jobs) and len(it["next"]) > 3
                   and it["next"][0]["atMs"] >= it["nowMs"] - 1000)  # a machine without time plans late
    times = [f["atMs"] for f in it["next"]]
    assert times == sorted(times) and all(ms % 1000 == 0 for ms in times)
    assert len({(f["atMs"], f["job"]["id"]) for f in it["next"]}) == len(times)
    for job in jobs:
        team.api.stop_job(job)


def test_the_tag_is_of_what_stands_there(v1, team):
    path = f"/dashboard?group={team.group}"

    def rests():
        """Numbers of the whole center move under other tests' runs: two looks that find the same."""
        tag = v1.ask("GET", path).etag
        answer = v1.ask("GET", path, If_None_Match=tag)
        return answer if answer.status == 304 else None
    answer = wait_until(rests, "an answer that has not changed", 20)
    assert answer.json is None and answer.etag
    team.run(team.job("changes"), 500, "now")
    wait_until(lambda: v1.ask("GET", path, If_None_Match=answer.etag).status == 200, "another answer", 20)


def test_bad_parameters_are_told(v1):
    problem(v1.ask("GET", "/dashboard?range=2h"), 400, "malformed", ("range", "enum"))
    problem(v1.ask("GET", "/dashboard?rnge=1h"), 400, "malformed", ("rnge", "unknown"))


def test_many_viewers_get_one_answer(v1):
    """Within a second each gets what the first one got."""
    answers = [v1.get("/dashboard") for _ in range(40)]
    seconds = (answers[-1]["nowMs"] - answers[0]["nowMs"]) / 1000
    assert len({it["nowMs"] for it in answers}) <= 2 + seconds
    assert time.time() * 1000 - answers[-1]["nowMs"] < 10000


# -- lists of jobs --

def ids(v1, group, **query):
    return [job["id"] for job in v1.pages("/jobs", group=group, **query)]


def test_jobs_tell_their_last_runs(v1, team):
    job, other = team.job("tells"), team.job("never")
    team.run(job, 200)
    failed = team.run(job, 502)

    def told():
        it = v1.get(f"/jobs/{job}")
        return it if len(it["recent"]) == 2 else None
    it = wait_until(told, "both ends", 20)
    assert [dot["outcome"] for dot in it["recent"]] == ["succeeded", "timed_out"]
    assert it["recent"][1]["runId"] == failed and it["recent"][1]["tookMs"] >= 0
    assert (it["streak"]["outcome"], it["streak"]["count"]) == ("timed_out", 1) and it["streak"]["sinceMs"] > 0
    assert it["scriptVersion"] is None
    listed = {job["id"]: job for job in v1.get(f"/jobs?group={team.group}")["items"]}
    assert listed[job]["recent"] == it["recent"] and listed[job]["streak"] == it["streak"]
    assert (listed[other]["recent"], listed[other]["streak"]) == ([], None)


def test_lists_by_result_and_streak(v1, team):
    """Page by page, each job once, whatever the filter and the order."""
    jobs = [team.job(f"job {n}") for n in range(7)]
    never, good, once, twice, thrice, twice_too, off = jobs
    for job, failures in ((once, 1), (twice, 2), (thrice, 3), (twice_too, 2), (off, 1)):
        for _ in range(failures):
            team.run(job, 500, "no")
    team.run(good, 200)
    team.run(off, 200)
    dashboard(v1, team.group, lambda it: it["brokenTotal"] == 4)
    assert ids(v1, team.group, result="failing") == [twice_too, thrice, twice, once]
    assert ids(v1, team.group, result="failing", sort="id") == [once, twice, thrice, twice_too]
    assert ids(v1, team.group, result="failing", sort="name") == [once, twice, thrice, twice_too]
    assert ids(v1, team.group, result="failing", sort="streak") == [thrice, twice_too, twice, once]
    assert ids(v1, team.group, result="failing", q="job 4") == [thrice]
    assert ids(v1, team.group, result="ok") == [off, good]
    assert ids(v1, team.group, result="ok", sort="id") == [good, off]
    assert ids(v1, team.group, result="never") == [never]
    by_streak = [thrice, twice_too, twice, once, off, good, never]
    assert ids(v1, team.group, sort="streak") == by_streak
    for limit in (1, 2, 4, 50):
        assert [j["id"] for j in v1.pages("/jobs", limit, group=team.group, sort="streak")] == by_streak
    group = v1.get(f"/groups/{team.group}")
    assert (group["failing"], group["jobs"]) == (4, 7)
    assert next(g for g in v1.pages("/groups", 50) if g["id"] == team.group)["failing"] == 4
