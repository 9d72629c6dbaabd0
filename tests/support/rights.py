# SPDX-License-Identifier: Apache-2.0
"""Users of a database server (support/servers.py) that lack rights, and the statement by which a message mends that."""
import re

from support import servers


def user_of(db, name):
    """A user without rights beyond connecting, its database, and its URL."""
    db.run(f"CREATE DATABASE {name}{db.as_text}")
    if db.kind == "mariadb":
        db.run(f"CREATE USER '{name}'@'127.0.0.%' IDENTIFIED BY '{servers.PASSWORD}'")
    else:
        db.run(f"CREATE ROLE {name} LOGIN PASSWORD '{servers.PASSWORD}'")
    return db.url(name).replace(f"{servers.USER}:", f"{name}:", 1)


def grant_in(said):
    """The statement that mends it."""
    found = re.search(r"mends it with: (GRANT [^\n]*)", said)
    assert found, said
    return found[1].strip()
