#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The store's unit suite, and black-box cases, on real database servers that are started for it.

  test-db.py [mariadb|postgres...]        both, as far as the build has the engine
  test-db.py --quick ...                  what CI plays
  test-db.py --only ledger,txn mariadb    some programs: store.ledger, store.txn
  test-db.py serve mariadb|postgres       a server for development: prints URLs and stays until Ctrl-C

Each program has a database of its own, in PEAL_TEST_DB, and empties it between its cases. An engine that the build was
made without is named and left out; with CI=true a server that is not installed is a failure.
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support import servers  # noqa: E402

# programs whose cases run on any engine
SUITE = ("jobs", "ledger", "pages", "runs_page", "figures", "alarms", "rules", "users", "audit", "idem",
         "scripts", "stories", "same", "cuts", "postgres")
QUICK = ("jobs", "ledger", "pages", "same", "cuts", "postgres")


def built(build):
    """The engines of the build."""
    program = build / "tests" / "unit_store_ledger"
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


def serve(kind, durable):
    with servers.open(kind, durable=durable) as db:
        print(f"{db.create('peal')}\nfolder {db.folder}, log {db.folder}/log, socket {db.folder}; Ctrl-C ends it", flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="serve|mariadb|postgres")
    parser.add_argument("--build", default=str(ROOT / "build" / "dev"), help="folder of the build (build/dev)")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="programs, by commas")
    parser.add_argument("--durable", action="store_true", help="serve: sync as a real server does")
    a = parser.parse_args()
    serving = a.words[:1] == ["serve"]
    kinds = a.words[serving:] or list(servers.KINDS)
    if any(kind not in servers.KINDS for kind in kinds) or (serving and len(kinds) != 1):
        parser.error("name mariadb or postgres")
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM} if serving else set())
    if serving:
        serve(kinds[0], a.durable)
        return
    names = a.only.split(",") if a.only else QUICK if a.quick else SUITE
    failed = 0
    for kind in kinds:
        lacks = servers.missing(kind)
        if kind not in built(pathlib.Path(a.build)):
            print(f"left out {kind}: this build has no engine for it")
        elif lacks:
            print(f"left out {kind}: {lacks} is not installed (scripts/install-deps.sh database)")
            failed += os.environ.get("CI") == "true"
        else:
            failed += run(pathlib.Path(a.build), kind, names)
    sys.exit(failed > 0)


main()
