#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plant each defect in a copy of the sources and see that the simulation finds it.

usage: run.py [--seeds N] [--jobs N] [--build DIR] [NAME...]

A patch that no longer applies is a failure, and so is a defect that survives all seeds. Only what a
patch touches is compiled again: the object files of the sound sources are made once (in DIR, the
build folder) and linked with the changed ones.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
LAYERS = ["base", "cron", "sched", "sql", "store"]
CFLAGS = ["-std=c11", "-O2", "-g1", "-DNDEBUG", "-D_GNU_SOURCE", "-fno-strict-aliasing", "-w"]
LIBS = ["-lcrypto", "-lsqlite3", "-lpthread", "-lm"]


def sources(root):
    found = []
    for layer in LAYERS:
        found += sorted(glob.glob(f"{root}/src/{layer}/*.c"))
    return found + sorted(glob.glob(f"{root}/tests/sim/*.c"))


def compile_one(source, target, root):
    """Headers come from the planted tree first, then from the sound one."""
    includes = [f"-I{root}/src", f"-I{root}/tests/sim", f"-I{ROOT}/src", f"-I{ROOT}/tests/sim"]
    command = ["cc", *CFLAGS, '-DPEAL_VERSION="sim"',
               f'-DPEAL_SCHEMA_DIR="{ROOT}/src/store/schema"', *includes, "-c", source, "-o", target]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)


def object_of(build, source):
    return os.path.join(build, os.path.relpath(source, ROOT).replace("/", "_")[:-2] + ".o")


def newest_header():
    return max(os.path.getmtime(h) for h in glob.glob(f"{ROOT}/src/*/*.h") +
               glob.glob(f"{ROOT}/tests/sim/*.h"))


def build_sound(build, jobs):
    os.makedirs(build, exist_ok=True)
    header = newest_header()
    todo = []
    for source in sources(ROOT):
        target = object_of(build, source)
        if not os.path.exists(target) or os.path.getmtime(target) < max(
                header, os.path.getmtime(source)):
            todo.append((source, target))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda t: compile_one(*t, ROOT), todo))
    objects = [object_of(build, source) for source in sources(ROOT)]
    subprocess.run(["cc", *objects, "-o", f"{build}/peal_sim", *LIBS], check=True)


def touched(patch):
    return re.findall(r"^\+\+\+ b/(\S+)", open(patch, encoding="utf-8").read(), re.M)


def plant(patch, build):
    """Returns the simulation with the defect in it."""
    name = os.path.basename(patch)[:-6]
    tree = os.path.join(build, name)
    subprocess.run(["rm", "-rf", tree], check=True)
    files = touched(patch)
    for file in files:
        os.makedirs(os.path.dirname(f"{tree}/{file}"), exist_ok=True)
        subprocess.run(["cp", f"{ROOT}/{file}", f"{tree}/{file}"], check=True)
    done = subprocess.run(["patch", "-p1", "--fuzz=0", "-s", "-i", patch], cwd=tree,
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("no longer applies: " + done.stdout + done.stderr)
    headers = [f for f in files if f.endswith(".h")]
    objects = []
    for source in sources(ROOT):
        file = os.path.relpath(source, ROOT)
        base = os.path.basename
        sees = headers and any(f'/{base(h)}"' in open(source, encoding="utf-8").read()
                               for h in headers)
        if file in files or sees:
            # a copy beside the planted headers, so that they are found first
            planted = f"{tree}/{file}"
            if not os.path.exists(planted):
                os.makedirs(os.path.dirname(planted), exist_ok=True)
                subprocess.run(["cp", source, planted], check=True)
            target = f"{tree}/{file.replace('/', '_')[:-2]}.o"
            compile_one(planted, target, tree)
            objects.append(target)
        else:
            objects.append(object_of(build, source))
    program = f"{tree}/peal_sim"
    done = subprocess.run(["cc", *objects, "-o", program, *LIBS], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return program


def sound_passes(build, seed):
    """What the sound sources break as well says nothing about the defect."""
    done = subprocess.run([f"{build}/peal_sim", "--seed", seed], capture_output=True, text=True)
    return done.returncode == 0


def judge(patch, build, seeds):
    name = os.path.basename(patch)[:-6]
    start = time.monotonic()
    try:
        program = plant(patch, build)
    except RuntimeError as error:
        return name, False, f"cannot be planted: {error}"
    done = subprocess.run([program, "--seeds", f"1..{seeds}"], capture_output=True, text=True)
    took = time.monotonic() - start
    first = done.stdout.splitlines()[0] if done.stdout else f"exit {done.returncode}"
    if done.returncode == 1:
        seed = re.match(r"seed (\d+)", first)
        if not seed or not sound_passes(build, seed.group(1)):
            return name, False, f"the sound sources break it too: {first[:150]}"
        return name, True, f"{first[:150]} ({took:.1f} s)"
    return name, False, f"not found within {seeds} seeds ({took:.1f} s): {first[:150]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "defects"))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    patches = [p for p in sorted(glob.glob(f"{HERE}/*.patch"))
               if not options.names or os.path.basename(p)[:-6] in options.names]
    start = time.monotonic()
    build_sound(options.build, options.jobs)
    missed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, found, text in pool.map(lambda p: judge(p, options.build, options.seeds),
                                          patches):
            print(f"{'found ' if found else 'MISSED'} {name:20} {text}", flush=True)
            missed += not found
    print(f"{len(patches) - missed} of {len(patches)} planted defects found in "
          f"{time.monotonic() - start:.0f} s")
    return 1 if missed or not patches else 0


sys.exit(main())
