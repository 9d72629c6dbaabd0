# SPDX-License-Identifier: Apache-2.0
"""The clock of one of three servers is set: what the database's clock and the others contradict is not followed. No
job of anybody fires early or falls silent."""

import pathlib
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support.cluster import Reporter, database, fresh, jobs_each_second, node, settled, wait_for  # noqa: E402, F401
from support.stepped import Clock  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

HOUR = 3600_000
EARLY_MS = 1000  # clocks of servers may differ by so much


@pytest.fixture
def world(db, tmp_path):
    """Three servers that plan, the first with a clock that can be set."""
    name, url = fresh(db)
    clock = Clock(tmp_path)
    one = node(tmp_path / "a", url, "one", env=clock.env)
    two, three = node(tmp_path / "b", url, "two"), node(tmp_path / "c", url, "three")
    with one, two, three, Reporter(one, two, three) as puppet:
        wait_for(two, one="up", two="up", three="up")
        jobs = jobs_each_second(two, puppet, 12)
        owners = "SELECT count(DISTINCT node) FROM peal_run"
        wait_until(lambda: db.number(owners, name) == 3, "all to plan", 60)
        yield db, name, clock, one, two, puppet, jobs


def not_early(puppet):
    for call in puppet.of("run"):
        assert int(call.headers["Peal-Moment"]) <= call.wall_ms + EARLY_MS, call


def fired_on(puppet, jobs, seconds):
    """Each job has fired for so many further scheduled times, by the true clock."""
    until = int(time.time()) * 1000 + seconds * 1000
    wait_until(lambda: all(max(int(c.headers["Peal-Moment"]) for c in puppet.of("run") if c.body["jobId"] == job) >= until
                           for job in jobs), f"each job to go on for {seconds} s", 60 + seconds)


@pytest.mark.parametrize("by_ms", [HOUR, -HOUR])
def test_a_clock_that_others_contradict_fires_nothing_and_its_server_ends(world, by_ms):
    db, name, clock, one, two, puppet, jobs = world
    clock.step(by_ms)
    assert one.process.wait(60 * PATIENCE) != 0
    one._down = True
    assert "stepped by" in one.tail() and "let it follow a time server" in one.tail(), one.tail()
    fired_on(puppet, jobs, 5)
    not_early(puppet)
    settled(db, name, puppet, two.api(), jobs)


def test_a_clock_that_is_set_right_again_is_not_noticed_by_any_job(world):
    """The step and its way back, before the database has been asked: nothing is sent meanwhile."""
    db, name, clock, one, two, puppet, jobs = world
    link = db.snapshot(name)
    for text in "ROLLBACK", "BEGIN", "SELECT node FROM peal_node FOR UPDATE":  # which the beat writes
        link.run(text)
    clock.step(HOUR)
    wait_until(lambda: "it is compared with the database's" in one.tail(), "the center to notice", 30)
    clock.step(-HOUR)
    link.run("ROLLBACK")
    link.close()
    fired_on(puppet, jobs, 5)
    not_early(puppet)
    wait_for(two, one="up", two="up", three="up")
    settled(db, name, puppet, two.api(), jobs)
