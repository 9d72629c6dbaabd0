# SPDX-License-Identifier: Apache-2.0
"""Servers of two releases on one database: the upgrade that docs/clusters.md has, with its commands, and what is refused.
Later releases are those of tests/later: `wider` runs beside this one, `breaking` does not."""

import pathlib
import re
import shlex
import sys
import threading

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import postgres, servers  # noqa: E402
from support.center import ROOT, binary  # noqa: E402
from support.cluster import (  # noqa: E402, F401 (a fixture)
    Reporter, database, fresh, jobs_each_second, node, settled, wait_for, wait_for_ends)
from support.ctl import Ctl  # noqa: E402
from support.releases import LATER, OURS, checked, ended, later, launched, refused  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402


# ---- the upgrade that the page has -------------------------------------------------------------

def block(heading):
    """The commands below a heading of the page."""
    page = (ROOT / "docs" / "clusters.md").read_text()
    text = page.partition(f"\n### {heading}\n")[2].partition("\n#")[0]
    commands = re.findall(r"^    (\S.*)$", text, re.M)
    assert commands, heading
    return commands


def walk(commands, center, name, ctl, program):
    """They are those of a node with that name, whose machine has the service and the package of a release."""
    for command in commands:
        words = shlex.split(command.replace(" b ", f" {name} ").replace("sudo ", ""))
        if words[:2] == ["peal", "ctl"]:
            ctl(*words[2:])
        elif words[:2] == ["systemctl", "stop"]:
            center.stop()
        elif words[:2] == ["systemctl", "start"]:
            center.launch()
        elif words[0] == "dpkg":
            center.program = program
        elif words[0] == "curl":
            wait_until(lambda: center.answers("/readyz"), "the node to be ready", 60)
        else:
            raise AssertionError(f"the test does not know {command}")


def releases(ctl):
    return {n["name"]: (n["version"], n["protocol"], n["state"]) for n in ctl.json("node", "list")}


def test_the_rolling_upgrade_of_the_page_and_its_way_back(db, tmp_path):
    """All nodes on PostgreSQL. On MariaDB one, beside two that stay: what differs there is how the tables are widened under
    nodes that live, which the first node does, and that the older release goes on with them."""
    name, url = fresh(db)
    upgraded = "abc" if db.kind == "postgres" else "c"
    a, b, c = nodes = [node(tmp_path / n, url, n) for n in "abc"]
    with a, b, c, Reporter(a, b, c) as puppet:
        wait_for(a, a="up", b="up", c="up")
        jobs = jobs_each_second(a, puppet, 4)
        ctl = Ctl(tmp_path / "home")
        ctl.login(a.url)
        wait_for_ends(db, name, 4)
        ctl("node", "drain", "b")  # broken off before the stop
        ctl("node", "undrain", "b")
        for it in upgraded:
            center = nodes["abc".index(it)]
            if it == "a":  # which the shell is logged in at
                ctl.login(b.url)
            walk(block("Node by node"), center, it, ctl, LATER["wider"])
            wait_for(center, a="up", b="up", c="up")
            assert releases(ctl)[it] == ("8.0.0", 2, "up")
            wait_for_ends(db, name, 8)
        assert db.number("SELECT later FROM peal_due LIMIT 1", name) == 7
        walk(block("Node by node"), c, "c", ctl, None)  # the package of before
        wait_for(c, a="up", b="up", c="up")
        now = {it: ("8.0.0", 2, "up") if it in upgraded and it != "c" else (OURS, 1, "up") for it in "abc"}
        assert releases(ctl) == now
        wait_for_ends(db, name, 8)
        settled(db, name, puppet, c.api(), jobs)


# ---- what cannot be beside each other ----------------------------------------------------------

def test_a_release_that_breaks_the_tables_waits_until_all_nodes_have_stopped(db, tmp_path):
    name, url = fresh(db)
    migrations = "SELECT max(n), max(oldest) FROM peal_migration"
    with node(tmp_path / "a", url, "one") as one:
        before = db.run(migrations, name)
        said = refused(tmp_path / "b", url, "two", LATER["breaking"])
        assert (f"this release, 9.0.0, changes the tables so that older ones cannot use them, and node one at "
                f"127.0.0.1:{one.port} runs release {OURS}: stop all nodes first, then start this one") in said, said
        # what it may do it has done, and nothing else
        assert db.run(migrations, name) == [(str(int(before[0][0]) + 1), "0")]
        with node(tmp_path / "c", url, "three"):
            wait_for(one, one="up", three="up")
        one.kill()  # it does not say that it stops
        with later(tmp_path / "b", url, "two", "breaking") as two:
            wait_for(two, one="dead", two="up", three="stopped")
            assert db.run(migrations, name) == [(str(int(before[0][0]) + 2), "3")]
            status, said = checked(url)
            assert status == 1 and f"failed  releases: the tables want protocol 3, and this release, {OURS}, speaks 1" in said, said
            assert checked(url, LATER["breaking"])[0] == 0
            said = refused(tmp_path / "a", url, "one")
            assert "was written by a newer release" in said and "it wants protocol 3, and this release speaks 1" in said, said
            said = refused(tmp_path / "a", url, "one", LATER["wider"])
            assert "it wants protocol 3, and this release speaks 2" in said, said
            with later(tmp_path / "c", url, "three", "breaking"):
                wait_for(two, one="dead", two="up", three="up")


def test_nodes_whose_protocols_do_not_meet_refuse_each_other(db, tmp_path):
    name, url = fresh(db)

    def speaks(who, oldest, protocol):  # of a release that has no migration of its own
        db.run(f"UPDATE peal_node SET oldest = {oldest}, protocol = {protocol} WHERE name = '{who}'", name)

    with later(tmp_path / "a", url, "one", "wider") as one:
        speaks("one", 2, 2)  # newer than this
        said = refused(tmp_path / "b", url, "two")
        assert (f"node one at 127.0.0.1:{one.port} runs release 8.0.0 with protocols 2 to 2, and this release, {OURS}, has 1 "
                "to 1: they cannot run beside each other. Stop all nodes of 8.0.0 first, or start 8.0.0 here as well"
                ) in said, said
        status, said = checked(url)  # which says so beforehand
        assert status == 1 and (f"failed  releases: node one has release 8.0.0 with protocols 2 to 2, and this release, {OURS}, "
                                "has 1 to 1: stop all nodes of 8.0.0 before this one starts") in said, said
        status, said = checked(url, LATER["wider"])
        assert status == 0 and said.endswith("this release is 8.0.0, protocol 2; one: 8.0.0, protocol 2"), said
        with later(tmp_path / "b", url, "two", "wider") as two:
            wait_for(two, one="up", two="up")
        speaks("one", 0, 0)  # and older
        assert "runs release 8.0.0 with protocols 0 to 0" in refused(tmp_path / "b", url, "two", LATER["wider"])
        one.kill()
        with node(tmp_path / "b", url, "two") as two:  # which cannot be beside it, and ends it
            wait_for(two, one="dead", two="up")
            assert db.number("SELECT heir - (SELECT max(epoch) FROM peal_epoch) FROM peal_epoch WHERE heir IS NOT NULL "
                             "ORDER BY epoch DESC LIMIT 1", name) == 0


def test_a_node_does_not_join_where_a_newer_release_has_just_begun(db, tmp_path):
    """It has found tables that it knows, and a later release says that it breaks them before this one has a life."""
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one:
        one.stop()
    link = db.snapshot(name)
    link.run("ROLLBACK")
    link.run("BEGIN")
    link.run("SELECT epoch FROM peal_epoch FOR UPDATE")  # which a life that begins locks
    waits = launched(tmp_path / "b", url, "two")
    waiting = ("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%peal_epoch%'"
               if db.kind == "postgres" else
               "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'")
    wait_until(lambda: db.number(waiting, name) > 0, "it to wait", 60, 0.3)  # InnoDB says the old for 0.1 s after each look
    db.run("UPDATE peal_migration SET oldest = 3 ORDER BY n DESC LIMIT 1" if db.kind == "mariadb" else
           "UPDATE peal_migration SET oldest = 3 WHERE n = (SELECT max(n) FROM peal_migration)", name)
    link.run("ROLLBACK")
    link.close()
    said = ended(waits)
    assert f"a newer release has begun to change the tables, and wants protocol 3; this one, {OURS}, speaks 1" in said, said


def test_a_release_that_breaks_the_tables_looks_again_for_a_node_that_has_just_begun(db, tmp_path):
    """That one began behind the first look, and before the tables said that its release is too old."""
    name, url = fresh(db)
    with later(tmp_path / "a", url, "one", "wider") as one:  # all that comes before the migration that breaks them
        one.stop()
    link = db.snapshot(name)
    for text in "ROLLBACK", "BEGIN", "SELECT n FROM peal_migration FOR UPDATE":  # which a life that begins locks
        link.run(text)
    waits = launched(tmp_path / "b", url, "two", LATER["breaking"])
    waiting = ("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%oldest%'"
               if db.kind == "postgres" else
               "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'")
    wait_until(lambda: db.number(waiting, name) > 0, "it to wait", 60, 0.3)
    link.run("UPDATE peal_epoch SET ended = 0")
    link.run("COMMIT")
    link.close()
    said = ended(waits)
    assert (f"this release, 9.0.0, changes the tables so that older ones cannot use them, and node one at "
            f"127.0.0.1:{one.port} runs release 8.0.0: stop all nodes first, then start this one") in said, said
    assert db.number("SELECT count(*) FROM peal_epoch WHERE ended = 0", name) == 1
    assert db.number("SELECT max(oldest) FROM peal_migration", name) == 0  # the other one may go on, and begin again


@pytest.mark.parametrize("db", [kind for kind in servers.built(binary()) if kind == "postgres"], indirect=True)
def test_a_migration_that_meets_the_statements_of_others_is_repeated(db, tmp_path):
    """PostgreSQL ends one of two transactions that wait for each other: here the migration. Of MariaDB each statement of a
    migration is a transaction of its own."""
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one:
        one.stop()
    db.run(f"ALTER ROLE {servers.USER} SET deadlock_timeout = '6s'")  # then it looks, and the other one is there
    try:
        link = postgres.Connection(db.folder, db.port, name)
        link.run("SET deadlock_timeout = '1h'; SET lock_timeout = 0; BEGIN; LOCK TABLE peal_run IN ACCESS SHARE MODE")
        center = later(tmp_path / "b", url, "two", "wider")
        center.launch()
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%ALTER%'"
        wait_until(lambda: db.number(waiting, name) > 0, "it to wait", 60)
        other = threading.Thread(target=link.run, args=("LOCK TABLE peal_due IN ACCESS SHARE MODE",))
        other.start()  # which the migration has already
        other.join(60 * PATIENCE)
        link.run("COMMIT")
        link.close()
    finally:
        db.run(f"ALTER ROLE {servers.USER} RESET deadlock_timeout")
    wait_until(lambda: center.answers("/readyz"), "the migration to be done", 60)
    center.stop()
    assert "is repeated: " in center.tail(400)
