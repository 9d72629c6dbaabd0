#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `peal db import` needs for the log of a large XXL-JOB: time, and the most memory that its process had.

  bench/imports.py [--rows 1000000] [--to sqlite|mariadb|postgres...] [--peal PROGRAM]...

The source is a MariaDB with the tables of XXL-JOB 3.4, and rows of the log of about 800 bytes. Memory is VmHWM of the process,
read until it ends.
"""
import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tests")]

from support import mariadb, servers  # noqa: E402
from support.xxl_tables import make  # noqa: E402

EVERY_S = 0.01


def fill(server, rows):
    with contextlib.closing(server.connect("")) as db:
        db.run("CREATE USER reader@localhost")
        db.run("GRANT SELECT ON *.* TO reader@localhost")
        make(db, "xxl", "3.4")
        db.run("INSERT INTO xxl_job_log (job_group, job_id, executor_address, executor_handler, executor_param, trigger_time, "
               "trigger_code, trigger_msg, handle_time, handle_code, handle_msg) SELECT 1, 1 + seq MOD 1000, "
               "'http://10.0.0.1:9999/', 'demo', 'a parameter', NOW() - INTERVAL seq MOD 40000 MINUTE, 200, REPEAT('trigger ', 70), "
               f"NOW(), IF(seq MOD 100, 200, 500), REPEAT('handled ', 10) FROM seq_1_to_{rows}")


def peak_kib(process):
    """Until it has ended."""
    most = 0
    while process.poll() is None:
        with contextlib.suppress(OSError, StopIteration):
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as f:
                most = max(most, int(next(line for line in f if line.startswith("VmHWM")).split()[1]))
        time.sleep(EVERY_S)
    return most


def measure(program, url, to, rows):
    began = time.monotonic()
    process = subprocess.Popen([program, "db", "import", "--from", url, "--db", to, "--stopped", "--history", "365",
                                "--zone", "UTC"], stdout=subprocess.DEVNULL)
    most = peak_kib(process)
    if process.returncode:
        sys.exit("peal db import has failed")
    print(f"| {os.path.relpath(program, ROOT)} | {to.split(':')[0]} | {rows:,} | {time.monotonic() - began:.0f} s | {most / 1024:.0f} MiB |",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--to", action="append", choices=("sqlite", *servers.KINDS))
    parser.add_argument("--peal", action="append", metavar="PROGRAM")
    a = parser.parse_args()
    print("| program | into | log rows | took | most memory |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="peal-im-") as folder, mariadb.MariaDB(folder + "/db") as server:
        fill(server, a.rows)
        url = server.url("xxl", "reader")
        for program in a.peal or [os.path.join(ROOT, "build", "release", "peal")]:
            for kind in a.to or ["sqlite"]:
                if kind == "sqlite":
                    with tempfile.TemporaryDirectory(prefix="peal-im-") as to:
                        measure(program, url, f"sqlite:{to}/peal.db", a.rows)
                else:
                    with servers.open(kind) as db:
                        os.environ["PEAL_DB_PASSWORD"] = servers.PASSWORD
                        measure(program, url, db.create("jobs"), a.rows)


if __name__ == "__main__":
    main()
