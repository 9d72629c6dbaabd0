#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Run the simulation (tests/sim, release build) over a range of seeds, one process a core.

  sim.py --seeds 1..500             these seeds
  sim.py --moving 2000              so many, from a start that moves and is printed: with each commit where
                                    CI=true, so that a run that failed can be repeated, else with each minute
  sim.py --kept                     those that have failed once (its seeds.txt); goes with the others
  sim.py --seeds 1..50000 --resume  leave out what an earlier run has passed (build/sim/passed)
  sim.py --nodes --moving 5000      the rules of a cluster on a modelled database (tests/sim_nodes)
  sim.py --cluster --moving 5000    whole centers on one database (tests/sim_cluster); goes with all of the above

A seed that fails is printed and replays exactly; the others of its slice are played all the same. It
belongs into the seeds.txt of its simulation. The record of what has passed holds for one binary: another one
starts anew.
"""
import argparse
import glob
import hashlib
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SLICE = 50
LIMIT = 900  # seconds for a slice: a history that hangs fails


def simulator(name):
    for command in (["cmake", "--preset", "release"], ["cmake", "--build", "build/release"]):
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    hits = [p for p in glob.glob(os.path.join(ROOT, "build/release/**", name), recursive=True) if os.path.isfile(p)]
    if not hits:
        sys.exit(f"sim: the release build has no {name}")
    return hits[0]


def record_of(binary):
    name = os.path.basename(binary)
    return os.path.join(ROOT, "build", "sim", "passed" if name == "peal_sim" else f"passed-{name}")


def kept_of(name):
    return os.path.join(ROOT, "tests", name.removeprefix("peal_"), "seeds.txt")


def passed_before(binary):
    """First lines of the record: the binary's digest, then one slice a line."""
    record = record_of(binary)
    with open(binary, "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()
    os.makedirs(os.path.dirname(record), exist_ok=True)
    if os.path.exists(record):
        with open(record, encoding="utf-8") as f:
            lines = f.read().split()
        if lines and lines[0] == digest:
            return set(lines[1:])
    with open(record, "w", encoding="utf-8") as f:
        f.write(digest + "\n")
    return set()


def start():
    """A number that moves: with the commit in CI, else with the minute."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if os.environ.get("CI") == "true" and commit.strip():
        return int(commit[:8], 16)
    return int(time.time()) // 60


def moving(count):
    """Ranges of different starts do not overlap."""
    first = start() * 10000 + 1
    print(f"seeds {first}..{first + count - 1}", flush=True)
    return first, first + count - 1


def kept(name):
    """A seed means another history after each change of the sources; it costs little to play it all the same."""
    with open(kept_of(name), encoding="utf-8") as f:
        return sorted({int(word) for line in f for word in line.partition("#")[0].split()})


def play(binary, arguments):
    """Exit status and output of the program."""
    try:
        done = subprocess.run(["nice", binary, *arguments], cwd=ROOT, capture_output=True, text=True, errors="replace",
                              check=False, timeout=LIMIT)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return -1, f"hangs for {LIMIT} s"


def play_slice(binary, first, last):
    """The seeds that fail with what they said, and None for a failure that names no seed."""
    failed = []
    while first <= last:
        status, out = play(binary, ["--seeds", f"{first}..{last}"])
        if status == 0:
            break
        named = re.search(r"^seed (\d+) ", out, re.M)
        failed.append((int(named.group(1)) if named else None, out[-8000:]))
        if not named:
            break
        first = int(named.group(1)) + 1
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", metavar="A..B")
    parser.add_argument("--moving", type=int, metavar="COUNT")
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--resume", action="store_true")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--nodes", action="store_true", help="the rules of a cluster")
    which.add_argument("--cluster", action="store_true", help="whole centers on one database")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    ranges = []
    if args.seeds:
        ranges.append(tuple(int(n) for n in args.seeds.split("..")))
    if args.moving:
        ranges.append(moving(args.moving))
    if not ranges and not args.kept:
        parser.error("which seeds? --seeds, --moving, --kept")
    if args.nodes and (args.kept or args.resume):
        parser.error("--nodes goes with --seeds and --moving")
    name = "peal_sim_nodes" if args.nodes else "peal_sim_cluster" if args.cluster else "peal_sim"
    binary = simulator(name)
    parts = [(a, min(a + SLICE - 1, last)) for first, last in ranges for a in range(first, last + 1, SLICE)]
    if args.kept:
        parts = [(seed, seed) for seed in kept(name)] + parts
    if args.resume:
        before = passed_before(binary)
        names = {f"{a}..{b}" for a, b in parts}
        print(f"{len(before & names)} of {len(parts)} slices have passed before")
        parts = [(a, b) for a, b in parts if f"{a}..{b}" not in before]

    bad = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for (a, b), failed in zip(parts, pool.map(lambda part: play_slice(binary, *part), parts)):
            for seed, out in failed:
                which = f"--seeds {a}..{b}" if seed is None else f"--seed {seed}"
                print(f"{out}\nFAILED: {os.path.relpath(binary, ROOT)} {which}", flush=True)
                bad.append(seed)
            if args.resume and not failed:
                with open(record_of(binary), "a", encoding="utf-8") as f:
                    f.write(f"{a}..{b}\n")
                print(f"{a}..{b} passed", flush=True)
    played = sum(b - a + 1 for a, b in parts)
    print(f"{played - len(bad)} seeds passed, {len(bad)} failed")
    new = [] if args.nodes else [str(seed) for seed in bad if seed is not None and seed not in kept(name)]
    if new:
        print(f"into {os.path.relpath(kept_of(name), ROOT)} with them, so that they are played again: {' '.join(new)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
