# SPDX-License-Identifier: Apache-2.0
"""Disks that fill up, refuse writing or hand back rubbish: what was acknowledged is kept, the message says
what to do, and the center goes on when the cause is gone."""

import contextlib
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import ledger, webapi  # noqa: E402
from support.center import Center, binary  # noqa: E402
from support.disk import FailingDisk, SmallDisk, SmallFiles, may_mount  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

NOBODY = 65534


def each_second(api, app="tests", **fields):
    job = api.add_job(api.add_group(app), "each second", scheduleType="CRON", scheduleConf="* * * * * ?", **fields)
    api.start_job(job)
    return job


def ready(center):
    return center.get("/readyz")[0] == 200


def wait_for_trouble(center):
    """Wait for /readyz to turn red; the reason. /livez stays green: a restart would not help."""
    wait_until(lambda: not ready(center), "/readyz to turn red", 30)
    assert center.get("/livez")[0] == 200
    return center.get("/readyz?verbose")[2].decode()


def press(center, api, job):
    """Ask for runs with large parameters until the disk has no room for one more: a file that is there already
    has room of its own for a while. How many were acknowledged."""
    kept = 0
    while ready(center):
        with contextlib.suppress(webapi.ApiError, OSError):
            api.trigger(job, "x" * 60000)
            kept += 1
        assert kept < 2000, "that disk is never full"
    return kept


def outage(center, disk, puppet, jobs, crash):
    """The disk fills up and gets room again. The run that ended meanwhile, how many triggers of the bulky job were
    acknowledged."""
    api = center.api()
    puppet.automatic = False
    seen = max(len(puppet.runs()), 1)  # these may have had their result already
    run = puppet.wait_for_runs(seen + 1)[seen]
    puppet.automatic = True
    said = len(center.tail(1 << 30))
    disk.fill(center)
    kept = press(center, api, jobs["bulky"])
    reason = wait_for_trouble(center)
    assert "full" in reason or "disk" in reason, reason
    wait_until(lambda: "trying again" in center.tail(1 << 30)[said:], "the log to say it")
    assert "make room" in center.tail() or "disk" in center.tail(), center.tail()
    # acknowledged, because the journal has it: its room was taken when there was some
    reply = center.open_api("callback", [{"logId": run["logId"], "logDateTim": run["logDateTime"],
                                          "handleCode": 200, "handleMsg": "while the disk was full"}])
    assert reply["code"] == 200, reply
    with pytest.raises(webapi.ApiError, match="nothing was changed"):  # at once, and for certain
        api.add_job(1, "not kept")
    # the mark ends, and with it the firing
    def quiet():
        seen = len(puppet.runs())
        time.sleep(1.5)
        return len(puppet.runs()) == seen
    wait_until(quiet, "firing to pause", 20)
    before = len(puppet.runs())
    if crash:
        center.kill()
    disk.free(center)
    if crash:
        center.start()
    wait_until(lambda: ready(center), "/readyz to turn green", 30)
    puppet.wait_for_runs(before + 3)
    return run["logId"], kept


def check_full_disk(disk, tmp_path, crash, times=1):
    center = Center(disk.folder, env={})
    center.output = tmp_path / "center.log"  # what it says does not go to the disk that is full
    with center, Puppet(center, "tests") as puppet:
        api = center.api()
        jobs = {"each second": each_second(api), "bulky": api.add_job(api.groups("tests")[0]["id"], "bulky")}
        outages = [outage(center, disk, puppet, jobs, crash) for _ in range(times)]
        ended = [log_id for log_id, _ in outages]
        for late in puppet.runs():  # what nobody acknowledged is sent again, and what was does no harm
            if late["logId"] not in ended:
                puppet.report(late)
        center.api().stop_job(jobs["each second"])
        ledger.settle(center)
        ledger.check_contiguous(center, jobs["each second"], 1)
        kept = sum(n for _, n in outages)
        assert ledger.number(center, "SELECT count(*) FROM xxl_job_log WHERE job_id = ?", jobs["bulky"]) >= kept
        for log_id in ended:
            row = ledger.rows(center, "SELECT handle_msg FROM xxl_job_log WHERE id = ?", log_id)[0]
            assert row["handle_msg"] == "while the disk was full", "acknowledged is kept"
        assert not ledger.number(center, "SELECT count(*) FROM xxl_job_info WHERE executor_handler = 'not kept'")
        ids = [run["logId"] for run in puppet.runs()]
        assert len(ids) == len(set(ids)), "nothing ran twice"
        codes = {row["id"]: row["handle_code"] for row in ledger.rows(center, "SELECT id, handle_code FROM xxl_job_log")}
        assert all(codes[i] == 200 for i in ids)
        ledger.check_accounts(center)
        center.restart()
        ledger.check_accounts(center)
        assert sqlite3.connect(center.data / "peal.db").execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_a_disk_that_is_full_twice_loses_nothing_and_the_center_goes_on(tmp_path):
    """On a small disk of its own where that is permitted, else with files that may not grow: both are a write
    that fails with the center in the middle of its work."""
    with (SmallDisk if may_mount(tmp_path / "try") else SmallFiles)(tmp_path) as disk:
        check_full_disk(disk, tmp_path, crash=False, times=2)


def test_files_that_may_not_grow_lose_nothing_though_the_center_is_killed_meanwhile(tmp_path):
    with SmallFiles(tmp_path) as disk:
        check_full_disk(disk, tmp_path, crash=True)


def test_a_file_system_that_turns_read_only_stops_the_center_from_promising_and_keeps_what_it_promised(tmp_path):
    """The kernel finds an error in the data folder's file system. What was planned is still sent; then nothing is
    promised that could not be kept, and the reason is said. After a repair all goes on from what was acknowledged."""
    if os.geteuid() != 0:
        pytest.skip("a file system can be mounted by root only")
    with FailingDisk(tmp_path) as disk:
        center = Center(disk.folder / "center")
        center.output = tmp_path / "center.log"
        with center, Puppet(center, "tests") as puppet:
            api = center.api()
            job = each_second(api, misfireStrategy="FIRE_ALL", misfireMax=1000)
            puppet.wait_for_runs(2)
            puppet.automatic = False
            seen = len(puppet.runs())
            run = puppet.wait_for_runs(seen + 1)[seen]
            kept = api.add_job(api.groups("tests")[0]["id"], "kept")
            disk.fail()
            reason = wait_for_trouble(center)
            assert "read-only" in reason, reason
            assert center.metric("peal_commit_errors_total") > 0
            with pytest.raises(webapi.ApiError, match="read-only"):
                api.add_job(api.groups("tests")[0]["id"], "not kept")
            result = {"logId": run["logId"], "logDateTim": run["logDateTime"], "handleCode": 200, "handleMsg": "late"}
            assert center.open_api("callback", [result])["code"] != 200, "the executor keeps it, and says it again"
            assert "read-only" in center.tail(), center.tail()
            center.kill()
            puppet.wait_for_quiet()
            disk.repair()
            puppet.automatic = True
            center.start()
            for each in puppet.runs():
                if each["logId"] not in puppet.ended:
                    puppet.report(each)
            puppet.wait_for_runs(len(puppet.runs()) + 3)
            center.api().stop_job(job)
            ledger.settle(center)
            ledger.check_contiguous(center, job, 1)
            ids = [run["logId"] for run in puppet.runs()]
            assert len(ids) == len(set(ids)), "nothing ran twice"
            names = {row["id"] for row in ledger.rows(center, "SELECT id FROM xxl_job_info")}
            assert kept in names and len(names) == 2, names
            ledger.check_accounts(center)


def test_a_disk_that_is_full_at_start_is_refused_with_a_reason(tmp_path):
    center = Center(tmp_path / "center")
    done = subprocess.run(["prlimit", "--fsize=8192", str(binary()), "server", "--listen", "127.0.0.1:0", "--data",
                           str(center.data)], env=center._env, capture_output=True, text=True, timeout=60 * PATIENCE,
                          check=False)
    assert done.returncode > 0, "refused, not ended by a signal: " + done.stderr
    assert "disk" in done.stderr and "peal.db" in done.stderr, done.stderr
    with center:  # and it is no obstacle later
        assert center.api().groups() is not None


def refused(center, timeout=20):
    """Start a center that must refuse; what it said."""
    with pytest.raises(RuntimeError) as refusal:
        center.start(timeout)
    assert center.process.returncode not in (0, None) and center.process.returncode > 0, str(refusal.value)
    return str(refusal.value)


@pytest.fixture
def bound(tmp_path, monkeypatch):
    """A folder, for a center whom permissions bind. As root they would not: then it is started as nobody, in a place
    where that user may go, with a copy of the binary there (the one of the tree may lie in somebody's private home)."""
    if os.geteuid() != 0:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="peal-tests-", dir="/tmp") as place:
        place = pathlib.Path(place)
        copy = shutil.copy(binary(), place)
        for path in (place, pathlib.Path(copy)):
            os.chown(path, NOBODY, NOBODY)
            path.chmod(0o755)
        real = subprocess.Popen

        def popen(argv, **more):
            return real(argv, user=NOBODY, group=NOBODY, extra_groups=[], **more)
        try:
            popen([copy, "--version"], stdout=subprocess.DEVNULL).wait()
        except OSError as error:
            pytest.skip(f"no program can be run as another user in /tmp: {error}")
        monkeypatch.setenv("PEAL_BIN", copy)
        monkeypatch.setattr(subprocess, "Popen", popen)
        yield place


def center_in(folder):
    center = Center(folder / "center")
    if os.geteuid() == 0:
        os.chown(center.folder, NOBODY, NOBODY)
    return center


def test_a_read_only_database_is_refused_and_nothing_is_touched(bound):
    center = center_in(bound)
    with center:
        each_second(center.api())
    database = center.data / "peal.db"
    before = database.read_bytes()
    database.chmod(0o444)
    center.data.chmod(0o555)
    said = refused(center)
    assert "permission" in said and "peal.db" in said, said
    assert database.read_bytes() == before
    center.data.chmod(0o755)
    database.chmod(0o644)
    with center:
        ledger.check_accounts(center)


def test_a_data_folder_that_cannot_be_written_is_refused(bound):
    center = center_in(bound)
    center.data.mkdir()
    center.data.chmod(0o555)
    said = refused(center)
    assert str(center.data) in said and "ermission" in said, said
    center.data.rmdir()
    center.data.write_text("a file")
    said = refused(center)
    assert str(center.data) in said, said


def test_a_database_that_becomes_read_only_under_way_is_waited_for(tmp_path):
    """Another program holds the write lock for longer than the center waits: no commit, then all goes on."""
    with Center(tmp_path / "center") as center, Puppet(center, "tests") as puppet:
        api = center.api()
        job = each_second(api)
        puppet.wait_for_runs(2)
        blocker = sqlite3.connect(center.data / "peal.db", isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        reason = wait_for_trouble(center)
        wait_until(lambda: "write lock" in center.tail(), "the log to name the lock", 20)
        assert reason
        seen = len(puppet.runs())
        blocker.execute("ROLLBACK")
        blocker.close()
        wait_until(lambda: ready(center), "/readyz to turn green", 30)
        puppet.wait_for_runs(seen + 3)
        api.stop_job(job)
        ledger.settle(center)
        ledger.check_contiguous(center, job, 1)
        ledger.check_accounts(center)


@pytest.mark.parametrize("damage", ["header", "middle", "text"])
def test_a_damaged_database_is_refused_and_left_as_it_is(tmp_path, damage):
    center = Center(tmp_path / "center")
    with center:
        api = center.api()
        group = api.add_group("tests")
        for i in range(50):
            api.add_job(group, f"job {i}", executorParam="x" * 2000)
    database = center.data / "peal.db"
    sqlite3.connect(database).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    good = database.read_bytes()
    if damage == "header":
        bad = bytes(200) + good[200:]
    elif damage == "middle":
        bad = good[:4096] + os.urandom(len(good) - 4096)
    else:
        bad = b"this is somebody's shopping list\n" * 200
    database.write_bytes(bad)
    said = refused(center)
    assert "peal.db" in said, said
    assert any(word in said for word in (".recover", "backup", "another program", "other program")), said
    assert database.read_bytes()[:4096] == bad[:4096], "it is kept for those who can save something"
    database.write_bytes(good)
    for side in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            (center.data / ("peal.db" + side)).unlink()
    with center:
        assert len(center.api().pages("/jobinfo/pageList", jobGroup=-1, triggerStatus=-1, jobDesc="",
                                      executorHandler="", author="")) >= 50


def test_a_second_server_on_the_same_data_is_refused_and_the_first_goes_on(tmp_path):
    with Center(tmp_path / "center") as first, Puppet(first, "tests") as puppet:
        job = each_second(first.api())
        second = Center(tmp_path / "second")
        second.data = first.data
        said = refused(second)
        assert "in use by another server" in said and str(first.process.pid) in said, said
        puppet.wait_for_runs(len(puppet.runs()) + 2)
        first.kill()  # the lock goes with its process, however it ends
        second.port = first.port
        with second:
            puppet.wait_for_runs(len(puppet.runs()) + 2)
            second.api().stop_job(job)
            ledger.settle(second)
            ledger.check_accounts(second)


def test_sigkill_in_the_middle_of_commits_keeps_what_was_acknowledged(tmp_path):
    """Jobs are added as fast as they go while the center is killed: each add that was answered is there."""
    center = Center(tmp_path / "center").start()
    kept = []
    for _ in range(3):
        api = center.api()
        group = api.groups("tests")[0]["id"] if api.groups("tests") else api.add_group("tests")
        for i in range(15):
            kept.append(api.add_job(group, f"job {i}"))
        center.process.send_signal(signal.SIGSTOP)
        center.restart()
    have = {row["id"] for row in ledger.rows(center, "SELECT id FROM xxl_job_info")}
    assert set(kept) <= have and len(kept) == len(set(kept))
    center.stop()
    shutil.rmtree(center.data)
