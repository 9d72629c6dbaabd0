# SPDX-License-Identifier: Apache-2.0
"""From XXL-JOB to Peal group by group and back, by the commands of docs/migrating-from-xxl-job.md, while a Java admin is at
work: no scheduled time is fired twice, and none is skipped while its job runs in one of the two."""
import collections
import itertools
import os
import re
import shlex
import subprocess
import tempfile

import pytest

from support import engine, ledger, mariadb, webapi
from support.center import ROOT, TOKEN, Center, binary, clean_environment
from support.java_admin import JavaAdmin, now_ms
from support.puppet import Puppet
from support.v1 import V1
from support.wait import PATIENCE, wait_until
from support.xxl_tables import make

pytestmark = pytest.mark.skipif(mariadb.missing() is not None and not os.environ.get("CI"),
                                reason="no MariaDB server here (apt-get install mariadb-server)")
PAGES = ("docs/migrating-from-xxl-job.md", "docs/zh/migrating-from-xxl-job.md")
ZONE_S = 8 * 3600
APPS = {1: "app", 2: "other"}                        # the groups
JOBS = {1: 1, 2: 1, 11: 2, 12: 2}                    # a job's group; each fires each second
AHEAD_MS = 5000                                      # what XXL-JOB has read when a job is stopped


def commands(page):
    """What the page has to be typed for "mixed", in its order: statements of SQL, and commands of peal."""
    text = (ROOT / page).read_text(encoding="utf-8")
    mixed = re.search(r"(?ms)^## 2\..*?^### ", text)[0]
    return [line.strip() for line in re.findall(r"(?m)^ {7}(\S.*)$", mixed) if re.search(r"\b(USER|GRANT|peal|export)\b", line)]


class LateAdmin(JavaAdmin):
    """Says what it leaves out because it was late, as XXL-JOB does."""

    def __init__(self, *args):
        super().__init__(*args)
        self.left_out = []  # (job, behind, before)

    def late(self, job, moment, following):
        self.left_out.append((job, moment, following))


class Move:
    """An XXL-JOB with two groups, and what the page says to do with it."""

    def __init__(self, server, folder):
        self.server, self.folder, self.secret = server, folder, "of the reader"
        self.db = server.connect("")
        make(self.db, "xxl_job", "3.4")
        self.db.run("INSERT INTO xxl_job_group (id, app_name, title, address_list) VALUES (2, 'other', 'other', '')")
        self.db.run("UPDATE xxl_job_group SET address_list = 'http://10.0.0.1:9999/'")
        for job, group in JOBS.items():
            self.db.run("INSERT INTO xxl_job_info (id, job_group, job_desc, author, schedule_type, schedule_conf, glue_type, "
                        "executor_handler, executor_route_strategy, executor_block_strategy, trigger_status, trigger_next_time) "
                        "VALUES (%s, %s, 'job', 'us', 'CRON', %s, 'BEAN', 'demo', 'FIRST', 'SERIAL_EXECUTION', 1, %s)",
                        job, group, "0/1 * * * * ?", now_ms() // 1000 * 1000 + 6000)
        self.java = LateAdmin(lambda: server.connect("xxl_job"), ZONE_S)
        self.by_hand = set()  # log ids
        self.exported = {}    # environment

    def words(self, command):
        """Of one of the page's, with the names of this place: environment, arguments."""
        secrets = {"PEAL_DB_PASSWORD": self.secret, "PEAL_ACCESS_TOKEN": TOKEN}
        here = {"mysql://reader@db/xxl_job": self.server.url("xxl_job", "reader"), "DIR": str(self.folder / "data"),
                "0.0.0.0:8080": "127.0.0.1:0"}
        words = shlex.split(command)
        names = [word.split("=")[0] for word in words if re.match(r"[A-Z_]+=", word)]
        return {name: secrets[name] for name in names}, [here.get(word, word) for word in words if "=..." not in word]

    def run(self, command):
        env, words = self.words(command)
        if words == ["export"]:
            self.exported.update(env)
            return 0, ""
        assert words[0] == "peal", command
        got = subprocess.run([binary(), *words[1:]], capture_output=True, text=True, check=False, timeout=120 * PATIENCE,
                             env=clean_environment(**self.exported, **env))
        return got.returncode, got.stdout + got.stderr

    def java_times(self, job):
        rows = self.db.run(f"SELECT UNIX_TIMESTAMP(trigger_time) - {ZONE_S} FROM xxl_job_log WHERE job_id = %s", job)
        return sorted(int(at) * 1000 for at, in rows)

    def wait_for_java(self, group, since):
        """Until each job of the group was fired by XXL-JOB for two times behind that one."""
        def fired():
            for job in self.of(group):
                assert len([at for at in self.java_times(job) if at > since]) >= 2, job
            return True
        wait_until(fired, "the Java admin to fire", 60)

    @staticmethod
    def of(group):
        return [job for job in JOBS if JOBS[job] == group]

    def stop_in_java(self, group):
        for job in self.of(group):
            self.java.set_running(self.db, job, False)
        stopped = now_ms()
        wait_until(lambda: now_ms() > stopped + AHEAD_MS, "what XXL-JOB has read ahead to be due", 30)
        wait_until(lambda: not self.db.run("SELECT 1 FROM xxl_job_log WHERE trigger_code = 200 AND handle_code = 0"),
                   "open runs to end", 30)

    def over_to_peal(self, center, group, puppet):
        self.stop_in_java(group)
        puppet.register()  # as an executor that starts with another address of its admin
        wait_until(lambda: [e["state"] for e in V1(center).get("/executors")["items"] if e["address"] == puppet.address] == ["up"],
                   "the executor to be up", 30)
        api = center.api()
        job = self.of(group)[0]
        api.trigger(job)
        log = puppet.wait_for_runs(1, job, timeout=30)[0]["logId"]
        self.by_hand.add(log)

        def ended():
            row, = api.pages("/joblog/pageList", jobGroup=group, jobId=job, logStatus=-1, filterTime="")
            assert row["id"] == log and row["handleCode"] == 200, row
            return True
        wait_until(ended, "the run by hand to end", 30)
        assert "job execute end(finish)" in V1(center).get(f"/runs/{log}/log")["lines"]
        for job in self.of(group):
            api.start_job(job)
        for job in self.of(group):
            puppet.wait_for_runs(4, job, timeout=60)

    def back_to_java(self, center, group, puppet):
        api = center.api()
        for job in self.of(group):
            api.stop_job(job)
        wait_until(lambda: ledger.open_runs(center) == 0 or not [row for row in ledger.rows(center, "SELECT job_id FROM peal_run")
                                                                if JOBS[row["job_id"]] == group], "open runs to end", 60)
        puppet.deregister()
        since = now_ms()
        for job in self.of(group):
            self.java.set_running(self.db, job, True)
        self.wait_for_java(group, since)
        return since

    def check(self, center, puppets, back_ms):
        """The scheduled times of each job, by both logs and by what executors were told."""
        sent = collections.Counter(run["logId"] for puppet in puppets.values() for run in puppet.runs())
        assert max(sent.values()) == 1
        rows = {row["id"]: (row["job_id"], row["trigger_time"]) for row in
                ledger.rows(center, "SELECT id, job_id, trigger_time FROM xxl_job_log")}
        assert set(rows) == set(sent)
        for job, group in JOBS.items():
            java = self.java_times(job)
            peal = sorted(at for log, (of, at) in rows.items() if of == job and log not in self.by_hand)
            twice = [at for at, times in collections.Counter(java + peal).items() if times > 1]
            assert java and peal and not twice, (job, twice)
            before, after = ([at for at in java if (at > back_ms) == later] for later in (False, True))
            assert bool(after) == (group == 2) and before[-1] < peal[0] and (not after or peal[-1] < after[0])
            left_out = [(behind, until) for of, behind, until in self.java.left_out if of == job]
            left_out += [(row["from_ms"] - 1, row["to_ms"] + 1) for row in
                         ledger.rows(center, "SELECT from_ms, to_ms FROM peal_skip WHERE job_id = ?", job)]
            for times in (before, peal, after):
                gone = [at for a, b in itertools.pairwise(times) for at in range(a + 1000, b, 1000)
                        if not any(behind < at < until for behind, until in left_out)]
                assert not gone, (job, gone)


def test_both_pages_have_the_same_commands():
    assert commands(PAGES[0]) == commands(PAGES[1])


@pytest.mark.skipif(engine.server() is not None, reason="the page imports into a file")
def test_groups_move_one_by_one_and_one_goes_back(tmp_path):
    *sql, export, check, import_, cron, start = commands(PAGES[0])
    with tempfile.TemporaryDirectory(prefix="peal-move-") as folder, mariadb.MariaDB(folder + "/db") as server:
        move = Move(server, tmp_path)
        for statement in sql:
            move.db.run(statement.replace("...", move.secret))
        with move.java:
            move.wait_for_java(1, 0)
            move.run(export)
            status, said = move.run(check)
            assert status == 0 and "refused by Peal: 0" in said, said
            status, said = move.run(import_)
            assert status == 0 and f"{len(JOBS)} jobs" in said and "found equal" in said, said
            assert move.run(cron)[0] == 0
            env, words = move.words(start)
            assert words[:2] == ["peal", "server"] and env == {"PEAL_ACCESS_TOKEN": TOKEN}
            given = dict(zip(words[2::2], words[3::2]))
            del given["--listen"], given["--data"]  # which Center gives
            with Center(tmp_path, itertools.chain(*given.items()), password="123456") as center:
                doctor = subprocess.run([binary(), "doctor", *words[2:]], capture_output=True, text=True, check=False,
                                        timeout=60 * PATIENCE, env=clean_environment(**env))
                assert doctor.returncode in (0, 1), doctor.stderr
                puppets = {group: Puppet(center, app, register=False) for group, app in APPS.items()}
                rows = center.api().pages("/jobinfo/pageList", jobGroup=-1, triggerStatus=-1)
                assert {row["id"]: row["triggerStatus"] for row in rows} == dict.fromkeys(JOBS, 0)
                assert webapi.WebApi(center.port, "3.3", "admin", "123456")
                move.over_to_peal(center, 2, puppets[2])
                move.wait_for_java(1, now_ms())  # the other group is XXL-JOB's
                move.over_to_peal(center, 1, puppets[1])
                assert not move.db.run("SELECT 1 FROM xxl_job_info WHERE trigger_status <> 0")  # what the switch looks at
                back_ms = move.back_to_java(center, 2, puppets[2])
                for job in move.of(1):
                    center.api().stop_job(job)
                wait_until(lambda: ledger.open_runs(center) == 0, "every run to end", 60)
                for job in move.of(2):
                    move.java.set_running(move.db, job, False)
                move.check(center, puppets, back_ms)
                for puppet in puppets.values():
                    puppet.close()
        move.db.close()
