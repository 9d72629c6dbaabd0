# SPDX-License-Identifier: Apache-2.0
"""/api/v1/runs on a real center with a real executor: listed by every filter, read, ended, run again, deleted; and
their logs."""

import itertools

import pytest
from support import ledger, webapi
from support.center import Center
from support.executor import Executor
from support.history import days_ago, fill
from support.v1 import V1, problem
from support.wait import wait_until

pytestmark = pytest.mark.every_engine

GROUPS = {1: "first-app", 2: "second-app"}
NAMES = ["alpha backup", "nightly beta", "gamma report"]
KILLED, LOST = "killed by a user: done", "lost: it is gone"
NOBODY = "cron: no executor is registered for the job's group, and none is listed"
ENDS = {  # outcome: columns
    "succeeded": {"handle_code": 200},
    "failed": {"handle_code": 500, "handle_msg": "order 17 not found\nat line 3"},
    "timed_out": {"handle_code": 502, "handle_msg": "took too long"},
    "killed": {"handle_code": 500, "handle_msg": KILLED},
    "lost": {"handle_code": 500, "handle_msg": LOST},
    "rejected": {"trigger_code": 500, "handle_code": 0, "handle_ms": None, "trigger_msg": "retry: refused"},
    "unroutable": {"trigger_code": 500, "handle_code": 0, "handle_ms": None, "trigger_msg": NOBODY},
}
CAUSES = {"rejected": "PE-1001", "unroutable": "PE-1002", "lost": "PE-2001", "timed_out": "PE-2002",
          "killed": "PE-2003", "failed": "PE-3001"}


def as_past(center, name, permission):
    """A user of XXL-JOB's role 0 who may work on these groups; the center is stopped."""
    with ledger.opened(center, write=True) as db:
        db.execute("INSERT INTO xxl_job_user (username, password, role, permission) VALUES (?, "
                   "'e10adc3949ba59abbe56e057f20f883e', 0, ?)", (name, permission))  # MD5 of 123456


@pytest.fixture(scope="module")
def past(tmp_path_factory):
    """A center with a history: (center, rows by id, newest first). Two groups, three jobs, every outcome."""
    center = Center(tmp_path_factory.mktemp("past"))
    with center:
        api = center.api()
        groups = [api.add_group(app) for app in GROUPS.values()]
        jobs = [api.add_job(groups[n % 2], "h", jobDesc=name) for n, name in enumerate(NAMES)]
        center.stop()
        as_past(center, "bob", str(groups[0]))
        rows = []
        for n, day in enumerate([20, 6, 5, 4, 3, 2, 1, 0.5, 0.1]):
            for k, (outcome, columns) in enumerate(ENDS.items()):
                ms = days_ago(day) + k * 60_000
                rows.append({"ms": ms, "group": groups[n % 2], "job": jobs[n % 3], "outcome": outcome,
                             "param": f"p{n}", "handle_ms": ms + 1000 * n + 7,
                             "address": f"http://10.0.0.{n % 4}:9999/", **columns})
        ids = fill(center, rows)
        center.start()
        yield center, dict(reversed(list(zip(ids, rows)))), groups, jobs


@pytest.fixture(scope="module")
def v1(past):
    return V1(past[0])


def young(row):
    return row["ms"] > days_ago(7)


# -- the list --

def test_without_from_the_last_seven_days_newest_first(past, v1):
    rows = past[1]
    wanted = [n for n, row in rows.items() if young(row)]
    answer = v1.get("/runs?limit=500")
    assert [run["id"] for run in answer["items"]] == wanted
    assert answer["page"] == {"next": None, "total": {"value": len(wanted), "exact": True}}
    everything = v1.get("/runs?limit=500&from=0")
    assert [run["id"] for run in everything["items"]] == list(rows)


def test_a_row_says_what_became_of_it(past, v1):
    _, rows, groups, jobs = past
    for run in v1.get("/runs?limit=500&from=0")["items"]:
        row = rows[run["id"]]
        assert run["outcome"] == run["phase"] == row["outcome"]
        assert run["job"] == {"id": row["job"], "name": NAMES[jobs.index(row["job"])]}
        assert run["group"]["id"] == row["group"] and run["group"]["app"] == GROUPS[groups.index(row["group"]) + 1]
        assert (run["address"], run["handler"], run["param"]) == (row["address"], "h", row["param"])
        assert run["kind"] == ("RETRY" if row["outcome"] == "rejected" else "CRON")
        assert run["scheduledMs"] == row["ms"] and run["scheduledAt"].endswith(".000Z")
        ended = row["handle_code"] != 0
        assert run["endedMs"] == (row["handle_ms"] if ended else None)
        assert run["tookMs"] == (row["handle_ms"] - row["ms"] if ended else None)
        assert run["resultCode"] == (row["handle_code"] or row["trigger_code"])
        if row["outcome"] == "succeeded":
            assert run["cause"] is None and run["message"] is None
        else:
            assert run["cause"]["code"] == CAUSES[row["outcome"]]
        if row["outcome"] == "failed":
            assert run["cause"]["text"] == "order 17 not found" and run["message"] == "order 17 not found\nat line 3"
        if row["outcome"] == "rejected":
            assert run["message"] == "refused"


@pytest.mark.parametrize("limit", [1, 7, 500])
def test_pages_follow_one_another(past, v1, limit):
    rows = past[1]
    assert [run["id"] for run in v1.pages("/runs", limit, **{"from": 0})] == list(rows)


FILTERS = [
    ({"outcome": "failed"}, lambda row, g, j: row["outcome"] == "failed"),
    ({"outcome": "failed,timed_out,lost"}, lambda row, g, j: row["outcome"] in ("failed", "timed_out", "lost")),
    ({"outcome": "succeeded,rejected"}, lambda row, g, j: row["outcome"] in ("succeeded", "rejected")),
    ({"outcome": "open"}, lambda row, g, j: False),
    ({"cause": "PE-2003"}, lambda row, g, j: row["outcome"] == "killed"),
    ({"cause": "PE-2003", "outcome": "failed"}, lambda row, g, j: False),
    ({"kind": "RETRY"}, lambda row, g, j: row["outcome"] == "rejected"),
    ({"kind": "MANUAL,API"}, lambda row, g, j: False),
    ({"address": "http://10.0.0.2:9999/"}, lambda row, g, j: row["address"].endswith("2:9999/")),
    ({"minTookMs": 3000}, lambda row, g, j: row["handle_code"] and row["handle_ms"] - row["ms"] >= 3000),
    ({"group": "second-app"}, lambda row, g, j: row["group"] == g[1]),
    ({"group": "nobody"}, lambda row, g, j: False),
    ({"q": "BETA night"}, lambda row, g, j: row["job"] == j[1]),
    ({"q": "no such job"}, lambda row, g, j: False),
    ({"unknown": "true"}, lambda row, g, j: False),
]


@pytest.mark.parametrize("query,wanted", FILTERS, ids=lambda v: str(v) if isinstance(v, dict) else "")
def test_filters(past, v1, query, wanted):
    _, rows, groups, jobs = past
    expected = [n for n, row in rows.items() if wanted(row, groups, jobs)]
    assert [run["id"] for run in v1.pages("/runs", 4, **{"from": 0}, **query)] == expected
    everywhere = v1.pages("/runs", 4, **{"from": 0}, **query, job=",".join(map(str, jobs))) if "q" not in query else None
    assert everywhere is None or [run["id"] for run in everywhere] == expected


def test_filters_by_job_time_and_id(past, v1):
    _, rows, _, jobs = past
    of_two = [n for n, row in rows.items() if row["job"] in jobs[1:]]
    assert [r["id"] for r in v1.pages("/runs", 5, job=f"{jobs[2]}, {jobs[1]}", **{"from": 0})] == of_two
    some = list(rows.items())[10:20]
    low, high = some[-1][1]["ms"], some[0][1]["ms"]
    inside = [n for n, row in rows.items() if low <= row["ms"] < high]
    assert [r["id"] for r in v1.pages("/runs", 5, **{"from": low, "to": high})] == inside
    assert [r["id"] for r in v1.get(f"/runs?from=0&q={some[0][0]}")["items"]] == [some[0][0]]
    assert v1.get("/runs?from=0&q=99999999")["items"] == []


def test_only_the_members_that_are_asked_for(past, v1):
    answer = v1.ask("GET", "/runs?from=0&limit=2&fields=outcome,endedMs,job", sparse=True)
    assert [sorted(run) for run in answer.json["items"]] == [["endedMs", "id", "job", "outcome"]] * 2


def test_all_bad_parameters_are_named_at_once(v1):
    answer = v1.ask("GET", "/runs?limit=0&outcome=broken&job=x&from=yesterday&cause=PE-9&fields=nothing&late=maybe&"
                           "minTookMs=-1&surprise=1&limit=3")
    fields = {e["field"] for e in problem(answer, 400, "malformed")["errors"]}
    assert fields == {"limit", "outcome", "job", "from", "cause", "fields", "late", "minTookMs", "surprise"}


def test_a_cursor_of_another_list_is_refused(past, v1):
    cursor = v1.get("/runs?from=0&limit=2")["page"]["next"]
    for query in (f"from=0&limit=2&outcome=failed&cursor={cursor}", f"limit=2&cursor={cursor}",
                  "from=0&cursor=AAAA", f"from=0&cursor={cursor[:-1]}"):
        assert problem(v1.ask("GET", f"/runs?{query}"), 400, "malformed")["errors"][0]["field"] == "cursor"
    assert v1.get(f"/runs?from=0&limit=9&cursor={cursor}")["items"]  # the size of a page may change


def test_one_sees_the_runs_of_ones_groups_only(past):
    center, rows, groups, jobs = past
    bob = V1(center, "bob", "123456")
    own = [n for n, row in rows.items() if row["group"] == groups[0]]
    assert [run["id"] for run in bob.pages("/runs", 6, **{"from": 0})] == own
    assert bob.pages("/runs", 6, **{"from": 0}, group=groups[1]) == []
    assert bob.pages("/runs", 6, **{"from": 0}, q="beta") == []
    foreign = next(n for n, row in rows.items() if row["group"] == groups[1])
    problem(bob.ask("GET", f"/runs/{foreign}"), 404, "not_found")
    assert bob.ask("GET", f"/runs/{own[0]}").status == 200


# -- one run --

def test_a_run_with_its_story_and_neighbours(past, v1):
    _, rows, _, jobs = past
    of_job = [n for n, row in rows.items() if row["job"] == jobs[0]]
    at = next(i for i, n in enumerate(of_job) if rows[n]["outcome"] == "timed_out")
    detail = v1.get(f"/runs/{of_job[at]}")
    listed = next(r for r in v1.get("/runs?from=0&limit=500")["items"] if r["id"] == of_job[at])
    assert detail["run"] == listed and detail["exact"] is False
    assert [s["step"] for s in detail["story"]] == ["due", "routed", "accepted", "ended"]
    assert detail["story"][-1]["params"] == {"code": 502} and detail["story"][-1]["ok"] is False
    assert detail["related"]["previous"] == of_job[at + 1]
    good = next(n for n in of_job[at + 1:] if rows[n]["outcome"] == "succeeded")
    assert detail["related"]["lastSuccess"] == good
    dots = [dot["runId"] for dot in detail["neighbours"]]
    assert dots == list(reversed(of_job[at:at + 20]))
    assert detail["log"] == {"available": True, "why": None}
    took = sorted(rows[n]["handle_ms"] - rows[n]["ms"] for n in of_job if rows[n]["outcome"] == "succeeded")
    assert detail["usualMs"] == took[len(took) // 2]


def test_a_run_that_nobody_took(past, v1):
    rows = past[1]
    for outcome in ("rejected", "unroutable"):
        detail = v1.get(f"/runs/{next(n for n, row in rows.items() if row['outcome'] == outcome)}")
        assert detail["story"][-1]["step"] == "refused"
        assert detail["log"] == {"available": False, "why": "rejected"}


def test_a_run_that_is_not_there(v1):
    problem(v1.ask("GET", "/runs/999999999"), 404, "not_found")
    assert v1.ask("GET", "/runs/0").status == 400


# -- real runs at a real executor --

_apps = (f"v1-runs-{n}" for n in itertools.count())


class Site:
    """A group with an executor of ours, and jobs that are run by hand."""

    def __init__(self, center, folder):
        self.center, self.api, self.v1, self.app = center, center.api(), V1(center), next(_apps)
        self.group = self.api.add_group(self.app)
        self.executor = Executor(folder, center.url, app=self.app)

    def job(self, handler, **fields):
        return self.api.add_job(self.group, handler, **fields)

    def run(self, job, **body):
        answer = self.v1.ask("POST", f"/jobs/{job}/trigger", body)
        assert answer.status == 201, answer.json
        return answer.json["runId"]

    def until(self, run, *outcomes):
        def there():
            got = self.v1.get(f"/runs/{run}")["run"]
            return got if got["outcome"] in outcomes or got["phase"] in outcomes else None
        return wait_until(there, f"run {run} to be {outcomes}", 30)


@pytest.fixture
def site(center, tmp_path):
    it = Site(center, tmp_path / "executor")
    with it.executor:
        wait_until(lambda: it.api.addresses(it.app), "the executor in its group")
        yield it


def test_a_run_is_ended(site):
    run = site.run(site.job("sleepJobHandler"), param="60000")
    site.until(run, "accepted")
    open_runs = site.v1.get(f"/runs?outcome=open&group={site.app}")["items"]
    assert [r["id"] for r in open_runs] == [run] and open_runs[0]["kind"] == "MANUAL"
    answer = site.v1.ask("POST", f"/runs/{run}/kill")
    assert answer.status == 200 and answer.json["outcome"] == "killed"
    got = site.until(run, "killed")
    assert got["resultCode"] == 500 and got["cause"]["code"] == "PE-2003"
    again = site.v1.ask("POST", f"/runs/{run}/kill")
    assert (again.status, again.json["outcome"]) == (200, "ended_before")
    assert site.v1.get(f"/runs/{run}")["run"] == got


def test_a_kill_that_the_executor_does_not_answer(site):
    run = site.run(site.job("sleepJobHandler"), param="60000")
    site.until(run, "accepted")
    site.executor.process.kill()
    site.executor.process.wait()
    problem(site.v1.ask("POST", f"/runs/{run}/kill"), 504, "timeout")
    problem(site.v1.ask("GET", f"/runs/{run}/log"), 504, "timeout")


def test_run_again_with_its_own_or_another_parameter(site):
    job = site.job("demoJobHandler", executorParam="the job's own")
    first = site.run(job, param="42 once")
    site.until(first, "succeeded")
    again = site.v1.ask("POST", f"/runs/{first}/rerun", {})
    assert again.status == 201
    second = again.json["runId"]
    assert again.headers["Location"] == f"/api/v1/runs/{second}" and second > first
    got = site.until(second, "succeeded")
    assert (got["param"], got["job"]["id"], got["kind"]) == ("42 once", job, "MANUAL")
    third = site.v1.ask("POST", f"/runs/{first}/rerun", {"param": "other", "addresses": [got["address"]]}).json["runId"]
    assert site.until(third, "succeeded")["param"] == "other"
    detail = site.v1.get(f"/runs/{third}")
    assert detail["related"]["previous"] == detail["related"]["lastSuccess"] == second
    assert [dot["runId"] for dot in detail["neighbours"]] == [first, second, third]


def test_what_a_rerun_refuses(site):
    job = site.job("demoJobHandler")
    run = site.run(job)
    site.until(run, "succeeded")
    bad = problem(site.v1.ask("POST", f"/runs/{run}/rerun", {"param": 1, "addresses": "x", "more": True}), 422,
                  "invalid")
    assert {e["field"] for e in bad["errors"]} == {"/param", "/addresses", "/more"}
    bad = problem(site.v1.ask("POST", f"/runs/{run}/rerun", {"addresses": ["http://10.9.9.9:1/"]}), 422, "invalid")
    assert bad["errors"][0]["field"] == "/addresses"
    problem(site.v1.ask("POST", "/runs/99999999/rerun", {}), 404, "not_found")
    site.v1.ask("POST", f"/runs/{run}/rerun", b"x")
    runs = site.v1.get(f"/runs?job={job}")["items"]
    assert [r["id"] for r in runs] == [run]


def test_many_at_once(site):
    slow, quick = site.job("sleepJobHandler"), site.job("demoJobHandler")
    open_run, ended = site.run(slow, param="60000"), site.run(quick, param="p")
    site.until(open_run, "accepted")
    site.until(ended, "succeeded")
    ids = [open_run, ended, 99999999]
    dry = site.v1.ask("POST", "/runs/batch", {"action": "kill", "ids": ids, "dryRun": True}).json
    assert [i["ok"] for i in dry["items"]] == [True, False, False] and (dry["done"], dry["refused"]) == (1, 2)
    assert site.v1.get(f"/runs/{open_run}")["run"]["outcome"] == "open"
    killed = site.v1.ask("POST", "/runs/batch", {"action": "kill", "ids": ids}).json
    assert [(i["id"], i["ok"], (i["problem"] or {}).get("code")) for i in killed["items"]] == [
        (open_run, True, None), (ended, False, "conflict"), (99999999, False, "not_found")]
    again = site.v1.ask("POST", "/runs/batch", {"action": "rerun", "ids": [ended]}).json
    assert (again["done"], again["refused"], again["dryRun"]) == (1, 0, False)
    assert site.until(again["items"][0]["runId"], "succeeded")["param"] == "p"


def test_a_batch_that_breaks_a_rule_does_nothing(site):
    run = site.run(site.job("sleepJobHandler"), param="60000")
    site.until(run, "accepted")
    for body in ({"action": "kill", "ids": []}, {"action": "kill", "ids": [run, run]}, {"action": "end", "ids": [run]},
                 {"ids": [run]}, {"action": "kill", "ids": [0]}, {"action": "kill", "ids": [run], "x": 1},
                 {"action": "kill", "ids": list(range(1, 1002))}):
        problem(site.v1.ask("POST", "/runs/batch", body), 422, "invalid")
    assert site.v1.get(f"/runs/{run}")["run"]["outcome"] == "open"
    site.v1.ask("POST", f"/runs/{run}/kill")


# -- logs --

def test_lines_of_a_log_page_by_page(site):
    run = site.run(site.job("demoJobHandler"), param="hello")
    site.until(run, "succeeded")

    def complete():  # the executor's last line says that the center has the result
        log = site.v1.get(f"/runs/{run}/log")
        return log if any("callback finish" in line for line in log["lines"]) else None
    whole = wait_until(complete, "the last line", 20)
    assert whole["state"] == "finished" and whole["fromLine"] == 1 and whole["toLine"] == len(whole["lines"]) >= 3
    assert not any("<br>" in line or "\r" in line for line in whole["lines"])
    assert any("\n----------- xxl-job job execute start" in line for line in whole["lines"])
    lines, at, end = [], 1, False
    while not end:
        part = site.v1.get(f"/runs/{run}/log?fromLine={at}&limit=2")
        assert len(part["lines"]) <= 2 and part["toLine"] == at + len(part["lines"]) - 1
        lines += part["lines"]
        at, end = part["toLine"] + 1, part["end"]
    assert lines == whole["lines"]
    status, headers, body = webapi.request(site.center.port, "GET", f"/api/v1/runs/{run}/log/download",
                                           headers=site.v1.headers)
    assert (status, headers.get_content_type()) == (200, "text/plain")
    assert headers["Content-Disposition"] == f'attachment; filename="run-{run}.log"'
    assert [line.replace("<br>", "\n") for line in body.decode().splitlines()] == whole["lines"]


def test_a_log_while_it_grows_and_before_there_is_one(site):
    job = site.job("sleepJobHandler")
    run = site.run(job, param="60000")
    site.until(run, "accepted")
    site.executor.wait_for_log(run, "sleeping")  # its last one
    page = site.v1.get(f"/runs/{run}/log")
    assert (page["state"], page["end"]) == ("running", False) and any("60000" in line for line in page["lines"])
    behind = site.v1.get(f"/runs/{run}/log?fromLine={page['toLine'] + 1}")
    assert behind["lines"] == [] and behind["toLine"] == page["toLine"] and behind["end"] is False
    site.v1.ask("POST", f"/runs/{run}/kill")
    empty = site.api.add_group(next(_apps))
    nobody = site.run(site.api.add_job(empty, "h"))
    site.until(nobody, "unroutable", "rejected")
    page = site.v1.get(f"/runs/{nobody}/log")
    assert (page["lines"], page["state"], page["end"]) == ([], "not_started", True)


def test_colours_can_be_left_out(site):
    job = site.job("", jobDesc="in colours", glueType="GLUE_SHELL", glueSource="printf 'a \\033[31mred\\033[0m b\\n'")
    site.executor.stop()
    site.executor.command += ["--peal.executor.glue", "shell"]
    site.executor.start()
    wait_until(lambda: site.executor.address.rstrip("/") in {a.rstrip("/") for a in site.api.addresses(site.app)},
               "the executor in its group again")
    run = site.run(job)
    if site.until(run, "succeeded", "failed")["outcome"] == "failed":  # no user to run it as
        pytest.skip("scripts are not allowed here")
    for ansi, text in (("true", "\x1b[31mred\x1b[0m"), ("false", "a red b")):
        _, _, body = webapi.request(site.center.port, "GET", f"/api/v1/runs/{run}/log/download?ansi={ansi}",
                                    headers=site.v1.headers)
        assert text in body.decode()


def test_bad_parameters_of_a_log(past, v1):
    run = next(iter(past[1]))
    bad = problem(v1.ask("GET", f"/runs/{run}/log?fromLine=0&limit=10001&x=1"), 400, "malformed")
    assert {e["field"] for e in bad["errors"]} == {"fromLine", "limit", "x"}
    assert v1.ask("GET", f"/runs/{run}/log/download?ansi=1").status == 400
    problem(v1.ask("GET", "/runs/99999999/log"), 404, "not_found")


# -- delete --

@pytest.fixture
def old(tmp_path):
    """A center of two groups whose rows are of two ages: (center, rows by id, groups, jobs)."""
    center = Center(tmp_path, ["--log.retention-days", "0"])
    with center:
        api = center.api()
        groups = [api.add_group(app) for app in GROUPS.values()]
        jobs = [api.add_job(group, "h") for group in groups]
        center.stop()
        as_past(center, "bob", str(groups[0]))
        rows = [{"ms": days_ago(day), "group": groups[n % 2], "job": jobs[n % 2]}
                for day in (200, 5) for n in range(10)]
        ids = fill(center, rows)
        center.start()
        yield center, dict(zip(ids, rows)), groups, jobs


def left(center):
    return [row[0] for row in ledger.rows(center, "SELECT id FROM xxl_job_log ORDER BY id")]


def test_old_runs_are_counted_first_and_then_deleted(old):
    center, rows, groups, jobs = old
    v1 = V1(center)
    clean = lambda **body: v1.ask("POST", "/runs/clean", body)  # noqa: E731
    assert clean(rule="older_3_months").json == {"dryRun": True, "rows": 10, "exact": True}
    assert clean(rule="all", groupId=groups[0], dryRun=True).json["rows"] == 10
    assert clean(rule="keep_1000", jobId=jobs[1]).json["rows"] == 0
    assert left(center) == list(rows)
    answer = clean(rule="older_6_months", groupId=groups[1], dryRun=False)
    assert answer.json == {"dryRun": False, "rows": 5, "exact": True}
    kept = [n for n, row in rows.items() if row["group"] == groups[0] or row["ms"] > days_ago(100)]
    wait_until(lambda: left(center) == kept, "the old runs of one group to go", 20)
    clean(rule="all", jobId=jobs[0], groupId=None, dryRun=False)
    kept = [n for n in kept if rows[n]["job"] != jobs[0]]
    wait_until(lambda: left(center) == kept, "the runs of one job to go", 20)


def test_without_a_group_one_cleans_what_one_may(old):
    center, rows, groups, jobs = old
    bob = V1(center, "bob", "123456")
    for body in ({"groupId": groups[1]}, {"jobId": jobs[1]}, {"jobId": 99999}):
        bad = problem(bob.ask("POST", "/runs/clean", {"rule": "all", "dryRun": False, **body}), 422, "invalid")
        assert [e["field"] for e in bad["errors"]] == ["/" + next(iter(body))]
    assert bob.ask("POST", "/runs/clean", {"rule": "all"}).json["rows"] == 10
    assert bob.ask("POST", "/runs/clean", {"rule": "all", "dryRun": False}).json["dryRun"] is False
    wait_until(lambda: left(center) == [n for n, row in rows.items() if row["group"] == groups[1]],
               "what is bob's to go", 20)


def test_a_clean_that_breaks_a_rule_deletes_nothing(old):
    center, rows = old[:2]
    v1 = V1(center)
    bad = problem(v1.ask("POST", "/runs/clean", {"rule": "older", "groupId": 0, "jobId": "x", "dryRun": 0, "y": 1}),
                  422, "invalid")
    assert {e["field"] for e in bad["errors"]} == {"/rule", "/groupId", "/jobId", "/dryRun", "/y"}
    problem(v1.ask("POST", "/runs/clean", {"dryRun": False}), 422, "invalid")
    assert left(center) == list(rows)
