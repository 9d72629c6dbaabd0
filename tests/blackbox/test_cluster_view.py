# SPDX-License-Identifier: Apache-2.0
"""Several servers on one database are one system for whoever looks: each says the same, and answers for all."""

import collections
import contextlib
import pathlib
import signal
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support.cluster import database, fresh, node, wait_for  # noqa: E402, F401 (a fixture)
from support.puppet import Puppet  # noqa: E402
from support.sse import Events  # noqa: E402
from support.standin import YES  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import wait_until  # noqa: E402


class View:
    """Two servers, an executor that both know, and whoever asks each of them."""

    def __init__(self, db, name, one, two, puppet):
        self.db, self.name, self.one, self.two, self.puppet = db, name, one, two, puppet
        self.group = one.api().add_group("tests", addresses=[puppet.address])
        self.log_in()
        wait_until(lambda: self.there.get(f"/executors?group={self.group}")["items"], "the group at the second server", 20)
        self.slow = self.leave_open()

    def log_in(self):
        self.here, self.there = V1(self.one), V1(self.two)

    def job(self, name, **fields):
        return self.one.api().add_job(self.group, name, **fields)

    def run(self, job, code=200, owner=None, at=None):
        """A run by hand at that server, whose result comes to one of them; its log id when it has ended."""
        before = len(self.puppet.runs(job))
        owner.api().trigger(job)
        run = self.puppet.wait_for_runs(before + 1, job)[-1]
        self.puppet.center = at or self.one
        self.puppet.report(run, handleCode=code, handleMsg="too slow" if code == 502 else "told")
        query = f"SELECT count(*) FROM peal_run WHERE log_id = {run['logId']}"
        wait_until(lambda: self.db.number(query, self.name) == 0, "the run to end", 30)
        return run["logId"]

    def leave_open(self):
        """A run of the second server that is open from now on, of a job of a group of its own that is usually quick."""
        self.slow_group = self.one.api().add_group("slow", addresses=[self.puppet.address])
        job = self.one.api().add_job(self.slow_group, "slow")
        for _ in range(5):
            self.run(job, owner=self.two)
        self.two.api().trigger(job)
        return self.puppet.wait_for_runs(6, job)[-1]

    def events(self):
        return Events(self.one.port, "/api/v1/events?topics=run", self.here.headers)

    def seen(self, api, job):
        it = api.get(f"/jobs/{job}")
        return {"recent": [run["outcome"] for run in it["recent"]], "streak": (it["streak"] or {}).get("count", 0)}

    def wait_same(self, job, good):
        for api in self.here, self.there:
            wait_until(lambda a=api: good(self.seen(a, job)), f"what is known of job {job}", 20)

    def in_log(self):
        """Runs of the log that have succeeded, and those that have failed."""
        return tuple(self.db.number(f"SELECT count(*) FROM xxl_job_log WHERE handle_code {what}", self.name)
                     for what in ("= 200", "NOT IN (0, 200)"))


@pytest.fixture(scope="module")
def view(db, tmp_path_factory):
    """One pair for all cases: each makes jobs of its own."""
    name, url = fresh(db)
    folder = tmp_path_factory.mktemp("view")
    with contextlib.ExitStack() as stack:
        one, two = (stack.enter_context(node(folder / n, url, n, settings=["--lane.connections", "8"])) for n in ("one", "two"))
        for center in one, two:
            wait_for(center, one="up", two="up")
        puppet = Puppet(one, "tests", register=False, automatic=False)
        yield View(db, name, one, two, stack.enter_context(puppet))


def test_a_list_goes_on_at_any_server(view):
    made = {view.one.api().add_job(view.group, f"page {i}") for i in range(5)}
    found, cursor = set(), ""
    for api in view.here, view.there, view.here:
        page = api.get(f"/jobs?sort=id&limit=2&q=page&group={view.group}{cursor}")
        found |= {job["id"] for job in page["items"]}
        cursor = f"&cursor={page['page']['next']}"
    assert found == made


def test_the_list_of_servers_says_who_may_send(view):
    def say(api):
        return [n["leased"] and 0 <= n["beatAgeMs"] < 2000 and n["skewMs"] is not None for n in api.get("/nodes")["items"]]

    for api in view.here, view.there:
        wait_until(lambda a=api: say(a) == [True, True], "two servers that may send", 30)


def test_what_one_server_ends_all_count(view):
    job, other = (view.job(name) for name in ("counted", "counted too"))
    with view.events() as stream:
        ended = [view.run(job, code, owner=owner) for owner, code in
                 ((view.two, 200), (view.one, 500), (view.two, 500), (view.two, 500))]
        view.run(other, 502, owner=view.two)
        told = {}
        while set(told) < set(ended):  # at the first server, also those of the second
            _, event = stream.next("run")
            if event["phase"] in ("succeeded", "failed"):
                told[event["id"]] = event["phase"]
        assert [told[run] for run in ended] == ["succeeded", "failed", "failed", "failed"]
    view.wait_same(job, lambda it: (it["recent"], it["streak"]) == (["succeeded", "failed", "failed", "failed"], 3))
    view.wait_same(other, lambda it: it["streak"] == 1)
    for api in view.here, view.there:
        stats = api.get(f"/jobs/{job}/stats")
        assert [(day["succeeded"], day["failed"]) for day in stats["days"][-1:]] == [(1, 3)] and sum(stats["heat"]) == 4
        board = wait_until(lambda a=api: (lambda it: it if it["brokenTotal"] == 2 else None)(
            a.get(f"/dashboard?group={view.group}")), "the broken jobs", 20)
        assert {j["id"]: j["streak"] for cause in board["broken"] for j in cause["jobs"]} == {job: 3, other: 1}
        assert {cause["cause"]["text"] for cause in board["broken"]} == {"told", "too slow"}
        assert (sum(board["day"]["succeeded"]), sum(board["day"]["failed"])) == (1, 4)
        failing = api.get(f"/jobs?group={view.group}&result=failing&sort=streak")
        assert [item["id"] for item in failing["items"]] == [job, other]
    totals = [{o: c.metric("peal_firings_total", outcome=o) for o in ("planned", "finished")} for c in (view.one, view.two)]
    assert totals[0] == totals[1] and totals[0]["finished"] == sum(view.in_log())
    for center in view.one, view.two:
        assert center.metric("peal_firings_unaccounted") == 0
        assert center.metric("peal_job_failures", job=str(job)) == 3
        chart = center.api().raw("/chartInfo", startDate="2020-01-01 00:00:00", endDate="2099-12-31 23:59:59")["content"]
        assert (chart["triggerCountSucTotal"], chart["triggerCountFailTotal"]) == view.in_log()


def test_what_was_counted_elsewhere_is_known_after_a_restart(view):
    job = view.job("restarted")
    for owner, code in ((view.one, 500), (view.two, 500), (view.two, 500)):
        view.run(job, code, owner=owner)
    for end in view.one.kill, view.one.stop:  # the other one goes on, and has written no row yet, or has
        end()
        view.run(job, 500, owner=view.two, at=view.two)
        view.one.start()
        wait_for(view.one, one="up", two="up")
        view.log_in()
        view.wait_same(job, lambda it, end=end: it["streak"] == (4 if end == view.one.kill else 5))
        days = [api.get(f"/jobs/{job}/stats")["days"][-1] for api in (view.here, view.there)]
        assert days[0] == days[1]


def steps(api, run):
    it = api.get(f"/runs/{run}")
    return [s["step"] for s in it["story"]], it["exact"], it["notKnown"]


def lane(api, address):
    it = api.get("/executors")
    return next(e for e in it["items"] if e["address"] == address), it["notKnown"]


def test_what_only_its_owner_knows_is_asked_for_or_said_to_be_unknown(view):
    job = view.job("open")
    before = len(view.puppet.runs(job))
    for owner in view.two, view.two, view.one:
        owner.api().trigger(job)
    open_there = view.puppet.wait_for_runs(before + 1, job)[-1]["logId"]  # the others wait for it
    owners = f"SELECT n.name FROM peal_run r JOIN peal_epoch e ON e.epoch = r.epoch JOIN peal_node n ON n.node = e.node " \
             f"WHERE r.log_id = {open_there}"
    here, there = (view.here, view.there) if view.db.run(owners, view.name)[0][0] == "two" else (view.there, view.here)
    for api in there, here:  # by its owner, and by the other one
        wait_until(lambda a=api: steps(a, open_there)[0][-1] == "accepted", "the run to be accepted", 20)
        assert steps(api, open_there)[1:] == (True, [])
    assert steps(here, open_there) == steps(there, open_there)
    lanes = [lane(api, view.puppet.address) for api in (here, there)]
    assert lanes[0][0]["open"] == lanes[1][0]["open"] > 0 and lanes[0][1] == lanes[1][1] == []
    other = view.two if here is view.here else view.one
    other.process.send_signal(signal.SIGSTOP)
    try:
        silent = [f"server {'two' if other is view.two else 'one'} does not answer"]
        assert steps(here, open_there)[1:] == (False, silent)
        assert lane(here, view.puppet.address)[1] == silent
    finally:
        other.process.send_signal(signal.SIGCONT)
    sent = 0
    while sent < 3:
        sent += 1
        view.puppet.report(view.puppet.wait_for_runs(before + sent, job)[before + sent - 1])


def test_what_fires_next_is_what_all_have_planned(view):
    jobs = {view.job(f"next {i}", scheduleType="CRON", scheduleConf="* * * * * ?") for i in range(4)}
    for job in jobs:
        view.one.api().start_job(job)
    both = f"SELECT count(DISTINCT node) FROM peal_run WHERE phase = 1 AND job_id >= {min(jobs)}"
    wait_until(lambda: view.db.number(both, view.name) == 2, "both servers to have planned", 60)

    def listed(api):
        return collections.Counter(firing["job"]["id"] for firing in api.get("/dashboard")["next"])

    for api in view.here, view.there:  # a job that the other one has planned nothing of is there once
        wait_until(lambda a=api: all(listed(a)[job] > 1 for job in jobs), "all four to be next, several times each", 30)
    for job in jobs:
        view.one.api().delete_job(job)


def needs(api, group, more=""):
    board = api.get(f"/dashboard?group={group}{more}")
    return {what: board["attention"][what] for what in ("late", "stuck", "unknown")}, board["notKnown"]


def marked(api, group, mark):
    return [run["id"] for run in api.get(f"/runs?group={group}&{mark}=true")["items"]]


def test_what_needs_attention_is_that_of_all_servers(view):
    both, slow = (view.here, view.there), view.slow_group
    for api in both:
        wait_until(lambda a=api: needs(a, slow) == ({"late": 0, "stuck": 1, "unknown": 0}, []), "a run that is stuck", 60)
        assert marked(api, slow, "stuck") == [view.slow["logId"]]

    # one whose executor does not say whether it has it
    doubt = view.one.api().add_group("doubt", addresses=[view.puppet.address])
    job = view.one.api().add_job(doubt, "doubt")
    view.puppet.answer = lambda action, body: None
    view.two.api().trigger(job)
    unknown = view.puppet.wait_for_runs(1, job)[0]
    for api in both:
        wait_until(lambda a=api: needs(a, doubt) == ({"late": 0, "stuck": 0, "unknown": 1}, []), "a run in doubt", 30)
        wait_until(lambda a=api: marked(a, doubt, "unknown") == [unknown["logId"]], "the run in doubt in the list", 30)
    assert needs(view.here, slow) == needs(view.there, slow), "each group has its own"
    view.two.process.send_signal(signal.SIGSTOP)
    try:
        assert needs(view.here, doubt, "&range=7d") == ({"late": 0, "stuck": 0, "unknown": 0}, ["server two does not answer"])
    finally:
        view.two.process.send_signal(signal.SIGCONT)
    view.puppet.answer = lambda action, body: YES
    for run in view.slow, unknown:
        view.puppet.report(run)
    for group in slow, doubt:
        for api in both:
            wait_until(lambda a=api, g=group: needs(a, g) == ({"late": 0, "stuck": 0, "unknown": 0}, []), "no run to be open", 30)


def test_what_was_sent_late_counts_once(view):
    group = view.one.api().add_group("late", addresses=[view.puppet.address])
    job = view.one.api().add_job(group, "late")
    view.puppet.hold()  # the executor answers no call, so that runs wait for a connection to it
    for _ in range(24):
        view.two.api().trigger(job)
    since = time.monotonic()
    wait_until(lambda: time.monotonic() > since + 1.5, "those that wait to be late", 10)
    assert 0 < len(view.puppet.runs(job)) < 24, "some have been sent, and some wait"
    view.puppet.release()
    runs = view.puppet.wait_for_runs(24, job)
    here, there = (lambda api=api: needs(api, group) for api in (view.here, view.there))
    late = wait_until(lambda: there()[0]["late"], "runs that were sent late", 30)
    wait_until(lambda: here() == there() and here()[0]["late"] >= late, "both servers to know the same, while they are open", 30)
    late = there()[0]["late"]
    for run in runs:
        view.puppet.report(run)
    wait_until(lambda: view.db.number(f"SELECT count(*) FROM peal_run WHERE job_id = {job}", view.name) == 0, "them to end", 30)
    for see in here, there:
        wait_until(lambda s=see: s() == ({"late": late, "stuck": 0, "unknown": 0}, []), "each to count once when all have ended", 30)


def of_nodes(center):
    """{(metric, name of the server, state or None): value}, as that server has them."""
    return {(name, labels["name"], labels.get("state")): value for name, labels, value in center.metrics()
            if name.startswith("peal_node_") and "name" in labels and name != "peal_node_info"}


def test_each_server_has_the_metrics_of_all(view):
    jobs = [view.job(f"measured {i}", scheduleType="CRON", scheduleConf="0 0 0 1 1 ? 2099") for i in range(20)]
    for job in jobs:
        view.one.api().start_job(job)

    def complete(center):
        seen = of_nodes(center)

        def of(metric, name):
            return seen.get((f"peal_node_{metric}", name, None), -1)
        return center.metric("peal_node_takeovers") == 0 and all(
            {state: value for (metric, node, state), value in seen.items() if metric == "peal_node_state" and node == name} ==
            {"up": 1, "draining": 0, "stopped": 0, "dead": 0} and
            of("beat_age_seconds", name) >= 0 and 0 < of("lease_seconds", name) <= 2 and of("weight", name) == 4 and
            abs(seen["peal_node_skew_seconds", name, None]) < 1 and of("homed_jobs", name) > 0 and of("open_runs", name) >= 0
            for name in ("one", "two"))

    view.one.kill()  # the other one tells so, and has no beat of it any more
    wait_until(lambda: of_nodes(view.two)["peal_node_state", "one", "dead"] == 1, "the first server to be dead", 30)
    seen = of_nodes(view.two)
    assert {metric for metric, name, _ in seen if name == "one"} == {"peal_node_state"}
    wait_until(lambda: view.two.metric("peal_node_takeovers") == 0, "its runs to be taken over", 30)

    # one that begins has counted nothing: that is not none
    view.one.start()
    told = []

    def counted():
        it = next((n["jobs"] for n in view.there.get("/nodes")["items"] if n["name"] == "one" and n["state"] == "up"), None)
        told.append(it)
        return it
    wait_until(counted, "it to have counted its jobs", 60)
    assert 0 not in told, told
    for center in view.one, view.two:
        wait_until(lambda c=center: complete(c), "the metrics of both servers", 60)
    view.log_in()
    for job in jobs:
        view.one.api().delete_job(job)
