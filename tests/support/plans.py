# SPDX-License-Identifier: Apache-2.0
"""Which plans a database server makes for the statements that a center of ours issues, and how many rows they read: told by
the server itself (MariaDB's slow log, PostgreSQL's auto_explain) of what was executed.

    plans = Plans(db, "jobs")     # db: support/servers.py
    plans.fill(job, 100_000, 1_000_000)
    with plans.told(): ...        # a center at work
    for s in plans.statements(): ...
"""
import collections
import contextlib
import json
import re

from support import servers
from support.center import Center
from support.puppet import Puppet
from support.standin import YES
from support.wait import wait_until

# the tables that grow, or that every transaction goes by
HOT = ("xxl_job_log", "xxl_job_info", "peal_job", "peal_due", "peal_run", "peal_epoch")

# What a center issues on them while jobs fire: the name that docs/internals/store.md has for it, and how the text begins. A
# statement that is not here fails test_plans.py: give it a line here and on that page, with what it reads.
STATEMENTS = (
    ("what is due, `FOR UPDATE SKIP LOCKED`",
     r"(WITH taken AS \()?SELECT job_id, next_ms, last_ms, planned_until_ms, version FROM peal_due (?!.*home <> \?).* SKIP LOCKED"),
    ("the next one behind what is due", r"SELECT next_ms FROM peal_due FORCE INDEX"),
    ("a due job", r"SELECT j\.id, j\.job_group, .* WHERE j\.id (=|IN) "),
    ("`peal_due` of jobs advanced", r"UPDATE peal_due (d )?SET (before_ms|next_ms) = "),
    ("log rows and live rows added", r"INSERT INTO (xxl_job_log|peal_run) "),
    ("addresses of log rows", r"UPDATE (IGNORE )?xxl_job_log SET executor_address = "),
    ("phases of live rows", r"UPDATE peal_run (r )?SET phase = "),
    ("ends in the log", r"UPDATE (IGNORE )?xxl_job_log (l )?SET trigger_code = "),
    ("live rows that go", r"DELETE FROM peal_run WHERE log_id "),
    ("fence and totals", r"UPDATE peal_epoch SET batch = batch \+ "),
    ("the last commit, for what is counted", r"SELECT batch FROM peal_epoch "),
    ("late results", r"(SELECT handle_msg, trigger_code, |UPDATE (IGNORE )?xxl_job_log SET handle_msg = )"),
    ("what a run is sent with, after an edit", r"UPDATE xxl_job_log SET executor_handler = "),
    ("due in other homes, each 500 ms", r"SELECT job_id, next_ms, last_ms, planned_until_ms, version FROM peal_due .*home <> \?"),
    ("nodes and their lives, each 200 ms", r"SELECT n\.node, n\.epoch, n\.beat, "),
    ("results for runs of other nodes, with it", r"SELECT i\.id, i\.log_id, i\.at_ms, "),
    ("runs that other nodes have ended, with it", r"SELECT n, ends FROM peal_delta "),
    ("that something was changed, told to others", r"UPDATE peal_epoch SET changes = "),
    ("a walk through homes", r"SELECT (next_ms, job_id|home) FROM peal_due |UPDATE peal_due SET home = "),
    ("jobs of a home, each half minute", r"SELECT count\(\*\) FROM peal_due .*WHERE home = "),
    ("a page of 200 jobs, for rules of alarms", r"(WITH picked\(id\) AS \()?SELECT j\.id FROM xxl_job_info j |"
     r"SELECT count\(\*\), min\(id\) FROM \(SELECT j\.id "),
    ("a run, for a reader", r"SELECT l\.id, l\.job_group, .* WHERE l\.id = "),
    ("totals and open runs", r"SELECT sum\(planned\), "),
    ("log rows that are too old", r"SELECT max\(id\) FROM xxl_job_log WHERE id < |DELETE FROM peal_log_span "),
    ("a life begins",
     r"SELECT (max\(|watermark_ms, clean|epoch, ended FROM peal_epoch|e\.epoch, n\.name|e\.node, e\.epoch|"
     r"epoch FROM peal_epoch)|INSERT INTO peal_epoch |UPDATE peal_epoch SET (batch = \?|ended = )|UPDATE peal_node SET dead|"
     r"DELETE FROM peal_run WHERE \? = \?|SELECT \? FROM xxl_job_group WHERE \? = \? UNION "),
    ("runs of a life that has ended", r"SELECT (log_id|\?) FROM peal_run WHERE epoch = |SELECT r\.log_id, r\.job_id, |"
     r"UPDATE peal_run SET node = "),
)
FIRING_NAMES = [name for name, _ in STATEMENTS[:10]]
OF_TESTS = r"SELECT count\(DISTINCT home\) |CREATE INDEX "  # their own, and what changes tables


def name_of(text):
    """How STATEMENTS calls it; None: not at all."""
    return next((name for name, begins in STATEMENTS if re.match(begins, text)), None)


class Statement:
    """All executions of one text. access: {(table, index, how)}; index None: all rows are walked."""

    def __init__(self, text):
        self.text, self.count, self.read, self.taken = text, 0, 0, 0
        self.access = set()

    def tables(self):
        return {table for table, _, _ in self.access}


def shape(text):
    """Values and repetitions cut out."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"'(?:[^'\\]|\\.|'')*'|\b0x[0-9a-fA-F]+\b|\$\d+|(?<![\w.])-?\d+(?:\.\d+)?\b|\bNULL\b(?=\s*[,)])", "?", text)
    text = re.sub(r"\s+", " ", text).strip().rstrip(";")
    text = re.sub(r"(WHEN \? THEN \?)( WHEN \? THEN \?)+", r"\1 …", text)
    text = re.sub(r"\?(, ?\?)+", "?, …", text)
    return re.sub(r"(\([^()]*\))(, ?\([^()]*\))+", r"\1, …", text)


def _slow_log(text):
    """MariaDB: (statement, rows read, rows taken, [(table, index, how)])."""
    for block in re.split(r"(?m)^# (?:Time|User@Host): ", text):
        examined = re.search(r"Rows_sent: (\d+)\s+Rows_examined: (\d+)", block)
        if not examined:
            continue
        affected = re.search(r"Rows_affected: (\d+)", block)
        access = []
        for row in re.findall(r"(?m)^# explain: (\d.*)$", block):
            cells = row.split("\t")
            table, how, key = cells[2], cells[3], cells[5]
            if not table.startswith("<") and table != "NULL":
                access.append((table, None if key == "NULL" else key, how))
        sql = re.sub(r"(?m)^(#.*|SET timestamp=\d+;|use \w+;)\n?", "", block[examined.end():])
        sql = re.sub(r"\A.*?(?=\b(?:SELECT|UPDATE|DELETE|INSERT)\b)", "", sql, count=1, flags=re.S)
        yield sql, int(examined[2]), int(examined[1]) + int(affected[1] if affected else 0), access


def _scans(node, access):
    """Rows that a plan read from tables."""
    read = 0
    if node.get("Relation Name") and node["Node Type"] != "ModifyTable":
        loops = node.get("Actual Loops", 1)
        if loops:
            access.append((node["Relation Name"], node.get("Index Name"), node["Node Type"]))
        read = loops * sum(node.get(key, 0) for key in ("Actual Rows", "Rows Removed by Filter",
                                                        "Rows Removed by Index Recheck"))
    below = node.get("Plans", [])
    if node["Node Type"] == "Bitmap Heap Scan":
        index = next((b["Index Name"] for b in below if "Index Name" in b), None)
        access[-1] = (node["Relation Name"], index, node["Node Type"])
        below = []
    return read + sum(_scans(other, access) for other in below)


def _auto_explain(text):
    """The same of PostgreSQL."""
    reader = json.JSONDecoder(strict=False)
    for found in re.finditer(r"plan:\s*\{", text):
        try:
            got, _ = reader.raw_decode(text, found.end() - 1)
        except ValueError:  # the last one, which is being written
            continue
        plan, access = got["Plan"], []
        read = _scans(plan, access)
        rows = plan if plan["Node Type"] != "ModifyTable" else plan.get("Plans", [plan])[0]
        yield got["Query Text"], read, rows.get("Actual Rows", 0), access


class Plans:
    def __init__(self, db, database):
        self.db, self.database = db, database
        self.maria = db.kind == "mariadb"
        self.path = db.folder / ("slow" if self.maria else "log")
        self.begin = 0

    def _columns(self, table):
        schema = repr(self.database) if self.maria else "'public'"
        return [name for name, in self.db.run("SELECT column_name FROM information_schema.columns WHERE table_schema = "
                                              f"{schema} AND table_name = '{table}' ORDER BY ordinal_position", self.database)]

    def copy(self, table, key, one, first, n, **values):
        """n further rows like that one, with keys from first on; values: expressions, in which seq is the key."""
        columns = self._columns(table)
        what = [key_of if (key_of := values.get(name)) else "seq" if name == key else f"t.{name}" for name in columns]
        last = first + n - 1
        source = f"seq_{first}_to_{last}" if self.maria else f"generate_series({first}, {last}) AS g(seq)"
        self.db.run(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(what)} FROM {table} t CROSS JOIN {source} "
                    f"WHERE t.{key} = {one}", self.database)
        if not self.maria and key == "id":
            self.db.run(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}", self.database)

    def fill(self, job, jobs, rows):
        """Further jobs like that one, due in an hour and later, and rows like its last one in the log. No center runs."""
        first = self.db.number("SELECT max(id) + 1 FROM xxl_job_info", self.database)
        due = self.db.number(f"SELECT coalesce(max(next_ms), 0) + 3600000 FROM peal_due WHERE job_id = {job}", self.database)
        self.copy("xxl_job_info", "id", job, first, jobs)
        self.copy("peal_job", "job_id", job, first, jobs)
        self.copy("peal_due", "job_id", job, first, jobs, next_ms=f"{due} + seq * 10")
        last = self.db.number(f"SELECT max(id) FROM xxl_job_log WHERE job_id = {job}", self.database)
        self.copy("xxl_job_log", "id", last, last + 1000, rows, job_id=f"{first} + seq % {jobs}")
        for table in HOT:
            self.db.run(f"ANALYZE {'TABLE ' if self.maria else ''}{table}", self.database)

    def _settings(self, on):
        if self.maria:
            return [f"SET GLOBAL slow_query_log_file = '{self.path}'", "SET GLOBAL log_slow_verbosity = 'query_plan,explain'",
                    f"SET GLOBAL long_query_time = {0 if on else 10}", f"SET GLOBAL slow_query_log = {int(on)}"]
        wanted = {"session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": 0,
                  "auto_explain.log_analyze": "on", "auto_explain.log_timing": "off", "auto_explain.log_format": "json"}
        return [f"ALTER DATABASE {self.database} " + (f"SET {name} = '{value}'" if on else f"RESET {name}")
                for name, value in wanted.items()]

    @contextlib.contextmanager
    def told(self):
        """Of sessions that begin in here."""
        for setting in self._settings(True):
            self.db.run(setting)
        self.begin = self.path.stat().st_size if self.path.exists() else 0
        try:
            yield
        finally:
            for setting in self._settings(False):
                self.db.run(setting)

    def statements(self):
        """What was executed on hot tables, most often first."""
        wait_until(self.path.exists, "the server's log")
        text = self.path.read_bytes()[self.begin:].decode(errors="replace")
        found = collections.OrderedDict()
        for sql, read, taken, access in (_slow_log if self.maria else _auto_explain)(text):
            one = found.setdefault(shape(sql), Statement(shape(sql)))
            one.count += 1
            one.read += read
            one.taken += taken
            one.access.update(access)
        hot = [s for s in found.values() if any(re.search(rf"\b{table}\b", s.text) for table in HOT) and
               not re.match(OF_TESTS, s.text)]
        return sorted(hot, key=lambda s: -s.count)


FIRING = 10  # jobs that fire each second


def of_firings(db, folder, jobs, rows, firings, nodes=0, held=False):
    """The statements of a center while that many runs fire and end, beside many jobs that are not due. nodes: then as well
    of so many centers that share the database, while as many runs fire again. held: all that beside a transaction that
    sees what was there before."""
    url = db.create("jobs")
    with Center(folder, ["--db", url], env={"PEAL_DB_PASSWORD": servers.PASSWORD}) as center, Puppet(center, "tests"):
        api = center.api()
        group = api.add_group("tests")
        idle = api.add_job(group, "idle", scheduleType="CRON", scheduleConf="0 0 0 1 1 ? 2090")
        api.start_job(idle)
        busy = [api.add_job(group, "busy", scheduleType="CRON", scheduleConf="* * * * * ?") for _ in range(FIRING)]
        for job in busy:
            api.start_job(job)
        api.trigger(idle)
        wait_until(lambda: db.number(f"SELECT count(*) FROM xxl_job_log WHERE handle_code = 200 AND job_id = {idle}", "jobs"),
                   "a row of the log", 60)
    told = Plans(db, "jobs")
    told.fill(idle, jobs, rows)
    snapshot = contextlib.closing(db.snapshot("jobs")) if held else contextlib.nullcontext()

    def fire(center):
        with Puppet(center, "tests") as puppet:
            wait_until(lambda: len(puppet.ended) >= firings, f"{firings} runs to end", 300)

    with snapshot, told.told():
        with Center(folder, ["--db", url], env={"PEAL_DB_PASSWORD": servers.PASSWORD}) as center:
            fire(center)
        with contextlib.ExitStack() as stack:
            shared = [stack.enter_context(Center(folder / f"node {i}", ["--db", url, "--node.cluster", "--node.name", f"node-{i}"],
                                                 env={"PEAL_DB_PASSWORD": servers.PASSWORD})) for i in range(nodes)]
            if shared:
                fire(shared[0])
                homes = "SELECT count(DISTINCT home) FROM peal_due WHERE next_ms IS NOT NULL AND home > 0"
                wait_until(lambda: db.number(homes, "jobs") == nodes, "the jobs to have homes", 60)
    return told.statements()


def _opened(folder, url):
    return Center(folder, ["--db", url], env={"PEAL_DB_PASSWORD": servers.PASSWORD})


def of_deletions(db, folder, rows, gone):
    """The statements of a center that clears a group's log, as a user asks for, and the rows of a job that was deleted, beside
    a log of another group."""
    url = db.create("jobs")

    def left(job):
        return db.number(f"SELECT count(*) FROM xxl_job_log WHERE job_id = {job}", "jobs")

    with _opened(folder, url) as center, Puppet(center, "kept"), Puppet(center, "cleared"):
        api = center.api()
        groups = [api.add_group(name) for name in ("kept", "cleared")]
        jobs = [api.add_job(group, "idle") for group in (groups[0], *groups)]
        for job in jobs:
            api.trigger(job)
        wait_until(lambda: db.number("SELECT count(*) FROM xxl_job_log WHERE handle_code = 200", "jobs") == len(jobs),
                   "a row of each job", 60)
    told = Plans(db, "jobs")
    for job, n in zip(jobs, (rows, gone, gone)):
        last = db.number(f"SELECT max(id) FROM xxl_job_log WHERE job_id = {job}", "jobs")
        told.copy("xxl_job_log", "id", last, db.number("SELECT max(id) + 10 FROM xxl_job_log", "jobs"), n)
    with told.told(), _opened(folder, url) as center:
        center.api().delete_job(jobs[1])
        center.api().call("/joblog/clearLog", jobGroup=groups[1], jobId=0, type=9)
        wait_until(lambda: left(jobs[1]) + left(jobs[2]) == 0, "the rows to be gone", 120)
    assert left(jobs[0]) == rows + 1
    return told.statements()


def of_edits(db, folder, rows):
    """The statements of a center that gets a late result, and that sends a run whose outcome is unknown a second time after
    an edit of its job, beside a long log."""
    url = db.create("jobs")
    with _opened(folder, url) as center, Puppet(center, "tests", automatic=False) as puppet:
        api = center.api()
        group = api.add_group("tests")
        job = api.add_job(group, "before", onDoubt="resend")
        api.trigger(job)
        run = puppet.wait_for_runs(1)[0]
        wait_until(lambda: db.number("SELECT count(*) FROM xxl_job_log WHERE trigger_code = 200", "jobs"), "the run to be accepted")
    log = run["logId"]
    db.run(f"UPDATE xxl_job_log SET handle_code = 500, handle_msg = 'lost: given up' WHERE id = {log}", "jobs")
    db.run(f"DELETE FROM peal_run WHERE log_id = {log}", "jobs")
    told = Plans(db, "jobs")
    told.copy("xxl_job_log", "id", log, log + 1000, rows)
    db.run(f"ANALYZE {'TABLE ' if told.maria else ''}xxl_job_log", "jobs")
    unread = {"run": None, "idleBeat": dict(YES), "log": {"code": 500, "msg": "no"}}  # it may have come, or not
    with told.told(), _opened(folder, url) as center, Puppet(center, "tests", automatic=False) as puppet:
        puppet.report(run)
        noted = f"SELECT count(*) FROM xxl_job_log WHERE id = {log} AND handle_msg LIKE '%late result%'"
        wait_until(lambda: db.number(noted, "jobs"), "the late result to be noted", 30)
        puppet.answer = lambda action, body: unread.get(action, YES)
        api = center.api()
        api.trigger(job)
        puppet.wait_for_runs(1)
        row = api.pages("/jobinfo/pageList", jobGroup=group, triggerStatus=-1, jobDesc="", executorHandler="", author="")[0]
        api.call("/jobinfo/update", **{name: value for name, value in row.items() if value is not None and name != "executorHandler"},
                 executorHandler="after")
        unread["run"] = YES
        second = puppet.wait_for_runs(2, timeout=60)[1]
        assert second["executorHandler"] == "after", second
        puppet.report(second)
    return told.statements()
