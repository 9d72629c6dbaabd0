#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Run the simulation (tests/sim, release build) over a range of seeds, one process a core.

  sim.py --seeds 1..500             these seeds
  sim.py --seeds 1..500 --fresh     and one that nobody has tried, printed
  sim.py --seeds 1..50000 --resume  leave out what an earlier run has passed (build/sim/passed)

The program is called as peal_sim --seeds A..B and --seed N; a seed that fails is printed by it and
replays exactly. The record of what has passed holds for one binary: another one starts anew.
"""
import argparse
import glob
import hashlib
import os
import secrets
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORD = os.path.join(ROOT, "build", "sim", "passed")
SLICE = 50


def simulator():
    for command in (["cmake", "--preset", "release"], ["cmake", "--build", "build/release"]):
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    hits = [p for p in glob.glob(os.path.join(ROOT, "build/release/**/peal_sim"), recursive=True) if os.path.isfile(p)]
    if not hits:
        sys.exit("sim: the release build has no peal_sim")
    return hits[0]


def passed_before(binary):
    """First lines of the record: the binary's digest, then one slice a line."""
    with open(binary, "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()
    os.makedirs(os.path.dirname(RECORD), exist_ok=True)
    if os.path.exists(RECORD):
        with open(RECORD, encoding="utf-8") as f:
            lines = f.read().split()
        if lines and lines[0] == digest:
            return set(lines[1:])
    with open(RECORD, "w", encoding="utf-8") as f:
        f.write(digest + "\n")
    return set()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", required=True, metavar="A..B")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    first, last = (int(n) for n in args.seeds.split(".."))
    binary = simulator()
    parts = [f"{a}..{min(a + SLICE - 1, last)}" for a in range(first, last + 1, SLICE)]
    if args.resume:
        before = passed_before(binary)
        print(f"{len(before & set(parts))} of {len(parts)} slices have passed before")
        parts = [part for part in parts if part not in before]
    runs = [["--seeds", part] for part in parts]
    if args.fresh:
        seed = str(secrets.randbelow(2**53))
        print(f"fresh seed: {seed}", flush=True)
        runs.append(["--seed", seed])

    def run(arguments):
        done = subprocess.run(["nice", binary, *arguments], cwd=ROOT, capture_output=True, text=True, errors="replace",
                              check=False)
        return arguments, done.returncode, done.stdout + done.stderr

    failed = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for arguments, status, out in pool.map(run, runs):
            if status == 0:
                if args.resume:
                    with open(RECORD, "a", encoding="utf-8") as f:
                        f.write(arguments[1] + "\n")
                    print(f"{arguments[1]} passed", flush=True)
                continue
            failed += 1
            print(f"{out[-8000:]}\nFAILED: {os.path.relpath(binary, ROOT)} {' '.join(arguments)}", flush=True)
    print(f"{len(runs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
