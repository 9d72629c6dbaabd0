# SPDX-License-Identifier: Apache-2.0
"""Figures of a center, added up from its tables as docs/storage.md has them, and held against the log."""

import collections

from support import ledger

DAY, DAY_OF_JOB = 3, 5  # levels
OUTCOMES = ("succeeded", "failed", "timed_out", "killed", "lost", "rejected", "skipped", "withdrawn")
CLASSES = {"succeeded": "succeeded", "timed_out": "timed out", "rejected": "rejected", "failed": "failed",
           "killed": "failed", "lost": "failed"}  # what a log row can tell
DAY_S = 86400


def numbers(data):
    """The numbers of a row of bytes: seven bits a byte, lowest first."""
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def signed(value):
    return (value >> 1) ^ -(value & 1)


def ends(data):
    """The ends in the bytes of one commit: (outcome before or None, outcome, job, group, second)."""
    it = iter(data)
    assert next(it) == 1, "another version"
    at_ms = next(numbers(it))
    job = group = 0
    second = at_ms // 1000
    for outcomes in it:
        log, by_job, by_group, by_second, *_ = (next(numbers(it)) for _ in range(8))
        assert log
        job, group, second = job + signed(by_job), group + signed(by_group), second + signed(by_second)
        before, now = outcomes >> 4, outcomes & 15
        yield (OUTCOMES[before - 1] if before else None), OUTCOMES[now - 1], job, group, second


def added_up(db):
    """{(first second of the day, "group" or "job", id): counts by class} of a center that runs in UTC; the whole is
    group 0."""
    found = collections.defaultdict(collections.Counter)
    through = collections.defaultdict(int)
    for row in db.execute("SELECT slot, group_id, job_id, through, " + ", ".join(OUTCOMES) + " FROM peal_figure"):
        slot, group, job, last, *counts = row
        level, second = slot >> 40, (slot & (1 << 40) - 1) * 60
        if level == 1:
            through[second, group] = last
        if level in (DAY, DAY_OF_JOB):
            of = ("job", job) if level == DAY_OF_JOB else ("group", group)
            for outcome, count in zip(OUTCOMES, counts):
                if outcome in CLASSES:
                    found[(second, *of)][CLASSES[outcome]] += count
    of_jobs = dict(db.execute("SELECT job_id, through FROM peal_job_stat"))
    for n, data in db.execute("SELECT n, ends FROM peal_delta ORDER BY n"):
        for before, outcome, job, group, second in ends(data):
            day = second // DAY_S * DAY_S
            new = [("group", g) for g in (0, group) if n > through[second // 900 * 900, g]]
            new += [("job", job)] if n > of_jobs.get(job, 0) else []
            for of in new:
                if outcome in CLASSES:
                    found[(day, *of)][CLASSES[outcome]] += 1
                if before:
                    found[(day, *of)][CLASSES[before]] -= 1
    return {key: +counts for key, counts in found.items() if +counts}


def class_of(trigger_code, handle_code, message):
    if (message or "").startswith(("withdrawn: ", "skipped: ")):
        return None
    if trigger_code in (0, 200) and handle_code == 0:
        return None  # open
    return {0: "rejected", 200: "succeeded", 502: "timed out"}.get(handle_code, "failed")


def counted(db):
    """The same from the log."""
    found = collections.defaultdict(collections.Counter)
    for group, job, ms, *codes in db.execute(
            "SELECT job_group, job_id, trigger_time, trigger_code, handle_code, handle_msg FROM xxl_job_log"):
        of_class = class_of(*codes)
        day = ms // 1000 // DAY_S * DAY_S
        if of_class:
            for of in (("group", 0), ("group", group), ("job", job)):
                found[(day, *of)][of_class] += 1
    return dict(found)


def check(center):
    """In one snapshot. All rows of the log must still be there."""
    with ledger.opened(center) as db:
        ledger.begin_look(center, db)
        figures, log = added_up(db), counted(db)
    wrong = {key: (figures.get(key), log.get(key)) for key in figures.keys() | log.keys()
             if figures.get(key) != log.get(key)}
    assert not wrong, f"{len(wrong)} figures differ from the log: {dict(list(wrong.items())[:5])}"
    return sum((counts.total() for (_, of, which), counts in log.items() if (of, which) == ("group", 0)), 0)
