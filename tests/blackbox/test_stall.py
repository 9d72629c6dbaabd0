# SPDX-License-Identifier: Apache-2.0
"""Processes stand still for a long time, and all at once nothing is as it was: nothing is lost, nothing runs twice."""

import pathlib
import random
import signal
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import ledger  # noqa: E402
from support.load import Load  # noqa: E402
from support.wait import wait_until  # noqa: E402


def caught_up(load):
    """Nothing is overdue any more, neither planned nor to be planned: a stop would withdraw what is."""
    before = int(time.time() * 1000) - 1000
    return not ledger.number(load.center, "SELECT count(*) FROM peal_run WHERE phase = 1 AND due_ms < ?", before) and \
        not ledger.number(load.center, "SELECT count(*) FROM peal_due WHERE next_ms > 0 AND next_ms < ?", before)


@pytest.mark.parametrize("which", ["center", "executor", "both"])
def test_processes_that_stand_still_for_20_seconds_under_load_lose_and_double_nothing(tmp_path, which):
    """A machine that is suspended, or a virtual one that moves: SIGSTOP at a random moment, everything stands, then goes
    on. Executors' calls time out meanwhile, and what they were is found out afterwards; a connection that was being opened
    has not: what came of it is looked at before the clock."""
    dice = random.Random()
    with Load(tmp_path) as load:
        stopped = {"center": [load.center.process], "executor": [load.executor.process, load.stub.process]}
        stopped["both"] = stopped["center"] + stopped["executor"]
        if which != "center":  # the executor's kernel may have had no room for another connection
            load.may_refuse = "cannot connect: Connection timed out"
        load.wait_for_more(dice.randrange(200, 800))
        time.sleep(dice.random() / 10)
        for process in stopped[which]:
            process.send_signal(signal.SIGSTOP)
        time.sleep(20)  # what the case is about
        for process in stopped[which]:
            process.send_signal(signal.SIGCONT)
        load.wait_for_more(300)
        wait_until(lambda: caught_up(load), "what fell due meanwhile to be sent", 60)
        load.finish()
        load.check()
