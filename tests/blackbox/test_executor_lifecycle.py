# SPDX-License-Identifier: Apache-2.0
"""What an executor has promised survives it: runs and results across kill -9, and full disks; and how
operators take one out of service."""

import json
import pathlib
import subprocess
import sys
import time

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import TOKEN, binary, clean_environment, free_port  # noqa: E402 (path just set)
from support.disk import small_disk  # noqa: E402
from support.executor import Executor  # noqa: E402
from support.standin import YES, StandinCenter, call  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

NO = {"code": 500, "msg": "not now", "content": None}
FOR_EVER = "3600000"  # milliseconds: a test that waits for it has failed


@pytest.fixture
def center():
    with StandinCenter() as it:
        yield it


def kill(executor):
    executor.process.kill()
    executor.process.wait()


def status(executor):
    return executor.call("peal/status", b"")["data"]


def ask(executor, word, *args, token=TOKEN):
    """The command line's word to an executor."""
    return subprocess.run([str(binary()), "executor", word, "--url", executor.address, *args],
                          env=clean_environment(PEAL_ACCESS_TOKEN=token), capture_output=True, text=True, timeout=60 * PATIENCE)


# -- after kill -9 --


def test_after_kill_9_what_waited_runs_and_what_ran_is_reported_failed(tmp_path, center):
    with Executor(tmp_path, center.url) as executor:
        executor.run(1, 1, "sleepJobHandler", FOR_EVER)
        for log in range(2, 12):
            assert executor.run(1, log, "sleepJobHandler", f"{log - 2}")["code"] == 200
        executor.run(2, 12, "sleepJobHandler", FOR_EVER, executorTimeout=1000)
        executor.wait_for_log(12, "sleeping")
        kill(executor)
        assert not center.results()
        executor.start()
        for log in range(2, 12):
            assert center.result(log)["handleCode"] == 200
        for log in (1, 12):
            result = center.result(log)
            assert (result["handleCode"], result["handleMsg"]) == (500, "the executor died while it ran")
        assert executor.idle(1) and executor.idle(2)
        executor.stop()
    ended = [item["logId"] for item in center.results()]
    assert sorted(ended) == list(range(1, 13)), "each once"
    order = [log for log in ended if 2 <= log < 12]
    assert order == sorted(order), "in their order"


def test_after_kill_9_results_that_no_center_had_are_delivered_once(tmp_path, center):
    center.answer = lambda action, body: NO if action == "callback" else YES
    with Executor(tmp_path, center.url) as executor:
        for log in range(1, 31):
            executor.run(log, log, "failJobHandler", f"run {log}")
        wait_until(lambda: status(executor)["ended"] == 30, "the ends of all runs")
        executor.run(31, 31, "failJobHandler")  # its answer comes when the results before it are on disk
        wait_until(lambda: center.of("callback"), "an attempt to deliver")
        kill(executor)
        center.wait_for_quiet()
        center.answer = lambda action, body: YES
        before = len(center.results())
        executor.start()
        wait_until(lambda: status(executor)["resultsPending"] == 0, "the delivery")
        got = center.results()[before:]
        assert sorted(item["logId"] for item in got) == list(range(1, 32))
        assert all(item["handleMsg"] == f"run {item['logId']}" for item in got if item["logId"] < 31)
        executor.run(32, 32, "failJobHandler")  # and its answer when those that were delivered are gone from there
        kill(executor)
        executor.start()
        executor.run(99, 99, "failJobHandler")
        center.result(99)
        again = [item["logId"] for item in center.results()[before:] if item["logId"] <= 31]
        assert sorted(again) == list(range(1, 32)), "nothing twice"


def test_a_log_id_runs_once_across_a_restart(tmp_path, center):
    with Executor(tmp_path, center.url) as executor:
        executor.run(1, 1, "failJobHandler", logDateTime=1_700_000_000_000)
        center.result(1)
        executor.stop()
        executor.start()
        assert executor.run(1, 1, "failJobHandler", logDateTime=1_700_000_000_000)["msg"] == "repeate trigger job, logId:1"
        assert len(center.results()) == 1


def test_a_run_whose_handler_is_not_there_any_more_is_reported(tmp_path, center):
    commands = ["--peal.executor.commands=sleep"]
    with Executor(tmp_path, center.url, commands) as executor:
        executor.run(1, 1, "commandJobHandler", "sleep 3600")
        executor.run(1, 2, "commandJobHandler", "sleep 1")
        executor.wait_for_log(1, "sleep")
        kill(executor)
        executor.command = [arg for arg in executor.command if arg not in commands]
        executor.start()
        assert center.result(1)["handleMsg"] == "the executor died while it ran"
        assert center.result(2)["handleMsg"].startswith("job handler [commandJobHandler] not found.")


def test_two_executors_do_not_share_a_journal(tmp_path, center):
    with Executor(tmp_path, center.url) as executor:
        done = subprocess.run(executor.command, env=executor.env, cwd=tmp_path, capture_output=True, text=True,
                              timeout=60 * PATIENCE)
        assert done.returncode == 3
        assert "peal.executor.journal" in done.stderr and "journal.db" in done.stderr


def test_the_journal_may_stand_elsewhere(tmp_path, center):
    with Executor(tmp_path, center.url, ["--peal.executor.journal", str(tmp_path / "other.db")]) as executor:
        executor.run(1, 1, "failJobHandler")
        center.result(1)
        assert (tmp_path / "other.db").exists() and not (executor.logs / "journal.db").exists()


def test_a_run_that_the_journal_cannot_take_is_refused_with_the_reason(tmp_path, center):
    with small_disk(tmp_path) as disk:
        with Executor(tmp_path, center.url, ["--peal.executor.journal", str(disk.folder / "journal.db")]) as executor:
            executor.run(1, 1, "failJobHandler")
            center.result(1)
            disk.fill(executor)
            replies = {log: executor.run(log, log, "failJobHandler", "x" * 20000) for log in range(2, 50)}
            refused = [log for log, reply in replies.items() if reply["code"] == 500]
            assert refused
            assert all(replies[log]["msg"].startswith("the run cannot be kept: ") for log in refused)
            assert executor.call("beat", {})["code"] == 200
            disk.free(executor)
            again = refused[0]
            wait_until(lambda: executor.run(again, again, "failJobHandler")["code"] == 200, "room again")
            taken = [1, again] + [log for log in replies if log not in refused]
            for log in taken:
                center.result(log)
            assert sorted(r["logId"] for r in center.results()) == sorted(taken)


# -- limits --


def test_full_memory_is_a_refusal_with_the_setting(tmp_path, center):
    with Executor(tmp_path, center.url, ["--peal.executor.memory=1"]) as executor:
        executor.run(1, 1, "sleepJobHandler", FOR_EVER)
        replies = [executor.run(1, log, "sleepJobHandler", "0" + " " * 200000) for log in range(2, 12)]
        assert replies[0]["code"] == 200
        assert replies[-1]["code"] == 500 and "peal.executor.memory" in replies[-1]["msg"]
        taken = [log for log, reply in enumerate(replies, 2) if reply["code"] == 200]
        executor.call("kill", {"jobId": 1})
        for log in (1, *taken):
            center.result(log)
        assert len(center.results()) == 1 + len(taken)
        wait_until(lambda: executor.run(1, 50, "failJobHandler", "x" * 200000)["code"] == 200, "room again")


# -- headers of our own --


def run_with(executor, log, headers):
    body = {"jobId": log, "executorHandler": "failJobHandler", "logId": log, "glueType": "BEAN",
            "logDateTime": int(time.time()) * 1000}
    reply = call(executor.address, "run", body, token=TOKEN, headers=headers)[1]
    return reply["code"], reply["msg"]


def test_a_header_of_ours_that_is_no_number_is_refused(tmp_path, center):
    with Executor(tmp_path, center.url) as executor:
        assert run_with(executor, 1, {"Peal-Moment": str(int(time.time() * 1000)), "Peal-Attempt": "1"})[0] == 200
        for name in ("Peal-Moment", "Peal-Attempt"):
            for bad in ("soon", "-1", "99999999999999999999"):
                code, msg = run_with(executor, 2, {name: bad})
                assert code == 500 and msg.startswith(f"request error:{name} must be a number")
        center.result(1)
        assert len(center.results()) == 1


# -- out of service and back --


def test_drain_deregisters_and_refuses_while_runs_go_on(tmp_path, center):
    with Executor(tmp_path, center.url) as executor:
        wait_until(lambda: center.of("registry"), "a registration")
        executor.run(1, 1, "sleepJobHandler", FOR_EVER)
        executor.wait_for_log(1, "sleeping")
        done = ask(executor, "drain")
        assert done.returncode == 0 and "draining" in done.stdout
        wait_until(lambda: center.of("registryRemove"), "the deregistration")
        reply = executor.run(2, 2, "failJobHandler")
        assert reply["code"] == 500 and "draining" in reply["msg"]
        assert executor.call("beat", {})["code"] == 200
        assert not executor.idle(1)
        registrations = len(center.of("registry"))
        done = ask(executor, "undrain")
        assert done.returncode == 0 and "at work" in done.stdout
        wait_until(lambda: len(center.of("registry")) > registrations, "a new registration")
        assert executor.run(2, 2, "failJobHandler")["code"] == 200
        center.result(2)
        executor.call("kill", {"jobId": 1})
        center.result(1)


def test_a_drained_executor_stops(tmp_path, center):
    with Executor(tmp_path, center.url) as executor:
        wait_until(lambda: center.of("registry"), "a registration")
        ask(executor, "drain")
        wait_until(lambda: center.of("registryRemove"), "the deregistration")
        executor.stop()
    assert len(center.of("registryRemove")) == 1


def test_status_shows_runs_and_numbers(tmp_path, center):
    with Executor(tmp_path, center.url) as executor:
        wait_until(lambda: status(executor)["registered"], "a registration")
        executor.run(7, 70, "sleepJobHandler", FOR_EVER)
        executor.run(7, 71, "sleepJobHandler", FOR_EVER)
        executor.run(8, 80, "nothing")
        executor.wait_for_log(70, "sleeping")
        state = status(executor)
        assert (state["running"], state["waiting"], state["accepted"], state["refused"]) == (1, 1, 2, 1)
        assert [(run["jobId"], run["logId"], run["handler"]) for run in state["runs"]] == \
            [(7, 70, "sleepJobHandler")]
        shown = ask(executor, "status").stdout
        assert "at work, registered" in shown and "job 7, log 70: sleepJobHandler" in shown
        executor.call("kill", {"jobId": 7})
        center.result(71)


@pytest.mark.parametrize("word", ["status", "drain", "undrain"])
def test_operators_need_the_token_and_an_executor(tmp_path, center, word):
    with Executor(tmp_path, center.url) as executor:
        reply = call(executor.address, f"peal/{word}", {}, token="wrong")[1]
        assert (reply["code"], reply["msg"]) == (500, "The access token is wrong.")
        reply = call(executor.address, f"peal/{word}", {}, token=TOKEN, method="GET")[1]
        assert reply["code"] == 500
        done = ask(executor, word, token="wrong")
        assert done.returncode == 3 and "token is wrong" in done.stderr
        executor.address = f"http://127.0.0.1:{free_port()}"
        done = ask(executor, word)
        assert done.returncode == 3 and done.stderr
        assert not center.of("registryRemove")


def test_the_help_of_the_words(tmp_path):
    done = subprocess.run([str(binary()), "executor", "drain"], env=clean_environment(), capture_output=True, text=True,
                          timeout=60 * PATIENCE)
    assert done.returncode == 2 and "--url" in done.stderr


def test_the_status_is_json_of_bounded_words(tmp_path, center):
    with Executor(tmp_path, center.url, ["--peal.executor.glue=shell"]) as executor:
        executor.run_shell(3, 30, "echo here; sleep 3600")
        executor.wait_for_log(30, "here")
        text = json.dumps(status(executor))
        assert "GLUE_SHELL" in text and TOKEN not in text and "sleep" not in text
        executor.call("kill", {"jobId": 3})
        center.result(30)
