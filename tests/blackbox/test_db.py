# SPDX-License-Identifier: Apache-2.0
"""`peal db compact`: a smaller file with the same rows, and the old file whenever anything is in the way."""

import contextlib
import os
import pty
import resource
import sqlite3
import stat
import subprocess
import time

import pytest
from support import ledger
from support.center import Center, binary, clean_environment
from support.history import days_ago, fill
from support.wait import PATIENCE

ROWS = 20_000


def compact(*args, **more):
    return subprocess.run([str(binary()), "db", "compact", *args], capture_output=True, text=True, timeout=120 * PATIENCE,
                          env=clean_environment(), check=False, **more)


def dump(path):
    """All rows of all tables."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {table: db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables}


@pytest.fixture
def holed(tmp_path):
    """A stopped center whose file is mostly room that deleted rows have left."""
    center = Center(tmp_path)
    with center:
        group = center.api().add_group("compact")
        center.api().add_job(group, "h")
    fill(center, [{"ms": days_ago(1), "param": "p" * 500} for _ in range(ROWS)])
    with ledger.opened(center, write=True) as db:
        db.execute("DELETE FROM xxl_job_log WHERE id % 10")
    return center


def files(center):
    return sorted(p.name for p in center.data.iterdir() if p.name.startswith("peal.db") and p.name != "peal.db.lock")


def test_the_file_becomes_smaller_and_keeps_its_rows(holed):
    path = holed.data / "peal.db"
    path.chmod(0o640)
    before, rows = path.stat().st_size, dump(path)
    done = compact("--data", str(holed.data))
    assert (done.returncode, done.stderr) == (0, ""), done
    assert "MiB, was" in done.stdout
    assert path.stat().st_size < before / 4
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert files(holed) == ["peal.db"]
    after = dump(path)
    assert after == rows and len(after["xxl_job_log"]) == ROWS // 10
    with holed:
        assert len(holed.api().groups("compact")) == 1
        assert holed.api().add_job(holed.api().groups("compact")[0]["id"], "h2") == 2


def test_another_file_by_its_url(holed, tmp_path):
    moved = tmp_path / "elsewhere.db"
    (holed.data / "peal.db").rename(moved)
    assert compact("--db", f"sqlite:{moved}").returncode == 0


def test_it_refuses_while_a_server_runs(holed):
    with holed:
        before = (holed.data / "peal.db").stat().st_ino
        done = compact("--data", str(holed.data))
        assert done.returncode == 3 and "is in use by another server" in done.stderr
        assert (holed.data / "peal.db").stat().st_ino == before
        assert holed.running()


def test_it_refuses_while_another_program_reads(holed):
    path = holed.data / "peal.db"
    rows = dump(path)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("INSERT INTO xxl_job_lock VALUES ('other')")
        db.commit()
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM xxl_job_log").fetchone()  # holds a snapshot
        done = compact("--data", str(holed.data))
        db.rollback()
    assert done.returncode == 3 and "another program" in done.stderr, done
    rows["xxl_job_lock"] = sorted([*rows["xxl_job_lock"], ("other",)])
    assert dump(path) == rows and "peal.db.compact" not in files(holed)


def test_a_disk_without_room_leaves_the_old_file(holed):
    path = holed.data / "peal.db"
    rows, inode = dump(path), path.stat().st_ino

    def small_files():  # larger ones cannot be written, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    done = compact("--data", str(holed.data), preexec_fn=small_files)
    assert done.returncode != 0
    assert path.stat().st_ino == inode and dump(path) == rows
    assert compact("--data", str(holed.data)).returncode == 0
    assert dump(path) == rows and files(holed) == ["peal.db"]


def test_a_kill_leaves_a_whole_file(holed):
    path = holed.data / "peal.db"
    rows = dump(path)
    for wait in (0.001, 0.01, 0.03, 0.06, 0.1):
        process = subprocess.Popen([str(binary()), "db", "compact", "--data", str(holed.data)], env=clean_environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait)
        process.kill()
        process.wait()
        assert dump(path) == rows
    assert compact("--data", str(holed.data)).returncode == 0
    assert dump(path) == rows and files(holed) == ["peal.db"]


def test_a_terminal_sees_how_far_it_is(holed):
    seen, terminal = pty.openpty()
    try:
        done = subprocess.run([str(binary()), "db", "compact", "--data", str(holed.data)], stderr=terminal,
                              stdout=subprocess.PIPE, env=clean_environment(), timeout=120 * PATIENCE, check=False)
        assert done.returncode == 0
        text = os.read(seen, 65536).decode()
    finally:
        os.close(seen)
        os.close(terminal)
    assert "[####" in text and "100 %" in text


@pytest.mark.parametrize("args,text", [((), "usage"), (("shrink",), "there are compact"),
                                       (("compact", "--what",), "--what")])
def test_bad_arguments(args, text):
    done = subprocess.run([str(binary()), "db", *args], capture_output=True, text=True, timeout=20 * PATIENCE, check=False,
                          env=clean_environment())
    assert done.returncode == 2 and text in done.stderr


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    done = compact("--data", str(tmp_path))
    assert done.returncode == 3 and "No such file" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_another_database_is_not_for_it():
    done = compact("--db", "mysql://user:secret@host/x")
    assert done.returncode == 3 and "sqlite:FILE" in done.stderr and "secret" not in done.stderr
