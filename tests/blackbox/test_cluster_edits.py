# SPDX-License-Identifier: Apache-2.0
"""Several servers on one database: an edit of a job at one holds at all of them when it is answered."""

import contextlib
import datetime
import itertools
import pathlib
import signal
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support.cluster import database, fresh, node, unaccounted, wait_for  # noqa: E402, F401 (a fixture)
from support.puppet import Puppet  # noqa: E402
from support.standin import YES  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

JOBS = 8  # half of them are planned by each server
SECOND = {"scheduleType": "CRON", "scheduleConf": "* * * * * ?", "misfireStrategy": "FIRE_ALL"}


def job_form(group, **fields):
    return {"jobGroup": group, "jobDesc": "edited", "author": "tests", "alarmEmail": "", "misfireStrategy": "FIRE_ALL",
            "executorRouteStrategy": "FIRST", "executorHandler": "edited", "executorParam": "",
            "executorBlockStrategy": "SERIAL_EXECUTION", "executorTimeout": 0, "executorFailRetryCount": 0,
            "glueType": "BEAN", "childJobId": "", **SECOND, **fields}


class Scene:
    """Two servers, an executor that both know, jobs that fire each second, and one that goes on."""

    def __init__(self, db, name, one, two, puppet):
        self.db, self.name, self.one, self.two, self.puppet = db, name, one, two, puppet
        api = one.api()
        self.group = api.add_group("tests", addresses=[puppet.address])
        self.jobs = [api.add_job(self.group, "edited", executorParam="old", **SECOND) for _ in range(JOBS)]
        self.other = api.add_job(self.group, "goes on", **SECOND)

    def begin(self):
        for job in [*self.jobs, self.other]:
            self.one.api().start_job(job)
        both = f"SELECT count(DISTINCT node) FROM peal_run WHERE phase = 1 AND job_id < {self.other}"
        wait_until(lambda: self.number(both) == 2, "both servers to have planned", 60)
        for job in self.jobs:
            self.puppet.wait_for_runs(2, job)

    def number(self, query):
        return self.db.number(query, self.name)

    def planned(self, job):
        return self.number(f"SELECT count(*) FROM peal_run WHERE phase = 1 AND job_id = {job}")

    def none_is_planned(self, job):
        """A run that was sent just before the edit is in the table until its own server's next batch."""
        wait_until(lambda: self.planned(job) == 0, f"no run of job {job} to be planned")

    def time_passes(self, seconds=7):
        """More than what any server plans ahead."""
        begun = len(self.puppet.runs(self.other))
        self.puppet.wait_for_runs(begun + seconds, self.other, 60)

    def sent_behind(self, job, wall_ms):
        return [run for run in self.puppet.runs(job) if run["logDateTime"] > wall_ms]

    def times(self, job):
        rows = self.db.run(f"SELECT trigger_time FROM xxl_job_log WHERE job_id = {job} ORDER BY trigger_time", self.name)
        return [datetime.datetime.fromisoformat(row[0]) for row in rows]

    def books(self, centers=None):
        (centers or [self.one])[0].api().stop_job(self.other)
        wait_until(lambda: self.number("SELECT count(*) FROM peal_run") == 0, "every run to end", 60)
        assert unaccounted(self.db, self.name) == 0
        logs = [run["logId"] for run in self.puppet.runs()]
        assert len(logs) == len(set(logs)), "a run was sent twice"


@contextlib.contextmanager
def scene(db, tmp_path):
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two") as two:
        wait_for(one, one="up", two="up")
        wait_for(two, one="up", two="up")
        with Puppet(one, "tests", register=False) as puppet:
            yield Scene(db, name, one, two, puppet)


def answered(edit, *args, **fields):
    """When the edit was answered."""
    edit(*args, **fields)
    return time.time() * 1000


def test_a_job_that_is_stopped_at_any_server_leaves_none(db, tmp_path):
    with scene(db, tmp_path) as s:
        s.begin()
        ends = {}
        for i, job in enumerate(s.jobs):
            api = (s.one, s.two)[i // 2 % 2].api()  # its home, or not
            assert s.planned(job) > 0
            ends[job] = answered(api.stop_job, job)
            s.none_is_planned(job)
        s.time_passes()
        for job in s.jobs:
            assert s.sent_behind(job, ends[job]) == []
        assert s.number("SELECT count(*) FROM peal_change") >= JOBS
        s.books()


def test_a_job_that_is_deleted_at_any_server_leaves_none(db, tmp_path):
    with scene(db, tmp_path) as s:
        s.begin()
        ends = {}
        for i, job in enumerate(s.jobs):
            api = (s.one, s.two)[i // 2 % 2].api()
            ends[job] = answered(api.delete_job, job)
            s.none_is_planned(job)
        s.time_passes()
        for job in s.jobs:
            assert s.sent_behind(job, ends[job]) == []
        s.books()


def test_what_is_sent_after_a_change_is_by_the_new_definition_and_no_time_is_missing(db, tmp_path):
    with scene(db, tmp_path) as s:
        s.begin()
        ends = {}
        for i, job in enumerate(s.jobs):
            api = (s.one, s.two)[i // 2 % 2].api()
            ends[job] = answered(api.call, "/jobinfo/update", **job_form(s.group, id=job, executorParam="new"))
        s.time_passes()
        for i, job in enumerate(s.jobs):
            (s.one, s.two)[i // 4 % 2].api().stop_job(job)
            assert {run["executorParams"] for run in s.sent_behind(job, ends[job])} == {"new"}
            assert {run["executorParams"] for run in s.puppet.runs(job)} == {"old", "new"}
            gaps = {b - a for a, b in itertools.pairwise(s.times(job))}
            assert gaps == {datetime.timedelta(seconds=1)}, s.times(job)
        s.books()


def test_another_schedule_keeps_the_times_that_it_shares_with_the_old_one(db, tmp_path):
    with scene(db, tmp_path) as s:
        s.begin()
        ends = {}
        for i, job in enumerate(s.jobs):
            api = (s.one, s.two)[i // 2 % 2].api()
            ends[job] = answered(api.call, "/jobinfo/update",
                                 **job_form(s.group, id=job, executorParam="new", scheduleConf="0/2 * * * * ?"))
        s.time_passes(9)
        for job in s.jobs:
            sent = s.sent_behind(job, ends[job])
            assert {run["executorParams"] for run in sent} == {"new"}
            assert [run for run in sent if run["logDateTime"] // 1000 % 2] == []
            times = s.times(job)
            even = [t for t in times if t.second % 2 == 0]
            assert {b - a for a, b in itertools.pairwise(even)} == {datetime.timedelta(seconds=2)}, times
        for job in s.jobs:
            s.two.api().stop_job(job)
        s.books()


def imported(api, document, jobs, **fields):
    """The import of a file in which these jobs have other fields; its answer."""
    names = {f"edited {job}" for job in jobs}
    changed = [{**job, **fields} if job["name"] in names else job for job in document["jobs"]]
    return api.ask("POST", "/import", {**document, "jobs": changed})


def test_an_import_holds_at_all_servers_when_it_is_answered(db, tmp_path):
    with scene(db, tmp_path) as s:
        s.begin()
        for job in s.jobs:
            s.one.api().call("/jobinfo/update", **job_form(s.group, id=job, jobDesc=f"edited {job}"))
        here, there = V1(s.one), V1(s.two)
        document = here.get("/export")
        task = {**next(job for job in document["jobs"] if job["name"] == f"edited {s.jobs[0]}")["task"], "param": "new"}
        changed, stopped = s.jobs[:JOBS // 2], s.jobs[JOBS // 2:]
        assert imported(there, document, changed, task=task).status == 200
        changes = time.time() * 1000
        document = here.get("/export")
        assert imported(here, document, stopped, state="stopped").status == 200
        ends = time.time() * 1000
        for job in stopped:
            s.none_is_planned(job)
        s.time_passes()
        for job in changed:
            assert {run["executorParams"] for run in s.sent_behind(job, changes)} == {"new"}
        for job in stopped:
            assert s.sent_behind(job, ends) == []
        s.two.process.send_signal(signal.SIGSTOP)
        try:  # some of them are planned there
            answer = imported(here, here.get("/export"), changed, state="stopped")
            assert answer.status == 503 and "server two has not confirmed it" in answer.json["detail"], answer.json
        finally:
            s.two.process.send_signal(signal.SIGCONT)
        for job in changed:
            wait_until(lambda j=job: s.planned(j) == 0, "the runs to be withdrawn", 30)
        s.books()


def test_what_an_action_takes_is_counted_over_all_servers(db, tmp_path):
    with scene(db, tmp_path) as s:
        s.begin()
        s.puppet.answer = lambda action, body: None if action == "run" else YES
        for job in s.jobs[:2]:  # one of them is planned by each server
            wait_until(lambda j=job: s.number(f"SELECT count(*) FROM peal_run WHERE phase = 3 AND job_id = {j}"), "doubt", 30)
            here, there = (V1(c).get(f"/jobs/{job}/consequences?action=stop") for c in (s.one, s.two))
            for answer in here, there:
                assert answer["firingsWithdrawn"] > 0 and answer["openRuns"] > 0, (here, there)
        s.puppet.answer = lambda action, body: YES
        for job in s.jobs:
            s.one.api().stop_job(job)


def test_a_server_that_stands_still_is_named_and_sends_nothing_old_afterwards(db, tmp_path):
    with scene(db, tmp_path) as s:
        s.begin()
        own = f"SELECT DISTINCT job_id FROM peal_run r JOIN peal_node n ON n.node = r.node WHERE n.name = 'two' AND " \
              f"phase = 1 AND job_id < {s.other}"
        theirs = [int(row[0]) for row in s.db.run(own, s.name)]
        assert theirs
        s.two.process.send_signal(signal.SIGSTOP)
        try:
            begun = time.monotonic()
            reply = s.one.api().raw("/jobinfo/stop", id=theirs[0])
            assert reply["code"] == 500 and "server two has not confirmed it" in reply["msg"], reply
            assert 0.9 < time.monotonic() - begun
            end = time.time() * 1000
            wait_for(s.one, one="up", two="dead")
            wait_until(lambda: s.planned(theirs[0]) == 0, "the runs to be withdrawn", 30)
        finally:
            s.two.process.send_signal(signal.SIGCONT)
        assert s.two.process.wait(60 * PATIENCE) == 3
        s.two._down = True
        s.time_passes()
        assert s.sent_behind(theirs[0], end) == []
        for job in s.jobs:
            s.one.api().stop_job(job)
        s.books()


def test_a_run_in_doubt_at_another_server_is_waited_for(db, tmp_path):
    with scene(db, tmp_path) as s:
        job = s.one.api().add_job(s.group, "in doubt")
        s.puppet.answer = lambda action, body: None if action == "run" and body["jobId"] == job else YES
        s.one.api().start_job(s.other)
        s.two.api().trigger(job)
        doubt = f"SELECT count(*) FROM peal_run WHERE job_id = {job} AND phase = 3"
        wait_until(lambda: s.number(doubt) == 1, "the run to be in doubt", 30)
        s.two.process.send_signal(signal.SIGSTOP)
        try:
            reply = s.one.api().raw("/jobinfo/remove", id=job)
            assert reply["code"] == 500 and "server two has not confirmed it" in reply["msg"], reply
        finally:
            s.two.process.send_signal(signal.SIGCONT)
        wait_until(lambda: s.number(f"SELECT count(*) FROM peal_run WHERE job_id = {job}") == 0, "it to end with its job", 30)
        sent = len(s.puppet.runs(job))
        s.time_passes(4)
        assert len(s.puppet.runs(job)) == sent


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_a_server_that_goes_during_an_edit_is_not_waited_for_long(db, tmp_path, end):
    with scene(db, tmp_path) as s:
        s.begin()
        getattr(s.two, end)()
        ends = {}
        for job in s.jobs:
            reply = s.one.api().raw("/jobinfo/stop", id=job)
            assert reply["code"] == 200 or "server two has not confirmed it" in reply["msg"], reply
            ends[job] = time.time() * 1000
        wait_for(s.one, one="up", two="dead" if end == "kill" else "stopped")
        for job in s.jobs:
            wait_until(lambda j=job: s.planned(j) == 0, "the runs to be withdrawn", 30)
        s.time_passes()
        for job in s.jobs:
            assert s.sent_behind(job, ends[job]) == []
        s.books()
