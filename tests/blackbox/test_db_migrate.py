# SPDX-License-Identifier: Apache-2.0
"""The database of an XXL-JOB in place: peal db migrate, a center that works on it, the way back to the Java admin, and the
way to Peal again. No scheduled time is fired twice."""
import calendar
import os
import subprocess
import tempfile
import time

import pytest

from support import mariadb, webapi
from support.center import Center, binary
from support.java_admin import JavaAdmin, now_ms
from support.puppet import Puppet
from support.wait import PATIENCE, wait_until
from support.xxl_tables import make

pytestmark = pytest.mark.skipif(mariadb.missing() is not None and not os.environ.get("CI"),
                                reason="no MariaDB server here (apt-get install mariadb-server)")
ZONE, ZONE_S = "Asia/Shanghai", 8 * 3600
PARKED = 4_102_444_800_000
LAYOUTS = {"2.3": "2.3 or 2.4", "2.5": "2.5 to 3.1", "3.2": "3.2 or 3.3", "3.4": "3.4", "3.5": "3.5"}


@pytest.fixture(scope="module")
def server():
    with tempfile.TemporaryDirectory(prefix="peal-my-") as folder, mariadb.MariaDB(folder + "/db") as it:
        yield it


def migrate(server, database, *args):
    got = subprocess.run([binary(), "db", "migrate", "--db", server.url(database), "--zone", ZONE, *args],
                         capture_output=True, text=True, timeout=120 * PATIENCE)
    return got.returncode, got.stdout, got.stderr


def dump(db, database, tables="xxl%"):
    names = [row[0] for row in db.run("SELECT table_name FROM information_schema.tables WHERE table_schema = %s AND "
                                      "table_name LIKE %s", database, tables)]
    return {name: (db.run(f"SHOW CREATE TABLE {database}.{name}"), db.run(f"SELECT * FROM {database}.{name}"))
            for name in names}


def ms(wall):
    return (calendar.timegm(time.strptime(wall[:19], "%Y-%m-%d %H:%M:%S")) - ZONE_S) * 1000


class Database:
    """An installation with one job that fires each second and one that does not."""

    def __init__(self, server, name, layout):
        self.server, self.name, self.layout = server, name, layout
        self.db = server.connect("")
        make(self.db, name, layout)
        self.db.run("USE mysql")  # a session on the database would be taken for a Java admin's
        column = "name" if layout == "3.5" else "job_desc"
        for job, status, following in ((1, 1, now_ms() // 1000 * 1000 + 2000), (2, 0, 0)):
            self.run(f"INSERT INTO NAME.xxl_job_info (id, job_group, {column}, schedule_type, schedule_conf, glue_type, "
                     "executor_handler, executor_route_strategy, executor_block_strategy, trigger_status, "
                     "trigger_next_time) VALUES (%s, 1, '任务', 'CRON', '0/1 * * * * ?', 'BEAN', 'demo', 'FIRST', "
                     "'SERIAL_EXECUTION', %s, %s)", job, status, following)

    def run(self, sql, *values):
        return self.db.run(sql.replace("NAME", self.name), *values)

    def java(self):
        return JavaAdmin(lambda: self.server.connect(self.name), ZONE_S)

    def rows(self, java):
        return int(self.run(f"SELECT count(*) FROM NAME.xxl_job_log WHERE job_id = 1 AND handle_code = 200 AND "
                            f"{'NOT ' if not java else ''}coalesce(trigger_msg LIKE %s, 0)", "%Cron触发%")[0][0])

    def wait_for(self, java, more):
        want = self.rows(java) + more
        wait_until(lambda: self.rows(java) >= want, f"{more} more runs by {'Java' if java else 'Peal'}", 30)

    def next_ms(self, job=1):
        return int(self.run("SELECT trigger_next_time FROM NAME.xxl_job_info WHERE id = %s", job)[0][0])

    def check_times(self):
        """Each scheduled time of the job has one row; the next one is right behind those that were fired."""
        all_rows = [ms(row[0]) for row in self.run("SELECT trigger_time FROM NAME.xxl_job_log WHERE job_id = 1")]
        assert len(all_rows) == len(set(all_rows)), sorted(all_rows)
        fired = self.run("SELECT max(trigger_time) FROM NAME.xxl_job_log WHERE job_id = 1 AND id NOT IN "
                         "(SELECT log_id FROM NAME.peal_run WHERE phase = 1)")[0][0]
        assert self.next_ms() == ms(fired) + 1000

    def center(self, folder, *args):
        return Center(folder, ["--db", self.server.url(self.name), "--zone", ZONE, *args], password="123456")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_both_work_on_it_one_at_a_time(server, tmp_path, layout):
    it = Database(server, "own" + layout.replace(".", ""), layout)
    with it.java():
        it.wait_for(True, 2)
        status, _, err = migrate(server, it.name)
        assert status == 2 and "other sessions are on this database" in err
        status, _, err = migrate(server, it.name, "--dry-run")
        assert (status, err) == (0, "")
    before = dump(it.db, it.name)
    status, out, err = migrate(server, it.name, "--dry-run")
    assert (status, err) == (0, "") and f"XXL-JOB {LAYOUTS[layout]}" in out and "nothing was written" in out
    assert dump(it.db, it.name, "%") == before
    for _ in range(2):
        status, out, err = migrate(server, it.name)
        assert (status, err) == (0, "") and "done" in out and "2 jobs" in out
        assert dump(it.db, it.name) == before
    status, _, err = migrate(server, it.name, "--log-zone", "UTC")
    assert status == 2 and ZONE in err
    time_of_java = max(ms(row[0]) for row in it.run("SELECT trigger_time FROM NAME.xxl_job_log"))
    wait_until(lambda: now_ms() > time_of_java + 10_000, "the last firing of Java to be long ago", 30)
    with it.center(tmp_path, "--compat.write-passwords") as center:
        api = webapi.WebApi(center.port, "3.3", "admin", "123456")
        with Puppet(center, "app"):
            it.wait_for(False, 2)
            assert it.next_ms() == PARKED
            with it.java():
                made = it.rows(True)
                it.wait_for(False, 3)
            assert it.rows(True) == made  # it found nothing to fire
            logs = api.logs(1)
            assert len(logs) > made and abs(logs[-1]["triggerTime"] - ZONE_S * 1000 - now_ms()) < 60_000  # of a wall clock
            assert ms(it.run("SELECT max(handle_time) FROM NAME.xxl_job_log")[0][0]) <= now_ms()
            since = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(logs[0]["triggerTime"] / 1000))
            page = api.pages("/joblog/pageList", jobGroup=1, jobId=1, logStatus=-1, filterTime=f"{since} - {since}")
            assert [row["id"] for row in page] == [logs[0]["id"]]  # Java's rows are found by their time
            edit(api, it)
    assert it.next_ms() < PARKED
    it.check_times()
    hashed = it.run("SELECT length(password) FROM NAME.xxl_job_user WHERE username = 'bert'")[0][0]
    assert hashed == ("32" if layout in ("2.3", "2.5") else "64")
    with it.java():
        it.wait_for(True, 2)
    it.db.close()


def edit(api, it):
    """What a console does, within the bounds of that release's columns."""
    old = it.layout in ("2.3", "2.5", "3.2")
    group = api.add_group("other", "of a test")
    job = api.add_job(group, "demo", jobDesc="made", scheduleType="FIX_RATE", scheduleConf="1000")
    column = "name" if it.layout == "3.5" else "job_desc"
    assert it.run(f"SELECT {column}, trigger_next_time FROM NAME.xxl_job_info WHERE id = %s", job) == [("made", str(PARKED))]
    if old:
        with pytest.raises(webapi.ApiError, match="title"):
            api.add_group("third", "a title of more than twelve characters")
        with pytest.raises(webapi.ApiError, match="executor_param"):
            api.add_job(group, "demo", executorParam="x" * 600)
    api.call("/user/insert", username="bert", password="secret", role=0, permission="")
    api.trigger(2, param="y" * 600)
    wait_until(lambda: it.run("SELECT handle_code, length(executor_param) FROM NAME.xxl_job_log WHERE job_id = 2") ==
               [("200", "512" if old else "600")], "the run with a long parameter")
    api.start_job(job)
    it.wait_for(False, 1)


def refused_beside_java_at_the_last_planned_time(it, center):
    """What Java has fired last is what Peal had planned last: only the next time tells that Java is at work."""
    before = it.run("SELECT i.trigger_last_time, i.trigger_next_time, d.last_ms FROM NAME.xxl_job_info i JOIN "
                    "NAME.peal_due d ON d.job_id = i.id WHERE i.id = 1")[0]

    def say(last, following, planned):
        it.run("UPDATE NAME.xxl_job_info SET trigger_last_time = %s, trigger_next_time = %s WHERE id = 1", last, following)
        it.run("UPDATE NAME.peal_due SET last_ms = %s WHERE job_id = 1", planned)

    last = now_ms() + 600_000  # however slow the machine is, not 10 s ago
    say(last, last + 1000, last)
    center.launch()
    wait_until(lambda: center.process.poll() is not None, "the center to give up", 60)
    assert "a Java admin has fired jobs" in center.output.read_text()
    say(*before)


def test_a_killed_server_and_a_change_by_java(server, tmp_path):
    it = Database(server, "back", "3.4")
    assert migrate(server, it.name, "--indexes")[0] == 0
    assert it.run("SELECT count(*) FROM information_schema.statistics WHERE table_schema = 'NAME' AND index_name LIKE "
                  "'peal%%'") == [("2",)]
    center = it.center(tmp_path)
    with center:
        with Puppet(center, "app"):
            it.wait_for(False, 2)
            center.kill()
        assert it.next_ms() == PARKED  # Java would fire nothing, rather than twice
        status, out, err = migrate(server, it.name)
        assert status == 0 and "given back" in out and it.next_ms() < PARKED
        refused_beside_java_at_the_last_planned_time(it, center)
        it.run("DELETE FROM NAME.xxl_job_log WHERE id NOT IN (SELECT log_id FROM NAME.peal_run)")
        with it.java() as java:
            it.wait_for(True, 2)
            db = server.connect(it.name)
            java.set_running(db, 2, True)
            db.close()
            center.launch()  # at once: Java is at work
            wait_until(lambda: center.process.poll() is not None, "the center to give up", 60)
        assert center.output.read_text().count("a Java admin has fired jobs") == 2
        assert it.next_ms() < PARKED
        wait_until(lambda: now_ms() > it.next_ms() + 11_000, "the last firing of Java to be long ago", 30)
        center.start()
        with Puppet(center, "app"):
            it.wait_for(False, 2)
            wait_until(lambda: it.run("SELECT 1 FROM NAME.xxl_job_log WHERE job_id = 2 AND handle_code = 200 AND NOT "
                                      "coalesce(trigger_msg LIKE %s, 0)", "%触发%"), "the job that Java has started")
            wait_until(lambda: center.metric("peal_firings_unaccounted") == 0, "the books to balance")
        center.stop()
        it.check_times()
    it.db.close()


def test_jobs_without_a_next_time_fire(server, tmp_path):
    """As scripts insert them: before the tables are taken, and while the center is down."""
    it = Database(server, "unsaid", "3.4")
    columns = ("job_group, job_desc, schedule_type, schedule_conf, misfire_strategy, glue_type, executor_handler, "
               "executor_route_strategy, executor_block_strategy, trigger_status, trigger_next_time")

    def add(job, misfire, next_ms):
        it.run(f"INSERT INTO NAME.xxl_job_info (id, {columns}) VALUES (%s, 1, 'made by a script', 'CRON', '0 0 0 1 1 ?', %s, "
               "'BEAN', 'demo', 'FIRST', 'SERIAL_EXECUTION', 1, %s)", job, misfire, next_ms)

    def rows(job):
        return int(it.run("SELECT count(*) FROM NAME.xxl_job_log WHERE job_id = %s", job)[0][0])

    add(51, "FIRE_ONCE_NOW", 0)
    add(52, "DO_NOTHING", -1)
    it.run("UPDATE NAME.xxl_job_info SET trigger_next_time = 0 WHERE id = 1")  # each second
    assert migrate(server, it.name)[0] == 0
    with it.center(tmp_path) as center:
        wait_until(lambda: rows(51) and rows(1), "those that were there to fire")
        assert rows(52) == 0 and it.run("SELECT count(*) FROM NAME.peal_due WHERE job_id = 52 AND next_ms > %s",
                                        now_ms()) == [("1",)]
        center.stop()
        add(53, "FIRE_ONCE_NOW", 0)
        center.start()
        wait_until(lambda: rows(53), "the one that was added since to fire")
        assert (rows(51), rows(52)) == (1, 0)
    it.db.close()


def test_a_zone_with_summer_time_must_be_known_to_the_server(server, tmp_path):
    it = Database(server, "summer", "3.4")
    zone = "America/New_York"

    def to_new_york():
        return subprocess.run([binary(), "db", "migrate", "--db", server.url(it.name), "--zone", zone], capture_output=True,
                              text=True, timeout=120 * PATIENCE)

    done = to_new_york()
    assert done.returncode == 2 and "load the zone tables" in done.stderr
    assert it.run("SELECT 1 FROM information_schema.tables WHERE table_schema = 'NAME' AND table_name LIKE 'peal%%'") == []
    number = it.db.insert("INSERT INTO mysql.time_zone (use_leap_seconds) VALUES ('N')")
    it.run("INSERT INTO mysql.time_zone_name VALUES (%s, %s)", zone, number)
    it.run("INSERT INTO mysql.time_zone_transition_type VALUES (%s, 0, -18000, 0, 'EST'), (%s, 1, -14400, 1, 'EDT')", number,
           number)
    it.run("INSERT INTO mysql.time_zone_transition VALUES (%s, 0, 0)", number)
    done = to_new_york()
    assert (done.returncode, done.stderr) == (0, "")
    with it.center(tmp_path) as center, Puppet(center, "app"):
        it.wait_for(False, 2)
    off = it.run(f"SELECT abs(timestampdiff(SECOND, max(trigger_time) + INTERVAL 5 HOUR, utc_timestamp())) FROM "
                 "NAME.xxl_job_log WHERE handle_code = 200")[0][0]
    assert int(off) < 60
    slots = it.run("SELECT max(slot) FROM NAME.peal_log_span")[0][0]
    assert abs(int(slots) * 600_000 - now_ms()) < 1_300_000
    it.db.close()
