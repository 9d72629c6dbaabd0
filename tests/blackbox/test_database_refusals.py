# SPDX-License-Identifier: Apache-2.0
"""How a center reaches a database server, and what it says when it does not: refusals in each language, TLS, hosts of a
URL, localhost. Each with the advice that mends it."""
import subprocess

import pytest

from support import servers
from support.center import Center, binary, clean_environment
from support.mailserver import certificates
from support.postgres_refusal import refusing
from support.rights import grant_in, user_of
from support.v1 import V1
from support.wait import PATIENCE, wait_until

RIGHTS = "see that the user, its password and its rights on the database are right"
CONNECTIONS = "too many connections (max_connections)"
ADDRESS = "is the server up"
TLS = "see tls, tls-ca, tls-cert and tls-key of the URL, and the server's certificate"


def said_at_start(folder, url):
    done = subprocess.run([str(binary()), "server", "--listen", "127.0.0.1:0", "--data", str(folder), "--token", "t", "--db", url],
                          capture_output=True, text=True, timeout=60 * PATIENCE, check=False,
                          env=clean_environment(PEAL_RECORDER="none", PEAL_DB_PASSWORD=servers.PASSWORD))
    assert done.returncode > 0, done.stderr
    assert servers.PASSWORD not in done.stdout + done.stderr and servers.WRITTEN not in done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.skipif("postgres" not in servers.built(binary()), reason="built without PostgreSQL")
@pytest.mark.parametrize("state, severity, text, advice", [
    ("28P01", "FATAL", "Passwort-Authentifizierung für Benutzer »peal« fehlgeschlagen", RIGHTS),
    ("28000", "致命错误", "没有用于主机 127.0.0.1 的条目", RIGHTS),
    ("3D000", "FATAL", "Datenbank »jobs« existiert nicht", RIGHTS),
    ("53300", "致命错误", "对不起, 已经有太多的客户", CONNECTIONS),
    ("57P03", "FATAL", "das Datenbanksystem startet", ADDRESS),
    ("08P01", "FATAL", "password authentication failed", RIGHTS),  # as poolers answer
])
def test_a_refusal_has_its_advice_in_each_language(tmp_path, state, severity, text, advice):
    with refusing(state, text, severity) as port:
        said = said_at_start(tmp_path, f"postgres://peal@127.0.0.1:{port}/jobs")
    assert f"{severity}: {text} ({state}); " in said and advice in said, said


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder that the servers' user may enter: their CA, certificate and key, and another CA."""
    folder = tmp_path_factory.mktemp("certificates")
    (folder / "other").mkdir()
    ca, cert, key = certificates(folder)
    return {"ca": ca, "cert": cert, "key": key, "other": certificates(folder / "other")[0], "none": folder / "none.pem"}


@pytest.fixture(scope="module", params=servers.built(binary()))
def db(request, files):
    lacks = servers.missing(request.param)
    if lacks:
        pytest.skip(f"{lacks} is not installed: scripts/install-deps.sh database")
    server = servers.open(request.param)
    server.speak_tls(files["ca"], files["cert"], files["key"])
    with server:
        server.jobs = server.create("jobs")
        yield server


def works(folder, url):
    with Center(folder, ["--db", url]) as center:
        assert center.get("/readyz")[0] == 200


def test_a_certificate_is_checked_by_the_ca_that_the_url_names(db, files, tmp_path):
    """The URL's own CA is the only one that counts; without verify any certificate will do."""
    works(tmp_path / "a", f"{db.jobs}?tls=verify&tls-ca={files['ca']}")
    works(tmp_path / "b", f"{db.jobs}?tls=on")
    for name in ("other", "none"):
        said = said_at_start(tmp_path / name, f"{db.jobs}?tls=verify&tls-ca={files[name]}")
        assert TLS in said and RIGHTS not in said, said


def test_a_server_without_tls_is_refused_where_the_url_wants_it(db, tmp_path):
    with servers.open(db.kind) as plain:
        url = plain.create("jobs") + "?tls=on"
        said = said_at_start(tmp_path, url)
        assert TLS in said and RIGHTS not in said, said
        said = said_at_start(tmp_path, url.replace("tls=on", "tls=verify"))  # the library refuses, before the login
        assert TLS in said and "the server speaks no TLS" not in said, said
        if db.kind == "mariadb":  # the reader of XXL-JOB's tables connects by itself
            done = subprocess.run([str(binary()), "db", "check", "--db", url], capture_output=True, text=True, check=False,
                                  timeout=60 * PATIENCE)
            assert done.returncode not in (0, 1) and "speaks no TLS" in done.stderr, done.stderr


def test_the_next_host_is_used_when_the_first_is_dead(db, tmp_path):
    works(tmp_path, db.jobs.replace("@", "@127.0.0.1:1,", 1))


def test_localhost_with_a_port_is_that_port(db, tmp_path):
    """libmariadb by itself would take a socket in its own place."""
    works(tmp_path, db.jobs.replace("127.0.0.1", "localhost", 1))


def test_missing_rights_are_refused_with_the_statement_that_grants_them(db, tmp_path):
    name = "lacking"
    url = user_of(db, name)
    tables = f"{name}.*" if db.kind == "mariadb" else "ALL TABLES IN SCHEMA public"
    user = f"'{name}'@'127.0.0.%'" if db.kind == "mariadb" else name
    if db.kind == "mariadb":  # the login alone is refused without any; then there is no host to name
        said = said_at_start(tmp_path, url)
        assert f"ON `{name}`.* TO '{name}'@'%'" in grant_in(said), said
        db.run(f"GRANT SELECT ON {tables} TO {user}")
    said = said_at_start(tmp_path, url)
    assert "CREATE command denied" in said if db.kind == "mariadb" else "may not create tables in schema public" in said, said
    db.run(grant_in(said), name)
    works(tmp_path, url)
    # tables of another owner, of which it may only read
    if db.kind == "mariadb":
        db.run(f"REVOKE INSERT ON {tables} FROM {user}")
    else:
        for table, in db.run("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
                             name):
            db.run(f"ALTER TABLE {table} OWNER TO root; GRANT SELECT ON {table} TO {user}", name)
    said = said_at_start(tmp_path, url)
    assert "INSERT command denied" in said if db.kind == "mariadb" else "which belongs to root; root mends it" in said, said
    db.run(grant_in(said), name)
    works(tmp_path, url)
    if db.kind == "mariadb":  # asked for before it is needed
        db.run(f"REVOKE DELETE ON {tables} FROM {user}")
        said = said_at_start(tmp_path, url)
        assert "DELETE command denied" in said and "GRANT SELECT, INSERT, UPDATE, DELETE" in grant_in(said), said
        assert "ready" not in said, said


@pytest.mark.skipif("postgres" not in servers.built(binary()), reason="built without PostgreSQL")
@pytest.mark.parametrize("db", ["postgres"], indirect=True)
def test_a_table_that_is_to_be_altered_is_its_owners(db, tmp_path):
    """Of a database as migration 9 leaves it, whose tables a superuser has given to another role, with all rights on them."""
    name = "heir"
    url = user_of(db, name)
    db.run(f"CREATE ROLE elder; GRANT ALL ON SCHEMA public TO elder, {name}", name)
    works(tmp_path, url)
    for table, in db.run("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace", name):
        db.run(f"ALTER TABLE {table} OWNER TO elder; GRANT ALL ON {table} TO {name}", name)
    db.run(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {name}", name)
    works(tmp_path, url)  # to use it needs no more
    db.run("DELETE FROM peal_migration WHERE n >= 10; ALTER TABLE peal_node DROP COLUMN protocol, DROP COLUMN oldest", name)
    said = said_at_start(tmp_path, url)
    assert f"alters the table peal_node, which belongs to elder, and only an owner may, whatever rights user {name} has" in said, said
    assert "start this release once as elder" in said and grant_in(said) == f"GRANT elder TO {name}", said
    db.run(grant_in(said), name)
    works(tmp_path, url)


def test_a_database_that_the_user_may_not_enter_is_refused_with_the_grant(db, tmp_path):
    name = "closed"
    url = user_of(db, name)
    if db.kind == "postgres":
        db.run(f"REVOKE CONNECT ON DATABASE {name} FROM PUBLIC; GRANT USAGE, CREATE ON SCHEMA public TO {name}", name)
    said = said_at_start(tmp_path, url)
    assert "(42501)" in said if db.kind == "postgres" else "(1044)" in said, said
    db.run(grant_in(said).replace("'%'", "'127.0.0.%'"), name)
    works(tmp_path, url)


def test_a_server_that_takes_no_writes_is_refused_at_start(db, tmp_path):
    url = db.create("quiet")
    db.read_only(True)
    try:
        said = said_at_start(tmp_path, url)
    finally:
        db.read_only(False)
    assert "read-only" in said and "name the primary" in said, said
    works(tmp_path, url)


@pytest.mark.skipif("postgres" not in servers.built(binary()), reason="built without PostgreSQL")
def test_a_standby_is_refused_and_the_primary_beside_it_is_used(tmp_path):
    lacks = servers.missing("postgres")
    if lacks:
        pytest.skip(f"{lacks} is not installed: scripts/install-deps.sh database")
    with servers.open("postgres") as primary, servers.standby_of(primary) as standby:
        url = primary.create("jobs")
        wait_until(lambda: standby.run("SELECT 1 FROM pg_database WHERE datname = 'jobs'"), "the database on the standby", 60)
        other = url.replace(f":{primary.port}/", f":{standby.port}/")
        said = said_at_start(tmp_path, other)
        assert "read-only" in said and "name the primary, or all servers, in the URL" in said, said
        works(tmp_path, url.replace(f"127.0.0.1:{primary.port}", f"127.0.0.1:{standby.port},127.0.0.1:{primary.port}"))


@pytest.mark.skipif("postgres" not in servers.built(binary()), reason="built without PostgreSQL")
def test_a_start_that_runs_out_of_connections_ends_with_the_text(tmp_path):
    """Whichever of its connections it is that the database refuses, what was begun is taken down in order."""
    lacks = servers.missing("postgres")
    if lacks:
        pytest.skip(f"{lacks} is not installed: scripts/install-deps.sh database")
    with servers.open("postgres") as server:
        url = server.create("few").replace(f":{servers.WRITTEN}@", "@")
        for limit in range(1, 40):
            server.run(f"ALTER ROLE {servers.USER} CONNECTION LIMIT {limit}")
            center = Center(tmp_path / str(limit), ["--db", url], env={"PEAL_DB_PASSWORD": servers.PASSWORD})
            try:
                center.start()
            except RuntimeError as ended:
                assert "ended by itself (3)" in str(ended) and "too many connections" in str(ended), ended
            else:
                center.stop()
                break
        assert 3 < limit < 39


def set_password(db, to):
    if db.kind == "mariadb":
        db.run(f"ALTER USER '{servers.USER}'@'%' IDENTIFIED BY '{to}'")
        for row in db.run(f"SELECT id FROM information_schema.processlist WHERE user = '{servers.USER}'"):
            db.run(f"KILL {row[0]}")
    else:
        db.run(f"ALTER ROLE {servers.USER} PASSWORD '{to}'")
        db.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{servers.USER}'")


def test_a_password_that_is_refused_meanwhile_is_no_fault_of_a_request(db, tmp_path):
    with Center(tmp_path, ["--db", db.jobs]) as center:
        v1 = V1(center)
        assert v1.ask("GET", "/jobs").status == 200
        set_password(db, "another")
        try:
            answer = wait_until(lambda: next((a for a in [v1.ask("GET", "/jobs")] if a.status != 200), None), "a refusal", 30)
            assert answer.status == 503, answer.json
            assert servers.USER not in str(answer.json) and "127.0.0.1" not in str(answer.json), answer.json
        finally:
            set_password(db, servers.PASSWORD)
        wait_until(lambda: v1.ask("GET", "/jobs").status == 200, "the database to let the server in again", 30)
