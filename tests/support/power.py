# SPDX-License-Identifier: Apache-2.0
"""A disk that loses its power: what one process wrote into a folder (power/trace.c), and what of it a disk may hold.

After a cut the folder has what was synced. Of the rest it has what the dice say: nothing, all, the first part, some of
the writes, or some of their sectors; files that were made, renamed or removed without a sync of their folder have
been or have not. More than that no program may rely on."""

import bisect
import os
import pathlib
import struct
import subprocess
import uuid

from .center import ROOT

OPENED, WRITTEN, TRUNCATED, SYNCING, SYNCED, RENAMED, UNLINKED, LINKED = range(1, 9)
HEAD = struct.Struct("=IIIIQq")
SECTOR = 512
WAYS = ("nothing", "all", "first", "writes", "sectors")


class File:
    """Bytes that are safe, and what was done to them since: (number, offset, bytes), or (number, size, None)."""

    def __init__(self, safe=b"", mode=0o600, lies=False):
        self.safe = bytearray(safe)
        self.mode = mode
        self.lies = lies  # nothing is safe, whatever was confirmed
        self.rest = []

    def take(self, changes):
        for _, at, data in changes:
            if data is None:
                del self.safe[at:]
                self.safe.extend(bytes(at - len(self.safe)))
            else:
                self.safe.extend(bytes(max(0, at - len(self.safe))))
                self.safe[at:at + len(data)] = data

    def synced(self, since):
        """What was done before number since is safe."""
        if self.lies:
            return
        n = bisect.bisect_left([change[0] for change in self.rest], since)
        self.take(self.rest[:n])
        del self.rest[:n]

    def cut(self, dice):
        """What stands there afterwards; how much was lost of what was not safe, in changes."""
        way = dice.choice(WAYS)
        keep = {"nothing": [], "all": self.rest, "first": self.rest[:dice.randrange(len(self.rest) + 1)]}.get(way)
        if keep is None:
            pieces = self.rest if way == "writes" else [piece for change in self.rest for piece in sectors(change)]
            keep = [piece for piece in pieces if dice.random() < 0.5]
        self.take(keep)
        lost = len(self.rest) - (len(keep) if way != "sectors" else len(self.rest) // 2)
        self.rest = []
        return lost


def sectors(change):
    number, at, data = change
    if data is None:
        return [change]
    ends = [*range((at // SECTOR + 1) * SECTOR, at + len(data), SECTOR), at + len(data)]
    begins = [at, *ends[:-1]]
    return [(number, begin, data[begin - at:end - at]) for begin, end in zip(begins, ends)]


class Names:
    """Which name is which file: safe ones, and changes since: (number, folders, what to do to {name: file})."""

    def __init__(self, safe):
        self.safe = dict(safe)
        self.now = dict(safe)
        self.rest = []

    def change(self, number, paths, what):
        what(self.now)
        self.rest.append((number, {os.path.dirname(path) for path in paths}, what))

    def synced(self, since, folder):
        left = []
        for change in self.rest:
            if change[0] < since and folder in change[1]:
                change[2](self.safe)
            else:
                left.append(change)
        self.rest = left

    def cut(self, dice):
        n = dice.randrange(len(self.rest) + 1)  # the metadata of one disk are kept in order
        for _, _, what in self.rest[:n]:
            what(self.safe)
        return self.safe, len(self.rest) - n


class PowerDisk:
    """The disk of one process: root is its folder. Start the process with env, kill it, then cut()."""

    def __init__(self, root, work, nosync=None):
        """work: a folder for what the disk needs itself, best in memory. nosync: it does not keep what it confirms of
        files whose name contains this."""
        self.nosync = nosync
        self.root = pathlib.Path(root)
        self.root.mkdir(parents=True, exist_ok=True)
        self.root = self.root.resolve()
        work = pathlib.Path(work)
        work.mkdir(parents=True, exist_ok=True)
        library = work / "trace.so"
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-shared", "-fPIC", "-O1", "-fvisibility=hidden",
                        "-D_GNU_SOURCE", "-Wall", "-o", str(library), str(ROOT / "tests/support/power/trace.c"),
                        "-pthread"], check=True)
        self.trace = work / "trace"
        self.boot = work / "boot_id"
        self.env = {"LD_PRELOAD": str(library), "POWER_TRACE": str(self.trace), "POWER_ROOT": str(self.root),
                    "POWER_BOOT": str(self.boot)}
        self.pace()
        self.power_on()

    def pace(self, sync_us=3000, slow="", slow_us=0):
        """How long syncs take at most, from the next start on: all, and those of files whose name contains slow."""
        self.env.update(POWER_SYNC_US=str(sync_us), POWER_SLOW=slow or "/none", POWER_SLOW_US=str(slow_us or sync_us))

    def power_on(self):
        """What stands in the folder is safe, and the machine has started anew."""
        self.before = {str(path): File(path.read_bytes(), path.stat().st_mode & 0o777, self._lies(str(path)))
                       for path in self.root.rglob("*") if path.is_file()}
        self.files = {os.stat(path).st_ino: file for path, file in self.before.items()}
        self.trace.write_bytes(b"")
        self.boot.write_text(f"{uuid.uuid4()}\n")

    def _lies(self, path):
        return self.nosync is not None and self.nosync in path

    def _records(self):
        data = self.trace.read_bytes()
        at = 0
        while at + HEAD.size <= len(data):
            kind, a, b, created, file, where = HEAD.unpack_from(data, at)
            at += HEAD.size
            if at + a + b > len(data):
                break  # killed while it was written: the call has not been
            yield kind, data[at:at + a], data[at + a:at + a + b], created, file, where
            at += a + b

    def cut(self, dice):
        """The process is gone: the folder becomes what a disk may hold. What was lost, in words."""
        names, files = Names(self.before), self.files
        syncing, folders, everything = {}, {}, list(self.before.values())
        for number, (kind, a, b, created, inode, at) in enumerate(self._records()):
            path, to = (part.decode() for part in (a, b)) if kind in (OPENED, RENAMED, UNLINKED, LINKED) else ("", "")
            if kind == OPENED and os.path.isdir(path):
                folders[inode] = path
            elif kind == OPENED and (created or inode not in files):
                file = files[inode] = File(lies=self._lies(path))
                everything.append(file)
                names.change(number, [path], lambda n, path=path, file=file: n.update({path: file}))
            elif kind in (WRITTEN, TRUNCATED) and inode in files:  # else a pipe with the number of what libc closed
                files[inode].rest.append((number, at, a if kind == WRITTEN else None))
            elif kind == SYNCING:
                syncing[inode, at] = number
            elif kind == SYNCED and inode in folders:
                names.synced(syncing[inode, at], folders[inode])
            elif kind == SYNCED and inode in files:
                files[inode].synced(syncing[inode, at])
            elif kind == RENAMED:
                names.change(number, [path, to], lambda n, path=path, to=to: path in n and n.update({to: n.pop(path)}))
            elif kind == UNLINKED:
                names.change(number, [path], lambda n, path=path: n.pop(path, None))
            elif kind == LINKED:
                names.change(number, [to], lambda n, path=path, to=to: path in n and n.update({to: n[path]}))
        left, unnamed = names.cut(dice)
        lost = sum(file.cut(dice) for file in everything if file.rest)
        for path in [path for path in self.root.rglob("*") if not path.is_dir()]:
            path.unlink()
        for path, file in left.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(file.safe)
            os.chmod(path, file.mode)
        self.power_on()
        return f"{lost} writes and {unnamed} names lost"
