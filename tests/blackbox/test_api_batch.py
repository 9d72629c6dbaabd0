# SPDX-License-Identifier: Apache-2.0
"""POST /api/v1/jobs/batch: one action on many jobs, each done or refused alone, one entry in the audit."""

import concurrent.futures
import itertools

import pytest
from support import ledger
from support.v1 import V1, problem
from test_users import make

pytestmark = pytest.mark.every_engine

_names = (f"batch-{n}" for n in itertools.count())
NEVER = {"type": "CRON", "conf": "0 0 0 1 1 ? 2098"}


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture
def group(center):
    return center.api().add_group(next(_names))


def job(v1, group, **more):
    answer = v1.ask("POST", "/jobs", {"name": "batched", "groupId": int(group), "schedule": NEVER,
                                      "task": {"kind": "BEAN", "handler": "demo"}, **more})
    assert answer.status == 201, answer.json
    return answer.json["id"]


def batch(v1, action, ids, **more):
    answer = v1.ask("POST", "/jobs/batch", {"action": action, "ids": ids, **more})
    assert answer.status == 200, answer.json
    assert [item["id"] for item in answer.json["items"]] == ids
    assert answer.json["done"] == sum(item["ok"] for item in answer.json["items"])
    assert answer.json["refused"] == len(ids) - answer.json["done"]
    return answer.json


def codes(result):
    return [item["ok"] or item["problem"]["code"] for item in result["items"]]


def state(v1, id_):
    return v1.get(f"/jobs/{id_}")["state"]


def latest(v1, action):
    return v1.get(f"/audit?limit=1&action={action}")["items"][0]


def test_many_are_started_stopped_and_deleted(v1, group):
    ids = [job(v1, group) for _ in range(150)]
    assert batch(v1, "start", ids)["done"] == 150
    assert {state(v1, id_) for id_ in ids} == {"scheduled"}
    assert batch(v1, "stop", ids[:100], reason="release")["done"] == 100
    entry = latest(v1, "job.stop")
    assert (entry["items"], entry["reason"], entry["object"]) == (100, "release", {"kind": "job", "id": "", "name": ""})
    assert v1.get(f"/jobs/{ids[0]}/changes?limit=1")["items"] == [entry]
    assert v1.get(f"/jobs/{ids[120]}/changes?limit=1")["items"][0]["action"] == "job.start"
    assert [state(v1, id_) for id_ in ids] == 100 * ["stopped"] + 50 * ["scheduled"]
    assert batch(v1, "delete", ids)["done"] == 150
    assert codes(batch(v1, "start", ids[:2])) == 2 * ["not_found"]
    assert latest(v1, "job.delete")["items"] == 150


def test_what_cannot_be_done_is_refused_alone(v1, group):
    good, over, gone = job(v1, group), job(v1, group, schedule={"type": "NONE"}), job(v1, group)
    batch(v1, "delete", [gone])
    before = v1.get("/audit?limit=1")["items"][0]["id"]
    assert codes(batch(v1, "start", [over, gone, good])) == ["conflict", "not_found", True]
    assert latest(v1, "job.start")["items"] == 1
    assert codes(batch(v1, "start", [over, gone])) == ["conflict", "not_found"]
    assert v1.get("/audit?limit=1")["items"][0]["id"] == before + 1, "nothing was done, so nothing is in the audit"


def test_a_dry_run_asks_the_same_and_changes_nothing(center, v1, group):
    mine, other = job(v1, group), job(v1, center.api().add_group(next(_names)))
    make(center, "batch-dry", grants=[{"role": "operator", "groups": [int(group)]}])
    operator = V1(center, "batch-dry", "batch-dry")
    before = v1.get("/audit?limit=1")["items"][0]["id"]
    for action in ("start", "trigger"):
        result = batch(operator, action, [mine, other], dryRun=True)
        assert result["dryRun"] and codes(result) == [True, "not_found"]
    problem(operator.ask("POST", "/jobs/batch", {"action": "delete", "ids": [mine], "dryRun": True}), 403, "forbidden")
    assert state(v1, mine) == "stopped" and v1.get("/audit?limit=1")["items"][0]["id"] == before


def test_a_dry_run_adds_up_what_would_be_taken_away(v1, group):
    hourly = {"type": "CRON", "conf": "0 0 * * * ?", "zone": "UTC"}
    ids = [job(v1, group, schedule=hourly, start=True) for _ in range(3)]
    parent = job(v1, group, children=[ids[0]])
    one = v1.get(f"/jobs/{ids[0]}/consequences?action=delete")
    assert (one["firings24h"], one["childrenOfOthers"]) == (24, 1)
    found = batch(v1, "delete", ids, dryRun=True)["consequences"]
    assert (found["firings24h"], found["childrenOfOthers"], found["openRuns"]) == (72, 1, 0)
    assert batch(v1, "stop", [*ids, parent, 999999], dryRun=True)["consequences"]["firings24h"] == 72
    assert batch(v1, "start", ids, dryRun=True)["consequences"] == {}
    assert {state(v1, id_) for id_ in ids} == {"scheduled"}


def test_the_permission_is_asked_job_by_job(center, v1, group):
    seen = center.api().add_group(next(_names))
    runs, reads, hidden = job(v1, group), job(v1, seen), job(v1, center.api().add_group(next(_names)))
    make(center, "batch-mixed", grants=[{"role": "operator", "groups": [int(group)]},
                                        {"role": "viewer", "groups": [int(seen)]}])
    mixed = V1(center, "batch-mixed", "batch-mixed")
    assert codes(batch(mixed, "start", [runs, reads, hidden])) == [True, "forbidden", "not_found"]
    assert [state(v1, id_) for id_ in (runs, reads, hidden)] == ["scheduled", "stopped", "stopped"]
    for action, more in (("delete", {}), ("set_owner", {"owner": "x"}), ("move_group", {"groupId": int(group)})):
        answer = mixed.ask("POST", "/jobs/batch", {"action": action, "ids": [runs, hidden], **more})
        problem(answer, 403, "forbidden")  # of all: it has that permission nowhere
    make(center, "batch-viewer", grants=[{"role": "viewer", "groups": None}])
    viewer = V1(center, "batch-viewer", "batch-viewer")
    problem(viewer.ask("POST", "/jobs/batch", {"action": "start", "ids": [runs]}), 403, "forbidden")


def test_owners_and_groups_are_changed_by_the_rules_of_jobs(center, v1, group):
    ids = [job(v1, group) for _ in range(3)]
    assert batch(v1, "set_owner", ids, owner="night shift")["done"] == 3
    assert {v1.get(f"/jobs/{id_}")["owner"] for id_ in ids} == {"night shift"}
    entry = latest(v1, "job.update")
    assert entry["items"] == 3 and entry["changes"] == [{"field": "/owner", "before": None, "after": "night shift"}]
    target = center.api().add_group(next(_names))
    assert batch(v1, "move_group", ids, groupId=int(target))["done"] == 3
    assert {v1.get(f"/jobs/{id_}")["group"]["id"] for id_ in ids} == {int(target)}
    problem(v1.ask("POST", "/jobs/batch", {"action": "move_group", "ids": ids, "groupId": 999999}), 422, "invalid",
            ("/groupId", "group.exists"))


def test_a_script_moves_only_where_scripts_may_be_written(center, v1, group):
    target = center.api().add_group(next(_names))
    script = job(v1, group, task={"kind": "GLUE_SHELL"}, script="echo 1")
    plain = job(v1, group)
    make(center, "batch-mover", grants=[{"role": "developer", "groups": [int(group)]},
                                        {"role": "editor", "groups": [int(target)]}])
    mover = V1(center, "batch-mover", "batch-mover")
    result = batch(mover, "move_group", [script, plain], groupId=int(target))
    assert codes(result) == ["forbidden", True]


def test_many_are_run_and_each_run_is_named(center, v1, group):
    ids = [job(v1, group, schedule={"type": "NONE"}) for _ in range(70)]
    result = batch(v1, "trigger", ids)
    runs = [item["runId"] for item in result["items"]]
    assert len(set(runs)) == 70
    rows = ledger.rows(center, f"SELECT id, job_id FROM xxl_job_log WHERE id IN ({','.join(map(str, runs))})")
    assert {(row["job_id"], row["id"]) for row in rows} == set(zip(ids, runs))
    entry = latest(v1, "job.trigger")
    assert entry["items"] == 70 and v1.get(f"/jobs/{ids[69]}/changes?limit=1")["items"] == [entry]


def test_a_batch_that_breaks_a_rule_does_nothing(v1, group):
    one = job(v1, group)
    for body, *fields in (({"action": "stop", "ids": []}, ("/ids", "array.size")),
                          ({"action": "stop", "ids": [one, one]},), ({"action": "burn", "ids": [one]},),
                          ({"ids": [one]}, ("/action", "required")), ({"action": "stop", "ids": [0]},),
                          ({"action": "stop", "ids": [one], "x": 1}, ("/x", "unknown")),
                          ({"action": "stop", "ids": [one], "reason": "r" * 256},),
                          ({"action": "set_owner", "ids": [one], "owner": "o" * 65},),
                          ({"action": "set_owner", "ids": [one]}, ("/owner", "required")),
                          ({"action": "move_group", "ids": [one]}, ("/groupId", "required")),
                          ({"action": "start", "ids": list(range(1, 1002))},)):
        answer = v1.ask("POST", "/jobs/batch", body)
        assert problem(answer, 422, "invalid")["errors"], body
        for field in fields:
            assert field[0] in {e["field"] for e in answer.json["errors"]}
    assert state(v1, one) == "stopped"


def test_batches_at_once_are_each_whole_in_the_audit(v1, group):
    ids = [job(v1, group) for _ in range(40)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda action: batch(v1, action, ids), ("start", "stop", "start", "stop")))
    assert all(result["done"] == 40 for result in results)
    assert sorted(e["items"] for e in v1.get(f"/jobs/{ids[0]}/changes?limit=4")["items"]) == 4 * [40]
