# SPDX-License-Identifier: Apache-2.0
"""tests/chaos/judge.py: what it calls lost, doubled or untrue, on records and rows that are written here. A judge that
acquits everybody would be worth nothing."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from chaos import faults, judge  # noqa: E402

JOBS = {"second": [1], "stock": [2], "broadcast": [3], "shaky": [4], "child": [6], "parent": [5], "by hand": [],
        "edited": [], "stopped": []}
S = 1000


class Link:
    """The tables, as a connection shows them."""

    def __init__(self, rows, live=(), balance=0, skips=()):
        self.rows, self.live, self.balance, self.skips = rows, live, balance, skips

    def run(self, sql):
        if "xxl_job_log" in sql:
            return [tuple(map(str, row)) for row in self.rows]
        if sql.startswith("SELECT log_id, job_id, phase"):
            return list(self.live)
        if "sum(planned" in sql:
            return [(str(self.balance),)]
        return list(self.skips) if "peal_skip" in sql else [("0",)]


class World:
    """What happened: everything went well, until a case changes it."""

    def __init__(self):
        self.rows, self.lines, self.log = {}, [], 0
        for second in (1, 2, 3):
            self.run(1, second)
        for second in (1, 2, 3):
            self.run(2, second)
        self.run(3, 2, shard=0, shards=2)
        self.run(3, 2, shard=1, shards=2)
        self.run(4, 1, code=500)
        self.run(4, 1, attempt=1)
        self.run(5, 1)
        self.run(6, 1)

    def run(self, job, second, attempt=0, shard=0, shards=1, code=200):
        """Its log id."""
        self.log += 1
        self.rows[self.log] = [self.log, job, second * S, 200, code, f"ok | done {self.log}"]
        self.lines.append(f"run\t{second * S + 5}\t{self.log}\t{job}\t{second * S}\t{attempt}\t{shard}\t{shards}\t\tapp\t1")
        self.lines.append(f"result\t{second * S + 9}\t{self.log}\t{code}\t8080")
        return self.log

    def faults(self, folder, **tables):
        path = folder / "records"
        path.write_text("".join(line + "\n" for line in self.lines))
        it = judge.Judge(Link(list(self.rows.values()), **tables), str, judge.Records(path, {}), JOBS, [])
        it.all(1 * S, 3 * S, told=True)
        self.counted = it.counted
        return {what: len(found) for what, found in it.faults.items() if found}


def test_nothing_is_wrong_where_all_went_well(tmp_path):
    assert World().faults(tmp_path) == {}


def again(world, log):
    world.lines.append(world.lines[2 * (log - 1)])


@pytest.mark.parametrize("skip, found", [(("1", "2000", "2500", "1"), {"skipped": 1}),
                                         (("1", "2000", "2500", "0"), {"skipped": 1, "lost": 1}),
                                         (("1", "3000", "3500", "1"), {"skipped": 1, "lost": 1}),
                                         (("2", "2000", "2500", "1"), {"skipped": 1, "lost": 1})])
def test_a_time_that_was_skipped_is_not_lost_as_well(tmp_path, skip, found):
    world = World()
    world.rows.pop(2)
    del world.lines[2:4]
    assert world.faults(tmp_path, skips=[(*skip, "FIRE_ALL")]) == found


CASES = {
    "a second without a row": (lambda w: (w.rows.pop(2), w.lines.__delitem__(slice(2, 4))), {"lost": 1}),
    "a second with two rows": (lambda w: w.run(1, 2), {"doubled": 1}),
    "a run that was begun twice": (lambda w: again(w, 1), {"doubled": 1}),
    "a shard twice": (lambda w: w.run(3, 2, shard=1, shards=2), {"doubled": 1}),
    "a child that is missing": (lambda w: (w.rows.pop(12), w.lines.__delitem__(slice(22, 24))), {"lost": 1}),
    "a child too many": (lambda w: w.run(6, 1), {"doubled": 1}),
    "a run that failed by itself": (lambda w: w.rows[1].__setitem__(4, 500), {"failed": 1, "results lost": 1}),
    "a result of another run": (lambda w: w.rows[1].__setitem__(5, "ok | lost"), {"results lost": 1}),
    "a success that nobody began": (lambda w: w.lines.__delitem__(0), {"untrue": 1}),
    "a run without a row": (lambda w: w.lines.append("run\t1\t99\t1\t2000\t0\t0\t1\t\tapp\t1"), {"without a row": 1}),
}


@pytest.mark.parametrize("what", CASES)
def test_it_finds(tmp_path, what):
    spoil, found = CASES[what]
    world = World()
    spoil(world)
    assert world.faults(tmp_path) == found


def test_it_finds_what_the_books_say(tmp_path):
    assert World().faults(tmp_path, balance=2, live=[("7", "1", "4")]) == {"unaccounted": 1, "not ended": 1}


def test_a_second_send_to_a_stock_executor_is_counted_apart(tmp_path):
    world = World()
    again(world, 4)
    assert world.faults(tmp_path) == {}
    assert world.counted["stale sends to stock executors"] == 1


def test_a_seed_says_the_faults_and_one_node_is_always_well():
    for seed in range(50):
        plan = faults.plan(seed, 120, 3)
        assert plan == faults.plan(seed, 120, 3) and plan
        for fault in plan:
            others = [f for f in plan if f.node >= 0 and f.at <= fault.at < f.at + f.lasts]
            assert len({f.node for f in others}) == len(others) < 3
