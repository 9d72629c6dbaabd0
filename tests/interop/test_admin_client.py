# SPDX-License-Identifier: Apache-2.0
"""The Java admin's own client classes call `peal executor`, and the results that come back are read with the
classes that its admin reads them with: one release of each dialect."""

import itertools

import pytest
from admin_client import AdminClient, now_ms

import executors
from support.executor import Executor
from support.standin import StandinCenter
from support.wait import wait_until
from test_runs import PARAMETERS

FOR_EVER = "3600000"  # milliseconds: a test that waits for it has failed
COVERED = "block strategy effect：Cover Early"
KILLED = "scheduling center kill job."
WAS_RUNNING, WAS_QUEUED = " [job running, killed]", " [job not executed, in the job queue, killed.]"
ids = itertools.count(9001)


@pytest.fixture(scope="module", params=[one for one in executors.libraries() if one.name.startswith("java-")],
                ids=lambda library: library.name)
def library(request, built):
    return built(request.param)


@pytest.fixture(scope="module")
def standin():
    """The admin's listening side: what the executor registers at and reports to."""
    with StandinCenter() as it:
        yield it


@pytest.fixture(scope="module")
def executor(tmp_path_factory, library, standin):
    with Executor(tmp_path_factory.mktemp(library.name), standin.url) as it:
        yield it


@pytest.fixture(scope="module")
def client(library, executor):
    with AdminClient(library, executor.address, executor.token) as it:
        yield it


@pytest.fixture
def log():
    return next(ids)


@pytest.fixture
def job(client):
    """A job of its own, idle again afterwards."""
    it = next(ids)
    yield it
    client.kill(it)
    wait_until(lambda: client.idle_beat(it)["code"] == 200, f"job {it} to be idle")


def result(client, standin, log):
    """(code, message) of a run's result, as the release reads it; it reads the other shape not at all."""
    item = standin.result(log)
    assert item["executeResult"] == {"code": item["handleCode"], "msg": item["handleMsg"]}
    (read,) = client.results([item])
    assert read == (log, item["logDateTim"], item["handleCode"], item["handleMsg"])
    return read[2:]


def wait_sleeping(executor, log):
    executor.wait_for_log(log, "sleeping")


def test_it_registers_the_address_that_the_client_calls(standin, executor):
    wait_until(lambda: executor.address in [r["registryValue"] for r in standin.of("registry")], "a registration")


def test_beat(client):
    assert client.beat()["code"] == 200


@pytest.mark.parametrize("token", ["wrong", ""])
def test_wrong_token(client, standin, job, log, token):
    for answer in (client.beat(token=token), client.run(job, log, token=token)):
        assert (answer["code"], answer["msg"]) == (500, "The access token is wrong.")
    assert not standin.results(log)


def test_idle_beat_idle_and_busy(client, standin, executor, job, log):
    assert client.idle_beat(job)["code"] == 200
    assert client.run(job, log, "sleepJobHandler", FOR_EVER)["code"] == 200
    answer = client.idle_beat(job)
    assert (answer["code"], answer["msg"]) == (500, "job thread is running or has trigger queue.")


@pytest.mark.parametrize("name", PARAMETERS)
def test_run_with_parameters(client, standin, executor, job, log, name):
    """The run's log repeats the parameter, so that the whole of it is seen to have arrived."""
    date = now_ms()
    assert client.run(job, log, params=PARAMETERS[name], logDateTime=date)["code"] == 200
    assert result(client, standin, log)[0] == 200
    assert standin.result(log)["logDateTim"] == date
    assert f"<br>----------- Param:{PARAMETERS[name]}\n" in client.log(log)["value"]["logContent"]


def test_a_null_parameter_is_an_empty_one(client, standin, job, log):
    """A null is left out of the JSON by the client's library."""
    assert client.run(job, log, "failJobHandler", None)["code"] == 200
    assert result(client, standin, log) == (500, "failed on purpose")


def test_a_failure_with_a_message(client, standin, job, log):
    assert client.run(job, log, "failJobHandler", executors.FAILURE)["code"] == 200
    assert result(client, standin, log) == (500, executors.FAILURE)


def test_missing_handler(client, job, log):
    answer = client.run(job, log, "nosuch")
    assert (answer["code"], answer["msg"]) == (500, "job handler [nosuch] not found.")


@pytest.mark.parametrize("kind", ["GLUE_SHELL", "GLUE_PYTHON", "GLUE_PHP", "GLUE_NODEJS", "GLUE_POWERSHELL",
                                  "GLUE_GROOVY", "NOPE"])
def test_script_kinds_that_are_off_are_refused(client, executor, job, log, kind):
    answer = client.run(job, log, "", glueType=kind, glueSource="echo hi")
    assert answer["code"] == 500 and f"glueType[{kind}] is not valid." in answer["msg"]
    assert not (executor.logs / "gluesource").exists()


def test_duplicate_log_id(client, standin, executor, job, log):
    """Whether it waits, runs or has ended: the second /run of a connection that broke changes nothing."""
    waiting, date = next(ids), now_ms()
    client.run(job, log, "sleepJobHandler", FOR_EVER, logDateTime=date)
    client.run(job, waiting, "sleepJobHandler", "0", logDateTime=date)
    for one in (log, waiting):
        answer = client.run(job, one, "sleepJobHandler", FOR_EVER, logDateTime=date)
        assert (answer["code"], answer["msg"]) == (500, f"repeate trigger job, logId:{one}")
    client.kill(job)
    result(client, standin, log)
    result(client, standin, waiting)
    assert client.run(job, waiting, "sleepJobHandler", logDateTime=date)["msg"] == \
        f"repeate trigger job, logId:{waiting}"
    assert len(standin.results(log)) == len(standin.results(waiting)) == 1


def test_serial_execution_queues(client, standin, executor, job, log):
    later = next(ids)
    assert client.run(job, log, "sleepJobHandler", "200")["code"] == 200
    assert client.run(job, later, "sleepJobHandler", "0")["code"] == 200
    assert result(client, standin, later)[0] == result(client, standin, log)[0] == 200
    order = [item["logId"] for item in standin.results() if item["logId"] in (log, later)]
    assert order == [log, later]


def test_discard_later(client, standin, executor, job, log):
    later = next(ids)
    client.run(job, log, "sleepJobHandler", FOR_EVER)
    wait_sleeping(executor, log)
    answer = client.run(job, later, "sleepJobHandler", "0", executorBlockStrategy="DISCARD_LATER")
    assert (answer["code"], answer["msg"]) == (500, "block strategy effect：Discard Later")
    client.kill(job)
    assert result(client, standin, log) == (500, KILLED + WAS_RUNNING)
    assert not standin.results(later)


def test_cover_early(client, standin, executor, job, log):
    waiting, cover = next(ids), next(ids)
    client.run(job, log, "sleepJobHandler", FOR_EVER)
    wait_sleeping(executor, log)
    client.run(job, waiting, "sleepJobHandler", FOR_EVER)
    assert client.run(job, cover, "sleepJobHandler", "0", executorBlockStrategy="COVER_EARLY")["code"] == 200
    assert result(client, standin, log) == (500, COVERED + WAS_RUNNING)
    assert result(client, standin, waiting) == (500, COVERED + WAS_QUEUED)
    assert result(client, standin, cover)[0] == 200


def test_kill_of_a_running_job(client, standin, executor, job, log):
    client.run(job, log, "sleepJobHandler", FOR_EVER)
    wait_sleeping(executor, log)
    assert client.kill(job)["code"] == 200
    assert result(client, standin, log) == (500, KILLED + WAS_RUNNING)


def test_kill_of_an_idle_job(client, library, job):
    """Where the sentence stands differs by release: each shows its own member."""
    answer = client.kill(job)
    assert answer["code"] == 200
    assert "job thread already killed." in (answer["msg"], answer["value"])


def test_timeout(client, standin, job, log):
    assert client.run(job, log, "sleepJobHandler", FOR_EVER, executorTimeout=1)["code"] == 200
    assert result(client, standin, log) == (502, "job execute timeout ")


def test_a_broadcast_knows_its_shard(client, standin, job, log):
    client.run(job, log, "shardingJobHandler", broadcastIndex=1, broadcastTotal=3)
    assert result(client, standin, log)[0] == 200
    assert "1 of 3" in client.log(log)["value"]["logContent"]


def test_log_by_pages(client, standin, executor, job, log):
    """As the console reads it: from line 1, then from toLineNum + 1, until nothing new comes."""
    client.run(job, log, "sleepJobHandler", FOR_EVER)
    wait_sleeping(executor, log)
    first = client.log(log)["value"]
    lines = first["logContent"].splitlines(keepends=True)
    assert "job execute start" in lines[0] and "sleeping" in first["logContent"]
    assert (first["fromLineNum"], first["toLineNum"], first["isEnd"]) == (1, len(lines), False)
    client.kill(job)
    executor.wait_for_log(log, "job callback finish")
    rest = client.log(log, first["toLineNum"] + 1)["value"]
    assert "job execute end(" in rest["logContent"] and "sleeping" not in rest["logContent"]
    assert rest["fromLineNum"] == first["toLineNum"] + 1
    whole = client.log(log)["value"]
    assert whole["logContent"] == first["logContent"] + rest["logContent"]
    assert whole["toLineNum"] == rest["toLineNum"]
    beyond = client.log(log, whole["toLineNum"] + 1)["value"]
    assert beyond["logContent"] == "" and beyond["toLineNum"] < beyond["fromLineNum"]


def test_log_that_is_missing(client, log):
    answer = client.log(log)
    assert answer["code"] == 200
    page = answer["value"]
    assert (page["fromLineNum"], page["toLineNum"], page["isEnd"]) == (1, 0, True)
    assert page["logContent"] == "readLog fail, logFile not exists"
