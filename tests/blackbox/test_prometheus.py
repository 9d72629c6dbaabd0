# SPDX-License-Identifier: Apache-2.0
"""Alert rules and dashboards (packaging/prometheus, packaging/grafana): promtool accepts the rules and plays their unit
tests; every query names only metrics and labels that a real server has; a real Prometheus that scrapes one answers."""

import json
import pathlib
import re
import shutil
import subprocess
import urllib.parse
import urllib.request

import pytest
import yaml
from support import servers
from support.center import ROOT, Center, binary, free_port
from support.cluster import fresh, node
from support.installed import Installed, command
from support.puppet import Puppet
from support.wait import PATIENCE, wait_until

RULES = ROOT / "packaging" / "prometheus" / "alerts.yml"
BOARDS = sorted((ROOT / "packaging" / "grafana").glob("*.json"))
UNIT_TESTS = pathlib.Path(__file__).parent / "prometheus" / "alerts_test.yml"
# of every target; and how the label job of a job's own metrics arrives
FROM_PROMETHEUS = {"job", "instance", "exported_job"}

needs_prometheus = pytest.mark.skipif(not (shutil.which("promtool") and shutil.which("prometheus")),
                                      reason="the Debian package prometheus is not installed")


def rules():
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def walk(node):
    """Every object within a JSON document."""
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        yield from walk(child)


def queries():
    """[(where, PromQL)] of all rules and panels, with the values that Grafana would put in."""
    found = [(f"alert {rule['alert']}", rule["expr"]) for rule in rules()]
    for path in BOARDS:
        board = json.loads(path.read_text())
        for panel in walk(board["panels"]):
            for target in panel.get("targets", []):
                found.append((f"{path.name}: {panel['title']}", target["expr"]))
        for variable in board["templating"]["list"]:
            label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable.get("definition", ""))
            if label:
                found.append((f"{path.name}: ${variable['name']}", f"group by ({label[2]}) ({label[1]})"))
    return [(where, q.replace("$__rate_interval", "1m").replace("$instance", ".*").replace("$app", ".*"))
            for where, q in found]


def parts(query):
    """(metrics, [(metric, label, operator, value)], other labels that it names) of a query."""
    bare = re.sub(r'"[^"]*"', '""', query)
    others = {name.strip() for names in re.findall(r"\b(?:by|on|group_left)\s*\(([^)]*)\)", bare)
              for name in names.split(",") if name.strip()}
    selectors = re.findall(r"\b(peal_\w+)(?:\{([^}]*)\})?", query)
    matchers = [(name, *m) for name, inner in selectors for m in re.findall(r'(\w+)\s*(=~|!=|!~|=)\s*"([^"]*)"', inner)]
    return [name for name, _ in selectors], matchers, others


@pytest.fixture(name="scraped", scope="module")
def scraped_center(tmp_path_factory):
    """A center of which every metric has a sample: a run has ended, alarms and backups are set up."""
    folder = tmp_path_factory.mktemp("scraped")
    (folder / "backups").mkdir()
    center = Center(folder / "center", ["--backup.folder", str(folder / "backups"), "--webhook.url", "http://127.0.0.1:1/",
                                        "--webhook.private"])
    with center, Puppet(center, "observed"):
        api = center.api()
        api.trigger(api.add_job(api.add_group("observed"), "one to look at"))
        wait_until(lambda: center.metric("peal_job_last_run_result") == 1, "the run's end in the job's metrics", 30)
        yield center


@needs_prometheus
def test_promtool_takes_the_rules(tmp_path):
    command("promtool", "check", "rules", RULES)
    # it has no such command for the queries of dashboards: they are checked as rules
    made = tmp_path / "queries.yml"
    made.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": [
        {"record": f"query:{i}", "expr": q} for i, (_, q) in enumerate(queries())]}]}))
    command("promtool", "check", "rules", made)


@needs_prometheus
def test_each_alert_fires_on_what_it_is_for(tmp_path):
    for path in (RULES, UNIT_TESTS):
        shutil.copy(path, tmp_path)
    command("promtool", "test", "rules", tmp_path / UNIT_TESTS.name)
    fires, quiet = set(), set()
    for test in yaml.safe_load(UNIT_TESTS.read_text())["tests"]:
        for case in test["alert_rule_test"]:
            (fires if case["exp_alerts"] else quiet).add(case["alertname"])
    names = {rule["alert"] for rule in rules()}
    assert fires == names and quiet == names


@pytest.fixture(name="shared", scope="module")
def shared_center(tmp_path_factory):
    """A server that shares its database, and has counted its jobs."""
    built = [name for name in servers.built(binary()) if not servers.missing(name)]
    if not built:
        pytest.skip("no database server is installed: scripts/install-deps.sh database")
    with servers.open(built[0]) as db:
        db.count = 0
        with node(tmp_path_factory.mktemp("shared"), fresh(db)[1], "one") as center:
            api = center.api()
            api.start_job(api.add_job(api.add_group("shared"), "counted", scheduleType="CRON", scheduleConf="0 0 0 1 1 ? 2099"))
            names = ("peal_node_homed_jobs", "peal_node_skew_seconds")
            wait_until(lambda: {name for name, _, _ in center.metrics()} >= set(names), "its jobs to be counted", 60)
            yield center


def test_every_query_names_only_what_a_server_has(scraped, shared):
    samples = {}
    for name, labels, _ in [*scraped.metrics(), *shared.metrics()]:
        have = samples.setdefault(name, {})
        for label, value in labels.items():
            have.setdefault(label, set()).add(value)
    checked = 0
    for where, query in queries():
        metrics, matchers, others = parts(query)
        assert metrics, (where, query)
        missing = [name for name in metrics if name not in samples]
        assert not missing, (where, missing)
        labels = FROM_PROMETHEUS.union(*(samples[name] for name in metrics))
        assert others <= labels, (where, others - labels)
        for name, label, operator, value in matchers:
            assert label in FROM_PROMETHEUS or label in samples[name], (where, name, label)
            wanted = set() if value == ".*" else set(value.split("|")) if "~" in operator else {value}
            assert label in FROM_PROMETHEUS or wanted <= samples[name][label], (where, name, label, wanted)
            checked += 1
    assert checked > 30 and len(queries()) > 40
    for rule in rules():
        metrics, _, _ = parts(rule["expr"])
        named = set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"])))
        assert named <= FROM_PROMETHEUS.union(*(samples[name] for name in metrics)), rule["alert"]


def test_dashboards_are_whole():
    seen = set()
    for path in BOARDS:
        board = json.loads(path.read_text())
        assert board["uid"] not in seen and board["title"].startswith("Peal: ")
        seen.add(board["uid"])
        panels = board["panels"]
        assert len({p["id"] for p in panels}) == len(panels)
        variables = {v["name"] for v in board["templating"]["list"]}
        assert set(re.findall(r"\$\{?([a-z]\w*)", path.read_text())) <= variables
        cells = set()
        for panel in panels:
            at = panel["gridPos"]
            mine = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
            assert at["x"] + at["w"] <= 24 and not mine & cells, panel["title"]
            cells |= mine
            assert panel["type"] == "row" or panel["description"], panel["title"]
    assert seen == {"peal-overview", "peal-jobs"}


def test_they_are_installed(tmp_path):
    share = Installed(tmp_path, "/usr").prefix / "share" / "peal"
    assert sorted(str(p.relative_to(share)) for p in share.rglob("*") if p.is_file()) == [
        "grafana/jobs.json", "grafana/overview.json", "prometheus/alerts.yml"]


@needs_prometheus
def test_a_prometheus_that_scrapes_a_server_answers_each_query(tmp_path, scraped):
    shutil.copy(RULES, tmp_path)
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump({
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": ["alerts.yml"],
        "scrape_configs": [{"job_name": "peal", "static_configs": [{"targets": [f"127.0.0.1:{scraped.port}"]}]}]}))
    port = free_port()

    def ask(path, **query):
        url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=20 * PATIENCE) as answer:
            return json.load(answer)["data"]

    def value(query):
        try:
            return [float(r["value"][1]) for r in ask("query", query=query)["result"]]
        except OSError:  # it does not listen yet
            return None

    with open(tmp_path / "prometheus.log", "wb") as out:
        process = subprocess.Popen(
            ["prometheus", f"--config.file={tmp_path / 'prometheus.yml'}", f"--storage.tsdb.path={tmp_path / 'data'}",
             f"--web.listen-address=127.0.0.1:{port}"], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        wait_until(lambda: value("count_over_time(peal_build_info[1m]) >= 3"), "three scrapes", 60)
        for where, query in queries():
            assert ask("query", query=query)["resultType"] == "vector", where
        boards = dict(queries())
        assert value(boards["overview.json: Centers"]) == [1]
        assert value(boards["overview.json: Unaccounted"]) == [0]
        assert len(value(boards["jobs.json: Duration of the last run"])) == 1, "metrics of jobs are joined with their names"
        alerts = {r["name"]: r for g in ask("rules")["groups"] for r in g["rules"]}
        assert set(alerts) == {rule["alert"] for rule in rules()}
        assert not [name for name, r in alerts.items() if r["health"] == "err"], alerts
    finally:
        process.terminate()
        process.wait(30 * PATIENCE)
