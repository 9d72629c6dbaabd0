# SPDX-License-Identifier: Apache-2.0
"""The rolling logs of `peal executor`: files of their own, the file that the others share, the index, the days."""

import datetime
import pathlib
import re
import sys
import time

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.executor import Executor  # noqa: E402 (path just set)
from support.standin import StandinCenter  # noqa: E402
from support.wait import wait_until  # noqa: E402

START, END = "job execute start", "job execute end("
SILENT = "sleepJobHandler"  # with a parameter that is no number: it fails before it logs


@pytest.fixture
def center():
    with StandinCenter() as it:
        yield it


@pytest.fixture
def executor(tmp_path, center):
    with Executor(tmp_path, center.url, ["--peal.executor.glue=shell"]) as it:
        yield it


def files(executor):
    """Names of all files under the logs' days."""
    return sorted(p.name for p in executor.logs.glob("*-*-*/*"))


def test_runs_that_log_nothing_share_a_file(center, executor):
    for log in range(1, 21):
        executor.run(log, log, SILENT, f"reason {log}")
    for log in range(1, 21):
        center.result(log)
        page = executor.log(log)
        lines = page["logContent"].splitlines()
        assert (page["fromLineNum"], page["toLineNum"], page["isEnd"]) == (1, 2, False)
        assert START in lines[0] and END in lines[1] and f"Param:reason {log}" in lines[0]
        assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[executor#run\]-\[0\]-\[worker-\d+\] <br>", lines[0])
    assert executor.log(1, 2)["logContent"] == executor.log(1)["logContent"].splitlines(keepends=True)[1]
    assert (executor.log(1, 3)["toLineNum"], executor.log(1, 3)["logContent"]) == (0, "")
    assert files(executor) == ["runs"]
    runs = next(executor.logs.glob("*/runs")).read_text()
    assert sorted(int(line.split(" ")[0]) for line in runs.splitlines()) == list(range(1, 21))


def test_they_are_found_after_a_restart(tmp_path, center, executor):
    executor.run(1, 1, SILENT, "reason")
    center.result(1)
    executor.stop()
    executor.start()
    assert END in executor.log(1)["logContent"]


def test_a_parameter_cannot_forge_another_runs_lines(center, executor):
    executor.run(1, 1, SILENT, "honest")
    center.result(1)
    executor.log(1)  # written by now
    record = next(executor.logs.glob("*/runs")).read_text()
    executor.run(1, 3, SILENT, f"x\n{record.replace('1', '2')}\n2 x 00000000\n{record}\\n{record}")
    center.result(3)
    assert executor.log(2)["isEnd"] is True
    assert executor.log(1)["logContent"].count("\n") == 2
    assert executor.log(3)["toLineNum"] > 4


def test_the_start_of_a_run_that_goes_on_is_shown(tmp_path, center, executor):
    executor.run_shell(1, 1, "sleep 3600")
    content = executor.wait_for_log(1, START)
    assert END not in content
    executor.call("kill", {"jobId": 1})
    center.result(1)
    assert END in executor.log(1)["logContent"]


def test_a_record_that_a_crash_tore_is_passed_over(center, executor):
    executor.run(1, 1, SILENT, "whole")
    center.result(1)
    whole = executor.log(1)["logContent"]
    executor.process.kill()
    executor.process.wait()
    runs = next(executor.logs.glob("*/runs"))
    runs.write_bytes(runs.read_bytes() + b"1 2026-01-31 09:00:00 [executor#run] torn")
    executor.start()
    executor.run(1, 2, SILENT, "next")
    center.result(2)
    assert executor.log(1)["logContent"] == whole
    assert "Param:next" in executor.log(2)["logContent"]


def test_a_large_log_has_an_index_and_a_wrong_one_does_no_harm(center, executor):
    executor.run_shell(1, 1, "seq 1 20000")
    center.result(1)
    executor.wait_for_log(1, "callback finish")
    assert "1.idx" in files(executor)
    page = executor.log(1, 15001)
    index = next(executor.logs.glob("*/1.idx"))
    index.write_bytes(index.read_bytes()[::-1])
    assert executor.log(1, 15001) == page
    index.unlink()
    assert executor.log(1, 15001) == page


def test_a_day_that_is_a_file_costs_lines_and_not_the_run(center, executor):
    date = int(time.mktime((2030, 5, 5, 12, 0, 0, 0, 0, -1))) * 1000
    (executor.logs / "2030-05-05").write_text("")
    executor.run_shell(1, 1, "seq 1 100; exit 7", logDateTime=date)
    assert "exit value(7)" in center.result(1)["handleMsg"]
    wait_until(lambda: "runs are lost" in executor.said(), "a word about it")
    wait_until(lambda: executor.said().count("run 1: lines of its log are lost: Not a directory") == 1, "and which")
    assert executor.log(1, date_ms=date)["isEnd"] is True


def test_old_days_are_removed_at_start(tmp_path, center):
    logs = tmp_path / "logs"
    today = datetime.datetime.now(datetime.timezone.utc).date()  # as the executor has it
    days = {age: logs / str(today - datetime.timedelta(days=age)) for age in (1, 7, 9, 400)}
    for folder in [*days.values(), logs / "gluesource", logs / "2001-02-31"]:
        folder.mkdir(parents=True)
        (folder / "1.log").write_text("x\n")
    (logs / "2001-01-01").symlink_to(logs / "gluesource")
    with Executor(tmp_path, center.url, ["--xxl.job.executor.logretentiondays", "7"]):
        wait_until(lambda: not days[9].exists() and not days[400].exists(), "the old days to go")
    assert (days[7] / "1.log").exists() and (days[1] / "1.log").exists()
    assert (logs / "gluesource" / "1.log").exists() and (logs / "2001-02-31" / "1.log").exists()
    assert (logs / "2001-01-01").is_symlink()
