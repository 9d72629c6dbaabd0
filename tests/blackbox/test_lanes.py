# SPDX-License-Identifier: Apache-2.0
"""A slow or dead executor hurts only its own jobs. Proven by order, not by time: what must not wait ends
while the slow one still holds its answers."""

import pathlib
import sys
import threading
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import ledger  # noqa: E402
from support.center import Center, free_port  # noqa: E402
from support.executor import Executor  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.standin import YES, waiting_at  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

CONNECTIONS = 4


@pytest.fixture
def center(tmp_path):
    with Center(tmp_path / "center", ["--lane.connections", str(CONNECTIONS)]) as it:
        yield it


def in_order(api, app, *puppets):
    """The group's puppets in the order of its list, which probes follow; and the group's id."""
    group = api.add_group(app)
    wait_until(lambda: len(api.addresses(app)) == len(puppets), "all to be listed")
    order = api.addresses(app)
    return [group, *sorted(puppets, key=lambda p: order.index(p.address))]


def rate_jobs(api, group, count, route="FIRST", **fields):
    """Running jobs, ten firings a second each."""
    jobs = [api.add_job(group, f"{route} {i}", scheduleType="FIX_RATE", scheduleConf="100ms",
                        executorRouteStrategy=route, **fields) for i in range(count)]
    for job in jobs:
        api.start_job(job)
    return jobs


def stop(api, jobs):
    for job in jobs:
        api.stop_job(job)


def test_others_complete_while_a_slow_executor_still_holds_its_answers(center):
    with Puppet(center, "slow") as slow, Puppet(center, "quick") as quick:
        api = center.api()
        slow.hold()
        held = rate_jobs(api, api.add_group("slow"), 5)
        slow.wait_for_runs(CONNECTIONS)  # its lane is full from here on
        jobs = rate_jobs(api, api.add_group("quick"), 5)
        runs = quick.wait_for_runs(100)
        done = {run["logId"] for run in runs[:100]}
        wait_until(lambda: ledger.number(
            center, f"SELECT count(*) FROM xxl_job_log WHERE handle_code = 200 AND id IN ({','.join(map(str, done))})")
            == 100, "100 results of the quick one")
        assert not any(call.answered_at for call in slow.of("run")), "the slow one has answered nothing yet"
        assert slow.most_open <= CONNECTIONS, slow.most_open
        assert center.metric("peal_queue_length", queue="lanes") > 0
        # what waits for the slow one is late, and nothing else is: each of the others came within its second
        late = [call.wall_ms - float(call.headers["Peal-Moment"]) for call in quick.of("run")]
        assert min(late) >= 0, "never early"
        slow.release()
        stop(api, held + jobs)
        ledger.settle(center)
        assert slow.most_open <= CONNECTIONS, slow.most_open
        ledger.check_accounts(center)


@pytest.mark.parametrize("route, ask", [("FAILOVER", "beat"), ("BUSYOVER", "idleBeat")])
def test_a_probe_that_hangs_blocks_no_other_job(center, route, ask):
    """The group's first address takes connections and answers no probe: its jobs wait for that or go on to the
    second, others do not notice."""
    with Puppet(center, "probed") as one, Puppet(center, "probed") as other, Puppet(center, "quick") as quick:
        api = center.api()
        group, mute, second = in_order(api, "probed", one, other)
        hang = threading.Event()
        mute.answer = lambda action, body: (hang.wait(), None)[1]
        jobs = rate_jobs(api, group, 2, route)
        wait_until(lambda: mute.of(ask), "a probe of the mute one")
        jobs += rate_jobs(api, api.add_group("quick"), 2)
        quick.wait_for_runs(40)
        assert not any(call.answered_at for call in mute.calls)
        second.wait_for_runs(5)  # the probe's timeout decides for the second
        assert not mute.runs()
        hang.set()
        mute.close()
        stop(api, jobs)
        ledger.settle(center)
        ledger.check_accounts(center)


@pytest.mark.parametrize("route, ask", [("FAILOVER", "beat"), ("BUSYOVER", "idleBeat")])
def test_a_probed_route_takes_the_first_that_says_yes(center, route, ask):
    with Puppet(center, "probed") as one, Puppet(center, "probed") as other:
        api = center.api()
        group, first, second = in_order(api, "probed", one, other)
        first.answer = lambda action, body: {"code": 500, "msg": "not now"}
        job = api.add_job(group, "x", executorRouteStrategy=route)
        api.trigger(job)
        run = second.wait_for_runs(1)[0]
        assert first.of(ask) and not first.runs()
        ledger.settle(center)
        row = ledger.rows(center, "SELECT executor_address, handle_code FROM xxl_job_log WHERE id = ?", run["logId"])[0]
        assert tuple(row) == (second.address, 200)


def test_a_dead_address_leaves_the_rotation_at_once_and_comes_back_by_probe(center):
    with Puppet(center, "tests") as stays, Puppet(center, "tests") as goes:
        api = center.api()
        jobs = rate_jobs(api, api.add_group("tests"), 4, "ROUND")
        goes.wait_for_runs(10)
        goes.close()  # refuses connections; nobody deregisters it
        wait_until(lambda: center.metric("peal_executors_dead") == 1, "the center to notice")
        stays.wait_for_runs(len(stays.runs()) + 100)
        assert not ledger.rows(center, "SELECT id FROM xxl_job_log WHERE trigger_code = 500"), "all went elsewhere"
        seen = len(goes.runs())
        goes.listen()  # without a new registration
        goes.wait_for_runs(seen + 10)
        wait_until(lambda: center.metric("peal_executors_dead") == 0, "the center to count none as dead")
        stop(api, jobs)
        ledger.settle(center)
        total = ledger.totals(center)
        assert total["rejected"] == 0 and total["resent"] == 0, total
        for job in jobs:
            ledger.check_contiguous(center, job, 10)
        ledger.check_accounts(center)


def test_a_group_that_everybody_left_gets_nothing(center):
    """Runs are planned seconds ahead, with an address. It deregisters: they are refused, and say why."""
    with Puppet(center, "tests") as puppet:
        api = center.api()
        group = api.add_group("tests")
        jobs = rate_jobs(api, group, 3) + rate_jobs(api, group, 2, "ROUND")
        puppet.wait_for_runs(20)
        puppet.deregister()
        left = time.time() * 1000
        ledger.wait_for_rows(center, "refusals", "SELECT id FROM xxl_job_log WHERE trigger_code = 500 "
                             "LIMIT 1 OFFSET 100")
        late = [call for call in puppet.of("run") if float(call.headers["Peal-Moment"]) > left]
        assert not late, late[:5]
        said = {row["trigger_msg"] for row in ledger.rows(
            center, "SELECT trigger_msg FROM xxl_job_log WHERE trigger_code = 500")}
        assert all("no executor is registered" in text for text in said), said
        stop(api, jobs)
        ledger.settle(center)
        ledger.check_accounts(center)


def test_thousands_of_dead_addresses_hurt_their_own_group_only(center):
    with Puppet(center, "quick") as quick:
        api = center.api()
        port = free_port()
        dead = [f"http://127.1.{i // 250}.{i % 250 + 1}:{port}/" for i in range(2000)]
        own = rate_jobs(api, api.add_group("dead", addresses=dead), 20, "ROUND")
        alive = rate_jobs(api, api.add_group("quick"), 1)
        wait_until(lambda: center.metric("peal_executors_dead") == len(dead), "all to be tried and dead", 120)
        quick.wait_for_runs(len(quick.runs()) + 50)
        stop(api, own + alive)
        ledger.settle(center, 120)
        assert not ledger.number(center, "SELECT count(*) FROM xxl_job_log WHERE job_id = ? AND handle_code <> 200",
                                 alive[0])
        ledger.check_contiguous(center, alive[0], 10)
        ledger.check_accounts(center)


def test_when_all_addresses_are_dead_the_run_says_why_and_others_go_on(center):
    with Puppet(center, "quick") as quick:
        api = center.api()
        dead = [f"http://127.0.0.1:{free_port()}/" for _ in range(2)]
        job = api.add_job(api.add_group("dead", addresses=dead), "x", executorRouteStrategy="ROUND")
        alive = rate_jobs(api, api.add_group("quick"), 1)
        api.trigger(job)
        row = ledger.wait_for_rows(center, "the refusal", "SELECT trigger_msg FROM xxl_job_log "
                                   "WHERE job_id = ? AND trigger_code = 500", job)[0]
        assert "cannot connect" in row["trigger_msg"] and "refused" in row["trigger_msg"], row["trigger_msg"]
        quick.wait_for_runs(len(quick.runs()) + 10)
        stop(api, alive)
        ledger.settle(center)
        ledger.check_accounts(center)


@pytest.mark.every_engine
def test_a_burst_finds_its_connections_open(tmp_path):
    """A hundred jobs on one second and one address: what is planned is known before, and so the second begins with
    open connections, not with opening them."""
    with Center(tmp_path / "center", ["--lane.connections", "64"]) as center, Puppet(center, "tests") as puppet:
        api = center.api()
        group = api.add_group("tests")
        wait_until(lambda: api.addresses("tests"), "the address, so that runs are planned for it")
        center.stop()
        second = (int(time.time()) + int(8 * PATIENCE)) * 1000
        scheduled = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second / 1000))
        ledger.add_jobs(center, group, [("demo", "", "ONCE", scheduled, "FIRST", second)] * 100)
        before, connected = puppet.connected, []

        def answer(action, _):
            if action == "run":
                # at the first run those count, too, that the executor has had no time to take. To look for them takes long
                # where other tests have thousands of connections: only once
                waiting = 0 if connected else waiting_at(puppet.port)
                connected.append(puppet.connected - before + waiting)
            return YES

        puppet.answer = answer
        center.start()
        puppet.wait_for_runs(100)
        assert connected[0] >= 48, connected[:3]
        # They are used again: a hundred runs come by not many more than the lane has. How many were opened in all says
        # less: one that a stopped machine leaves idle for seconds is closed, and another one takes its place. Calls that
        # time out there are asked about, by others.
        used = {call.connection for call in puppet.of("run")}
        assert len(used) < 80 or puppet.of("idleBeat") or puppet.of("log"), (len(used), connected)
        ledger.settle(center)
        ledger.check_accounts(center)


def once_jobs(center, group, routes, handler="shardingJobHandler", in_s=6):
    """ONCE jobs on one second, written into the tables of the stopped center. Their ids."""
    second = (int(time.time()) + int(in_s * PATIENCE)) * 1000
    scheduled = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second / 1000))
    return ledger.add_jobs(center, group, [(handler, "", "ONCE", scheduled, route, second) for route in routes])


def test_a_slow_executor_gets_all_its_calls_at_once(tmp_path):
    """200 jobs on one second whose /run is answered slowly: none waits for another's answer, and another
    executor's job does not notice."""
    with Center(tmp_path / "center") as center, Puppet(center, "slow") as slow, Puppet(center, "quick") as quick:
        api = center.api()
        group = api.add_group("slow")
        other = api.add_group("quick")
        wait_until(lambda: api.addresses("slow") and api.addresses("quick"), "the addresses")
        center.stop()
        slow.hold()
        jobs = once_jobs(center, group, ["FIRST"] * 200)
        center.start()
        alive = rate_jobs(center.api(), other, 1)
        wait_until(lambda: len(slow.of("run")) >= 200, "200 calls at once", 30, 0.005)
        doubted = ledger.number(center, "SELECT count(*) FROM peal_run WHERE doubted = 1")
        assert slow.most_open == 200 and doubted == 0, (slow.most_open, doubted)
        quick.wait_for_runs(len(quick.runs()) + 20)
        slow.release()
        stop(center.api(), alive)
        ledger.settle(center)
        assert ledger.number(center, "SELECT count(DISTINCT job_id) FROM xxl_job_log WHERE handle_code = 200 "
                             "AND job_id IN (SELECT id FROM xxl_job_info WHERE job_group = ?)", group) == len(jobs)
        ledger.check_contiguous(center, alive[0], 10)
        ledger.check_accounts(center)


@pytest.mark.parametrize("routes", [["FAILOVER"] * 400, ["FAILOVER"] * 150 + ["FIRST"] * 30, ["BUSYOVER"] * 200])
def test_a_burst_of_probed_jobs_refuses_nobody(tmp_path, routes):
    """One healthy executor and many jobs on one second that ask before they send: all run."""
    with Center(tmp_path / "center") as center, Executor(tmp_path / "executor", center.url):
        api = center.api()
        group = api.add_group("tests")
        wait_until(lambda: api.addresses("tests"), "the address")
        center.stop()
        jobs = once_jobs(center, group, routes)
        center.start()
        wait_until(lambda: ledger.number(center, "SELECT count(*) FROM xxl_job_log WHERE trigger_code > 0")
                   >= len(jobs), "every job to have been sent or refused", 60)
        refused = ledger.rows(center, "SELECT job_id, trigger_msg FROM xxl_job_log WHERE trigger_code <> 200")
        assert not refused, [tuple(row) for row in refused[:3]] + [len(refused)]
        ledger.settle(center, 120)
        assert ledger.number(center, "SELECT count(DISTINCT job_id) FROM xxl_job_log WHERE handle_code = 200") == len(jobs)
        assert center.metric("peal_executors_dead") == 0
        ledger.check_accounts(center)


def test_a_full_lane_spills_over_to_the_next_address(tmp_path):
    """ROUND on two addresses of which one holds all its answers, with little room to wait: the other one gets
    what does not fit."""
    with Center(tmp_path / "center", ["--lane.connections", "2", "--lane.queue", "5"]) as center, \
            Puppet(center, "tests") as slow, Puppet(center, "tests") as quick:
        api = center.api()
        slow.hold()
        jobs = rate_jobs(api, api.add_group("tests"), 10, "ROUND")
        quick.wait_for_runs(200, timeout=60)
        assert len(slow.runs()) <= 20 and slow.most_open <= 2
        slow.release()
        stop(api, jobs)
        ledger.settle(center)
        ledger.check_accounts(center)


def test_the_servers_start_deadline_holds_for_jobs_that_have_none(tmp_path):
    """Jobs that another program wrote into the database have no settings of ours."""
    center = Center(tmp_path / "center", ["--start.deadline", "7s"])
    with center:
        group = center.api().add_group("tests")
        center.stop()
        now = int(time.time() * 1000)
        says, silent = (ledger.add_jobs(center, group, [("demo", "", "FIX_RATE", "500ms", "FIRST", now)], deadline)[0]
                        for deadline in (9000, None))
        center.start()
        with Puppet(center, "tests") as puppet:
            for job in (says, silent):
                puppet.wait_for_runs(1, job)
            for call in puppet.of("run"):
                late = int(call.headers["Peal-Deadline"]) - int(call.headers["Peal-Moment"])
                assert late >= 9000 if call.body["jobId"] == says else 7000 <= late < 9000, (call, late)
            api = center.api()
            shown = {row["id"]: row["startDeadlineMs"] for row in api.pages(
                "/jobinfo/pageList", jobGroup=group, triggerStatus=-1, jobDesc="", executorHandler="", author="")}
            assert shown == {says: 9000, silent: 7000}
            stop(api, [says, silent])
