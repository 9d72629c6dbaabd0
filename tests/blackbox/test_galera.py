# SPDX-License-Identifier: Apache-2.0
"""Servers on a Galera cluster: rows are locked on one of its servers only, and commits are certified. One cluster for
all cases."""

import os
import pathlib
import subprocess
import sys
import threading

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import galera, mariadb, servers, webapi  # noqa: E402
from support.center import binary, clean_environment  # noqa: E402
from support.cluster import (  # noqa: E402
    Reporter, jobs_each_second, node, settled, states, unaccounted, wait_for, wait_for_ends)
from support.releases import LATER, OURS, later, refused  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402
from support.xxl_tables import make  # noqa: E402

PROGRAMS = ("certified", "cuts", "ledger", "nodes", "inbox", "changes")  # of the store's suite


@pytest.fixture(scope="module", name="pair")
def cluster():
    if "mariadb" not in servers.built(binary()):
        pytest.skip("built without libmariadb")
    if lacks := galera.missing():
        pytest.skip(f"{lacks} is not installed: scripts/install-deps.sh database")
    with galera.open() as pair:
        pair.count = 0
        yield pair


def fresh(pair):
    """A database's name, and its URLs without the password: of the first server, and of the second one."""
    pair.count += 1
    name = f"test_{pair.count}"
    pair.create(name)
    granted = f"SELECT count(*) FROM mysql.db WHERE db = '{name}'"
    wait_until(lambda: pair.servers[1].number(granted, "") == 1, "the other server to have it")
    return name, *(server.url(name).replace(f":{servers.WRITTEN}@", "@") for server in pair.servers)


def both(pair, first, second):
    """One URL with both servers; the first one's is asked first."""
    here, there = (f"127.0.0.1:{server.port}" for server in pair.servers)
    return first.replace(here, f"{here},{there}"), second.replace(there, f"{there},{here}")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_store_keeps_its_promises_there(pair, name):
    database = f"unit_{name}"
    env = {**os.environ, "PEAL_TEST_DB": pair.create(database), "PEAL_TEST_OTHER": str(pair.servers[1].port)}
    done = subprocess.run([str(binary().parent / "tests" / f"unit_store_{name}")], env=env, capture_output=True, text=True,
                          timeout=120 * PATIENCE, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    pair.servers[0].drop(database)


def peal(*words):
    done = subprocess.run([str(binary()), *words], capture_output=True, text=True, timeout=60 * PATIENCE, check=False,
                          env=clean_environment(PEAL_DB_PASSWORD=servers.PASSWORD, PEAL_RECORDER="none"))
    return done.returncode, done.stdout + done.stderr


def test_the_check_says_what_such_a_cluster_does_not_hold(pair):
    _, first, second = fresh(pair)
    status, said = peal("db", "check", "--selftest", "--db", first)
    assert status == 0 and "ok      Galera: 3 votes; locks of rows and locks with a name hold within one server" in said
    server = pair.servers[1]
    server.run("SET GLOBAL wsrep_max_ws_rows = 5000")
    try:
        status, said = peal("db", "check", "--selftest", "--db", second)
    finally:
        server.run("SET GLOBAL wsrep_max_ws_rows = 0")
    assert status == 1 and "failed  Galera: wsrep_max_ws_rows is 5000" in said, said
    assert "ok      lost session" in said


def test_beside_java_admins_all_use_one_server(pair, tmp_path):
    name, first, second = fresh(pair)
    pair.servers[0].drop(name)
    link = mariadb.Connection(f"{pair.servers[0].folder}/s", "root", "", "")
    make(link, name, "3.4")
    link.close()
    there = f"SELECT count(*) FROM information_schema.tables WHERE table_schema = '{name}' AND table_name = 'xxl_job_lock'"
    wait_until(lambda: pair.servers[1].number(there, "") == 1, "the other one to have the table")
    wait_until(lambda: pair.servers[1].number("SELECT count(*) FROM xxl_job_lock", name) == 1, "the other one to have its row")
    several, _ = both(pair, first, second)
    status, said = peal("db", "check", "--db", several)
    assert "all Java admins and all centers must use the same one" in said, said
    migrate = ("db", "migrate", "--zone", "Asia/Shanghai", "--beside", "--db")
    status, said = peal(*migrate, several)
    assert status == 2 and "name one server in --db, the one that all Java admins use" in said, said
    status, said = peal(*migrate, first)
    assert status == 0, said
    serve = ("server", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "a"), "--token", "t", "--zone", "Asia/Shanghai",
             "--db")
    status, said = peal(*serve, several)
    assert status > 0 and "name one server in --db" in said, said


def test_two_nodes_make_the_tables_at_once(pair, tmp_path):
    name, first, second = fresh(pair)
    one, two = node(tmp_path / "a", first, "one"), node(tmp_path / "b", second, "two")
    for center in one, two:
        center.launch()
    try:
        for center in one, two:
            wait_until(lambda c=center: c.answers("/readyz"), "it to be ready", 60)
        wait_for(one, one="up", two="up")
        assert pair.servers[0].number("SELECT count(*) FROM peal_migration", name) == \
            pair.servers[0].number("SELECT max(n) FROM peal_migration", name)
    finally:
        one.stop()
        two.stop()


def test_a_login_at_one_node_counts_at_the_other_at_once(pair, tmp_path):
    """The other one's server has not got the session yet: it waits, and does not refuse it."""
    _, first, second = fresh(pair)
    with node(tmp_path / "a", first, "one") as one, node(tmp_path / "b", second, "two") as two:
        wait_for(two, one="up", two="up")
        stays = mariadb.Connection(f"{pair.servers[1].folder}/s", "root", "", "")
        stays.run("FLUSH TABLES WITH READ LOCK")
        asked = {}
        try:
            cookie = one.api().cookie
            ask = threading.Thread(target=lambda: asked.update(status=webapi.request(
                two.port, "GET", "/api/v1/session", None, {"Cookie": cookie}, 60)[0]))
            ask.start()
            waits = "SELECT count(*) FROM information_schema.processlist WHERE user = 'peal' AND command = 'Execute'"
            wait_until(lambda: stays.run(waits)[0][0] != "0" or asked, "the look at the session", 20)
            assert not asked
        finally:
            stays.close()
        ask.join()
        assert asked == {"status": 200}


def test_a_node_goes_on_at_the_other_server_when_its_own_dies(pair, tmp_path):
    name, *urls = fresh(pair)
    first, second = both(pair, *urls)
    db = pair.servers[0]
    with node(tmp_path / "a", first, "one") as one, node(tmp_path / "b", second, "two") as two:
        wait_for(two, one="up", two="up")
        with Reporter(one, two) as puppet:
            jobs = jobs_each_second(two, puppet, 10)
            wait_for_ends(db, name, 20)
            pair.servers[1].kill()
            wait_for_ends(db, name, 40)
            pair.servers[1].start()
            wait_for_ends(db, name, 40)
            assert one.running() and two.running()
            settled(db, name, puppet, one.api(), jobs)
            assert unaccounted(pair.servers[1], name) == 0


def test_a_server_that_is_cut_off_is_of_no_use(pair, tmp_path):
    """To one whose URL names the other one as well, and to one that has this one only."""
    name, first, second = fresh(pair)
    db = pair.servers[0]
    _, first = both(pair, first, second)
    with node(tmp_path / "a", first, "one") as one, node(tmp_path / "b", second, "two") as two:
        wait_for(two, one="up", two="up")
        with Reporter(one, two) as puppet:
            jobs = jobs_each_second(one, puppet, 10)
            wait_for_ends(db, name, 20)
            api = V1(one)  # a login is not confirmed while the servers find out who is gone
            pair.servers[1].apart(True)
            wait_until(lambda: states(api) == {"one": "up", "two": "dead"}, "two to be given up", 60)
            assert two.get("/readyz")[0] == 503
            wait_until(lambda: "cut off from the others of its Galera cluster" in two.tail(), "it to say why", 30)
            wait_for_ends(db, name, 30)
            pair.servers[1].apart(False)
            assert two.process.wait(60 * PATIENCE) == 3
            two._down = True
            two.start()
            wait_for(one, one="up", two="up")
            settled(db, name, puppet, one.api(), jobs)


def test_two_nodes_on_two_servers_plan_each_time_once(pair, tmp_path):
    name, first, second = fresh(pair)
    db = pair.servers[0]
    with node(tmp_path / "a", first, "one") as one, node(tmp_path / "b", second, "two") as two:
        wait_for(two, one="up", two="up")
        with Reporter(one, two) as puppet:
            jobs = jobs_each_second(two, puppet, 20)
            owners = "SELECT count(DISTINCT node) FROM peal_run"
            wait_until(lambda: db.number(owners, name) == 2, "both to plan", 60)
            wait_for_ends(db, name, 60)
            settled(db, name, puppet, one.api(), jobs)


def test_a_release_that_breaks_the_tables_waits_for_a_node_at_the_other_server(pair, tmp_path):
    name, first, second = fresh(pair)
    wanted = "SELECT max(oldest) FROM peal_migration"
    with node(tmp_path / "a", first, "one") as one:
        said = refused(tmp_path / "b", second, "two", LATER["breaking"])
        assert f"node one at 127.0.0.1:{one.port} runs release {OURS}: stop all nodes first, then start this one" in said, said
        assert pair.servers[0].number(wanted, name) == 0
        with Reporter(one) as puppet:  # which goes on with the tables as they are
            jobs = jobs_each_second(one, puppet, 5)
            wait_for_ends(pair.servers[0], name, 10)
            settled(pair.servers[0], name, puppet, one.api(), jobs)
        one.kill()
        with later(tmp_path / "b", second, "two", "breaking") as two:
            wait_for(two, one="dead", two="up")
            wait_until(lambda: pair.servers[0].number(wanted, name) == 3, "the other server to have the tables", 20)
            said = refused(tmp_path / "a", first, "one")
            assert "it wants protocol 3, and this release speaks 1" in said, said
            with later(tmp_path / "c", first, "three", "breaking"):
                wait_for(two, one="dead", two="up", three="up")
