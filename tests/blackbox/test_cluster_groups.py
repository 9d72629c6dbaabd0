# SPDX-License-Identifier: Apache-2.0
"""Several servers on one database: groups, executors and access tokens that one is told of hold at the others."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support.center import TOKEN  # noqa: E402
from support.cluster import database, fresh, node  # noqa: E402, F401 (a fixture)
from support.puppet import Puppet  # noqa: E402
from support.stub_executor import Stub  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import wait_until  # noqa: E402

WRONG = (500, "The access token is wrong.")


@pytest.fixture
def pair(db, tmp_path):
    """Two servers that know each other."""
    name, url = fresh(db)
    with node(tmp_path / "one", url, "one") as one, node(tmp_path / "two", url, "two") as two:
        one.database = two.database = name
        yield one, two


def known(center, group):
    """What a server has in memory of a group: address -> state."""
    answer = V1(center).get("/executors?limit=100")
    return {item["address"]: item["state"] for item in answer["items"] if int(group) in [g["id"] for g in item["groups"]]}


def wait_known(center, group, *addresses):
    """Sooner than by the look that comes every 10 s in any case."""
    wait_until(lambda: set(known(center, group)) == set(addresses), f"the addresses {addresses} of {group}", 5)


def fired(api, puppet, job):
    """A run that this server sends; its log row then."""
    before = len(puppet.runs())
    api.trigger(job)
    return puppet.wait_for_runs(before + 1)[-1]


def test_a_group_that_one_makes_is_used_by_the_other(pair):
    one, two = pair
    here, there = one.api(), two.api()
    with Puppet(two, "given", register=False) as puppet, Puppet(two, "other", register=False) as other:
        group = here.add_group("given", addresses=[puppet.address])
        job = here.add_job(group, "theirs")
        wait_known(two, group, puppet.address)
        fired(there, puppet, job)
        # another list, and then the registry's
        here.call("/jobgroup/update", id=group, appname="given", title="changed", addressType=1, addressList=other.address)
        wait_known(two, group, other.address)
        fired(there, other, job)
        here.call("/jobgroup/update", id=group, appname="given", title="changed", addressType=0)
        wait_known(two, group)
        puppet.register()
        wait_known(one, group, puppet.address)
        fired(there, puppet, job)
        empty = here.add_group("empty", addresses=[puppet.address])
        wait_known(two, empty, puppet.address)
        here.call("/jobgroup/remove", id=empty)
        wait_until(lambda: known(two, empty) == {}, "the group to be forgotten")


def test_an_executor_that_registers_at_one_is_used_by_the_other_until_it_leaves(pair, db):
    one, two = pair
    here, there = one.api(), two.api()
    group = here.add_group("team")
    job = here.add_job(group, "theirs")
    with Puppet(one, "team") as puppet, Puppet(two, "team") as second:
        wait_known(two, group, puppet.address, second.address)
        wait_known(one, group, puppet.address, second.address)
        second.deregister()
        wait_known(one, group, puppet.address)
        puppet.center = two  # who gets its results
        fired(there, puppet, job)
        # what says that it leaves at one server is gone at both, wherever it registered
        puppet.deregister()
        wait_known(one, group)
        wait_known(two, group)
        assert db.number("SELECT count(*) FROM xxl_job_registry", one.database) == 0
        puppet.register()
        wait_known(one, group, puppet.address)


def registry(app, address):
    return {"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": address}


def says(center, token, app="billing", address="http://127.0.0.1:1/"):
    reply = center.open_api("registry", registry(app, address), token=token)
    return reply["code"], reply["msg"]


def change(v1, group, what="", body=None):
    path = f"/groups/{group}/token"
    answer = v1.ask("POST", path + what, body, If_Match=v1.ask("GET", path).etag)
    assert answer.status in (200, 201), answer.json
    return answer.json


def test_a_token_that_is_changed_at_one_counts_at_the_other(pair):
    one, two = pair
    here, v1 = one.api(), V1(one)
    group = here.add_group("billing")
    job = here.add_job(group, "theirs")
    wait_until(lambda: says(two, TOKEN)[0] == 200, "the server's token to serve")
    with Stub(one, "billing") as stub:
        wait_known(two, group, stub.address, "http://127.0.0.1:1/")
        change(v1, group, body={"token": "new-token-of-billing"})
        wait_until(lambda: says(two, "new-token-of-billing")[0] == 200, "the new token to serve at the other")
        assert says(two, TOKEN)[0] == 200, "the old one serves until the change ends"
        stub.expects = stub.token = "new-token-of-billing"
        stub.register()  # at one
        wait_until(lambda: says(two, "new-token-of-billing", address="http://127.0.0.1:1/")[0] == 200, "the other address")
        change(v1, group, "/finish")
        wait_until(lambda: says(two, TOKEN) == WRONG, "the old token to be refused at the other")
        assert says(two, "new-token-of-billing")[0] == 200
        wait_until(lambda: stub.address in known(two, group), "the executor to be known")
        refused = len(stub.refused)
        two.api().trigger(job, addresses=stub.address)
        stub.wait_runs(1)
        assert len(stub.refused) == refused
