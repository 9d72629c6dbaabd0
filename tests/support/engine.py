# SPDX-License-Identifier: Apache-2.0
"""On which engine the centers of a run of tests are: PEAL_TEST_DB.

  not set                  SQLite, the file in the data folder
  mariadb or postgres      a server that is started for this process
  mariadb:PORT:FOLDER      one that runs already, as scripts/test-db.py starts it for several processes

Each data folder has a database of its own there. Cases with the mark every_engine may run on any; the others look at
the file, or bring a database of their own."""

import atexit
import functools
import itertools
import os

from . import mirror, servers

_counter = itertools.count(1)
_names = {}  # data folder: its database, so that a second center on the folder finds the first one's


@functools.lru_cache(maxsize=1)
def server():
    """The server; None for SQLite."""
    kind, _, where = os.environ.get("PEAL_TEST_DB", "").partition(":")
    if not kind:
        return None
    if where:
        port, folder = where.split(":", 1)
        return servers.open(kind, folder=folder, port=int(port))
    it = servers.open(kind)
    it.__enter__()  # pylint: disable=unnecessary-dunder-call
    atexit.register(it.__exit__)
    return it


def arguments(data):
    """What a center with that data folder is started with."""
    if not server():
        return []
    key = str(data.resolve())
    if key not in _names:
        _names[key] = f"t{os.getpid()}_{next(_counter)}"
        server().create(_names[key])
    return ["--db", server().url(_names[key])]


def opened(data, write=False):
    """A connection with SQLite's methods to the tables of a center on the server."""
    return mirror.opened(server(), _names[str(data.resolve())], write)
