# SPDX-License-Identifier: Apache-2.0
"""Several servers on one database (node.cluster): each has a name of its own; one that dies is noticed by the others."""

import pathlib
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import servers  # noqa: E402
from support.center import Center, binary, clean_environment  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402


@pytest.fixture(scope="module", params=servers.built(binary()))
def db(request):
    lacks = servers.missing(request.param)
    if lacks:
        pytest.skip(f"{lacks} is not installed: scripts/install-deps.sh database")
    with servers.open(request.param) as server:
        server.count = 0
        yield server


def fresh(db):
    """A database's name, and its URL without the password."""
    db.count += 1
    name = f"test_{db.count}"
    return name, db.create(name).replace(f":{servers.WRITTEN}@", "@")


def node(folder, url, name, cluster=True):
    return Center(folder, ["--db", url, "--node.name", name, *(["--node.cluster"] if cluster else [])],
                  env={"PEAL_DB_PASSWORD": servers.PASSWORD})


def refused(folder, url, name, cluster=True):
    """What a server that must not start says."""
    done = subprocess.run([str(binary()), "server", "--listen", "127.0.0.1:0", "--data", str(folder), "--token", "t",
                           "--db", url, "--node.name", name, *(["--node.cluster"] if cluster else [])],
                          capture_output=True, text=True, timeout=60 * PATIENCE, check=False,
                          env=clean_environment(PEAL_RECORDER="none", PEAL_DB_PASSWORD=servers.PASSWORD))
    assert done.returncode > 0, done.stderr
    return done.stdout + done.stderr


def states(api):
    return {n["name"]: n["state"] for n in api.get("/nodes")["items"]}


def wait_for(center, **want):
    api = V1(center)
    wait_until(lambda: states(api) == want, f"the nodes to be {want}", 30)


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
