# SPDX-License-Identifier: Apache-2.0
"""A private MariaDB for tests: own folder, own socket, no TCP; and a client of its own, by libmariadb."""
import ctypes
import os
import pathlib
import pwd
import shutil
import subprocess

from support.wait import PATIENCE, wait_until

SQL_MODE = "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"


def missing():
    """What is not installed; None if all is there."""
    return next((name for name in ("mariadbd", "mariadb-install-db") if not program(name)), None)


def program(name):
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def _user():
    """The server does not run as root."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "mysql" if "mysql" in names else "nobody"


def own_temporary(folder, user=None):
    """A folder of its own for a server's temporary tables: one that starts removes those that it finds in /tmp."""
    path = pathlib.Path(folder) / "tmp"
    path.mkdir(parents=True, exist_ok=True)
    if user and os.geteuid() == 0:
        shutil.chown(path, user)
    return path


def install(command, data, temporary):
    """Make a server's folder of data. From "/": where the tests begin may be closed to the server's user. What the
    installer says is shown; it is not what is tested, so one that fails is begun a second time, in an empty folder."""
    for last in (False, True):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              check=False, timeout=300 * PATIENCE, cwd="/", env=dict(os.environ, TMPDIR=str(temporary)))
        if done.returncode == 0:
            return
        said = f"{command[0]}: exit status {done.returncode}\n{done.stdout[-4000:]}"
        assert not last, said
        print(said, flush=True)
        shutil.rmtree(data, ignore_errors=True)


class MariaDB:
    """with MariaDB(folder) as db: db.connect(), db.url(...). The folder must be on a short path (a socket is in it)."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.data = self.folder / "data"
        self.socket = str(self.folder / "s")
        self.process = None

    def __enter__(self):
        user = _user()
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(self.folder, user)
            for parent in self.folder.parents:  # the server's user must get there
                if str(parent) not in ("/", "/tmp"):
                    parent.chmod(parent.stat().st_mode | 0o011)
        temporary = own_temporary(self.folder, user)
        install([program("mariadb-install-db"), "--no-defaults", f"--datadir={self.data}", f"--user={user}",
                 "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"], self.data, temporary)
        self.log = open(self.folder / "log", "w")
        self.process = subprocess.Popen(
            [program("mariadbd"), "--no-defaults", f"--datadir={self.data}", f"--user={user}", f"--socket={self.socket}",
             f"--tmpdir={temporary}", "--skip-networking", f"--pid-file={self.folder}/pid", "--innodb-buffer-pool-size=32M",
             "--innodb-flush-log-at-trx-commit=0", f"--sql-mode={SQL_MODE}", "--default-time-zone=+00:00",
             "--character-set-server=utf8mb4"], stdout=self.log, stderr=self.log, cwd="/")
        try:
            wait_until(self._answers, "MariaDB to answer", timeout=120)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _answers(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()[-3000:]
        try:
            self.connect("").close()
            return True
        except DatabaseError:
            return False

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(60 * PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def connect(self, database, user="root", password=""):
        return Connection(self.socket, user, password, database)

    def url(self, database, user="root", password="", options=""):
        secret = f":{password}" if password else ""
        return f"mysql://{user}{secret}@localhost/{database}?socket={self.socket}{options}"


class DatabaseError(Exception):
    def __init__(self, code, text):
        super().__init__(f"{text} ({code})")
        self.code = code


def _library():
    it = ctypes.CDLL("libmariadb.so.3")
    it.mysql_init.restype = it.mysql_store_result.restype = it.mysql_fetch_lengths.restype = ctypes.c_void_p
    it.mysql_real_connect.restype = ctypes.c_void_p
    it.mysql_error.restype = ctypes.c_char_p
    it.mysql_fetch_row.restype = ctypes.POINTER(ctypes.c_void_p)
    it.mysql_fetch_lengths.restype = ctypes.POINTER(ctypes.c_ulong)
    it.mysql_insert_id.restype = it.mysql_affected_rows.restype = ctypes.c_ulonglong
    for name in ("mysql_real_connect", "mysql_error", "mysql_errno", "mysql_real_query", "mysql_store_result",
                 "mysql_fetch_row", "mysql_fetch_lengths", "mysql_free_result", "mysql_num_fields", "mysql_insert_id",
                 "mysql_affected_rows", "mysql_close", "mysql_options"):
        getattr(it, name).argtypes = {
            "mysql_real_connect": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p,
                                   ctypes.c_uint, ctypes.c_char_p, ctypes.c_ulong],
            "mysql_real_query": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_ulong],
            "mysql_options": [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p],
        }.get(name, [ctypes.c_void_p])
    return it


class Connection:
    """One connection, one thread. Values are texts or None, as the text protocol has them."""

    _lib = None

    def __init__(self, socket, user, password, database):
        if Connection._lib is None:
            Connection._lib = _library()
        self.db = self._lib.mysql_init(None)
        self._lib.mysql_options(self.db, 7, b"utf8mb4")  # MYSQL_SET_CHARSET_NAME
        if not self._lib.mysql_real_connect(self.db, None, user.encode(), password.encode(), database.encode() or None,
                                            0, socket.encode(), 0):
            error = self._error()
            self.close()
            raise error

    def _error(self):
        return DatabaseError(self._lib.mysql_errno(self.db), self._lib.mysql_error(self.db).decode(errors="replace"))

    def run(self, sql, *values):
        """The rows of a statement; %s in it stands for a value, quoted."""
        text = (sql % tuple(_quote(v) for v in values) if values else sql).encode()
        if self._lib.mysql_real_query(self.db, text, len(text)):
            raise self._error()
        result = self._lib.mysql_store_result(self.db)
        if not result:
            return []
        fields, rows = self._lib.mysql_num_fields(result), []
        while row := self._lib.mysql_fetch_row(result):
            lengths = self._lib.mysql_fetch_lengths(result)
            rows.append(tuple(ctypes.string_at(row[i], lengths[i]).decode() if row[i] else None for i in range(fields)))
        self._lib.mysql_free_result(result)
        return rows

    def table(self, expressions, name):
        """All rows of a table."""
        return self.run(f"SELECT {', '.join(expressions)} FROM {name}")

    def insert(self, sql, *values):
        """The id of the new row."""
        self.run(sql, *values)
        return self._lib.mysql_insert_id(self.db)

    def close(self):
        self._lib.mysql_close(self.db)
        self.db = None


def _quote(value):
    if value is None:
        return "NULL"
    if isinstance(value, (int, float)):
        return str(value)
    return "'" + str(value).replace("\\", "\\\\").replace("'", "''") + "'"
