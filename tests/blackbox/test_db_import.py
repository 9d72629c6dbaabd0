# SPDX-License-Identifier: Apache-2.0
"""peal db check and peal db import on the database of an XXL-JOB: what is wrong is said, what is there comes over, the
source stays as it is, and a center works on it."""
import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import tempfile
import time

import pytest

from support import mariadb, servers, webapi
from support.center import Center, binary
from support.java_admin import JavaAdmin, now_ms
from support.wait import PATIENCE, wait_until
from support.xxl_tables import make

pytestmark = pytest.mark.skipif(mariadb.missing() is not None and not os.environ.get("CI"),
                                reason="no MariaDB server here (apt-get install mariadb-server)")
ZONE_H = 8  # the admins' zone, in which they write datetimes


@pytest.fixture(scope="module")
def server():
    with tempfile.TemporaryDirectory(prefix="peal-my-") as folder, mariadb.MariaDB(folder + "/db") as it:
        db = it.connect("")
        db.run("CREATE USER reader@localhost")
        db.run("GRANT SELECT ON *.* TO reader@localhost")
        db.close()
        yield it


def peal(*args):
    got = subprocess.run([binary(), "db", *args, "--zone", "Asia/Shanghai"], capture_output=True, text=True, timeout=120 * PATIENCE)
    return got.returncode, got.stdout, got.stderr


def source(server, database):
    return server.url(database, "reader")


def wall(ms):
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(ms / 1000 + ZONE_H * 3600))


def fill(db, layout, now):
    """Two groups, three jobs, a script with a history, two users, a registration (twice where that is possible); 12,000
    rows of the log, one a minute back from now, and an old one."""
    name, title = ("name", "name") if layout == "3.5" else ("job_desc", "title")
    db.run("UPDATE xxl_job_group SET address_list = 'http://10.0.0.1:9999/', update_time = %s", wall(now))
    db.run(f"INSERT INTO xxl_job_group (id, app_name, {title}, address_type) VALUES (7, 'other', '其他', 1)")
    columns = (f"id, job_group, {name}, add_time, update_time, author, schedule_type, schedule_conf, executor_route_strategy, "
               "executor_handler, executor_param, executor_block_strategy, executor_fail_retry_count, glue_type, glue_source, "
               "glue_updatetime, child_jobid, trigger_status, trigger_last_time, trigger_next_time")
    following = (now // 86_400_000 + 2) * 86_400_000 - (ZONE_H - 3) * 3_600_000  # 03:00 there, the day after tomorrow
    year = time.gmtime(following / 1000 + ZONE_H * 3600)
    for row in ((11, 1, "每天 'three'", wall(now - 5000), wall(now), "ann", "CRON", f"0 0 3 {year.tm_mday} {year.tm_mon} ? *",
                 "CONSISTENT_HASH", "demo", 'a\\b "c"\n', "DISCARD_LATER", 3, "BEAN", None, None, "40", 1, now - 1000, following),
                (40, 7, "script", wall(now), wall(now), "", "FIX_RATE", "60", "FIRST", "", None, "SERIAL_EXECUTION", 0,
                 "GLUE_SHELL", "echo 😀", wall(now), "", 0, 0, 0),
                (41, 7, "none", None, None, None, "NONE", None, None, None, None, None, 0, "BEAN", None, None, None, 0, 0, 0)):
        db.run(f"INSERT INTO xxl_job_info ({columns}) VALUES ({', '.join(['%s'] * 20)})", *row)
    db.run("INSERT INTO xxl_job_logglue (job_id, glue_type, glue_source, glue_remark, add_time, update_time) VALUES "
           "(40, 'GLUE_SHELL', 'echo 1', 'first', %s, %s)", wall(now), wall(now))
    db.run("INSERT INTO xxl_job_user (id, username, password, role, permission) VALUES (9, 'bob', MD5('secret-of-bob'), 0, '7')")
    for _ in range(2 if layout == "2.3" else 1):
        db.run("INSERT INTO xxl_job_registry (registry_group, registry_key, registry_value, update_time) VALUES "
               "('EXECUTOR', 'xxl', 'http://10.0.0.1:9999/', %s)", wall(now))
    db.run("INSERT INTO xxl_job_log (job_group, job_id, executor_address, executor_param, trigger_time, trigger_code, "
           "trigger_msg, handle_time, handle_code, handle_msg) SELECT 1, 11, 'http://10.0.0.1:9999/', NULL, "
           "CAST(%s AS DATETIME) - INTERVAL 12000 - seq MINUTE, 200, '触发', NULL, IF(seq MOD 100, 200, 500), 'it''s' "
           "FROM seq_1_to_12000", wall(now))
    db.run("INSERT INTO xxl_job_log (job_group, job_id, trigger_time, trigger_code, handle_code) VALUES (1, 11, "
           "'2020-01-01 00:00:00', 200, 200)")
    return following


def dump(db, database):
    tables = [row[0] for row in db.run("SELECT table_name FROM information_schema.tables WHERE table_schema = %s", database)]
    return {table: db.run(f"SELECT * FROM {database}.{table}") for table in tables}


def jobs_of(api, group=-1):
    return api.pages("/jobinfo/pageList", jobGroup=group, triggerStatus=-1, jobDesc="", executorHandler="", author="")


@pytest.mark.parametrize("layout", ["2.3", "3.5"])
def test_what_is_there_comes_over(server, tmp_path, layout):
    db = server.connect("")
    database = "from" + layout.replace(".", "")
    make(db, database, layout)
    now = now_ms() // 1000 * 1000
    following = fill(db, layout, now)
    before = dump(db, database)
    status, out, err = peal("check", "--db", source(server, database))
    assert (status, err) == (1 if layout == "2.3" else 0, "")
    assert "2 groups, 3 jobs, 1 of them running, 2 users; refused by Peal: 0; another next time: 0; without a next time: 0" in out
    data = tmp_path / "data"
    everything = "12000 log rows, 2 groups, 3 jobs, 3 next times, 1 scripts, 2 users, 1 registrations"
    status, out, err = peal("import", "--from", source(server, database), "--data", str(data), "--history", "30", "--dry-run")
    assert (status, err) == (0, "") and f"{everything}; nothing was written" in out
    status, out, err = peal("import", "--from", source(server, database), "--data", str(data), "--history", "30")
    assert (status, err) == (0, "") and f"{everything}; written, read again and found equal" in out
    status, out, err = peal("import", "--from", source(server, database), "--data", str(data))
    assert status == 2 and "the target is not empty" in err and out == ""
    assert dump(db, database) == before
    db.close()
    with Center(data.parent, ["--zone", "Asia/Shanghai"]) as center:
        admin = webapi.WebApi(center.port, "3.3", "admin", "123456")
        jobs = {job["id"]: job for job in jobs_of(admin)}
        assert sorted(jobs) == [11, 40, 41]
        assert jobs[11]["jobDesc"] == "每天 'three'" and jobs[11]["executorParam"] == 'a\\b "c"\n'
        assert (jobs[11]["triggerStatus"], jobs[11]["triggerNextTime"], jobs[11]["childJobId"]) == (1, following, "40")
        assert (jobs[40]["triggerStatus"], jobs[40]["glueSource"], jobs[40]["jobGroup"]) == (0, "echo 😀", 7)
        assert admin.raw("/joblog/pageList", jobGroup=1, jobId=11, logStatus=-1, offset=0, pagesize=10,
                         filterTime="")["data"]["total"] >= 10_001
        since, until = wall(now - 3 * 60_000), wall(now)
        rows = admin.pages("/joblog/pageList", jobGroup=1, jobId=11, logStatus=-1, filterTime=f"{since} - {until}")
        assert [row["handleMsg"] for row in rows] == ["it's"] * 4 and rows[0]["handleCode"] == 500
        bob = webapi.WebApi(center.port, "3.3", "bob", "secret-of-bob")
        assert sorted(job["id"] for job in jobs_of(bob, 7)) == [40, 41]
        with pytest.raises(webapi.ApiError, match="permission"):
            jobs_of(bob, 1)
    with sqlite3.connect(data / "peal.db") as made:
        assert made.execute("SELECT add_time, update_time FROM xxl_job_info WHERE id = 11").fetchone() == (now - 5000, now)


def test_it_comes_over_to_mariadb_but_not_onto_itself(server):
    db = server.connect("")
    make(db, "to_mariadb", "2.5")
    fill(db, "2.5", now_ms() // 1000 * 1000)
    db.run("CREATE DATABASE target")
    before = dump(db, "to_mariadb")
    status, out, err = peal("import", "--from", source(server, "to_mariadb"), "--db", server.url("target"), "--history", "30")
    assert (status, err) == (0, "") and "12000 log rows, 2 groups, 3 jobs" in out
    status, out, err = peal("import", "--from", source(server, "to_mariadb"), "--db", server.url("to_mariadb"))
    assert status == 2 and "has the tables of XXL-JOB" in err and out == ""
    assert dump(db, "to_mariadb") == before
    db.close()


@pytest.mark.skipif(servers.missing("postgres") is not None and not os.environ.get("CI"), reason="no PostgreSQL server here")
def test_ids_go_on_behind_what_came_to_postgresql(server):
    db = server.connect("")
    make(db, "to_postgres", "3.4")
    fill(db, "3.4", now_ms() // 1000 * 1000)
    db.close()
    with servers.open("postgres") as target:
        status, out, err = peal("import", "--from", source(server, "to_postgres"), "--db", target.create("jobs"),
                                "--history", "30")
        assert (status, err) == (0, "") and "12000 log rows, 2 groups, 3 jobs" in out
        for table, last in (("xxl_job_log", 12000), ("xxl_job_info", 41), ("xxl_job_group", 7), ("xxl_job_user", 9)):
            assert target.run(f"SELECT nextval(pg_get_serial_sequence('{table}', 'id'))", "jobs") == [(str(last + 1),)]


def test_a_live_admin_is_not_doubled_and_bad_jobs_are_named(server, tmp_path):
    db = server.connect("")
    make(db, "busy", "3.4")
    for conf in ("0/1 * * * * ?", "0 0 0 1 * MON"):
        db.run("INSERT INTO xxl_job_info (job_group, job_desc, schedule_type, schedule_conf, glue_type, trigger_status, "
               "trigger_next_time) VALUES (1, 'busy', 'CRON', %s, 'BEAN', 1, %s)", conf,
               JavaAdmin.next_after("CRON", conf, now_ms()) if "/" in conf else 4_102_444_800_000)
    status, out, _ = peal("check", "--db", source(server, "busy"))
    assert status == 1 and "refused: job 2: cron: day-of-month" in out and "refused by Peal: 1" in out
    target = tmp_path / "peal.db"
    with JavaAdmin(lambda: server.connect("busy"), ZONE_H * 3600):
        wait_until(lambda: db.run("SELECT 1 FROM busy.xxl_job_log"), "the Java admin at work")
        status, _, err = peal("import", "--from", source(server, "busy"), "--db", f"sqlite:{target}")
        assert status == 2 and "a Java admin works on this database" in err and not target.exists()
        status, out, err = peal("import", "--from", source(server, "busy"), "--db", f"sqlite:{target}", "--stopped")
        assert (status, err) == (0, "") and "2 jobs" in out
    with sqlite3.connect(target) as made:
        assert made.execute("SELECT i.trigger_status, d.next_ms FROM xxl_job_info i JOIN peal_due d ON d.job_id = i.id"
                            ).fetchall() == [(0, None), (0, None)]
    db.close()


def insert_without_a_next_time(run, table):
    """As scripts insert jobs: on, with a next time of 0. Hourly, so that only the misfire strategy fires them now."""
    for job, kind, conf, misfire, next_ms in ((51, "CRON", "0 0 0 1 1 ?", "FIRE_ONCE_NOW", 0), (52, "CRON", "0 0 0 1 1 ?", "DO_NOTHING", 0),
                                              (53, "FIX_RATE", "1", "DO_NOTHING", -1), (54, "CRON", "0/1 * * * * ?", "DO_NOTHING", 0)):
        run(f"INSERT INTO {table} (id, job_group, job_desc, schedule_type, schedule_conf, misfire_strategy, glue_type, "
            "executor_handler, executor_route_strategy, executor_block_strategy, trigger_status, trigger_next_time) VALUES "
            "(%s, 1, 'made by a script', %s, %s, %s, 'BEAN', 'demo', 'FIRST', 'SERIAL_EXECUTION', 1, %s)", job, kind, conf,
            misfire, next_ms)


def test_jobs_without_a_next_time_are_named_and_fire(server, tmp_path):
    db = server.connect("")
    make(db, "unsaid", "3.4")
    insert_without_a_next_time(db.run, "xxl_job_info")
    status, out, _ = peal("check", "--db", source(server, "unsaid"))
    assert status == 1 and "without a next time: 4" in out and "job 53 is on and its trigger_next_time is -1" in out
    data = tmp_path / "data"
    status, _, err = peal("import", "--from", source(server, "unsaid"), "--data", str(data))
    assert (status, err) == (0, "")
    db.close()
    with Center(data.parent, ["--zone", "Asia/Shanghai"]) as center:
        admin = webapi.WebApi(center.port, "3.3", "admin", "123456")
        for job in (51, 53, 54):  # there is no executor: their rows say so
            wait_until(lambda: admin.logs(job), f"job {job} to fire")
        assert admin.logs(52) == []
        times = {job["id"]: job["triggerNextTime"] for job in jobs_of(admin)}
        assert all(times[job] > now_ms() for job in (51, 52)), times


def test_what_cannot_be_read_is_refused(server, tmp_path):
    db = server.connect("")
    make(db, "old", "2.2")
    db.close()
    for what, says in ((source(server, "old"), "2.2 or older"), (source(server, "nowhere"), "nowhere"),
                       ("postgres://localhost/x", "MySQL or MariaDB"), ("mysql://localhost", "database")):
        status, out, err = peal("import", "--from", what, "--db", f"sqlite:{tmp_path}/x.db")
        assert status == 2 and says in err and out == "" and not (tmp_path / "x.db").exists(), (what, err)
    assert peal("import")[0] == 2 and peal("check")[0] == 2 and peal("mend")[0] == 2


LONG = 40_000  # rows of the log, for an import that takes long enough to be cut off in it
EPOCH_S = {"sqlite": "trigger_time / 1000", "mariadb": "TIMESTAMPDIFF(SECOND, '1970-01-01', trigger_time)",
           "postgres": "extract(epoch FROM trigger_time)::bigint"}


class Target:
    """A new database of one kind, looked at from outside."""

    def __init__(self, kind, server, postgres, folder):
        self.kind, self.postgres, self.name = kind, postgres, f"cut_{kind}"
        self.file = folder / "peal.db"
        if kind == "sqlite":
            self.url = f"sqlite:{self.file}"
        elif kind == "postgres":
            self.url = postgres.create(self.name)
        else:
            self.db = server.connect("")
            self.db.run(f"CREATE DATABASE {self.name}")
            self.db.run(f"USE {self.name}")
            self.url = server.url(self.name)

    def run(self, sql):
        if self.kind == "sqlite":
            with sqlite3.connect(self.file, timeout=60) as file:
                rows = file.execute(sql).fetchall()
            file.close()
        else:
            rows = self.postgres.run(sql, self.name) if self.kind == "postgres" else self.db.run(sql)
        return [tuple(None if value is None else str(value) for value in row) for row in rows]

    def reached(self, rows):
        try:
            return int(self.run("SELECT coalesce(max(id), 0) FROM xxl_job_log")[0][0]) >= rows
        except Exception:  # pylint: disable=broad-except
            return False  # the tables are not there yet

    def log(self):
        return self.run(f"SELECT id, job_group, job_id, {EPOCH_S[self.kind]}, trigger_code, handle_code, handle_msg "
                        "FROM xxl_job_log ORDER BY id")


def cut_off(target, at, how, *args):
    """False: it had ended first."""
    with subprocess.Popen([binary(), "db", "import", *args, "--zone", "Asia/Shanghai"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        wait_until(lambda: process.poll() is not None or target.reached(at), f"{at} rows in the target", 60)
        process.send_signal(how)
        said = process.stdout.read()
    assert process.returncode in (0, -how), said
    return process.returncode != 0


@pytest.mark.parametrize("kind", ["sqlite", "mariadb", "postgres"])
def test_an_import_that_is_cut_off_goes_on(server, tmp_path, kind):
    """By SIGKILL and SIGTERM, at four places; the source's log goes on meanwhile, as that of a live XXL-JOB does."""
    if kind == "postgres" and servers.missing("postgres") is not None and not os.environ.get("CI"):
        pytest.skip("no PostgreSQL server here")
    database, now = f"long_{kind}", now_ms() // 1000 * 1000
    source_db = server.connect("")
    make(source_db, database, "3.4")
    for i in (1, 2):  # the second one is another source
        if i == 2:
            make(source_db, database + "2", "3.4")
        source_db.run("INSERT INTO xxl_job_log (job_group, job_id, trigger_time, trigger_code, handle_code, handle_msg) "
                      f"SELECT 1, seq MOD 50, CAST(%s AS DATETIME) - INTERVAL {LONG} - seq SECOND, 200, 0, "
                      f"CONCAT('line ', seq) FROM seq_1_to_{LONG if i == 1 else 10}", wall(now))
    source_db.run(f"USE {database}")
    source_db.run("DELETE FROM xxl_job_log WHERE id = 5500")  # of a transaction that has its id and commits later
    with servers.open("postgres") if kind == "postgres" else contextlib.nullcontext() as held:
        target = Target(kind, server, held, tmp_path)
        args = ("--from", source(server, database), "--db", target.url, "--history", "30", "--stopped")
        cuts = [cut_off(target, at, how, *args) for at, how in
                ((1, signal.SIGKILL), (9000, signal.SIGTERM), (17_000, signal.SIGKILL), (26_000, signal.SIGKILL))]
        assert any(cuts) and len(target.log()) < LONG
        refused_while_begun(server, target, database, args)
        source_db.run("UPDATE xxl_job_log SET handle_code = 200, handle_msg = 'later' WHERE id BETWEEN 2100 AND 2200")
        source_db.run("DELETE FROM xxl_job_log WHERE id <= 1500 OR id BETWEEN 5000 AND 5999 OR id = 8000")
        source_db.run("INSERT INTO xxl_job_log (id, job_group, job_id, trigger_time, trigger_code, handle_code, handle_msg) "
                      "VALUES (5500, 1, 1, %s, 200, 0, 'held back'), (%s, 1, 1, %s, 200, 0, 'new')", wall(now), LONG + 1,
                      wall(now))
        status, out, err = peal("import", *args)
        assert (status, err) == (0, "") and re.search(r"found equal \(sum [0-9a-f]{16}\)", out), out + err
        there = int(re.search(r"cut off: (\d+) log rows were there", out)[1])
        assert 0 < there < LONG
        expected = [tuple(None if value is None else str(value) for value in row) for row in source_db.run(
            "SELECT id, job_group, job_id, TIMESTAMPDIFF(SECOND, '1970-01-01', trigger_time) - %s, trigger_code, handle_code, "
            f"handle_msg FROM {database}.xxl_job_log ORDER BY id", ZONE_H * 3600)]
        assert len(expected) == LONG - 1500 - 1000 - 1 + 2 and target.log() == expected
        assert target.run("SELECT count(*) FROM peal_seq WHERE name LIKE 'import%'") == [("0",)]
        status, out, err = peal("import", *args)
        assert status == 2 and "the target is not empty" in err and out == ""
        with Center(tmp_path / "center", ["--db", target.url, "--zone", "Asia/Shanghai"]) as center:
            page = webapi.WebApi(center.port, "3.3", "admin", "123456").raw(
                "/joblog/pageList", jobGroup=0, jobId=0, logStatus=-1, filterTime="", offset=0, pagesize=10)["data"]
            assert page["data"][0]["handleMsg"] == "new"
    source_db.close()


def refused_while_begun(server, target, database, args):
    """No server starts on the part, nothing else is imported into it, and a source that is not the one is told."""
    for changed, says in (({"--from": source(server, database + "2")}, "from another database than this"),
                          ({"--history": "29"}, "with --history 30"), ({"--history": None}, "with --history 30")):
        given = [part for i in range(0, 6, 2) for part in (args[i], changed.get(args[i], args[i + 1])) if
                 changed.get(args[i], "") is not None]
        status, out, err = peal("import", *given, "--stopped")
        assert status == 2 and says in err and "name a new database" in err and out == "", err
    status, out, err = peal("import", *args, "--dry-run")
    assert status == 2 and "nothing to try" in err
    status, out, err = peal("import", *args, "--log-zone", "Asia/Tokyo")
    assert status == 2 and "another zone of the datetimes" in err
    with contextlib.closing(server.connect(database)) as db:  # another run under an id that is there
        db.run("UPDATE xxl_job_log SET job_id = job_id + 1 WHERE id = 3")
        status, out, err = peal("import", *args)
        db.run("UPDATE xxl_job_log SET job_id = job_id - 1 WHERE id = 3")
    assert status == 2 and "another run under the id 3" in err
    center = Center(target.file.parent / "refused", ["--db", target.url])
    center.launch()
    assert center.process.wait(60 * PATIENCE) != 0
    assert "an import into this database has begun" in center.output.read_text()
