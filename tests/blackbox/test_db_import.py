# SPDX-License-Identifier: Apache-2.0
"""peal db check and peal db import on the database of an XXL-JOB: what is wrong is said, what is there comes over, the
source stays as it is, and a center works on it."""
import os
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
    assert "2 groups, 3 jobs, 1 of them running, 2 users; refused by Peal: 0; another next time: 0" in out
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


def test_what_cannot_be_read_is_refused(server, tmp_path):
    db = server.connect("")
    make(db, "old", "2.2")
    db.close()
    for what, says in ((source(server, "old"), "2.2 or older"), (source(server, "nowhere"), "nowhere"),
                       ("postgres://localhost/x", "MySQL or MariaDB"), ("mysql://localhost", "database")):
        status, out, err = peal("import", "--from", what, "--db", f"sqlite:{tmp_path}/x.db")
        assert status == 2 and says in err and out == "" and not (tmp_path / "x.db").exists(), (what, err)
    assert peal("import")[0] == 2 and peal("check")[0] == 2 and peal("mend")[0] == 2
