# SPDX-License-Identifier: Apache-2.0
"""peal cron, the real binary: PEAL_BIN names it, else the newest build/*/peal."""
import os
import pathlib
import re
import subprocess

from support.wait import PATIENCE

ROOT = pathlib.Path(__file__).resolve().parents[2]
VECTORS = ROOT / "tests" / "vectors"


def binary():
    if os.environ.get("PEAL_BIN"):
        return os.environ["PEAL_BIN"]
    built = sorted(ROOT.glob("build/*/peal"), key=lambda p: p.stat().st_mtime)
    assert built, "build peal first, or set PEAL_BIN"
    return str(built[-1])


def peal(*args, stdin=b"", tz="UTC"):
    env = dict(os.environ, TZ=tz)
    done = subprocess.run([binary(), *args], input=stdin, capture_output=True, env=env, timeout=60 * PATIENCE)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_next_prints_scheduled_times_with_the_offset_of_the_zone():
    status, out, err = peal("cron", "next", "0 30 2 * * ?", "--zone", "America/New_York",
                            "--from", "2024-03-09T12:00:00-05:00", "--count", "2")
    assert (status, err) == (0, "")
    assert out == "2024-03-10T03:00:00-04:00\n2024-03-11T02:30:00-04:00\n"


def test_next_can_do_as_xxl_job_does():
    status, out, _ = peal("cron", "next", "0 30 2 * * ?", "--zone=America/New_York", "--dst=xxl",
                          "--from=2024-03-09T12:00:00-05:00", "--count=1")
    assert (status, out) == (0, "2024-03-11T02:30:00-04:00\n")


def test_next_defaults_to_ten_from_now_in_the_machines_zone():
    status, out, _ = peal("cron", "next", "0 0 9 * * ?", tz="Asia/Shanghai")
    lines = out.splitlines()
    assert status == 0 and len(lines) == 10
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT09:00:00\+08:00", line) for line in lines)


def test_never_is_said_and_is_exit_status_1():
    assert peal("cron", "next", "0 0 0 30 2 ?")[:2] == (1, "never\n")


def test_refusals_go_to_standard_error_with_status_2():
    for args, part in [
        (["0 0 9 * * *"], "write: 0 0 9 * * ?"),
        (["0", "0", "9", "*", "*", "?"], "put it in quotes"),
        ([], "an expression is missing"),
        (["* * * * * ?", "--zone", "Mars/Olympus"], "Mars/Olympus: unknown"),
        (["* * * * * ?", "--zone", "../../etc/passwd"], "time zone"),
        (["* * * * * ?", "--from", "tomorrow"], "RFC 3339"),
        (["* * * * * ?", "--count", "0"], "--count must be"),
        (["* * * * * ?", "--dst", "java"], "--dst must be"),
        (["* * * * * ?", "--colour"], "there is no option --colour"),
        (["* * * * * ?", "--zone"], "a value is missing after --zone"),
        (["--batch", "* * * * * ?"], "standard input"),
    ]:
        status, out, err = peal("cron", "next", *args)
        assert (status, out) == (2, "") and part in err, (args, err)


def test_explain_speaks_three_languages():
    rows = [line.split("\t") for line in (VECTORS / "cron-explain.tsv").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 200
    for expression, english, simplified, traditional in rows[::20]:
        for language, sentence in (("en", english), ("zh-CN", simplified), ("zh-TW", traditional)):
            assert peal("cron", "explain", expression, "--lang", language)[:2] == (0, sentence + "\n")
        assert peal("cron", "explain", expression)[1] == english + "\n"
    there = peal("cron", "explain", "0 0 9 * * ?", "--zone", "Asia/Shanghai")
    assert there[0] == 0 and there[1].endswith(" (Asia/Shanghai)\n"), there
    assert "Asia/Nowhere" in peal("cron", "explain", "0 0 9 * * ?", "--zone", "Asia/Nowhere")[2]
    status, out, err = peal("cron", "explain", "0 0 9 * * ?", "--lang", "fr")
    assert (status, out) == (2, "") and "--lang must be en, zh-CN or zh-TW" in err


def test_batch_answers_every_vector():
    wanted = [line.split("\t")[3] for line in (VECTORS / "cron-next.tsv").read_text().splitlines()]
    status, out, _ = peal("cron", "next", "--batch", "--count", "8", "--dst", "xxl",
                          stdin=(VECTORS / "cron-next.tsv").read_bytes())
    assert status == 0 and out.splitlines() == wanted


def test_batch_tells_invalid_expressions():
    lines = (VECTORS / "cron-invalid.tsv").read_bytes().decode().split("\n")[:-1]
    rows = [line.split("\t") for line in lines]
    stdin = "".join(f"{row[0]}\tUTC\t2026-01-01T00:00:00Z\n" for row in rows)
    _, out, _ = peal("cron", "next", "--batch", "--count", "1", stdin=stdin.encode())
    answers = out.splitlines()
    assert len(answers) == len(rows) == 800
    for row, answer in zip(rows, answers):
        assert (answer == "INVALID") == (row[1] == "INVALID"), row


def test_batch_answers_one_line_for_each_line_whatever_it_is():
    good = b"0 0 0 * * ?\tUTC\t2024-01-01T00:00:00Z"
    answer = "1704153600000"
    for line, want in [
        (good, answer),
        (good + b"\tmore\tcolumns", answer),
        (good + b"\r", answer),
        (b"\\t0\\u0009 0 0 * * ?\tUTC\t2024-01-01T00:00:00Z", answer),
        (b"0 0 0 30 2 ?\tUTC\t2024-01-01T00:00:00Z", "-"),
        (b"", "INVALID"),
        (b"\t\t", "INVALID"),
        (b"0 0 0 * * ?", "INVALID"),
        (b"0 0 0 * * ?\tUTC", "INVALID"),
        (b"0 0 0 * * ?\t\t2024-01-01T00:00:00Z", "INVALID"),
        (b"0 0 0 * * ?\tMars/Olympus\t2024-01-01T00:00:00Z", "INVALID"),
        (b"0 0 0 * * ?\tU\0TC\t2024-01-01T00:00:00Z", "INVALID"),
        (b"0 0 0 * * ?\tUTC\tnow", "INVALID"),
        (b"0 0 0 * * ?\\x\tUTC\t2024-01-01T00:00:00Z", "INVALID"),
        (b"0 0 0 * * ?\\u12\tUTC\t2024-01-01T00:00:00Z", "INVALID"),
        (b"0 0 0 * * ?\\", "INVALID"),
        (b"\xff\xfe", "INVALID"),
        (b" " * 600 + good, "INVALID"),
        (b"x" * 300000 + good, "INVALID"),
    ]:
        status, out, _ = peal("cron", "next", "--batch", "--count", "1",
                              stdin=good + b"\n" + line + b"\n" + good)
        assert (status, out) == (0, f"{answer}\n{want}\n{answer}\n"), line[:80]
    assert peal("cron", "next", "--batch", stdin=b"")[:2] == (0, "")


def test_batch_answers_before_it_waits_for_more():
    with subprocess.Popen([binary(), "cron", "next", "--batch", "--count", "1"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        for _ in range(3):
            p.stdin.write(b"0 0 0 * * ?\tUTC\t2024-01-01T00:00:00Z\n")
            p.stdin.flush()
            assert p.stdout.readline() == b"1704153600000\n"
        p.stdin.close()
        assert p.wait(10 * PATIENCE) == 0


def test_help_teaches_and_version_tells():
    status, out, _ = peal("cron", "--help")
    assert status == 0 and "JAN-DEC" in out and "--batch" in out
    assert peal("cron", "next", "--help")[1] == out
    assert peal("help", "cron")[1] == out
    assert "cron" in peal("help")[1] == peal("--help")[1]
    assert peal("version")[1] == peal("--version")[1] and peal("version")[1].startswith("peal ")
    status, out, err = peal("frobnicate")
    assert (status, out) == (2, "") and "no command frobnicate" in err
    assert peal()[0] == 2 and peal("cron")[0] == 2
