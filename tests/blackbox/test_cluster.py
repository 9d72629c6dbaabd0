# SPDX-License-Identifier: Apache-2.0
"""Several servers on one database (node.cluster): each has a name of its own; one that dies is noticed by the others."""

import pathlib
import signal
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import servers  # noqa: E402
from support.center import binary, clean_environment  # noqa: E402
from support.cluster import (  # noqa: E402, F401 (a fixture)
    Reporter, check_runs, database, fresh, jobs_each_second, node, settled, states, unaccounted, wait_for, wait_for_ends,
    wait_for_no_run_of)
from support.puppet import Puppet  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402


def refused(folder, url, name, cluster=True):
    """What a server that must not start says."""
    done = subprocess.run([str(binary()), "server", "--listen", "127.0.0.1:0", "--data", str(folder), "--token", "t",
                           "--db", url, "--node.name", name, *(["--node.cluster"] if cluster else [])],
                          capture_output=True, text=True, timeout=60 * PATIENCE, check=False,
                          env=clean_environment(PEAL_RECORDER="none", PEAL_DB_PASSWORD=servers.PASSWORD))
    assert done.returncode > 0, done.stderr
    return done.stdout + done.stderr


def test_two_servers_live_on_one_database(db, tmp_path):
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two") as two:
        for center in (one, two):
            wait_for(center, one="up", two="up")
            wait_until(lambda c=center: c.metric("peal_node_beats_total") > 2, "beats", 30)
            assert center.get("/readyz")[0] == 200
        assert db.number("SELECT count(*) FROM peal_epoch WHERE ended = 0", name) == 2
        # a name is one server's, and one that wants the database alone does not get it
        said = refused(tmp_path / "c", url, "two")
        assert f"node name two is in use at 127.0.0.1:{two.port}" in said, said
        said = refused(tmp_path / "c", url, "three", cluster=False)
        assert "the database is in use by another server" in said, said
        assert states(V1(one)) == {"one": "up", "two": "up"}
        # one that says that it stops, and comes again
        two.stop()
        wait_for(one, one="up", two="stopped")
        two.start()
        wait_for(two, one="up", two="up")
        assert db.number("SELECT count(*) FROM peal_epoch WHERE ended = 0", name) == 2


def test_a_server_whose_lease_is_over_says_so(db, tmp_path):
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one:
        link = db.snapshot(name)
        for text in "ROLLBACK", "BEGIN", "SELECT node FROM peal_node FOR UPDATE":  # which the beat writes
            link.run(text)
        wait_until(lambda: not one.answers("/readyz"), "the end of the lease", 30)
        said = one.get("/readyz?verbose")[2].decode()
        assert "[+] database takes writes\n[-] schedule fires\n" in said and "the lease is over" in said, said
        link.close()
        wait_until(lambda: one.answers("/readyz"), "another lease", 30)


def test_a_server_that_is_killed_is_found_dead_by_the_other(db, tmp_path):
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two") as two:
        wait_for(one, one="up", two="up")
        two.kill()
        wait_for(one, one="up", two="dead")
        epochs = "SELECT (SELECT min(epoch) FROM peal_epoch), (SELECT heir FROM peal_epoch ORDER BY epoch DESC LIMIT 1)"
        first, heir = db.run(epochs, name)[0]
        assert first == heir
        two.start()
        wait_for(one, one="up", two="up")


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_what_a_server_leaves_goes_on_at_the_other(db, tmp_path, end):
    name, url = fresh(db)
    one, two = node(tmp_path / "a", url, "one"), node(tmp_path / "b", url, "two")
    with two:
        with Reporter(one, two) as puppet:
            jobs = jobs_each_second(two, puppet, 6)
            one.start()
            wait_for(one, one="up", two="up")
            owners = "SELECT count(DISTINCT node) FROM peal_run"
            wait_until(lambda: db.number(owners, name) == 2, "both to plan", 60)
            wait_for_ends(db, name, 12)
            getattr(two, end)()
            wait_for(one, one="up", two="dead" if end == "kill" else "stopped")
            wait_for_no_run_of(db, name, "two")
            wait_for_ends(db, name, 18)
            settled(db, name, puppet, one.api(), jobs)
            one.stop()


def test_a_server_that_was_given_up_ends(db, tmp_path):
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two") as two:
        wait_for(one, one="up", two="up")
        two.process.send_signal(signal.SIGSTOP)
        try:
            wait_for(one, one="up", two="dead")
            leased = {n["name"]: n["leased"] for n in V1(one).get("/nodes")["items"]}
            assert leased == {"one": True, "two": False}
        finally:
            two.process.send_signal(signal.SIGCONT)
        assert two.process.wait(60 * PATIENCE) == 3
        two._down = True
        assert "ended its epoch" in two.tail() and "taken its runs over" in two.tail()
        assert db.number("SELECT count(*) FROM peal_epoch WHERE ended = 0", name) == 1


def test_a_server_that_has_the_database_alone_keeps_it(db, tmp_path):
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one", cluster=False) as one:
        said = refused(tmp_path / "b", url, "two")
        assert "the database is in use by another server (one at" in said, said
        assert db.number("SELECT count(*) FROM peal_epoch WHERE ended = 0", name) == 1
        one.kill()
        with node(tmp_path / "b", url, "two") as two:
            wait_for(two, one="dead", two="up")


def test_a_file_is_one_servers(tmp_path):
    said = refused(tmp_path / "a", f"sqlite:{tmp_path}/a.db", "one")
    assert "node.cluster needs a database that several servers can open" in said, said


def next_release(db, name, oldest, *texts):
    """What the start of a release does that has one migration more than this one."""
    for text in texts:
        db.run(text, name)
    if texts and db.kind == "postgres":
        db.run(f"ALTER TABLE peal_later OWNER TO {servers.USER}", name)
    n = db.number("SELECT max(n) + 1 FROM peal_migration", name)
    db.run(f"INSERT INTO peal_migration (n, sha256, applied_ms, oldest) VALUES ({n}, 'of a later release', 1, {oldest})", name)
    return n


WIDER = ("CREATE TABLE peal_later (id int NOT NULL PRIMARY KEY)",
         "CREATE INDEX i_later ON peal_run (due_ms)",
         *(f"ALTER TABLE {table} ADD COLUMN later int NOT NULL DEFAULT 7"
           for table in ("peal_run", "peal_node", "peal_epoch", "peal_due", "peal_job", "peal_delta", "peal_migration")))


def test_servers_go_on_where_a_newer_release_has_widened_the_tables(db, tmp_path):
    """Each connection is made anew on the wider tables, each server is stopped and started there, and one is killed."""
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two") as two, Reporter(one, two) as puppet:
        wait_for(one, one="up", two="up")
        jobs = jobs_each_second(two, puppet, 4)
        wait_for_ends(db, name, 4)
        next_release(db, name, 0, *WIDER)
        wait_for_ends(db, name, 8)
        db.kill()
        db.start()
        for center in (one, two):
            wait_until(lambda c=center: c.answers("/readyz") and c.answers("/metrics"), "the new connections", 60)
            assert V1(center).get("/jobs")["page"]["total"]["value"] == len(jobs)
        for center, end in ((one, one.stop), (two, two.stop), (two, two.kill)):
            wait_for_ends(db, name, 8)
            end()
            center.start()
            wait_for(center, one="up", two="up")
        path = f"/jobs/{jobs[0]}"
        before = V1(one).ask("GET", path)
        edited = V1(one).ask("PATCH", path, {"name": "wider"}, If_Match=before.headers["ETag"])
        assert edited.status == 200, edited.json
        assert V1(two).get(path)["name"] == "wider"
        wait_for_ends(db, name, 8)
        settled(db, name, puppet, two.api(), jobs)


def test_tables_that_a_newer_release_has_to_itself_are_refused_with_what_mends_it(db, tmp_path):
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one:
        newest = next_release(db, name, 2)
        # a wider one on top of it changes nothing
        last = next_release(db, name, 0)
        said = refused(tmp_path / "b", url, "two")
        assert f"was written by a newer release (migration {last}, this one knows {newest - 1})" in said, said
        assert "start that release" in said and "it wants protocol 2, and this release speaks 1" in said, said
        db.run(f"DELETE FROM peal_migration WHERE n >= {newest}", name)
        with node(tmp_path / "b", url, "two"):
            wait_for(one, one="up", two="up")
        # what it does not know is not copied
        next_release(db, name, 0)
        one.stop()
        moved = subprocess.run([str(binary()), "db", "move", "--from", url, "--data", str(tmp_path / "moved")],
                               capture_output=True, text=True, timeout=60 * PATIENCE, check=False,
                               env=clean_environment(PEAL_DB_PASSWORD=servers.PASSWORD))
        assert moved.returncode != 0 and "was written by a newer release" in moved.stderr, moved.stderr
