# SPDX-License-Identifier: Apache-2.0
"""The journal: a result that comes while the database takes no writes is acknowledged, and is in the tables in
the end, whatever happens to the process in between."""

import errno
import http.server
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support import ledger  # noqa: E402 (path just set)
from support.center import Center  # noqa: E402
from support.disk import DiskErrors  # noqa: E402
from support.wait import wait_until  # noqa: E402

SOME = 256 * 1024  # what the write-ahead log is grown to before nothing may grow any more
RECORDS = 8192  # where the journal's records begin
RESULTS = [(200, "fine"), (500, "no such table: 日报"), (502, "took too long")]


class Executor:
    """NOT an executor: it takes every run, says that it is at it, and never reports."""

    def __init__(self):
        self.runs = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"null")
                action = self.path.rsplit("/", 1)[-1]
                if action == "run":
                    outer.runs.append(body["logId"])
                reply = {"code": 500 if action == "idleBeat" else 200, "msg": None}
                if action == "log":
                    reply["content"] = reply["data"] = {"fromLineNum": 1, "toLineNum": 1, "isEnd": False,
                                                        "logContent": "----------- job execute start -----------"}
                data = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


# -- three ways for a database to take no writes --

@contextmanager
def unbounded_log(center):
    """While a reader stands still, the write-ahead log cannot begin anew: each commit makes it longer."""
    wal = center.data / "peal.db-wal"
    reader = sqlite3.connect(center.data / "peal.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM xxl_job_log").fetchone()
    try:
        yield wal
    finally:
        reader.close()


def more(center, numbers=itertools.count()):
    """Something to commit."""
    n = next(numbers)
    center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": f"growth-{n}",
                                 "registryValue": f"http://127.0.0.1:9/{n}/"})


def red(center):
    more(center)
    status, _, body = center.get("/readyz?verbose")
    return status == 503 and b"does not take writes" in body and body.decode()


def grown(center, wal):
    more(center)
    return wal.stat().st_size >= SOME


@contextmanager
def limited(center):
    """No file of the process may grow beyond where the log is: a full disk, as far as it can see."""
    with unbounded_log(center) as wal:
        wait_until(lambda: grown(center, wal), "the log to grow", 30, 0.01)
        resource.prlimit(center.process.pid, resource.RLIMIT_FSIZE, (wal.stat().st_size, resource.RLIM_INFINITY))
        assert "journal" in wait_until(lambda: red(center), "the center to notice", 30)
        yield
        if center.running():
            resource.prlimit(center.process.pid, resource.RLIMIT_FSIZE,
                             (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@contextmanager
def full(center):
    """A disk without a free byte."""
    filler = center.data / "filler"
    with unbounded_log(center):
        with open(filler, "wb", buffering=0) as f:
            size = 1 << 20
            while size:
                try:
                    f.write(bytes(size))
                except OSError:
                    size //= 2
        assert "journal" in wait_until(lambda: red(center), "the center to notice", 30)
        yield
    filler.unlink()


@contextmanager
def locked(center):
    """Another program writes and does not end: nothing fails at first, the commit only does not come."""
    other = sqlite3.connect(center.data / "peal.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.close()


def can_mount(folder):
    return os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=0750", "tmpfs", folder],
                                                stderr=subprocess.DEVNULL).returncode == 0


@contextmanager
def small_disk(folder):
    folder.mkdir(parents=True)
    mounted = can_mount(folder)
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def disk(tmp_path):
    """The folder of the data, on a small disk of its own if this user may mount one."""
    with small_disk(tmp_path / "data") as mounted:
        yield full if mounted else limited


@pytest.fixture
def executor():
    it = Executor()
    yield it
    it.close()


# -- runs that wait for their results --

def start_runs(center, executor, n):
    """The log ids of n accepted runs of one job."""
    api = center.api()
    group = api.add_group("journal", addresses=[executor.address])
    job = api.add_job(group, "waits")
    for i in range(n):
        api.trigger(job)
        wait_until(lambda i=i: len(executor.runs) > i, f"run {i}")
    wait_until(lambda: [r["triggerCode"] for r in api.logs(job)] == [200] * n, "all to be accepted")
    return list(executor.runs)


def report(center, log_id, code, msg):
    return center.open_api("callback", [{"logId": log_id, "logDateTim": 0, "handleCode": code, "handleMsg": msg}])


def report_all(center, ids):
    """One request each, at the same time; every one must be acknowledged."""
    codes = {}

    def one(log_id, code, msg):
        codes[log_id] = report(center, log_id, code, msg)["code"]

    threads = [threading.Thread(target=one, args=(i, *RESULTS[k])) for k, i in enumerate(ids)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert codes == {i: 200 for i in ids}


def in_tables(center):
    """{log id: (code, message)} of the finished runs, as a reader of the file sees them."""
    db = sqlite3.connect(f"file:{center.data / 'peal.db'}?mode=ro", uri=True)
    try:
        return {i: (code, msg) for i, code, msg in
                db.execute("SELECT id, handle_code, handle_msg FROM xxl_job_log WHERE handle_code <> 0")}
    finally:
        db.close()


def wait_for(center, ids):
    want = dict(zip(ids, RESULTS))
    wait_until(lambda: in_tables(center) == want, f"the results {want}", 20)
    wait_until(lambda: center.metric("peal_journal_records") == 0, "the journal to be reset")
    assert center.metric("peal_firings_unaccounted") == 0


def said(center):
    return center.output.read_text()


def test_a_full_disk_and_a_kill(tmp_path, disk, executor):
    with Center(tmp_path) as center:
        ids = start_runs(center, executor, 3)
        assert center.metric("peal_journal_records") == 0
        with disk(center):
            report_all(center, ids)
            report_all(center, ids[:1])  # an executor that did not hear the first answer
            assert center.metric("peal_journal_records") == 4
            assert in_tables(center) == {}
            center.kill()
        center.start()
        wait_for(center, ids)
        assert "4 results were kept for the database" in said(center)
        center.restart()
        assert said(center).count("were kept for the database") == 1
        assert executor.runs == ids


@pytest.mark.parametrize("trouble", [limited, locked])
def test_a_kill(tmp_path, trouble, executor):
    with Center(tmp_path) as center:
        ids = start_runs(center, executor, 3)
        with trouble(center):
            report_all(center, ids)
            assert in_tables(center) == {}
            center.kill()
        center.start()
        wait_for(center, ids)
        assert executor.runs == ids


@pytest.mark.parametrize("trouble", [limited, locked])
def test_the_database_comes_back(tmp_path, trouble, executor):
    with Center(tmp_path) as center:
        ids = start_runs(center, executor, 3)
        with trouble(center):
            report_all(center, ids)
            assert center.metric("peal_journal_records") == 3
        wait_for(center, ids)
        wait_until(lambda: center.get("/readyz")[0] == 200, "green")
        center.restart()
        assert in_tables(center) == dict(zip(ids, RESULTS))
        assert "were kept for the database" not in said(center)


def records(center, name):
    """The bytes of the records in one of the journal's files."""
    with open(center.data / name, "rb") as f:
        f.seek(RECORDS)
        return f.read()


def fill(center, first, size):
    """Results of runs that nobody knows, with long messages: the journal takes them as it takes any."""
    for i in range(first, first + size // 7000):
        body = [{"logId": i, "logDateTim": 0, "handleCode": 500, "handleMsg": "x" * 8000}]
        assert center.open_api("callback", body)["code"] == 200


def test_two_files_in_turn_and_a_kill(tmp_path, executor):
    with Center(tmp_path) as center:
        ids = start_runs(center, executor, 3)
        with locked(center):
            assert report(center, ids[0], *RESULTS[0])["code"] == 200
            fill(center, 1 << 40, 1 << 20)  # more than one file takes before the other has its turn
            assert report(center, ids[1], *RESULTS[1])["code"] == 200
            assert report(center, ids[1], 200, "a second opinion")["code"] == 200
            assert report(center, ids[2], *RESULTS[2])["code"] == 200
            assert report(center, ids[0], 500, "a third opinion")["code"] == 200
            assert RESULTS[0][1].encode() in records(center, "callbacks.journal")
            assert b"a second opinion" in records(center, "callbacks.journal.2")
            fill(center, 1 << 42, 2 << 20)  # the first is not free: its results are not in the database yet
            assert RESULTS[0][1].encode() in records(center, "callbacks.journal")
            assert in_tables(center) == {}
            center.kill()
        center.start()
        wait_for(center, ids)  # and of two results of one run the first counts
        fill(center, 1 << 41, 3 << 20)
        wait_until(lambda: center.metric("peal_journal_records") == 0, "both to be emptied")
        assert center.metric("peal_journal_full_total") == 0
        center.restart()
        assert said(center).count("were kept for the database") == 1


def test_a_file_is_emptied_when_all_in_it_is_committed(tmp_path, executor):
    """One commit is let through, the next one is not: what only the journal has stays in it."""
    disk = DiskErrors(tmp_path / "errors", "peal.db-wal")
    with Center(tmp_path / "center", env=disk.env) as center:
        ids = start_runs(center, executor, len(RESULTS) * 2)
        want = {i: RESULTS[k % len(RESULTS)] for k, i in enumerate(ids)}
        disk.begin(disk.STOPS)
        given = []
        for i in ids:  # the batch under way need not be of a result
            assert report(center, i, *want[i])["code"] == 200
            given.append(i)
            wait_until(disk.failures, "a batch to stand still", 20, 0.01)
            if in_tables(center):
                break
            disk.let_one()
        committed = in_tables(center)
        assert committed and given[-1] not in committed, committed  # it came while another batch stood still
        assert report(center, 1 << 40, 200, "nobody's")["code"] == 200  # behind what the journal was told before
        center.kill()
        disk.end()
        center.start()
        wait_until(lambda: in_tables(center) == {i: want[i] for i in given}, "all that was acknowledged", 20)


def test_a_journal_that_fails_acknowledges_nothing_and_keeps_what_it_has(tmp_path, executor):
    """Neither the database nor the journal takes the result: the executor hears in time that it must come again."""
    disk = DiskErrors(tmp_path / "errors", "callbacks.journal")
    with Center(tmp_path / "center", env=disk.env) as center:
        ids = start_runs(center, executor, 3)
        with locked(center):
            assert report(center, ids[0], *RESULTS[0])["code"] == 200
            disk.begin(disk.SYNCS, errno.EIO)
            reply = report(center, ids[1], *RESULTS[1])
            assert reply["code"] == 500 and "sent again" in reply["msg"], reply
            assert disk.end(), "the journal was not asked"
            assert in_tables(center) == {}
            center.kill()
        center.start()
        wait_until(lambda: in_tables(center).get(ids[0]) == RESULTS[0], "the result that was acknowledged")
        for i, result in list(zip(ids, RESULTS))[1:]:
            assert report(center, i, *result)["code"] == 200
        wait_for(center, ids)


def test_a_commit_that_does_not_come_sends_results_to_a_slow_journal(tmp_path, executor):
    """A commit is expected sooner than the journal, which has been slow; when it does not come, the journal it is."""
    disk = DiskErrors(tmp_path / "errors", "callbacks.journal")
    with Center(tmp_path / "center", env=disk.env) as center:
        ids = start_runs(center, executor, 3)
        disk.begin(disk.HOLDS)
        with locked(center):
            first = threading.Thread(target=report_all, args=(center, ids[:1]))
            first.start()
            wait_until(lambda: disk.failures() > 100, "the journal to have been slow", 20, 0.01)  # 5 ms and more each
            disk.end()
            first.join()
        wait_until(lambda: in_tables(center) == {ids[0]: RESULTS[0]}, "the first result")
        with locked(center):
            reply = report(center, ids[1], *RESULTS[1])
            assert reply["code"] == 200, reply
            center.kill()
        center.start()
        wait_until(lambda: ids[1] in in_tables(center), "the second result")
        assert report(center, ids[2], *RESULTS[2])["code"] == 200
        wait_for(center, ids)


def test_an_orderly_stop_in_trouble(tmp_path, executor):
    with Center(tmp_path) as center:
        ids = start_runs(center, executor, 3)
        with limited(center):
            report_all(center, ids)
            center.stop()
        assert in_tables(center) == {}
        center.start()
        wait_for(center, ids)


def test_a_damaged_record_costs_only_its_own_result(tmp_path, executor):
    with Center(tmp_path) as center:
        ids = start_runs(center, executor, 3)
        journal = center.data / "callbacks.journal"
        with limited(center):
            for k, i in enumerate(ids):
                assert report(center, i, *RESULTS[k])["code"] == 200
            center.kill()
        with open(journal, "r+b") as f:
            f.seek(RECORDS + 40)
            f.write(b"F")  # the message of the first
        center.start()
        wait_until(lambda: in_tables(center) == dict(list(zip(ids, RESULTS))[1:]), "the other results", 20)
        aside = center.data / "callbacks.journal.damaged"
        assert aside.read_bytes()[RECORDS + 40:RECORDS + 44] == b"Fine"
        assert aside.stat().st_mode & 0o777 == journal.stat().st_mode & 0o777 == 0o600
        assert re.search(r"level=error .*damaged in 1 places.*2 results could be read", said(center))
        assert report(center, ids[0], *RESULTS[0])["code"] == 200  # it still may come by itself
        wait_for(center, ids)


def with_kept_results(center, executor):
    """The ids of three runs whose results are in the journal and not in the database, which is dead."""
    ids = start_runs(center, executor, 3)
    with locked(center):
        report_all(center, ids)
        center.kill()
    return ids


def take_database(center, folder):
    """Its three files, moved there."""
    folder.mkdir()
    for path in center.data.glob("peal.db*"):
        shutil.move(path, folder / path.name)
    return folder


def give_database(center, folder):
    for path in folder.iterdir():
        shutil.copyfile(path, center.data / path.name)


def test_results_of_another_database_do_not_end_its_runs(tmp_path, executor):
    with Center(tmp_path / "other") as other:
        theirs = start_runs(other, executor, 3)
        other.kill()
        executor.runs.clear()
        with Center(tmp_path / "own") as center:
            assert with_kept_results(center, executor) == theirs
            own = take_database(center, tmp_path / "own database")
            give_database(center, take_database(other, tmp_path / "other database"))
            center.start()
            (aside,) = center.data.glob("callbacks.journal.of-*")
            assert re.search(r"level=error .*3 results of another database.*callbacks.journal.of-", said(center))
            assert "were kept for the database" not in said(center)
            center.stop()
            assert in_tables(center) == {}
            shutil.rmtree(take_database(center, tmp_path / "away"))
            give_database(center, own)
            aside.rename(center.data / "callbacks.journal")
            center.start()
            wait_for(center, theirs)


def test_results_of_runs_that_a_backup_does_not_know_are_left_out(tmp_path, executor):
    with Center(tmp_path) as center:
        (known,) = start_runs(center, executor, 1)
        backup = tmp_path / "backup"
        backup.mkdir()
        with ledger.opened(center) as db, sqlite3.connect(backup / "peal.db") as copy:
            db.backup(copy)
        executor.runs.clear()
        with_kept_results(center, executor)
        take_database(center, tmp_path / "replaced")
        give_database(center, backup)
        center.start()
        assert re.search(r"level=warn .*3 of them are for log ids that this database has not given", said(center))
        assert list(center.data.glob("callbacks.journal.of-*")) == []
        assert report(center, known, *RESULTS[0])["code"] == 200
        wait_for(center, [known])


def test_without_room_for_a_journal_results_are_refused_in_trouble(tmp_path, executor):
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    with ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, old[1]))  # the child's from its birth
        try:
            center = stack.enter_context(Center(tmp_path))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, old)
        assert "there is no journal" in said(center)
        assert list(center.data.glob("callbacks*")) == []
        ids = start_runs(center, executor, 3)
        with locked(center):
            reply = report(center, ids[0], *RESULTS[0])
            assert reply["code"] == 500 and "sent again" in reply["msg"]
        report_all(center, ids)
        wait_until(lambda: in_tables(center) == dict(zip(ids, RESULTS)), "the results")
