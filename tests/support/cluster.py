# SPDX-License-Identifier: Apache-2.0
"""Servers that share one database: the fixture `db` (a module that imports `database` has it), and nodes on it."""

import pytest

from . import servers
from .center import Center, binary
from .v1 import V1
from .wait import wait_until


@pytest.fixture(scope="module", name="db", params=servers.built(binary()))
def database(request):
    lacks = servers.missing(request.param)
    if lacks:
        pytest.skip(f"{lacks} is not installed: scripts/install-deps.sh database")
    with servers.open(request.param) as server:
        server.count = 0
        yield server


def fresh(db):
    """A database's name, and its URL without the password."""
    db.count += 1
    name = f"test_{db.count}"
    return name, db.create(name).replace(f":{servers.WRITTEN}@", "@")


def node(folder, url, name, cluster=True, settings=()):
    return Center(folder, ["--db", url, "--node.name", name, *(["--node.cluster"] if cluster else []), *settings],
                  env={"PEAL_DB_PASSWORD": servers.PASSWORD})


def states(api):
    return {n["name"]: n["state"] for n in api.get("/nodes")["items"]}


def wait_for(center, **want):
    api = V1(center)
    wait_until(lambda: states(api) == want, f"the nodes to be {want}", 30)


def unaccounted(db, name):
    return db.number("SELECT (SELECT sum(planned - finished - rejected - lost - skipped - withdrawn) FROM peal_epoch) - "
                     "(SELECT count(*) FROM peal_run WHERE phase <= 4)", name)
