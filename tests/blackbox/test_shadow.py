# SPDX-License-Identifier: Apache-2.0
"""peal shadow beside a live XXL-JOB: a real MariaDB, a model of the Java admin at work, and each kind of difference planted
once. Each is reported, and nothing else is; and nothing is written."""
import datetime
import json
import os
import re
import subprocess
import tempfile
import time

import pytest

from support import mariadb
from support.center import binary
from support.java_admin import JavaAdmin, now_ms
from support.wait import PATIENCE, wait_until
from support.xxl_tables import LAYOUTS, make

pytestmark = pytest.mark.skipif(mariadb.missing() is not None and not os.environ.get("CI"),
                                reason="no MariaDB server here (apt-get install mariadb-server)")
ADDRESSES = "http://10.0.0.1:9999/,http://10.0.0.2:9999/,http://10.0.0.3:9999/"
READER = "reader"


@pytest.fixture(scope="module")
def server():
    with tempfile.TemporaryDirectory(prefix="peal-my-") as folder, mariadb.MariaDB(folder + "/db") as it:
        db = it.connect("")
        db.run("CREATE USER reader@localhost IDENTIFIED BY 'a:b@c/d'")
        db.run("GRANT SELECT ON *.* TO reader@localhost")  # and nothing else
        db.close()
        yield it


def url(server, database, options=""):
    return server.url(database, READER, "a%3Ab%40c%2Fd", options)


def start(server, database, *args, options="", **extra):
    command = [binary(), "shadow", "--db", url(server, database, options), "--every", "1s", *args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **extra)


def end(process, timeout=120):
    out, err = process.communicate(timeout=timeout * PATIENCE)
    return process.returncode, out, err


def add_job(db, name, conf, kind="CRON", route="FIRST", column="job_desc", **more):
    values = {column: name, "job_group": 1, "schedule_type": kind, "schedule_conf": conf, "executor_route_strategy": route,
              "executor_block_strategy": "SERIAL_EXECUTION", "glue_type": "BEAN", "trigger_status": 1,
              "trigger_next_time": JavaAdmin.next_after(kind, conf, now_ms() + 5000) if "/" in conf or kind == "FIX_RATE" else 0,
              **more}
    return db.insert(f"INSERT INTO xxl_job_info ({', '.join(values)}) VALUES ({', '.join(['%s'] * len(values))})",
                     *values.values())


def checksums(db, database):
    """Of each table's rows, and its definition."""
    tables = [row[0] for row in db.run("SELECT table_name FROM information_schema.tables WHERE table_schema = %s", database)]
    return {t: (db.run(f"CHECKSUM TABLE {database}.{t}"), db.run(f"SHOW CREATE TABLE {database}.{t}")) for t in tables}


def statements(db, kept):
    """The server keeps what clients send from now on, or no more."""
    if kept:
        db.run("SET GLOBAL log_output = 'TABLE'")
        db.run("TRUNCATE mysql.general_log")
    db.run(f"SET GLOBAL general_log = {int(kept)}")


def said(db):
    """The statements of the shadows, of those that were kept."""
    return [row[0] for row in db.run("SELECT argument FROM mysql.general_log WHERE command_type = 'Query' AND "
                                     "user_host LIKE 'reader%'")]


@pytest.mark.parametrize("offset_h, zone, language", [(8, "Asia/Shanghai", "zh")])
def test_each_planted_difference_is_reported_and_nothing_else(server, offset_h, zone, language):
    db = server.connect("")
    make(db, "live", "3.4")
    db.run("UPDATE xxl_job_group SET address_list = %s", ADDRESSES)
    planted = {kind: add_job(db, kind, "0/3 * * * * ?") for kind in ("missing", "doubled", "executor")}
    planted["late"] = add_job(db, "late", "0/3 * * * * ?", route="LAST")
    planted["shard"] = add_job(db, "shard", "0/3 * * * * ?", route="SHARDING_BROADCAST")
    far_ms = int(datetime.datetime(2098, 12, 31, 24 - offset_h, tzinfo=datetime.timezone.utc).timestamp()) * 1000
    unexpected = add_job(db, "unexpected", "0 0 0 1 1 ? 2099", trigger_next_time=far_ms)
    next_one = add_job(db, "next", "0 30 5 * * ?", trigger_next_time=now_ms() + 3_600_000)
    refused = add_job(db, "refused", "0 0 0 1 * MON", trigger_next_time=now_ms() + 3_600_000)
    add_job(db, "broadcast", "0/2 * * * * ?", route="SHARDING_BROADCAST")
    add_job(db, "rate", "2", kind="FIX_RATE", trigger_next_time=now_ms() // 1000 * 1000 + 6700)
    add_job(db, "every second", "0/1 * * * * ?", route="FAILOVER")
    edited, stopped, deleted = (add_job(db, name, "0/2 * * * * ?") for name in ("edited", "stopped", "deleted"))
    manual = add_job(db, "manual", "0/2 * * * * ?", executor_fail_retry_count=2)
    started = add_job(db, "started", "0/2 * * * * ?", trigger_status=0, trigger_next_time=0)
    with JavaAdmin(lambda: server.connect("live"), offset_h * 3600, language) as admin:
        db.run("INSERT INTO xxl_job_registry (registry_group, registry_key, registry_value, update_time) VALUES "
               "('EXECUTOR', 'app', 'x', %s)", admin.wall())
        statements(db, True)
        shadow = start(server, "live", "--for", "18s", "--grace", "6s", "--json", "--zone", zone)
        wait_until(lambda: any("FROM xxl_job_info" in text for text in said(db)), "the shadow's first look")
        statements(db, False)
        time.sleep(8.5)  # what is due in its first 7 s is not compared
        admin.faults.update({job: kind for kind, job in planted.items()})
        admin.trigger(db, manual, "MANUAL")
        admin.trigger(db, manual, "RETRY", retries=1)
        admin.trigger(db, manual, "PARENT")
        admin.trigger(db, unexpected, "CRON")
        admin.set_conf(db, edited, "CRON", "0/3 * * * * ?")
        admin.set_running(db, stopped, False)
        admin.set_running(db, started, True)
        db.run("DELETE FROM xxl_job_info WHERE id = %s", deleted)
        wait_until(lambda: len(admin.done) == len(planted), "each planted mistake to be made")
        status, out, err = end(shadow)
    assert err == "" and status == 1
    report = json.loads(out)
    found = {(f["kind"], f["jobId"], f["scheduledMs"]) for f in report["found"]}
    done = {kind: admin.done[job] for kind, job in planted.items()}
    assert {(k, j) for k, j, _ in found} == {("missing" if k == "shard" else k, j) for k, j in planted.items()} | {
        ("next", next_one), ("refused", refused), ("unexpected", unexpected)}, out
    assert len(report["found"]) == len(planted) + 3, out
    for kind in ("missing", "late", "executor"):
        assert (kind, planted[kind], done[kind]) in found
    shard = next(f for f in report["found"] if f["jobId"] == planted["shard"])
    assert shard["shard"] == 1 and shard["scheduledMs"] == done["shard"]
    executor = next(f for f in report["found"] if f["kind"] == "executor")
    assert [executor["wanted"], executor["found"]] == ADDRESSES.split(",")[:2]
    assert report["otherRows"] == 3 and report["firings"] > 30 and report["unreadRows"] == 0
    assert report["logZone"] == zone and report["layout"] == "3.4"
    db.close()


def test_each_layout_is_read_and_nothing_is_written(server):
    db = server.connect("")
    databases = {layout: "layout" + layout.replace(".", "") for layout in LAYOUTS}
    for layout, database in databases.items():
        make(db, database, layout)
        if layout != "2.2":
            add_job(db, "of " + layout, "0 0 0 1 1 ? 2099", column="name" if layout == "3.5" else "job_desc")
    # datetimes of Shanghai; which zone they are in has to be said
    db.run("USE layout34")
    db.run("INSERT INTO xxl_job_registry (registry_group, registry_key, registry_value, update_time) VALUES "
           "('EXECUTOR', 'app', 'x', UTC_TIMESTAMP() + INTERVAL 8 HOUR)")
    db.run("USE layout25")
    db.run("DELETE FROM xxl_job_lock")
    db.run("CREATE DATABASE empty")
    before = {database: checksums(db, database) for database in databases.values()}
    statements(db, True)
    runs = {layout: start(server, database, "--for", "1s", "--grace", "2s", "--zone", "UTC", "--log-zone",
                          "Asia/Shanghai" if layout == "3.4" else "UTC") for layout, database in databases.items()}
    runs["none"] = start(server, "empty", "--for", "1s", "--grace", "2s")
    zones = {options: start(server, "layout34", "--for", "1s", "--grace", "2s", "--zone", "UTC", options=options)
             for options in ("", "&zone=Asia/Shanghai", "&zone=GMT%2B8")}
    ends = {layout: end(process) for layout, process in runs.items()}
    zones = {options: end(process) for options, process in zones.items()}
    statements(db, False)
    for layout in LAYOUTS[1:]:
        status, out, err = ends[layout]
        assert (status, err) == (4, "") and "1 jobs, 1 running" in out and "nothing was due" in out

        assert f"XXL-JOB {layout}" in out
    assert "schedule_lock" in ends["2.5"][1] and "INSERT" in ends["2.5"][1]
    assert ends["2.2"][0] == 2 and "2.2 or older" in ends["2.2"][2] and ends["2.2"][1] == ""
    assert ends["none"][0] == 2 and "no table xxl_job_info" in ends["none"][2]
    assert {database: checksums(db, database) for database in databases.values()} == before
    texts = said(db)
    assert len(texts) > 20
    assert {text.split()[0] for text in texts} == {"SET", "SELECT", "SHOW"}
    assert not any("FOR UPDATE" in text or "LOCK IN" in text for text in texts)
    ahead = re.search(r"lies (\d+) minutes ahead", zones[""][2])
    assert zones[""][0] == 2 and 470 < int(ahead[1]) <= 480 and "--log-zone" in zones[""][2], zones
    assert [status for status, _, _ in zones.values()][1:] == [4, 4]
    # the session itself refuses to write, whatever the user may do
    assert texts.count("SET SESSION TRANSACTION READ ONLY") == len(runs) + len(zones)
    db.close()


@pytest.mark.parametrize("args, says", [
    (["--db", "mysql://localhost"], "the database is missing"),
    (["--db", "jdbc:postgresql://localhost/x"], "is MySQL or MariaDB"),
    (["--db", "mysql://a:secret%4@localhost/x"], "the password"),
    (["--db", "mysql://localhost:70000/x"], "from 1 to 65535"),
    (["--db", "mysql://localhost/x", "--zone", "Nowhere/Land"], "Nowhere/Land"),
    (["--db", "mysql://localhost/x", "--for", "soon"], "a duration"),
    (["--db", "mysql://localhost/x", "--grace", "10s"], "at least twice"),
    ([], "--db is missing"),
])
def test_wrong_arguments_are_refused(args, says):
    got = subprocess.run([binary(), "shadow", *args], capture_output=True, text=True, timeout=60 * PATIENCE)
    assert got.returncode == 2 and says in got.stderr and "secret" not in got.stderr and got.stdout == ""
