# SPDX-License-Identifier: Apache-2.0
"""A database server is lost and its standby takes its place: for one server of Peal, and for several on one database. A
standby that was waited for has all commits, and the same processes go on. One that was behind is found out by the numbers
of commits and beats: each server that has lost some ends and starts again, and no log id is given twice."""

import contextlib
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import failover, servers  # noqa: E402
from support.center import Center, binary  # noqa: E402
from support.cluster import Reporter, check_runs, jobs_each_second, node, states, unaccounted, wait_for  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

SKIPPED = 1 << 24  # log ids


def pair_of(kind, sync):
    lacks = servers.missing(kind)
    if lacks:
        pytest.skip(f"{lacks} is not installed: scripts/install-deps.sh database")
    return failover.Pair(kind, sync)


class Users:
    """One server that has a database alone, and two on another one; each executor reports to all servers of its own."""

    def __init__(self, pair, folder):
        self.pair = pair
        urls = {name: pair.create(name) for name in ("alone", "several")}
        password = {"PEAL_DB_PASSWORD": servers.PASSWORD}
        self.alone = Center(folder / "alone", ["--db", urls["alone"]], env=password)
        self.one, self.two = (node(folder / name, urls["several"], name) for name in ("one", "two"))
        self.centers = {"alone": [self.alone], "several": [self.one, self.two]}
        self.all = [self.alone, self.one, self.two]

    @contextlib.contextmanager
    def started(self):
        with contextlib.ExitStack() as stack:
            for center in self.all:
                stack.enter_context(center)
            wait_for(self.one, one="up", two="up")
            self.puppets = {name: stack.enter_context(Reporter(*centers)) for name, centers in self.centers.items()}
            self.jobs = {name: jobs_each_second(centers[0], self.puppets[name], 3)
                         for name, centers in self.centers.items()}
            self.wait_for_ends(6)
            yield self

    def number(self, sql, name):
        return self.pair.primary.number(sql, name)

    def ended(self):
        return {name: self.number("SELECT count(*) FROM xxl_job_log WHERE handle_code = 200", name) for name in self.jobs}

    def wait_for_ends(self, more):
        before = self.ended()
        wait_until(lambda: all(now >= before[name] + more for name, now in self.ended().items()), f"{more} runs to end", 60)

    def largest(self, name):
        """Of the log ids that executors have got."""
        return max(run["logId"] for run in self.puppets[name].runs())

    def wait_for_red(self):
        """What each of them says without a database."""
        def red(center):
            status, _, text = center.get("/readyz?verbose")
            return status == 503 and "database" in text.decode()
        for center in self.all:
            wait_until(lambda center=center: red(center), "/readyz to turn red", 60)
            assert center.get("/livez")[0] == 200

    def wait_for_green(self):
        for center in self.all:
            wait_until(lambda center=center: center.answers("/readyz"), "/readyz to turn green", 60)

    def check_books(self, behind=None):
        """Everything is stopped, and has ended: what has log ids behind these."""
        for name, centers in self.centers.items():
            for job in self.jobs[name]:
                centers[-1].api().stop_job(job)
            still = f"SELECT count(*) FROM peal_run WHERE phase <= 4 AND log_id > {behind[name] if behind else 0}"
            wait_until(lambda name=name, still=still: self.number(still, name) == 0, "every run to end", 60)
            assert unaccounted(self.pair.primary, name) == 0


@pytest.mark.parametrize("kind", servers.built(binary()))
def test_a_standby_with_all_commits_is_promoted_and_the_same_processes_go_on(tmp_path, kind):
    with pair_of(kind, sync=True) as pair, Users(pair, tmp_path).started() as all_:
        lives = {name: pair.primary.run("SELECT epoch FROM peal_epoch WHERE ended = 0 ORDER BY epoch", name)
                 for name in all_.jobs}
        processes = [center.process.pid for center in all_.all]
        before, largest = all_.ended(), {name: all_.largest(name) for name in all_.jobs}
        pair.primary.kill()
        all_.wait_for_red()
        pair.promote()
        all_.wait_for_green()
        assert all(now >= before[name] for name, now in all_.ended().items())
        for name in all_.jobs:  # behind what was planned before
            wait_until(lambda name=name: all_.largest(name) > largest[name] + SKIPPED / 2, "runs with later ids", 60)
        all_.check_books()
        assert [center.process.pid for center in all_.all if center.running()] == processes
        for name, centers in all_.centers.items():
            assert pair.primary.run("SELECT epoch FROM peal_epoch WHERE ended = 0 ORDER BY epoch", name) == lives[name]
            assert states(V1(centers[0])) == {n: "up" for n in states(V1(centers[-1]))}
            check_runs(pair.primary, name, all_.puppets[name], all_.jobs[name])
            assert all_.largest(name) < largest[name] + 9 * SKIPPED  # a transaction may be tried again
            for center in centers:
                assert center.metric("peal_database_lost_commits_total") == 0
        assert any("the database is another server than before" in center.output.read_text()
                   for center in all_.centers["several"])


@pytest.mark.parametrize("kind", servers.built(binary()))
def test_a_standby_without_the_last_commits_is_found_out(tmp_path, kind):
    with pair_of(kind, sync=False) as pair, Users(pair, tmp_path).started() as all_:
        pair.lag()
        for name, centers in all_.centers.items():  # pages are read where edits are written
            centers[0].api().add_group(f"later-{name}")
            for center in centers:
                assert f"later-{name}" in [g["app"] for g in V1(center).get("/groups")["items"]]
        three = node(tmp_path / "three", pair.url("several"), "three")  # a life that the standby does not hear of
        with three:
            beats = "SELECT min(beat) FROM peal_node WHERE dead = 0"
            want = {name: all_.number(beats, name) + 3 for name in all_.jobs}
            kept = {name: pair.standby.number("SELECT max(id) FROM xxl_job_log", name) for name in all_.jobs}
            for name in all_.jobs:
                wait_until(lambda name=name: all_.largest(name) > kept[name], "runs that the standby does not have", 60)
            wait_until(lambda: all(all_.number(beats + " AND name <> 'three'", name) >= want[name] for name in want),
                       "beats of all", 60)
            pair.primary.kill()
            pair.promote()
            for center in [*all_.all, three]:
                assert center.process.wait(60 * PATIENCE) == 3
                center._down = True
                assert "this server stops at once" in center.tail() and "an older copy" in center.tail(), center.tail()
            assert "does not know epoch" in three.tail(), three.tail()
            largest = {name: all_.largest(name) for name in all_.jobs}
            before = {name: len(all_.puppets[name].runs()) for name in all_.jobs}
            for center in [*all_.all, three]:
                center.start(60)
            all_.wait_for_green()
            wait_for(three, one="up", two="up", three="up")
            for center in [*all_.all, three]:
                assert center.metric("peal_database_lost_commits_total") > 0
                assert "the database had lost commits: log ids go on" in center.output.read_text()
            all_.wait_for_ends(9)
            all_.check_books(largest)  # what had ended in a commit that was lost is found out, or lost, by its rule
            for name in all_.jobs:  # what the standby has may be sent again; no other id comes twice
                sent = [run["logId"] for run in all_.puppets[name].runs()]
                late = sent[before[name]:]
                assert max(late) > largest[name] + SKIPPED / 2
                assert [log for log in late if kept[name] < log <= largest[name]] == []
                assert [log for log in set(sent) if sent.count(log) > 1 and log > kept[name]] == []
