# SPDX-License-Identifier: Apache-2.0
"""`peal backup` and `peal restore`: a whole copy of a database in use or none, and a center that goes on from it."""

import collections
import contextlib
import hashlib
import os
import pathlib
import pty
import random
import re
import resource
import sqlite3
import stat
import subprocess
import sys
import threading
import time

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support import ledger  # noqa: E402 (path just set)
from support.center import Center, binary, clean_environment  # noqa: E402
from support.disk import DiskErrors, SmallDisk, may_mount  # noqa: E402
from support.history import days_ago, fill  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

ROWS = 20_000
NAME = re.compile(r"peal-\d{8}T\d{6}\.\d{3}Z\.db")


def peal(*args, **more):
    return subprocess.run([str(binary()), *map(str, args)], capture_output=True, text=True, timeout=120 * PATIENCE,
                          env=clean_environment(), check=False, **more)


def backup(center, out, *args, **more):
    return peal("backup", out, "--data", center.data, *args, **more)


def restore(center, file, **more):
    return peal("restore", file, "--data", center.data, **more)


def dump(path, but=()):
    """All rows of all tables."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {table: db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables if table not in but}


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def check_backup(path):
    """Whole, with a sum that is right, and for its owner only."""
    line = pathlib.Path(f"{path}.sha256").read_text()
    assert line == f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
    for file in (path, pathlib.Path(f"{path}.sha256")):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert not [p.name for p in path.parent.iterdir() if p.name.startswith(path.name) and
                p.name not in (path.name, path.name + ".sha256")]


@pytest.fixture
def center(tmp_path):
    """A stopped center with a group and a job."""
    center = Center(tmp_path / "center")
    with center:
        center.api().add_job(center.api().add_group("backup"), "h")
    return center


@pytest.fixture
def full(center):
    """The same with a log of some megabytes."""
    fill(center, [{"ms": days_ago(1), "param": "p" * 500} for _ in range(ROWS)])
    return center


# ---- backup --------------------------------------------------------------------------------------


@pytest.mark.parametrize("running", [True, False])
def test_a_backup_has_the_rows_of_the_database(full, tmp_path, running):
    out = tmp_path / "copy.db"
    with contextlib.ExitStack() as stack:
        if running:
            stack.enter_context(full)
        done = backup(full, out)
        assert (done.returncode, done.stderr) == (0, ""), done
        check_backup(out)
        # a running server renews its watermark, and the report of the days
        but = ("peal_epoch", "xxl_job_log_report", "peal_session") if running else ()
        assert dump(out, but) == dump(full.data / "peal.db", but)
        assert re.match(rf"{re.escape(str(out))}, [\d.]+ MiB, SHA-256 {hashlib.sha256(out.read_bytes()).hexdigest()}\n"
                        r"  has all that was committed until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC; log ids to 20000; "
                        r"0 runs were open\n$", done.stdout), done.stdout
        if running:
            assert full.get("/readyz")[0] == 200


def test_it_ends_under_writes_and_is_one_state(full, tmp_path):
    """Another handle commits all the time: a copy whose steps have snapshots of their own would begin anew for ever,
    and one without a snapshot would be of no single state."""
    path, stop = full.data / "peal.db", threading.Event()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE twice (side TEXT PRIMARY KEY, n INTEGER)")
        db.execute("INSERT INTO twice VALUES ('a', 0), ('b', 0)")
        db.commit()
    commits = 0

    def write():
        nonlocal commits
        with contextlib.closing(sqlite3.connect(path, timeout=20 * PATIENCE)) as db:
            db.execute("PRAGMA synchronous=OFF")
            while not stop.is_set():
                db.execute("UPDATE twice SET n = n + 1 WHERE side = 'a'")
                db.execute("UPDATE twice SET n = n + 1 WHERE side = 'b'")
                db.commit()
                commits += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        wait_until(lambda: commits > 10, "commits")
        before = commits
        done = backup(full, tmp_path / "copy.db")
        assert done.returncode == 0, done
        assert commits > before + 10, "nothing was written meanwhile"
    finally:
        stop.set()
        writer.join()
    check_backup(tmp_path / "copy.db")
    rows = dict(dump(tmp_path / "copy.db")["twice"])
    assert rows["a"] == rows["b"] >= before


def test_a_kill_leaves_no_file_with_the_final_name(full, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    whole = killed = 0
    begun = time.monotonic()
    assert backup(full, tmp_path / "whole.db").returncode == 0
    takes = time.monotonic() - begun
    for n in range(16):
        out = folder / f"{n}.db"
        process = subprocess.Popen([str(binary()), "backup", str(out), "--data", str(full.data)],
                                   env=clean_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0, takes) if n else 0)
        process.kill()
        process.wait()
        if out.exists():
            whole += 1
            check_backup(out)
        else:
            killed += 1
    assert killed, "each backup was faster than its kill"
    # what a kill has left is taken over by the next backup of that name
    for n in range(16):
        if not (folder / f"{n}.db").exists():
            assert backup(full, folder / f"{n}.db").returncode == 0
            check_backup(folder / f"{n}.db")
    assert names(folder) == sorted(f"{n}.db{end}" for n in range(16) for end in ("", ".sha256"))


def test_a_signal_ends_it_and_leaves_nothing(full, tmp_path):
    folder, disk = tmp_path / "backups", DiskErrors(tmp_path / "errors", "copy.db")
    folder.mkdir()
    disk.begin(disk.STOPS)
    process = subprocess.Popen([str(binary()), "backup", str(folder / "copy.db"), "--data", str(full.data)],
                               env=clean_environment(**disk.env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(disk.failures, "the copy to be written", 20, 0.01)
    assert names(folder)
    process.terminate()
    disk.end()
    _, said = process.communicate(timeout=60 * PATIENCE)
    assert (process.returncode, said, names(folder)) == (3, "peal backup: stopped\n", [])


def test_a_disk_without_room(full, tmp_path):
    if not may_mount(tmp_path / "try"):
        pytest.skip("needs the right to mount")
    with SmallDisk(tmp_path, "4m") as disk:
        done = backup(full, disk.folder / "copy.db")
        assert done.returncode == 3 and "no room for" in done.stderr, done
        assert names(disk.folder) == []
        assert backup(full, tmp_path / "copy.db").returncode == 0


def test_a_write_that_fails_leaves_nothing_and_removes_nothing(full, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    assert backup(full, folder, "--keep", 1).returncode == 0
    kept = names(folder)

    def small_files():  # larger ones cannot be written, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))

    done = backup(full, folder, "--keep", 1, preexec_fn=small_files)
    assert done.returncode == 3 and done.stderr.startswith("peal backup: cannot"), done
    assert names(folder) == kept


def test_a_damaged_database_is_no_backup(full, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    assert backup(full, folder, "--keep", 1).returncode == 0
    kept = names(folder)
    path = full.data / "peal.db"
    with open(path, "r+b") as f:
        for page in range(path.stat().st_size // 4096 // 2, path.stat().st_size // 4096, 7):
            f.seek(page * 4096)
            f.write(b"\x5a" * 512)
    done = backup(full, folder, "--keep", 1)
    assert done.returncode == 3 and "is not whole: " in done.stderr, done
    assert names(folder) == kept


def test_rows_that_do_not_fit_together_are_told(center, tmp_path):
    with ledger.opened(center, write=True) as db:
        db.execute("UPDATE peal_epoch SET planned = planned + 3")
    done = backup(center, tmp_path / "copy.db")
    assert done.returncode == 1 and "3 planned firings are not accounted for" in done.stderr, done
    check_backup(tmp_path / "copy.db")


def test_a_folder_keeps_the_newest(center, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    others = ["peal-19990101T000000.000Z.db.gz", "peal.db", "note.txt"]
    for name in [*others, "peal-19990101T000000.000Z.db", "peal-19990101T000000.000Z.db.sha256",
                 "peal-19990101T000001.000Z.db.part"]:
        (folder / name).write_text("x")
    made = []
    for _ in range(4):
        done = backup(center, folder, "--keep", "2")
        assert (done.returncode, done.stderr) == (0, "")
        made.append(done.stdout.split(",")[0].rsplit("/", 1)[1])
        assert NAME.fullmatch(made[-1])
    assert names(folder) == sorted(others + [name + end for name in made[-2:] for end in ("", ".sha256")])
    assert backup(center, folder).returncode == 0  # without --keep all stay
    assert len(names(folder)) == len(others) + 6


def test_what_it_refuses(center, tmp_path):
    out = tmp_path / "copy.db"
    out.write_text("mine")
    other = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE t (a)")
        db.commit()
    for args, text in [
        ((out, "--data", center.data), "exists already"),
        ((tmp_path / "nowhere" / "copy.db", "--data", center.data), "No such file or directory"),
        ((tmp_path / "new.db", "--data", tmp_path / "nowhere"), "No such file or directory"),
        ((tmp_path / "new.db", "--db", f"sqlite:{other}"), "has not been set up by this release"),
        ((tmp_path / "new.db", "--db", "mysql://user:secret@host/x"), "sqlite:FILE"),
    ]:
        done = peal("backup", *args)
        assert done.returncode == 3 and text in done.stderr and "secret" not in done.stderr, done
    assert out.read_text() == "mine" and not (tmp_path / "new.db").exists()
    assert not [name for name in names(tmp_path) if name.endswith((".part", ".sha256"))]


@pytest.mark.parametrize("args,text", [((), "usage"), (("a", "b"), "one file or folder"), (("a", "--what"), "--what"),
                                       (("a", "--keep", "0"), "whole number from 1"), (("a", "--keep", "x"), "whole number"),
                                       (("a", "--keep", "2"), "needs a folder")])
def test_bad_arguments(args, text, tmp_path):
    done = peal("backup", *args, cwd=tmp_path)
    assert done.returncode == 2 and text in done.stderr
    assert peal("restore").returncode == 2 and "usage" in peal("restore").stderr


def test_results_that_only_the_journal_has_are_told(center, tmp_path):
    """A result was acknowledged, the database did not get it, the server was killed."""
    with center:
        center.api()
        with contextlib.closing(sqlite3.connect(center.data / "peal.db", timeout=20 * PATIENCE)) as db:
            db.execute("BEGIN IMMEDIATE")
            reply = center.open_api("callback", [{"logId": 1, "logDateTim": 0, "handleCode": 200, "handleMsg": "x"}])
            assert reply["code"] == 200
            center.kill()
    done = backup(center, tmp_path / "copy.db")
    assert done.returncode == 0 and "1 results stand in" in done.stdout, done
    assert restore(center, tmp_path / "copy.db").returncode == 0
    kept = [p for p in center.data.iterdir() if p.name.startswith("replaced-")]
    assert names(kept[0]) == ["callbacks.journal", "callbacks.journal.2", "peal.db"]
    with center:
        assert "results were kept" not in center.tail()


def test_a_terminal_sees_how_far_it_is(full, tmp_path):
    seen, terminal = pty.openpty()
    try:
        done = subprocess.run([str(binary()), "backup", str(tmp_path / "copy.db"), "--data", str(full.data)],
                              stderr=terminal, stdout=subprocess.PIPE, env=clean_environment(), timeout=120 * PATIENCE, check=False)
        assert done.returncode == 0
        text = os.read(seen, 65536).decode()
    finally:
        os.close(seen)
        os.close(terminal)
    assert "[####" in text and "100 %" in text


# ---- by the server itself ------------------------------------------------------------------------


def test_a_server_backs_itself_up(tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    settings = ["--backup.folder", folder, "--backup.every", "1s", "--backup.keep", "2"]
    center = Center(tmp_path / "center", args=map(str, settings))

    def backups():
        return [name for name in names(folder) if NAME.fullmatch(name)]

    with center:
        center.api().add_group("backup")
        seen = set()

        def made():
            seen.update(backups())
            return len(seen) >= 4
        wait_until(made, "four backups", 180)  # its thread has the lowest priority
        assert time.time() - center.metric("peal_backup_last_success_timestamp_seconds") < 60
        assert center.metric("peal_backup_errors_total") == 0
    last = backups()  # the oldest go behind a backup, which the stop may have been before
    assert 2 <= len(last) <= 3 and last == sorted(seen | set(last))[-len(last):]
    for name in last:
        check_backup(folder / name)
    other = Center(tmp_path / "other")
    other.data.mkdir()
    assert restore(other, folder / last[-1]).returncode == 0
    with other:
        assert len(other.api().groups("backup")) == 1


def test_a_restart_makes_no_backup_before_its_time(center, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    center.args += ["--backup.folder", str(folder), "--backup.every", "1d"]
    with center:
        wait_until(lambda: [name for name in names(folder) if name.endswith(".db")], "the first backup")
        wait_until(lambda: center.metric("peal_backup_last_success_timestamp_seconds") > 0, "the metric")
    first = names(folder)
    with center:
        wait_until(lambda: center.metric("peal_backup_last_success_timestamp_seconds") > 0, "the look at the folder")
    assert names(folder) == first


def test_a_folder_that_is_not_there_holds_nothing_up(center, tmp_path):
    folder = tmp_path / "not-mounted"
    center.args += ["--backup.folder", str(folder), "--backup.every", "1s"]
    with center:
        wait_until(lambda: center.metric("peal_backup_errors_total") > 0, "an error")
        assert center.get("/readyz")[0] == 200
        assert center.metric("peal_backup_last_success_timestamp_seconds") == 0
        assert "no backup could be made: " in center.tail() and not folder.exists()
        folder.mkdir()
        wait_until(lambda: center.metric("peal_backup_last_success_timestamp_seconds") > 0, "a backup", 30)


def test_without_the_setting_there_is_none(center):
    with center:
        assert not [name for name, _, _ in center.metrics() if name.startswith("peal_backup")]


# ---- restore -------------------------------------------------------------------------------------


def lineage(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        return (db.execute("SELECT recorder FROM peal_epoch").fetchone()[0],
                db.execute("SELECT value FROM peal_seq WHERE name = 'log'").fetchone()[0])


def test_a_backup_is_put_in_the_place(full, tmp_path):
    out, path = tmp_path / "copy.db", full.data / "peal.db"
    path.chmod(0o640)
    assert backup(full, out).returncode == 0
    with full:
        full.api().add_group("later")
    old = dump(path)
    done = restore(full, out)
    assert (done.returncode, done.stderr) == (0, ""), done
    (kept,) = [p for p in full.data.iterdir() if p.name.startswith("replaced-")]
    assert "whose SHA-256 is right" in done.stdout and f"that was replaced is in {kept}" in done.stdout
    assert dump(kept / "peal.db") == old
    but = ("peal_epoch", "peal_seq")
    assert dump(path, but) == dump(out, but)
    assert lineage(path)[0] not in ("", lineage(out)[0], lineage(kept / "peal.db")[0])
    assert lineage(path)[1] == lineage(out)[1] + 2 ** 24
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert not [name for name in names(full.data) if "restore" in name or name.endswith(("-wal", "-shm"))]
    with full:
        assert full.api().groups("later") == [] and len(full.api().groups("backup")) == 1
    check_backup(out)  # it is not changed


def test_into_an_empty_folder(center, tmp_path):
    assert backup(center, tmp_path / "copy.db").returncode == 0
    other = Center(tmp_path / "other")
    other.data.mkdir()
    done = restore(other, tmp_path / "copy.db")
    assert done.returncode == 0 and "was replaced" not in done.stdout, done
    with other:
        assert len(other.api().groups("backup")) == 1


def test_an_older_release_s_backup_without_a_sum(center, tmp_path):
    """Made by SQLite's own shell: with a write-ahead log in its header and nothing beside it."""
    out = tmp_path / "copy.db"
    with contextlib.closing(sqlite3.connect(center.data / "peal.db")) as db, \
            contextlib.closing(sqlite3.connect(out)) as to:
        db.backup(to)
    for end in ("-wal", "-shm"):
        pathlib.Path(f"{out}{end}").unlink(missing_ok=True)
    done = restore(center, out)
    assert done.returncode == 0 and f"there is no {out}.sha256" in done.stdout, done
    with center:
        assert len(center.api().groups("backup")) == 1


def test_what_restore_refuses(full, tmp_path):
    out, path = tmp_path / "copy.db", full.data / "peal.db"
    assert backup(full, out).returncode == 0
    good, rows = out.read_bytes(), dump(path)
    summed = pathlib.Path(f"{out}.sha256")

    def refused(text, file=out):
        done = restore(full, file)
        assert done.returncode == 3 and text in done.stderr, done
        assert dump(path) == rows
        assert not [name for name in names(full.data) if "restore" in name or "replaced" in name], names(full.data)

    out.write_bytes(good[:-1] + b"x")
    refused("has been changed: its SHA-256 is")
    summed.write_text("nonsense\n")
    refused("has no line of sha256sum")
    summed.unlink()
    damaged = bytearray(good)
    for at in range(len(good) // 2 // 4096 * 4096, len(good), 7 * 4096):
        damaged[at:at + 512] = b"\x5a" * 512
    out.write_bytes(damaged)
    refused("is not whole: ")
    out.write_bytes(good[:len(good) // 2])
    refused("")
    out.write_bytes(b"")
    refused("is not a database of Peal")
    out.write_bytes(b"text " * 1000)
    refused("cannot be read as a database")
    out.write_bytes(good)
    wal = pathlib.Path(f"{out}-wal")
    wal.write_bytes(b"x")
    refused("a database in use, not a backup")
    wal.unlink()
    refused("is the database itself", path)
    refused("No such file", tmp_path / "nothing.db")
    refused("is not a file", tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE t (a)")
        db.commit()
    refused("is not a database of Peal", tmp_path / "other.db")
    with full:
        done = restore(full, out)
        assert done.returncode == 3 and "is in use by another server" in done.stderr
        assert full.running() and full.get("/readyz")[0] == 200
    assert restore(full, out).returncode == 0


def test_a_kill_of_restore_leaves_a_whole_database(full, tmp_path):
    out, path = tmp_path / "copy.db", full.data / "peal.db"
    assert backup(full, out).returncode == 0
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("INSERT INTO xxl_job_lock VALUES ('old')")
        db.commit()
    but = ("peal_epoch", "peal_seq", "xxl_job_lock")
    rows = dump(path, but)
    for n in range(12):
        process = subprocess.Popen([str(binary()), "restore", str(out), "--data", str(full.data)],
                                   env=clean_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0, 0.3))
        process.kill()
        process.wait()
        assert dump(path, but) == rows
        with contextlib.closing(sqlite3.connect(path)) as db:
            is_old = db.execute("SELECT count(*) FROM xxl_job_lock WHERE lock_name = 'old'").fetchone()[0] == 1
        assert is_old == (lineage(path)[1] == lineage(out)[1]), n
    assert restore(full, out).returncode == 0
    with full:
        assert len(full.api().groups("backup")) == 1


def test_a_damaged_database_is_replaced_and_kept(full, tmp_path):
    out, path = tmp_path / "copy.db", full.data / "peal.db"
    assert backup(full, out).returncode == 0
    path.write_bytes(b"\x5a" * 100_000)
    pathlib.Path(f"{path}-wal").write_bytes(b"\xa5" * 50_000)
    assert restore(full, out).returncode == 0
    (kept,) = [p for p in full.data.iterdir() if p.name.startswith("replaced-")]
    assert (kept / "peal.db").read_bytes() == b"\x5a" * 100_000
    with full:
        assert len(full.api().groups("backup")) == 1


# ---- all of it -----------------------------------------------------------------------------------

JOBS = 60


def test_a_backup_under_load_is_restored(tmp_path):
    """A center fires, is backed up meanwhile, fires on and is killed. From the backup, every run that stands in it comes
    to an end, no log id is given to two runs, and what had been sent since the backup is not sent again, to an
    executor that does not remember."""
    center = Center(tmp_path / "center").start()
    group = center.api().add_group("stock")
    center.stop()
    begin = int((time.time() + 2 * PATIENCE) * 1000)
    jobs = ledger.add_jobs(center, group, [
        ("demo", "", "FIX_RATE", "1000ms", "FIRST", begin + i * 1000 // JOBS) for i in range(JOBS)])
    with center, Puppet(center, "stock") as puppet:
        puppet.wait_for_runs(3 * JOBS, timeout=60)
        done = backup(center, tmp_path / "copy.db")
        assert done.returncode == 0, done
        check_backup(tmp_path / "copy.db")
        known = lineage(tmp_path / "copy.db")[1]
        wait_until(lambda: max(run["logId"] for run in puppet.runs()) > known + JOBS, "runs that the backup does not know", 60)
        center.kill()
        sent = len(puppet.runs())
        done = restore(center, tmp_path / "copy.db")
        assert done.returncode == 0 and f"of {JOBS}\n" in done.stdout, done
        center.start()
        puppet.wait_for_runs(sent + 3 * JOBS, timeout=60)
        # what ended since has given its result to the database that was replaced, and would be lost after 90 s: again
        assert center.open_api("callback", [
            {"logId": run["logId"], "logDateTim": run["logDateTime"], "handleCode": 200, "handleMsg": "again"}
            for run in puppet.runs()[:sent] if run["logId"] <= known])["code"] == 200
        wait_until(lambda: center.metric("peal_queue_length", queue="in_doubt") == 0, "reconciliation to end", 150)
        for job in jobs:
            center.api().stop_job(job)
        ledger.settle(center, 120)
        ids = collections.Counter(run["logId"] for run in puppet.runs())
        assert not [i for i, n in ids.items() if n > 1], "sent twice"
        assert not [i for i in list(ids)[:sent] if known < i <= known + 2 ** 24 and ledger.rows(
            center, "SELECT 1 FROM xxl_job_log WHERE id = ?", i)], "an id was given again"
        fresh = {i for i in ids if i > known + 2 ** 24}
        assert len(fresh) >= 3 * JOBS
        given = {row[0] for row in ledger.rows(center, "SELECT id FROM xxl_job_log")}
        assert fresh <= given
        ledger.check_accounts(center)
