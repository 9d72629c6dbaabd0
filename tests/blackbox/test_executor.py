# SPDX-License-Identifier: Apache-2.0
"""`peal executor` against a stand-in for the center: what it answers, what it runs, what it reports."""

import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import TOKEN, binary, clean_environment, free_port  # noqa: E402 (path just set)
from support.executor import Executor  # noqa: E402
from support.processes import alive  # noqa: E402
from support.standin import YES, StandinCenter, call  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

NO = {"code": 500, "msg": "not now", "content": None}
FOR_EVER = "3600000"  # milliseconds: a test that waits for it has failed
DAY_MS = 86400000


@pytest.fixture
def center():
    with StandinCenter() as it:
        yield it


@pytest.fixture
def executor(tmp_path, center):
    with Executor(tmp_path, center.url) as it:
        yield it


@pytest.fixture
def scripts(tmp_path, center):
    """An executor that may run shell scripts and any command."""
    with Executor(tmp_path, center.url, ["--peal.executor.glue=shell", "--peal.executor.commands", "*"]) as it:
        yield it


# -- registration --


def test_it_registers_what_it_prints_and_says_that_it_remembers_ids(center, executor):
    wait_until(lambda: center.of("registry"), "a registration")
    assert center.of("registry")[0] == {"registryGroup": "EXECUTOR", "registryKey": "tests",
                                        "registryValue": executor.address}
    headers = center.headers_of("registry")[0]
    assert headers["XXL-JOB-ACCESS-TOKEN"] == TOKEN
    assert headers["Peal-Executor"] == "1"


def test_an_address_from_the_configuration_is_registered_verbatim(tmp_path, center):
    with Executor(tmp_path, center.url, ["--xxl.job.executor.address", "http://outside.example:80/x/"]):
        wait_until(lambda: center.of("registry"), "a registration")
        assert center.of("registry")[0]["registryValue"] == "http://outside.example:80/x/"


def test_the_first_center_that_says_yes_is_enough(tmp_path, center):
    with StandinCenter() as refusing, StandinCenter() as spare:
        refusing.answer = lambda action, body: NO
        dead = f"http://127.0.0.1:{free_port()}"
        with Executor(tmp_path, f"{dead}, {refusing.url} ,,{center.url},{spare.url}"):
            wait_until(lambda: center.of("registry"), "a registration")
        assert refusing.of("registry")
        assert center.of("registryRemove")
        assert not spare.requests


def test_registration_is_tried_again_until_a_center_says_yes(tmp_path, center):
    center.answer = lambda action, body: NO if len(center.of("registry")) < 3 else YES
    with Executor(tmp_path, center.url) as executor:
        wait_until(lambda: "registered at" in executor.said(), "the third attempt", 30)
    assert len(center.of("registry")) == 3


def test_sigterm_deregisters(center, executor):
    wait_until(lambda: center.of("registry"), "a registration")
    executor.stop()
    assert center.of("registryRemove") == [center.of("registry")[0]]


def test_sigterm_without_any_center_ends_all_the_same(tmp_path):
    with Executor(tmp_path, f"http://127.0.0.1:{free_port()}") as executor:
        executor.stop()


# -- what every request goes through --


@pytest.mark.parametrize("method, path, token, msg", [
    ("GET", "beat", TOKEN, "invalid request, HttpMethod not support."),
    ("GET", "beat", None, "invalid request, HttpMethod not support."),
    ("POST", "beat", None, "The access token is wrong."),
    ("POST", "beat", TOKEN + "x", "The access token is wrong."),
    ("POST", "beat", "", "The access token is wrong."),
    ("POST", "nothing", None, "The access token is wrong."),
    ("POST", "nothing", TOKEN, "invalid request, uri-mapping(/nothing) not found."),
    ("POST", "run?x=1", TOKEN, "invalid request, uri-mapping(/run?x=1) not found."),
    ("POST", "", TOKEN, "invalid request, uri-mapping(/) not found."),
])
def test_requests_are_refused_in_the_originals_order(executor, method, path, token, msg):
    status, reply = call(executor.address, path, {}, token=token, method=method)
    assert (status, reply["code"], reply["msg"]) == (200, 500, msg)


@pytest.mark.parametrize("body", [b'""', b"", b"{}"])
def test_beat_takes_every_dialects_body(executor, body):
    assert executor.call("beat", body)["code"] == 200


def test_without_a_token_it_does_not_start(tmp_path):
    env = clean_environment()
    done = subprocess.run([str(binary()), "executor", "--listen", "127.0.0.1"], env=env, cwd=tmp_path,
                          capture_output=True, text=True, timeout=60 * PATIENCE)
    assert done.returncode == 2
    assert "PEAL_ACCESS_TOKEN" in done.stderr and "--insecure-no-token" in done.stderr


def test_without_a_token_by_wish_every_header_is_accepted(tmp_path, center):
    with Executor(tmp_path, center.url, ["--insecure-no-token"], token="") as executor:
        for token in (None, "", "anything"):
            assert call(executor.address, "beat", {}, token=token)[1]["code"] == 200


@pytest.mark.parametrize("path, body, rule", [
    ("run", b"", "run body"),
    ("run", b"[]", "run body must be a JSON object"),
    ("run", b'{"jobId":"x"}', "jobId"),
    ("run", b'{"jobId":-1}', "jobId: must not be negative"),
    ("run", b'{"broadcastIndex":2,"broadcastTotal":2}', "broadcastIndex"),
    ("run", b'{"jobId":1', "run body"),
    ("run", b"[" * 100000, "run body"),
    ("kill", b"", "request body"),
    ("idleBeat", b"{", "request body"),
    ("log", b'{"logId":{}}', "logId"),
])
def test_what_cannot_be_read_is_refused_with_the_field_and_the_rule(executor, path, body, rule):
    reply = executor.call(path, body)
    assert reply["code"] == 500
    assert reply["msg"].startswith("request error:") and rule in reply["msg"]


# -- runs --


def test_a_run_leaves_its_log_and_its_result_in_both_shapes(center, executor):
    assert executor.run(1, 101, params="a=1, 中文 <x>&'")["code"] == 200
    result = center.result(101)
    assert (result["handleCode"], result["executeResult"]["code"]) == (200, 200)
    assert result["handleMsg"] == result["executeResult"]["msg"]
    page = executor.log(101)
    lines = page["logContent"].splitlines()
    assert lines[0].endswith("<br>----------- xxl-job job execute start -----------<br>----------- "
                             "Param:a=1, 中文 <x>&'")
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[demoJobHandler#builtin_demo\]-\[\d+\]-\[worker-1\] ", lines[1])
    assert sum("beat" in line for line in lines) == 5
    assert any("<br>----------- xxl-job job execute end(finish) -----------<br>----------- Result: "
               "handleCode=200, handleMsg = " in line for line in lines)
    assert page["fromLineNum"] == 1 and page["toLineNum"] == len(lines) and page["isEnd"] is False
    executor.wait_for_log(101, "<br>----------- xxl-job job callback finish.")


def test_the_result_carries_the_runs_own_date(center, executor):
    date = int(time.time()) * 1000 - 3 * DAY_MS
    executor.run(1, 102, "failJobHandler", logDateTime=date)
    assert center.result(102)["logDateTim"] == date
    day = time.strftime("%Y-%m-%d", time.gmtime(date / 1000))
    assert (executor.logs / day / "102.log").exists()


def test_a_failing_handler_is_a_500_with_its_message(center, executor):
    executor.run(1, 103, "failJobHandler", "out of coffee")
    result = center.result(103)
    assert (result["handleCode"], result["handleMsg"]) == (500, "out of coffee")
    assert "job execute end(error)" in executor.log(103)["logContent"]


def test_a_shard_knows_its_index(center, executor):
    executor.run(1, 104, "shardingJobHandler", broadcastIndex=1, broadcastTotal=3)
    assert center.result(104)["handleCode"] == 200
    content = executor.log(104)["logContent"]
    assert "this is shard 1 of 3" in content and "item 1: mine" in content


def test_an_unknown_handler_is_refused(executor):
    reply = executor.run(1, 105, "nobodyJobHandler")
    assert (reply["code"], reply["msg"]) == (500, "job handler [nobodyJobHandler] not found.")


def test_absent_members_and_numbers_in_quotes_are_fine(center, executor):
    reply = executor.call("run", {"jobId": "1", "executorHandler": "failJobHandler", "logId": "106",
                                  "logDateTime": int(time.time() * 1000), "glueType": "BEAN"})
    assert reply["code"] == 200
    assert center.result(106)["handleMsg"] == "failed on purpose"


def test_a_long_message_is_cut(center, executor):
    executor.run(1, 107, "failJobHandler", "é" * 60000)
    msg = center.result(107)["handleMsg"]
    assert len(msg) <= 50003 and msg.startswith("ééé")


def test_a_log_id_runs_once_whether_queued_running_or_finished(center, executor):
    date = int(time.time()) * 1000
    executor.run(1, 110, "sleepJobHandler", FOR_EVER, logDateTime=date)
    executor.run(1, 111, "failJobHandler", logDateTime=date)
    for log in (110, 111):
        for strategy in ("SERIAL_EXECUTION", "DISCARD_LATER", "COVER_EARLY"):
            reply = executor.run(1, log, "failJobHandler", executorBlockStrategy=strategy, logDateTime=date)
            assert (reply["code"], reply["msg"]) == (500, f"repeate trigger job, logId:{log}")
    executor.call("kill", {"jobId": 1})
    center.result(110)
    center.result(111)
    assert executor.run(1, 110, "failJobHandler", logDateTime=date)["msg"] == "repeate trigger job, logId:110"
    assert len(center.results()) == 2


def test_a_new_center_may_count_its_log_ids_from_1_again(tmp_path, center):
    """A run is its log id and its date: what another center's run 1 was is nothing to this one's. Also across
    a restart, and when the older run is still here."""
    old, new, newest = 1_600_000_000_000, 1_700_000_000_000, 1_700_000_001_000
    with Executor(tmp_path, center.url) as executor:
        assert executor.run(1, 1, "failJobHandler", "of the old", logDateTime=old)["code"] == 200
        wait_until(lambda: len(center.results(1)) == 1, "the old result")
        assert executor.run(1, 1, "failJobHandler", "of the new", logDateTime=new)["code"] == 200
        wait_until(lambda: len(center.results(1)) == 2, "the new result")
        executor.stop()
        executor.start()
        for date in (old, new):
            assert executor.run(1, 1, "failJobHandler", logDateTime=date)["msg"] == "repeate trigger job, logId:1"
        assert executor.run(1, 1, "sleepJobHandler", FOR_EVER, logDateTime=newest)["code"] == 200
        assert executor.run(2, 1, "sleepJobHandler", FOR_EVER, logDateTime=newest + 1000)["code"] == 200
        assert executor.run(2, 1, "sleepJobHandler", logDateTime=newest)["msg"] == "repeate trigger job, logId:1"
        executor.call("kill", {"jobId": 1})
        executor.call("kill", {"jobId": 2})
        wait_until(lambda: len(center.results(1)) == 4, "both ends")
    assert [(r["logDateTim"], r["handleMsg"]) for r in center.results(1)][:2] == [(old, "of the old"),
                                                                                (new, "of the new")]


def test_only_so_many_finished_ids_are_remembered(tmp_path, center):
    with Executor(tmp_path, center.url, ["--peal.executor.remember=2"]) as executor:
        for log in (1, 2, 3):
            executor.run(1, log, "failJobHandler", logDateTime=1_700_000_000_000)
            center.result(log)
        assert executor.run(1, 3, "failJobHandler", logDateTime=1_700_000_000_000)["code"] == 500
        assert executor.run(1, 1, "failJobHandler", logDateTime=1_700_000_000_000)["code"] == 200


# -- queues and strategies --


def test_serial_runs_of_a_job_follow_each_other_and_other_jobs_do_not_wait(center, executor):
    executor.run(1, 201, "sleepJobHandler", FOR_EVER)
    executor.run(1, 202, "sleepJobHandler", "0")
    executor.run(2, 203, "failJobHandler")
    center.result(203)
    assert not executor.idle(1) and executor.idle(2)
    assert not center.results(202)
    assert executor.log(202)["isEnd"] is True  # it has not begun
    executor.call("kill", {"jobId": 1})


def test_idle_beat_tells_that_a_job_is_busy(center, executor):
    assert executor.call("idleBeat", {"jobId": 1})["code"] == 200
    executor.run(1, 204, "sleepJobHandler", FOR_EVER)
    reply = executor.call("idleBeat", {"jobId": 1})
    assert (reply["code"], reply["msg"]) == (500, "job thread is running or has trigger queue.")


def test_discard_later_refuses_while_busy(center, executor):
    executor.run(1, 205, "sleepJobHandler", FOR_EVER)
    reply = executor.run(1, 206, executorBlockStrategy="DISCARD_LATER", handler="sleepJobHandler")
    assert (reply["code"], reply["msg"]) == (500, "block strategy effect：Discard Later")
    executor.call("kill", {"jobId": 1})
    center.result(205)
    wait_until(lambda: executor.idle(1), "the job to be idle")
    assert executor.run(1, 206, "sleepJobHandler", "0", executorBlockStrategy="DISCARD_LATER")["code"] == 200
    assert center.result(206)["handleCode"] == 200


def test_cover_early_ends_what_was_there(center, executor):
    executor.run(1, 207, "sleepJobHandler", FOR_EVER)
    executor.wait_for_log(207, "sleeping")
    executor.run(1, 208, "sleepJobHandler", FOR_EVER)
    executor.run(1, 209, "sleepJobHandler", "0", executorBlockStrategy="COVER_EARLY")
    assert center.result(209)["handleCode"] == 200
    assert center.result(207)["handleMsg"] == "block strategy effect：Cover Early [job running, killed]"
    assert center.result(208)["handleMsg"] == \
        "block strategy effect：Cover Early [job not executed, in the job queue, killed.]"
    assert center.result(207)["handleCode"] == center.result(208)["handleCode"] == 500


def test_another_handler_for_the_job_ends_the_old_one(center, executor):
    executor.run(1, 210, "sleepJobHandler", FOR_EVER)
    executor.wait_for_log(210, "sleeping")
    executor.run(1, 211, "failJobHandler")
    assert center.result(211)["handleMsg"] == "failed on purpose"
    assert center.result(210)["handleMsg"].endswith(" [job running, killed]")


def test_kill_ends_the_running_run_and_the_waiting_ones(center, executor):
    executor.run(1, 212, "sleepJobHandler", FOR_EVER)
    executor.wait_for_log(212, "sleeping")
    executor.run(1, 213, "sleepJobHandler", FOR_EVER)
    assert executor.call("kill", {"jobId": 1})["code"] == 200
    assert center.result(212)["handleMsg"] == "scheduling center kill job. [job running, killed]"
    assert center.result(213)["handleMsg"] == \
        "scheduling center kill job. [job not executed, in the job queue, killed.]"
    wait_until(lambda: executor.idle(1), "the job to be idle")
    reply = executor.call("kill", {"jobId": 1})
    assert reply["code"] == 200
    assert reply["msg"] == reply["content"] == reply["data"] == "job thread already killed."


def test_a_timeout_is_a_502(center, executor):
    executor.run(1, 214, "sleepJobHandler", FOR_EVER, executorTimeout=1)
    result = center.result(214)
    assert (result["handleCode"], result["handleMsg"]) == (502, "job execute timeout ")
    executor.run(1, 215, "sleepJobHandler", "0", executorTimeout=600)
    assert center.result(215)["handleCode"] == 200


def test_more_jobs_than_workers_wait_their_turn(tmp_path, center):
    with Executor(tmp_path, center.url, ["--peal.executor.workers=1"]) as executor:
        executor.run(1, 216, "sleepJobHandler", FOR_EVER)
        executor.wait_for_log(216, "sleeping")
        executor.run(2, 217, "failJobHandler")
        executor.run(3, 218, "failJobHandler")
        executor.call("kill", {"jobId": 2})
        executor.call("kill", {"jobId": 1})
        assert center.result(217)["handleMsg"].endswith(" [job not executed, in the job queue, killed.]")
        assert center.result(218)["handleMsg"] == "failed on purpose"


def test_a_full_queue_refuses_and_says_so(tmp_path, center):
    with Executor(tmp_path, center.url, ["--peal.executor.queue=1"]) as executor:
        executor.run(1, 219, "sleepJobHandler", FOR_EVER)
        executor.run(1, 220, "sleepJobHandler", FOR_EVER)
        reply = executor.run(1, 221, "sleepJobHandler", FOR_EVER)
        assert reply["code"] == 500 and "queue is full" in reply["msg"]
        executor.call("kill", {"jobId": 1})
        center.result(220)
        assert executor.run(1, 221, "sleepJobHandler", "0")["code"] == 200  # refused is not known


# -- scripts and commands --


def test_scripts_are_off_by_default_and_the_answer_says_how_to_allow_them(executor):
    reply = executor.run_shell(1, 301, "echo hi")
    assert reply["code"] == 500
    assert reply["msg"].startswith("glueType[GLUE_SHELL] is not valid.")
    assert "--peal.executor.glue=shell" in reply["msg"]
    assert not (executor.logs / "gluesource").exists()


@pytest.mark.parametrize("glue", ["GLUE_GROOVY", "GLUE_PYTHON", "", "x" * 500])
def test_other_kinds_are_refused(scripts, glue):
    reply = scripts.run(1, 302, glueType=glue, glueSource="1")
    assert reply["code"] == 500 and reply["msg"].startswith(f"glueType[{glue[:100]}")


def test_a_script_gets_its_arguments_and_its_output_is_the_log(center, scripts):
    source = 'echo "<$1> <$2> <$3> $#"; echo error >&2; printf "%s\\n" "${PEAL_ACCESS_TOKEN-none}"; printf end'
    assert scripts.run_shell(7, 303, source, "p q;é", broadcastIndex=1, broadcastTotal=2)["code"] == 200
    assert center.result(303)["handleCode"] == 200
    lines = scripts.log(303)["logContent"].splitlines()
    assert ["<p q;é> <1> <2> 3", "error", "none", "end"] == lines[2:6]
    assert "job execute end(finish)" in lines[6]
    kept = scripts.logs / "gluesource" / "7_1541254891000.sh"
    assert kept.read_text() == source and kept.stat().st_mode & 0o077 == 0


def test_a_scripts_exit_value_is_its_result(center, scripts):
    scripts.run_shell(1, 304, "exit 3")
    result = center.result(304)
    assert (result["handleCode"], result["handleMsg"]) == (500, "script exit value(3) is failed")
    scripts.run_shell(1, 305, "kill -9 $$")
    assert "signal 9" in center.result(305)["handleMsg"]


def test_newer_source_replaces_the_older_by_its_time(center, scripts):
    scripts.run_shell(1, 306, "echo old", glueUpdatetime=1000)
    center.result(306)
    scripts.run_shell(1, 307, "echo new", glueUpdatetime=2000)
    center.result(307)
    assert "\nnew\n" in scripts.log(307)["logContent"]
    assert [p.name for p in (scripts.logs / "gluesource").iterdir()] == ["1_2000.sh"]


def test_other_source_of_the_same_time_is_not_mistaken_for_it(center, scripts):
    for log, word in ((330, "first"), (331, "second")):
        scripts.run_shell(1, log, f"echo {word}")
        center.result(log)
        assert f"\n{word}\n" in scripts.log(log)["logContent"]


def test_a_nul_cannot_be_in_a_script(scripts):
    for field in ({"params": "a\0b"}, {"source": "a\0b"}):
        reply = scripts.run_shell(1, 308, field.get("source", "true"), field.get("params", ""))
        assert reply["code"] == 500 and "NUL" in reply["msg"]


@pytest.mark.parametrize("how", ["kill", "timeout"])
def test_the_whole_process_group_of_a_script_ends(center, scripts, how):
    # the shell and its child both ignore TERM: only KILL to the group ends them
    source = "trap '' TERM; sleep 3600 & echo pids $$ $!; while :; do wait; done"
    scripts.run_shell(1, 309, source, executorTimeout=3 if how == "timeout" else 0)
    content = scripts.wait_for_log(309, "pids ")
    pids = [int(pid) for pid in re.search(r"pids (\d+) (\d+)", content).groups()]
    if how == "kill":
        assert all(alive(pid) for pid in pids)
        scripts.call("kill", {"jobId": 1})
    result = center.result(309, 30)
    assert result["handleCode"] == (502 if how == "timeout" else 500)
    wait_until(lambda: not any(alive(pid) for pid in pids), "the group to be gone")


def test_what_a_script_leaves_behind_ends_with_it(center, scripts):
    scripts.run_shell(1, 310, "sleep 3600 & echo pid $!")
    assert center.result(310)["handleCode"] == 200
    pid = int(re.search(r"pid (\d+)", scripts.log(310)["logContent"])[1])
    wait_until(lambda: not alive(pid), "the child to be gone")


def test_a_run_can_be_read_while_it_goes_on(center, scripts):
    scripts.run_shell(1, 311, "printf 'one\nhalf'; read -t 3600 < <(sleep 3600)")
    scripts.wait_for_log(311, "one\n")
    page = scripts.log(311)
    assert page["logContent"].endswith("one\n") and page["toLineNum"] == 3  # a half line is not shown
    scripts.call("kill", {"jobId": 1})
    center.result(311)
    rest = scripts.log(311, page["toLineNum"] + 1)
    assert rest["logContent"].startswith("half\n") and "execute end(error)" in rest["logContent"]


def test_commands_are_off_by_default(executor):
    reply = executor.run(1, 312, "commandJobHandler", "echo hi")
    assert reply["code"] == 500
    assert reply["msg"].startswith("job handler [commandJobHandler] not found.")
    assert "--peal.executor.commands" in reply["msg"]


def test_a_command_is_an_argument_vector_without_a_shell(center, scripts):
    scripts.run(1, 313, "commandJobHandler", """printf '<%s>\\n' "a b" $HOME ; '' c\\ d *""")
    assert center.result(313)["handleCode"] == 200
    assert "\n<a b>\n<$HOME>\n<;>\n<>\n<c d>\n<*>\n" in scripts.log(313)["logContent"]


def test_only_listed_commands_run(tmp_path, center):
    with Executor(tmp_path, center.url, ["--peal.executor.commands", "true, false"]) as executor:
        executor.run(1, 314, "commandJobHandler", "false")
        assert center.result(314)["handleMsg"] == "command exit value(1) is failed"
        executor.run(1, 315, "commandJobHandler", "/bin/true")
        assert "peal.executor.commands" in center.result(315)["handleMsg"]


@pytest.mark.parametrize("params, text", [("", "name a program"), ("'open", "open"), ("a\0b", "NUL"),
                                          ("no-such-program-of-ours", "cannot be started")])
def test_bad_commands_fail_with_the_reason(center, scripts, params, text):
    scripts.run(1, 316, "commandJobHandler", params)
    result = center.result(316)
    assert result["handleCode"] == 500 and text in result["handleMsg"]


# -- logs --


def test_a_missing_log_says_so_and_makes_no_folder(executor):
    page = executor.log(4711, date_ms=86400000)
    assert page == {"fromLineNum": 1, "toLineNum": 0, "isEnd": True,
                    "logContent": "readLog fail, logFile not exists"}
    assert not [entry for entry in executor.logs.iterdir() if entry.is_dir()]


def test_a_log_is_read_by_line_number(center, scripts):
    scripts.run_shell(1, 401, "seq 1 5000")
    center.result(401)
    whole = scripts.wait_for_log(401, "callback finish").splitlines(keepends=True)
    page = scripts.log(401, 3000)
    assert page["logContent"] == "".join(whole[2999:])
    assert (page["fromLineNum"], page["toLineNum"], page["isEnd"]) == (3000, len(whole), False)
    beyond = scripts.log(401, len(whole) + 1)
    assert (beyond["toLineNum"], beyond["logContent"], beyond["isEnd"]) == (0, "", False)
    assert scripts.log(401, 0)["logContent"] == "".join(whole)


@pytest.mark.parametrize("shift", [-DAY_MS, DAY_MS])
def test_the_day_before_and_after_are_looked_at(center, executor, shift):
    date = int(time.time()) * 1000
    executor.run(1, 402, "failJobHandler", logDateTime=date)
    center.result(402)
    assert "execute start" in executor.log(402, date_ms=date + shift)["logContent"]


@pytest.mark.parametrize("date", [2**63 - 1, -2**63, 0])
def test_any_date_can_be_asked_for(executor, date):
    assert executor.log(403, date_ms=date)["isEnd"] is True


def test_a_large_log_comes_in_pages(center, scripts):
    line = "x" * 99
    scripts.run_shell(1, 404, f"yes {line} | head -n 200000")  # 20 MB
    center.result(404, 60)
    seen, at, pages = 0, 1, 0
    while True:
        page = scripts.log(404, at)
        if page["toLineNum"] < at:
            break
        seen += page["logContent"].count(line + "\n")
        at, pages = page["toLineNum"] + 1, pages + 1
    assert seen == 200000 and pages > 1


# -- results --


def test_results_are_kept_until_a_center_acknowledges_them(center, executor):
    refusals = [NO, 500, None]  # a refusal, a status, a dropped connection
    center.answer = lambda action, body: refusals.pop(0) if action == "callback" and refusals else YES
    executor.run(1, 501, "failJobHandler", "kept")
    wait_until(lambda: len(center.results(501)) == 4, "the fourth attempt", 60)
    assert all(item["handleMsg"] == "kept" for item in center.results(501))
    executor.wait_for_log(501, "callback finish")


def test_results_wait_for_a_center_that_is_away(tmp_path):
    port = free_port()
    with Executor(tmp_path, f"http://127.0.0.1:{port}") as executor:
        for log in range(1, 21):
            executor.run(log, log, "failJobHandler")
        wait_until(lambda: "api/callback: no answer" in executor.said(), "an attempt in vain")
        with StandinCenter("", port) as center:
            wait_until(lambda: {r["logId"] for r in center.results()} == set(range(1, 21)), "all results", 60)
            executor.stop()


def test_one_result_that_no_center_takes_does_not_hold_up_the_others(center, executor):
    center.answer = lambda action, body: NO if action == "callback" and any(
        item["logId"] == 510 for item in body) else YES
    for log in range(510, 520):
        executor.run(log, log, "failJobHandler")
    taken = set()

    def all_taken():
        for body in center.of("callback"):
            ids = {item["logId"] for item in body}
            if 510 not in ids:
                taken.update(ids)
        return taken == set(range(511, 520))
    wait_until(all_taken, "the other results", 60)
    center.answer = lambda action, body: YES


def test_results_go_in_batches_and_each_once(center, executor):
    for log in range(1000, 1300):
        assert executor.run(log % 50, log, "failJobHandler")["code"] == 200
    wait_until(lambda: len(center.results()) >= 300, "all results", 60)
    executor.stop()
    assert sorted(r["logId"] for r in center.results()) == list(range(1000, 1300))
    assert max(len(body) for body in center.of("callback")) <= 50


# -- stopping --


def test_sigterm_lets_a_run_end_and_delivers_its_result(center, executor):
    executor.run(1, 601, "demoJobHandler")
    executor.wait_for_log(601, "beat 1")
    executor.stop()
    assert center.result(601)["handleCode"] == 200
    actions = [action for action, _, _ in center.requests]
    assert actions.index("registryRemove") < actions.index("callback")


def test_sigterm_ends_what_takes_too_long_and_reports_it(tmp_path, center):
    with Executor(tmp_path, center.url, ["--peal.executor.stop.timeout=0", "--peal.executor.glue=shell"]) as it:
        it.run(1, 602, "sleepJobHandler", FOR_EVER)
        it.wait_for_log(602, "sleeping")
        it.run(1, 603, "sleepJobHandler", FOR_EVER)
        it.run_shell(2, 604, "echo pid $$; sleep 3600")
        pid = int(re.search(r"pid (\d+)", it.wait_for_log(604, "pid "))[1])
        it.stop()
        wait_until(lambda: not alive(pid), "the script to be gone")
    assert center.result(602)["handleMsg"] == "the executor is shutting down. [job running, killed]"
    assert center.result(603)["handleMsg"] == \
        "the executor is shutting down. [job not executed, in the job queue, killed.]"
    assert center.result(604)["handleCode"] == 500


def test_while_stopping_new_runs_are_refused_and_a_second_signal_cuts_it_short(tmp_path, center):
    with Executor(tmp_path, center.url, ["--peal.executor.stop.timeout", FOR_EVER]) as executor:
        executor.run(1, 605, "sleepJobHandler", FOR_EVER)
        executor.terminate()
        wait_until(lambda: center.of("registryRemove"), "the deregistration")
        reply = executor.run(2, 606, "failJobHandler")
        assert reply["code"] == 500 and "shutting down" in reply["msg"]
        assert executor.call("beat", {})["code"] == 200
        executor.terminate()
        executor.wait()
    assert center.result(605)["handleCode"] == 500


# -- settings --


def test_settings_come_from_option_environment_and_file_in_that_order(tmp_path, center):
    file = tmp_path / "application.properties"
    file.write_text("# a Java application's file\nspring.application.name=x\nxxl.job.executor.appname = from-file\n"
                    "peal.executor.workers: 1\nxxl.job.admin.addresses=\\\n  http://127.0.0.1:1\n")
    env = {"XXL_JOB_EXECUTOR_APPNAME": "from-environment", "PEAL_EXECUTOR_WORKERS": "2"}
    command = Executor(tmp_path, center.url, ["-c", str(file)], env=env)
    at = command.command.index("--xxl.job.executor.appname")
    del command.command[at:at + 2]
    with command:
        wait_until(lambda: center.of("registry"), "a registration")
    assert center.of("registry")[0]["registryKey"] == "from-environment"


@pytest.mark.parametrize("args, text", [
    (["--no-such-option"], "--no-such-option"),
    (["--appname=x"], "did you mean --xxl.job.executor.appname?"),
    (["--peal.executor.workers=many"], "peal.executor.workers (command line) must be a whole number"),
    (["--peal.executor.workers=0"], "must be a whole number from 1 to 1000"),
    (["--peal.executor.glue=perl"], "no script kind perl"),
    (["--xxl.job.admin.addresses=http://u@h/"], "xxl.job.admin.addresses"),
    (["--xxl.job.executor.address=a,b"], "xxl.job.executor.address"),
    (["--xxl.job.executor.logpath=/proc/nowhere/logs"], "xxl.job.executor.logpath: /proc/nowhere"),
    (["--listen", "127.0.0.1", "--xxl.job.executor.port=99999"], "xxl.job.executor.port"),
    (["-c", "/nonexistent"], "/nonexistent"),
    (["stray"], "stray"),
])
def test_a_wrong_setting_is_named(tmp_path, args, text):
    done = subprocess.run([str(binary()), "executor", "--listen", "127.0.0.1", "--xxl.job.executor.port=0", *args],
                          env=clean_environment(PEAL_ACCESS_TOKEN=TOKEN), cwd=tmp_path, capture_output=True,
                          text=True, timeout=60 * PATIENCE)
    assert done.returncode in (2, 3) and text in done.stderr


def test_a_port_in_use_is_said(tmp_path, executor):
    port = executor.address.rsplit(":", 1)[1].strip("/")
    done = subprocess.run([str(binary()), "executor", "--listen", "127.0.0.1", "--xxl.job.executor.port", port],
                          env=clean_environment(PEAL_ACCESS_TOKEN=TOKEN), cwd=tmp_path, capture_output=True,
                          text=True, timeout=60 * PATIENCE)
    assert done.returncode == 3 and port in done.stderr


def test_help_teaches(tmp_path):
    done = subprocess.run([str(binary()), "executor", "--help"], env=clean_environment(), capture_output=True,
                          text=True, timeout=60 * PATIENCE)
    assert done.returncode == 0
    for word in ("PEAL_ACCESS_TOKEN", "demoJobHandler", "--xxl.job.executor.appname, --app", "SIGTERM", os.linesep):
        assert word in done.stdout
