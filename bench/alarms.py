#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What alarms cost, and what a dead executor with four hundred jobs makes of them.

    bench/alarms.py                             both cases with build/release/peal
    bench/alarms.py --peal build/dev/peal       another binary

dead: 400 jobs of one address that refuses connections come due in the same second, and a rule tells of each failure by a
webhook. Printed: how many messages came, how many jobs the first one lists, and how long after the last run had ended.

cost: 2,000 firings a second that succeed, with no rule and with twenty rules for all jobs (failed, recovered, slow, late),
in turn; the CPU of the center's process for each firing, all threads. Medians of the rounds.
"""
import argparse
import http.server
import json
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

TICK = os.sysconf("SC_CLK_TCK")
DEAD, RATE, RULES = 400, 2000, 20


class Hook:
    """A webhook on plain HTTP that keeps each message with the moment in which it came."""

    def __init__(self):
        self.got = []
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.got.append((time.time() * 1000, json.loads(body)))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.settings = ["--webhook.url", f"http://127.0.0.1:{self._server.server_port}/", "--webhook.private"]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()


def rule(v1, **members):
    answer = v1.ask("POST", "/alarm-rules", {"name": "bench", "channels": ["webhook"], **members})
    if answer.status != 201:
        raise SystemExit(f"no rule: {answer.json}")
    return answer.json["id"]


def dead(folder):
    hook = Hook()
    with Center(folder, hook.settings) as center:
        number = rule(V1(center), kind="failed")
        address = f"http://127.0.0.1:{free_port()}/"
        group = center.api().add_group("dead", addresses=[address])
        center.stop()
        at = (int(time.time()) + 4) * 1000
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at / 1000))
        ledger.add_jobs(center, group, [("h", "", "ONCE", when, "FIRST", at)] * DEAD, misfire="FIRE_ONCE_NOW")
        center.start()

        def ended():
            return ledger.number(center, "SELECT count(*) FROM xxl_job_log WHERE trigger_code > 200") == DEAD
        wait_until(ended, "all runs to fail", 120)
        over = time.time() * 1000
        wait_until(lambda: any(m.get("ruleId") == number for _, m in hook.got), "a message", 120)
        time.sleep(20)  # a second message would come by now
        found = [(came, m) for came, m in hook.got if m.get("ruleId") == number]
        first_ms, message = found[0]
        print(f"dead: {DEAD} failing jobs of one dead executor: {len(found)} message, of {message['jobs']} jobs, "
              f"{(first_ms - at) / 1000:.1f} s after their second ({(first_ms - over) / 1000:.1f} s after the last had failed)")


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def cpu_of_a_firing(center, seconds):
    def finished():
        return center.metric("peal_firings_total", outcome="finished")
    before, cpu = finished(), cpu_s(center.process.pid)
    time.sleep(seconds)
    return (cpu_s(center.process.pid) - cpu) * 1e6 / (finished() - before)


def cost(folder, seconds, rounds):
    hook = Hook()
    with Center(folder, hook.settings) as center, Stub(folder, center, "--callbacks", "batch", app="bench"):
        v1 = V1(center)
        group = center.api().add_group("bench")
        center.stop()
        begin = (int(time.time()) + 3) * 1000
        ledger.add_jobs(center, group, [("stub", "", "FIX_RATE", "1000ms", "ROUND", begin + i * 1000 // RATE)
                                        for i in range(RATE)])
        center.start()
        wait_until(lambda: center.metric("peal_firings_total", outcome="finished") > 5 * RATE, "the load", 120)
        kinds = [{"kind": "failed"}, {"kind": "recovered"}, {"kind": "slow", "longerMs": 60000},
                 {"kind": "late", "longerMs": 60000}]
        found = {"no rule": [], f"{RULES} rules": []}
        for _ in range(rounds):
            found["no rule"].append(cpu_of_a_firing(center, seconds))
            rules = [rule(v1, **kinds[i % len(kinds)]) for i in range(RULES)]
            time.sleep(1)
            found[f"{RULES} rules"].append(cpu_of_a_firing(center, seconds))
            for number in rules:
                v1.ask("DELETE", f"/alarm-rules/{number}", If_Match="*")
        for name, values in found.items():
            print(f"cost: {name}: {statistics.median(values):.1f} µs of the center's CPU a firing "
                  f"({', '.join(f'{v:.1f}' for v in values)})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peal", default=str(ROOT / "build/release/peal"))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("cases", nargs="*", default=["dead", "cost"])
    args = parser.parse_args()
    os.environ["PEAL_BIN"] = os.path.abspath(args.peal)
    global Center, Stub, V1, free_port, ledger, wait_until
    from support import ledger
    from support.center import Center, free_port
    from support.stub import Stub
    from support.v1 import V1
    from support.wait import wait_until
    with tempfile.TemporaryDirectory(prefix="peal-bench-alarms-") as folder:
        if "dead" in args.cases:
            dead(pathlib.Path(folder) / "dead")
        if "cost" in args.cases:
            cost(pathlib.Path(folder) / "cost", args.seconds, args.rounds)


if __name__ == "__main__":
    main()
