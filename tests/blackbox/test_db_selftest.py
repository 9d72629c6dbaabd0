# SPDX-License-Identifier: Apache-2.0
"""peal db check --selftest on real servers: all is well, users that lack rights, servers that take no writes, and what an
earlier test has left."""
import json
import subprocess

import pytest

from support import servers
from support.center import binary, clean_environment
from support.ports import free_port
from support.rights import grant_in, user_of
from support.wait import PATIENCE

TABLE = "peal_selftest_rows"


@pytest.fixture(scope="module", params=servers.built(binary()))
def db(request):
    lacks = servers.missing(request.param)
    if lacks:
        pytest.skip(f"{lacks} is not installed: scripts/install-deps.sh database")
    with servers.open(request.param) as server:
        yield server


def selftest(url, *more):
    """Exit status, standard output and error."""
    done = subprocess.run([str(binary()), "db", "check", "--selftest", "--db", url, *more], capture_output=True, text=True,
                          timeout=120 * PATIENCE, check=False, env=clean_environment())
    assert servers.PASSWORD not in done.stdout + done.stderr and servers.WRITTEN not in done.stdout + done.stderr
    return done.returncode, done.stdout, done.stderr


def failed(said):
    """{name: text} of the checks that failed."""
    lines = [line.split(None, 1)[1] for line in said.splitlines() if line.startswith("failed")]
    return dict(line.split(": ", 1) for line in lines)


def tables(db, database):
    return db.number("SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'peal%' AND table_schema = "
                     f"{db.schema or repr(database)}", database)


def test_a_good_server_passes_and_nothing_is_left(db):
    url = db.create("good")
    status, said, error = selftest(url)
    assert (status, failed(said), error) == (0, {}, ""), said + error
    assert said.splitlines()[-1].endswith("checks, 0 failed") and "ok      skip locked" in said
    assert tables(db, "good") == 0
    status, said, error = selftest(url, "--json")
    got = json.loads(said)
    assert status == 0 and got["failed"] == 0 and got["server"] and not error
    assert [check["name"] for check in got["checks"]][:3] == ["connect", "tables", "rows"]
    assert all(check["ok"] for check in got["checks"])


def test_what_an_earlier_test_has_left_goes(db):
    url = db.create("earlier")
    user = f"GRANT ALL ON {TABLE} TO {servers.USER}; ALTER TABLE {TABLE} OWNER TO {servers.USER}"
    db.run(f"CREATE TABLE {TABLE} (other int)" + ("" if db.kind == "mariadb" else f"; {user}"), "earlier")
    status, said, _ = selftest(url)
    assert status == 0, said
    assert tables(db, "earlier") == 0


def test_a_missing_right_is_named_with_the_statement_that_grants_it(db):
    name = "poor"
    url = user_of(db, name)
    if db.kind == "mariadb":
        db.run(f"GRANT SELECT ON {name}.* TO '{name}'@'127.0.0.%'")
    status, said, _ = selftest(url)
    assert status == 1 and list(failed(said)) == ["tables"], said
    db.run(grant_in(failed(said)["tables"]), name)
    for _ in range(2):  # on MariaDB without the right to drop: what is left is used again
        status, said, _ = selftest(url)
        assert status == 0, said
        assert ("which Peal does not need" in said) == (db.kind == "mariadb"), said
    if db.kind == "mariadb":
        assert db.number(f"SELECT count(*) FROM {TABLE}", name) == 0
        db.run(f"REVOKE DELETE ON {name}.* FROM '{name}'@'127.0.0.%'")
        status, said, _ = selftest(url)
        assert status == 1 and "DELETE command denied" in failed(said)["rows"], said
    else:  # Peal's tables, of another owner
        db.run("CREATE TABLE peal_migration (n bigint)", name)
        status, said, _ = selftest(url)
        assert status == 1 and "may not read and write peal_migration" in failed(said)["tables"], said
        db.run(grant_in(said), name)
        assert selftest(url)[0] == 0


def test_a_server_that_takes_no_writes_fails(db):
    url = db.create("quiet")
    db.read_only(True)
    try:
        status, said, _ = selftest(url)
        document = json.loads(selftest(url, "--json")[1])
    finally:
        db.read_only(False)
    assert status == 1 and "read-only" in failed(said)["connect"], said
    assert document["failed"] == 1 and document["server"] is None and "read-only" in document["checks"][0]["text"]


def test_what_another_session_holds_is_told(db):
    """As a proxy looks that gives each statement another session: the lock with a name is not to be had."""
    url = db.create("held")
    link = db.snapshot("held")
    try:
        link.run("SELECT get_lock('peal_selftest held', 0)" if db.kind == "mariadb" else "SELECT pg_advisory_lock(1885692269)")
        status, said, _ = selftest(url)
        assert status == 1 and list(failed(said)) == ["named lock"], said
    finally:
        link.close()
    assert tables(db, "held") == 0


def test_what_is_no_server_is_told(tmp_path):
    status, said, error = selftest(f"sqlite:{tmp_path}/peal.db")
    assert (status, said) == (2, "") and "for a database server" in error
    status, said, error = selftest("mysql://peal@/")
    assert (status, said) == (2, "") and error.startswith("peal db: ")
    for kind in servers.built(binary()):
        scheme = "mysql" if kind == "mariadb" else "postgres"
        status, said, _ = selftest(f"{scheme}://peal:{servers.WRITTEN}@127.0.0.1:{free_port()}/jobs")
        assert status == 1 and list(failed(said)) == ["connect"], said
