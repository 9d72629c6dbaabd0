# SPDX-License-Identifier: Apache-2.0
"""Acknowledged is on the disk: while the disk does not say that it has what was written (fsync does not return),
no request is told that it is kept, no handler is entered, and no result goes out as one that cannot be lost."""

import pathlib
import sys
import threading
import time

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support import ledger  # noqa: E402 (path just set)
from support.center import Center  # noqa: E402
from support.disk import DiskErrors  # noqa: E402
from support.executor import Executor  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.standin import StandinCenter  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

A_MOMENT = 0.4  # for what must not happen; a slow machine only makes it easier to pass


class Asked:
    """A call under way, and its answer."""

    def __init__(self, call):
        self._call, self._answer = call, None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            self._answer = (self._call(), None)
        except Exception as error:  # noqa: BLE001 (handed on)
            self._answer = (None, error)

    def within(self, seconds):
        self._thread.join(seconds)
        return self._answer

    def answer(self):
        assert self.within(30 * PATIENCE), "no answer came"
        answer, error = self._answer
        if error:
            raise error
        return answer


def wait_for_held(disk):
    wait_until(disk.failures, "something to be synced: what is not synced is not kept", 20, 0.01)


@pytest.fixture
def center_disk(tmp_path):
    disk = DiskErrors(tmp_path / "errors", "/data/")
    with Center(tmp_path / "center", env=disk.env) as center:
        yield center, disk
        disk.end()


def test_an_edit_is_answered_when_the_disk_has_it(center_disk):
    center, disk = center_disk
    api = center.api()
    group = api.add_group("tests")
    disk.begin(disk.HOLDS)
    asked = Asked(lambda: api.add_job(group, "kept"))
    wait_for_held(disk)
    assert asked.within(A_MOMENT) is None, asked.answer()
    disk.end()
    job = asked.answer()
    center.restart()
    assert job in {row["id"] for row in ledger.rows(center, "SELECT id FROM xxl_job_info")}


def test_a_result_is_acknowledged_when_the_disk_has_it(center_disk):
    """The database and the journal stand still: the executor hears in time that it must come again."""
    center, disk = center_disk
    with Puppet(center, "tests", automatic=False) as puppet:
        api = center.api()
        api.trigger(api.add_job(api.add_group("tests"), "once"))
        run = puppet.wait_for_runs(1)[0]
        disk.begin(disk.HOLDS)
        result = [{"logId": run["logId"], "logDateTim": run["logDateTime"], "handleCode": 200, "handleMsg": "kept"}]
        reply = center.open_api("callback", result)
        assert reply["code"] == 500 and "again" in reply["msg"], reply
        assert disk.failures(), "nothing was synced"
        disk.end()
        assert center.open_api("callback", result)["code"] == 200
        center.restart()
        assert ledger.rows(center, "SELECT handle_msg FROM xxl_job_log WHERE id = ?",
                           run["logId"])[0]["handle_msg"] == "kept"


def test_a_result_without_room_is_refused(center_disk):
    """100,000 results of runs that are not in memory wait for the database; one more has to come again."""
    center, disk = center_disk
    unknown = [{"logId": 1000000 + i, "handleCode": 200} for i in range(100000)]
    api = center.api()
    disk.begin(disk.HOLDS)
    asked = Asked(lambda: api.add_group("tests"))
    wait_for_held(disk)  # so the batch after it gathers all that comes
    assert center.open_api("callback", unknown)["code"] == 500
    reply = center.open_api("callback", [{"logId": 1, "handleCode": 200}])
    assert reply["code"] == 500 and "too many" in reply["msg"], reply
    for _ in range(3):
        assert center.open_api("callback", [{"logId": 1, "handleCode": 200}])["code"] == 500
    assert center.metric("peal_results_refused_total") == 4
    assert center.output.read_text().count("results were refused, because too many wait") == 1
    disk.end()
    asked.answer()
    wait_until(lambda: center.open_api("callback", [{"logId": 1, "handleCode": 200}])["code"] == 200,
               "results to be taken again", 30)


def test_a_result_that_only_the_journal_has_survives(tmp_path):
    """The database stands still, the journal does not: acknowledged, and there after kill -9."""
    disk = DiskErrors(tmp_path / "errors", "peal.db")
    with Center(tmp_path / "center", env=disk.env) as center, Puppet(center, "tests", automatic=False) as puppet:
        api = center.api()
        api.trigger(api.add_job(api.add_group("tests"), "once"))
        run = puppet.wait_for_runs(1)[0]
        disk.begin(disk.STOPS)
        reply = center.open_api("callback", [{"logId": run["logId"], "logDateTim": run["logDateTime"],
                                              "handleCode": 200, "handleMsg": "kept"}])
        assert reply["code"] == 200, reply
        center.kill()
        disk.end()
        center.start()

        def kept():
            row = ledger.rows(center, "SELECT handle_code, handle_msg FROM xxl_job_log WHERE id = ?", run["logId"])[0]
            return (row["handle_code"], row["handle_msg"]) == (200, "kept")
        wait_until(kept, "the result to reach the database")


@pytest.fixture
def executor_disk(tmp_path):
    disk = DiskErrors(tmp_path / "errors", "journal.db")
    with StandinCenter() as center, Executor(tmp_path, center.url, env=disk.env) as executor:
        yield center, executor, disk
        disk.end()


def test_a_run_is_accepted_and_begins_when_the_disk_has_it(executor_disk):
    center, executor, disk = executor_disk
    disk.begin(disk.HOLDS)
    asked = Asked(lambda: executor.run(1, 1))
    wait_for_held(disk)
    assert asked.within(A_MOMENT) is None, asked.answer()
    assert not center.results(1) and "start" not in executor.log(1)["logContent"]
    disk.end()
    assert asked.answer()["code"] == 200
    assert center.result(1)["handleCode"] == 200
    executor.process.kill()
    executor.process.wait()
    executor.start()
    assert "repeat" in executor.run(1, 1)["msg"]


def test_a_result_goes_out_when_the_disk_has_it(executor_disk):
    """Or, after two seconds, without it; the log says that."""
    center, executor, disk = executor_disk
    assert executor.run(1, 1, "sleepJobHandler", "3600000")["code"] == 200
    executor.wait_for_log(1, "sleeping")
    disk.begin(disk.HOLDS)
    executor.call("kill", {"jobId": 1})
    wait_for_held(disk)
    time.sleep(A_MOMENT)
    assert not center.results(1) or "the journal takes no results" in executor.said()
    disk.end()
    assert center.result(1)["handleCode"] == 500


def test_a_result_is_kept_however_often_centers_refuse_it(tmp_path):
    """Until one takes it, and then it is not delivered again."""
    with StandinCenter() as center, Executor(tmp_path, center.url) as executor:
        answers = [{"code": 500, "msg": "not now"}, 503, None]  # each waits twice as long as the one before

        def answer(action, body):
            if action != "callback" or not answers:
                return {"code": 200, "msg": None, "content": None}
            return answers.pop(0)
        center.answer = answer
        assert executor.run(1, 1)["code"] == 200
        wait_until(lambda: not answers, "all of the refusals", 90)
        wait_until(lambda: len(center.results(1)) == 4, "the delivery that was taken", 90)
        wait_until(lambda: executor.call("peal/status", {})["data"]["resultsPending"] == 0, "it to be known")
        executor.stop()
        executor.start()
        assert executor.run(2, 2)["code"] == 200
        center.result(2)  # what was before it in the journal would have gone out first
        assert len(center.results(1)) == 4
