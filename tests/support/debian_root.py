# SPDX-License-Identifier: Apache-2.0
"""A Debian of the smallest kind in a folder, made by mmdebstrap from what apt's own configuration names, and programs
that run in it. It needs root and the right to mount."""

import os
import pathlib
import shutil
import subprocess

from .installed import command

# the two small programs of systemd that packages call; systemd itself would be taken otherwise
WITH = ("systemd-standalone-sysusers", "systemd-standalone-tmpfiles")
NETWORK = ("Acquire::http", "Acquire::https", "Acquire::Retries", "Acquire::ForceIPv4")


def codename():
    lines = pathlib.Path("/etc/os-release").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)["VERSION_CODENAME"].strip('"')


def sources():
    """This release of Debian, as lines of sources.list, from where this machine gets it."""
    rows = command("apt-get", "indextargets", "--format", "$(ORIGIN)\t$(CODENAME)\t$(REPO_URI)\t$(COMPONENT)",
                   "Created-By: Packages").splitlines()
    lines = [f"deb {uri} {suite} {component}" for origin, suite, uri, component in (row.split("\t") for row in rows)
             if origin == "Debian" and suite == codename()]
    assert lines, f"apt knows no Debian {codename()}: {rows}"
    return sorted(set(lines))


def network_options():
    """How apt reaches it: proxies and the like."""
    lines = command("apt-config", "dump").splitlines()
    return [f"--aptopt={line}" for line in lines if line.startswith(NETWORK) and not line.endswith('"";')]


class DebianRoot:
    """The tree in folder. Programs in it see its own /proc and an empty /run, which goes with them."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    @classmethod
    def make(cls, folder):
        command("mmdebstrap", "--mode=root", "--variant=minbase", "--quiet", "--skip=cleanup/apt/lists", f"--include={','.join(WITH)}", *network_options(),
                codename(), folder, "-", input="\n".join(sources()) + "\n")
        return cls(folder)

    def copy(self, folder):
        command("cp", "-a", "--reflink=auto", self.folder, folder)
        return DebianRoot(folder)

    def path(self, path):
        return self.folder / str(path).lstrip("/")

    def read(self, path):
        return self.path(path).read_text()

    def words(self, *words, user=None, pid=False, only=None):
        """The command that runs words in the tree: as that user without privileges; pid: as process 1 of its own; only:
        nothing but that folder, /run and /dev/shm can be written."""
        mounts = 'mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/run" && mount -t tmpfs tmpfs "$0/dev/shm"'
        if only:
            mounts = (f'mount --bind "$0" "$0" && {mounts} && mount --bind "$0{only}" "$0{only}" && '
                      'mount -o remount,bind,ro "$0"')
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--no-new-privs", "--"] if user else []
        return ["unshare", "--mount", *(["--pid", "--fork", "--kill-child"] if pid else []), "sh", "-c",
                f'{mounts} && exec chroot "$@"', str(self.folder), str(self.folder), *as_user, *map(str, words)]

    def environment(self, **more):
        proxies = {key: value for key, value in os.environ.items() if key.lower().endswith("_proxy")}
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
                **proxies, **more}

    def run(self, *words, user=None):
        """What it prints; it must succeed."""
        return command(*self.words(*words, user=user), env=self.environment())

    def succeeds(self, *words):
        return subprocess.run(self.words(*words), env=self.environment(), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0

    def apt(self, *words):
        """apt-get without a question; names of .deb files outside are brought in."""
        inside = []
        for word in words:
            if isinstance(word, pathlib.Path):
                shutil.copy(word, self.path("/var/tmp"))
                word = f"/var/tmp/{word.name}"
            inside.append(word)
        shutil.copy("/etc/resolv.conf", self.path("/etc/resolv.conf"))
        return self.run("apt-get", "-q", "-y", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0",
                        "-o", "APT::Sandbox::User=root", *inside)

    def owner(self, path):
        """'USER GROUP MODE' of a file, by the tree's own names."""
        return self.run("stat", "-c", "%U %G %a", path).strip()


def why_not():
    """None if such a tree can be made and used here, else the reason."""
    if os.geteuid() != 0:
        return "a Debian in a folder needs root"
    if not shutil.which("mmdebstrap"):
        return "mmdebstrap is not installed: scripts/install-deps.sh package"
    done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
                          capture_output=True, text=True, check=False)
    return f"no mounts here: {done.stderr.strip()}" if done.returncode else None
