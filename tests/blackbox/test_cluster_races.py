# SPDX-License-Identifier: Apache-2.0
"""Two servers on one database, and two edits of one record at the same moment, one at each: made on the same version,
one of them is refused; and a stop is not undone by an edit of something else."""

import pathlib
import sys
import threading

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support.cluster import database, fresh, node, wait_for  # noqa: E402, F401 (a fixture)
from support.v1 import V1  # noqa: E402

ROUNDS = 100


class Pair:
    """Somebody at each of two servers; both ask at the same moment."""

    def __init__(self, one, two):
        self.at = [V1(one), V1(two)]
        self.one = one
        api = one.api()
        self.group = api.add_group("raced")
        self.job = api.add_job(self.group, "h", scheduleType="CRON", scheduleConf="0 0 3 1 1 ?")

    def at_once(self, asks):
        """asks: (method, path, body, headers) for each server; the answers."""
        barrier, answers = threading.Barrier(2), [None, None]

        def ask(i):
            method, path, body, headers = asks[i]
            barrier.wait()
            answers[i] = self.at[i].ask(method, path, body, **headers)
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    def make(self, path, body):
        made = self.at[0].ask("POST", path, body)
        assert made.status == 201, made.json
        return f"{path}/{made.json['id']}"

    def record(self, kind):
        """(path, the member that both set, its value by a number)."""
        if kind == "job":
            return f"/jobs/{self.job}", "name", lambda n: f"name {n}"
        if kind == "group":
            return f"/groups/{self.group}", "title", lambda n: f"title {n}"
        if kind == "user":
            path = self.make("/users", {"name": "raced-user", "password": "of the raced"})
            return path, "grants", lambda n: [{"role": ("viewer", "operator")[n % 2], "groups": [n + 1]}]
        if kind == "channel":
            path = self.make("/alarm-channels", {"name": "raced", "kind": "webhook",
                                                 "settings": {"url": "http://127.0.0.1:9/"}})
            return path, "name", lambda n: f"raced {n}"
        path = self.make("/alarm-rules", {"name": "raced", "when": {"kind": "run_failed"}, "tell": {"channels": []}})
        return path, "name", lambda n: f"raced {n}"


@pytest.fixture
def pair(db, tmp_path):
    _, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two") as two:
        wait_for(one, one="up", two="up")
        wait_for(two, one="up", two="up")
        yield Pair(one, two)


def test_an_edit_of_any_version_is_not_overtaken(pair):
    """If-Match: * names none: both are made, one on top of the other."""
    path, member, value = pair.record("job")
    for n in range(30):
        answers = pair.at_once([("PATCH", path, {member: value(2 * n + i)}, {"If_Match": "*"}) for i in range(2)])
        assert [a.status for a in answers] == [200, 200], (n, [a.json for a in answers])


def raced(pair, kind):
    path, member, value = pair.record(kind)
    for n in range(ROUNDS):
        tag = pair.at[0].ask("GET", path).headers["ETag"]
        answers = pair.at_once([("PATCH", path, {member: value(2 * n + i)}, {"If_Match": tag}) for i in range(2)])
        assert sorted(a.status for a in answers) == [200, 412], (kind, n, [a.json for a in answers])
        winner = next(i for i in range(2) if answers[i].status == 200)
        assert pair.at[1 - winner].ask("GET", path).json[member] == value(2 * n + winner), (kind, n)


@pytest.mark.parametrize("kind", ["job", "group", "user", "channel"])
def test_of_two_edits_made_on_one_version_one_is_refused(pair, kind):
    raced(pair, kind)


def test_a_stop_is_not_undone_by_an_edit_of_something_else(pair):
    path = f"/jobs/{pair.job}"
    for n in range(ROUNDS):
        assert pair.at[n % 2].ask("POST", path + "/start").status == 200
        stop, edit = pair.at_once([("POST", path + "/stop", {}, {}),
                                   ("PATCH", path, {"name": f"name {n}"}, {"If_Match": "*"})])
        assert stop.status == 200, stop.json
        job = pair.at[1].ask("GET", path).json
        assert job["state"] != "scheduled", (n, edit.status)
        assert edit.status != 200 or job["name"] == f"name {n}"


def test_the_last_two_administrators_do_not_demote_each_other(pair):
    names = ("left-admin", "right-admin")
    users = [pair.make("/users", {"name": name, "password": name, "center": "admin"}) for name in names]
    for n in range(20):
        for i in range(2):
            pair.at[i] = V1(pair.at[i].center, name=names[i], password=names[i])
        answers = pair.at_once([("PATCH", users[1 - i], {"center": "none"}, {"If_Match": "*"}) for i in range(2)])
        admins = [u["name"] for u in V1(pair.one).ask("GET", "/users").json["items"] if u["center"] == "admin"]
        assert admins, (n, [a.status for a in answers])
        for user in users:
            V1(pair.one).ask("PATCH", user, {"center": "admin"}, If_Match="*")
