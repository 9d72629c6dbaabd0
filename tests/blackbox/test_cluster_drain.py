# SPDX-License-Identifier: Apache-2.0
"""A server of several that is asked to leave its jobs to the others, by any of them, and that plans when it is the last."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.cluster import (  # noqa: E402, F401 (a fixture; path just set)
    Reporter, database, fresh, jobs_each_second, node, settled, states, wait_for, wait_for_ends, wait_for_no_run_of)
from support.ctl import CONFLICT, NOT_FOUND, Ctl  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import wait_until  # noqa: E402


def of_name(api, name):
    return next(n for n in api.get("/nodes")["items"] if n["name"] == name)


def tell(api, name, what):
    return api.ask("POST", f"/nodes/{of_name(api, name)['id']}/{what}")


def planned(db, database_name, name):
    """How many runs a server has laid down in all its lives."""
    return db.number("SELECT coalesce(sum(planned), 0) FROM peal_epoch WHERE node = "
                     f"(SELECT node FROM peal_node WHERE name = '{name}')", database_name)


def test_a_server_drains_while_another_one_plans(db, tmp_path):
    name, url = fresh(db)
    one, two = node(tmp_path / "a", url, "one"), node(tmp_path / "b", url, "two")
    with one, two, Reporter(one, two) as puppet:
        jobs = jobs_each_second(one, puppet, 6)
        api = V1(one)
        wait_until(lambda: planned(db, name, "two") > 6 and planned(db, name, "one") > 6, "both to plan", 60)

        answer = tell(api, "two", "drain")  # asked at the other one
        assert answer.status == 200 and answer.json["name"] == "two" and answer.json["drainAsked"] is True, answer.json
        for center in (one, two):
            wait_for(center, one="up", two="draining")
        before = planned(db, name, "two")
        wait_for_ends(db, name, 30)
        assert planned(db, name, "two") == before, "one that drains plans nothing"
        assert two.get("/readyz")[0] == 200, "it goes on to answer"
        assert tell(api, "two", "drain").status == 200, "what is so already"

        # the last one that plans
        refused = tell(V1(two), "one", "drain")
        assert refused.status == 409 and "no other server plans" in refused.json["detail"], refused.json
        assert of_name(api, "one")["drainAsked"] is False
        one.kill()
        wait_for(two, one="dead", two="up")  # asked to drain or not: nobody else is there
        wait_for_no_run_of(db, name, "one")
        wait_for_ends(db, name, 30)
        assert of_name(V1(two), "two")["drainAsked"] is True
        assert tell(V1(two), "one", "drain").status == 409, "it does not run"

        # another one is there again
        one.start()
        wait_for(two, one="up", two="draining")
        assert tell(V1(one), "two", "undrain").json["drainAsked"] is False
        wait_for(one, one="up", two="up")
        before = planned(db, name, "two")
        wait_until(lambda: planned(db, name, "two") > before, "it to plan again", 30)
        two.stop()
        wait_for_no_run_of(db, name, "two")
        settled(db, name, puppet, one.api(), jobs)


def test_a_start_ends_the_wish(db, tmp_path):
    _, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two") as two:
        wait_for(one, one="up", two="up")
        assert tell(V1(one), "two", "drain").status == 200
        wait_for(one, one="up", two="draining")
        two.stop()
        wait_for(one, one="up", two="stopped")
        assert of_name(V1(one), "two")["drainAsked"] is False
        two.start()
        wait_for(one, one="up", two="up")
        assert V1(one).ask("POST", "/nodes/999/drain").status == 404


def test_a_server_that_has_the_database_alone_is_told_so(db, tmp_path):
    _, url = fresh(db)
    with node(tmp_path / "a", url, "one", cluster=False) as one:
        api = V1(one)
        answer = tell(api, "one", "drain")
        assert answer.status == 409 and "node.cluster" in answer.json["detail"], answer.json
        assert states(api) == {"one": "up"}


def test_who_may_not_administer_may_not_drain(db, tmp_path):
    _, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two"):
        wait_for(one, one="up", two="up")
        admin = V1(one)
        user = {"name": "viewer", "password": "a long password", "center": "none",
                "grants": [{"role": "operator", "groups": None}]}
        assert admin.ask("POST", "/users", user).status == 201
        viewer = V1(one, "viewer", "a long password")
        number = of_name(admin, "two")["id"]
        assert viewer.ask("POST", f"/nodes/{number}/drain").status == 403
        assert of_name(admin, "two")["drainAsked"] is False


def test_ctl_drains_and_waits_until_nothing_runs_there(db, tmp_path):
    name, url = fresh(db)
    one, two = node(tmp_path / "a", url, "one"), node(tmp_path / "b", url, "two")
    with one, two, Reporter(one, two) as puppet:
        jobs = jobs_each_second(one, puppet, 6)
        ctl = Ctl(tmp_path / "home")
        ctl.login(one.url)
        wait_until(lambda: planned(db, name, "two") > 6, "it to plan", 60)
        done = ctl("node", "drain", "two", "--wait", "--timeout", "3m")
        assert "two leaves its jobs to the others, 0 runs" in done.stdout, done.stdout + done.stderr
        node_id = of_name(V1(one), "two")["id"]
        assert db.number(f"SELECT count(*) FROM peal_run WHERE node = {node_id}", name) == 0
        assert ctl.json("node", "list")[0]["state"] in ("up", "draining")
        assert ctl("node", "drain", "one", status=CONFLICT).stderr.count("no other server plans") == 1
        assert "did you mean two" in ctl("node", "drain", "twoo", status=NOT_FOUND).stderr
        done = ctl("node", "undrain", str(node_id))
        assert "two plans again" in done.stdout, done.stdout
        entries = [(e["action"], e["object"]["name"]) for e in V1(one).get("/audit?limit=50")["items"]]
        assert ("node.drain", "two") in entries and ("node.undrain", "two") in entries, entries
        two.stop()
        wait_for_no_run_of(db, name, "two")
        settled(db, name, puppet, one.api(), jobs)
