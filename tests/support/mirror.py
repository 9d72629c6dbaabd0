# SPDX-License-Identifier: Apache-2.0
"""The tables of a center on a database server as SQLite would have them, so that a test asks the same of every engine.

A mirror is a connection to a database in memory with the tables of SQLite's migrations. A table that a statement names
is copied into it first, from one snapshot of the server, with times as epoch milliseconds. What a test has changed in a
mirror that was opened for writing is written back when it is closed.
"""
import functools
import pathlib
import re
import sqlite3

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "src" / "store" / "sqlite" / "schema"
TABLE = re.compile(r"\b(?:xxl_job|peal)_\w+\b")
TIMES = ("datetime", "timestamp with time zone")
BYTES = ("longblob", "bytea")
NUMBERS = ("bigint", "int", "integer", "smallint", "tinyint", "mediumint", *TIMES)


@functools.lru_cache(maxsize=1)
def _empty():
    """The bytes of a database with all tables and no row."""
    db = sqlite3.connect(":memory:")
    for path in sorted(SCHEMA.glob("sqlite-*.sql")):
        db.executescript(path.read_text())
    for name in tables_of(db):
        db.execute(f"DELETE FROM {name}")
    db.commit()
    return db.serialize()


def tables_of(db):
    return {row[0] for row in sqlite3.Connection.execute(db, "SELECT name FROM sqlite_master WHERE type = 'table' "
                                                         "AND name NOT LIKE 'sqlite%'")}


class Mirror(sqlite3.Connection):
    """made by of()."""

    link = None

    def of(self, server, database, write):
        self.deserialize(_empty())
        self.isolation_level = None
        self.server, self.database, self.write = server, database, write
        self.copied = {}  # table: (columns, its rows as the server has them)
        self.names = tables_of(self)
        return self

    def execute(self, sql, *values):  # pylint: disable=arguments-differ
        self._copy(sql)
        return super().execute(sql, *values)

    def executemany(self, sql, *values):  # pylint: disable=arguments-differ
        self._copy(sql)
        return super().executemany(sql, *values)

    def _copy(self, sql):
        for name in sorted(set(TABLE.findall(sql)) & self.names - set(self.copied)):
            if self.link is None:
                self.link = self.server.snapshot(self.database)
            columns = self._columns(name)
            rows = self._rows_there(name, columns)
            marks = ", ".join("?" * len(columns))
            super().executemany(f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({marks})", rows)
            self.copied[name] = columns, rows

    def _columns(self, name):
        """{column: its type at the server} of those that both have."""
        ours = {row[1] for row in super().execute(f"PRAGMA table_info({name})")}
        return {column: kind for column, kind in self.link.run(
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = "
            f"'{name}' AND table_schema = {self.server.schema} ORDER BY ordinal_position") if column in ours}

    def _rows_there(self, name, columns):
        exprs = [self.server.as_ms(c) if kind in TIMES else self.server.as_hex(c) if kind in BYTES else c
                 for c, kind in columns.items()]
        kinds = list(columns.values())
        return [tuple(_value(text, kind) for text, kind in zip(row, kinds)) for row in self.link.table(exprs, name)]

    def close(self):
        """Write back what has changed, all or nothing."""
        try:
            if self.link and self.write:
                for name, (columns, before) in self.copied.items():
                    self._write_back(name, columns, before)
                self.link.run("COMMIT")
        finally:
            if self.link:
                self.link.close()
                self.link = None
            super().close()

    def _write_back(self, name, columns, before):
        self.row_factory = None
        now = super().execute(f"SELECT {', '.join(columns)} FROM {name}").fetchall()
        old, new = set(before) - set(now), set(now) - set(before)
        for row in old:
            same = " AND ".join(f"{c} = {self._text(value, columns[c])}" for c, value in zip(columns, row)
                                if value is not None and c in self._keys(name))
            self.link.run(f"DELETE FROM {name} WHERE {same}")
        values = ["(" + ", ".join(self._text(value, kind) for value, kind in zip(row, columns.values())) + ")"
                  for row in new]
        for i in range(0, len(values), 500):
            self.link.run(f"INSERT INTO {name} ({', '.join(columns)}) VALUES {', '.join(values[i:i + 500])}")
        if new:
            self.server.ids_behind(self.link, name)

    def _keys(self, name):
        """The columns of the primary key; all have one."""
        return {row[1] for row in super().execute(f"PRAGMA table_info({name})") if row[5]}

    def _text(self, value, kind):
        if value is None:
            return "NULL"
        if kind in TIMES:
            return self.server.from_ms(value)
        if isinstance(value, bytes):
            return self.server.from_hex(value.hex())
        if isinstance(value, str):
            return "'" + self.server.escaped(value).replace("'", "''") + "'"
        return str(value)


def _value(text, kind):
    if text is None:
        return None
    if kind in NUMBERS:
        return int(text)
    if kind in BYTES:
        return bytes.fromhex(text)
    return float(text) if kind.startswith("double") else text


def opened(server, database, write=False):
    return sqlite3.connect(":memory:", factory=Mirror).of(server, database, write)
