# SPDX-License-Identifier: Apache-2.0
"""/api/v1/executors on a real center: real executors, stubs, addresses that refuse and that say nothing."""

import base64
import itertools
import socket
import threading

import pytest
from support import ledger
from support.center import Center, free_port
from support.executor import Executor
from support.stub_executor import Stub
from support.v1 import V1, problem
from support.wait import PATIENCE, wait_until
from test_users import admin, make, token

_names = (f"v1-executors-{n}" for n in itertools.count())


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


def key(address):
    return base64.urlsafe_b64encode(address.encode()).rstrip(b"=").decode()


def one(v1, address):
    """The executor, or None."""
    answer = v1.ask("GET", f"/executors/{key(address)}")
    if answer.status == 404:
        return None
    assert answer.status == 200 and answer.json["key"] == key(address), answer.json
    return answer.json


def in_groups(v1, address, *groups):
    """Wait until the groups have it."""
    def look():
        found = one(v1, address)
        return found if found and [g["id"] for g in found["groups"]] == sorted(groups) else None
    return wait_until(look, f"{address} in {groups}")


def listed(center, *addresses):
    """A new group with a list by hand; its id."""
    answer = V1(center).ask("POST", "/groups", {"app": next(_names), "title": "by hand", "addressing": "manual",
                                                "addresses": list(addresses)})
    assert answer.status == 201, answer.json
    return answer.json["id"]


# -- what one says --

def test_a_real_executor(v1, center, tmp_path):
    app = next(_names)
    group = center.api().add_group(app)
    with Executor(tmp_path, center.url, app=app) as executor:
        found = in_groups(v1, executor.address, group)
        assert found["groups"] == [{"id": group, "app": app, "title": found["groups"][0]["title"]}]
        assert (found["address"], found["state"], found["source"]) == (executor.address, "up", "registry")
        assert found["ours"] is True and found["beatAgeMs"] >= 0 and found["sinceMs"] > 0
        assert found["lane"]["waiting"] == found["lane"]["inFlight"] == found["open"] == found["unknown"] == 0
        assert 0 < found["lane"]["connections"] <= found["lane"]["connectionsMax"]
        assert found["lastError"] is None and found["lastErrorMs"] is None
        assert found["answerP95Ms"] is None
        job = center.api().add_job(group, "demoJobHandler")
        v1.ask("POST", f"/jobs/{job}/trigger", {})
        measured = wait_until(lambda: one(v1, executor.address)["answerP95Ms"], "an answer to be measured")
        assert 0 < measured < 60_000
    wait_until(lambda: one(v1, executor.address) is None, "it to unregister")


def test_what_an_executor_works_on(v1, center):
    app = next(_names)
    group = center.api().add_group(app)
    gate = threading.Event()
    with Stub(center, app) as stub:
        in_groups(v1, stub.address, group)
        assert one(v1, stub.address)["ours"] is False
        job = center.api().add_job(group, "h")
        v1.ask("POST", f"/jobs/{job}/trigger", {})
        first = stub.wait_runs(1, job)[0]["logId"]
        wait_until(lambda: one(v1, stub.address)["open"] == 1, "the run to be accepted")
        stub.answers["run"] = lambda body: gate.wait(30 * PATIENCE) and {"code": 200}
        v1.ask("POST", f"/jobs/{job}/trigger", {})
        wait_until(lambda: one(v1, stub.address)["lane"]["inFlight"] == 1, "a call without an answer")
        gate.set()
        wait_until(lambda: one(v1, stub.address)["open"] == 2, "both runs")
        stub.register("registryRemove")
        leaving = wait_until(lambda: (found := one(v1, stub.address)) and found["state"] == "draining" and found,
                             "it to drain")
        assert (leaving["open"], [g["id"] for g in leaving["groups"]]) == (2, [group])
        assert leaving["source"] == "registry" and leaving["beatAgeMs"] is None
        assert v1.ask("DELETE", f"/executors/{key(stub.address)}").status == 204  # it has gone already
        for run in (first, stub.runs(job)[1]["logId"]):
            stub.call_back(run)
        wait_until(lambda: one(v1, stub.address) is None, "it to have drained")


def test_one_that_refuses(v1, center):
    address = f"http://127.0.0.1:{free_port()}/"
    group = listed(center, address)
    found = in_groups(v1, address, group)
    assert (found["state"], found["source"], found["ours"]) == ("up", "manual", False)
    assert found["sinceMs"] is None and found["beatAgeMs"] is None
    v1.ask("POST", f"/jobs/{center.api().add_job(group, 'h')}/trigger", {})
    found = wait_until(lambda: (it := one(v1, address))["state"] == "refusing" and it, "the connection to be refused")
    assert found["lastError"] and found["lastErrorMs"] >= found["sinceMs"] > 0
    assert [it["address"] for it in v1.pages("/executors", 1, state="refusing", group=group)] == [address]
    assert v1.pages("/executors", 5, state="up", group=group) == []


def test_runs_whose_outcome_is_unknown(v1, center):
    app = next(_names)
    group = center.api().add_group(app)
    with socket.create_server(("127.0.0.1", 0)) as mute:  # takes connections, and never says anything
        address = f"http://127.0.0.1:{mute.getsockname()[1]}/"
        reply = center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": address})
        assert reply["code"] == 200
        in_groups(v1, address, group)
        job = center.api().add_job(group, "h")
        v1.ask("POST", f"/jobs/{job}/trigger", {})
        found = wait_until(lambda: (it := one(v1, address))["unknown"] == 1 and it, "an unknown outcome", 30)
        assert found["lastError"] and found["open"] == 0
        probe = v1.ask("POST", f"/executors/{key(address)}/probe").json
        assert probe["reachable"] is False and probe["said"]


def test_an_address_registered_and_listed(v1, center):
    app = next(_names)
    group = center.api().add_group(app)
    with Stub(center, app) as stub:
        by_hand = listed(center, stub.address)
        found = in_groups(v1, stub.address, group, by_hand)
        assert found["source"] == "both"
        assert v1.ask("DELETE", f"/executors/{key(stub.address)}").status == 204
        assert in_groups(v1, stub.address, by_hand)["source"] == "manual"
        refused = problem(v1.ask("DELETE", f"/executors/{key(stub.address)}"), 409, "conflict")
        assert "list by hand" in refused["detail"]
        assert one(v1, stub.address)["source"] == "manual"


# -- what can be done --

def test_it_is_forgotten_until_it_registers_again(v1, center):
    app = next(_names)
    group = center.api().add_group(app)
    with Stub(center, app) as stub:
        in_groups(v1, stub.address, group)
        assert v1.ask("DELETE", f"/executors/{key(stub.address)}").status == 204
        assert one(v1, stub.address) is None
        wait_until(lambda: v1.get(f"/groups/{group}")["total"] == 0, "the group to lose it")

        def rows():
            with ledger.opened(center) as db:
                return db.execute("SELECT COUNT(*) FROM xxl_job_registry WHERE registry_value = ?",
                                  (stub.address,)).fetchone()[0]
        wait_until(lambda: rows() == 0, "its row to go")
        noted = {"kind": "executor", "id": key(stub.address), "name": stub.address}
        wait_until(lambda: noted in [entry["object"] for entry in v1.get("/audit?action=executor.remove")["items"]],
                   "its entry in the audit log")
        problem(v1.ask("DELETE", f"/executors/{key(stub.address)}"), 404, "not_found")
        stub.register()
        in_groups(v1, stub.address, group)


def test_a_probe_says_what_came_of_it(v1, center):
    app = next(_names)
    group = center.api().add_group(app)
    with Stub(center, app) as stub:
        in_groups(v1, stub.address, group)
        path = f"/executors/{key(stub.address)}/probe"
        said = v1.ask("POST", path).json
        assert (said["reachable"], said["said"], said["busyJobs"]) == (True, "code 200", []) and said["tookMs"] > 0
        jobs = [center.api().add_job(group, "h") for _ in range(2)]
        for job in (jobs[0], *jobs):
            assert v1.ask("POST", f"/jobs/{job}/trigger", {}).status == 201
        stub.wait_runs(3)
        wait_until(lambda: sorted(v1.ask("POST", path).json["busyJobs"]) == jobs, "both jobs to be busy there")
        stub.answers["beat"] = {"code": 500, "msg": "not now"}
        assert v1.ask("POST", path).json["said"] == "code 500: not now"


def test_a_probe_finds_one_that_is_back(v1, center):
    port = free_port()
    address = f"http://127.0.0.1:{port}/"
    in_groups(v1, address, listed(center, address))
    assert v1.ask("POST", f"/executors/{key(address)}/probe").json["reachable"] is False
    assert one(v1, address)["state"] == "refusing"  # the scheduler goes by what it heard
    with socket.create_server(("127.0.0.1", port)) as server:
        def answer():
            while True:
                try:
                    peer = server.accept()[0]
                except OSError:
                    return
                with peer:
                    peer.recv(4096)
                    peer.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{"code":200}')
        threading.Thread(target=answer, daemon=True).start()
        assert v1.ask("POST", f"/executors/{key(address)}/probe").json["reachable"] is True
        found = one(v1, address)
        assert found["state"] == "up" and found["lastError"]


# -- lists --

def test_pages_filters_and_members(tmp_path):
    with Center(tmp_path) as center:
        v1 = V1(center)
        api = center.api()
        first, second = api.add_group("first-app"), api.add_group("second-app")
        addresses = {f"http://127.0.0.1:{port}/": first if port % 2 else second for port in range(9001, 9010)}
        for address, group in addresses.items():
            reply = center.open_api("registry", {"registryGroup": "EXECUTOR", "registryValue": address,
                                                 "registryKey": "first-app" if group == first else "second-app"})
            assert reply["code"] == 200
        center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": "of-no-group",
                                     "registryValue": "http://127.0.0.1:9900/"})
        everything = sorted(addresses) + ["http://127.0.0.1:9900/"]
        wait_until(lambda: all(one(v1, a)["groups"] for a in addresses), "all to be in their groups")
        for limit in (1, 4, 500):
            assert [it["address"] for it in v1.pages("/executors", limit)] == everything
        page = v1.get("/executors?limit=2")["page"]
        assert page["total"] == {"value": 10, "exact": True} and page["next"]
        mine = sorted(a for a, group in addresses.items() if group == first)
        assert [it["address"] for it in v1.pages("/executors", 2, group="first-app")] == mine
        assert [it["address"] for it in v1.pages("/executors", 2, group=f"{first}, nobody")] == mine
        assert v1.pages("/executors", 2, group="nobody") == []
        sparse = v1.ask("GET", "/executors?fields=state,lane&limit=1", sparse=True).json["items"]
        assert [sorted(it) for it in sparse] == [["key", "lane", "state"]]
        problem(v1.ask("GET", "/executors?state=asleep"), 400, "malformed", ("state", "enum"))
        problem(v1.ask("GET", "/executors?sate=up"), 400, "malformed", ("sate", "unknown"))
        cursor = v1.get("/executors?limit=1")["page"]["next"]
        problem(v1.ask("GET", f"/executors?limit=1&state=up&cursor={cursor}"), 400, "malformed", ("cursor", "cursor"))
        for bad in (key("http://nobody:1/"), "____", "a", key("x\0y"), "A" * 400):
            for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/probe")):
                problem(v1.ask(method, f"/executors/{bad}{path}"), 404, "not_found")


def test_who_may_see_and_do_what(v1, center):
    apps = [next(_names), next(_names)]
    groups = [center.api().add_group(app) for app in apps]
    it = admin(center)
    with Stub(center, apps[0]) as mine, Stub(center, apps[1]) as other:
        in_groups(v1, mine.address, groups[0])
        other.app = apps[0]  # it serves both apps
        other.register()
        in_groups(v1, other.address, *groups)
        center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": "of-no-group",
                                     "registryValue": "http://127.0.0.1:9901/"})

        def asker(permissions, group):
            secret = token(center, it, permissions=permissions, groups=[group])["secret"]
            return V1(center, token=secret)
        reader = asker(["read"], groups[1])
        assert [e["address"] for e in reader.pages("/executors", 1)] == [other.address]
        assert [g["id"] for g in one(reader, other.address)["groups"]] == [groups[1]]  # of the other it hears nothing
        assert reader.get(f"/executors?group={groups[0]}")["items"] == []
        assert one(reader, mine.address) is None and one(reader, "http://127.0.0.1:9901/") is None
        problem(reader.ask("POST", f"/executors/{key(other.address)}/probe"), 403, "forbidden")
        problem(reader.ask("DELETE", f"/executors/{key(other.address)}"), 403, "forbidden")
        runner = asker(["read", "run"], groups[1])
        assert runner.ask("POST", f"/executors/{key(other.address)}/probe").json["reachable"] is True
        problem(runner.ask("POST", f"/executors/{key(mine.address)}/probe"), 404, "not_found")
        make(center, "e-operator", grants=[{"role": "viewer", "groups": [groups[0]]},
                                           {"role": "operator", "groups": [groups[1]]}])
        both = V1(center, "e-operator", "e-operator")
        assert both.ask("POST", f"/executors/{key(other.address)}/probe").status == 200
        problem(both.ask("POST", f"/executors/{key(mine.address)}/probe"), 403, "forbidden")
        assert one(v1, other.address) and one(v1, mine.address)
