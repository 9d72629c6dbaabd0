# SPDX-License-Identifier: Apache-2.0
"""A client of PostgreSQL for tests, by libpq: rows whatever characters their texts have, and a transaction that stays."""
import ctypes
import json


class DatabaseError(Exception):
    pass


def _library():
    it = ctypes.CDLL("libpq.so.5")
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    for name, result, arguments in (
            ("PQconnectdb", pointer, [text]), ("PQstatus", number, [pointer]), ("PQerrorMessage", text, [pointer]),
            ("PQexec", pointer, [pointer, text]), ("PQresultStatus", number, [pointer]),
            ("PQntuples", number, [pointer]), ("PQnfields", number, [pointer]),
            ("PQgetisnull", number, [pointer, number, number]), ("PQgetvalue", text, [pointer, number, number]),
            ("PQclear", None, [pointer]), ("PQfinish", None, [pointer])):
        function = getattr(it, name)
        function.restype, function.argtypes = result, arguments
    return it


class Connection:
    """One connection, one thread. Values are texts or None."""

    _lib = None
    GOOD = (1, 2)  # PGRES_COMMAND_OK, PGRES_TUPLES_OK

    def __init__(self, folder, port, database):
        """folder: of the server's socket."""
        if Connection._lib is None:
            Connection._lib = _library()
        self.db = self._lib.PQconnectdb(f"host={folder} port={port} user=root dbname={database}".encode())
        if self._lib.PQstatus(self.db) != 0:
            text = self._lib.PQerrorMessage(self.db).decode(errors="replace")
            self.close()
            raise DatabaseError(text)

    def run(self, sql):
        """The rows of a statement."""
        result = self._lib.PQexec(self.db, sql.encode())
        try:
            if self._lib.PQresultStatus(result) not in self.GOOD:
                raise DatabaseError(self._lib.PQerrorMessage(self.db).decode(errors="replace") + sql[:300])
            fields = range(self._lib.PQnfields(result))
            return [tuple(None if self._lib.PQgetisnull(result, row, i) else self._lib.PQgetvalue(result, row, i).decode()
                          for i in fields) for row in range(self._lib.PQntuples(result))]
        finally:
            self._lib.PQclear(result)

    def table(self, expressions, name):
        """All rows of a table, by one value: three calls of the library for each field take longer than all else."""
        text = self.run(f"SELECT json_agg(json_build_array({', '.join(expressions)})) FROM {name}")[0][0]
        return [tuple(row) for row in json.loads(text)] if text else []

    def close(self):
        self._lib.PQfinish(self.db)
        self.db = None
