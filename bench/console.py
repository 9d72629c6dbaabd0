#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user of a large center waits for: the console's screens in a browser, over many jobs and runs.

    bench/console.py [--jobs 100000] [--runs 1000000] [--rounds 7]

Fills a fresh database as bench/pages.py does, and opens each screen as often as ROUNDS says, each time in a browser
without a cache. Printed are the medians: first contentful paint, the moment when what the screen is for stands there,
and, once, the bytes of the first load. Needs a binary with the console (`make console build`), Chromium, and the
Playwright that the tests use: build/venv/bin/python bench/console.py.
"""
import argparse
import os
import shutil
import statistics
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages  # noqa: E402
import run as bench  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
ROWS = "main tbody tr:nth-child(50)"
# Name, address, what stands there when the screen is ready.
SCREENS = [
    ("overview", "/", "main .vitals dd"),
    ("jobs", "/jobs", ROWS),
    ("jobs by next", "/jobs?sort=next", ROWS),
    ("jobs, words", "/jobs?q=branch+77", ROWS),
    ("job", "/jobs/{job}", "main [role=tab]"),
    ("runs, all", "/runs?span=all", ROWS),
    ("runs that failed", "/runs?span=all&outcome=failed", ROWS),
    ("run", "/runs/{run}", "main .story, main .facts"),
    ("upcoming", "/upcoming", "main h2"),
    ("executors", "/executors", "main tbody tr"),
]


def visit(browser, state, address, ready):
    """First contentful paint and readiness in ms, and the bytes and requests on the way."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, storage_state=state)
    page = context.new_page()
    wire = context.new_cdp_session(page)
    wire.send("Network.enable")
    got = {"bytes": 0, "requests": 0}

    def finished(event):
        got["bytes"] += event["encodedDataLength"]
        got["requests"] += 1
    wire.on("Network.loadingFinished", finished)
    page.goto(address, wait_until="commit")
    page.wait_for_selector(ready)
    took = page.evaluate("performance.now()")
    paint = page.evaluate(PAINT)
    context.close()
    return paint, took, got


def logged_in(browser, url):
    context = browser.new_context()
    answer = context.request.post(url + "/api/v1/session", data={"name": "admin", "password": "bench-password"})
    assert answer.ok, answer.status
    state = context.storage_state()
    context.close()
    return state


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=100000)
    parser.add_argument("--runs", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    data = bench.fresh()
    began = time.monotonic()
    first = pages.fill(data, options.jobs, options.runs)
    print(f"filled in {time.monotonic() - began:.0f} s", file=sys.stderr)
    center = bench.Center(data)
    ids = {"job": first + 3, "run": options.runs - 2}
    try:
        with sync_playwright() as p:
            browser = p.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
                                        args=["--no-sandbox", "--disable-gpu"])
            state = logged_in(browser, center.url)
            print("| screen | first contentful paint, ms | ready, ms | most |\n|---|---|---|---|")
            load = None
            for name, path, ready in SCREENS:
                seen = [visit(browser, state, center.url + path.format(**ids), ready) for _ in range(options.rounds)]
                load = load or seen[0][2]
                took = [one[1] for one in seen]
                print(f"| {name} | {statistics.median(one[0] for one in seen):.0f} | {statistics.median(took):.0f} | "
                      f"{max(took):.0f} |", flush=True)
            print(f"\nfirst load of the overview: {load['bytes'] / 1000:.0f} kB in {load['requests']} requests; "
                  f"center {center.rss_mb():.0f} MB")
            browser.close()
    finally:
        center.stop()
        shutil.rmtree(data)


if __name__ == "__main__":
    main()
