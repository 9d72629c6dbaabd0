# SPDX-License-Identifier: Apache-2.0
"""`log.format`: every line that server and executor write on standard error, in the format that was chosen, whatever
others put into its text."""

import json
import os
import re
import subprocess

import pytest
from support.center import TOKEN, Center, binary, clean_environment
from support.executor import Executor
from support.standin import StandinCenter
from support.wait import PATIENCE, wait_until

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
LOGFMT = re.compile(rf'ts={TIME} level=(error|warn|info|debug) module=[a-z0-9]+ msg="(?:[^"\\]|\\.)*"( repeated=\d+)?')
TEXT = re.compile(rf"{TIME} (error|warn |info |debug) [a-z0-9]+: .*")
# a line feed and what looks like a line of ours, a quote, an escape sequence, a C1 control character
HOSTILE = 'x"\n{"ts":"2026-01-01T00:00:00.000Z","level":"error","msg":"forged"}\nlevel=error msg="forged"\r\x1b[2J\x9b中\\'


def is_json(line):
    event = json.loads(line)
    assert list(event)[:4] == ["ts", "level", "module", "msg"] and set(event) <= {"ts", "level", "module", "msg",
                                                                                 "repeated"}, line
    assert re.fullmatch(TIME, event["ts"]) and event["level"] in ("error", "warn", "info", "debug"), line
    assert isinstance(event["msg"], str), line
    return True


RULES = {"logfmt": LOGFMT.fullmatch, "text": TEXT.fullmatch, "json": is_json}


def lines_of(path):
    """What a process has written so far: whole lines, of any bytes. The box of the server's first start, which goes
    to standard output, is left out."""
    data = path.read_bytes()
    lines = [line.decode(errors="surrogateescape") for line in data[:data.rfind(b"\n") + 1].split(b"\n")[:-1]]
    return [line for line in lines if line and not line.startswith(("  |", "  +"))]


def check(lines, rule):
    for line in lines:
        assert not re.search(r"[\x00-\x1f\x7f]", line), line
        assert rule(line), line


@pytest.mark.parametrize("kind", RULES)
def test_lines_of_the_server(tmp_path, kind):
    folder = os.fsencode(tmp_path) + b"/" + HOSTILE.encode()
    os.mkdir(folder)
    with Center(tmp_path, args=["--log.format", kind, "--backup.folder", folder]) as center:
        wait_until(lambda: any("has all that was committed" in line for line in lines_of(center.output)), "a backup")
    lines = lines_of(center.output)
    assert any("stopped" in line for line in lines)
    check(lines, RULES[kind])


@pytest.mark.parametrize("kind", RULES)
def test_lines_of_the_executor(tmp_path, kind):
    stderr = tmp_path / "stderr"
    with StandinCenter() as center:
        center.answer = lambda action, body: {"code": 500, "msg": HOSTILE + "中" * 200, "content": None}
        executor = Executor(tmp_path, center.url, ["--log.format", kind])
        with open(stderr, "wb") as out:
            process = subprocess.Popen(executor.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=out, env=executor.env, cwd=tmp_path)
            try:
                wait_until(lambda: any("forged" in line for line in lines_of(stderr)), "the refused registration", 20)
            finally:
                process.terminate()
                assert process.wait(30 * PATIENCE) == 0
    check(lines_of(stderr), RULES[kind])


def test_why_a_server_does_not_start_is_a_line_too(tmp_path):
    done = subprocess.run([str(binary()), "server", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "d"),
                           "--log.format=json", "--zone", "Mars/Olympus"], capture_output=True, text=True, timeout=20 * PATIENCE,
                          check=False, env=clean_environment(PEAL_ACCESS_TOKEN=TOKEN))
    assert done.returncode == 3
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert "Mars/Olympus" in events[-1]["msg"] and events[-1]["level"] == "error"


@pytest.mark.parametrize("command, name", [("server", "log.format"), ("executor", "peal.executor.log.format")])
def test_another_format_is_refused(tmp_path, command, name):
    done = subprocess.run([str(binary()), command, f"--{name}=xml"], capture_output=True, text=True, timeout=20 * PATIENCE,
                          check=False, cwd=tmp_path, env=clean_environment(PEAL_ACCESS_TOKEN=TOKEN))
    assert done.returncode == 2 and f"{name}" in done.stderr and "must be logfmt, text or json" in done.stderr, done
