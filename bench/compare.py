#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The CPU time that a firing costs the center, two binaries in turn: what a change costs or saves.

    bench/compare.py OLD/peal NEW/peal                     10,000 firings a second, 10 s each, seven rounds
    bench/compare.py OLD/peal NEW/peal --most 105          fails if the new one's median is above 105 % of the old one's

Each round runs both, on fresh data, with the same executor; whatever the machine does in that minute, it does to both.
"""
import argparse
import statistics
import sys

import run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", nargs=2, metavar="PEAL")
    parser.add_argument("--rate", type=int, default=10000, help="firings a second")
    parser.add_argument("--seconds", type=int, default=10, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--callbacks", choices=("single", "batch"), default="single")
    parser.add_argument("--most", type=float, help="percent of the old binary's cost that the new one may have")
    options = parser.parse_args()
    bench, found = run.Bench(quick=True), ([], [])
    for i in range(options.rounds):
        for which, binary in enumerate(options.binaries):
            run.PEAL = binary
            r = bench.load(options.rate, options.seconds, options.callbacks, 8)
            found[which].append(r["cpu_us"])
            print(f"round {i + 1}  {('old', 'new')[which]}  {r['cpu_us']:6.2f} us  {r['done_rate']:7.0f}/s  "
                  f"spin lost {r['spin'] * 100:.1f} %  lost {r['lost']}  unaccounted {r['unaccounted']}", flush=True)
            if r["lost"] or r["unaccounted"]:
                sys.exit("firings were lost: not a measurement")
    old, new = (statistics.median(values) for values in found)
    percent = new / old * 100
    print(f"median: old {old:.2f} us, new {new:.2f} us a firing: {percent:.1f} %")
    if options.most and percent > options.most:
        sys.exit(f"more than {options.most} %")


if __name__ == "__main__":
    main()
