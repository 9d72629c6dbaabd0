# SPDX-License-Identifier: Apache-2.0
"""Servers that share one database: the fixture `db` (a module that imports `database` has it), and nodes on it."""

import collections
import contextlib
import datetime
import http.client
import itertools

import pytest

from . import servers
from .center import Center, binary
from .puppet import Puppet
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


def node(folder, url, name, cluster=True, settings=(), env=None):
    return Center(folder, ["--db", url, "--node.name", name, *(["--node.cluster"] if cluster else []), *settings],
                  env={"PEAL_DB_PASSWORD": servers.PASSWORD, **(env or {})})


def states(api):
    return {n["name"]: n["state"] for n in api.get("/nodes")["items"]}


def wait_for(center, **want):
    api = V1(center)
    wait_until(lambda: states(api) == want, f"the nodes to be {want}", 30)


def unaccounted(db, name):
    return db.number("SELECT (SELECT sum(planned - finished - rejected - lost - skipped - withdrawn) FROM peal_epoch) - "
                     "(SELECT count(*) FROM peal_run WHERE phase <= 4)", name)


class Reporter(Puppet):
    """An executor whose results go to each server that runs: the owner of a run is among them."""

    def __init__(self, *centers):
        super().__init__(centers[0], "tests", register=False)
        self.centers = centers

    def report(self, run, **result):
        self.ended.add(run["logId"])
        item = {"logId": run["logId"], "logDateTim": run["logDateTime"], **(result or self.result(run))}
        for center in self.centers:
            with contextlib.suppress(OSError, http.client.HTTPException):
                center.open_api("callback", [item])


def jobs_each_second(center, puppet, count):
    """Jobs of a group whose address is given by hand: every server knows it that starts later."""
    api = center.api()
    group = api.add_group("tests", addresses=[puppet.address])
    jobs = [api.add_job(group, f"job {i}", scheduleType="CRON", scheduleConf="* * * * * ?", misfireStrategy="FIRE_ALL")
            for i in range(count)]
    for job in jobs:
        api.start_job(job)
    return jobs


def check_runs(db, name, puppet, jobs):
    """Each scheduled time that the log has went out once; none is missing between the first and the last."""
    sent = collections.Counter(run["logId"] for run in puppet.runs())
    assert [log for log, times in sent.items() if times > 1] == []
    for job in jobs:
        rows = db.run(f"SELECT id, trigger_time, handle_code FROM xxl_job_log WHERE job_id = {job} ORDER BY trigger_time",
                      name)
        times = [datetime.datetime.fromisoformat(row[1]) for row in rows]
        assert [b - a for a, b in itertools.pairwise(times)] == [datetime.timedelta(seconds=1)] * (len(times) - 1), rows
        assert not [row for row in rows if row[2] == "200" and int(row[0]) not in sent], "ended without having been sent"


def wait_for_ends(db, name, more):
    query = "SELECT count(*) FROM xxl_job_log WHERE handle_code = 200"
    want = db.number(query, name) + more
    wait_until(lambda: db.number(query, name) >= want, f"{more} further runs to end", 60)


def wait_for_no_run_of(db, name, node_name):
    wait_until(lambda: db.number("SELECT count(*) FROM peal_run r JOIN peal_epoch e ON e.epoch = r.epoch WHERE e.ended = 1",
                                 name) == 0, f"the runs of {node_name} to be taken over", 30)


def settled(db, name, puppet, api, jobs):
    """Stopped jobs, and nothing under way."""
    for job in jobs:
        api.stop_job(job)
    wait_until(lambda: db.number("SELECT count(*) FROM peal_run", name) == 0, "every run to end", 60)
    check_runs(db, name, puppet, jobs)
    assert unaccounted(db, name) == 0
