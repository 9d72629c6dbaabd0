# SPDX-License-Identifier: Apache-2.0
"""The ledger of a center as its tables tell it: what the promises are judged by, without asking the center.
Read-only unless a function says otherwise; works while the center runs, and when it is gone. Statements are
SQLite's, also for a center on a database server (support/mirror.py)."""

import collections
import contextlib
import sqlite3

from . import engine
from .wait import PATIENCE, wait_until

OPEN = "(1, 2, 3, 4)"  # phases of runs that have not ended: planned, sent, unknown, accepted
# of the lost ones "found" have finished too
ENDS = ("finished", "rejected", "lost", "skipped", "withdrawn")


_kept = {}  # center: the connection of one_look


@contextlib.contextmanager
def one_look(center):
    """What is asked within is answered from one snapshot, and on a server copied once: for a center without open runs."""
    with opened(center) as db:
        db.execute("BEGIN")
        _kept[center] = db
        try:
            yield
        finally:
            del _kept[center]


@contextlib.contextmanager
def opened(center, write=False):
    if center in _kept:
        yield _kept[center]
        return
    if engine.server():
        db = engine.opened(center.data, write)
    else:
        path = center.data / "peal.db"
        db = sqlite3.connect(f"file:{path}?mode={'rw' if write else 'ro'}", uri=True, timeout=20 * PATIENCE)
    db.row_factory = sqlite3.Row
    try:
        with db:
            yield db
    finally:
        db.close()


def begin_look(center, db):
    """From here on one snapshot; that of one_look, where there is one."""
    if center not in _kept:
        db.execute("BEGIN")


def rows(center, sql, *values):
    with opened(center) as db:
        return db.execute(sql, values).fetchall()


def number(center, sql, *values):
    """The one number of a query; 0 for NULL."""
    return rows(center, sql, *values)[0][0] or 0


def totals_of(db):
    """The totals by name, from a connection whose rows have names. A server has a row for each life of a center."""
    names = ("planned", *ENDS, "sent", "resent", "late", "found")
    return collections.Counter(dict(db.execute(
        "SELECT " + ", ".join(f"sum({name}) AS {name}" for name in names) + " FROM peal_epoch").fetchone()))


def totals(center):
    with opened(center) as db:
        return totals_of(db)


def open_runs(center):
    return number(center, f"SELECT count(*) FROM peal_run WHERE phase IN {OPEN}")


def check_accounts(center):
    """Everything planned is accounted for, by the totals and by the rows themselves."""
    with opened(center) as db:  # one snapshot
        begin_look(center, db)
        total = totals_of(db)
        live = db.execute(f"SELECT count(*) FROM peal_run WHERE phase IN {OPEN}").fetchone()[0]
        assert total["planned"] - sum(total[name] for name in ENDS) + total["found"] - live == 0, (total, live)
        # by the rows: a log row without a live one has ended, and says how
        vague = db.execute(
            "SELECT l.id, l.job_id, l.trigger_code, l.trigger_msg, l.handle_code FROM xxl_job_log l "
            "LEFT JOIN peal_run r ON r.log_id = l.id WHERE r.log_id IS NULL "
            "AND l.handle_code = 0 AND l.trigger_code IN (0, 200) LIMIT 5").fetchall()
        assert not vague, f"log rows that nothing will end: {[tuple(row) for row in vague]}"
        orphans = db.execute("SELECT r.log_id FROM peal_run r LEFT JOIN xxl_job_log l ON l.id = r.log_id "
                             "WHERE l.id IS NULL LIMIT 5").fetchall()
        assert not orphans, f"live rows without a log row: {[row[0] for row in orphans]}"
        kept = db.execute("SELECT count(*) FROM xxl_job_log").fetchone()[0]
        dropped = total["skipped"] + total["withdrawn"]  # these alone may go without a trace in the log
        assert total["planned"] - dropped <= kept <= total["planned"], (total, kept)
    assert center.metric("peal_firings_unaccounted") == 0


def by_second(center, job):
    """{whole second of the scheduled time: log rows} of a job."""
    return dict(map(tuple, rows(
        center, "SELECT trigger_time / 1000, count(*) FROM xxl_job_log WHERE job_id = ? GROUP BY 1", job)))


def skips(center, job):
    return rows(center, "SELECT from_ms, to_ms, count, policy FROM peal_skip WHERE job_id = ? ORDER BY id", job)


def check_contiguous(center, job, a_second):
    """Every second between a job's first and last scheduled time has all its firings: as log rows, or counted in
    peal_skip. a_second: how many scheduled times a second has. Returns how many rows there were."""
    have = by_second(center, job)
    assert have, f"job {job} never fired"
    first, last = min(have), max(have)
    away = skips(center, job)
    holes = {}
    for second in range(first + 1, last):  # the first and the last one may be parts
        if have.get(second, 0) != a_second:
            holes[second] = have.get(second, 0)
    if not away:
        assert not holes, f"job {job}: seconds without all of their {a_second} times: {holes}"
    else:
        missing = sum(a_second - n for n in holes.values())
        assert missing == sum(skip["count"] for skip in away), (job, holes, [tuple(s) for s in away])
        for second in holes:
            assert any(skip["from_ms"] // 1000 <= second <= skip["to_ms"] // 1000 for skip in away), (job, second)
    return sum(have.values())


def wait_for_rows(center, what, sql, *values, timeout=20):
    """Wait until a query has rows; they."""
    return wait_until(lambda: rows(center, sql, *values), what, timeout)


def settle(center, timeout=60, jobs=None):
    """Wait until nothing is open any more: all jobs are stopped, what was sent has ended."""
    only = f" AND job_id IN ({','.join(map(str, jobs))})" if jobs else ""

    def ended():
        left = [tuple(row) for row in rows(
            center, f"SELECT log_id, job_id, phase, due_ms FROM peal_run WHERE phase IN {OPEN}{only} LIMIT 5")]
        assert not left, left
        return True
    wait_until(ended, "every run to end", timeout, 0.1)


def add_jobs(center, group, jobs, start_deadline_ms=None, misfire="DO_NOTHING"):
    """Write running jobs straight into the tables of a stopped center, because thousands of them through the
    web API take their time: (handler, param, schedule type, its text, route, first scheduled time in ms). Their ids."""
    with opened(center, write=True) as db:
        first = (db.execute("SELECT max(id) FROM xxl_job_info").fetchone()[0] or 0) + 1
        for job, (handler, param, kind, conf, route, next_ms) in enumerate(jobs, first):
            db.execute(
                "INSERT INTO xxl_job_info (id, job_group, job_desc, author, schedule_type, schedule_conf, "
                "misfire_strategy, executor_route_strategy, executor_handler, executor_param, "
                "executor_block_strategy, glue_type, trigger_status, add_time, update_time, glue_updatetime) "
                "VALUES (?, ?, ?, 'tests', ?, ?, ?, ?, ?, ?, 'SERIAL_EXECUTION', 'BEAN', 1, ?, ?, ?)",
                (job, group, handler, kind, conf, misfire, route, handler, param, next_ms, next_ms, next_ms))
            db.execute("INSERT INTO peal_due (job_id, next_ms, version) VALUES (?, ?, 1)", (job, next_ms))
            if start_deadline_ms:
                db.execute("INSERT INTO peal_job (job_id, start_deadline_ms) VALUES (?, ?)", (job, start_deadline_ms))
    return list(range(first, first + len(jobs)))
