#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Search the protocol's models with Spin: one row of docs/model/configurations.tsv, one search.

A row says what must come out: "holds" (no error, and exactly that many states, so that a change of
the model does not pass unnoticed) or "error" (the trace of a rule that was taken out, or of a state
that must be reachable). The search is complete or the row fails.

  model.py            the rows of the set "quick"
  model.py --all      every row
  model.py NAME...    these rows; --keep leaves the searches' folders under build/model
"""
import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODELS = os.path.join(ROOT, "docs", "model")
DEPTH = 200000


def read_rows():
    with open(os.path.join(MODELS, "configurations.tsv"), newline="") as f:
        return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))


def search(row, keep):
    """Run one row. Returns (None or the reason why it fails, states, seconds)."""
    folder = os.path.join(ROOT, "build", "model", row["name"])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    begun = time.monotonic()
    switches = ["-D" + option for option in row["options"].split()]
    source = os.path.join(MODELS, row["model"] + ".pml")
    level = "-O0" if row["expect"] == "error" else "-O2"  # the first error ends a search: compiling is most of it
    for command in (["spin", *switches, "-a", source],
                    ["gcc", level, "-w", "-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=2048",
                     "-o", "pan", "pan.c"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            return (done.stdout + done.stderr).strip(), 0, 0
    done = subprocess.run(["nice", "./pan", f"-m{DEPTH}"], cwd=folder, capture_output=True, text=True)
    out = done.stdout + done.stderr
    reason, states = judge(row, out)
    if not keep and not reason:
        shutil.rmtree(folder)
    return reason, states, time.monotonic() - begun


def judge(row, out):
    stored = re.search(r"^\s*(\d+) states, stored", out, re.M)
    errors = re.search(r"errors: (\d+)", out)
    if not stored or not errors:
        return "no result:\n" + out[-2000:], 0
    states = int(stored.group(1))
    broken = re.search(r"^pan:\d+: (.*)$", out, re.M)
    broken = broken.group(1) if broken else ""
    if "max search depth" in out or "out of memory" in out or "Search not completed" in out \
            and errors.group(1) == "0":
        return "the search is not complete:\n" + out[-2000:], states
    if "nid<" in re.sub(r"[\s()]", "", broken):
        return f"NID is too small for this configuration: {broken}", states
    if row["expect"] == "error":
        return (None if errors.group(1) != "0" else "found nothing, an error was expected"), states
    if errors.group(1) != "0":
        return f"{broken} (spin -t with the same -D in build/model/{row['name']} shows how)", states
    if row["states"] != "-" and int(row["states"]) != states:
        return f"{states} states, the table says {row['states']}: has the model changed?", states
    return None, states


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true", help="every row, not only the quick ones")
    parser.add_argument("--keep", action="store_true", help="leave build/model/NAME in place")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    rows = read_rows()
    unknown = set(args.names) - {row["name"] for row in rows}
    if unknown:
        sys.exit(f"model: no such row: {', '.join(sorted(unknown))}")
    if args.names:
        rows = [row for row in rows if row["name"] in args.names]
    elif not args.all:
        rows = [row for row in rows if row["set"] == "quick"]
    failed = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for row, result in zip(rows, pool.map(lambda r: search(r, args.keep), rows)):
            reason, states, seconds = result
            verdict = "FAILED" if reason else row["expect"]
            print(f"{row['name']:24} {verdict:7} {states:>12,} states {seconds:7.1f} s  {row['what']}",
                  flush=True)
            if reason:
                failed += 1
                print(f"    {row['options']}\n    {reason}", flush=True)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
