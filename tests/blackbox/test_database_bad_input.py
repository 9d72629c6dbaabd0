# SPDX-License-Identifier: Apache-2.0
"""What `peal server` refuses to open at its start: URLs that cannot be one, and databases that are not Peal's, or not whole.
Each refusal says what mends it, and changes nothing. TLS, rights, servers without writes: test_database_refusals.py; clocks,
passwords, databases in use: test_databases.py; rows that Java admins need: test_beside_java.py."""
import contextlib
import subprocess

import pytest

from support import mariadb, servers
from support.center import Center, binary, clean_environment
from support.cluster import database, fresh  # noqa: F401 (a fixture)
from support.wait import PATIENCE
from support.xxl_tables import make

SCHEMES = {"mariadb": "mysql", "postgres": "postgres"}
JAVA = {"mariadb": "mysql", "postgres": "postgresql"}

URLS = {  # what becomes of URL, and what is said
    "oracle://peal@HOST/jobs": "sqlite:FILE, mysql://…, postgres://… or the jdbc: URL of one",
    "peal.db": "sqlite:FILE, mysql://…, postgres://… or the jdbc: URL of one",
    "sqlite:": "sqlite:FILE, mysql://…, postgres://… or the jdbc: URL of one",
    "SCHEME://": "the database is missing: …HOST:PORT/DATABASE",
    "SCHEME://peal@HOST": "the database is missing: …HOST:PORT/DATABASE",
    "SCHEME://peal@HOST/": "the database's name is one word behind the host",
    "SCHEME://peal@HOST/a/b": "the database's name is one word behind the host",
    "SCHEME://peal@/jobs": "a host is missing",
    "SCHEME://peal@127.0.0.1:70000/jobs": "a port is a number from 1 to 65535",
    "SCHEME://peal@127.0.0.1:/jobs": "a port is a number from 1 to 65535",
    "SCHEME://peal@[::1/jobs": "a host has a [ without ]",
    "SCHEME://peal:a/secret:of@HOST/jobs": "write @ : / ? # % as %40 %3A %2F %3F %23 %25",
    "SCHEME://peal:100%@HOST/jobs": "the password has a % without two hexadecimal digits",
    "SCHEME://peal%00@HOST/jobs": "the user has a control character",
    "SCHEME://peal@HOST,HOST,HOST,HOST,HOST,HOST,HOST,HOST,HOST/jobs": "the list of hosts has at most 8",
    "SCHEME://peal@HOST/jobs#top": "a # is written %23",
    "SCHEME://peal@HOST/jobs?tsl=on": "an option is none of tls, tls-ca,",
    "SCHEME://peal@HOST/jobs?tls=yes": "tls is off, on or verify",
    "SCHEME://peal@HOST/jobs?tls-ca=ca.pem": "tls-ca is the whole path of a file",
    "SCHEME://peal@HOST/jobs?tls-cert=/cert.pem": "tls-cert and tls-key go together",
    "SCHEME://peal@HOST/jobs?connect-timeout=0": "connect-timeout is a number of seconds from 1 to 60",
    "SCHEME://peal@HOST/jobs?password-file=/no/such/file": "the database's password: cannot read /no/such/file",
    "SCHEME://peal:x@HOST/jobs?password-file=/file": "in the URL or in password-file, not in both",
    "jdbc:JAVA://HOST/jobs?user=peal&sslmode=yes&sslMode=yes": "is a word that Java's drivers do not have",
    "SCHEME://peal@no.such.host.invalid/jobs": "no.such.host.invalid",
    "SCHEME://peal@HOST/" + "j" * 2000: "the database's name is too long",
    "SCHEME://peal@h/".ljust(9000, "j"): " bytes, and at most 4096 are allowed",
    "jdbc:JAVA://peal@h/".ljust(60000, "j"): " bytes, and at most 4096 are allowed",
}

# of a database that Peal has made: what is done to it, what is said, and what undoes it
TABLES = [
    ("UPDATE peal_migration SET sha256 = 'x' WHERE n = 1", "it belongs to another build, start that one",
     "UPDATE peal_migration SET sha256 = (SELECT sha256 FROM kept WHERE n = 1) WHERE n = 1"),
    ("DELETE FROM peal_migration WHERE n = 2", "migration 2 is missing between others; restore a backup",
     "INSERT INTO peal_migration SELECT * FROM kept WHERE n = 2"),
    ("ALTER TABLE xxl_job_info RENAME COLUMN child_jobid TO elsewhere", "the column xxl_job_info.child_jobid is gone: restore a backup",
     "ALTER TABLE xxl_job_info RENAME COLUMN elsewhere TO child_jobid"),
    ("ALTER TABLE peal_silence RENAME COLUMN made_by TO elsewhere", "the column peal_silence.made_by is gone: restore a backup",
     "ALTER TABLE peal_silence RENAME COLUMN elsewhere TO made_by"),
    # added by a later migration
    ("ALTER TABLE peal_node RENAME COLUMN jobs TO elsewhere", "the column peal_node.jobs is gone: restore a backup",
     "ALTER TABLE peal_node RENAME COLUMN elsewhere TO jobs"),
]


def said_at_start(folder, url):
    done = subprocess.run([str(binary()), "server", "--listen", "127.0.0.1:0", "--data", str(folder), "--token", "t", "--db", url],
                          capture_output=True, text=True, timeout=60 * PATIENCE, check=False,
                          env=clean_environment(PEAL_RECORDER="none", PEAL_DB_PASSWORD=servers.PASSWORD))
    assert done.returncode == 3, (url, done.returncode, done.stderr)
    assert "ready" not in done.stderr and servers.PASSWORD not in done.stdout + done.stderr
    return done.stdout + done.stderr


def contents(db, name):
    """The tables of a database, and how many lives it has seen."""
    tables = [table for table, in db.run("SELECT table_name FROM information_schema.tables WHERE table_schema IN "
                                         f"('public', '{name}') ORDER BY table_name", name)]
    lives = db.run("SELECT count(*) FROM peal_epoch", name) if "peal_epoch" in tables else None
    return tables, lives


def test_a_url_that_cannot_be_one_is_refused(db, tmp_path):
    for url, says in URLS.items():
        url = url.replace("SCHEME", SCHEMES[db.kind]).replace("JAVA", JAVA[db.kind]).replace("HOST", f"127.0.0.1:{db.port}")
        said = said_at_start(tmp_path, url)
        assert says in said, (url, said)


def test_a_server_of_another_kind_is_refused(db, tmp_path):
    name, url = fresh(db)
    other = "postgres" if db.kind == "mariadb" else "mysql"
    if other not in [SCHEMES[kind] for kind in servers.built(binary())]:
        pytest.skip(f"built without {other}")
    said = said_at_start(tmp_path, url.replace(SCHEMES[db.kind], other, 1))
    assert f"{other}://127.0.0.1:{db.port}/{name}: " in said, said


def test_a_database_of_another_program_is_left_alone(db, tmp_path):
    name, url = fresh(db)
    db.run("CREATE TABLE things (id int)", name)
    said = said_at_start(tmp_path, url)
    assert "a database of another program (it has tables, but not peal_migration); name another one" in said, said
    assert contents(db, name) == (["things"], None)


def test_a_database_of_xxl_job_is_left_alone(db, tmp_path):
    """Of the oldest layout, of one that `peal db migrate` takes; on PostgreSQL such names are another program's."""
    for layout in ("2.2", "3.5"):
        name, url = fresh(db)
        if db.kind == "mariadb":
            db.drop(name)
            with contextlib.closing(mariadb.Connection(f"{db.folder}/s", "root", "", "")) as root:
                make(root, name, layout)
        else:
            owner = f"ALTER TABLE xxl_job_info OWNER TO {servers.USER}" if layout == "3.5" else ""  # else one that it may not read
            db.run(f"CREATE TABLE xxl_job_info (id int); {owner}", name)
        before = contents(db, name)
        said = said_at_start(tmp_path, url)
        for says in ('"peal db check"', '"peal db migrate"', '"peal db import"') if db.kind == "mariadb" else ("another program",):
            assert says in said and "GRANT" not in said, said
        assert contents(db, name) == before


def test_tables_that_are_not_whole_are_refused(db, tmp_path):
    name, url = fresh(db)
    with Center(tmp_path / "made", ["--db", url], env={"PEAL_DB_PASSWORD": servers.PASSWORD}) as center:
        center.stop()
    gone = [(f"ALTER TABLE {table} RENAME TO elsewhere", f"the table {table} is gone: restore a backup",
             f"ALTER TABLE elsewhere RENAME TO {table}") for table in contents(db, name)[0] if table != "peal_migration"]
    assert len(gone) > 40
    db.run("CREATE TABLE kept AS SELECT * FROM peal_migration", name)
    before = contents(db, name)
    for change, says, back in TABLES + gone:
        db.run(change, name)
        changed = contents(db, name)
        said = said_at_start(tmp_path / "refused", url)
        assert says in said, said
        assert contents(db, name) == changed
        db.run(back, name)
        assert contents(db, name) == before
    with Center(tmp_path / "made", ["--db", url], env={"PEAL_DB_PASSWORD": servers.PASSWORD}) as center:
        assert center.get("/readyz")[0] == 200
