# SPDX-License-Identifier: Apache-2.0
"""Which of several servers plans a job: its home, by the list of servers; what a change of that list moves; and their common
bound of calls to one executor."""

import collections
import contextlib
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.cluster import (  # noqa: E402, F401 (path just set; a fixture)
    Reporter, database, fresh, node, settled, wait_for, wait_for_ends, wait_for_no_run_of)
from support.puppet import Puppet  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import wait_until  # noqa: E402

JOBS, IDLE = 9, 90  # that fire each second, and in another year
DRAWS = 4            # HOMES_WEIGHT


def homes(db, name):
    return {int(job): int(home) for job, home in db.run("SELECT job_id, home FROM peal_due WHERE next_ms IS NOT NULL", name)}


def node_of(db, name, which):
    return db.number(f"SELECT node FROM peal_node WHERE name = '{which}'", name)


def mixed(x):
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) % 2**64
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) % 2**64
    return x ^ x >> 31


def home_of(job, nodes):
    """As src/sched/homes.c has it, for nodes whose memories are empty: each draws as often, and the highest wins."""
    return max((mixed(mixed(job) ^ mixed(node * DRAWS + k + 1)), node) for node in nodes for k in range(DRAWS))[1]


def wait_for_homes(db, name, nodes):
    """Each job is where the list of nodes wants it, and each node has counted its own: no walk is left to do."""
    def moved():
        now = homes(db, name)
        wrong = {job: home for job, home in now.items() if home != home_of(job, nodes)}
        assert not wrong, wrong
        counted = {int(node): int(jobs) for node, jobs in db.run("SELECT node, coalesce(jobs, -1) FROM peal_node", name)}
        assert {node: counted[node] for node in nodes} == collections.Counter(now.values()), counted
        return now
    return wait_until(moved, f"jobs in homes {nodes}", 60)


def check_parts(of, nodes):
    """Each node has its part of the jobs, roughly: the hash is what it is."""
    count = collections.Counter(of.values())
    for number in nodes:
        assert len(of) / len(nodes) / 2 < count[number] < len(of) / len(nodes) * 2, count


class Together:
    """What several executors were told."""

    def __init__(self, puppets):
        self.puppets = puppets

    def runs(self):
        return [run for puppet in self.puppets for run in puppet.runs()]


def in_order(db, name, job, addresses):
    """How many of a job's runs came to the address behind the one before, and how many could."""
    rows = db.run(f"SELECT executor_address FROM xxl_job_log WHERE job_id = {job} AND executor_address IS NOT NULL "
                  "ORDER BY trigger_time, id", name)
    at = [addresses.index(address) for address, in rows]
    steps = [(b - a) % len(addresses) for a, b in zip(at, at[1:])]
    return max(steps.count(1), steps.count(len(addresses) - 1)), len(steps)


def test_jobs_are_shared_by_the_list_of_servers(db, tmp_path):
    name, url = fresh(db)
    with contextlib.ExitStack() as stack:
        one, two = (stack.enter_context(node(tmp_path / which, url, which)) for which in ("one", "two"))
        wait_for(one, one="up", two="up")
        three = node(tmp_path / "three", url, "three")
        puppets = [stack.enter_context(Reporter(one, two, three)) for _ in range(3)]
        addresses = [puppet.address for puppet in puppets]
        api = one.api()
        group = api.add_group("tests", addresses=addresses)
        jobs = [api.add_job(group, f"job {i}", scheduleType="CRON", scheduleConf="* * * * * ?", misfireStrategy="FIRE_ALL",
                            executorRouteStrategy="ROUND") for i in range(JOBS)]
        idle = [api.add_job(group, f"idle {i}", scheduleType="CRON", scheduleConf="0 0 0 1 1 ? 2090") for i in range(IDLE)]
        for job in jobs + idle:
            api.start_job(job)
        numbers = [node_of(db, name, which) for which in ("one", "two")]
        before = wait_for_homes(db, name, numbers)
        assert set(before) == set(jobs + idle)
        check_parts(before, numbers)
        # those that fire are planned by their home: all that is planned from now on
        wait_for_ends(db, name, 3 * len(jobs))
        strangers = ("SELECT count(*) FROM peal_run r JOIN peal_due d ON d.job_id = r.job_id WHERE r.node <> d.home AND "
                     "r.moment_ms > d.planned_until_ms - 1000")
        wait_until(lambda: db.number(strangers, name) == 0, "the newest runs to be those of the homes", 30)
        # one that comes gets its part, and no other job moves
        with three:
            wait_for(one, one="up", two="up", three="up")
            numbers.append(node_of(db, name, "three"))
            with_three = wait_for_homes(db, name, numbers)
            check_parts(with_three, numbers)
            moved = {job for job, home in with_three.items() if home != before[job]}
            assert {with_three[job] for job in moved} == {numbers[2]}
            wait_for_ends(db, name, 6 * len(jobs))
            wait_until(lambda: sum(one_of.metric("peal_node_jobs") for one_of in (one, two, three)) == len(before),
                       "each to have counted its jobs", 40)
            wait_until(lambda: sum(one_of["jobs"] for one_of in V1(three).get("/nodes")["items"]) == len(before),
                       "each to have told its number", 20)
            # the route of those that have stayed goes on; a machine that stands still may let another node claim a run,
            # whose route begins elsewhere
            done = [in_order(db, name, job, addresses) for job in jobs if job not in moved]
            good, steps = map(sum, zip(*done))
            assert steps >= 6 * len(done) > 0 and good >= 0.8 * steps, done
            # it gives them back when it dies
            three.kill()
        wait_for_no_run_of(db, name, "three")
        wait_until(lambda: homes(db, name) == before, "the jobs to be where they were", 60)
        wait_for_ends(db, name, 2 * len(jobs))
        settled(db, name, Together(puppets), api, jobs)


def test_servers_share_the_calls_to_an_executor(db, tmp_path):
    _, url = fresh(db)
    settings = ["--lane.connections", "16"]
    with contextlib.ExitStack() as stack:
        one, two = (stack.enter_context(node(tmp_path / which, url, which, settings=settings)) for which in ("one", "two"))
        puppet = stack.enter_context(Puppet(one, "tests"))
        one.api().add_group("tests")

        def wait_for_part(center, calls):
            api = V1(center)
            wait_until(lambda: [e["lane"]["connectionsMax"] for e in api.get("/executors")["items"]] == [calls],
                       f"{calls} calls at once to the executor", 30)

        for center in (one, two):
            wait_for_part(center, 8)
        with node(tmp_path / "three", url, "three", settings=settings) as three:
            for center in (one, two, three):
                wait_for_part(center, 6)
            three.stop()
            two.kill()
            wait_for(one, one="up", two="dead", three="stopped")
            wait_for_part(one, 16)
        assert puppet.of("run") == []
