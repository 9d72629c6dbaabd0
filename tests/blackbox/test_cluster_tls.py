# SPDX-License-Identifier: Apache-2.0
"""Three servers on one database whose ports speak TLS: what they say to each other, and one with a wrong certificate."""

import contextlib
import http.server
import pathlib
import signal
import subprocess
import sys
import threading
import types

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import servers  # noqa: E402
from support.center import PASSWORD  # noqa: E402
from support.cluster import database, fresh, states  # noqa: E402, F401 (a fixture)
from support.mailserver import certificates  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.tls_center import TlsCenter  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import wait_until  # noqa: E402

NAMES = "one", "two", "three"


class Relay:
    """Takes plain requests, and makes them to a server that speaks TLS: for clients of these tests that speak none."""

    def __init__(self, center):
        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                status, headers, reply = center.ask(self.command, self.path, body or None, dict(self.headers))
                self.send_response_only(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply)

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Cluster:
    def __init__(self, db, folder, stack):
        self.db, (self.name, url) = db, fresh(db)
        (folder / "ca").mkdir()
        self.files = certificates(folder / "ca")
        self.centers, self.users = {}, {}
        for name in NAMES:
            ca, cert, key = self.files
            center = TlsCenter(folder / name, ["--db", url, "--node.name", name, "--node.cluster", "--executor.ca", str(ca)],
                               env={"PEAL_DB_PASSWORD": servers.PASSWORD})
            for own, common in ((center.cert, cert), (center.key, key)):
                own.write_bytes(common.read_bytes())
            center.ca = ca
            self.centers[name] = stack.enter_context(center)
            relay = Relay(center)
            self.users[name] = V1(types.SimpleNamespace(port=relay.port, password=PASSWORD))
        for user in self.users.values():
            wait_until(lambda u=user: states(u) == dict.fromkeys(NAMES, "up"), "all to be up", 60)


@pytest.fixture(name="cluster", scope="module")
def three(db, tmp_path_factory):
    with contextlib.ExitStack() as stack:
        yield Cluster(db, tmp_path_factory.mktemp("tls"), stack)


def not_known(user):
    return user.get("/executors")["notKnown"], user.get("/dashboard")["notKnown"]


def test_servers_speak_tls_to_each_other(cluster):
    one, two, three = (cluster.centers[name] for name in NAMES)
    users = cluster.users
    assert all(n["address"].startswith("https://") for n in users["one"].get("/nodes")["items"])
    with Puppet(one, "tests", register=False, automatic=False) as puppet:
        looks = two.metric("peal_node_looks_asked_total")
        group = users["one"].ask("POST", "/groups", {"app": "tests", "title": "tests", "addressing": "manual",
                                                     "addresses": [puppet.address]}).json["id"]
        wait_until(lambda: two.metric("peal_node_looks_asked_total") > looks, "the others to be told", 30)
        made = users["one"].ask("POST", "/jobs", {"name": "job", "groupId": group, "schedule": {"type": "NONE"},
                                                  "task": {"kind": "BEAN", "handler": "job"}})
        assert made.status == 201, made.json
        job = made.json["id"]
        runs = []
        for n in range(2):
            runs.append(users["one"].ask("POST", f"/jobs/{job}/trigger", {}).json["runId"])
            puppet.wait_for_runs(n + 1, job)
        for name, user in users.items():  # the owner's story and lanes at each
            story = wait_until(lambda u=user: (lambda it: it if it["story"][-1:] and it["story"][-1]["step"] == "accepted" else None)(
                u.get(f"/runs/{runs[0]}")), f"the story at {name}", 30)
            assert (story["exact"], story["notKnown"]) == (True, [])
            wait_until(lambda u=user: not_known(u) == ([], []), "nothing to be unknown", 30)
            assert next(e for e in user.get("/executors")["items"] if e["address"] == puppet.address)["open"] > 0
        forwarded = two.metric("peal_node_results_forwarded_total")
        puppet.center = two
        puppet.report(puppet.runs(job)[0])
        assert two.metric("peal_node_results_forwarded_total") == forwarded + 1, "straight to its owner"
        assert users["three"].get(f"/runs/{runs[0]}")["run"]["outcome"] == "succeeded"
        killed = users["three"].ask("POST", f"/runs/{runs[1]}/kill")
        assert killed.status == 200, killed.json
        wait_until(lambda: users["two"].get(f"/runs/{runs[1]}")["run"]["outcome"] == "killed", "it to be killed", 30)
        for center in one, two, three:
            assert center.metric("peal_node_calls_failed_total") == 0 and center.metric("peal_node_calls_refused_total") == 0


def serial(center):
    """Of the certificate that a new connection sees."""
    with contextlib.closing(center.connect()) as line:
        return line.sock.getpeercert()["serialNumber"]


def renewed(files):
    """A new certificate of the same CA, for the same key."""
    ca = files[0]
    subprocess.run(["openssl", "x509", "-req", "-in", str(ca.parent / "request.pem"), "-CA", str(ca), "-CAkey",
                    str(ca.parent / "ca.key"), "-CAcreateserial", "-days", "2", "-extfile", str(ca.parent / "extra"),
                    "-out", str(ca.parent / "renewed.pem")], check=True, capture_output=True)
    return (ca.parent / "renewed.pem").read_bytes()


def test_certificates_are_exchanged_while_servers_work(cluster):
    """By SIGHUP at each; then one is started again, so that it and the others make new connections."""
    one, two, three = (cluster.centers[name] for name in NAMES)
    user = cluster.users["one"]
    with Puppet(two, "exchange", register=False) as puppet:  # its results are told to the second server
        group = user.ask("POST", "/groups", {"app": "exchange", "title": "tests", "addressing": "manual",
                                             "addresses": [puppet.address]}).json["id"]
        made = user.ask("POST", "/jobs", {"name": "job", "groupId": group, "schedule": {"type": "NONE"},
                                          "task": {"kind": "BEAN", "handler": "job"}})
        assert made.status == 201, made.json
        job, runs = made.json["id"], []

        def fire(owner, count=10):
            for _ in range(count):
                runs.append(cluster.users[owner].ask("POST", f"/jobs/{job}/trigger", {}).json["runId"])
        fire("one")
        old, new = {name: serial(cluster.centers[name]) for name in NAMES}, renewed(cluster.files)
        for name in NAMES:
            center = cluster.centers[name]
            center.cert.write_bytes(new)
            center.process.send_signal(signal.SIGHUP)
            fire("one")
            wait_until(lambda c=center, n=name: serial(c) != old[n], "new connections to get the new certificate", 30)
        three.stop()
        three.start()
        for at in NAMES:
            wait_until(lambda u=cluster.users[at]: not_known(u) == ([], []), "all to reach each other", 60)
        forwarded = two.metric("peal_node_results_forwarded_total")
        fire("one")
        fire("three")
        for run in runs:
            wait_until(lambda r=run: user.get(f"/runs/{r}")["run"]["outcome"] == "succeeded", f"run {run} to end", 60)
        assert two.metric("peal_node_results_forwarded_total") > forwarded
        sent = [run["logId"] for run in puppet.runs(job)]
        assert sorted(sent) == sorted(runs), "each once"


def test_a_server_with_a_wrong_certificate_is_not_believed(cluster, tmp_path):
    one, two, three = (cluster.centers[name] for name in NAMES)
    users = cluster.users
    stranger = certificates(tmp_path)
    for own, other in ((three.cert, stranger[1]), (three.key, stranger[2])):
        own.write_bytes(other.read_bytes())
    three.stop()
    three.ca = stranger[0]  # what this test's clients trust of it
    three.start()
    said = ["server three does not answer"]

    def told(name):
        known, text = not_known(users[name]), cluster.centers[name].output.read_text()
        return known == (said, said) and "does not answer at https://" in text and "certificate" in text
    for name in "one", "two":
        wait_until(lambda n=name: told(n), "it to be refused, and said", 60)
        assert cluster.centers[name].metric("peal_node_calls_failed_total") > 0
    assert states(users["one"]) == dict.fromkeys(NAMES, "up"), "it goes on by the database"
