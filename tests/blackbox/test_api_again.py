# SPDX-License-Identifier: Apache-2.0
"""Idempotency-Key: the same request again gives the first answer again, and makes nothing twice; also across kill -9
between the commit and the answer."""

import concurrent.futures
import itertools
import sqlite3
import threading

import pytest
from support import ledger
from support.center import Center
from support.disk import DiskErrors
from support.v1 import CONTRACT, V1, problem
from support.wait import PATIENCE, wait_until
from test_users import make

_keys = (f"again-key-{n:04}" for n in itertools.count())
_names = (f"again-{n}" for n in itertools.count())
DAY_MS = 86400 * 1000


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture
def group(center):
    return int(center.api().add_group(next(_names)))


@pytest.fixture
def key():
    return next(_keys)


def new_job(group, **more):
    return {"name": "again", "groupId": group, "schedule": {"type": "NONE"}, "task": {"kind": "BEAN", "handler": "h"},
            **more}


def job(v1, group):
    return v1.ask("POST", "/jobs", new_job(group)).json["id"]


def runs_of(center, job_id):
    return [row["id"] for row in ledger.rows(center, "SELECT id FROM xxl_job_log WHERE job_id = ? ORDER BY id", job_id)]


def same(first, second):
    assert (first.status, first.json) == (second.status, second.json)
    for name in ("Location", "ETag"):
        assert first.headers.get(name) == second.headers.get(name)


def test_a_job_is_made_once(center, v1, group, key):
    first = v1.ask("POST", "/jobs", new_job(group), Idempotency_Key=key)
    assert first.status == 201
    v1.ask("PATCH", f"/jobs/{first.json['id']}", {"name": "changed since"}, If_Match="*")
    same(first, v1.ask("POST", "/jobs", new_job(group), Idempotency_Key=key))
    assert v1.get(f"/jobs?group={group}")["page"]["total"]["value"] == 1
    assert v1.ask("POST", "/jobs", new_job(group)).json["id"] != first.json["id"], "without a key it is another job"


def test_a_run_is_made_once(center, v1, group, key):
    it = job(v1, group)
    first = v1.ask("POST", f"/jobs/{it}/trigger", {"param": "x"}, Idempotency_Key=key)
    assert first.status == 201
    same(first, v1.ask("POST", f"/jobs/{it}/trigger", {"param": "x"}, Idempotency_Key=key))
    again = next(_keys)
    rerun = v1.ask("POST", f"/runs/{first.json['runId']}/rerun", {}, Idempotency_Key=again)
    same(rerun, v1.ask("POST", f"/runs/{first.json['runId']}/rerun", {}, Idempotency_Key=again))
    assert runs_of(center, it) == [first.json["runId"], rerun.json["runId"]]
    v1.ask("DELETE", f"/jobs/{it}", If_Match="*")
    same(first, v1.ask("POST", f"/jobs/{it}/trigger", {"param": "x"}, Idempotency_Key=key))


def test_many_are_done_once(center, v1, group, key):
    ids = [job(v1, group) for _ in range(5)]
    body = {"action": "trigger", "ids": ids + [999999]}
    first = v1.ask("POST", "/jobs/batch", body, Idempotency_Key=key)
    same(first, v1.ask("POST", "/jobs/batch", body, Idempotency_Key=key))
    assert [len(runs_of(center, id_)) for id_ in ids] == 5 * [1]
    body = {"action": "rerun", "ids": [item["runId"] for item in first.json["items"][:5]]}
    key = next(_keys)
    first = v1.ask("POST", "/runs/batch", body, Idempotency_Key=key)
    same(first, v1.ask("POST", "/runs/batch", body, Idempotency_Key=key))
    assert [len(runs_of(center, id_)) for id_ in ids] == 5 * [2]


def test_a_dry_run_does_not_use_up_the_key(v1, group, key):
    body = {"action": "start", "ids": [job(v1, group)]}
    assert v1.ask("POST", "/jobs/batch", {**body, "dryRun": True}, Idempotency_Key=key).json["dryRun"]
    assert not v1.ask("POST", "/jobs/batch", body, Idempotency_Key=key).json["dryRun"]


def test_another_request_with_the_key_is_refused(center, v1, group, key):
    it, other = job(v1, group), job(v1, group)
    assert v1.ask("POST", f"/jobs/{it}/trigger", {"param": "x"}, Idempotency_Key=key).status == 201
    for path, body in ((f"/jobs/{it}/trigger", {"param": "y"}), (f"/jobs/{other}/trigger", {"param": "x"}),
                       ("/jobs", new_job(group)), ("/jobs/batch", {"action": "trigger", "ids": [it]})):
        problem(v1.ask("POST", path, body, Idempotency_Key=key), 422, "idempotency_mismatch")
    assert (len(runs_of(center, it)), runs_of(center, other)) == (1, [])


def test_what_was_refused_may_be_tried_again(v1, group, key):
    problem(v1.ask("POST", "/jobs", new_job(group, name=""), Idempotency_Key=key), 422, "invalid")
    assert v1.ask("POST", "/jobs", new_job(group), Idempotency_Key=key).status == 201


def test_keys_belong_to_users_and_rights_are_asked_again(center, v1, group, key):
    it = job(v1, group)
    user = make(center, "again-operator", grants=[{"role": "operator", "groups": [group]}])
    operator = V1(center, "again-operator", "again-operator")
    mine = operator.ask("POST", f"/jobs/{it}/trigger", {}, Idempotency_Key=key)
    theirs = v1.ask("POST", f"/jobs/{it}/trigger", {}, Idempotency_Key=key)
    assert mine.json["runId"] != theirs.json["runId"]
    v1.ask("PATCH", f"/users/{user}", {"grants": [{"role": "viewer", "groups": None}]}, If_Match="*")
    operator = V1(center, "again-operator", "again-operator")
    problem(operator.ask("POST", f"/jobs/{it}/trigger", {}, Idempotency_Key=key), 403, "forbidden")
    v1.ask("PATCH", f"/users/{user}", {"grants": [{"role": "operator", "groups": [group + 1]}]}, If_Match="*")
    operator = V1(center, "again-operator", "again-operator")
    problem(operator.ask("POST", f"/jobs/{it}/trigger", {}, Idempotency_Key=key), 404, "not_found")


def test_many_clients_with_one_key_get_one_run(center, v1, group, key):
    it = job(v1, group)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: v1.ask("POST", f"/jobs/{it}/trigger", {}, Idempotency_Key=key), range(24)))
    assert {answer.status for answer in answers} == {201}
    assert {answer.json["runId"] for answer in answers} == set(runs_of(center, it)) and len(runs_of(center, it)) == 1


@pytest.mark.parametrize("operation", [(method, path) for method, path in CONTRACT.operations()
                                       if "IdempotencyKey" in str(CONTRACT.document["paths"][path][method.lower()])])
def test_keys_that_are_none_are_refused_wherever_the_document_has_one(v1, operation):
    method, path = operation
    path = path.replace("{id}", "1")
    for bad in ("", "seven-7", "x" * 129, "with a blank", "umlaut-\xe4-here", "tab\there-1"):
        answer = v1.ask(method, path, {}, Idempotency_Key=bad)
        problem(answer, 400, "malformed", ("Idempotency-Key", "idempotency.key"))
        assert "8 to 128" in answer.json["detail"]


def test_it_is_forgotten_after_a_day(tmp_path):
    with Center(tmp_path) as center:
        v1 = V1(center)
        it = job(v1, int(center.api().add_group("later")))
        first = v1.ask("POST", f"/jobs/{it}/trigger", {}, Idempotency_Key="the-same-key")
        v1.ask("POST", f"/jobs/{it}/trigger", {}, Idempotency_Key="another-key")
        center.stop()
        with sqlite3.connect(center.data / "peal.db") as db:
            db.execute("UPDATE peal_idem SET at_ms = at_ms - ?", (DAY_MS,))
        db.close()
        center.start()
        second = v1.ask("POST", f"/jobs/{it}/trigger", {}, Idempotency_Key="the-same-key")
        assert second.status == 201 and second.json["runId"] != first.json["runId"]
        wait_until(lambda: [row["idem_key"] for row in ledger.rows(center, "SELECT idem_key FROM peal_idem")] ==
                   ["the-same-key"], "old keys are deleted")
        assert len(ledger.rows(center, "SELECT * FROM peal_idem_made")) == 1


# -- kill -9 --


class Unanswered:
    """A request in a thread of its own, which hears nothing."""

    def __init__(self, v1, path, body, key):
        self.answer = None
        self.thread = threading.Thread(target=self.ask, args=(v1, path, body, key))
        self.thread.start()

    def ask(self, v1, path, body, key):
        try:
            self.answer = v1.ask("POST", path, body, Idempotency_Key=key)
        except OSError:
            pass  # the center has been killed

    def over(self):
        self.thread.join(20 * PATIENCE)
        assert not self.thread.is_alive() and self.answer is None
        return True


@pytest.fixture
def dying(tmp_path):
    """A center whose disk stands still when told, a session there, and a group."""
    disk = DiskErrors(tmp_path / "errors", "peal.db")
    with Center(tmp_path / "center", env=disk.env) as center:
        yield center, disk, V1(center), int(center.api().add_group("dying"))
        disk.end()


def killed_after_commit(center, disk, v1, path, body, key, made):
    """The request is committed, its answer is not out: the next thing that is written stands still. Kill."""
    disk.begin(disk.STOPS)
    request = Unanswered(v1, path, body, key)
    wait_until(lambda: disk.failures() > 0, "something is being written")
    while not made():
        disk.let_one()
        wait_until(lambda: disk.failures() > 0 or made(), "the next commit stands")
    center.kill()
    assert request.over()
    disk.end()
    center.start()


def test_a_run_is_made_once_across_kill_9_between_commit_and_answer(dying):
    center, disk, v1, group = dying
    it = job(v1, group)
    killed_after_commit(center, disk, v1, f"/jobs/{it}/trigger", {"param": "x"}, "trigger-once",
                        lambda: runs_of(center, it))
    [run] = runs_of(center, it)
    first = v1.ask("POST", f"/jobs/{it}/trigger", {"param": "x"}, Idempotency_Key="trigger-once")
    assert (first.status, first.json, first.headers["Location"]) == (201, {"runId": run}, f"/api/v1/runs/{run}")
    same(first, v1.ask("POST", f"/jobs/{it}/trigger", {"param": "x"}, Idempotency_Key="trigger-once"))
    problem(v1.ask("POST", f"/jobs/{it}/trigger", {"param": "y"}, Idempotency_Key="trigger-once"), 422,
            "idempotency_mismatch")
    assert runs_of(center, it) == [run]


def test_a_job_is_made_once_across_kill_9_between_commit_and_answer(dying):
    center, disk, v1, group = dying
    jobs = lambda: ledger.rows(center, "SELECT id FROM xxl_job_info WHERE job_group = ?", group)  # noqa: E731
    killed_after_commit(center, disk, v1, "/jobs", new_job(group), "create-once", jobs)
    first = v1.ask("POST", "/jobs", new_job(group), Idempotency_Key="create-once")
    assert first.status == 201 and [row["id"] for row in jobs()] == [first.json["id"]]
    assert first.headers["Location"] == f"/api/v1/jobs/{first.json['id']}"
    same(first, v1.ask("POST", "/jobs", new_job(group), Idempotency_Key="create-once"))


def test_each_of_many_is_done_once_across_kill_9_in_their_midst(dying):
    center, disk, v1, group = dying
    ids = [job(v1, group) for _ in range(70)]  # more than one slice
    body = {"action": "trigger", "ids": ids}
    killed_after_commit(center, disk, v1, "/jobs/batch", body, "batch-once",
                        lambda: ledger.rows(center, "SELECT id FROM xxl_job_log LIMIT 1"))
    assert 0 < sum(len(runs_of(center, id_)) for id_ in ids) < 70, "it was killed in their midst"
    first = v1.ask("POST", "/jobs/batch", body, Idempotency_Key="batch-once")
    assert first.json["done"] == 70
    same(first, v1.ask("POST", "/jobs/batch", body, Idempotency_Key="batch-once"))
    assert [runs_of(center, item["id"]) for item in first.json["items"]] == [[item["runId"]]
                                                                             for item in first.json["items"]]


def test_deletions_are_told_again_across_kill_9(dying):
    center, disk, v1, group = dying
    ids = [job(v1, group) for _ in range(3)]
    left = lambda: ledger.rows(center, "SELECT id FROM xxl_job_info WHERE job_group = ?", group)  # noqa: E731
    body = {"action": "delete", "ids": ids}
    killed_after_commit(center, disk, v1, "/jobs/batch", body, "delete-once", lambda: len(left()) < 3)
    first = v1.ask("POST", "/jobs/batch", body, Idempotency_Key="delete-once")
    assert (first.json["done"], first.json["refused"], left()) == (3, 0, [])


def test_what_was_not_committed_is_made_by_the_retry(dying):
    center, disk, v1, group = dying
    it = job(v1, group)
    disk.begin(disk.STOPS)
    request = Unanswered(v1, f"/jobs/{it}/trigger", {}, "never-there")
    wait_until(lambda: disk.failures() > 0, "something is being written")
    center.kill()
    assert request.over()
    disk.end()
    center.start()
    assert runs_of(center, it) == []
    run = v1.ask("POST", f"/jobs/{it}/trigger", {}, Idempotency_Key="never-there").json["runId"]
    assert runs_of(center, it) == [run]
