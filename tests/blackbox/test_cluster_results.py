# SPDX-License-Identifier: Apache-2.0
"""Several servers on one database: a result counts, whichever of them it comes to, and whatever dies then."""

import collections
import contextlib
import pathlib
import signal
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support.cluster import database, fresh, node, unaccounted, wait_for  # noqa: E402, F401 (a fixture)
from support.puppet import Puppet  # noqa: E402
from support.standin import YES  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import wait_until  # noqa: E402

RUNS = 20


class Elsewhere(Puppet):
    """An executor whose results go to a server that does not own the run."""

    def __init__(self, db, name, *centers, automatic=True):
        super().__init__(centers[0], "tests", register=False, automatic=automatic)
        self.db, self.name, self.centers = db, name, centers  # in the order of their numbers
        self.result = lambda run: {"handleCode": 200, "handleMsg": f"done {run['logId']}"}
        self.took = {}  # log id: the server that took its result

    def report(self, run, **result):
        owner = self.db.number(f"SELECT node FROM peal_run WHERE log_id = {run['logId']}", self.name)
        other = next(c for i, c in enumerate(self.centers, 1) if i != owner)
        self.took[run["logId"]] = other
        tell(self, other, run, **result)


def tell(puppet, center, run, **result):
    """A callback that the server has to take the first time."""
    puppet.ended.add(run["logId"])
    item = {"logId": run["logId"], "logDateTim": run["logDateTime"], **(result or puppet.result(run))}
    reply = center.open_api("callback", [item])
    assert reply["code"] == 200, reply


@contextlib.contextmanager
def two_servers(db, tmp_path, automatic=True, settings=()):
    """The database's name, both servers, an executor that both know, and its group."""
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one", settings=settings) as one:
        two = node(tmp_path / "b", url, "two", settings=settings)
        with Elsewhere(db, name, one, two, automatic=automatic) as puppet:
            group = one.api().add_group("tests", addresses=[puppet.address])
            with puppet.centers[1] as two:
                wait_for(two, one="up", two="up")
                yield name, one, two, puppet, group


def live(db, name):
    return db.number("SELECT count(*) FROM peal_run WHERE phase <= 4", name)


def inbox(db, name):
    return db.number("SELECT count(*) FROM peal_inbox", name)


def ended(db, name, job):
    return db.run(f"SELECT id, handle_code, handle_msg FROM xxl_job_log WHERE job_id = {job} ORDER BY id", name)


def check_books(db, name):
    wait_until(lambda: inbox(db, name) == 0, "the inbox to be empty", 30)
    assert unaccounted(db, name) == 0
    assert db.number("SELECT sum(late) FROM peal_epoch", name) == 0, "a result was noted as late"


# servers that reach each other, and ones that do not: nothing listens at the address that each tells
@pytest.mark.parametrize("settings", [(), ("--node.address", "127.0.0.1:1")], ids=["direct", "inbox"])
def test_results_that_come_to_another_server_end_their_runs(db, tmp_path, settings):
    with two_servers(db, tmp_path, settings=settings) as (name, one, two, puppet, group):
        api = one.api()
        child = api.add_job(group, "child")
        parent = api.add_job(group, "parent", childJobId=str(child))
        shaky = api.add_job(group, "fails once", executorFailRetryCount=1, retryDelayMs=0)
        failed = set()

        def result(run):
            if run["jobId"] != shaky or run["executorParams"] in failed:
                return {"handleCode": 200, "handleMsg": f"done {run['logId']}"}
            failed.add(run["executorParams"])
            return {"handleCode": 500, "handleMsg": f"failed {run['logId']}"}
        puppet.result = result
        for i in range(RUNS):
            center = (one, two)[i % 2]
            center.api().trigger(parent, param=f"p{i}")
            center.api().trigger(shaky, param=f"s{i}")
        wait_until(lambda: len(puppet.took) == 4 * RUNS and live(db, name) == 0, "every run to end", 60)
        assert set(puppet.took.values()) == {one, two}
        took = collections.Counter(puppet.took.values())
        for center, other in (one, two), (two, one):  # whoever is told brings it to the other one, or leaves it
            def counted(name, center=center):
                return center.metric(f"peal_node_results_{name}_total")
            # the other one ends the run, and answers then; one that is answered late is left as well
            wait_until(lambda: counted("given") + counted("forwarded") == took[center], "each to be counted", 30)
            assert (counted("forwarded") > 0) == (not settings)
            assert counted("forwarded") <= counted("received", other)
            wait_until(lambda: counted("taken", other) == counted("given"), "all that was left to be taken", 30)
        for job, codes in (parent, {"200": RUNS}), (child, {"200": RUNS}), (shaky, {"200": RUNS, "500": RUNS}):
            rows = ended(db, name, job)
            for code, count in codes.items():
                found = [row for row in rows if row[1] == code]
                assert len(found) == count, rows
                word = "done" if code == "200" else "failed"
                assert [row[2] for row in found] == [f"{word} {row[0]}" for row in found]
            assert len(rows) == sum(codes.values()) == len(puppet.runs(job)), rows
        check_books(db, name)


def test_a_result_ends_its_run_after_its_owner_was_killed(db, tmp_path):
    with two_servers(db, tmp_path, automatic=False) as (name, one, two, puppet, group):
        job = one.api().add_job(group, "long")
        for _ in range(RUNS):
            two.api().trigger(job)
        runs = puppet.wait_for_runs(RUNS)
        accepted = f"SELECT count(*) FROM peal_run WHERE phase = 4 AND job_id = {job}"
        wait_until(lambda: db.number(accepted, name) == RUNS, "every run to be accepted", 30)
        asked = len(puppet.calls)
        two.process.send_signal(signal.SIGSTOP)  # so it does not read them
        for run in runs:
            tell(puppet, one, run)
        assert inbox(db, name) == RUNS
        two.kill()
        wait_until(lambda: live(db, name) == 0, "the runs to end", 30)
        assert ended(db, name, job) == [(str(r["logId"]), "200", f"done {r['logId']}") for r in
                                        sorted(runs, key=lambda r: r["logId"])]
        assert puppet.calls[asked:] == [], "the executor was asked about what had been said"
        check_books(db, name)


def test_a_result_ends_its_run_after_the_server_that_took_it_was_killed(db, tmp_path):
    with two_servers(db, tmp_path, automatic=False) as (name, one, two, puppet, group):
        job = one.api().add_job(group, "long")
        two.api().trigger(job)
        run = puppet.wait_for_runs(1)[0]
        two.process.send_signal(signal.SIGSTOP)
        tell(puppet, one, run)
        one.kill()  # nobody is left who could end the other's epoch
        assert inbox(db, name) == 1
        two.process.send_signal(signal.SIGCONT)
        wait_until(lambda: live(db, name) == 0, "the run to end", 30)
        assert ended(db, name, job) == [(str(run["logId"]), "200", f"done {run['logId']}")]
        check_books(db, name)


def waiting(db):
    """Transactions that wait for a lock."""
    if db.kind == "postgres":
        return db.number("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted", "")
    return int(db.run("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")[0][1])


def test_a_result_of_a_run_that_is_over_is_noted_once(db, tmp_path):
    with two_servers(db, tmp_path, automatic=False) as (name, one, two, puppet, group):
        job = one.api().add_job(group, "given up")
        two.api().trigger(job)
        log = puppet.wait_for_runs(1)[0]["logId"]
        two.process.send_signal(signal.SIGSTOP)
        tell(puppet, one, puppet.runs()[0])
        assert inbox(db, name) == 1
        # its run ends in another way: both servers find the row
        db.run(f"UPDATE xxl_job_log SET handle_code = 500, handle_msg = 'lost: given up' WHERE id = {log}", name)
        with contextlib.closing(db.snapshot(name)) as link:  # and want it at the same time
            link.run("COMMIT")
            link.run("BEGIN")
            link.run(f"SELECT id FROM xxl_job_log WHERE id = {log} FOR UPDATE")
            db.run(f"DELETE FROM peal_run WHERE log_id = {log}", name)
            two.process.send_signal(signal.SIGCONT)
            wait_until(lambda: waiting(db) >= 2, "both servers to wait for the row", 60, 0.02)
            link.run("ROLLBACK")
        wait_until(lambda: inbox(db, name) == 0, "the inbox to be empty", 30)
        noted = f"SELECT count(*) FROM xxl_job_log WHERE handle_msg LIKE 'lost: given up%late result%code 200: done {log}'"
        assert db.number(noted, name) == 1
        assert db.number(f"{noted} AND handle_msg LIKE '%late result%late result%'", name) == 0
        assert db.number("SELECT sum(late) FROM peal_epoch", name) == 1


def end_of(db, name, log):
    """Code and beginning of the message, when the run has ended."""
    def ended():
        row = db.run(f"SELECT handle_code, handle_msg FROM xxl_job_log WHERE id = {log} AND NOT EXISTS "
                     f"(SELECT 1 FROM peal_run WHERE log_id = {log})", name)
        return row and row[0]
    return wait_until(ended, f"run {log} to end", 30)


def test_a_kill_at_another_server_ends_the_run(db, tmp_path):
    with two_servers(db, tmp_path, automatic=False) as (name, one, two, puppet, group):
        job = one.api().add_job(group, "long")
        for _ in range(3):
            two.api().trigger(job)
        by_v1, by_form, kept = (run["logId"] for run in puppet.wait_for_runs(3))
        accepted = f"SELECT count(*) FROM peal_run WHERE phase = 4 AND job_id = {job}"
        wait_until(lambda: db.number(accepted, name) == 3, "the runs to be accepted", 30)
        assert V1(one).ask("POST", f"/runs/{by_v1}/kill").json["outcome"] == "killed"
        assert end_of(db, name, by_v1)[0] == "500"
        assert end_of(db, name, by_v1)[1].startswith("killed by a user")
        assert [c.body["jobId"] for c in puppet.of("kill")] == [job]
        assert V1(one).ask("POST", f"/runs/{by_v1}/kill").json["outcome"] == "ended_before"
        one.api().log_kill(by_form)
        assert end_of(db, name, by_form)[1].startswith("killed by a user")
        # what the executor refuses is told
        puppet.answer = lambda action, body: {"code": 500, "msg": "not this one"} if action == "kill" else YES
        reply = V1(one).ask("POST", f"/runs/{kept}/kill")
        assert reply.status == 504 and "not this one" in reply.json["detail"], reply
        assert live(db, name) == 1
        tell(puppet, one, puppet.runs()[2])
        wait_until(lambda: live(db, name) == 0, "the last run to end", 30)
        check_books(db, name)


def test_a_kill_is_done_by_the_server_that_takes_the_run_over(db, tmp_path):
    with two_servers(db, tmp_path, automatic=False) as (name, one, two, puppet, group):
        job = one.api().add_job(group, "long")
        two.api().trigger(job)
        log = puppet.wait_for_runs(1)[0]["logId"]
        wait_until(lambda: db.number("SELECT count(*) FROM peal_run WHERE phase = 4", name) == 1, "it to be accepted", 30)
        two.process.send_signal(signal.SIGSTOP)
        reply = V1(one).ask("POST", f"/runs/{log}/kill")
        assert reply.status in (200, 504), reply  # it waits for 4 s; the other one is given up after 3
        assert end_of(db, name, log)[1].startswith("killed by a user")
        two.kill()
        assert unaccounted(db, name) == 0
