# SPDX-License-Identifier: Apache-2.0
"""One run at a time on each library: parameters, results, block strategies, kill, logs, registration.

Every test makes a job of its own, triggers it by hand, and compares what the center shows with what
the executor's handlers wrote down themselves."""

import contextlib
import hashlib
import html

import pytest

import executors
from support.wait import PATIENCE, wait_until
from support.webapi import ApiError, finished

LONG = str(int(2000 * PATIENCE))  # ms of a run that is looked at, or met by others, while it sleeps
UNICODE = "a=1&b=2, 中文 é 😀 \"quoted\" 'single' <b>\\n</b> \\ %41 + ;\ttab\nnext line\u2028 end"
LONGEST = 65535  # bytes: what a column of XXL-JOB's kind holds on each database
# so much UTF-8 exactly, of characters of one to four bytes
LARGE = "a" + "é中😀" * ((LONGEST - 1) // 9)
LARGE += "z" * (LONGEST - len(LARGE.encode()))
PARAMETERS = {"empty": "", "plain": "hello world", "json": '{"POST":"/run","n":[1,2.5,null]}',
              "unicode": UNICODE, "longest": LARGE}


@pytest.fixture
def new_job(api, group):
    """Makes jobs, and deletes them after the test."""
    made = []

    def make(handler, **fields):
        made.append(api.add_job(fields.pop("group", group), handler, **fields))
        return made[-1]

    yield make
    for job in made:
        api.delete_job(job)


def new_row(api, job, seen=0):
    """The row that comes after the first `seen` rows of a job."""
    return wait_until(lambda: api.logs(job)[seen:seen + 1], f"row {seen + 1} of job {job}")[0]


def row_of(api, job, log_id):
    return next(row for row in api.logs(job) if row["id"] == log_id)


def trigger(api, job, param="", addresses=""):
    """Trigger, and return the new row's log id."""
    seen = len(api.logs(job))
    api.trigger(job, param, addresses)
    return new_row(api, job, seen)["id"]


def result(api, job, log_id, timeout=15):
    """The finished row."""
    def done():
        row = row_of(api, job, log_id)
        assert finished(row), row
        return row

    return wait_until(done, f"log {log_id} to be finished", timeout)


def run(api, job, param="", addresses=""):
    return result(api, job, trigger(api, job, param, addresses))


def wait_started(executor, log_id):
    wait_until(lambda: executor.trace(log_id, "start"), f"log {log_id} to start on {executor.address}")


def wait_left(executor, log_id):
    wait_until(lambda: len(executor.trace(log_id)) == 2, f"log {log_id} to leave {executor.address}")


def check(row, handle_code, message):
    assert (row["triggerCode"], row["handleCode"]) == (200, handle_code), row
    assert message in row["handleMsg"], row


def refused(row, reason):
    """Rejected by the executor: no result, and the reason stands in the trigger message."""
    assert row["triggerCode"] == 500 and row["handleCode"] == 0, row
    assert reason in html.unescape(row["triggerMsg"]), row


def test_registration_shows_in_the_group(api, app, executor):
    assert api.addresses(app) == [executor.address]


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameter_arrives_unchanged(api, executor, library, new_job, name):
    param = PARAMETERS[name]
    expected = (len(param.encode()), hashlib.sha256(param.encode()).hexdigest())
    row = run(api, new_job("demoJobHandler"), param)
    check(row, 200, f"length={expected[0]} sha256={expected[1]}")
    assert row["executorAddress"] == executor.address
    assert row["executorHandler"] == "demoJobHandler"
    assert row["executorParam"] == param
    ran = executor.trace(row["id"])
    assert [entry["event"] for entry in ran] == ["start", "end"]
    assert (ran[0]["length"], ran[0]["sha256"]) == expected
    assert (ran[0]["shard"], ran[0]["total"]) == (0, 1)


def test_parameter_of_the_job(api, executor, new_job):
    """A trigger by hand brings its own parameter; a firing of the schedule takes the job's."""
    job = new_job("demoJobHandler", executorParam=UNICODE, scheduleType="FIX_RATE", scheduleConf="1")
    api.start_job(job)
    row = result(api, job, new_row(api, job)["id"])
    api.stop_job(job)
    check(row, 200, f"sha256={hashlib.sha256(UNICODE.encode()).hexdigest()}")


def test_success_message(api, executor, library, new_job):
    row = run(api, new_job("msgJobHandler"))
    check(row, 200, "")
    assert row["handleMsg"] == library.shown(executors.MESSAGE)


def test_failure(api, executor, library, new_job):
    row = run(api, new_job("failJobHandler"))
    check(row, library.fail_code, executors.FAILURE)


def test_exception(api, executor, library, new_job):
    row = run(api, new_job("throwJobHandler"))
    check(row, 500, library.throw_text)


def test_unknown_handler_is_refused(api, executor, library, new_job):
    row = run(api, new_job("nosuch"))
    refused(row, library.unknown)


def test_timeout(api, executor, library, new_job):
    row = run(api, new_job("sleepJobHandler", executorTimeout=1), "20000")
    check(row, *library.timeout)
    wait_left(executor, row["id"])
    assert executor.trace(row["id"])[1]["event"] == "interrupted"


def test_serial_execution(api, executor, library, new_job):
    job = new_job("sleepJobHandler", executorBlockStrategy="SERIAL_EXECUTION")
    first = trigger(api, job, LONG)
    wait_started(executor, first)
    second = trigger(api, job, "10")
    check(result(api, job, first), 200, f"slept {LONG}")
    last = result(api, job, second)
    if not library.queues:
        refused(last, library.busy)
        assert executor.trace(second) == []
        return
    check(last, 200, "slept 10")
    assert [(e["logId"], e["event"]) for e in executor.trace() if e["logId"] in (first, second)] == [
        (first, "start"), (first, "end"), (second, "start"), (second, "end")]


def test_discard_later(api, executor, library, new_job):
    job = new_job("sleepJobHandler", executorBlockStrategy="DISCARD_LATER")
    first = trigger(api, job, LONG)
    wait_started(executor, first)
    refused(run(api, job, "10"), library.busy)
    check(result(api, job, first), 200, f"slept {LONG}")
    assert len(executor.trace(first, "end")) == 1


def test_cover_early(api, executor, library, new_job):
    job = new_job("sleepJobHandler", executorBlockStrategy="COVER_EARLY")
    first = trigger(api, job, LONG)
    wait_started(executor, first)
    second = trigger(api, job, "500")
    last = result(api, job, second)
    if library.covers:
        check(last, 200, "slept 500")
        check(result(api, job, first), 500, "Cover Early [job running, killed]")
        assert [e["event"] for e in executor.trace(first)] == ["start", "interrupted"]
    elif library.name == "node":
        refused(last, library.busy)
        check(result(api, job, first), 200, f"slept {LONG}")
    else:
        # Go ends the first run, but reports its "cancelled" under the second one's log id. The second
        # run's own result then is a repeat, which changes nothing; nobody ever reports the first one.
        check(last, 200, "cancelled")
        wait_left(executor, second)
        assert executor.trace(first)[1]["event"] == "interrupted"
        assert executor.trace(second)[1]["event"] == "end"
        assert row_of(api, job, second)["handleMsg"] == "cancelled"
        assert row_of(api, job, first)["handleCode"] in (0, 500)


def test_kill(api, executor, library, new_job):
    job = new_job("sleepJobHandler")
    log_id = trigger(api, job, "20000")
    wait_started(executor, log_id)
    wait_until(lambda: row_of(api, job, log_id)["triggerCode"] == 200, "the run to be accepted")
    api.log_kill(log_id)
    wait_left(executor, log_id)
    assert executor.trace(log_id)[1]["event"] == "interrupted"
    row = result(api, job, log_id)
    if row["handleCode"] == 200:
        # These two report a killed run as a success, and that report may overtake the answer to /kill
        # on which the center closes the row.
        assert library.name in ("node", "go"), row
        assert "is killed." in row["handleMsg"] or "cancelled" in row["handleMsg"], row
    else:
        assert row["handleCode"] == 500, row
    # The executor has forgotten the job: it takes the next run.
    check(run(api, job, "10"), 200, "slept 10")


def test_rolling_log_of_a_running_run(api, executor, library, new_job):
    job = new_job("sleepJobHandler")
    log_id = trigger(api, job, LONG)
    wait_started(executor, log_id)
    wait_until(lambda: row_of(api, job, log_id)["triggerCode"] == 200, "the run to be accepted")
    if library.name == "go":
        detail = api.log_detail(log_id)
        assert detail["logContent"] == executors.GO_LOG  # its log is a fixed text
        assert detail["end"] is False  # though the executor says so: the run is open
        check(result(api, job, log_id), 200, f"slept {LONG}")
        assert api.log_detail(log_id)["end"] is True
        return

    def page(text):
        try:
            detail = api.log_detail(log_id)
        except ApiError as no_file_yet:  # npm's answer to that is code 500
            raise AssertionError(str(no_file_yet)) from None
        assert text in (detail["logContent"] or ""), detail
        return detail

    early = wait_until(lambda: page("before the sleep"), "the log's first lines")
    assert "after the sleep" not in early["logContent"]
    assert early["end"] is False and early["fromLineNum"] == 1
    check(result(api, job, log_id), 200, f"slept {LONG}")
    wait_until(lambda: page("after the sleep"), "the log's last lines")
    if library.rolling:
        # Line by line as the console does it: the next page starts after the last line seen, until the end.
        line, text = early["toLineNum"] + 1, early["logContent"]
        for _ in range(20):
            detail = api.log_detail(log_id, line)
            assert detail["fromLineNum"] == line
            if detail["toLineNum"] < line:
                assert detail["end"] is True, detail
                break
            text += "\n" + detail["logContent"]
            line = detail["toLineNum"] + 1
        else:
            pytest.fail(f"the log never ends: {detail}")
        assert text.count("before the sleep") == 1 and text.count("after the sleep") == 1
    else:
        assert page("after the sleep")["end"] is True


def test_log_shows_the_parameter(api, executor, library, new_job):
    if library.name == "go":
        return  # a fixed text, see above: there is nothing to show
    param = "x<y> & 'z' \"中文\" 😀"
    row = run(api, new_job("demoJobHandler"), param)
    detail = wait_until(lambda: api.log_detail(row["id"]), "the log")
    assert f"demo param={param} shard=0/1" in html.unescape(detail["logContent"])


class TestTwoExecutors:
    """Two executors of one library under one app name."""

    @pytest.fixture(scope="class")
    def second(self, tmp_path_factory, center, api, app, library, executor):
        it = executors.Executor(library, center, app, tmp_path_factory.mktemp(library.name + "-second"))
        try:
            it.start()
            wait_until(lambda: it.address in api.addresses(app), f"{it.address} to be registered", 15)
            yield it
        finally:
            it.stop()

    @pytest.fixture(scope="class")
    def both(self, executor, second):
        """By address, in the order of the group's list."""
        return dict(sorted({executor.address: executor, second.address: second}.items()))

    def test_both_are_listed_in_order(self, api, app, both):
        assert api.addresses(app) == list(both)

    def test_broadcast(self, api, both, library, new_job):
        job = new_job("shardJobHandler", executorRouteStrategy="SHARDING_BROADCAST")
        api.trigger(job)

        def all_done():
            rows = api.logs(job)
            assert len(rows) == 2 and all(finished(row) for row in rows), rows
            return rows

        rows = wait_until(all_done, "both shards to finish", 15)
        assert sorted(row["executorShardingParam"] for row in rows) == ["0/2", "1/2"]
        for row in rows:
            shard = int(row["executorShardingParam"][0])
            check(row, 200, f"shard={shard}/2")
            address = list(both)[shard]
            assert row["executorAddress"] == address
            assert [(e["event"], e["shard"], e["total"]) for e in both[address].trace(row["id"])] == [
                ("start", shard, 2), ("end", shard, 2)]

    def test_trigger_with_an_address(self, api, both, new_job):
        job = new_job("demoJobHandler")
        for address, executor in both.items():
            row = run(api, job, addresses=address)
            check(row, 200, "length=0")
            assert row["executorAddress"] == address and len(executor.trace(row["id"], "end")) == 1

    def test_busyover_takes_the_idle_one(self, api, both, new_job):
        """By /idleBeat, which every library answers per job."""
        job = new_job("sleepJobHandler", executorRouteStrategy="BUSYOVER",
                      executorBlockStrategy="DISCARD_LATER")
        first = trigger(api, job, LONG)
        wait_until(lambda: any(e.trace(first, "start") for e in both.values()), "the first run to start")
        second = trigger(api, job, "10")
        assert [result(api, job, log)["executorAddress"] for log in (first, second)] == list(both)
        check(row_of(api, job, first), 200, f"slept {LONG}")
        check(row_of(api, job, second), 200, "slept 10")


def test_failover_passes_over_a_dead_address(api, executor, library, new_job):
    """By /beat, which must be sent in the one form that every library takes."""
    dead = "http://127.0.0.1:1/"
    name = f"interop-{library.name}-failover"
    group = api.add_group(name, addresses=[dead, executor.address])
    row = run(api, new_job("demoJobHandler", group=group, executorRouteStrategy="FAILOVER"))
    check(row, 200, "length=0")
    assert row["executorAddress"] == executor.address


def test_wrong_token_is_refused(api, center, library, executor, tmp_path):
    """An executor with another token does not get into its group, and is told why."""
    name = f"interop-{library.name}-intruder"
    api.add_group(name)
    honest = center.token
    center.token = "not-the-token"
    intruder = executors.Executor(library, center, name, tmp_path)
    try:
        with contextlib.ExitStack() as stack:
            stack.callback(intruder.stop)
            intruder.start()
            wait_until(lambda: "token is wrong" in intruder.printed(), "the refusal in the executor's output")
            assert api.addresses(name) == []
    finally:
        center.token = honest


def test_deregistration_acts_at_once(api, center, library, executor, tmp_path):
    name = f"interop-{library.name}-leaving"
    api.add_group(name)
    leaving = executors.Executor(library, center, name, tmp_path)
    with contextlib.ExitStack() as stack:
        stack.callback(leaving.stop)
        leaving.start()
        wait_until(lambda: api.addresses(name) == [leaving.address], "the executor to be listed")
    # far less than the 90 s after which an executor that fell silent is dropped
    wait_until(lambda: api.addresses(name) == [], "the executor to be gone", 5)


def test_address_without_a_scheme(api, center, library, tmp_path, new_job):
    """npm's library registers 127.0.0.1:port/job when it is configured by ip and port."""
    if library.name != "node":
        return  # the others always register a scheme
    name = "interop-node-bare"
    group = api.add_group(name)
    bare = executors.Executor(library, center, name, tmp_path, options=["--scheme", "none"])
    try:
        bare.start()
        wait_until(lambda: api.addresses(name) == [f"127.0.0.1:{bare.port}/job"], "the bare address")
        row = run(api, new_job("demoJobHandler", group=group), "bare")
        check(row, 200, "length=4")
        assert row["executorAddress"] == f"127.0.0.1:{bare.port}/job"
        assert len(bare.trace(row["id"], "end")) == 1
    finally:
        bare.stop()
