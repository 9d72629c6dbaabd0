# SPDX-License-Identifier: Apache-2.0
"""The story of runs in /api/v1/runs/{id}: of real runs at real executors and stubs, while they are open, after they
have ended, after a kill -9, and after their rows have gone."""

import itertools
import signal
import threading
import time

import pytest
from support import ledger
from support.center import Center, free_port
from support.executor import Executor
from support.stub_executor import Stub
from support.v1 import V1, problem
from support.wait import PATIENCE, wait_until
from test_users import make

pytestmark = pytest.mark.every_engine

_apps = (f"v1-story-{n}" for n in itertools.count())
REFUSED = {"code": 500, "msg": "not today"}


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture
def stub(center):
    app = next(_apps)
    group = center.api().add_group(app)
    with Stub(center, app) as it:
        wait_until(lambda: center.api().addresses(app), "the stub in its group")
        it.group = group
        yield it


def trigger(v1, job):
    answer = v1.ask("POST", f"/jobs/{job}/trigger", {})
    assert answer.status == 201, answer.json
    return answer.json["runId"]


def steps(detail):
    return [step["step"] for step in detail["story"]]


def until(v1, run, *outcomes):
    def there():
        detail = v1.get(f"/runs/{run}")
        return detail if detail["run"]["outcome"] in outcomes or detail["run"]["phase"] in outcomes else None
    return wait_until(there, f"run {run} to be {outcomes}", 40)


def in_order(detail):
    """Times do not go back, and each step says how long it took."""
    assert detail["exact"] is True
    story = detail["story"]
    assert [s["ms"] for s in story] == sorted(s["ms"] for s in story)
    assert story[0]["sinceMs"] is None and all(s["sinceMs"] >= 0 for s in story[1:])
    return story


# -- what is told --

def test_a_run_by_hand_at_a_real_executor(v1, center, tmp_path):
    app = next(_apps)
    group = center.api().add_group(app)
    before = time.time() * 1000
    with Executor(tmp_path, center.url, app=app) as executor:
        wait_until(lambda: center.api().addresses(app), "the executor in its group")
        run = trigger(v1, center.api().add_job(group, "demoJobHandler"))
        detail = until(v1, run, "succeeded")
        story = in_order(detail)
        assert steps(detail)[0] == "due" and {"planned", "sent", "accepted"} < set(steps(detail))
        assert steps(detail)[-2:] == ["ended", "result_written"]
        by_name = {s["step"]: s for s in story}
        assert by_name["sent"]["params"]["address"] == executor.address
        assert by_name["sent"]["params"]["waitedMs"] >= 0
        assert by_name["ended"]["params"] == {"code": 200} and by_name["ended"]["ok"] is True
        assert before - 1 <= by_name["sent"]["ms"] <= time.time() * 1000 + 1
        shown = detail["run"]
        assert shown["sentMs"] == by_name["sent"]["ms"] and 0 <= shown["latenessMs"] < 60_000
        assert shown["sentMs"] - shown["scheduledMs"] == pytest.approx(shown["latenessMs"], abs=1.01)
        assert v1.get(f"/runs?from=0&q={run}")["items"] == [shown]  # the list says the same
        assert detail["related"]["retryOf"] is None and detail["related"]["retries"] == []


def test_an_open_run_tells_what_has_happened_so_far(v1, center, stub):
    run = trigger(v1, center.api().add_job(stub.group, "h"))
    detail = until(v1, run, "accepted")
    in_order(detail)
    assert steps(detail)[-1] == "accepted" and "ended" not in steps(detail)
    assert detail["run"]["sentMs"] and detail["run"]["outcome"] == "open"
    first = v1.ask("GET", f"/runs/{run}")
    assert first.etag and v1.ask("GET", f"/runs/{run}", If_None_Match=first.etag).status == 304
    stub.call_back(run)
    until(v1, run, "succeeded")
    again = v1.ask("GET", f"/runs/{run}", If_None_Match=first.etag)
    assert again.status == 200 and again.etag != first.etag
    assert v1.ask("GET", f"/runs/{run}", If_None_Match=f'"r0-1", W/{again.etag}').status == 304


def test_most_runs_that_succeed_keep_no_story(v1, center, stub):
    """By a schedule: of a hundred ids one has its story, whatever became of it."""
    job = center.api().add_job(stub.group, "h", scheduleType="FIX_RATE", scheduleConf="1")
    assert v1.ask("POST", f"/jobs/{job}/start").status == 200
    runs = [run["logId"] for run in stub.wait_runs(2, job, 30)]
    assert v1.ask("POST", f"/jobs/{job}/stop", {}).status == 200
    for run in runs:
        stub.call_back(run)
        detail = until(v1, run, "succeeded")
        late = detail["exact"] and detail["run"]["latenessMs"] > 1000  # on a machine that is very busy
        assert detail["exact"] is (run % 100 == 0 or late)
        assert steps(detail)[0] == ("planned" if detail["exact"] else "due")


def test_one_that_was_refused(v1, center, stub):
    stub.answers["run"] = REFUSED
    detail = until(v1, trigger(v1, center.api().add_job(stub.group, "h")), "rejected")
    in_order(detail)
    refused = detail["story"][-2]
    assert (refused["step"], refused["ok"], refused["params"]) == ("refused", False, {"message": "not today"})


def test_one_that_found_another_address(v1, center):
    app = next(_apps)
    with Stub(center, app) as stub:
        dead = f"http://127.0.0.1:{free_port()}/"
        answer = v1.ask("POST", "/groups", {"app": app, "title": "two", "addressing": "manual",
                                            "addresses": [dead, stub.address]})
        run = trigger(v1, center.api().add_job(answer.json["id"], "h", executorRouteStrategy="FIRST"))
        stub.wait_runs(1)
        stub.call_back(run)
        detail = until(v1, run, "succeeded")
        in_order(detail)
        rerouted = next(s for s in detail["story"] if s["step"] == "rerouted")
        assert rerouted["params"]["times"] >= 1
        assert next(s for s in detail["story"] if s["step"] == "sent")["params"]["address"] == stub.address


def test_one_whose_outcome_was_unknown(v1, center, stub):
    gate = threading.Event()
    stub.answers["run"] = lambda body: gate.wait(60 * PATIENCE) and {"code": 200}
    run = trigger(v1, center.api().add_job(stub.group, "h"))
    until(v1, run, "unknown")
    stub.call_back(run, 500, "it ran after all")
    gate.set()
    detail = until(v1, run, "failed")
    in_order(detail)
    unknown = next(s for s in detail["story"] if s["step"] == "unknown")
    assert unknown["ok"] is False and unknown["params"]["times"] == 1
    assert detail["story"][-2]["params"] == {"code": 500}


def test_retries_know_one_another(v1, center, stub):
    job = center.api().add_job(stub.group, "h", executorFailRetryCount="1")
    first = trigger(v1, job)
    stub.wait_runs(1, job)
    stub.call_back(first, 500, "no")
    second = stub.wait_runs(2, job, 40)[1]["logId"]
    open_one = v1.get(f"/runs/{second}")
    assert open_one["related"]["retryOf"] == first and open_one["run"]["attempt"] == 1
    assert v1.get(f"/runs/{first}")["related"]["retries"] == [second]
    stub.call_back(second)
    detail = until(v1, second, "succeeded")
    assert detail["exact"] and detail["run"]["attempt"] == 1
    assert detail["related"]["retryOf"] == first and detail["related"]["previous"] == first
    assert v1.get(f"/runs/{first}")["related"] == {"retryOf": None, "retries": [second], "parent": None,
                                                   "previous": None, "next": second, "lastSuccess": None,
                                                   "children": [], "shards": []}


def test_times_count_to_the_millisecond(v1, center, stub):
    """The log knows whole seconds, and a run is found by the time that it is shown with."""
    job = center.api().add_job(stub.group, "h")
    for n in range(3):
        run = trigger(v1, job)
        stub.wait_runs(n + 1)
        for outcome in ("open", "succeeded"):
            shown = v1.get(f"/runs/{run}")["run"]["scheduledMs"]

            def found(**query):
                return run in [r["id"] for r in v1.pages("/runs", job=job, **query)]
            assert found(**{"from": shown}) and not found(**{"from": shown + 1}), outcome
            assert found(**{"from": 0}, to=shown + 1) and not found(**{"from": 0}, to=shown), outcome
            if outcome == "open":
                stub.call_back(run)
                until(v1, run, "succeeded")
    problem(v1.ask("GET", "/runs?to=-1"), 400, "malformed", ("to", "type.instant"))
    assert v1.ask("GET", f"/runs?from=0&to={2**63 - 1}").status == 200


def test_a_child_knows_its_parent(v1, center, stub):
    child = center.api().add_job(stub.group, "child")
    parent = trigger(v1, center.api().add_job(stub.group, "parent", childJobId=str(child)))
    stub.wait_runs(1)
    stub.call_back(parent)
    run = stub.wait_runs(1, child)[0]["logId"]
    assert v1.get(f"/runs/{run}")["related"]["parent"] == parent
    assert v1.get(f"/runs/{parent}")["related"]["children"] == [run]
    stub.call_back(run)
    assert until(v1, run, "succeeded")["related"]["parent"] == parent
    assert v1.get(f"/runs/{parent}")["related"]["children"] == [run]


def test_a_child_out_of_sight_is_none(v1, center, stub):
    hidden = center.api().add_group(next(_apps))
    child = center.api().add_job(hidden, "child")
    parent = trigger(v1, center.api().add_job(stub.group, "parent", childJobId=str(child)))
    stub.wait_runs(1)
    stub.call_back(parent)
    [run] = wait_until(lambda: v1.get(f"/runs/{parent}")["related"]["children"], "the child")
    until(v1, run, "unroutable")
    make(center, "story-reader", grants=[{"role": "viewer", "groups": [int(stub.group)]}])
    assert V1(center, "story-reader", "story-reader").get(f"/runs/{parent}")["related"]["children"] == []


def test_a_shard_knows_the_others(v1, center):
    app = next(_apps)
    group = center.api().add_group(app)
    with Stub(center, app) as one, Stub(center, app) as two:
        wait_until(lambda: len(center.api().addresses(app)) == 2, "both stubs in their group")
        job = center.api().add_job(group, "h", executorRouteStrategy="SHARDING_BROADCAST")
        for _ in range(5):  # some of them in the same second
            trigger(v1, job)
        runs = sorted(r["logId"] for stub in (one, two) for r in stub.wait_runs(5))
        found = {run: v1.get(f"/runs/{run}")["related"]["shards"] for run in runs}
        assert found == {run: runs[i // 2 * 2:i // 2 * 2 + 2] for i, run in enumerate(runs)}
        for stub in (one, two):
            for r in stub.wait_runs(5):
                stub.call_back(r["logId"])
        until(v1, runs[0], "succeeded")
        assert v1.get(f"/runs/{runs[0]}")["related"]["shards"] == runs[:2]


def test_what_was_changed_since_the_last_success(v1, center, stub):
    job = center.api().add_job(stub.group, "h")
    good = trigger(v1, job)
    stub.wait_runs(1)
    stub.call_back(good)
    until(v1, good, "succeeded")
    answer = v1.ask("GET", f"/jobs/{job}")
    edit = v1.ask("PATCH", f"/jobs/{job}", {"name": "another name"}, If_Match=answer.etag)
    assert edit.status == 200, edit.json
    bad = trigger(v1, job)
    stub.wait_runs(2)
    stub.call_back(bad, 500, "no")
    changes = until(v1, bad, "failed")["changedSince"]
    assert [c["action"] for c in changes] == ["job.update"]
    assert changes[0]["changes"] == [{"field": "/name", "before": changes[0]["changes"][0]["before"],
                                      "after": "another name"}]


def test_those_that_were_late(tmp_path):
    """A run that was planned, and sent when the center came back."""
    with Center(tmp_path) as center:
        v1, app = V1(center), next(_apps)
        group = center.api().add_group(app)
        with Stub(center, app) as stub:
            wait_until(lambda: center.api().addresses(app), "the stub in its group")
            job = center.api().add_job(group, "h", scheduleType="FIX_RATE", scheduleConf="2",
                                       misfireStrategy="FIRE_ONCE_NOW")
            quick = trigger(v1, center.api().add_job(group, "h"))
            assert v1.ask("POST", f"/jobs/{job}/start").status == 200
            stub.wait_runs(1, job)
            stopped = center.process
            stopped.send_signal(signal.SIGSTOP)
            time.sleep(4)  # two scheduled times pass
            stopped.send_signal(signal.SIGCONT)
            stub.register()
            stub.wait_runs(3, job)
            assert v1.ask("POST", f"/jobs/{job}/stop", {}).status == 200
            for run in stub.runs():
                stub.call_back(run["logId"])
            until(v1, quick, "succeeded")
            for run in stub.runs(job):
                until(v1, run["logId"], "succeeded")
            everything = {run["id"]: run for run in v1.pages("/runs", 50)}
            late = [run["id"] for run in v1.pages("/runs", 1, late="true")]
            assert late == sorted(late, reverse=True) and late
            assert set(late) == {n for n, run in everything.items() if (run["latenessMs"] or 0) > 1000}
            assert v1.pages("/runs", 2, late="true", job=job) == [everything[n] for n in late
                                                                 if everything[n]["job"]["id"] == job]


def test_those_that_are_stuck(v1, center, stub):
    job = center.api().add_job(stub.group, "h")
    for _ in range(5):  # fewer results say nothing of what is usual
        run = trigger(v1, job)
        wait_until(lambda: run in [body["logId"] for body in stub.runs(job)], "the run")
        stub.call_back(run)
        until(v1, run, "succeeded")
    stuck = trigger(v1, job)
    until(v1, stuck, "accepted")
    young = center.api().add_job(stub.group, "h")
    trigger(v1, young)
    found = wait_until(lambda: v1.get(f"/runs?stuck=true&group={stub.app}")["items"], "it to be stuck", 40)
    assert [run["id"] for run in found] == [stuck]
    assert v1.get(f"/runs?stuck=true&outcome=failed&group={stub.app}")["items"] == []
    stub.call_back(stuck)
    wait_until(lambda: v1.get(f"/runs?stuck=true&group={stub.app}")["items"] == [], "it to end")


def test_others_that_fail_for_the_same_cause(v1, center, stub):
    jobs = [center.api().add_job(stub.group, f"h{n}") for n in range(4)]
    ends = ["order 17 not found", "order 4711 not found", "order 99 not found", "disk full"]
    runs = {}
    for job, text in zip(jobs, ends):
        runs[job] = trigger(v1, job)
        stub.wait_runs(1, job)
        stub.call_back(runs[job], 500, text)
        until(v1, runs[job], "failed")
    again = trigger(v1, jobs[1])  # its second failure in a row
    stub.wait_runs(2, jobs[1])
    stub.call_back(again, 500, "order 5 not found")
    until(v1, again, "failed")
    same = wait_until(lambda: (s := v1.get(f"/runs/{runs[jobs[0]]}")["sameCause"])["runs"] == 3 and s, "the others")
    assert same == {"jobs": 2, "runs": 3}
    assert v1.get(f"/runs/{runs[jobs[3]]}")["sameCause"] == {"jobs": 0, "runs": 0}
    good = trigger(v1, jobs[2])
    stub.wait_runs(2, jobs[2])
    stub.call_back(good)
    assert "sameCause" not in until(v1, good, "succeeded")
    wait_until(lambda: v1.get(f"/runs/{runs[jobs[0]]}")["sameCause"] == {"jobs": 1, "runs": 2}, "one to fail no more")
    secret = v1.ask("POST", "/tokens", {"name": "t", "permissions": ["read"], "groups": [stub.group]}).json["secret"]
    assert V1(center, token=secret).get(f"/runs/{runs[jobs[0]]}")["sameCause"]["jobs"] == 1


# -- what stays of it --

def test_it_is_there_after_a_kill(v1, center, stub):
    job = center.api().add_job(stub.group, "h")
    ended, still = trigger(v1, job), trigger(v1, job)
    stub.wait_runs(2, job)
    stub.call_back(ended, 500, "no")
    detail = until(v1, ended, "failed")
    center.restart()
    stub.register()
    assert v1.get(f"/runs/{ended}")["story"] == detail["story"]
    until(v1, still, "accepted", "unknown", "sent")
    stub.call_back(still)
    after = until(v1, still, "succeeded")  # of the life before nothing is known but that it was due
    assert after["exact"] and steps(after)[0] == "due" and "planned" not in steps(after)
    assert "ended" in steps(after)


def test_it_goes_with_its_row(v1, center, stub):
    job = center.api().add_job(stub.group, "h")
    run = trigger(v1, job)
    stub.wait_runs(1)
    stub.call_back(run, 500, "no")
    until(v1, run, "failed")

    def rows():
        with ledger.opened(center) as db:
            return db.execute("SELECT length(steps) FROM peal_story WHERE log_id = ?", (run,)).fetchall()
    assert len(rows()) == 1 and rows()[0][0] <= 64
    answer = v1.ask("POST", "/runs/clean", {"rule": "all", "jobId": job, "dryRun": False})
    assert answer.status == 200, answer.json
    wait_until(lambda: v1.ask("GET", f"/runs/{run}").status == 404, "the row to go")
    wait_until(lambda: rows() == [], "its story to go")
    problem(v1.ask("GET", f"/runs/{run}", If_None_Match="*"), 404, "not_found")
