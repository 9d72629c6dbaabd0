# SPDX-License-Identifier: Apache-2.0
"""Values that a column of the database does not take: what programs send is cut or replaced there, what people send is
refused, and the other jobs go on firing."""
import pytest

from support import servers
from support.center import Center, binary
from support.cluster import database, fresh  # noqa: F401 (a fixture)
from support.puppet import YES, Puppet
from support.v1 import V1
from support.wait import wait_until

TEXT = 65535  # bytes of MySQL's type text
SECOND = {"scheduleType": "CRON", "scheduleConf": "* * * * * ?"}
LONG = {
    "a byte more than the column": "x" * (TEXT + 1),
    "22,000 Chinese characters": "中" * 22000,
    "an emoji at the end of the column": "x" * (TEXT - 1) + "😀" * 10,
}


class Site:
    def __init__(self, db, url, name, center, puppet):
        self.db, self.url, self.name, self.center, self.puppet = db, url, name, center, puppet
        self.api, self.v1 = center.api(), V1(center)
        self.group = self.api.add_group("widths", addresses=[puppet.address])
        self.other = self.api.add_job(self.group, "goes on", **SECOND)
        self.api.start_job(self.other)

    def goes_on(self):
        """The other job still fires, and its results are taken."""
        def ended():
            return [r["id"] for r in self.api.logs(self.other) if r["handleCode"] == 200]
        seen = max(ended(), default=0)
        wait_until(lambda: max(ended(), default=0) > seen, "the other job to fire on", 30)
        assert self.center.get("/readyz")[0] == 200

    def run(self, **more):
        job = self.api.add_job(self.group, "h", **more)
        self.api.trigger(job)
        return job

    def row(self, job):
        return next((r for r in self.api.logs(job) if r["handleCode"] or r["triggerCode"] == 500), None)


def opened(db, tmp_path, prepare=None):
    name, url = fresh(db)
    env = {"PEAL_DB_PASSWORD": servers.PASSWORD}
    center = Center(tmp_path / "center", ["--db", url], env=env)
    if prepare:
        with center:
            pass
        prepare(name)
        center = Center(tmp_path / "center", ["--db", url], env=env)
    return name, url, center


@pytest.fixture
def site(db, tmp_path):
    name, url, center = opened(db, tmp_path)
    with center, Puppet(center, "widths", register=False) as puppet:
        yield Site(db, url, name, center, puppet)


@pytest.mark.parametrize("kind", LONG)
def test_a_long_result_is_cut_and_counts(site, kind):
    site.puppet.result = lambda body: {"handleCode": 200, "handleMsg": LONG[kind] if body["jobId"] != site.other else "ok"}
    job = site.run()
    row = wait_until(lambda: site.row(job), "the end of the run")
    assert row["handleCode"] == 200
    cut = LONG[kind].encode()[:TEXT].decode(errors="ignore") if site.db.kind == "mariadb" else LONG[kind]
    assert row["handleMsg"] == cut
    site.goes_on()


def test_a_long_parameter_is_refused_by_name(site):
    job = site.api.add_job(site.group, "h")
    for length, status in ((TEXT, 200), (TEXT + 1, 422)):
        answer = site.v1.ask("PATCH", f"/jobs/{job}", {"task": {"param": "x" * length}}, If_Match="*")
        assert answer.status == status, answer.json
        made = site.v1.ask("POST", f"/jobs/{job}/trigger", {"param": "x" * length})
        assert made.status == (422 if status == 422 else 201), made.json
    wait_until(lambda: site.row(job), "the end of the run")
    site.goes_on()


def test_a_group_of_more_executors_than_the_column_takes(site):
    """Two thousand and a half: XXL-JOB's copy has whole addresses, and the last that came is called all the same."""
    app = "crowd"
    group = site.api.add_group(app)
    for n in range(2500):
        reply = site.center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": app,
                                                  "registryValue": f"http://10.{n // 250}.{n % 250}.1:9999/with-a-path/"})
        assert reply["code"] == 200, reply
    wait_until(lambda: site.db.run(f"SELECT address_list FROM xxl_job_group WHERE id = {group} AND length(address_list) > 60000",
                                   site.name), "the copy of the list", 60)
    text = site.db.run(f"SELECT address_list FROM xxl_job_group WHERE id = {group}", site.name)[0][0]
    assert all(a.startswith("http://10.") and a.endswith("/with-a-path/") for a in text.split(","))
    assert site.db.kind != "mariadb" or len(text) <= TEXT
    site.goes_on()


@pytest.mark.parametrize("charset", ["utf8mb3", "latin1"])
def test_a_character_that_the_tables_lack_is_replaced(db, tmp_path, charset):
    if db.kind != "mariadb":
        return
    name, url, center = opened(db, tmp_path, lambda name: [
        db.run(f"ALTER TABLE {table} CONVERT TO CHARACTER SET {charset}", name)
        for table in ("xxl_job_log", "xxl_job_info", "xxl_job_group")])
    with center, Puppet(center, "widths", register=False) as puppet:
        site = Site(db, url, name, center, puppet)
        puppet.result = lambda body: {"handleCode": 200, "handleMsg": "failed 👇😀" if body["jobId"] != site.other else "ok"}
        job = site.run()
        row = wait_until(lambda: site.row(job), "the end of the run")
        assert row["handleCode"] == 200 and row["handleMsg"].startswith("failed ?")
        puppet.answer = lambda action, body: {"code": 500, "msg": "no 😀"} if action == "run" and body["jobId"] != site.other else YES
        job = site.run()
        row = wait_until(lambda: site.row(job), "the refusal")
        assert "no ?" in row["triggerMsg"]
        made = site.v1.ask("POST", f"/jobs/{job}/trigger", {"param": "with 😀"})
        assert made.status == 422, made.json
        assert site.v1.ask("POST", f"/jobs/{job}/trigger", {"param": "without"}).status == 201
        assert center.metric("peal_values_refused_total") == 1
        assert "a run of job" in center.tail() and "is left out" in center.tail()
        answer = site.v1.ask("PATCH", f"/jobs/{job}", {"name": "named 😀"}, If_Match="*")
        assert answer.status in (409, 422), answer.json
        site.goes_on()


POISON = "poison"
TRAPS = {  # a column that does not take the text POISON: by a shorter type, or by a rule of the table
    "mariadb": "ALTER TABLE {table} MODIFY {column} VARCHAR({short})",
    "postgres": "ALTER TABLE {table} ADD CHECK (length({column}) <= {short})",
}


def trapped(site, table, column, short):
    site.db.run(TRAPS[site.db.kind].format(table=table, column=column, short=short), site.name)


def test_each_write_that_the_database_refuses_for_a_value_is_left_out_alone(site):
    """Others that are in the same transaction, or come after it, are written."""
    job = site.api.add_job(site.group, "h")
    trapped(site, "xxl_job_registry", "registry_key", 20)
    trapped(site, "xxl_job_log", "executor_param", 20)
    site.goes_on()
    for app in "a-name-that-is-too-long-for-it", "short":
        site.center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": app,
                                          "registryValue": "http://10.0.0.9:9999/"})
    kept = "SELECT registry_key FROM xxl_job_registry WHERE registry_value = 'http://10.0.0.9:9999/'"
    wait_until(lambda: site.db.run(kept, site.name) == [("short",)], "the other registration to be kept")
    refused = site.v1.ask("POST", f"/jobs/{job}/trigger", {"param": POISON * 10})
    assert refused.status == 422 and "does not take this text" in str(refused.json), refused.json
    for _ in range(2):  # nothing is kept of it: with its key it is refused in the same words
        again = site.v1.ask("POST", f"/jobs/{job}/trigger", {"param": POISON * 10}, Idempotency_Key="a-key-of-ours")
        assert again.status == 422 and "does not take this text" in str(again.json), again.json
    assert site.v1.ask("POST", f"/jobs/{job}/trigger", {"param": POISON}).status == 201
    wait_until(lambda: site.row(job), "the end of the run")
    assert site.center.metric("peal_values_refused_total") == 4
    log = site.center.tail()
    assert "the registration of http://10.0.0.9:9999/ for a-name-that-is-too-long-for-it is left out" in log, log
    assert f"a run of job {job} is left out" in log, log
    site.goes_on()


def test_a_result_counts_where_the_database_refuses_its_text(site):
    trapped(site, "xxl_job_log", "handle_msg", 100)
    site.puppet.result = lambda body: {"handleCode": 200, "handleMsg": "x" * 101 if body["jobId"] != site.other else "ok"}
    job = site.run()
    row = wait_until(lambda: site.row(job), "the end of the run")
    cut = "x" * 100 if site.db.kind == "mariadb" else "(this text is left out: the database does not take it)"
    assert (row["handleCode"], row["handleMsg"]) == (200, cut)
    site.goes_on()
