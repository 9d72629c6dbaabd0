#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The data folder's file system stands still under load: what do firings and results notice?

A file system is frozen for a snapshot, or a cloud's disk hangs. The data folder lies on a file system of its own (ext4
in a file, mounted), which is frozen with fsfreeze for some seconds while 5,000 jobs a second fire, two seconds after
the measurement began. Each commit waits that long. Printed per freeze: rates, lateness of the firings, what misfire
policies left out, memory, lost and unaccounted runs.

    bench/frozen.py [--rate 5000] [--freeze 0 1 2 5 10]       as root; needs mkfs.ext4, mount, fsfreeze
"""
import argparse
import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
import time

import run

SIZE_MB = 2048


@contextlib.contextmanager
def file_system():
    """A mounted one in a file; its folder."""
    home = tempfile.mkdtemp(prefix="peal-bench-", dir=os.path.join(run.ROOT, "build"))
    image, folder = os.path.join(home, "image"), os.path.join(home, "data")
    os.mkdir(folder)
    with open(image, "wb") as f:
        f.truncate(SIZE_MB << 20)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)
        shutil.rmtree(home)


def beside(folder, seconds):
    """Freezes the folder two seconds after the measurement began."""
    def freeze():
        time.sleep(2)
        subprocess.run(["fsfreeze", "--freeze", folder], check=True)
        time.sleep(seconds)
        subprocess.run(["fsfreeze", "--unfreeze", folder], check=True)

    @contextlib.contextmanager
    def for_center(_center):
        thread = threading.Thread(target=freeze)
        if seconds:
            thread.start()
        yield
        if seconds:
            thread.join()
    return for_center


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=5000, help="firings a second")
    parser.add_argument("--freeze", type=float, nargs="+", default=[0, 1, 2, 5, 10], help="seconds")
    options = parser.parse_args()
    bench = run.Bench(quick=True)
    print("| frozen, s | sent/s | finished/s | late p50, ms | latest, ms | misfires | memory, MB | lost | unaccounted |\n"
          "|---|---|---|---|---|---|---|---|---|")
    for seconds in options.freeze:
        with file_system() as folder:
            run.fresh = lambda folder=folder: fresh(folder)
            r = bench.load(options.rate, int(seconds) + 8, "batch", 8, beside=beside(folder, seconds))
        print(f"| {seconds:g} | {r['rate']:.0f} | {r['done_rate']:.0f} | {r['p50']:.2f} | {r['late_max']:.0f} | {r['misfires']} | {r['rss']:.0f} | "
              f"{r['lost']} | {r['unaccounted']} |", flush=True)


def fresh(folder):
    data = os.path.join(folder, "center")
    os.mkdir(data)
    run.Center(data).stop()
    return data


if __name__ == "__main__":
    main()
