# SPDX-License-Identifier: Apache-2.0
"""Disks that are full, or fail, when a test says so."""

import contextlib
import ctypes
import os
import pathlib
import resource
import struct
import subprocess

from .center import ROOT


CLONE_NEWNS = 0x00020000  # unshare(2); os.unshare came with Python 3.12


def own_mounts():
    """What this thread mounts, and the processes that it starts, is seen by these alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "cannot have a namespace of mounts")
    # in a chroot nothing names the mount that / lies on: what is mounted there is seen outside too, until its umount
    done = subprocess.run(["mount", "--make-rprivate", "/"], check=False, capture_output=True, text=True)
    if done.returncode and os.stat("/").st_ino == os.stat("/proc/1/root").st_ino:
        raise OSError(done.stderr)


class SmallDisk:
    """A tmpfs of a few MB: fill() takes all of its room, free() gives it back."""

    def __init__(self, folder, size="16m"):
        self.folder = folder / "disk"
        self.size = size

    def __enter__(self):
        self.folder.mkdir(parents=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.size}", "tmpfs", str(self.folder)],
                              capture_output=True, text=True, check=False)
        self.mounted = done.returncode == 0
        return self

    def __exit__(self, *_):
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.folder)], check=True)

    def fill(self, owner):
        ballast = os.open(self.folder / "ballast", os.O_WRONLY | os.O_CREAT)
        with contextlib.suppress(OSError):
            while True:
                os.write(ballast, bytes(4096))
        os.close(ballast)

    def free(self, owner):
        (self.folder / "ballast").unlink()


class FailingDisk:
    """An ext4 of its own, on a loop device. fail(): the kernel finds an error in it and lets nothing be written any more,
    as after a bad block (errors=remount-ro). Only a check of the file system mends that: repair(), when no process has a
    file there open.

    From then on this process mounts in a namespace of its own. A process that gets one elsewhere, as tests of packages
    begin, has a copy of every mount that it sees: umount ended this one here and not there, the check changed a file
    system that was mounted, and the next mount was again the one that had failed."""

    def __init__(self, folder):
        self.folder, self.image = folder / "disk", folder / "image"

    def __enter__(self):
        own_mounts()
        self.folder.mkdir(parents=True)
        with open(self.image, "wb") as f:
            f.truncate(128 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-E", "lazy_itable_init=0", str(self.image)], check=True)
        self.device = subprocess.run(["losetup", "--find", "--show", str(self.image)], capture_output=True, text=True,
                                     check=True).stdout.strip()
        self._mount()
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", str(self.folder)], check=False)  # a repair that failed has done it
        subprocess.run(["losetup", "--detach", self.device], check=True)  # at its last close, if it is in use yet

    def _mount(self):
        subprocess.run(["mount", "-o", "errors=remount-ro", self.device, str(self.folder)], check=True)
        how = subprocess.run(["findmnt", "-n", "-o", "OPTIONS", str(self.folder)], capture_output=True, text=True,
                             check=True).stdout
        assert how.startswith("rw,"), f"mounted in another way than asked: {how}"

    def fail(self):
        pathlib.Path(f"/sys/fs/ext4/{os.path.basename(self.device)}/trigger_fs_error").write_text("1")

    def repair(self):
        subprocess.run(["umount", str(self.folder)], check=True)
        done = subprocess.run(["fsck.ext4", "-p", "-f", self.device], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stdout + done.stderr  # 1: errors were corrected
        self._mount()


class SmallFiles:
    """A limit on the size of a process's files (RLIMIT_FSIZE), set and lifted while it runs: what a full disk
    is for a machine that does not let us mount."""

    def __init__(self, folder):
        self.folder = folder / "disk"

    def __enter__(self):
        self.folder.mkdir(parents=True)
        return self

    def __exit__(self, *_):
        pass

    def fill(self, owner):
        # less than the database has, so that no checkpoint succeeds; more than the log of this test will have
        resource.prlimit(owner.process.pid, resource.RLIMIT_FSIZE, (64 << 10, resource.RLIM_INFINITY))

    def free(self, owner):
        if owner.running():  # else the limit has gone with its process
            resource.prlimit(owner.process.pid, resource.RLIMIT_FSIZE,
                             (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def may_mount(tmp_path):
    """Whether a tmpfs can be had here (root, outside of most containers)."""
    with SmallDisk(tmp_path) as disk:
        return disk.mounted


def small_disk(tmp_path):
    return (SmallDisk if may_mount(tmp_path / "try") else SmallFiles)(tmp_path)


class DiskErrors:
    """Errors of the disk for programs started with env, on files whose path contains part. A process counts
    the calls that failed: a loop without a pause has very many.

    HOLDS: a sync does not return until end(); failures() is more than 0 as soon as one is held. STOPS: nor is
    anything written, so a kill finds nothing in the page cache either; let_one() lets one commit pass."""

    READS, WRITES, SYNCS, HOLDS, STOPS = 1, 2, 4, 8, 16

    def __init__(self, folder, part):
        folder.mkdir(parents=True, exist_ok=True)
        library = folder / "fail.so"
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o",
                        str(library), str(ROOT / "tests/support/disk_errors/fail.c"), "-ldl"], check=True)
        self.file = open(folder / "control", "w+b", buffering=0)
        self.end()
        # a sanitizer's runtime wants to come first; it may come second, as the library only hands on
        asan = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
        self.env = {"LD_PRELOAD": str(library), "DISK_ERRORS_FILE": self.file.name, "DISK_ERRORS_PATH": part,
                    "ASAN_OPTIONS": asan}

    def begin(self, what, error=0):
        os.pwrite(self.file.fileno(), struct.pack("=iiq", what, error, 0), 0)

    def let_one(self):
        """While it stops: what is being written, as far as its sync. failures() then counts what is behind it."""
        self.begin(self.STOPS, 1)

    def end(self):
        """How many calls failed."""
        failures = self.failures()
        os.pwrite(self.file.fileno(), struct.pack("=iiq", 0, 0, 0), 0)
        return failures

    def failures(self):
        return struct.unpack("=iiq", os.pread(self.file.fileno(), 16, 0).ljust(16, b"\0"))[2]
