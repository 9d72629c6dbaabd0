#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The plans of the statements that a center issues while jobs fire, on MariaDB and PostgreSQL with many jobs and log rows,
as the server tells them of what it executed: how often, rows read and rows taken each time, and by which index.

  explain-db.py [mariadb|postgres...] [--jobs N] [--rows N] [--firings N] [--nodes N] [--snapshot] [--build DIR]

Prints tables for docs/internals/store.md, with the names that it has for statements (tests/support/plans.py). With a
million jobs and rows it takes some minutes.
"""
import argparse
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support import plans, servers  # noqa: E402

OFTEN = 3  # executions, from which on a statement is shown


def table(kind, found):
    print(f"\n{kind}:\n\n| what | times | rows read | rows taken | by | statement |\n|---|---|---|---|---|---|")
    for s in found:
        if s.count >= OFTEN:
            inserts = s.text.startswith("INSERT")
            by = "–" if inserts else ", ".join(sorted({f"{name}: {index or 'ALL'} ({how})" for name, index, how in s.access})) or "–"
            text = s.text if len(s.text) <= 150 else s.text[:147] + "…"
            print(f"| {plans.name_of(s.text) or 'NOT IN THE LIST'} | {s.count} | {s.read / s.count:.1f} | {s.taken / s.count:.1f} | {by} | "
                  f"`{text}` |".replace("||", "\\|\\|"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="mariadb|postgres")
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the log")
    parser.add_argument("--firings", type=int, default=300, help="that are waited for")
    parser.add_argument("--snapshot", action="store_true", help="an old one is open meanwhile, as of a dump")
    parser.add_argument("--nodes", type=int, default=0, help="then as well of so many centers that share the database")
    parser.add_argument("--build", default=str(ROOT / "build" / "dev"))
    a = parser.parse_args()
    os.environ["PEAL_BIN"] = str(pathlib.Path(a.build).resolve() / "peal")
    for kind in a.kinds or servers.built(os.environ["PEAL_BIN"]):
        with servers.open(kind) as db, tempfile.TemporaryDirectory(prefix="peal-explain-") as folder:
            table(kind, plans.of_firings(db, pathlib.Path(folder), a.jobs, a.rows, a.firings, a.nodes, a.snapshot))


if __name__ == "__main__":
    main()
