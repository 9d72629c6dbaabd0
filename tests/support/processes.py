# SPDX-License-Identifier: Apache-2.0
"""Processes as /proc shows them. One may go at any instant: between the look that found its folder and the one that opens
a file there (ENOENT), and between open and read (ESRCH)."""

import pathlib


def _read(pid, name):
    """None: there is no such process, or none any more."""
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None


def state(pid):
    """Z: it has ended and its parent has not waited for it. None: it is gone."""
    stat = _read(pid, "stat")
    return stat and stat.rpartition(")")[2].split()[0]


def parent(pid):
    """None: the process is gone."""
    stat = _read(pid, "stat")
    return stat and int(stat.rpartition(")")[2].split()[1])


def alive(pid):
    """Is there a process of that number that has not ended? (A zombie has.)"""
    return state(pid) not in (None, "Z", "X")


def children(pid):
    """Of its first thread; none of a process that is gone."""
    return [int(child) for child in (_read(pid, f"task/{pid}/children") or "").split()]
