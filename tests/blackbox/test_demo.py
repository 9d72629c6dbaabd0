# SPDX-License-Identifier: Apache-2.0
"""peal demo: what a newcomer sees first. Real processes; nothing may be left behind."""

import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.center import SANITIZER, binary, clean_environment  # noqa: E402 (found through the path just set)
from support.processes import parent  # noqa: E402
from support.wait import wait_until  # noqa: E402

OUTCOMES = {
    "the per-second job": r"every second .*\bsucceeded",
    "the first shard": r"broadcast to both .*\bsucceeded.*shard 0/2",
    "the second shard": r"broadcast to both .*\bsucceeded.*shard 1/2",
    "the failing job": r"fails, two retries .*\bfailed: as it was told to.*will be tried again",
    "its last retry": r"fails, two retries .*\bfailed: as it was told to, was retry 2 of 2\n",
    "the script": r"shell script .*\bsucceeded",
}


class Demo:
    """A demo under way; its temporary folder lies below folder, so that leftovers are seen."""

    def __init__(self, folder, *args):
        self.tmp = pathlib.Path(folder) / "tmp"
        self.tmp.mkdir()
        self.output = pathlib.Path(folder) / "output"
        with open(self.output, "wb") as out:
            self.process = subprocess.Popen(
                [str(binary()), "demo", *args], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                env=clean_environment(TMPDIR=str(self.tmp)), start_new_session=True)

    def text(self):
        return self.output.read_text(errors="replace")

    def port(self):
        return int(re.search(r"(?:console|center) +http://127\.0\.0\.1:(\d+)", self.text())[1])

    def ended(self):
        return self.process.poll() is not None

    def saw(self, pattern):
        if self.ended() and not re.search(pattern, self.text()):
            raise RuntimeError(f"the demo ended with {self.process.returncode}:\n{self.text()}")
        return re.search(pattern, self.text()) is not None

    def parts(self):
        """Those that the demo has started itself, not what they start in turn."""
        ours = []
        for pid, command in self.children():
            if parent(pid) == self.process.pid:
                ours.append((pid, command))
        return ours

    def children(self):
        """Command lines of processes that carry our folder's name."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == self.process.pid:
                continue
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(self.tmp) in command:
                found.append((int(entry.name), command.replace(b"\0", b" ").decode(errors="replace")))
        return found

    def wait(self):
        wait_until(self.ended, "the demo to end", 30, 0.05)
        return self.process.returncode


@pytest.fixture
def start(tmp_path):
    demos = []

    def begin(*args):
        demos.append(Demo(tmp_path, *args))
        return demos[-1]
    yield begin
    for demo in demos:
        if not demo.ended():
            demo.process.kill()
            demo.process.wait()
        for pid, _ in demo.children():
            with contextlib.suppress(ProcessLookupError):  # a child without its parent ends by itself
                os.kill(pid, signal.SIGKILL)


def test_shows_every_outcome_and_leaves_nothing(start):
    demo = start()
    for what, pattern in OUTCOMES.items():
        wait_until(lambda p=pattern: demo.saw(p), f"{what} in the demo's output", 60, 0.1)
    assert len(demo.parts()) == 3, demo.parts()
    port = demo.port()

    demo.process.send_signal(signal.SIGINT)
    assert demo.wait() == 0, demo.text()
    assert "Everything is stopped; the data is removed." in demo.text()
    assert re.search(r"-- \d+ succeeded, \d+ failed, 0 rejected; .*unaccounted for: 0\n", demo.text())
    assert not SANITIZER.search(demo.text())
    assert demo.children() == []
    assert list(demo.tmp.iterdir()) == []
    with socket.socket() as s:
        assert s.connect_ex(("127.0.0.1", port)) != 0, "something listens on the center's port still"


def test_names_what_is_needed_to_log_in_and_to_join(start):
    demo = start()
    wait_until(lambda: demo.saw(r"Ctrl-C stops everything"), "the demo's introduction", 30, 0.05)
    assert re.search(r"user admin, password \S{8,20}\n", demo.text())
    assert re.search(r"xxl\.job\.accessToken=\S{20,}\n", demo.text())
    assert "\033" not in demo.text(), "colours in a file"
    demo.process.send_signal(signal.SIGTERM)
    assert demo.wait() == 0, demo.text()
    assert demo.children() == []


def test_a_child_that_dies_ends_the_demo_and_keeps_its_log(start):
    demo = start()
    wait_until(lambda: demo.saw(r"every second .*\bsucceeded"), "a run", 60, 0.1)
    center = [pid for pid, command in demo.children() if " server " in command]
    os.kill(center[0], signal.SIGKILL)
    assert demo.wait() == 3, demo.text()
    assert "the center has ended by itself" in demo.text()
    assert demo.children() == []
    log = pathlib.Path(re.search(r"what it said is in (\S+)", demo.text())[1])
    assert log.exists() and demo.tmp in log.parents


def test_a_demo_that_is_killed_takes_its_children_along(start):
    demo = start()
    wait_until(lambda: len(demo.parts()) == 3, "three children", 60, 0.05)
    demo.process.kill()
    demo.process.wait()
    wait_until(lambda: demo.children() == [], "the children to end", 30, 0.05)


def test_keeps_a_folder_that_was_named(start, tmp_path):
    demo = start("--data", str(tmp_path / "tmp" / "mine"))
    wait_until(lambda: demo.saw(r"Ctrl-C stops everything"), "the demo's introduction", 30, 0.05)
    demo.process.send_signal(signal.SIGINT)
    assert demo.wait() == 0, demo.text()
    assert f"the data is in {tmp_path}/tmp/mine" in demo.text()
    assert (tmp_path / "tmp" / "mine" / "center" / "peal.db").exists()


def test_refuses_a_port_that_is_taken(start):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        demo = start("--port", str(s.getsockname()[1]))
        assert demo.wait() == 3
    assert "is taken" in demo.text()
    assert list(demo.tmp.iterdir()) == []


@pytest.mark.parametrize("args, text", [
    (["--port", "0"], "--port: must be 1-65535"),
    (["--port", "x"], "--port: must be 1-65535"),
    (["--prot", "1"], "there is no option --prot"),
    (["now"], "it takes no argument now"),
])
def test_refuses_wrong_arguments(start, args, text):
    demo = start(*args)
    assert demo.wait() == 2
    assert text in demo.text()
