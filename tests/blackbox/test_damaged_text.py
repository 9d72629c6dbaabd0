# SPDX-License-Identifier: Apache-2.0
"""Texts as programs damage them (cut in the middle of a character, in another character set, with raw control
characters): the result counts, a refusal is one, a log is shown."""
import http.client
import json

import pytest
from support.center import TOKEN, Center
from support.puppet import YES, Puppet
from support.wait import PATIENCE, wait_until

# what stands between the quotation marks, in the bytes of the request -> what a person reads
DAMAGED = {
    "half an emoji, as an escape": (b"all done \\ud83d", "all done \ufffd"),
    "half an emoji, as bytes": (b"all done \xf0\x9f\x98", "all done \ufffd\ufffd\ufffd"),
    "GBK": ("失败".encode("gbk"), "ʧ\ufffd\ufffd"),
    "Latin-1": (b"caf\xe9", "caf\ufffd"),
    "CESU-8": (b"\xed\xa0\xbd\xed\xb8\x80", "\U0001f600"),
    "control characters": (b"a\tb\nc\x1b[0m", "a\tb\nc\x1b[0m"),
    "NUL": (b"before\\u0000behind", "before\ufffdbehind"),
    "a path with one backslash": (b"C:\\data", "C:\\data"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Center(tmp_path_factory.mktemp("damaged")) as center:
        api = center.api()
        group = api.add_group("damaged")
        with Puppet(center, "damaged", automatic=False) as puppet:
            wait_until(lambda: api.addresses("damaged"), "registration")
            yield center, api, puppet, lambda **more: api.add_job(group, "h", **more)


def callback(center, body):
    connection = http.client.HTTPConnection("127.0.0.1", center.port, timeout=10 * PATIENCE)
    try:
        connection.request("POST", "/api/callback", body, {"XXL-JOB-ACCESS-TOKEN": TOKEN, "Content-Type": "application/json"})
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def started(site, **more):
    """A run of a new job that its executor has, and its row."""
    _, api, puppet, add = site
    job = add(**more)
    api.trigger(job)
    run = wait_until(lambda: next((c.body for c in puppet.calls if c.action == "run" and c.body["jobId"] == job), None),
                     "the run to come")
    return job, run


@pytest.mark.parametrize("kind", DAMAGED)
def test_the_code_of_a_result_counts_whatever_its_text_is(site, kind):
    center, api, _, _ = site
    sent, read = DAMAGED[kind]
    job, run = started(site, executorFailRetryCount=1)
    body = b'[{"logId":%d,"logDateTim":%d,"handleCode":200,"handleMsg":"%s"}]' % (run["logId"], run["logDateTime"], sent)
    assert callback(center, body)["code"] == 200
    row = wait_until(lambda: next((r for r in api.logs(job) if r["handleCode"]), None), "the end of the run")
    assert (row["handleCode"], row["handleMsg"]) == (200, read)
    assert len(api.logs(job)) == 1  # no retry


def test_what_is_no_json_is_kept_by_its_executor(site):
    center, api, _, _ = site
    (good_job, good), (bad_job, bad) = started(site), started(site)
    element = b'{"logId":%d,"logDateTim":%d,"handleCode":200%s}'
    body = b"[" + element % (good["logId"], good["logDateTime"], b"") + b"," + \
        element % (bad["logId"], bad["logDateTime"], b',"handleMsg":nothing') + b"]"
    assert callback(center, body)["code"] == 500
    wait_until(lambda: [r["handleCode"] for r in api.logs(good_job)] == [200], "the result beside it")
    assert [r["handleCode"] for r in api.logs(bad_job)] == [0]
    assert callback(center, b"[" + element % (bad["logId"], bad["logDateTime"], b"") + b"]")["code"] == 200
    wait_until(lambda: [r["handleCode"] for r in api.logs(bad_job)] == [200], "the result that was sent again")


def test_a_refusal_and_a_log_with_damaged_text(site):
    _, api, puppet, add = site
    puppet.answer = lambda action, body: {"code": 500, "msg": "no room \ud83d"} if action == "run" else YES
    job = add()
    api.trigger(job)
    row = wait_until(lambda: next((r for r in api.logs(job) if r["triggerCode"] == 500), None), "the refusal")
    assert "no room \ufffd" in row["triggerMsg"]
    page = {"fromLineNum": 1, "toLineNum": 1, "logContent": "half \ud83d\n", "isEnd": False}
    puppet.answer = lambda action, body: {**YES, "content": page, "data": page} if action == "log" else YES
    _, run = started(site)
    wait_until(lambda: api.log_detail(run["logId"]), "the log")
    assert api.log_detail(run["logId"])["logContent"] == "half \ufffd\n"
