# SPDX-License-Identifier: Apache-2.0
"""The wall clock is set while the center runs: forward, what was missed goes to the misfire policy; back,
nothing that was decided is decided again. The clock is set for the real process by a library of the tests
(support/clock/step.c); that the kernel cancels a timer when the clock is set is all that it leaves out."""

import pathlib
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import ledger  # noqa: E402
from support.center import Center  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.stepped import Clock  # noqa: E402
from support.wait import wait_until  # noqa: E402


@pytest.fixture
def world(tmp_path):
    clock = Clock(tmp_path)
    with Center(tmp_path / "center", env=clock.env) as center, Puppet(center, "tests") as puppet:
        api = center.api()
        job = api.add_job(api.add_group("tests"), "each second", scheduleType="CRON", scheduleConf="* * * * * ?")
        api.start_job(job)
        puppet.wait_for_runs(3)
        yield clock, center, puppet, job


def scheduled_times(puppet):
    return [int(call.headers["Peal-Moment"]) for call in puppet.of("run")]


def check(clock, center, puppet, job):
    center.api().stop_job(job)
    ledger.settle(center)
    assert len(set(scheduled_times(puppet))) == len(scheduled_times(puppet)), "no scheduled time twice"
    rows = ledger.by_second(center, job)
    assert set(rows.values()) == {1}
    # what was planned already is skipped one by one, and counted; the rest in peal_skip
    skipped = sum(row["count"] for row in ledger.skips(center, job)) + ledger.totals(center)["skipped"]
    assert len(rows) + skipped == max(rows) - min(rows) + 1, "each second has a run, or is skipped"
    ledger.check_accounts(center)


def test_an_hour_forward_goes_to_the_misfire_policy_and_the_schedule_goes_on(world):
    clock, center, puppet, job = world
    clock.step(3600000)
    wait_until(lambda: "the clock stepped by 3" in center.tail(), "the center to notice")
    wait_until(lambda: max(scheduled_times(puppet)) > clock.now_ms() - 10000, "a firing by the new clock", 20)
    skipped = sum(row["count"] for row in ledger.skips(center, job))
    assert 3500 < skipped < 3600, "what lay between is counted, in few rows"
    assert len(ledger.skips(center, job)) < 5
    assert b"nothing is deleted by its age for an hour: the clock stepped" in center.get("/readyz?verbose")[2]
    check(clock, center, puppet, job)


def test_ten_seconds_back_repeat_nothing_and_fire_nothing_early(world):
    clock, center, puppet, job = world
    clock.step(-10000)
    wait_until(lambda: "the clock stepped by -" in center.tail(), "the center to notice")
    noticed = len(puppet.runs())
    puppet.wait_for_runs(noticed + 3, timeout=40)
    for call in puppet.of("run")[noticed:]:
        assert int(call.headers["Peal-Moment"]) <= call.wall_ms + clock.offset_ms, "not before its scheduled time"
    check(clock, center, puppet, job)
