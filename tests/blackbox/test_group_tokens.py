# SPDX-License-Identifier: Apache-2.0
"""Tokens of groups: what an executor says counts for its own group only, and calls carry the token of the group."""

import pathlib
import sqlite3
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support import ledger  # noqa: E402 (path just set)
from support.center import TOKEN, Center  # noqa: E402
from support.executor import Executor  # noqa: E402
from support.stub_executor import Stub  # noqa: E402
from support.v1 import V1, problem  # noqa: E402
from support.wait import wait_until  # noqa: E402

WRONG = {"code": 500, "msg": "The access token is wrong."}


@pytest.fixture
def center(tmp_path):
    with Center(tmp_path) as it:
        yield it


def give(center, group, token=None, next_token=None):
    """The row of the table, as the center finds it at its start."""
    center.stop()
    with ledger.opened(center, write=True) as db:
        db.execute("INSERT OR REPLACE INTO peal_group VALUES (?, ?, ?, 1)", (int(group), token, next_token))
    center.start()


def registry(app, address):
    return {"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": address}


def result(log_id, msg="done", code=200):
    return {"logId": log_id, "logDateTim": 0, "handleCode": code, "handleMsg": msg}


def refused(reply):
    return (reply["code"], reply["msg"]) == (WRONG["code"], WRONG["msg"])


def addresses(center, app):
    return {row["registry_value"] for row in
            ledger.rows(center, "SELECT registry_value FROM xxl_job_registry WHERE registry_key = ?", app)}


def end_of(center, log_id):
    return ledger.rows(center, "SELECT handle_code, handle_msg FROM xxl_job_log WHERE id = ?", log_id)[0]


@pytest.fixture
def teams(center):
    """Two groups; billing has a token of its own. (api, id of billing, id of shipping)"""
    api = center.api()
    billing, shipping = api.add_group("team-billing"), api.add_group("team-shipping")
    give(center, billing, "token-of-billing")
    return center.api(), billing, shipping


def test_one_team_cannot_register_or_remove_as_another(center, teams):
    mine, theirs = "http://127.0.0.1:1/", "http://127.0.0.1:2/"
    say = center.open_api
    assert say("registry", registry("team-billing", mine), token="token-of-billing")["code"] == 200
    ledger.wait_for_rows(center, "the registration", "SELECT 1 FROM xxl_job_registry WHERE registry_value = ?", mine)
    for token in (center.token, "token-of-shipping", "", "token-of-billin", "token-of-billing2"):
        assert refused(say("registry", registry("team-billing", theirs), token=token)), token
        assert refused(say("registryRemove", registry("team-billing", mine), token=token)), token
    for app in ("team-shipping", "some-other-app"):
        assert refused(say("registry", registry(app, theirs), token="token-of-billing"))
    assert say("registry", registry("team-shipping", theirs))["code"] == 200, "the center's token, as ever"
    ledger.wait_for_rows(center, "the other", "SELECT 1 FROM xxl_job_registry WHERE registry_value = ?", theirs)
    assert addresses(center, "team-billing") == {mine}
    assert addresses(center, "team-shipping") == {theirs}
    assert not addresses(center, "some-other-app")


def test_one_team_cannot_end_the_runs_of_another(center, teams):
    api, billing, shipping = teams
    job, other_job = api.add_job(billing, "theirs"), api.add_job(shipping, "ours")
    with Stub(center, "team-billing", token="token-of-billing") as theirs, Stub(center, "team-shipping") as ours:
        api.trigger(job)
        api.trigger(other_job)
        run, other = theirs.wait_runs(1)[0]["logId"], ours.wait_runs(1)[0]["logId"]
        say = center.open_api
        for token in (center.token, "token-of-shipping"):
            assert refused(say("callback", [result(run, "not theirs")], token=token))
        assert refused(say("callback", [result(other, "not theirs")], token="token-of-billing"))
        assert refused(say("callback", [result(run), result(run)]))
        # what is its own counts, and what is not does not keep it from being answered for ever
        assert say("callback", [result(run, "not theirs"), result(other, "mine", 500)])["code"] == 200
        wait_until(lambda: tuple(end_of(center, other)) == (500, "mine"), "what was acknowledged to be in the log")
        assert tuple(end_of(center, run)) == (0, None)
        assert say("callback", [result(run, "its own")], token="token-of-billing")["code"] == 200
    ledger.settle(center, jobs=[job, other_job])
    assert tuple(end_of(center, run)) == (200, "its own")
    said = center.output.read_text()
    assert "wrong access token" in said and "token-of-billing" not in said


def test_a_late_result_is_judged_by_its_log_row(center, teams):
    """The run is not live any more, so only the log knows its group; refused at the commit, and after a kill too."""
    api, billing, _ = teams
    job = api.add_job(billing, "given up")
    with Stub(center, "team-billing", token="token-of-billing") as stub:
        api.trigger(job)
        run = stub.wait_runs(1)[0]["logId"]
        stub.call_back(run, 500, "no")
    ledger.settle(center, jobs=[job])
    center.stop()
    with ledger.opened(center, write=True) as db:
        db.execute("UPDATE xxl_job_log SET handle_msg = 'lost: no answer' WHERE id = ?", (run,))
    center.start()
    assert refused(center.open_api("callback", [result(run, "not theirs")]))
    assert end_of(center, run)["handle_msg"] == "lost: no answer"
    other = sqlite3.connect(center.data / "peal.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")  # no commit comes: results go to the journal, but not this one
    assert center.open_api("callback", [result(run, "not theirs")])["code"] == 500
    center.kill()
    other.close()
    center.start()
    assert end_of(center, run)["handle_msg"] == "lost: no answer"
    assert center.open_api("callback", [result(run, "its own")], token="token-of-billing")["code"] == 200
    wait_until(lambda: end_of(center, run)["handle_msg"].endswith("code 200: its own"), "the late result in the log")


def test_calls_carry_the_token_of_the_group(center, teams):
    api, billing, shipping = teams
    with Stub(center, "team-billing", token="token-of-billing") as theirs, Stub(center, "team-shipping") as ours:
        theirs.expects, ours.expects = "token-of-billing", center.token
        theirs.answers["log"] = {"code": 200, "msg": None, "content": {
            "fromLineNum": 1, "toLineNum": 1, "logContent": "hello\n", "isEnd": False}}
        job = api.add_job(billing, "theirs", executorRouteStrategy="FAILOVER")
        busy = api.add_job(billing, "busy", executorRouteStrategy="BUSYOVER")
        other = api.add_job(shipping, "ours")
        for one in (job, busy, other):
            api.trigger(one)
        run = theirs.wait_runs(2)[0]["logId"]
        ours.wait_runs(1)
        wait_until(lambda: all(api.logs(one)[0]["triggerCode"] == 200 for one in (job, busy)), "the runs to be accepted")
        assert "hello" in api.log_detail(run)["logContent"]
        api.log_kill(run)
        wait_until(lambda: {"run", "beat", "idleBeat", "log", "kill"} <= {action for action, _, _ in theirs.calls},
                   "each kind of call")
        assert not theirs.refused and not ours.refused


def test_an_address_given_by_hand_is_called_with_the_token_of_its_group(center):
    api = center.api()
    stub = Stub(center, "team-given")
    stub.expects = "token-of-given"
    group = api.add_group("team-given", addresses=[stub.address])
    give(center, group, "token-of-given")
    api = center.api()
    job = api.add_job(group, "theirs")
    # another team that names the address as its own does not learn that token, nor is it believed with it
    other = api.add_group("team-other", addresses=[stub.address])
    foreign = api.add_job(other, "foreign")
    api.trigger(job)
    stub.wait_runs(1, int(job))
    api.trigger(foreign)
    wait_until(lambda: stub.refused, "the call of the other team")
    assert stub.refused == [("run", center.token)]
    stub.close()


def test_an_address_given_by_hand_takes_the_new_token_when_it_has_it(center):
    """It never registers; during the change its refusal says that it has been restarted, and no run is lost."""
    stub = Stub(center, "team-given")
    group = center.api().add_group("team-given", addresses=[stub.address])
    give(center, group, "token-of-given", "next-of-given")
    api = center.api()
    job = api.add_job(group, "theirs")
    stub.expects = "token-of-given"
    api.trigger(job)
    stub.wait_runs(1)
    stub.expects = stub.token = "next-of-given"
    api.trigger(job)
    for run in stub.wait_runs(2):
        stub.call_back(run["logId"])
    assert stub.refused == [("run", "token-of-given")]
    ledger.settle(center, jobs=[job])
    assert {row["handleCode"] for row in api.logs(job)} == {200}
    stub.close()


def test_who_knows_the_old_token_is_not_told_the_new_one(center):
    """It registers an address with the old one and refuses what comes: before, during and after the change."""
    api, v1 = center.api(), V1(center)
    group = api.add_group("team-billing")
    job = api.add_job(group, "theirs", executorFailRetryCount=0)
    thief = Stub(center, "team-billing")
    thief.expects = "nothing that comes"
    thief.register()
    wait_until(lambda: api.addresses("team-billing"), "it to register")
    change(v1, group, body={"token": "new-token-of-billing"})
    api.trigger(job)
    wait_until(lambda: thief.refused, "a call")
    ledger.settle(center, jobs=[job])
    thief.expects = None
    api.trigger(job)
    thief.wait_runs(1)  # it works on this one when the change ends
    thief.expects = "nothing that comes"
    change(v1, group, "/finish")
    wait_until(lambda: not api.addresses("team-billing"), "it to be forgotten")
    run = thief.runs()[0]["logId"]
    said = api.raw("/joblog/logKill", id=run)
    assert said is not None
    wait_until(lambda: ("kill", "") in thief.refused, "the call about the run that it has")
    assert {token for _, token in thief.refused} == {center.token, ""}
    thief.close()


def test_both_serve_during_a_change_and_each_executor_gets_its_own(center):
    api = center.api()
    group = api.add_group("team-billing")
    give(center, group, None, "next-of-billing")
    api = center.api()
    with Stub(center, "team-billing") as old, Stub(center, "team-billing", token="next-of-billing") as new:
        old.expects, new.expects = center.token, "next-of-billing"
        job = api.add_job(group, "all", executorRouteStrategy="SHARDING_BROADCAST")
        api.trigger(job)
        for stub in (old, new):
            stub.call_back(stub.wait_runs(1)[0]["logId"])
        assert not old.refused and not new.refused
        # a center that is killed and started again knows who has which
        ledger.wait_for_rows(center, "who has moved", "SELECT 1 FROM peal_group_moved WHERE address = ?", new.address)
        center.restart()
        api = center.api()
        api.trigger(job)
        for stub in (old, new):
            stub.call_back(stub.wait_runs(2)[1]["logId"])
        assert not old.refused and not new.refused
        ledger.settle(center, jobs=[job])
        assert {row["handleCode"] for row in api.logs(job)} == {200}


# -- the API --

@pytest.fixture
def v1(center):
    return V1(center)


def change(v1, group, action="", method="POST", body=None, tag=None, status=200):
    """POST or DELETE on the group's token, from what it is now (or tag); the answer's JSON."""
    path = f"/groups/{int(group)}/token"
    answer = v1.ask(method, path + action, {} if method == "POST" and not action and body is None else body,
                    If_Match=tag or v1.ask("GET", path).etag)
    assert answer.status == status, answer.json
    return answer.json


def token_of(v1, group):
    return v1.get(f"/groups/{int(group)}/token")


def test_a_token_is_begun_finished_withdrawn_and_removed(center, v1):
    group = center.api().add_group("team-billing")
    none = {"groupId": int(group), "token": None, "next": None, "sinceAt": None, "sinceMs": None, "moved": 0, "left": 0,
            "waiting": []}
    assert token_of(v1, group) == none
    say, reg = center.open_api, registry("team-billing", "http://127.0.0.1:1/")
    first = change(v1, group)
    assert (first["token"], len(first["next"])) == (None, 43) and first["sinceMs"]
    for token in (center.token, first["next"]):
        assert say("registry", reg, token=token)["code"] == 200
    done = change(v1, group, "/finish")
    assert (done["token"], done["next"]) == (first["next"], None)
    assert refused(say("registry", reg)) and say("registry", reg, token=done["token"])["code"] == 200
    second = change(v1, group, body={"token": "a-token-that-we-chose"})
    assert (second["token"], second["next"]) == (done["token"], "a-token-that-we-chose")
    problem(v1.ask("POST", f"/groups/{int(group)}/token", {}, If_Match=f'"t{int(group)}-{second["sinceMs"]}"'),
            409, "conflict")
    back = change(v1, group, "/withdraw")
    assert (back["token"], back["next"]) == (done["token"], None)
    assert refused(say("registry", reg, token="a-token-that-we-chose"))
    for action in ("/finish", "/withdraw"):
        assert change(v1, group, action, status=409)["code"] == "conflict"
    assert change(v1, group, body={"token": done["token"]}, status=409)["code"] == "conflict"
    center.restart()
    v1 = V1(center)
    assert token_of(v1, group) == back
    assert refused(say("registry", reg)) and say("registry", reg, token=done["token"])["code"] == 200
    change(v1, group, method="DELETE", status=204)
    assert token_of(v1, group) == none
    assert say("registry", reg)["code"] == 200 and refused(say("registry", reg, token=done["token"]))


@pytest.mark.parametrize("token, rule", [
    ("default_token", "token.known"), ("x" * 15, "text.length"), ("x" * 257, "text.length"), ("", "text.length"),
    ("with a blank in it", "text.visible"), ("with-a-letter-\u00e4\u00e4\u00e4", "text.visible"),
    ("line-feed-in-\nthe-middle", "text.visible"), (TOKEN, "token.center")])
def test_a_bad_token_is_refused_and_changes_nothing(center, v1, token, rule):
    group = center.api().add_group("team-billing")
    tag = v1.ask("GET", f"/groups/{int(group)}/token").etag
    answer = v1.ask("POST", f"/groups/{int(group)}/token", {"token": token}, If_Match=tag)
    told = problem(answer, 422, "invalid", ("/token", rule))
    assert not token or token not in str(told)
    assert v1.ask("GET", f"/groups/{int(group)}/token").etag == tag


def test_two_changes_at_once(center, v1):
    group = center.api().add_group("team-billing")
    path = f"/groups/{int(group)}/token"
    tag = v1.ask("GET", path).etag
    problem(v1.ask("POST", path, {}), 428, "if_match_required")
    first = change(v1, group, tag=tag)
    changed = v1.ask("POST", path + "/finish", If_Match=tag)
    problem(changed, 412, "changed_meanwhile")
    assert changed.etag == v1.ask("GET", path).etag != tag
    assert token_of(v1, group) == first
    problem(v1.ask("GET", "/groups/4711/token"), 404, "not_found")
    problem(v1.ask("POST", "/groups/4711/token", {}, If_Match=tag), 404, "not_found")


def test_a_group_that_goes_or_is_renamed_takes_its_token_along(center, v1):
    api = center.api()
    kept, group = api.add_group("team-kept"), api.add_group("team-billing")
    change(v1, group, body={"token": "token-of-billing"})
    change(v1, group, "/finish")
    api.call("/jobgroup/update", id=group, appname="team-invoices", title="Invoices", addressType=0, addressList="")
    say, mine = center.open_api, "http://127.0.0.1:1/"
    assert refused(say("registry", registry("team-invoices", mine)))
    assert say("registry", registry("team-invoices", mine), token="token-of-billing")["code"] == 200
    assert say("registry", registry("team-billing", mine))["code"] == 200, "no group of that name"
    api.by_id("/jobgroup/delete", group)
    assert refused(say("registry", registry("team-invoices", mine), token="token-of-billing"))
    assert say("registry", registry("team-invoices", mine))["code"] == 200
    assert ledger.number(center, "SELECT count(*) FROM peal_group") == 0
    assert token_of(v1, kept)["token"] is None


def test_the_token_stands_in_no_other_answer(center, v1):
    group = center.api().add_group("team-billing")
    change(v1, group, body={"token": "secret-of-billing-one"})
    change(v1, group, "/finish")
    change(v1, group, body={"token": "secret-of-billing-two"})
    center.open_api("registry", registry("team-shipping", "http://127.0.0.1:1/"), token="secret-of-billing-one")
    center.open_api("registry", registry("team-billing", "http://127.0.0.1:1/"), token="secret-of-billing-six")
    entries = v1.get("/audit?action=group.token")["items"]
    assert [[c["field"] for c in entry["changes"]] for entry in entries] == [["/next"], ["/token", "/next"], ["/next"]]
    assert all(entry["object"]["kind"] == "group" and entry["object"]["name"] == "team-billing" for entry in entries)
    said = [entries, v1.get("/audit"), v1.get("/groups"), v1.get(f"/groups/{int(group)}"), v1.get("/executors"),
            v1.get("/system/settings"), center.api().groups(), center.get("/metrics")[2]]
    center.stop()
    said.append(center.output.read_text())
    assert "secret-of-billing" not in str(said)


def test_a_token_changes_without_a_lost_firing(center, v1, tmp_path):
    """Two executors get the new token by a restart, one after the other, while a job fires each second."""
    group = center.api().add_group("team-real")
    start = lambda name, token: Executor(tmp_path / name, center.url, app="team-real", token=token).start()  # noqa: E731
    running = [start("one", center.token), start("two", center.token)]
    wait_until(lambda: len(center.api().addresses("team-real")) == 2, "both to register")
    job = center.api().add_job(group, "demoJobHandler", scheduleType="CRON", scheduleConf="* * * * * ?",
                               executorRouteStrategy="ROUND", executorParam="0")
    center.api().start_job(job)
    fired = lambda n: wait_until(  # noqa: E731
        lambda: ledger.number(center, "SELECT count(*) FROM xxl_job_log WHERE handle_code = 200") >= n, f"{n} firings")
    fired(1)
    new = change(v1, group)["next"]
    seen = token_of(v1, group)
    assert (seen["moved"], seen["left"]) == (0, 2)
    assert sorted(one["address"] for one in seen["waiting"]) == sorted(one.address for one in running)
    for i, name in enumerate(("one", "two")):
        running[i].stop()
        running[i] = start(f"{name}-again", new)
        wait_until(lambda moved=i + 1: token_of(v1, group)["moved"] == moved, "the executor to come with the new token")
        fired(2 * i + 4)
    assert (token_of(v1, group)["left"], token_of(v1, group)["waiting"]) == (0, [])
    change(v1, group, "/finish")
    before = ledger.number(center, "SELECT count(*) FROM xxl_job_log WHERE handle_code = 200")
    fired(before + 3)
    center.api().stop_job(job)
    ledger.settle(center, jobs=[job])
    ledger.check_contiguous(center, job, 1)
    assert {row["handleCode"] for row in center.api().logs(job)} == {200}
    for one in running:
        one.stop()
