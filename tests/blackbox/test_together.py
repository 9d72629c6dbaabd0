# SPDX-License-Identifier: Apache-2.0
"""Several people change the same thing at once: each change that was answered with 200 is there."""

import itertools
import threading

import pytest
from support import webapi
from support.wait import wait_until

ROUNDS = 20
_names = (f"together-{n}" for n in itertools.count())


def at_once(*calls):
    """Run the calls on threads of their own, all let go at the same moment; the first failure is raised."""
    gate = threading.Barrier(len(calls))
    failures = []

    def run(call):
        gate.wait()
        try:
            call()
        except Exception as e:  # pylint: disable=broad-exception-caught  # told to the test below
            failures.append(e)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failures:
        raise failures[0]


@pytest.fixture
def group(api):
    return api.add_group(next(_names))


def posts(api, path, **form):
    def call():
        reply = api.raw(path, **form)
        assert reply["code"] == 200, reply
    return call


def job_row(api, group):
    rows = api.pages("/jobinfo/pageList", jobGroup=group, triggerStatus=-1, jobDesc="", executorHandler="",
                     author="")
    assert len(rows) == 1
    return rows[0]


def test_partial_updates_of_a_job_do_not_undo_each_other(api, group):
    job = api.add_job(group, "h")
    for i in range(ROUNDS):
        at_once(posts(api, "/jobinfo/update", id=job, jobDesc=f"description {i}"),
                posts(api, "/jobinfo/update", id=job, author=f"author {i}"),
                posts(api, "/jobinfo/update", id=job, executorTimeout=i + 1))
        row = job_row(api, group)
        assert (row["jobDesc"], row["author"], row["executorTimeout"]) == (
            f"description {i}", f"author {i}", i + 1)


def test_partial_updates_of_a_group_do_not_undo_each_other(api, group):
    def row():
        return next(g for g in api.groups() if g["id"] == group)

    app = row()["appname"]
    for i in range(ROUNDS):
        at_once(posts(api, "/jobgroup/update", id=group, title=f"title {i}"),
                posts(api, "/jobgroup/update", id=group, appname=f"{app}-{i}"))
        assert (row()["title"], row()["appname"]) == (f"title {i}", f"{app}-{i}")


def test_an_edit_of_a_group_does_not_touch_what_registers_meanwhile(center, api, group):
    def row():
        return next(g for g in api.groups() if g["id"] == group)

    app = row()["appname"]
    expected = []
    for i in range(ROUNDS):
        address = f"http://127.0.0.1:{20000 + i}/"
        expected.append(address)

        def register(address=address):
            status, _, _ = webapi.request(
                center.port, "POST", "/api/registry",
                body=f'{{"registryGroup":"EXECUTOR","registryKey":"{app}","registryValue":"{address}"}}',
                headers={"Content-Type": "application/json", "XXL-JOB-ACCESS-TOKEN": center.token})
            assert status == 200

        at_once(register, posts(api, "/jobgroup/update", id=group, title=f"title {i}"))
        assert row()["title"] == f"title {i}"
        wait_until(lambda: sorted((row()["addressList"] or "").split(",")) == sorted(expected),
                   "all that have registered in the list")
