#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Run the fuzzers of build/fuzz for a while, as many at a time as there are cores.

  fuzz.py --seconds 15            from the committed corpus, in a scratch copy
  fuzz.py --seconds 600 --keep    in build/fuzz-corpus, so that the next run goes on where this one stopped
  fuzz.py NAME...                 only these

A crash is printed as base64, with the command that replays it, and ends with exit status 1. What a
long run found worth keeping is merged into tests/fuzz/corpus by hand (docs/development.md).
tests/fuzz/NAME.dict, where it exists, is the fuzzer's dictionary.
"""
import argparse
import base64
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = os.path.join(ROOT, "build", "fuzz")
ARTIFACTS = os.path.join(ROOT, "build", "fuzz-artifacts")


def program(name):
    hits = glob.glob(os.path.join(PROGRAMS, "**", name), recursive=True)
    hits = [h for h in hits if os.path.isfile(h) and os.access(h, os.X_OK)]
    if not hits:
        sys.exit(f"fuzz: {name} is not built: cmake --preset fuzz && cmake --build build/fuzz")
    return hits[0]


def run(name, seconds, work):
    """Fuzz one program with its corpus in work/NAME. Returns (ok, report)."""
    corpus = os.path.join(work, name)
    os.makedirs(corpus, exist_ok=True)
    seeds = os.path.join(ROOT, "tests", "fuzz", "corpus", name)
    command = [program(name), f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048",
               "-print_final_stats=1", f"-artifact_prefix={ARTIFACTS}/{name}-"]
    dictionary = os.path.join(ROOT, "tests", "fuzz", name + ".dict")
    if os.path.exists(dictionary):
        command.append(f"-dict={dictionary}")
    for old in glob.glob(f"{ARTIFACTS}/{name}-*"):
        os.unlink(old)
    done = subprocess.run(["nice", *command, corpus] + ([seeds] if os.path.isdir(seeds) else []),
                          capture_output=True, text=True, errors="replace", check=False)
    found = glob.glob(f"{ARTIFACTS}/{name}-*")
    if done.returncode == 0 and not found:
        executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
        covered = re.findall(r"cov: (\d+)", done.stderr)
        return True, (f"{name}: {int(executed.group(1)) if executed else 0:,} inputs in {seconds} s, "
                      f"{covered[-1] if covered else 0} edges, corpus {len(os.listdir(corpus))}")
    report = [f"{name}: FAILED, exit status {done.returncode}", done.stderr[-6000:]]
    for path in found:
        with open(path, "rb") as f:
            data = f.read()
        report += [f"reproducer ({len(data)} bytes), base64:", base64.b64encode(data[:65536]).decode(),
                   f"replay: echo BASE64 | base64 -d >/tmp/input && {os.path.relpath(program(name), ROOT)} /tmp/input"]
    return False, "\n".join(report)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    sources = glob.glob(os.path.join(ROOT, "tests", "fuzz", "fuzz_*.c"))
    names = args.names or sorted(os.path.basename(s)[:-2] for s in sources)
    if not names:
        sys.exit("fuzz: there are no fuzzers")
    os.makedirs(ARTIFACTS, exist_ok=True)
    if args.keep:
        for command in (["cmake", "--preset", "fuzz"], ["cmake", "--build", "build/fuzz"]):
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    work = os.path.join(ROOT, "build", "fuzz-corpus") if args.keep else tempfile.mkdtemp(prefix="peal-fuzz-")
    failed = 0
    try:
        with ThreadPoolExecutor(args.jobs) as pool:
            for ok, report in pool.map(lambda name: run(name, args.seconds, work), names):
                failed += not ok
                print(report, flush=True)
    finally:
        if not args.keep:
            shutil.rmtree(work)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
