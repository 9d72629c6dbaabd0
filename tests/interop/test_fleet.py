# SPDX-License-Identifier: Apache-2.0
"""All libraries at once on a center of their own: a job of each fires every second, the center is killed
twice in the middle of it, and afterwards every firing has to be accounted for.

The story is told once for all libraries (the waiting is what costs), the tests then look at one library
each. What the libraries do when the center does not answer:

Java  keeps a result that it could not deliver in a file and sends it again every 30 seconds.
npm   ends its process on any call to the center that fails. Operators run it under a service manager, so
      the harness starts it again; a result that could not be delivered is gone with the process.
Go    logs the error and forgets the result.

So with Java every firing must end in success. With npm and Go a run that was on its way when the center
was killed can stay without a result, because no executor can be asked: the center must then neither invent one
nor send the run a second time (the job's onDoubt setting, "wait" by default)."""

import collections
import contextlib
import socket

import pytest

import executors
from conftest import LIBRARIES, build
from support.center import Center
from support.wait import wait_until
from support.webapi import finished

TICK = "* * * * * ?"
Story = collections.namedtuple("Story", "windows outlived missed rested")  # rested: a time at which no npm job fired


class Member:
    """One library's executor and its jobs."""

    def __init__(self, library, center, folder):
        self.library = library
        self.center = center
        self.api = center.api(library.generation, library.prefix)
        app = f"fleet-{library.name}"
        group = self.api.add_group(app)
        self.executor = executors.Executor(library, center, app, folder, supervised=library.dies)
        self.executor.launch()
        self.app = app
        self.tick = self.api.add_job(group, "demoJobHandler", scheduleType="CRON", scheduleConf=TICK,
                                     executorParam="tick")
        self.sleep = self.api.add_job(group, "sleepJobHandler")

    def wait_registered(self):
        self.executor.wait_ready()
        wait_until(lambda: self.api.addresses(self.app) == [self.executor.address],
                   f"{self.app} to be registered", 15)

    def ticks(self):
        return self.api.logs(self.tick)

    def successes(self, since=0):
        return [row for row in self.ticks() if row["handleCode"] == 200 and row["triggerTime"] >= since]

    def wait_ticks(self, count, since=0):
        wait_until(lambda: len(self.successes(since)) >= count,
                   f"{count} successes of {self.app}", 30, 0.2)

    def sleeping(self, log_id):
        return next(row for row in self.api.logs(self.sleep) if row["id"] == log_id)


def start_sleep(members, ms):
    """Start a sleeping run on each; their log ids by library once all handlers run."""
    seen = {member: len(member.api.logs(member.sleep)) for member in members}
    for member in members:
        member.api.trigger(member.sleep, str(ms))
    log_ids = {}
    for member in members:
        rows = wait_until(lambda: member.api.logs(member.sleep)[seen[member]:], f"{member.app}'s row")
        log_id = log_ids[member.library.name] = rows[0]["id"]
        wait_until(lambda: member.executor.trace(log_id, "start"), f"{member.app} to start log {log_id}")
        wait_until(lambda: member.sleeping(log_id)["triggerCode"] == 200, f"log {log_id} to be accepted")
    return log_ids


def takes_connections(executor):
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", executor.port), 5).close()
        return True
    return False


def outlive(members, break_center):
    """A run of each goes on while the center is killed and comes back, and its result counts. Returns their log ids by
    library, and a time at which npm's job did not fire: a call that finds no center ends npm's process, with its run. If
    it was just about to register, that is tried again."""
    log_ids = {}
    mortal = [member for member in members if member.library.dies]
    for member in mortal:
        member.api.stop_job(member.tick)
    for member in mortal:
        wait_until(lambda m=member: all(map(finished, m.ticks())), f"{member.app} to settle", 30)
    rested = executors.now_ms()
    while left := [member for member in members if member.library.name not in log_ids]:
        ends = {member: member.executor.ends for member in left}
        sleeping = start_sleep(left, 6000)
        break_center()
        for member in left:
            log_id = sleeping[member.library.name]
            wait_until(lambda m=member, i=log_id: m.sleeping(i)["handleCode"] or (m in mortal and m.executor.ends > ends[m]),
                       f"the result of {member.app}'s run that outlived the center", 30)
            if member.sleeping(log_id)["handleCode"]:
                log_ids[member.library.name] = log_id
            else:
                wait_until(lambda m=member: takes_connections(m.executor), f"{member.app} to be started again", 30)
    for member in mortal:
        member.api.start_job(member.tick)
    return log_ids, rested


def available():
    """The libraries that can be built here; in CI all, or an error."""
    found = []
    for library in LIBRARIES:
        try:
            build(library)
            found.append(library)
        except pytest.skip.Exception:
            pass  # each test of that library says so
    return found


@pytest.fixture(scope="module")
def fleet_center(tmp_path_factory):
    with Center(tmp_path_factory.mktemp("fleet-center")) as it:
        yield it


@pytest.fixture(scope="module")
def fleet(tmp_path_factory, fleet_center):
    members = {}
    try:
        for library in available():
            members[library.name] = Member(library, fleet_center, tmp_path_factory.mktemp(library.name))
        for member in members.values():
            member.wait_registered()
        yield members
    finally:
        for member in members.values():
            member.executor.stop()


@pytest.fixture(scope="module")
def ticked(fleet):
    """Ten and more firings of each, undisturbed; then all is quiet again."""
    for member in fleet.values():
        member.api.start_job(member.tick)
    for member in fleet.values():
        member.wait_ticks(11)
    for member in fleet.values():
        member.api.stop_job(member.tick)
    for member in fleet.values():
        wait_until(lambda m=member: all(map(finished, m.ticks())), f"{member.app} to settle", 15)
    return {name: (member.ticks(), member.executor.trace()) for name, member in fleet.items()}


@pytest.fixture(scope="module")
def killed(fleet, fleet_center, ticked):
    """The center is killed twice: while all fire each second but those that cannot outlive that, and while all do."""
    since = executors.now_ms()
    windows = []

    def down():
        windows.append([executors.now_ms(), None])
        fleet_center.kill()

    def up():
        fleet_center.start()
        windows[-1][1] = executors.now_ms()

    members = list(fleet.values())
    for member in members:
        member.api.start_job(member.tick)
    for member in members:
        member.wait_ticks(3, since)

    # A run that outlives the center: it ends when the center is back.
    outlived, rested = outlive(members, lambda: (down(), up()))
    for member in members:
        member.wait_ticks(3, windows[-1][1])

    # A run that ends while the center is down.
    missed = start_sleep(members, 3000)
    down()
    before = {member: member.executor.undelivered() for member in members}
    for member in members:
        log_id = missed[member.library.name]
        wait_until(lambda: member.executor.trace(log_id, "end"), f"{member.app}'s run to end")
        wait_until(lambda: member.executor.undelivered() > before[member], f"{member.app} to miss the center")
    up()
    for member in members:
        member.wait_ticks(3, windows[-1][1])
    # The jobs go on until every doubt is resolved: a run that never arrived is sent again only while
    # its job is started.
    for member in members:
        if member.library.resends:
            wait_until(lambda m=member: m.sleeping(missed[m.library.name])["handleCode"],
                       f"{member.app} to send its result again", 60, 0.5)
            wait_until(lambda m=member: all(finished(row) for row in m.ticks()
                                            if row["triggerTime"] <= windows[-1][1]),
                       f"every firing of {member.app} to have its result", 60, 0.5)
    for member in members:
        member.api.stop_job(member.tick)
    for member in members:
        wait_until(lambda m=member: all(finished(row) for row in (
            m.ticks() if m.library.resends else outside(m.ticks(), windows))), f"{member.app} to settle", 30, 0.5)
    return Story(windows, outlived, missed, rested)


def outside(rows, windows):
    """The rows that no kill can have touched. A firing is planned seconds ahead, and what was missed is
    caught up in one go, so a window starts a little before the kill and ends a little after the start."""
    return [row for row in rows
            if not any(start - 3000 <= row["triggerTime"] <= end + 6000 for start, end in windows)]


@pytest.fixture(scope="module")
def beaten(fleet, fleet_center, killed):
    """The center is made to forget all executors; each one's next beat must bring it back. Java's comes
    every 30 seconds, in 3.4 on the half minute; npm's every 30; Go's every 20."""
    def forgotten(member):
        """Said again each time: a beat may come between the removal and the look."""
        reply = fleet_center.open_api("registryRemove", {"registryGroup": "EXECUTOR", "registryKey": member.app,
                                                         "registryValue": member.executor.address})
        assert reply["code"] == 200
        return member.api.addresses(member.app) == []

    for member in fleet.values():
        wait_until(lambda m=member: forgotten(m), f"{member.app} to be forgotten")
    for member in fleet.values():
        wait_until(lambda m=member: m.api.addresses(m.app) == [m.executor.address],
                   f"the next beat of {member.app}", 45, 0.5)


@pytest.fixture(params=LIBRARIES, ids=lambda library: library.name)
def name(request):
    build(request.param)
    return request.param.name


def starts(trace):
    """How often each log id was executed."""
    return collections.Counter(entry["logId"] for entry in trace if entry["event"] == "start")


def check_seconds(rows):
    """One row for every second from the first to the last."""
    seconds = sorted(row["triggerTime"] for row in rows)
    assert all(ms % 1000 == 0 for ms in seconds)
    assert seconds == list(range(seconds[0], seconds[-1] + 1000, 1000))


def test_each_firing_has_one_row_and_one_execution(ticked, name):
    rows, trace = ticked[name]
    assert len(rows) >= 11
    check_seconds(rows)
    assert {(row["triggerCode"], row["handleCode"]) for row in rows} == {(200, 200)}
    assert starts(trace) == {row["id"]: 1 for row in rows}
    began = {entry["logId"]: entry["ms"] for entry in trace if entry["event"] == "start"}
    early = [row for row in rows if began[row["id"]] < row["triggerTime"]]
    assert early == [], "executed before its scheduled time"


def test_a_run_that_outlives_the_center_reports(killed, fleet, name):
    member, log_id = fleet[name], killed.outlived[name]
    row = member.sleeping(log_id)
    assert (row["triggerCode"], row["handleCode"]) == (200, 200), row
    assert "slept 6000" in row["handleMsg"]
    assert [entry["event"] for entry in member.executor.trace(log_id)] == ["start", "end"]


def test_a_run_that_ends_without_the_center(killed, fleet, name):
    member, log_id = fleet[name], killed.missed[name]
    row = member.sleeping(log_id)
    assert [entry["event"] for entry in member.executor.trace(log_id)] == ["start", "end"]
    if member.library.resends:
        assert (row["triggerCode"], row["handleCode"]) == (200, 200), row
        assert "slept 3000" in row["handleMsg"]
    else:
        # the result is lost with these libraries: open, or declared lost; never a success
        assert row["handleCode"] in (0, 500), row


def test_no_firing_is_lost_or_doubled_by_a_kill(killed, fleet, ticked, name):
    member = fleet[name]
    before = {row["id"] for row in ticked[name][0]}
    rows = [row for row in member.ticks() if row["id"] not in before]
    if member.library.dies:
        check_seconds([row for row in rows if row["triggerTime"] < killed.rested])
        check_seconds([row for row in rows if row["triggerTime"] > killed.rested])
    else:
        check_seconds(rows)
    ids = {row["id"] for row in rows}
    runs = starts(entry for entry in member.executor.trace() if entry["handler"] == "demoJobHandler"
                  and entry["logId"] not in before)
    assert set(runs) <= ids, "an execution without a row"
    assert [log_id for log_id, count in runs.items() if count > 1] == [], "executed twice"
    succeeded = {row["id"] for row in rows if row["handleCode"] == 200}
    quiet = {row["id"] for row in outside(rows, killed.windows)}
    assert quiet <= succeeded, "a firing that no kill touched did not succeed"
    if member.library.resends:
        assert succeeded == ids == set(runs)
    else:
        assert all(runs[log_id] == 1 for log_id in quiet)


def test_only_npm_needed_its_supervisor(killed, fleet, name):
    member = fleet[name]
    assert (member.executor.ends > 0) == member.library.dies


def test_the_next_beat_registers_again(beaten, fleet, name):
    member = fleet[name]
    member.api.trigger(member.sleep, "1")
    wait_until(lambda: member.api.logs(member.sleep)[-1]["handleCode"] == 200, "a run after the beat")


def test_nothing_is_unaccounted(beaten, fleet_center):
    assert fleet_center.metric("peal_firings_unaccounted") == 0
