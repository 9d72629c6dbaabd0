# SPDX-License-Identifier: Apache-2.0
"""The bytes that Java admins send to executors, replayed as they were recorded (captures/), in every way that they
can be cut into segments; our answers stand beside those of the Java executor, member by member."""

import json
import pathlib
import re
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.executor import Executor  # noqa: E402 (path just set)
from support.raw import Raw  # noqa: E402
from support.standin import StandinCenter  # noqa: E402
from support.wait import wait_until  # noqa: E402

CAPTURES = pathlib.Path(__file__).resolve().parent / "captures"
RELEASES = ["java-2.4.2", "java-3.4.2"]
TOKEN = "default_token"
# sizes of whole requests as the tap counted them: what a file and this program make of it must be that long
SIZES = {"java-2.4.2": {"/beat": 345, "/run": 344 + 319, "/log": 343 + 56},
         "java-3.4.2": {"/beat": 299, "/run": 613, "/log": 374}}
FOR_EVER = "3600000"  # milliseconds: a test that waits for it has failed
KILLED = "scheduling center kill job. [job running, killed]"


class Exchange:
    """A request as bytes, and the Java executor's answer to it."""

    def __init__(self, heads, line, answer):
        self.path, _, body = line.partition(" ")
        self.body = body.encode()
        head = heads["head" if body else "head without a body"]
        self.bytes = head.format(path=self.path, length=len(self.body)).replace("\n", "\r\n").encode() + self.body
        self.sent = json.loads(body) if body else None
        self.answer = json.loads(answer)

    def __repr__(self):
        return f"{self.path} {self.body.decode()[:300]}"


def captured(release):
    """The exchanges of a file, in the order of the capture."""
    sections = re.split(r"^\[(.*)\]\n", (CAPTURES / f"{release}.txt").read_text(encoding="utf-8"), flags=re.M)[1:]
    parts = dict(zip(sections[::2], sections[1::2]))
    lines = parts.pop("exchanges").splitlines()
    heads = {name: text.rstrip("\n") + "\n\n" for name, text in parts.items()}
    return [Exchange(heads, line[2:], answer[2:]) for line, answer in zip(lines[::2], lines[1::2])]


@pytest.fixture
def center():
    with StandinCenter() as it:
        yield it


@pytest.fixture
def executor(tmp_path, center):
    with Executor(tmp_path, center.url, ["--peal.executor.glue=shell"], token=TOKEN) as it:
        yield it


@pytest.fixture
def wire(executor):
    with Raw(executor.address) as it:
        yield it


@pytest.mark.parametrize("release", RELEASES)
def test_the_fixtures_are_as_long_as_what_was_recorded(release):
    first = {}
    for one in captured(release):
        first.setdefault(one.path, len(one.bytes))
    assert {path: first[path] for path in SIZES[release]} == SIZES[release]


# -- the answers --


def page_of(reply):
    """The page of a /log answer in both of its places, which must be the same."""
    assert reply["content"] == reply["data"]
    return reply["data"]


def compare(ours, exchange):
    """Member by member: the code always; a refusal's sentence to the letter; a sentence or a page in the member
    where the release reads it. On success ours may carry a msg and both shapes, which is documented."""
    java = exchange.answer
    assert ours["code"] == java["code"], exchange
    for member in ("content", "data"):
        if isinstance(java.get(member), str):  # 3.x: the note of a kill
            assert ours[member] == java[member]
    if "msg" in java and java["msg"] != "Success":  # refusals, and the note of a kill in 2.x
        assert ours["msg"] == java["msg"]
    if exchange.path == "/log":
        compare_page(page_of(ours), java.get("content") or java.get("data"), exchange)


MARK = re.compile(r"<br>----------- .*$|^readLog fail.*$", re.M)


def compare_page(ours, java, exchange):
    """Numbers that the release's console works with, and the marks that recovery looks for. Handlers' own lines and
    the names of threads are not the protocol's."""
    assert ours["fromLineNum"] == java["fromLineNum"] and ours["isEnd"] is java["isEnd"]
    nothing_new = java["toLineNum"] < java["fromLineNum"]
    assert (ours["toLineNum"] < ours["fromLineNum"]) == nothing_new, exchange
    assert (ours["logContent"] == "") == (java["logContent"] == "")
    # the message of a handler that says nothing: Java prints a null, where ours is empty
    marks = [[m.replace("null", "").replace(FOR_EVER, "") for m in MARK.findall(p["logContent"])]
             for p in (ours, java)]
    assert marks[0] == marks[1], exchange


class Story:
    """The run of a capture, told to our executor. Between two requests the events are awaited that the Java
    programs of the capture had time for. A handler that the agent does not have, or that wants a parameter, is
    played by one that it has: the name is not the protocol's."""

    PLAYED = {b"msgJobHandler": b"failJobHandler", b"throwJobHandler": b"failJobHandler",
              b'"sleepJobHandler","executorParams":""': b'"sleepJobHandler","executorParams":"%s"' % FOR_EVER.encode()}

    def __init__(self, release, executor, center, wire):
        self.exchanges = captured(release)
        self.executor, self.center, self.wire = executor, center, wire
        self.seen = set()

    def tell(self):
        for exchange in self.exchanges:
            self.before(exchange)
            self.hear(exchange)

    def before(self, exchange):
        if exchange.path == "/log" and exchange.sent["logId"] == 101:
            self.executor.wait_for_log(101, "job callback finish", date_ms=exchange.sent["logDateTim"])
        elif exchange.path == "/log" and exchange.sent["logId"] == 109:
            self.executor.wait_for_log(109, "sleeping", date_ms=exchange.sent["logDateTim"])
        elif exchange.path == "/run" and exchange.sent["logId"] == 107:
            self.executor.wait_for_log(106, "sleeping", date_ms=exchange.sent["logDateTime"])
        elif exchange.path == "/kill" and exchange.path in self.seen:
            wait_until(lambda: self.executor.idle(exchange.sent["jobId"]), "the killed job to be idle")

    def hear(self, exchange):
        log = exchange.sent and exchange.path == "/run" and exchange.sent["logId"]
        request = exchange.bytes
        for theirs, ours in self.PLAYED.items():
            request = resized(request, request.replace(theirs, ours))
        self.wire.send_bytes(request)
        reply = self.wire.reply()
        if log and log in self.seen:  # the capture shows one run twice: here it is the second POST of the JVM
            assert (reply["code"], reply["msg"]) == (500, f"repeate trigger job, logId:{log}")
        else:
            compare(reply, exchange)
        self.seen.add(log or exchange.path)


def resized(before, after):
    """after, with its Content-Length made right if it is of another length than before."""
    length = int(re.search(rb"Content-Length: (\d+)", before)[1]) if len(before) != len(after) else 0
    return after.replace(b"Content-Length: %d" % length, b"Content-Length: %d" % (length + len(after) - len(before)))


def test_the_story_of_2_4_2(executor, center, wire):
    Story("java-2.4.2", executor, center, wire).tell()
    results = {log: center.result(log) for log in (101, 102, 103, 104, 106, 107, 109, 110, 111)}
    codes = {log: r["handleCode"] for log, r in results.items()}
    assert codes == {101: 200, 102: 500, 103: 500, 104: 500, 106: 500, 107: 500, 109: 500, 110: 502, 111: 500}
    said = {log: r["handleMsg"] for log, r in results.items()}
    assert said[106] == "block strategy effect：Cover Early [job running, killed]"
    assert said[107] == "block strategy effect：Cover Early [job not executed, in the job queue, killed.]"
    assert said[109] == KILLED and said[110] == "job execute timeout "
    assert said[111] == "script exit value(3) is failed"
    for log in (105, 108, 155):
        assert not center.results(log)
    assert all(r["logDateTim"] == 1795164424698 for r in results.values())


def test_the_story_of_3_4_2(executor, center, wire):
    """The capture leaves out what was the same as in 2.4.2; the run that its last requests speak of is sent here."""
    story = Story("java-3.4.2", executor, center, wire)
    for exchange in story.exchanges:
        if exchange.sent and exchange.sent.get("logId") == 108:
            executor.run(6, 109, "sleepJobHandler", FOR_EVER, logDateTime=exchange.sent["logDateTime"])
            executor.wait_for_log(109, "sleeping", date_ms=exchange.sent["logDateTime"])
        story.before(exchange)
        story.hear(exchange)
    assert center.result(101)["handleCode"] == 200
    assert center.result(109)["handleMsg"] == KILLED


# -- the framings --


@pytest.fixture(params=RELEASES)
def harmless(request):
    """Requests of a release that may be sent any number of times."""
    return [one for one in captured(request.param)
            if one.path in ("/beat", "/idleBeat") or one.path == "/log" and one.sent["logId"] == 999]


def test_headers_and_body_in_segments_of_their_own(wire, harmless):
    """As the JVM sends them: what reads the body with the first read() breaks on it."""
    for one in harmless:
        at = one.bytes.index(b"\r\n\r\n") + 4
        wire.send_bytes(one.bytes[:at], one.bytes[at:])
        idle = one.path == "/idleBeat"  # busy in the capture, idle here
        assert wire.reply()["code"] == (200 if idle else one.answer["code"])


def test_several_requests_in_one_segment(wire, harmless):
    wire.send_bytes(b"".join(one.bytes for one in harmless * 20))
    for one in harmless * 20:
        reply = wire.reply()
        assert reply["code"] == 200
        assert ("logContent" in str(reply)) == (one.path == "/log")


def test_split_at_every_byte(executor, harmless):
    """Each request in two segments, cut at each byte in turn, on one connection."""
    with Raw(executor.address) as wire:
        for one in harmless:
            for at in range(1, len(one.bytes)):
                wire.send_bytes(one.bytes[:at], one.bytes[at:])
                assert wire.reply()["code"] == 200, at


def test_one_byte_a_segment(wire, harmless):
    for one in harmless:
        wire.send_bytes(*(one.bytes[i:i + 1] for i in range(len(one.bytes))))
        assert wire.reply()["code"] == 200


@pytest.mark.parametrize("release", RELEASES)
def test_a_run_cut_at_every_byte_runs_each_time(executor, center, wire, release):
    """Ids and lengths stay as long as they were, so that every cut falls where it fell."""
    (run, *_) = [one for one in captured(release) if one.path == "/run"]
    request = run.bytes.replace(b'"demoJobHandler"', b'"failJobHandler"')
    assert len(request) == len(run.bytes) and request.count(b'"logId":101') == 1
    first = 100000
    cuts = range(1, len(request), 7)
    for number, at in enumerate(cuts):
        now = request.replace(b'"logId":101', b'"logId":%d' % (first + number))
        now = now.replace(b"Content-Length: %d" % len(run.body), b"Content-Length: %d" % (len(run.body) + 3))
        wire.send_bytes(now[:at], now[at:])
        assert wire.reply()["code"] == 200
    wait_until(lambda: len(center.results()) == len(cuts), "all results", 60)
    assert sorted(r["logId"] for r in center.results()) == [first + n for n in range(len(cuts))]
    said = {r["handleMsg"] for r in center.results()}
    assert said == {"a=1,中文 \"q\" <x>&'"}


# -- what the Java executor does with unusual requests --

HEAD = "POST {path} HTTP/1.1\r\nHost: x\r\nXXL-JOB-ACCESS-TOKEN: default_token\r\n"
RUN = (b'{"jobId":21,"executorHandler":"failJobHandler","executorParams":"","executorBlockStrategy":'
       b'"SERIAL_EXECUTION","executorTimeout":0,"logId":2002,"logDateTime":1700000000000,"glueType":"BEAN",'
       b'"glueSource":"","glueUpdatetime":1700000000000,"broadcastIndex":0,"broadcastTotal":1}')


def request(path, body=b"", more="", method="POST", version="1.1"):
    head = HEAD.format(path=path).replace("POST", method).replace("HTTP/1.1", "HTTP/" + version)
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return f"{head}{length}{more}\r\n".encode() + body


@pytest.mark.parametrize("sent, code, msg", [
    (request("/beat", b'""'), 200, None),
    (request("/beat"), 200, None),
    (request("/beat", method="GET"), 500, "invalid request, HttpMethod not support."),
    (request("/beat", b'""').replace(b"default_token", b"wrong"), 500, "The access token is wrong."),
    (request("/beat", b'""').replace(b"XXL-JOB-ACCESS-TOKEN: default_token\r\n", b""), 500,
     "The access token is wrong."),
    (request("/beat", b'""').replace(b"XXL-JOB-ACCESS-TOKEN", b"xxl-job-access-token"), 200, None),
    (request("/beat/", b'""'), 500, "invalid request, uri-mapping(/beat/) not found."),
    (request("/beat?x=1", b'""'), 500, "invalid request, uri-mapping(/beat?x=1) not found."),
    (request("//beat", b'""'), 500, "invalid request, uri-mapping(//beat) not found."),
    (request("/nosuch", b"{}"), 500, "invalid request, uri-mapping(/nosuch) not found."),
    (request("/idleBeat", b'{"jobId":77}'), 200, None),
    (request("/idleBeat", b'{"jobId":"77"}'), 200, None),
    (request("/idleBeat", b"{}"), 200, None),
    (request("/idleBeat"), 500, None),
    (request("/run", b'{"jobId":'), 500, None),
    (request("/run", b"{}"), 500, None),
    (request("/run", RUN), 200, None),
    (request("/run", RUN.replace(b"21", b'"21"').replace(b"2002", b'"2002"')), 200, None),
    (request("/run", RUN.replace(b'"executorParams":""', b'"executorParams":null')), 200, None),
    (request("/run", RUN.replace(b"{", b'{"extra":{"deep":[1,null]},')), 200, None),
    (request("/run", RUN.replace(b"2002", b"9007199254740993")), 200, None),
    (request("/log", b'{"logDateTim":1700000000000,"logId":999999,"fromLineNum":1}'), 200, None),
    (request("/log", b'{"logDateTim":1700000000000,"logId":999999,"fromLineNum":0}'), 200, None),
    (request("/kill", b'{"jobId":78}'), 200, "job thread already killed."),
])
def test_unusual_requests_get_the_java_executors_answer(wire, sent, code, msg):
    wire.send_bytes(sent)
    reply = wire.reply()
    assert reply["code"] == code and (msg is None or reply["msg"] == msg), reply
    wire.send_bytes(request("/beat", b'""'))  # the connection goes on
    assert wire.reply()["code"] == 200


def test_a_large_log_id_stays_exact(center, wire):
    wire.send_bytes(request("/run", RUN.replace(b"2002", b"9007199254740993")))
    assert wire.reply()["code"] == 200
    assert center.result(9007199254740993)["handleCode"] == 500


def test_chunked(center, wire):
    chunked = request("/run", more="Transfer-Encoding: chunked\r\n") + b"%x\r\n" % len(RUN) + RUN + b"\r\n0\r\n\r\n"
    wire.send_bytes(chunked)
    assert wire.reply()["code"] == 200
    assert center.result(2002)["handleCode"] == 500


def test_expect_100_continue(center, wire):
    wire.send_bytes(request("/run", RUN, "Expect: 100-continue\r\n")[:-len(RUN)])
    assert wire.line() == b"HTTP/1.1 100 Continue\r\n" and wire.line() == b"\r\n"
    wire.send_bytes(RUN)
    assert wire.reply()["code"] == 200
    assert center.result(2002)["handleCode"] == 500


@pytest.mark.parametrize("release", RELEASES)
def test_the_second_post_of_the_jvm(center, executor, release):
    """The connection ends before an answer: the JVM sends the same bytes again on a new one. It runs once."""
    (run, *_) = [one for one in captured(release) if one.path == "/run"]
    request = run.bytes.replace(b'"demoJobHandler"', b'"failJobHandler"')
    with Raw(executor.address) as first:
        first.send_bytes(request)
    with Raw(executor.address) as second:
        second.send_bytes(request)
        reply = second.reply()
    assert reply["code"] == 200 or reply["msg"] == "repeate trigger job, logId:101"
    center.result(101)
    executor.run(9, 900, "failJobHandler")
    center.result(900)
    assert len(center.results(101)) == 1
