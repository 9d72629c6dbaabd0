# SPDX-License-Identifier: Apache-2.0
"""Several servers on one database: what they say to each other directly, and who else may say it."""

import contextlib
import http.server
import json
import pathlib
import socket
import sys
import threading
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support import peers, webapi  # noqa: E402 (path just set)
from support.cluster import database, fresh, jobs_each_second, node, settled, unaccounted, wait_for  # noqa: E402, F401 (a fixture)
from support.puppet import Puppet  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402


def test_only_calls_of_nodes_to_this_life_are_taken(db, tmp_path):
    _, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one:
        life = peers.epoch(one)
        assert peers.call(one, "look") == b""
        assert one.metric("peal_node_looks_asked_total") == 1
        right = peers.seal("look", to=life)
        wrong = [
            peers.post(one, "look"),  # without a seal
            peers.post(one, "look", value="x"),
            peers.post(one, "look", value=peers.seal("look", to=life, token="another")),
            peers.post(one, "look", value=peers.seal("look", to=life, token="")),
            peers.post(one, "look", value=peers.seal("look", to=life + 1)),  # for another life
            peers.post(one, "other", value=right),  # the seal of another call
            peers.post(one, "look", b"x", value=right),  # another body
            peers.post(one, "results", b"[]", value=peers.seal("results", b"[ ]", to=life)),
            peers.post(one, "look", value=right[:-1] + ("0" if right[-1] != "0" else "1")),
            peers.post(one, "look", value=right, method="GET"),
        ]
        assert wrong == [(403, b"")] * len(wrong), wrong
        assert one.metric("peal_node_looks_asked_total") == 1
        assert one.metric("peal_node_calls_refused_total") == len(wrong)
        assert peers.post(one, "look", value=right)[0] == 200


def test_what_a_server_does_not_know_is_refused_under_seal(db, tmp_path):
    """One of a later release asks: it hears that the other one lives, and does not know that question."""
    _, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one:
        life = peers.epoch(one)
        large = b"x" * 100_000
        for path, body, status in ("other", b"", 404), ("look", b"x", 413), ("other", large, 404), ("look", large, 413):
            value = peers.seal(path, body, to=life)
            assert peers.post(one, path, body, value) == (status, peers.refusal(value, status))
        assert peers.post(one, "other", b"x", peers.seal("other", b"y", to=life)) == (403, b"")
        assert one.metric("peal_node_calls_refused_total") == 1
        assert one.metric("peal_node_looks_asked_total") == 0


def test_a_server_that_begins_does_not_say_that_it_plans_no_job(db, tmp_path):
    """Others may have yet to move jobs to it."""
    with node(tmp_path / "a", fresh(db)[1], "one") as one:
        wait_for(one, one="up")
        its, = V1(one).get("/nodes")["items"]
        assert its["jobs"] is None
        assert not [name for name, _, _ in one.metrics() if name in ("peal_node_jobs", "peal_node_homed_jobs")]


def test_a_server_that_shares_nothing_or_has_no_token_takes_no_call(db, tmp_path):
    _, url = fresh(db)
    with node(tmp_path / "a", url, "one", cluster=False) as one:
        assert peers.call(one, "look") is None
    with node(tmp_path / "b", fresh(db)[1], "two", settings=["--insecure-no-token", "--token", ""]) as two:
        assert peers.post(two, "look", value=peers.seal("look", to=peers.epoch(two), token="")) == (403, b"")


def open_run(db, name, center, puppet):
    """A run that its executor has accepted."""
    job = center.api().add_job(center.api().add_group("tests", addresses=[puppet.address]), "long")
    center.api().trigger(job)
    run = puppet.wait_for_runs(1)[0]
    wait_until(lambda: db.number("SELECT count(*) FROM peal_run WHERE phase = 4", name) == 1, "it to be accepted", 30)
    return run


def result_of(run, **more):
    return {"logId": run["logId"], "logDateTim": run["logDateTime"], "handleCode": 200, "handleMsg": "done", **more}


def body_of(*results):
    return json.dumps(results).encode()


def log_row(db, name, run):
    return db.run(f"SELECT handle_code, handle_msg FROM xxl_job_log WHERE id = {run['logId']}", name)


def test_a_result_that_a_server_brings_is_kept_when_that_is_answered(db, tmp_path):
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, Puppet(one, "tests", register=False, automatic=False) as puppet:
        run = open_run(db, name, one, puppet)
        strange = {**result_of(run), "logId": 12345678}
        for garbled in b"", b"x", b"[{", b'{"logId":1}', body_of(result_of(run))[:-9], b"[" * 10_000:
            assert peers.call(one, "results", garbled) is None, garbled
        assert peers.call(one, "results", b"[" + b" " * (5 << 20) + b"]") is None  # too large
        body = body_of(strange, result_of(run), {"logId": "none"}, strange)
        assert log_row(db, name, run)[0][0] == "0"
        value = peers.seal("results", body, to=peers.epoch(one))
        status, said = peers.post(one, "results", body, value)
        assert status == 200 and said.partition(b"\n")[2] == b"0 2 3"  # the places of what is not of a run here
        assert log_row(db, name, run) == [("200", "done")]
        # the same again, and another word about it: nothing changes
        status, said = peers.post(one, "results", body, value)
        assert status == 200 and said.partition(b"\n")[2] in (b"0 2 3", b"0 1 2 3")
        peers.call(one, "results", body_of(result_of(run, handleCode=500, handleMsg="not at all")))
        assert log_row(db, name, run) == [("200", "done")]
        assert unaccounted(db, name) == 0
        assert one.metric("peal_node_results_received_total") >= 1


def test_a_result_is_acknowledged_when_its_owner_has_committed_it(db, tmp_path):
    """The owner's row of peal_epoch is held, so it cannot commit: the result goes to the inbox."""
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two") as two, \
            Puppet(one, "tests", register=False, automatic=False) as puppet:
        wait_for(one, one="up", two="up")
        run = open_run(db, name, one, puppet)
        link = db.snapshot(name)
        for text in "ROLLBACK", "BEGIN", f"SELECT epoch FROM peal_epoch WHERE epoch = {peers.epoch(one)} FOR UPDATE":
            link.run(text)
        reply = two.open_api("callback", [result_of(run)])
        assert reply["code"] == 200, reply
        assert two.metric("peal_node_results_forwarded_total") == 0
        assert db.number("SELECT count(*) FROM peal_inbox", name) == 1
        link.close()
        wait_until(lambda: log_row(db, name, run) == [("200", "done")], "the run to end", 30)
        wait_until(lambda: db.number("SELECT count(*) FROM peal_inbox", name) == 0, "the inbox to be empty", 30)
        assert unaccounted(db, name) == 0


@contextlib.contextmanager
def older(*unknown):
    """Stands before a server, .center, that others reach through it, and does not know these paths."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            value = self.headers["Peal-Node"]
            if self.path.removeprefix("/peal/node/") in unknown:
                self.server.refused += 1
                status, reply = 404, peers.refusal(value, 404)
            else:
                status, _, reply = webapi.request(self.server.center.port, "POST", self.path, body, {"Peal-Node": value})
            self.send_response_only(status)
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.refused = 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_a_server_that_does_not_know_a_question_is_told_all_else(db, tmp_path):
    """As during an upgrade: results still go straight to it, whatever else it is asked in vain."""
    name, url = fresh(db)
    with older("attention") as front, node(tmp_path / "a", url, "one") as one, \
            node(tmp_path / "b", url, "two", settings=["--node.address", f"127.0.0.1:{front.server_address[1]}"]) as two, \
            Puppet(two, "tests", register=False, automatic=False) as puppet:
        front.center = two
        wait_for(one, one="up", two="up")
        api = two.api()
        job = api.add_job(api.add_group("tests", addresses=[puppet.address]), "long")
        for n in range(1, 11):  # a loaded machine may be too slow for some of them
            api.trigger(job)
            run = puppet.wait_for_runs(n)[-1]
            wait_until(lambda: db.number("SELECT count(*) FROM peal_run WHERE phase = 4", name) == 1, "it to be accepted", 30)
            refused = front.refused
            assert V1(one).get("/dashboard")["notKnown"] == ["server two does not know it: its release is an older one"]
            assert one.open_api("callback", [result_of(run)])["code"] == 200
            wait_until(lambda r=run: log_row(db, name, r) == [("200", "done")], "it to end", 30)
            if one.metric("peal_node_results_forwarded_total") and front.refused > refused:
                return
        raise AssertionError("no result goes straight to its owner after a question that this does not know")


def test_results_that_fill_a_call_to_the_last_byte_are_kept(db, tmp_path):
    """A call has 4 MiB at most. What has no room in it goes through the database."""
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two") as two, \
            Puppet(one, "tests", register=False, automatic=False) as puppet:
        wait_for(one, one="up", two="up")
        run = open_run(db, name, one, puppet)
        wait_for(two, one="up", two="up")
        fixed = len('[{"logId":123456789,"logDateTim":0,"handleCode":200,"handleMsg":""}]')
        for size in range((4 << 20) - 2, (4 << 20) + 2):
            strange = {"logId": 123456789, "logDateTim": 0, "handleCode": 200, "handleMsg": "x" * (size - fixed)}
            assert two.open_api("callback", [strange])["code"] == 200, size
        forwarded = two.metric("peal_node_results_forwarded_total")
        assert two.open_api("callback", [result_of(run)])["code"] == 200
        assert two.metric("peal_node_results_forwarded_total") == forwarded + 1
        assert log_row(db, name, run) == [("200", "done")]


def test_servers_are_told_that_there_is_something_new(db, tmp_path):
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two") as two, \
            Puppet(one, "tests", register=False, automatic=False) as puppet:
        wait_for(one, one="up", two="up")
        wait_for(two, one="up", two="up")

        def told(act):
            before = two.metric("peal_node_looks_asked_total")
            act()
            wait_until(lambda: two.metric("peal_node_looks_asked_total") > before, "the other server to be told", 30)
        told(lambda: one.api().add_group("a group"))
        run = open_run(db, name, two, puppet)
        told(lambda: V1(one).ask("POST", f"/runs/{run['logId']}/kill"))  # a row of the inbox
        told(lambda: one.api().add_group("another"))
        told(one.stop)


class Flood:
    """A thread that calls "look" at a server on one connection until it is ended, 100 calls at a time."""

    AT_ONCE = 100

    def __init__(self, center):
        head = f"POST /peal/node/look HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n" \
            f"Peal-Node: {peers.seal('look', to=peers.epoch(center))}\r\n\r\n"  # the same again is as good
        self.calls, self.answered, self.over = head.encode() * self.AT_ONCE, 0, threading.Event()
        self.thread = threading.Thread(target=self.make, args=(center.port,))
        self.thread.start()

    def make(self, port):
        while not self.over.is_set():
            with socket.create_connection(("127.0.0.1", port), timeout=15 * PATIENCE) as line:
                line.sendall(self.calls)
                said = b""
                while said.count(b"HTTP/1.1 200 ") < self.AT_ONCE:
                    more = line.recv(65536)
                    assert more, said
                    said += more
            self.answered += self.AT_ONCE

    def end(self):
        self.over.set()
        self.thread.join()
        return self.answered


def test_a_server_that_is_told_of_news_all_the_time_looks_each_5_ms(db, tmp_path):
    """By a node whose user edits a job again and again, and by calls without end: it goes on with its work."""
    name, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two") as two, \
            Puppet(one, "tests", register=False) as puppet:
        wait_for(one, one="up", two="up")
        jobs = jobs_each_second(one, puppet, 8)
        its = f"SELECT min(job_id) FROM peal_due WHERE home = (SELECT node FROM peal_epoch WHERE epoch = {peers.epoch(two)})"
        edited = wait_until(lambda: db.number(its, name), "the other server to be home of a job", 30)
        for job in jobs:
            puppet.wait_for_runs(1, job)
        api = V1(one)
        last = api.ask("GET", f"/jobs/{edited}")
        asked, made = (two.metric(f"peal_node_looks_{what}_total") for what in ("asked", "made"))
        begun = time.monotonic()
        flood = Flood(two)
        for n in range(50):
            last = api.ask("PATCH", f"/jobs/{edited}", {"task": {"param": f"{n}"}}, If_Match=last.etag)
            assert last.status == 200, last.json
        wait_until(lambda: flood.answered >= 5000, "some calls to be made", 60)
        made = two.metric("peal_node_looks_made_total") - made
        elapsed_ms = (time.monotonic() - begun) * 1000
        asked += flood.end()
        assert two.metric("peal_node_looks_asked_total") >= asked
        assert 0 < made <= elapsed_ms / 5 + 2
        seen = len(puppet.runs(edited))
        puppet.wait_for_runs(seen + 3, edited)
        assert {run["executorParams"] for run in puppet.runs(edited)[seen + 1:]} == {"49"}
        settled(db, name, puppet, one.api(), jobs)
