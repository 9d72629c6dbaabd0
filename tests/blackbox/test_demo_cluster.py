# SPDX-License-Identifier: Apache-2.0
"""scripts/demo-cluster.py in a pipe: a node is killed through its input, the others take over, nothing is left."""

import pathlib
import re
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import servers  # noqa: E402
from support.center import ROOT, SANITIZER, binary, clean_environment  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

LINE = re.compile(r"fired by node1: (.*?) \| node2: (.*?) \| node3: (.*?) \| succeeded (\d+), unaccounted (\d+)\n")
ALL = {"1", "2", "3", "4", "5", "6"}


def lines(text):
    """[(jobs of node 1, of node 2, of node 3, succeeded, unaccounted)] of each second."""
    return [(*({*found[i].split()} - {"-"} for i in (1, 2, 3)), int(found[4]), int(found[5]))
            for found in LINE.finditer(text)]


@pytest.mark.parametrize("kind", servers.built(binary()))
def test_the_others_take_over_from_a_node_that_is_killed(tmp_path, kind):
    if servers.missing(kind):
        pytest.skip(f"{servers.missing(kind)} is not installed: scripts/install-deps.sh database")
    output, folder = tmp_path / "output", tmp_path / "tmp"
    folder.mkdir()
    with open(output, "wb") as out:
        demo = subprocess.Popen([sys.executable, str(ROOT / "scripts" / "demo-cluster.py"), kind], stdout=out, stderr=out,
                                stdin=subprocess.PIPE, env=clean_environment(PEAL_BIN=str(binary()), TMPDIR=str(folder)))
    try:
        def wait_for(what, seen):
            def look():
                assert demo.poll() is None, output.read_text()
                return seen(output.read_text())
            wait_until(look, what, 90, 0.1)

        def press(key):
            demo.stdin.write(key)
            demo.stdin.flush()
        wait_for("each node to fire", lambda text: any(a and b and c for a, b, c, *_ in lines(text)))
        press(b"2")
        wait_for("the others to fire all", lambda text: any(a | c == ALL for a, _, c, *_ in
                                                            lines(text.partition("node2 killed with -9")[2])))
        press(b"5")
        wait_for("node 2 to fire again", lambda text: any(b for _, b, *_ in
                                                          lines(text.partition("node2 started again")[2])))
        press(b"0")
        assert demo.wait(60 * PATIENCE) == 0, output.read_text()
    finally:
        demo.kill()
        demo.wait()
    text = output.read_text()
    assert "Everything is stopped; the data is removed." in text
    assert [unaccounted for *_, unaccounted in lines(text)] == [0] * len(lines(text))
    assert "\033" not in text and not SANITIZER.search(text)
    assert list(folder.iterdir()) == []
