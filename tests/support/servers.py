# SPDX-License-Identifier: Apache-2.0
"""Private database servers for tests: MariaDB and PostgreSQL as children of the test, in a folder, on a port and a
socket of their own. They end with the test, also when that is killed.

Nothing is synced to disk unless the test is about that (durable=True): a server that is killed keeps what it has
committed all the same, because the pages of its files are the kernel's.

    with servers.open("mariadb") as db:
        url = db.create("jobs")        # an empty database, and the URL by which its user opens it
        db.run("SELECT 1", "jobs")     # rows of texts or None, by a client of the database
        db.kill(); db.start()
"""
import contextlib
import glob
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile

from support import mariadb, postgres
from support.ports import free_port
from support.processes import alive
from support.wait import PATIENCE, wait_until

KINDS = ("mariadb", "postgres")
USER, PASSWORD = "peal", "a/secret:of@the?test"  # characters that a URL has to write as %XX
WRITTEN = "a%2Fsecret%3Aof%40the%3Ftest"


def program(kind, name):
    """Where a program of that database is; None if it is not installed."""
    if kind == "mariadb":
        return mariadb.program(name)
    places = [*sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True), *os.environ.get("PATH", "").split(":")]
    return next((found for place in places if (found := shutil.which(name, path=place))), None)


def built(program):
    """The kinds of server that the binary has an engine for."""
    linked = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    opened = (pathlib.Path(__file__).parents[2] / "src" / "store" / "open.c").read_text()
    marks = {"mariadb": ("libmariadb", "mysql_open"), "postgres": ("libpq", "postgres_open")}
    return [kind for kind, (library, function) in marks.items() if library in linked and function in opened]


def missing(kind):
    """What is not installed; None if all is there."""
    names = ("mariadbd", "mariadb-install-db") if kind == "mariadb" else ("postgres", "initdb", "psql")
    return next((name for name in names if not program(kind, name)), None)


def open(kind, durable=False, folder=None, port=None):  # pylint: disable=redefined-builtin
    return (MariaDB if kind == "mariadb" else Postgres)(durable, folder, port)


MEMORY = "/dev/shm"
ROOM = 4 << 30  # bytes: a few servers at a time have a few hundred MiB each


def _place(durable):
    """Where a server's folder is made. In memory, where a table is made and dropped in no time: suites do that thousands
    of times, and a disk took four fifths of theirs."""
    with contextlib.suppress(OSError):
        if not durable and shutil.disk_usage(MEMORY).free > ROOM:
            return MEMORY
    return "/tmp"


class Server:
    """What both have in common. A context manager: started, and gone with its folder at the end."""

    kind = account = None

    def __init__(self, durable=False, folder=None, port=None):
        self.durable = durable
        self.port = port or free_port()
        self.own_folder = folder is None  # short: a socket's path has at most 107 bytes
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix=f"peal-{self.kind[:2]}-", dir=_place(durable)))
        self.data = self.folder / "data"
        self.process = self.log = None
        self.extra = []  # arguments of the next start

    def __enter__(self):
        try:
            self.folder.mkdir(exist_ok=True)
            self.folder.chmod(0o711)
            if os.geteuid() == 0:
                shutil.chown(self.folder, self._account())
            if not self.data.exists():
                self._install()
            self.start()
            self._make_user()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop(fast=True)
        if self.own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _account(self):
        """The servers refuse to run as root."""
        if os.geteuid() != 0:
            return pwd.getpwuid(os.geteuid()).pw_name
        names = {entry.pw_name for entry in pwd.getpwall()}
        return self.account if self.account in names else "nobody"

    def _as_account(self, *command):
        """The command as that user, ended with its parent."""
        if os.geteuid() != 0:
            return ["setpriv", "--pdeathsig=KILL", *command]
        user = pwd.getpwnam(self._account())
        return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--pdeathsig=KILL",
                *command]

    def start(self, *extra):
        """Until it answers. extra: further arguments, of this start only."""
        assert not self.process
        self.launch(*extra)
        wait_until(self._answers, f"{self.kind} to answer", timeout=120)

    def launch(self, *extra):
        """The same without waiting."""
        self.log = (self.folder / "log").open("a")
        self.process = subprocess.Popen(self._as_account(*self._arguments(), *self.extra, *extra), stdout=self.log,
                                        stderr=self.log, cwd="/")

    def _answers(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.kind} ended: {(self.folder / 'log').read_text()[-3000:]}")
        return self._try()

    def _gone(self, number):
        if self.process:
            pids = [self.process.pid, *self._others()]
            self.process.send_signal(number)
            self.process.wait(120 * PATIENCE)
            # its other processes still hold its files and its port
            wait_until(lambda: not any(alive(pid) for pid in pids), f"{self.kind}'s processes to end")
            self.log.close()
            self.process = None

    def _others(self):
        return []

    def stop(self, fast=False):
        """As an operator does; fast: without waiting for clients."""
        raise NotImplementedError

    def kill(self):
        """As a crash does."""
        self._gone(signal.SIGKILL)

    def url(self, database, port=None, **options):
        """By TCP; port: of a proxy before it."""
        scheme = "mysql" if self.kind == "mariadb" else "postgres"
        tail = "&".join(f"{name.replace('_', '-')}={value}" for name, value in options.items())
        return (f"{scheme}://{USER}:{WRITTEN}@127.0.0.1:{port or self.port}/{database}" + (f"?{tail}" if tail else ""))

    def create(self, database):
        self.run(f"CREATE DATABASE {database}{self.as_text}")
        self._grant(database)
        return self.url(database)

    def speak_tls(self, ca, cert, key):
        """From the next start on; copies of the files, which its user can read."""
        self.folder.mkdir(exist_ok=True)
        copies = [self.folder / name for name in ("ca.pem", "cert.pem", "key.pem")]
        for source, copy in zip((ca, cert, key), copies):
            shutil.copyfile(source, copy)
            copy.chmod(0o600)
            if os.geteuid() == 0:
                shutil.chown(copy, self._account())
        self.extra = self._tls(*copies)

    def _tls(self, ca, cert, key):
        raise NotImplementedError

    def drop(self, database):
        raise NotImplementedError

    def read_only(self, on):
        """It takes no writes of the user's, also in sessions that are there."""
        raise NotImplementedError

    @contextlib.contextmanager
    def full(self):
        """The user's connections end, and there is none to be had."""
        raise NotImplementedError
        yield  # pylint: disable=unreachable

    def number(self, sql, database):
        """The first column of the first row."""
        return int(self.run(sql, database)[0][0])

    # -- what support/mirror.py needs --

    schema = None  # an expression: the schema that a database's tables are in

    def snapshot(self, database):
        """A connection in a transaction that sees what is there now, in UTC."""
        raise NotImplementedError

    @staticmethod
    def as_ms(column):
        """A time as epoch milliseconds; from_ms: the reverse."""
        raise NotImplementedError

    @staticmethod
    def from_ms(value):
        raise NotImplementedError

    @staticmethod
    def as_hex(column):
        """Bytes as a text; from_hex: the reverse."""
        raise NotImplementedError

    @staticmethod
    def from_hex(text):
        raise NotImplementedError

    @staticmethod
    def escaped(text):
        """For a text between quotes, apart from quotes in it."""
        return text

    @staticmethod
    def ids_behind(link, table):
        """The next id that the server gives is behind those that the table has."""


class MariaDB(Server):
    """By libmariadb as root on the socket."""

    kind, account, as_text = "mariadb", "mysql", " CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"

    def _install(self):
        command = [program("mariadb", "mariadb-install-db"), "--no-defaults", f"--datadir={self.data}",
                   "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve",
                   "--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=8M"]
        if os.geteuid() == 0:
            command.append(f"--user={self._account()}")
        mariadb.install(command, self.data, self._temporary())

    def _temporary(self):
        return mariadb.own_temporary(self.folder, self._account())

    def _arguments(self):
        quick = ["--innodb-flush-log-at-trx-commit=2",  # written at each commit, synced by and by
                  "--skip-innodb-doublewrite", "--innodb-flush-method=nosync",
                 "--innodb-file-per-table=0"]  # a table is no file
        return [program("mariadb", "mariadbd"), "--no-defaults", f"--datadir={self.data}",
                f"--tmpdir={self._temporary()}", f"--socket={self.folder}/s", "--bind-address=127.0.0.1", f"--port={self.port}",
                f"--pid-file={self.folder}/pid", "--innodb-buffer-pool-size=128M", "--innodb-log-file-size=64M",
                "--sql-mode=STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION", "--character-set-server=utf8mb4",
                "--skip-name-resolve", *([] if self.durable else quick)]

    def _tls(self, ca, cert, key):
        return [f"--ssl-ca={ca}", f"--ssl-cert={cert}", f"--ssl-key={key}"]

    def _try(self):
        try:
            self.run("SELECT 1")
            return True
        except mariadb.DatabaseError:
            return False

    def run(self, sql, database=""):
        connection = mariadb.Connection(f"{self.folder}/s", "root", "", database)
        try:
            return connection.run(sql)
        finally:
            connection.close()

    def _make_user(self):
        self.run(f"CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{PASSWORD}'")

    def _grant(self, database):
        self.run(f"GRANT ALL ON {database}.* TO '{USER}'@'%'")

    def drop(self, database):
        self.run(f"DROP DATABASE IF EXISTS {database}")

    def read_only(self, on):
        self.run(f"SET GLOBAL read_only = {int(on)}")

    @contextlib.contextmanager
    def clock_ahead(self, _database, seconds):
        """For sessions that begin meanwhile."""
        self.run(f"SET GLOBAL init_connect = 'SET timestamp = unix_timestamp() + {seconds}'")
        try:
            yield
        finally:
            self.run("SET GLOBAL init_connect = ''")

    @contextlib.contextmanager
    def full(self):
        others = [mariadb.Connection(f"{self.folder}/s", "root", "", "") for _ in range(11)]
        others[0].run("SET GLOBAL max_connections = 10")
        for number, in others[0].run(f"SELECT id FROM information_schema.processlist WHERE user = '{USER}'"):
            with contextlib.suppress(mariadb.DatabaseError):  # it has gone by itself
                others[0].run(f"KILL {number}")
        try:
            yield
        finally:
            others[0].run("SET GLOBAL max_connections = 151")
            for other in others:
                other.close()

    def stop(self, fast=False):
        self._gone(signal.SIGKILL if fast and self.own_folder else signal.SIGTERM)

    schema = "database()"

    def snapshot(self, database):
        link = mariadb.Connection(f"{self.folder}/s", "root", "", database)
        link.run("SET time_zone = '+00:00'")
        link.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        link.run("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        return link

    @staticmethod
    def as_ms(column):
        return f"CAST(UNIX_TIMESTAMP({column}) * 1000 AS SIGNED)"

    @staticmethod
    def from_ms(value):
        return f"FROM_UNIXTIME({value} / 1000)"

    @staticmethod
    def as_hex(column):
        return f"HEX({column})"

    @staticmethod
    def from_hex(text):
        return f"x'{text}'"

    @staticmethod
    def escaped(text):
        return text.replace("\\", "\\\\")


class Postgres(Server):
    """By psql as the user that made it, on the socket."""

    kind, account, as_text = "postgres", "postgres", " TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"

    def _install(self):
        command = self._as_account(program("postgres", "initdb"), "--no-sync", "--username=root", "--auth-local=trust",
                                   "--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C", f"--pgdata={self.data}")
        mariadb.install(command, self.data, self.folder)

    def _arguments(self):
        settings = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": self.folder,
                    "shared_buffers": "64MB", "max_connections": 100}
        if not self.durable:
            settings.update(fsync="off", full_page_writes="off")
        return [program("postgres", "postgres"), "-D", str(self.data),
                *(part for name, value in settings.items() for part in ("-c", f"{name}={value}"))]

    def _tls(self, ca, cert, key):
        return ["-c", "ssl=on", "-c", f"ssl_ca_file={ca}", "-c", f"ssl_cert_file={cert}", "-c", f"ssl_key_file={key}"]

    def _others(self):
        try:
            return [int(pid) for pid in
                    pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            return []

    def _psql(self, sql, database):
        mark = "\x1f"
        return subprocess.run(
            [program("postgres", "psql"), "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-F", mark, "-P", "null=\x1d",
             "-h", str(self.folder), "-p", str(self.port), "-U", "root", "-d", database or "postgres", "-c", sql],
            capture_output=True, text=True, timeout=120 * PATIENCE, cwd="/")

    def _try(self):
        return self._psql("SELECT 1", "").returncode == 0

    def run(self, sql, database=""):
        done = self._psql(sql, database)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return [tuple(None if value == "\x1d" else value for value in line.split("\x1f"))
                for line in done.stdout.split("\n")[:-1]]

    def _make_user(self):
        if not self.run(f"SELECT 1 FROM pg_roles WHERE rolname = '{USER}'"):
            self.run(f"CREATE ROLE {USER} LOGIN PASSWORD '{PASSWORD}'")

    def _grant(self, database):
        self.run(f"ALTER DATABASE {database} OWNER TO {USER}")
        self.run(f"ALTER SCHEMA public OWNER TO {USER}", database)

    def drop(self, database):
        self.run(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

    def read_only(self, on):
        self.run(f"ALTER ROLE {USER} " + ("SET default_transaction_read_only = on" if on
                                          else "RESET default_transaction_read_only"))
        self._end_sessions()  # a session keeps what it began with

    @contextlib.contextmanager
    def clock_ahead(self, database, seconds):
        """For sessions that begin meanwhile."""
        self.run(f"CREATE SCHEMA ahead; GRANT USAGE ON SCHEMA ahead TO {USER}; CREATE FUNCTION ahead.clock_timestamp() RETURNS "
                 f"timestamptz LANGUAGE sql AS $$SELECT pg_catalog.clock_timestamp() + interval '{seconds} s'$$; "
                 f"ALTER ROLE {USER} IN DATABASE {database} SET search_path = public, ahead, pg_catalog", database)
        try:
            yield
        finally:
            self.run(f"ALTER ROLE {USER} IN DATABASE {database} RESET search_path; DROP SCHEMA ahead CASCADE", database)

    def _end_sessions(self):
        self.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{USER}'")

    @contextlib.contextmanager
    def full(self):
        self.run(f"ALTER ROLE {USER} CONNECTION LIMIT 0")
        self._end_sessions()
        try:
            yield
        finally:
            self.run(f"ALTER ROLE {USER} CONNECTION LIMIT -1")

    def stop(self, fast=False):
        self._gone(signal.SIGQUIT if fast else signal.SIGINT)

    schema = "current_schema()"

    def snapshot(self, database):
        link = postgres.Connection(self.folder, self.port, database)
        link.run("SET TIME ZONE 'UTC'; BEGIN ISOLATION LEVEL REPEATABLE READ")
        return link

    @staticmethod
    def as_ms(column):
        return f"(extract(epoch FROM {column}) * 1000)::bigint"

    @staticmethod
    def from_ms(value):
        return f"to_timestamp({value} / 1000.0)"

    @staticmethod
    def as_hex(column):
        return f"encode({column}, 'hex')"

    @staticmethod
    def from_hex(text):
        return f"decode('{text}', 'hex')"

    @staticmethod
    def ids_behind(link, table):
        for column, in link.run(f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}' AND "
                                "is_identity = 'YES'"):
            link.run(f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), "
                     f"greatest((SELECT max({column}) FROM {table}), 1))")


@contextlib.contextmanager
def standby_of(primary, port=None):
    """A hot standby of a Postgres, started: it reads, and takes no writes."""
    with contextlib.ExitStack() as stack:
        standby = Postgres(port=port)
        standby.extra = ["-c", "wal_retrieve_retry_interval=200ms"]
        stack.callback(standby.__exit__)
        if os.geteuid() == 0:
            shutil.chown(standby.folder, standby._account())
        command = [program("postgres", "pg_basebackup"), "-h", str(primary.folder), "-p", str(primary.port), "-U", "root",
                   "-D", str(standby.data), "-R", "-c", "fast"]
        subprocess.run(standby._as_account(*command), check=True, capture_output=True, timeout=300 * PATIENCE, cwd="/")
        standby.start()
        yield standby
