#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The store's unit suite, and black-box cases, on real database servers that are started for it.

  test-db.py [mariadb|postgres...]        both, as far as the build has the engine
  test-db.py --quick ...                  what CI plays
  test-db.py --only ledger,txn mariadb    some programs: store.ledger, store.txn
  test-db.py blackbox [mariadb|postgres]  black-box cases with the mark every_engine, their centers on such a server;
                                          --only recovery,flight: of some files; --at-once: files side by side
  test-db.py serve mariadb|postgres       a server for development: prints URLs and stays until Ctrl-C

Each program has a database of its own, in PEAL_TEST_DB, and empties it between its cases. An engine that the build was
made without is named and left out; with CI=true a server that is not installed is a failure.
"""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support import servers  # noqa: E402

MARK = "every_engine"
LONG = ("test_recovery", "test_flight", "test_schedule_types")  # begin first

# programs whose cases run on any engine
SUITE = ("jobs", "ledger", "pages", "runs_page", "figures", "alarms", "rules", "users", "audit", "idem",
         "scripts", "stories", "nodes", "cluster", "homes", "inbox", "changes", "same", "bulk", "move", "cuts", "postgres")
QUICK = ("jobs", "ledger", "pages", "nodes", "cluster", "homes", "inbox", "changes", "same", "bulk", "move", "cuts", "postgres")


def built(build):
    """The engines of the build."""
    program = build / "peal"
    if not program.exists():
        sys.exit(f"test-db: {program} is not there: build it first (make)")
    return servers.built(program)


def programs(build, names):
    return [p for name in names if (p := build / "tests" / f"unit_store_{name}").exists()]


def run(build, kind, names):
    """How many programs failed."""
    failed = 0
    with servers.open(kind) as db:
        for program in programs(build, names):
            database = program.name.removeprefix("unit_")
            env = dict(os.environ, PEAL_TEST_DB=db.create(database), CMOCKA_MESSAGE_OUTPUT="STDOUT")
            began = time.monotonic()
            done = subprocess.run([str(program)], env=env, capture_output=True, text=True, timeout=900, check=False)
            took = time.monotonic() - began
            cases = done.stdout.count("[       OK ]")
            print(f"{'ok' if done.returncode == 0 else 'FAILED':7} {kind:9} {database:20} {cases:4} cases {took:6.1f} s",
                  flush=True)
            if done.returncode:
                failed += 1
                print("\n".join(line for line in (done.stdout + done.stderr).splitlines()
                                if "[       OK ]" not in line and "[ RUN      ]" not in line)[-6000:])
            db.drop(database)
    return failed


def marked(names):
    """The black-box files with a case for every engine, or those that are named."""
    files = sorted((ROOT / "tests" / "blackbox").glob("test_*.py"))
    if names:
        return [path for path in files if path.stem.removeprefix("test_") in names]
    found = [path for path in files if MARK in path.read_text()]
    return sorted(found, key=lambda path: (path.stem not in LONG, -path.read_text().count(MARK)))


def blackbox(kind, build, names, at_once):
    """How many files had a case that failed. One server for all, a database for each center."""
    def play(path):
        began = time.monotonic()
        done = subprocess.run(["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-ra", "-m",
                               "every_engine", "--durations=3", str(path)], cwd=ROOT, capture_output=True, text=True,
                              env=env, timeout=1500, check=False)
        told = done.stdout.splitlines()[-1] if done.stdout else done.stderr[-300:]
        print(f"{'FAILED' if done.returncode else 'ok':7} {kind:9} {path.stem:28} {told}", flush=True)
        if done.returncode:
            print(done.stdout[-12000:])
        total.append(int((re.search(r"(\d+) passed", told) or [0, 0])[1]))
        return done.returncode != 0, time.monotonic() - began

    total = []
    with servers.open(kind) as db:
        env = dict(os.environ, PEAL_TEST_DB=f"{kind}:{db.port}:{db.folder}", PEAL_BIN=str(build / "peal"))
        with ThreadPoolExecutor(at_once) as pool:
            failed = sum(bad for bad, _ in pool.map(play, marked(names)))
    print(f"{sum(total)} black-box cases passed on {kind}", flush=True)
    return failed


def serve(kind, durable):
    with servers.open(kind, durable=durable) as db:
        print(f"{db.create('peal')}\nfolder {db.folder}, log {db.folder}/log, socket {db.folder}; Ctrl-C ends it", flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="serve|blackbox|mariadb|postgres")
    parser.add_argument("--build", default=str(ROOT / "build" / "dev"), help="folder of the build (build/dev)")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="programs, by commas")
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--durable", action="store_true", help="serve: sync as a real server does")
    a = parser.parse_args()
    serving, playing = a.words[:1] == ["serve"], a.words[:1] == ["blackbox"]
    kinds = a.words[serving or playing:] or list(servers.KINDS)
    if any(kind not in servers.KINDS for kind in kinds) or (serving and len(kinds) != 1):
        parser.error("name mariadb or postgres")
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM} if serving else set())
    if serving:
        serve(kinds[0], a.durable)
        return
    only = a.only.split(",") if a.only else None
    names = only or (QUICK if a.quick else SUITE)
    build = pathlib.Path(a.build)
    failed = 0
    for kind in kinds:
        lacks = servers.missing(kind)
        if kind not in built(build):
            print(f"left out {kind}: this build has no engine for it")
        elif lacks:
            print(f"left out {kind}: {lacks} is not installed (scripts/install-deps.sh database)")
            failed += os.environ.get("CI") == "true"
        else:
            failed += blackbox(kind, build, only, a.at_once) if playing else run(build, kind, names)
    sys.exit(failed > 0)


main()
