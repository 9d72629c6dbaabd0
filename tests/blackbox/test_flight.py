# SPDX-License-Identifier: Apache-2.0
"""The flight recorder: after kill -9 a center asks executors only about what was in flight, and a recorder that cannot
be right is not believed. The executor is a stock one: it does not remember log ids, so what is sent twice runs twice."""

import collections
import contextlib
import os
import pathlib
import random
import shutil
import sqlite3
import struct
import sys
import time

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support import ledger  # noqa: E402 (path just set)
from support.center import Center  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

JOBS = 60
HEAD = struct.Struct("<QII40s40sQQ")  # magic, version, slots, boot id, recorder's id, renewals, without a word
WORDS_AT = 4096
LEAVING, ACCEPTED = 1, 2
BELIEVED = "the flight recorder of the last process: "


def files(center):
    return sorted(center.recorder.glob("peal-*"))


def head(path):
    return HEAD.unpack(path.read_bytes()[:HEAD.size])


def words(path):
    """{log id: state} of a recorder."""
    data = path.read_bytes()[WORDS_AT:]
    return {word >> 8: word & 255 for (word,) in struct.iter_unpack("<Q", data) if word}


def patch(path, offset, data):
    with open(path, "r+b") as f:
        f.seek(offset)
        f.write(data)


class Load:
    """A center with per-second jobs on one stock executor."""

    def __init__(self, folder, jobs=JOBS, **more):
        self.center = Center(folder / "center", **more).start()
        group = self.center.api().add_group("stock")
        self.center.stop()
        begin = int((time.time() + 2 * PATIENCE) * 1000)
        self.jobs = ledger.add_jobs(self.center, group, [
            ("demo", "", "FIX_RATE", "1000ms", "FIRST", begin + i * 1000 // jobs) for i in range(jobs)])
        self.puppet = Puppet(self.center, "stock")

    def __enter__(self):
        self.center.start()
        self.puppet.__enter__()
        return self

    def __exit__(self, kind, *_):
        self.puppet.__exit__()
        self.center.__exit__(kind)

    def asked(self):
        return {call.body["logId"] for call in self.puppet.of("log")}

    def wait_for_more(self, runs):
        self.puppet.wait_for_runs(len(self.puppet.runs()) + runs, timeout=60)

    def finish(self):
        wait_until(lambda: self.center.metric("peal_queue_length", queue="in_doubt") == 0, "doubts to end", 90)
        api = self.center.api()
        for job in self.jobs:
            api.stop_job(job)
        ledger.settle(self.center, 120)

    def check(self):
        """Nothing lost, nothing doubled: by what the executor saw, and by the tables."""
        ids = collections.Counter(run["logId"] for run in self.puppet.runs())
        assert not [i for i, n in ids.items() if n > 1], "sent twice to an executor that does not remember"
        given = {row[0] for row in ledger.rows(self.center, "SELECT id FROM xxl_job_log")}
        assert set(ids) == given, (sorted(set(ids) - given)[:5], sorted(given - set(ids))[:5])
        bad = ledger.rows(self.center, "SELECT id, trigger_code, handle_code, handle_msg FROM xxl_job_log "
                                       "WHERE handle_code <> 200")
        assert not bad, [tuple(row) for row in bad[:5]]
        for job in self.jobs:
            ledger.check_contiguous(self.center, job, 1)
        ledger.check_accounts(self.center)
        assert self.center.metric("peal_recorder_wrong_total") == 0


@pytest.fixture
def load(tmp_path):
    with Load(tmp_path) as it:
        it.wait_for_more(JOBS)
        yield it


def killed_with_runs_out(load):
    """Runs of each kind are at the executor when the center is killed: (leaving, accepted) by the words."""
    puppet = load.puppet
    puppet.automatic = False
    load.wait_for_more(5)
    puppet.hold()
    wait_until(lambda: puppet.open >= 5, "runs that wait for their answer")
    load.center.kill()
    seen = words(files(load.center)[0])
    kept = {row[0] for row in ledger.rows(load.center, "SELECT log_id FROM peal_run WHERE phase = 4")}
    out = {run["logId"] for run in puppet.runs()} - puppet.ended
    assert out <= set(seen) | kept, "out, and neither words nor rows say so"
    puppet.automatic = True
    puppet.release()
    return {i for i, state in seen.items() if state == LEAVING}, {i for i, state in seen.items() if state == ACCEPTED}


@pytest.mark.every_engine
def test_after_a_kill_only_what_was_in_flight_is_in_doubt(load):
    leaving, accepted = killed_with_runs_out(load)
    out = [run for run in load.puppet.runs() if run["logId"] not in load.puppet.ended]
    assert len(leaving) >= 5
    mark = ledger.number(load.center, "SELECT max(watermark_ms) FROM peal_epoch")
    within = {row[0] for row in ledger.rows(load.center, "SELECT log_id FROM peal_run WHERE phase = 1 AND due_ms <= ?", mark)}
    assert within - leaving - accepted, "rows that the watermark alone would call in doubt"
    load.center.start()
    said = f"{BELIEVED}{len(leaving)} runs may have left, {len(accepted)} were accepted"
    assert said in load.center.tail(), load.center.tail()
    assert load.center.metric("peal_recorder") == 1
    doubted = {row[0] for row in ledger.rows(load.center, "SELECT log_id FROM peal_run WHERE doubted = 1")}
    assert doubted <= leaving
    for run in out:
        load.puppet.report(run)
    load.wait_for_more(2 * JOBS)
    assert load.asked() <= leaving | {run["logId"] for run in out}
    load.finish()
    load.check()


@pytest.mark.every_engine
def test_kills_at_any_moment_lose_and_double_nothing(load):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    dice = random.Random(seed)
    asked = 0
    for _ in range(5):
        load.wait_for_more(dice.randrange(20, 100))
        time.sleep(dice.random() / 10)
        load.center.kill()
        load.puppet.wait_for_quiet()
        sent = {run["logId"] for run in load.puppet.runs()}
        before = load.asked()
        load.center.start()
        assert BELIEVED in load.center.tail(), load.center.tail()
        load.wait_for_more(10)
        assert load.asked() - before <= sent, "reconciled, and it had not left"
        asked += len(load.asked() - before)
    load.finish()
    load.check()
    print("asked about", asked)


@pytest.mark.every_engine
def test_a_kill_during_recovery_is_as_one_kill(load):
    load.center.kill()
    dice = random.Random(7)
    for _ in range(8):
        started = Starting(load.center)
        time.sleep(dice.random() / 15)
        started.kill()
    load.center.start()
    assert BELIEVED in load.center.tail(), load.center.tail()
    assert len(files(load.center)) == 1
    load.wait_for_more(JOBS)
    load.finish()
    load.check()


class Starting:
    """A center that is killed before anybody could see it ready."""

    def __init__(self, center):
        self.center = center
        ready, center._ready = center._ready, lambda: True
        try:
            center.start()
        finally:
            center._ready = ready

    def kill(self):
        with contextlib.suppress(AssertionError):
            self.center.kill()


def another_boot(load, path):
    patch(path, 16, b"x")


def torn(load, path):
    patch(path, 0, bytes(16))


def full(load, path):
    patch(path, HEAD.size - 8, struct.pack("<Q", 1))


def unknown_word(load, path):
    patch(path, WORDS_AT + 8 * 1000, struct.pack("<Q", 1 << 8 | 7))


def id_of_the_future(load, path):
    patch(path, WORDS_AT + 8 * 1000, struct.pack("<Q", 1 << 40 | 1))


def shorter(load, path):
    os.truncate(path, path.stat().st_size - 8)


def gone(load, path):
    path.unlink()


def readable_by_others(load, path):
    path.chmod(0o644)


def a_link(load, path):
    shutil.move(path, load.center.recorder / "elsewhere")
    path.symlink_to(load.center.recorder / "elsewhere")


def of_another_database(load, path):
    with Center(load.center.folder / "other", env={"PEAL_RECORDER": str(load.center.recorder)}) as other:
        wait_until(lambda: len(files(load.center)) == 2, "the recorder of the other center")
        theirs = (set(files(load.center)) - {path}).pop().read_bytes()
        other.kill()
    path.write_bytes(theirs)


SPOILT = [
    (another_boot, "the machine was started since"), (torn, "it is not one, or was never finished"),
    (full, "it was full"), (unknown_word, "word 1000 cannot be understood"),
    (id_of_the_future, "which the database has not given yet"), (shorter, "there is no file with its id"), (gone, "there is no file with its id"),
    (readable_by_others, "there is no file with its id"), (a_link, "there is no file with its id"), (of_another_database, "there is no file with its id"),
]


@pytest.mark.parametrize("spoil, why", SPOILT, ids=[row[0].__name__ for row in SPOILT])
def test_a_recorder_that_cannot_be_right_is_not_believed(load, spoil, why):
    load.center.kill()
    (path,) = files(load.center)
    spoil(load, path)
    load.center.start()
    log = load.center.tail()
    assert BELIEVED not in log
    line = [line for line in log.splitlines() if "is not believed" in line][-1]
    assert why in line, line
    load.wait_for_more(JOBS // 2)
    load.finish()
    load.check()


def test_a_backup_that_is_put_back_is_older_than_the_recorder(load):
    with ledger.opened(load.center) as db, sqlite3.connect(load.center.folder / "backup.db") as copy:
        db.backup(copy)
    (path,) = files(load.center)
    heard = head(path)[5]
    wait_until(lambda: head(path)[5] >= heard + 2, "two renewals more")
    load.center.kill()
    for name in ("peal.db-wal", "peal.db-shm"):
        (load.center.data / name).unlink(missing_ok=True)
    shutil.copyfile(load.center.folder / "backup.db", load.center.data / "peal.db")
    load.center.start()
    line = [line for line in load.center.tail().splitlines() if "is not believed" in line][-1]
    assert "the database is older than it" in line or "has not given yet" in line, line
    ledger.check_accounts(load.center)


def test_a_life_without_a_recorder_is_remembered_as_such(load):
    load.center.kill()
    with_recorder, load.center._env["PEAL_RECORDER"] = load.center._env["PEAL_RECORDER"], "none"
    load.center.start()
    assert BELIEVED not in load.center.tail()
    assert "no flight recorder: the setting is none" in load.center.tail()
    assert load.center.metric("peal_recorder") == 0
    load.wait_for_more(JOBS)
    load.center.kill()
    load.center._env["PEAL_RECORDER"] = with_recorder
    load.center.start()
    assert "is not believed: the last process had none" in load.center.tail()
    load.wait_for_more(JOBS // 2)
    load.finish()
    load.check()


def test_a_clean_stop_leaves_no_file(tmp_path):
    with Center(tmp_path / "center") as center:
        (path,) = files(center)
        assert path.stat().st_mode & 0o777 == 0o600
        assert words(path) == {}
    assert files(center) == []


@pytest.mark.parametrize("folder, why", [("on-disk", "is not on tmpfs"), ("missing", "No such file or directory")])
def test_without_a_place_for_it_the_center_runs_and_says_so(tmp_path, folder, why):
    (tmp_path / "on-disk").mkdir()
    with Center(tmp_path / "center", ["--recorder", str(tmp_path / folder)]) as center:
        lines = [line for line in center.tail().splitlines() if "no flight recorder: " in line]
        assert len(lines) == 1 and why in lines[0], center.tail()
        assert center.get("/readyz")[0] == 200
        assert list((tmp_path / "on-disk").iterdir()) == []


def test_systemd_names_the_folder(tmp_path):
    with Center(tmp_path / "center") as center:
        center.stop()
        del center._env["PEAL_RECORDER"]
        center._env["RUNTIME_DIRECTORY"] = f"{center.recorder}:/nowhere"
        center.start()
        assert len(files(center)) == 1
