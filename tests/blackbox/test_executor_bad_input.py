# SPDX-License-Identifier: Apache-2.0
"""What an executor should never be sent, over raw sockets, and disks without room under it: each a clear answer in
the form that every center reads (HTTP 200, a code of 500 and a msg that names field and rule), the connection goes
on, and nothing that was taken is lost."""

import json
import pathlib
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import TOKEN  # noqa: E402 (path just set)
from support.disk import small_disk  # noqa: E402
from support.executor import Executor  # noqa: E402
from support.raw import Raw  # noqa: E402
from support.standin import StandinCenter  # noqa: E402
from support.wait import wait_until  # noqa: E402

MIB = 1 << 20
RUN = {"jobId": 1, "executorHandler": "failJobHandler", "executorParams": "", "logId": 1, "glueType": "BEAN",
       "executorBlockStrategy": "SERIAL_EXECUTION", "executorTimeout": 0, "logDateTime": 1700000000000,
       "glueSource": "", "glueUpdatetime": 1700000000000, "broadcastIndex": 0, "broadcastTotal": 1}


@pytest.fixture(scope="module")
def center():
    with StandinCenter() as it:
        yield it


@pytest.fixture(scope="module")
def executor(tmp_path_factory, center):
    """Scripts are on, so that what is wrong with one is said, and not that they are off."""
    with Executor(tmp_path_factory.mktemp("executor"), center.url, ["--peal.executor.glue=shell"]) as it:
        yield it


@pytest.fixture
def raw(executor):
    with Raw(executor.address) as it:
        yield it
        it.send("/beat", b'""', TOKEN)  # whatever came before, this connection and the executor go on
        assert it.reply()["code"] == 200


@pytest.fixture(autouse=True)
def nothing_came_of_it(request, center):
    """A refused run has no result. Those that are meant to run have ids from 100 on."""
    yield
    if "executor" in request.fixturenames:
        assert [r for r in center.results() if not 100 <= r["logId"] < 2**62] == []


def run_with(**fields):
    return json.dumps({**RUN, **fields}, ensure_ascii=False).encode("utf-8", "surrogatepass")


def refused(raw, path, body, token=TOKEN, **more):
    raw.send(path, body, token, **more)
    reply = raw.reply()
    assert reply["code"] == 500 and isinstance(reply["msg"], str) and reply["msg"], reply
    return reply["msg"]


# -- what cannot be read --


@pytest.mark.parametrize("body", [
    b"{", b"}", b'{"jobId":1', b'{"jobId":}', b"{'jobId':1}", b'{"jobId":1}x', b'{"jobId":01}', b'{"jobId":+1}',
    b'{"jobId":1,}', b'{"jobId":NaN}', b"nul", b"\xff\xfe{\x00}\x00", b'{"executorParams":"\xff"}',
    b'{"executorParams":"\xed\xa0\x80"}', b'{"executorParams":"\\ud800"}', b'{"executorParams":"a\nb"}',
    b'{"a":' * 50000, b"[" * 300000, b"\0" * 1000])
@pytest.mark.parametrize("path", ["/run", "/kill", "/idleBeat", "/log"])
def test_malformed_json(raw, path, body):
    assert refused(raw, path, body).startswith("request error:")


@pytest.mark.parametrize("body", [b"", b"[]", b'""', b"1", b"null", b"true"])
@pytest.mark.parametrize("path", ["/run", "/kill", "/idleBeat", "/log"])
def test_a_body_that_is_no_object(raw, path, body):
    assert refused(raw, path, body).startswith("request error:")


@pytest.mark.parametrize("field", ["jobId", "logId", "logDateTime", "executorTimeout", "glueUpdatetime",
                                   "broadcastIndex", "broadcastTotal"])
@pytest.mark.parametrize("value", ["x", "", [], {}, True, 1.5, "1.5", "1 2", "0x10", "9223372036854775808"])
def test_a_number_of_another_type_is_named(raw, field, value):
    """Empty text is no number either, and 9223372036854775808 is one too large."""
    said = refused(raw, "/run", run_with(**{field: value}))
    assert said.startswith("request error:") and field in said


@pytest.mark.parametrize("field", ["executorHandler", "executorParams", "glueType", "glueSource",
                                   "executorBlockStrategy"])
@pytest.mark.parametrize("value", [[], {}])
def test_a_text_of_another_type_is_named(raw, field, value):
    said = refused(raw, "/run", run_with(**{field: value}))
    assert field in said


@pytest.mark.parametrize("path, field", [("/kill", "jobId"), ("/idleBeat", "jobId"), ("/log", "logId"),
                                         ("/log", "logDateTim"), ("/log", "fromLineNum")])
@pytest.mark.parametrize("value", ["x", [], {}, 1.5, "99999999999999999999"])
def test_a_number_of_another_type_is_named_everywhere(raw, path, field, value):
    said = refused(raw, path, json.dumps({field: value}).encode())
    assert said.startswith("request error:") and field in said


@pytest.mark.parametrize("fields, text", [
    ({"jobId": -1}, "jobId: must not be negative"), ({"logId": -1}, "logId: must not be negative"),
    ({"jobId": -2**63}, "jobId"), ({"jobId": 2**63}, "too big integer"),
    ({"logId": 10**400}, "too big integer"),
    ({"broadcastIndex": -1}, "broadcastIndex"), ({"broadcastIndex": 1}, "broadcastIndex"),
    ({"broadcastIndex": 0, "broadcastTotal": -1}, "broadcastIndex"), ({"broadcastTotal": 2**31}, "broadcastTotal")])
def test_numbers_out_of_range_are_named(raw, fields, text):
    assert text in refused(raw, "/run", run_with(**fields))


@pytest.mark.parametrize("date", [-2**63, -1, 0, 2**63 - 1])
@pytest.mark.parametrize("line", [-2**31, -1, 0, 2**31 - 1])
def test_a_log_of_any_number_and_date_may_be_asked_for(raw, date, line):
    for log in (-2**63, -1, 0, 2**63 - 1):
        raw.send("/log", json.dumps({"logDateTim": date, "logId": log, "fromLineNum": line}).encode(), TOKEN)
        reply = raw.reply()
        assert reply["code"] == 200 and reply["data"]["isEnd"] is True
        assert reply["data"]["logContent"] == "readLog fail, logFile not exists"


def test_the_largest_ids_are_taken(raw, center):
    raw.send("/run", run_with(jobId=2**63 - 1, logId=2**61), TOKEN)
    assert raw.reply()["code"] == 200
    assert center.result(2**61)["handleCode"] == 500


# -- what can be read and is refused --


@pytest.mark.parametrize("name", ["nosuch", "", "x" * 5000, "../../etc/passwd", "%s%n", "\u202e", "failJobHandler\0",
                                  "FAILJOBHANDLER", "失败"])
def test_an_unknown_handler(raw, name):
    said = refused(raw, "/run", run_with(executorHandler=name))
    assert said.startswith("job handler [") and "not found." in said and len(said) < 1000


@pytest.mark.parametrize("kind", ["", "bean", "NOPE", "GLUE_GROOVY", "%n", "G" * 5000, "GLUE_SHELL\0"])
def test_an_unknown_kind(raw, kind):
    said = refused(raw, "/run", run_with(glueType=kind))
    assert said.startswith("glueType[") and "is not valid." in said and len(said) < 1000


@pytest.mark.parametrize("fields", [{"glueSource": "echo \0 hi"}, {"glueSource": "echo hi", "executorParams": "\0"}])
def test_a_script_with_a_nul(raw, executor, fields):
    said = refused(raw, "/run", run_with(glueType="GLUE_SHELL", executorHandler="", **fields))
    assert "NUL" in said and [name for name in fields if name in said]


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x", TOKEN[:-1], TOKEN.upper(), "x" * 4000])
@pytest.mark.parametrize("path", ["/beat", "/run", "/nosuch"])
def test_a_wrong_token(raw, path, token):
    assert refused(raw, path, run_with(), token) == "The access token is wrong."


@pytest.mark.parametrize("path", ["/", "/run/", "/RUN", "/api/run", "/run?x=1", "/run%00", "/%72un", "//run",
                                  "/" + "a" * 3000])
def test_an_unknown_path(raw, path):
    said = refused(raw, path, run_with())
    assert said.startswith("invalid request, uri-mapping(") and said.endswith(") not found.") and len(said) < 1000


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"])
def test_a_wrong_method(raw, method):
    assert refused(raw, "/run", run_with(), method=method) == "invalid request, HttpMethod not support."


@pytest.mark.parametrize("body", [None, b"", b'""', b"{}", b"null", b"anything", b"{"])
def test_beat_does_not_look_at_its_body(raw, body):
    raw.send("/beat", body, TOKEN)
    assert raw.reply()["code"] == 200


# -- sizes --


def test_a_parameter_as_large_as_a_request_may_be(raw, center):
    param = "é" * (2 * MIB)  # 4 MiB
    raw.send("/run", run_with(logId=200, executorParams=param), TOKEN)
    assert raw.reply()["code"] == 200
    message = center.result(200)["handleMsg"]
    assert len(message) <= 50003 and message.startswith("éé")


@pytest.mark.parametrize("size", [5 * MIB + 1, 8 * MIB, 1 << 40])
def test_a_body_beyond_the_limit_is_refused_and_not_read(executor, size):
    """The one refusal that is HTTP's: its sender would have to be read to the end first."""
    with Raw(executor.address) as raw:
        raw.send_head("/run", TOKEN, size)
        assert raw.status() == 413
    with Raw(executor.address) as raw:
        raw.send("/beat", b'""', TOKEN)
        assert raw.reply()["code"] == 200


def test_a_request_that_ends_in_the_middle_runs_nothing(executor, center):
    whole = run_with(logId=3)
    for cut in (0, 1, len(whole) // 2, len(whole) - 1):
        with Raw(executor.address) as raw:
            raw.send_head("/run", TOKEN, len(whole))
            raw.send_bytes(whole[:cut])
    executor.run(1, 300, "failJobHandler")
    center.result(300)
    assert not center.results(3)


# -- disks --


def test_a_full_disk_under_logs_and_journal_loses_nothing(tmp_path):
    """A run that is taken has its result, also while there is no room; one that cannot be kept is refused with the
    reason; afterwards everything is as before."""
    with StandinCenter() as center, small_disk(tmp_path) as disk:
        executor = Executor(tmp_path / "executor", center.url,
                            ["--xxl.job.executor.logpath", str(disk.folder / "logs")])
        executor.logs = disk.folder / "logs"
        with executor:
            assert executor.run(1, 1, "failJobHandler")["code"] == 200
            center.result(1)
            disk.fill(executor)
            answers = {log: executor.run(log, log, "failJobHandler", "x" * 20000) for log in range(2, 300)}
            disk.free(executor)

            def taken_again():
                log = max(answers) + 1
                answers[log] = executor.run(log, log, "failJobHandler")
                return answers[log]["code"] == 200
            wait_until(taken_again, "runs to be taken again", 30)
            for log, reply in answers.items():
                if reply["code"] == 200:
                    assert center.result(log)["handleCode"] == 500
                else:
                    assert "journal" in reply["msg"] or "disk" in reply["msg"] or "space" in reply["msg"], reply
        results = [r["logId"] for r in center.results()]
        taken = [1] + [log for log, reply in answers.items() if reply["code"] == 200]
        assert sorted(set(results)) == sorted(taken)
        assert len(results) == len(taken)  # no center was away, so each once


def test_a_log_disk_without_room_costs_lines_and_no_runs(tmp_path):
    """A script that writes more than there is room for ends as it would, and its result arrives."""
    with StandinCenter() as center, small_disk(tmp_path) as disk:
        executor = Executor(tmp_path / "executor", center.url, ["--peal.executor.glue=shell"])
        executor.command += ["--xxl.job.executor.logpath", str(disk.folder / "logs")]
        executor.logs = disk.folder / "logs"
        with executor:
            assert executor.run_shell(1, 1, "head -c 30000000 /dev/zero | tr '\\0' x; exit 0")["code"] == 200
            assert center.result(1, 60)["handleCode"] == 200
            assert executor.call("beat", {})["code"] == 200
