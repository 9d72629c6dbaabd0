# SPDX-License-Identifier: Apache-2.0
"""A center whose database is a server: MariaDB, PostgreSQL, each started once for this file. One server at a time uses
it; what the database or the center does not survive loses and doubles nothing."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
from concurrent import futures

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import servers, webapi  # noqa: E402
from support.center import Center, binary, clean_environment  # noqa: E402
from support.cluster import database, fresh, settled  # noqa: E402, F401 (a fixture)
from support.puppet import Puppet  # noqa: E402
from support.v1 import V1, problem  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402


def tables_of(db, name):
    return db.run(f"SELECT table_name FROM information_schema.tables WHERE table_schema IN ('public', '{name}')", name)


def center_on(folder, url, **more):
    return Center(folder, ["--db", url], env={"PEAL_DB_PASSWORD": servers.PASSWORD, **more})


def each_second(api, **fields):
    job = api.add_job(api.add_group("tests"), "each second", scheduleType="CRON", scheduleConf="* * * * * ?", **fields)
    api.start_job(job)
    return job


def ended(db, name, job):
    return db.number(f"SELECT count(*) FROM xxl_job_log WHERE job_id = {job} AND handle_code = 200", name)


def wait_for_ends(db, name, job, more):
    want = ended(db, name, job) + more
    wait_until(lambda: ended(db, name, job) >= want, f"{more} further runs to end", 30)


def check_books(center, db, name, job):
    """Nothing is unaccounted for, and no scheduled time has two rows."""
    wait_until(lambda: center.metric("peal_firings_unaccounted") == 0, "the books to balance")
    assert db.number(f"SELECT count(*) - count(DISTINCT trigger_time) FROM xxl_job_log WHERE job_id = {job} "
                     "AND trigger_msg IS NULL", name) == 0


def wait_for_red(center, reason):
    """Until /readyz says that the database does not take writes, and why: what was under way may have met it otherwise."""
    def red():
        status, _, text = center.get("/readyz?verbose")
        assert status == 503 and reason in text.decode().lower(), text
        return True
    wait_until(red, "/readyz to turn red", 30)
    assert center.get("/livez")[0] == 200


def wait_for_green(center):
    wait_until(lambda: center.get("/readyz")[0] == 200, "/readyz to turn green", 60)


def refused(folder, *args, **env):
    """What a server that must not start says."""
    done = subprocess.run([str(binary()), "server", "--listen", "127.0.0.1:0", "--data", str(folder), "--token", "t",
                           *args], capture_output=True, text=True, timeout=60 * PATIENCE, check=False,
                          env=clean_environment(PEAL_RECORDER="none", PEAL_DB_PASSWORD=servers.PASSWORD, **env))
    assert done.returncode not in (0, -signal.SIGSEGV), done.stderr
    assert servers.PASSWORD not in done.stdout + done.stderr and servers.WRITTEN not in done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_center_lives_on_it_alone_and_comes_back(db, tmp_path):
    name, url = fresh(db)
    center = center_on(tmp_path / "a", url)
    with center, Puppet(center, "tests"):
        api = center.api()
        job = each_second(api)
        wait_for_ends(db, name, job, 2)
        assert center.metric("peal_database_beat_timestamp_seconds") > 0
        assert abs(center.metric("peal_database_clock_skew_seconds")) < 5
        # another one is told who has it, and changes nothing
        said = refused(tmp_path / "b", "--db", url)
        assert "in use by another server" in said and f"127.0.0.1:{center.port}" in said, said
        assert "another server" in refused(center.data, "--db", url)  # the same folder: the lock says it
        wait_for_ends(db, name, job, 1)
        center.restart()  # kill -9: the folder knows that the last life is over
        assert "looking for" not in center.output.read_text()
        wait_for_ends(db, name, job, 2)
        check_books(center, db, name, job)
        center.stop()
        assert db.number("SELECT count(*) FROM peal_epoch WHERE ended = 0", name) == 0
        center.start()  # on another machine it would need no wait either
        wait_for_ends(db, name, job, 1)
        check_books(center, db, name, job)


def test_the_log_names_the_session_that_holds_a_lock(db, tmp_path):
    name, url = fresh(db)
    if db.kind == "mariadb":  # without it the log says which right it takes
        db.run(f"GRANT PROCESS ON *.* TO '{servers.USER}'@'%'")
    with center_on(tmp_path / "a", url) as center, Puppet(center, "tests"):
        job = each_second(center.api())
        wait_for_ends(db, name, job, 1)
        with contextlib.closing(db.snapshot(name)) as other:
            number, = other.run("SELECT connection_id()" if db.kind == "mariadb" else "SELECT pg_backend_pid()")[0]
            other.run("UPDATE peal_epoch SET node = node WHERE ended = 0")
            wait_until(lambda: f"a lock was not to be had: session {number} of user root" in center.output.read_text(),
                       "the log to name the session", 60)
        wait_for_green(center)
        wait_for_ends(db, name, job, 2)
        check_books(center, db, name, job)


def test_who_was_taken_over_stops_by_itself(db, tmp_path):
    name, url = fresh(db)
    first = center_on(tmp_path / "a", url, PEAL_NODE_NAME="first")
    second = center_on(tmp_path / "b", url, PEAL_NODE_NAME="second")
    with second:  # so that it is stopped last
        second.stop()
        first.start()
        with Puppet(first, "tests"):
            job = each_second(first.api())
            wait_for_ends(db, name, job, 1)
            first.process.send_signal(signal.SIGSTOP)
            try:
                second.start(60)  # waits 3 s for a sign of life
                assert "looking for" in second.output.read_text()
            finally:
                first.process.send_signal(signal.SIGCONT)
            assert first.process.wait(60 * PATIENCE) == 3
            first._down = True
            assert "another server has opened the database" in first.tail()
            assert db.run("SELECT name, dead FROM peal_node ORDER BY name", name) == [("first", "1"), ("second", "0")]
        with Puppet(second, "tests"):
            wait_for_ends(db, name, job, 2)
            check_books(second, db, name, job)
            # started anew by a service manager: refused while the other one lives, then it has its turn
            assert "in use by another server" in refused(first.data, "--db", url)
            second.kill()
        with first, Puppet(first, "tests"):
            assert "looking for" in first.output.read_text()
            wait_for_ends(db, name, job, 2)
            assert db.run("SELECT name, dead FROM peal_node ORDER BY name", name) == [("first", "0"), ("second", "1")]
            check_books(first, db, name, job)


def ended_badly(db, name, job):
    """Runs of the job that nothing took, and those that are not over."""
    return (db.number(f"SELECT count(*) FROM xxl_job_log WHERE job_id = {job} AND trigger_code = 500", name),
            db.number(f"SELECT count(*) FROM peal_run WHERE job_id = {job}", name))


def test_a_server_of_another_name_goes_on_from_what_is_known_of_jobs(db, tmp_path):
    """A machine is replaced: its host's name is the node's. Failures in a row count on, and counts do not fall."""
    name, url = fresh(db)
    job, seen = None, 0
    for node in ("first", "first", "second", "first"):  # the row of a life is written in the next one
        with center_on(tmp_path / node, url, PEAL_NODE_NAME=node) as center:
            v1, api = V1(center), center.api()

            def failures(v1=v1):
                streak = v1.get(f"/jobs/{job}")["streak"]
                return streak["count"] if streak else 0
            if job:
                assert failures() == seen
                api.start_job(job)
            else:
                job = each_second(api)  # its group has no executor
            wait_until(lambda failures=failures, seen=seen: failures() >= seen + 2, "two more failures in a row", 60)
            api.stop_job(job)
            wait_until(lambda: ended_badly(db, name, job)[1] == 0, "nothing to be under way")
            wait_until(lambda failures=failures: failures() == ended_badly(db, name, job)[0], "each to count once")
            seen = failures()
        # what the job's row includes goes after five minutes, when all rows include it
        db.run(f"DELETE FROM peal_delta WHERE n <= (SELECT max(through) FROM peal_job_stat WHERE job_id = {job})", name)
    assert db.number("SELECT count(DISTINCT node) FROM peal_job_stat", name) == 2


def beat_of(db, name):
    return db.number("SELECT max(beat) FROM peal_node", name)


@pytest.mark.parametrize("change, said", [
    ("UPDATE peal_node SET dead = 1", "declared dead"),
    ("UPDATE peal_node SET beat = 0", "older copy"),
    ("DELETE FROM peal_node", "taken away"),
])
def test_a_beat_that_the_database_refuses_ends_the_server_at_once(db, tmp_path, change, said):
    """Also where no commit is refused: its epoch has not ended."""
    name, url = fresh(db)
    center = center_on(tmp_path / "a", url)
    with center:
        wait_until(lambda: beat_of(db, name) > 1, "a second beat", 30)
        db.run(change, name)
        assert center.process.wait(60 * PATIENCE) == 3
        center._down = True
        assert "this server stops at once" in center.tail() and said in center.tail(), center.tail()
        center.start()  # nothing stands in the way of the next life
        wait_until(lambda: beat_of(db, name) > 1, "a second beat of the next life", 30)


def test_beats_that_were_not_answered_are_no_reason_to_stop(db, tmp_path):
    name, url = fresh(db)
    with center_on(tmp_path / "a", url) as center:
        wait_until(lambda: beat_of(db, name) > 1, "a second beat", 30)
        before = beat_of(db, name)
        db.kill()
        wait_until(lambda: "no beat: " in center.output.read_text(), "a beat without an answer", 60)
        db.start()
        wait_until(lambda: "takes the beat again" in center.output.read_text(), "the beat to go on", 60)
        assert beat_of(db, name) > before
        assert db.number("SELECT max(mark_ms) FROM peal_node", name) > 0
        wait_for_green(center)


def nodes(center):
    return V1(center).get("/nodes")["items"]


def test_the_servers_of_a_database_are_listed(db, tmp_path):
    name, url = fresh(db)
    first = center_on(tmp_path / "a", url, PEAL_NODE_NAME='first "one"')
    second = center_on(tmp_path / "b", url, PEAL_NODE_NAME="second")
    with first:
        wait_until(lambda: beat_of(db, name) > 1, "a second beat", 30)
        node, = nodes(first)
        assert node["name"] == 'first "one"' and node["state"] == "up" and node["self"] is True
        assert node["address"] == f"127.0.0.1:{first.port}" and node["runs"] == 0 and abs(node["skewMs"]) < 5000
        assert node["startedMs"] <= node["beatMs"]
        wait_until(lambda: nodes(first)[0]["beatMs"] > node["beatMs"], "the next beat to be shown", 30)
        labels = f'node="{node["id"]}",epoch="{node["epoch"]}",name="first \\"one\\""'
        assert f"peal_node_info{{{labels}}} 1\n" in first.get("/metrics")[2].decode()
        wait_until(lambda: first.metric("peal_node_beats_total") > 1, "two beats to be counted", 30)
        assert first.metric("peal_node_beat_errors_total") >= 0 and first.metric("peal_node_beat_seconds") > 0
    with second:
        now, before = nodes(second)
        assert (now["name"], now["state"], now["self"]) == ("second", "up", True)
        assert (before["id"], before["state"], before["self"]) == (node["id"], "stopped", False)
        assert before["beatMs"] >= node["beatMs"]
        assert node["startedMs"] <= before["startedMs"] <= before["beatMs"]  # of the process; of its life in the database
        problem(V1(second).ask("GET", "/nodes?state=up"), 400, "malformed")
        assert [n["name"] for n in V1(second).pages("/nodes", limit=1)] == ["second", 'first "one"']
        second.kill()
    with first:
        assert [(n["name"], n["state"]) for n in nodes(first)] == [('first "one"', "up"), ("second", "dead")]
        done = subprocess.run([str(binary()), "ctl", "node", "list", "-o", "name", "--url", first.url, "--token-file", "-"],
                              input=V1(first).ask("POST", "/tokens", {"name": "nodes", "permissions": ["read"],
                                                                      "groups": None}).json["secret"], capture_output=True, text=True, check=False, timeout=60 * PATIENCE,
                              env=clean_environment())
        assert (done.stdout, done.stderr) == ('first "one"\nsecond\n', "")


def test_the_database_goes_and_comes_back(db, tmp_path):
    name, url = fresh(db)
    center = center_on(tmp_path / "a", url)
    with center, Puppet(center, "tests") as puppet:
        api = center.api()
        job = each_second(api)
        wait_for_ends(db, name, job, 1)
        puppet.automatic = False
        seen = len(puppet.runs())
        run = puppet.wait_for_runs(seen + 1)[seen]
        puppet.automatic = True
        db.kill()
        wait_for_red(center, "database")
        # the result is kept by the journal, and the executor told so
        reply = center.open_api("callback", [{"logId": run["logId"], "logDateTim": run["logDateTime"],
                                              "handleCode": 200, "handleMsg": "while it was away"}])
        assert reply["code"] == 200, reply
        db.start()
        wait_for_green(center)
        assert "takes writes again" in center.tail()
        wait_until(lambda: db.number(f"SELECT count(*) FROM xxl_job_log WHERE id = {run['logId']} "
                                     "AND handle_code = 200", name) == 1, "the kept result to arrive")
        wait_for_ends(db, name, job, 2)
        check_books(center, db, name, job)


def test_pages_are_read_at_once_when_the_database_is_back(db, tmp_path):
    """Each of those who read pages has a connection of its own, which has ended."""
    with center_on(tmp_path / "a", fresh(db)[1]) as center:
        api = V1(center)
        for _ in range(20):  # so that all of them have one
            api.get("/nodes")
        db.kill()
        db.start()
        wait_for_green(center)
        assert [api.ask("GET", "/nodes").status for _ in range(20)] == [200] * 20


def test_it_goes_on_when_the_database_takes_writes_again(db, tmp_path):
    name, url = fresh(db)
    center = center_on(tmp_path / "a", url)
    with center, Puppet(center, "tests"):
        job = each_second(center.api())
        wait_for_ends(db, name, job, 1)
        db.read_only(True)
        try:
            wait_for_red(center, "read-only")
        finally:
            db.read_only(False)
        wait_for_green(center)
        wait_for_ends(db, name, job, 1)
        with db.full():
            wait_for_red(center, "connections")
        wait_for_green(center)
        wait_for_ends(db, name, job, 1)
        check_books(center, db, name, job)


def test_what_cannot_work_is_refused_with_what_mends_it(db, tmp_path):
    name, url = fresh(db)
    assert servers.USER in refused(tmp_path, "--db", url, "--db.password", "wrong")
    assert "nosuch" in refused(tmp_path, "--db", url.replace(f"/{name}", "/nosuch"))
    assert "127.0.0.1:1/" in refused(tmp_path, "--db", url.replace(f":{db.port}", ":1"))
    assert "off, on or verify" in refused(tmp_path, "--db", f"{url}?tls=maybe")
    for command in (["backup", str(tmp_path / "out"), "--db", url], ["db", "compact", "--db", url],
                    ["restore", str(tmp_path / "in"), "--db", url]):
        done = subprocess.run([str(binary()), *command], capture_output=True, text=True, env=os.environ, check=False,
                              timeout=60 * PATIENCE)
        assert done.returncode and "dump" in done.stderr, (command, done.stderr)


@pytest.mark.parametrize("seconds", [60, -60])
def test_a_clock_that_is_far_from_the_databases_is_refused_at_the_start(db, tmp_path, seconds):
    name, url = fresh(db)
    with db.clock_ahead(name, seconds):
        said = refused(tmp_path / "a", "--db", url)
        assert ("ahead of" if seconds > 0 else "behind") + " this machine's" in said and "NTP" in said, said
        assert not [table for table, in tables_of(db, name) if table.startswith("peal_")]
        assert "NTP" in refused(tmp_path / "b", "--db", url, "--db.clock-skew", "10s")
        with center_on(tmp_path / "c", url, PEAL_DB_CLOCK_SKEW="0") as center:
            assert center.get("/readyz")[0] == 200


class Foreign:
    """Another program's session on the database, with transactions that hold rows of Peal's."""

    WAITS = {"mariadb": "SHOW GLOBAL STATUS WHERE variable_name = 'Innodb_row_lock_current_waits' AND value > 0",
             "postgres": "SELECT 1 FROM pg_locks WHERE NOT granted"}

    def __init__(self, db, name):
        self.db, self.name, self.link = db, name, db.snapshot(name)
        self.link.run("COMMIT")
        if db.kind == "postgres":  # which of two that wait for each other looks first has to give way: never this one
            self.link.run("SET deadlock_timeout = '1h'")
        else:  # which of them has changed fewer rows has to
            self.link.run("CREATE TABLE ballast (n int)")

    def close(self):
        self.link.close()

    def hold(self, rows):
        """In a new transaction."""
        self.link.run("BEGIN")
        if self.db.kind == "mariadb":
            self.link.run("INSERT INTO ballast SELECT seq FROM seq_1_to_2000")
        self.link.run(rows)

    def waited_for(self):
        """Until a transaction waits for what this one holds."""
        wait_until(lambda: self.link.run(self.WAITS[self.db.kind]), "a transaction to wait", 60, 0.02)

    def ask(self, tables):
        """For all rows: those that the transaction holds which waits, too."""
        for table in tables:
            self.link.run(f"SELECT * FROM {table} FOR UPDATE")

    def end(self):
        self.link.run("ROLLBACK")

    def deadlocks(self):
        """That the server has found so far."""
        if self.db.kind == "postgres":
            return self.db.number(f"SELECT deadlocks FROM pg_stat_database WHERE datname = '{self.name}'", self.name)
        return int(self.db.run("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")[0][1])

    def timeouts(self):
        """Waits for a lock that the server has given up so far."""
        if self.db.kind == "postgres":
            return (self.db.folder / "log").read_text().count("canceling statement due to lock timeout")
        return self.db.number("SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_timeouts'", "")


class Busy:
    """A center with jobs that fire each second, runs by hand, and another program's session."""

    def __init__(self, center, foreign, by_hand, threads):
        self.center, self.foreign, self.by_hand, self.threads = center, foreign, by_hand, threads
        self.api, self.asked = center.api(), []

    def trigger(self):
        """Ask for a run by hand; not waited for."""
        self.asked.append(self.threads.submit(self._trigger))

    def _trigger(self):
        try:
            self.api.trigger(self.by_hand)
            return True
        except webapi.ApiError as error:  # it may be done all the same, once
            assert "not confirmed in time" in str(error), error
            return False

    def answers(self):
        """Of each that was asked for, whether it was confirmed."""
        return [one.result(60 * PATIENCE) for one in self.asked]


@contextlib.contextmanager
def busy_center(db, folder):
    """A Busy. At the end each scheduled time was fired once, and so was each run by hand that was confirmed."""
    name, url = fresh(db)
    with (center_on(folder, url) as center, Puppet(center, "tests") as puppet, futures.ThreadPoolExecutor() as threads,
          contextlib.closing(Foreign(db, name)) as foreign):
        api = center.api()
        group = api.add_group("tests")
        jobs = [api.add_job(group, f"job {i}", scheduleType="CRON", scheduleConf="* * * * * ?", misfireStrategy="FIRE_ALL")
                for i in range(3)]
        busy = Busy(center, foreign, api.add_job(group, "by hand"), threads)
        for job in jobs:
            api.start_job(job)
        wait_for_ends(db, name, jobs[0], 1)
        yield busy
        answers = busy.answers()
        wait_for_green(center)
        wait_for_ends(db, name, jobs[0], 2)
        settled(db, name, puppet, api, jobs)
        ended_by_hand = db.run(f"SELECT id FROM xxl_job_log WHERE job_id = {busy.by_hand} AND handle_code = 200", name)
        sent = [run["logId"] for run in puppet.runs(busy.by_hand)]
        assert sorted(int(row) for row, in ended_by_hand) == sorted(sent)
        assert answers.count(True) <= len(sent) <= len(answers) and len(answers) > 0
        wait_until(lambda: center.metric("peal_firings_unaccounted") == 0, "the books to balance")


@contextlib.contextmanager
def patient(db):
    """PostgreSQL looks for deadlocks late enough that the other program has asked for its second lock by then."""
    if db.kind == "postgres":
        db.run(f"ALTER ROLE {servers.USER} SET deadlock_timeout = '1500ms'")
    yield
    if db.kind == "postgres":
        db.run(f"ALTER ROLE {servers.USER} RESET deadlock_timeout")


FENCE = "UPDATE peal_epoch SET node = node WHERE ended = 0"  # the last row that each transaction of the writer has


def test_a_batch_that_meets_another_program_in_a_deadlock_is_repeated(db, tmp_path):
    """Error 1213, SQLSTATE 40P01: Peal's transaction has rows of jobs or of runs, and waits for one more."""
    times = 10 if db.kind == "mariadb" else 1  # MariaDB finds it at once, PostgreSQL when one has waited for a while
    with patient(db), busy_center(db, tmp_path) as busy:
        began, ready = busy.foreign.deadlocks(), []

        def met():
            busy.foreign.hold(FENCE)
            if len(busy.asked) < times:
                busy.trigger()
            busy.foreign.waited_for()
            busy.foreign.ask(("peal_due", "peal_run", "xxl_job_log"))  # a batch that has none of these waits on: once more
            ready.append(busy.center.get("/readyz?verbose")[2].decode())  # while it is made again, and waits anew
            busy.foreign.end()
            assert busy.center.metric("peal_database_conflicts_total") >= times
            return True

        wait_until(met, f"{times} deadlocks", 120)
        assert not [said for said in ready if "another transaction was in the way" in said], ready
        wait_until(lambda: busy.foreign.deadlocks() >= began + times, "the server to have counted them")
        if db.kind == "mariadb":
            assert "10 transactions of the last minute met others and were repeated" in busy.center.output.read_text()


# a trigger that refuses a row of the log its deletion as a deadlock does
DEADLOCK = {
    "mariadb": ("CREATE TRIGGER deadlock BEFORE DELETE ON xxl_job_log FOR EACH ROW "
                "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'Deadlock found'", "DROP TRIGGER deadlock"),
    "postgres": ("CREATE FUNCTION deadlock() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'deadlock detected' "
                 "USING ERRCODE = '40P01'; END $$; CREATE TRIGGER deadlock BEFORE DELETE ON xxl_job_log FOR EACH ROW "
                 "EXECUTE FUNCTION deadlock()", "DROP TRIGGER deadlock ON xxl_job_log; DROP FUNCTION deadlock"),
}


@pytest.mark.parametrize("busy", [True, False])
def test_housekeeping_that_meets_another_transaction_is_repeated(db, tmp_path, busy):
    """In a batch, and on its own. It is counted as each other conflict, and is no failure."""
    name, url = fresh(db)
    make, undo = DEADLOCK[db.kind]
    with center_on(tmp_path, url) as center, Puppet(center, "tests"):
        api = center.api()
        job = each_second(api)
        gone = api.add_job(1, "gone")
        api.trigger(gone)
        wait_until(lambda: ended(db, name, gone) == 1, "a row of the log")
        wait_for_ends(db, name, job, 1)
        if not busy:
            api.stop_job(job)
        db.run(make, name)  # before there is something to delete, which this life may do at once
        api.delete_job(gone)
    left = f"SELECT count(*) FROM xxl_job_log WHERE job_id = {gone}"
    with center_on(tmp_path, url) as center, Puppet(center, "tests"):
        wait_until(lambda: center.metric("peal_database_conflicts_total") >= 2, "conflicts", 60)
        if busy:
            wait_until(lambda: center.metric("peal_commit_errors_total") >= 1, "a batch that was repeated", 60)
            wait_for_ends(db, name, job, 1)
        assert db.number(left, name) == 1
        db.run(undo, name)
        wait_until(lambda: db.number(left, name) == 0, "the row to go", 60)
        said = center.output.read_text()
        assert "housekeeping failed" not in said and "cannot commit" not in said, said


def test_a_batch_that_waits_too_long_for_a_lock_is_repeated(db, tmp_path):
    """Error 1205, of which MariaDB undoes the statement alone, and SQLSTATE 55P03: at the last statement, and before."""
    with busy_center(db, tmp_path) as busy:
        for rows in (FENCE, "SELECT * FROM peal_run FOR UPDATE"):
            wait_until(lambda: db.number("SELECT count(*) FROM peal_run", busy.foreign.name), "a run that is planned")
            began, errors = busy.foreign.timeouts(), busy.center.metric("peal_commit_errors_total")
            busy.foreign.hold(rows)
            busy.trigger()
            wait_for_red(busy.center, "(1205)" if db.kind == "mariadb" else "(55p03)")
            busy.foreign.end()
            assert busy.foreign.timeouts() > began and busy.center.metric("peal_commit_errors_total") > errors
            wait_for_green(busy.center)
        assert ("(1205)" if db.kind == "mariadb" else "(55P03)") in busy.center.output.read_text()
        assert busy.center.metric("peal_database_conflicts_total") == 0


@pytest.mark.skipif("postgres" not in servers.built(binary()), reason="built without PostgreSQL")
def test_the_first_error_of_a_transaction_is_the_one_that_is_told(tmp_path):
    """On PostgreSQL every statement behind it fails as well, and says only that (25P02)."""
    lacks = servers.missing("postgres")
    if lacks:
        pytest.skip(f"{lacks} is not installed: scripts/install-deps.sh database")
    with servers.open("postgres") as db:
        url = db.create("jobs").replace(f":{servers.WRITTEN}@", "@")
        with center_on(tmp_path, url) as center:
            api = center.api()
            db.run(f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM {servers.USER}", "jobs")  # also of their owner
            answer = api.raw("/jobgroup/insert", appname="tests", title="tests", addressType="0", addressList="")
            assert answer["code"] == 500 and "permission denied for sequence" in answer["msg"], answer
            assert "25P02" not in center.tail(400), center.tail()
            assert center.get("/readyz")[0] == 200  # the edit alone was refused
            db.run(f"GRANT SELECT, USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA public TO {servers.USER}", "jobs")
            assert api.add_group("tests") > 0
