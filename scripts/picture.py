#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make picture: run the demo for a while and draw what it prints as docs/demo.svg, the picture of the README.

  picture.py PEAL [--seconds 17] [--lines 22] [--to docs/demo.svg]

The demo runs on a terminal of its own, so that it prints its colours. Its password and token belong to a center that is
gone when the picture is drawn; they are left out all the same.
"""
import argparse
import html
import os
import pty
import re
import select
import signal
import sys
import time

COLOURS = {"90": "#7d8590", "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341"}
PLAIN, BACKGROUND = "#e6edf3", "#0d1117"
COLUMN, ROW, EDGE = 7.4, 18, 16
SECRET = re.compile(r"(password |accessToken=)(\S+)")


def record(peal, seconds):
    """What the demo prints on a terminal, from its start to seconds later, and the end that Ctrl-C makes."""
    child, terminal = pty.fork()
    if child == 0:
        os.execl(peal, peal, "demo", "--port", "8080")
    text, stop = b"", time.monotonic() + seconds
    while True:
        left = stop - time.monotonic()
        if left <= 0:
            os.kill(child, signal.SIGINT)
            stop = time.monotonic() + 60
        if select.select([terminal], [], [], max(left, 0.1))[0]:
            try:
                chunk = os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
            if not chunk:
                break
            text += chunk
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("the demo failed:\n" + text.decode(errors="replace"))
    return text.decode().replace("\r\n", "\n")


def drawn(line, row):
    """One line as SVG: its pieces by colour."""
    spans, colour, column = [], PLAIN, 0
    for piece in re.split(r"(\x1b\[\d+m)", line):
        mark = re.fullmatch(r"\x1b\[(\d+)m", piece)
        if mark:
            colour = COLOURS.get(mark[1], PLAIN)
        elif piece:
            spans.append(f'<tspan x="{EDGE + column * COLUMN:.1f}" fill="{colour}">{html.escape(piece)}</tspan>')
            column += len(piece)
    return f'<text y="{EDGE + (row + 1) * ROW - 4}" xml:space="preserve">{"".join(spans)}</text>'


def picture(lines):
    width = max(len(re.sub(r"\x1b\[\d+m", "", line)) for line in lines) * COLUMN + 2 * EDGE
    height = len(lines) * ROW + 2 * EDGE
    body = "\n".join(drawn(line, row) for row, line in enumerate(lines) if line)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" role="img" '
            f'aria-label="What peal demo prints">\n<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>\n'
            f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="12.3">\n{body}\n</g>\n</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peal", help="the binary")
    parser.add_argument("--seconds", type=float, default=17)
    parser.add_argument("--lines", type=int, default=22, help="of the demo's output, from its first table on")
    parser.add_argument("--to", default="docs/demo.svg")
    options = parser.parse_args()
    text = SECRET.sub(lambda m: m[1] + "·" * len(m[2]), record(os.path.abspath(options.peal), options.seconds))
    lines = text.split("\n")
    table = next(i for i, line in enumerate(lines) if line.startswith("time "))
    last = [line for line in lines if "unaccounted for" in line][-1]
    lines = ["$ make demo"] + lines[:4] + [""] + lines[table:table + options.lines] + [last]
    with open(options.to, "w", encoding="utf-8") as f:
        f.write(picture(lines))
    print(f"{options.to}: {len(lines)} lines")


if __name__ == "__main__":
    main()
