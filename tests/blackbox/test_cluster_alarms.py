# SPDX-License-Identifier: Apache-2.0
"""Several servers on one database: an alarm goes out once, whichever of them owns the run, knows the channel or is asked
by a user; and what one had not sent when it was killed is sent by the next."""

import concurrent.futures
import contextlib
import pathlib
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.cluster import database, fresh, node, wait_for  # noqa: E402, F401 (path just set; a fixture)
from support.hook import Hook  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import wait_until  # noqa: E402

RUNS = 12


@contextlib.contextmanager
def two_servers(db, tmp_path, hook):
    """The database's name, the server that does what one does for all, and the other one."""
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one", settings=hook.settings) as one, \
            node(tmp_path / "b", url, "two", settings=hook.settings) as two:
        for center in (one, two):
            wait_for(center, one="up", two="up")
        yield name, one, two


def fail(center, job, times=1):
    """Without an executor each run fails at once, where it was triggered."""
    for _ in range(times):
        center.api().trigger(job)


def wait_closed(db, name, alarms):
    rows = "SELECT count(*) FROM peal_alarm WHERE closed_ms IS {}NULL"
    wait_until(lambda: db.number(rows.format("NOT "), name) == alarms and db.number(rows.format(""), name) == 0,
               f"{alarms} alarms to be closed", 60)


def sent(center):
    return center.metric("peal_alarms_total", channel="webhook", result="sent")


def channel(center, url, name):
    answer = V1(center).ask("POST", "/alarm-channels", {"name": name, "kind": "webhook", "settings": {"url": url}})
    assert answer.status == 201, answer.json
    return answer


def rule(center, channels, kind="failed", **more):
    body = {"name": "a rule", "kind": kind, "channels": [channels], **more}
    answer = V1(center).ask("POST", "/alarm-rules", body)
    assert answer.status == 201, answer.json
    return answer.json["id"]


def known(center):
    return V1(center).get("/executors?limit=10")["items"]


def of_rule(hook, path, number):
    return [m for m in hook.at(path) if m.get("ruleId") == number]


def test_an_alarm_goes_out_once_whoever_owns_the_run(db, tmp_path):
    with Hook(delay=0.2) as hook, two_servers(db, tmp_path, hook) as (name, one, two):
        job = one.api().add_job(one.api().add_group("nobody"), "h")
        for _ in range(RUNS):
            fail(one, job)
            fail(two, job)
        wait_closed(db, name, 2 * RUNS)
        told = [m["runId"] for m in hook.at("/all")]
        assert len(told) == len(set(told)) == 2 * RUNS, told
        assert sent(one) == 2 * RUNS and sent(two) == 0
        owners = db.number("SELECT count(DISTINCT epoch) FROM peal_epoch WHERE planned > 0", name)
        assert owners == 2
        assert db.number("SELECT count(*) FROM peal_delivery", name) == 2 * RUNS


def test_what_a_killed_server_had_not_sent_is_sent_by_the_next(db, tmp_path):
    with Hook(status=503) as hook, two_servers(db, tmp_path, hook) as (name, one, two):
        jobs = [one.api().add_job(one.api().add_group(f"nobody {i}"), "h") for i in range(2)]
        fail(two, jobs[0], RUNS)
        fail(one, jobs[0], RUNS)
        wait_until(lambda: db.number("SELECT count(*) FROM peal_alarm", name) == 2 * RUNS, "the alarms", 30)
        before = wait_until(lambda: hook.at("/all", 503), "a try that fails", 30)
        one.kill()
        hook.status = 200
        fail(two, jobs[1], RUNS)
        wait_closed(db, name, 3 * RUNS)
        told = hook.at("/all")
        assert len(told) == len({m["runId"] for m in told}) == 3 * RUNS
        assert before[0]["id"] in [m["id"] for m in told]  # by which a copy would be known
        assert sent(two) == 3 * RUNS
        # who comes back takes it from nobody
        one.start()
        wait_for(two, one="up", two="up")
        fail(one, jobs[1], RUNS)
        wait_closed(db, name, 4 * RUNS)
        assert len({m["runId"] for m in hook.at("/all")}) == len(hook.at("/all")) == 4 * RUNS
        assert sent(two) == 4 * RUNS and sent(one) == 0


def test_failures_that_two_servers_find_at_once_are_one_alarm(db, tmp_path):
    with Hook() as hook, two_servers(db, tmp_path, hook) as (name, one, two):
        number = rule(two, "webhook")
        apis = one.api(), two.api()  # whose logins would take longer than all failures may, which is 10 s
        group = apis[0].add_group("nobody")
        jobs = [apis[0].add_job(group, "h") for _ in range(4 * RUNS)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda i: apis[i % 2].trigger(jobs[i]), range(len(jobs))))
        told, = wait_until(lambda: of_rule(hook, "/all", number), "a message of the rule", 60)
        assert (told["jobs"], told["open"]) == (len(jobs), len(jobs))
        # each fails again, at the other server: that is nothing new
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda i: apis[1 - i % 2].trigger(jobs[i]), range(len(jobs))))
        wait_closed(db, name, 2 * len(jobs) + 1)
        rows = db.run("SELECT jobs, open, events, told FROM peal_incident", name)
        assert rows == [(str(len(jobs)), str(len(jobs)), str(len(jobs)), "1")]
        assert len(of_rule(hook, "/all", number)) == 1


def test_a_job_recovers_at_another_server_than_it_failed_at(db, tmp_path):
    with Hook() as hook, two_servers(db, tmp_path, hook) as (name, one, two), Puppet(two, "tests", register=False) as puppet:
        api = two.api()
        job = api.add_job(api.add_group("tests", addresses=[puppet.address]), "h")
        number = rule(two, "webhook")
        puppet.center, puppet.result = one, lambda run: {"handleCode": 500, "handleMsg": "no"}
        wait_until(lambda: known(one), "the group's executor at the other server")
        one.api().trigger(job)
        opened, = wait_until(lambda: of_rule(hook, "/all", number), "a message of the rule", 60)
        assert opened["state"] == "opened"
        wait_closed(db, name, 2)  # or the other one would tell it again
        one.kill()
        puppet.center, puppet.result = two, lambda run: {"handleCode": 200, "handleMsg": "ok"}
        wait_for(two, one="dead", two="up")
        api.trigger(job)
        closed = wait_until(lambda: of_rule(hook, "/all", number)[1:], "the end of the alarm", 60)
        assert [m["state"] for m in closed] == ["closed"] and closed[0]["key"] == opened["key"]


def test_channels_rules_silences_and_requests_count_at_every_server(db, tmp_path):
    with Hook() as hook, two_servers(db, tmp_path, hook) as (name, one, two):
        groups = [one.api().add_group(f"nobody {i}") for i in range(3)]
        jobs = [one.api().add_job(group, "h") for group in groups]
        made = channel(two, hook.url + "/first", "night")
        number = rule(two, "night")
        until_ms = int(time.time() * 1000) + 3600000
        silence = V1(two).ask("POST", "/alarm-silences", {"groupId": groups[1], "reason": "mends", "untilMs": until_ms})
        assert silence.status == 201
        wait_until(lambda: V1(one).get("/alarm-channels")["items"], "the channel at the other server")
        fail(two, jobs[1])
        fail(two, jobs[0])
        told, = wait_until(lambda: of_rule(hook, "/first", number), "a message of the rule", 60)
        assert told["groupId"] == groups[0] and told["state"] == "opened"
        wait_closed(db, name, 3)  # and one of each run
        alarms = V1(one).get(f"/alarms?rule={number}")["items"]
        assert {a["group"]["id"]: a["messages"] for a in alarms} == {groups[0]: 1, groups[1]: 0}
        assert (sent(one), sent(two)) == (3, 0)

        # a request, and another address, at the server that does not send
        path = f"/alarm-channels/{made.json['id']}"
        for center in (one, two):
            assert V1(center).ask("POST", path + "/test").json["outcome"] == "sent"
        changed = V1(two).ask("PATCH", path, {"settings": {"url": hook.url + "/second"}}, If_Match=made.etag)
        assert changed.status == 200
        delivery, = V1(two).pages("/alarm-deliveries", channel="night")
        fail(two, jobs[2])
        other, = wait_until(lambda: of_rule(hook, "/second", number), "a message to the other address", 60)
        assert other["groupId"] == groups[2]
        wait_closed(db, name, 5)
        assert V1(two).ask("POST", f"/alarm-deliveries/{delivery['id']}/resend").status == 200
        again = wait_until(lambda: of_rule(hook, "/second", number)[1:], "the message again", 30)[0]
        assert again["key"] == told["key"] and again["id"] != told["id"]
        wait_closed(db, name, 5)
        assert len(of_rule(hook, "/first", number)) == 1 and len(of_rule(hook, "/second", number)) == 2
        assert (sent(one), sent(two)) == (6, 0)


def test_what_is_old_is_deleted_by_one_server(db, tmp_path):
    with Hook() as hook, two_servers(db, tmp_path, hook) as (name, one, two):
        job = one.api().add_job(one.api().add_group("nobody"), "h")
        done = "log rows deleted so far"
        for center, other in (one, two), (two, None):
            fail(two, job)
            wait_until(lambda: db.number("SELECT count(*) FROM xxl_job_log", name) == 1, "the run")
            assert V1(two).ask("POST", "/runs/clean", {"rule": "all", "jobId": job, "dryRun": False}).status == 200
            wait_until(lambda: db.number("SELECT count(*) FROM xxl_job_log", name) == 0, "the row to be deleted", 30)
            assert done in center.tail(10000)
            if other:
                assert done not in other.tail(10000)
                one.kill()


def test_each_server_tells_of_itself(db, tmp_path):
    with Hook() as hook, two_servers(db, tmp_path, hook) as (_, one, two):
        number = rule(two, "webhook", "center")
        db.kill()
        for center in (one, two):
            wait_until(lambda c=center: not c.answers("/readyz"), "a commit that fails", 30)
        db.start()
        for state in "opened", "closed":  # a machine that is busy tells of its horizon as well
            told = wait_until(lambda s=state: len(found := [m for m in of_rule(hook, "/all", number)
                                                            if (m["state"], m["event"]) == (s, "center.database")]) >= 2
                              and found, f"what has {state}", 120)
            assert {m["cause"].split(":")[0] for m in told} == {"server one", "server two"}
            assert len(told) == 2, told
        checks = wait_until(lambda: [a["check"] for a in V1(one).get(f"/alarms?rule={number}")["items"]], "the alarms")
        assert checks.count("database") == 2 and set(checks) <= {"database", "horizon"}, checks
