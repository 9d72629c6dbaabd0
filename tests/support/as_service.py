#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Become what a systemd unit starts: the settings of [Service], read from the unit, then its ExecStart by exec.

  as_service.py UNIT PREFIX CONF STATE [--no-filter]
  as_service.py UNIT PREFIX CONF STATE --may    can it be done here? Else says why not, with exit status 77

UNIT names PREFIX as /usr, CONF as /etc/peal; STATE is its StateDirectory. systemd itself cannot be had in most
containers, so this does by hand what decides whether a program starts, serves and ends there: the user without
privileges, the environment, the folder, the file system that is not writable, private /tmp, /dev and home, /proc with
others' processes hidden, and the system calls and socket families that are allowed. Without root only what needs none of
it: environment, folder, masks and filter. Root may lack it too: a container without the right to mount, or a chroot, whose
root is no mount of its own and so cannot be kept from showing these ones outside. Settings that this does not know are left out, and named on standard error.
"""
import ctypes
import os
import pathlib
import re
import resource
import subprocess
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
MS_MOVE = 8192
CLONE_NEWNS = 0x00020000
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP, PR_SET_MDWE = 38, 24, 65
USER = 61999  # of the range of dynamic users
SCENE = "/mnt"
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
# done by way of the others, or not to be seen by a program that does nothing of the sort
ELSEWHERE = {"Type", "ExecStart", "Restart", "RestartSec", "User", "Group", "StateDirectoryMode", "KillMode", "OOMPolicy",
             "TimeoutStopSec", "SystemCallArchitectures", "SystemCallErrorNumber", "ProtectClock", "ProtectHostname",
             "ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables", "ProtectControlGroups",
             "RestrictRealtime", "RestrictSUIDSGID", "LockPersonality", "RemoveIPC", "AmbientCapabilities",
             "RuntimeDirectoryMode", "RuntimeDirectoryPreserve"}


def call(name, *args):
    if getattr(LIBC, name)(*args) < 0:
        raise OSError(ctypes.get_errno(), f"{name}{args}")


def mount(what, where, kind=None, flags=0, data=None):
    call("mount", *(None if x is None else os.fsencode(x) for x in (what, where, kind)), flags,
         None if data is None else data.encode())


def read_unit(path):
    lines = [line for line in pathlib.Path(path).read_text().splitlines() if line and line[0] not in "#["]
    return dict(line.split("=", 1) for line in lines)


# -- the file system --

def private_dev():
    os.mkdir(f"{SCENE}/dev")
    mount("tmpfs", f"{SCENE}/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755")
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        pathlib.Path(f"{SCENE}/dev/{name}").touch()
        mount(f"/dev/{name}", f"{SCENE}/dev/{name}", flags=MS_BIND)
    for name in ("shm", "pts", "mqueue"):
        os.mkdir(f"{SCENE}/dev/{name}")
    mount("tmpfs", f"{SCENE}/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    mount(f"{SCENE}/dev", "/dev", flags=MS_MOVE)


def make_read_only():
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        where = re.sub(r"\\(\d{3})", lambda m: chr(int(m[1], 8)), line.split()[4])
        if where not in (f"{SCENE}/state", f"{SCENE}/run", "/tmp", "/var/tmp") and not re.match(r"/(dev|proc|sys)(/|$)", where):
            try:
                mount(None, where, flags=MS_REMOUNT | MS_BIND | MS_RDONLY)
            except OSError:
                pass  # hidden by another one


def change_files(service, prefix, conf, state):
    """Where PREFIX, CONF and STATE are now."""
    call("unshare", CLONE_NEWNS)
    mount(None, "/", flags=MS_REC | MS_PRIVATE)
    mount("tmpfs", SCENE, "tmpfs", MS_NOSUID, "mode=755")
    for name, source in (("usr", prefix), ("etc", conf), ("state", state)):
        os.mkdir(f"{SCENE}/{name}")
        mount(source, f"{SCENE}/{name}", flags=MS_BIND)
    if "RuntimeDirectory" in service:  # /run is a tmpfs
        os.mkdir(f"{SCENE}/run")
        mount("tmpfs", f"{SCENE}/run", "tmpfs", MS_NOSUID | MS_NODEV,
              f"mode={service['RuntimeDirectoryMode']},uid={USER},gid={USER}")
    if service.get("PrivateDevices") == "yes":
        private_dev()
    if service.get("PrivateTmp") == "yes":
        for where in ("/tmp", "/var/tmp"):
            mount("tmpfs", where, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    if service.get("ProtectHome") == "yes":
        for where in ("/home", "/root"):
            mount("tmpfs", where, "tmpfs", MS_NOSUID | MS_NODEV, "mode=000")
    hidden = [f"hidepid={service['ProtectProc']}"] if "ProtectProc" in service else []
    hidden += ["subset=pid"] if service.get("ProcSubset") == "pid" else []
    if service.get("ProtectSystem") == "strict":
        make_read_only()
    if hidden:
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, ",".join(hidden))
    return f"{SCENE}/usr", f"{SCENE}/etc", f"{SCENE}/state"


# -- privileges --

def drop_privileges(service):
    assert service["CapabilityBoundingSet"] == "" and service["User"] != "root"
    for capability in range(64):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)


def allowed_calls(name):
    """What systemd means by @name, by its own list."""
    groups, now = {}, None
    for line in subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager"], check=True, capture_output=True,
                               text=True).stdout.splitlines():
        word = line.strip()
        if line.startswith("@"):
            now = groups.setdefault(word, set())
        elif word and not word.startswith("#") and now is not None:
            now.add(word)
    calls, todo = set(), [name]
    while todo:
        for word in groups[todo.pop()]:
            if word.startswith("@"):
                todo.append(word)
            else:
                calls.add(word)
    return calls


class Compare(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def filter_calls(service):
    calls = allowed_calls(service["SystemCallFilter"]) - {"unshare", "setns", "socket"}
    families = [FAMILIES[name] for name in service["RestrictAddressFamilies"].split()]
    lib = ctypes.CDLL("libseccomp.so.2")
    lib.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(lib.seccomp_init(0x00050001))  # EPERM
    allow, equal = 0x7fff0000, 4
    for name in sorted(calls):
        number = lib.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            assert lib.seccomp_rule_add(context, allow, number, 0) == 0, name
    socket = lib.seccomp_syscall_resolve_name(b"socket")
    for family in families:
        only = (Compare * 1)(Compare(0, equal, family, 0))
        assert lib.seccomp_rule_add_array(context, allow, socket, 1, only) == 0
    assert lib.seccomp_load(context) == 0


# -- the start --

def environment(conf, service, state):
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG": "C.UTF-8", "HOME": "/", "USER": "peal",
           "LOGNAME": "peal", "SHELL": "/usr/sbin/nologin", "STATE_DIRECTORY": state}
    path = conf + service["EnvironmentFile"].removeprefix("-").removeprefix("/etc/peal")
    if os.path.exists(path):
        for line in pathlib.Path(path).read_text().splitlines():
            if line and line[0] not in "#;":
                name, value = line.split("=", 1)
                env[name] = value
    return env


def main():
    unit, prefix, conf, state, *flags = sys.argv[1:]
    service = read_unit(unit)
    known = {"EnvironmentFile", "StateDirectory", "RuntimeDirectory", "WorkingDirectory", "UMask", "LimitNOFILE", "NoNewPrivileges",
             "CapabilityBoundingSet", "ProtectSystem", "ProtectHome", "ProtectProc", "ProcSubset", "PrivateTmp",
             "PrivateDevices", "RestrictNamespaces", "RestrictAddressFamilies", "SystemCallFilter",
             "MemoryDenyWriteExecute"} | ELSEWHERE
    others = set(service) - known - {"Description", "Documentation", "Wants", "After", "WantedBy"}
    if others:
        print("as_service: left out:", *sorted(others), file=sys.stderr)
    env = environment(conf, service, state)  # systemd reads it as root
    if os.geteuid() == 0:
        try:
            prefix, conf, state = change_files(service, prefix, conf, state)
        except OSError as error:
            print(f"as_service: the mounts of a service cannot be made here: {error}", file=sys.stderr)
            sys.exit(77)
        env["STATE_DIRECTORY"] = state
        if "RuntimeDirectory" in service:
            env["RUNTIME_DIRECTORY"] = f"{SCENE}/run"
    assert service["WorkingDirectory"] == "%S/" + service["StateDirectory"]
    os.chdir(state)
    if "--may" in flags:
        sys.exit(0)
    os.umask(int(service["UMask"], 8))
    files = int(service["LimitNOFILE"])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = files if hard == resource.RLIM_INFINITY else min(files, hard)  # a container may have less than the unit wants
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    words = [word.replace("/usr/", prefix + "/", 1) if word.startswith("/usr/") else
             word.replace("/etc/peal", conf, 1) for word in service["ExecStart"].split()]
    if os.geteuid() == 0:
        drop_privileges(service)
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if service.get("MemoryDenyWriteExecute") == "yes" and "--no-filter" not in flags:
        LIBC.prctl(PR_SET_MDWE, 1, 0, 0, 0)  # a kernel before 6.3 has it not
    if "--no-filter" not in flags:
        filter_calls(service)
    os.execve(words[0], words, env)


main()
