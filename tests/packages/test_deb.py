# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: what is in them, and their life in a clean Debian. There is no systemd in it, so a unit's
ExecStart is executed as its user."""

import hashlib
import json
import os
import re
import subprocess


from support import webapi
from support.center import Center, clean_environment
from support.installed import ROOT, command
from support.wait import PATIENCE, wait_until

from conftest import Packages

NAMES = {"peal", "peal-server", "peal-executor", "libpeal0", "libpeal-dev"}
WANTS = "/etc/systemd/system/multi-user.target.wants"


# -- what is in them --


def test_lintian_finds_nothing_and_nothing_is_hidden_from_it(packages):
    changes, = packages.folder.glob("*.changes")
    said = command("lintian", "--fail-on=error,warning", "--show-overrides", changes)
    assert re.findall(r"^[EWO]: .*", said, re.M) == []


def test_they_carry_the_version_of_the_program(packages):
    version = re.search(r"project\(peal VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert NAMES <= set(packages.files)
    assert {packages.field(name, "Version") for name in NAMES} == {version}


def test_programs_and_libraries_are_hardened_and_the_console_is_in(packages, tmp_path):
    tree = packages.unpack(tmp_path, "peal", "libpeal0")
    library, = tree.glob("usr/lib/*/libpeal.so.0.*")
    command(ROOT / "scripts" / "check-hardening.py", tree / "usr/bin/peal", library)
    block = (ROOT / "web/dist/packed/console/files.bin").read_bytes()
    assert block in (tree / "usr/bin/peal").read_bytes()


def test_an_executor_is_built_with_the_library_s_packages(packages, tmp_path):
    tree = packages.unpack(tmp_path / "tree", "libpeal0", "libpeal-dev")
    folder, = tree.glob("usr/lib/*/pkgconfig")
    env = {**os.environ, "PKG_CONFIG_PATH": str(folder), "PKG_CONFIG_SYSROOT_DIR": str(tree)}
    flags = command("pkg-config", "--cflags", "--libs", "peal", env=env).split()
    program = tmp_path / "hello"
    command("gcc", tree / "usr/share/doc/libpeal-dev/examples/hello.c", *flags, "-o", program)
    assert "--centers" in command(program, "--help", env={**os.environ, "LD_LIBRARY_PATH": str(folder.parent)})


def test_the_bill_of_materials_names_what_is_linked_and_what_is_in_the_console(packages, tmp_path):
    tree = packages.unpack(tmp_path, "peal")
    program, notice = tree / "usr/bin/peal", (tree / "usr/share/doc/peal/third-party.txt").read_text()
    sbom = json.loads((tree / "usr/share/doc/peal/sbom.cdx.json").read_text())
    assert (sbom["bomFormat"], sbom["specVersion"]) == ("CycloneDX", "1.5")
    assert sbom["metadata"]["component"]["hashes"][0]["content"] == hashlib.sha256(program.read_bytes()).hexdigest()
    assert all(part["licenses"][0]["expression"] for part in sbom["components"])

    libraries = {part["name"]: part for part in sbom["components"] if part["purl"].startswith("pkg:deb/")}
    assert set(libraries) == set(re.findall(r"NEEDED +(\S+)", command("objdump", "-p", program)))
    depends = packages.field("peal", "Depends")
    for part in libraries.values():
        package, version = re.fullmatch(r"pkg:deb/debian/(\S+)@(\S+)\?arch=\w+", part["purl"]).groups()
        assert re.search(rf"(^|, ){re.escape(package)} \(", depends) and part["version"] == version
        assert command("dpkg-query", "-W", "-f", "${Version}", package) == version

    locked = {(path.rpartition("node_modules/")[2], entry["version"])
              for path, entry in json.loads((ROOT / "web/package-lock.json").read_text())["packages"].items()}
    npm = {(part["name"], part["version"]) for part in sbom["components"] if part["purl"].startswith("pkg:npm/")}
    assert npm and npm <= locked and len(npm) + len(libraries) == len(sbom["components"])
    assert set(json.loads((ROOT / "web/package.json").read_text())["dependencies"]) <= {name for name, _ in npm}
    assert set(re.findall(r"^==== (\S+) (\S+) ", notice, re.M)) == npm
    assert all("Permission is hereby granted" in part for part in notice.split("\n==== ")[1:])


def test_two_builds_have_the_same_bytes(packages, tmp_path):
    """Another folder, time, time zone, language, home and mask."""
    umask = os.umask(0o027)
    try:
        again = Packages(tmp_path / "another" / "folder", TZ="Asia/Kathmandu", LC_ALL="C", HOME=str(tmp_path))
    finally:
        os.umask(umask)

    def sums(built):
        return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in built.files.items()}
    assert sums(again) == sums(packages)


# -- their life --


def older(package, folder):
    """The same package as an earlier version of itself."""
    command("dpkg-deb", "-R", package, folder / "tree")
    control = folder / "tree" / "DEBIAN" / "control"
    text = control.read_text()
    version = re.search(r"^Version: (.*)$", text, re.M)[1]
    control.write_text(text.replace(f"Version: {version}", "Version: 0.0.1").replace(f"(= {version})", "(= 0.0.1)"))
    path = folder / package.name.replace(f"_{version}_", "_0.0.1_")
    command("dpkg-deb", "--root-owner-group", "-b", folder / "tree", path)
    return path


def service(root, name):
    """[Service] of an installed unit."""
    text = root.read(f"/lib/systemd/system/{name}.service")
    return dict(line.split("=", 1) for line in text.splitlines() if re.match(r"[A-Z]\w+=", line))


class InstalledCenter(Center):
    """ExecStart of the installed unit, as its user; the port is the test's, by the unit's file of variables."""

    def __init__(self, folder, root):
        super().__init__(folder)
        self.root = root
        env = root.path("/etc/peal/server.env")
        env.write_text(f"PEAL_LISTEN=127.0.0.1:{self.port}\n")
        env.chmod(0o600)

    def start(self, timeout=60):
        unit = service(self.root, "peal-server")
        variables = dict(line.split("=", 1) for line in self.root.read("/etc/peal/server.env").splitlines())
        words = self.root.words(*unit["ExecStart"].split(), user=unit["User"])
        with open(self.output, "ab") as out:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                            umask=int(unit["UMask"], 8), env=clean_environment(**variables))
        self._down = False
        wait_until(self._ready, f"{self.url}/readyz to answer 200", timeout, 0.05)
        return self


def traces(root):
    """Files that are the packages' or made by their programs, by name or owner."""
    users = {line.split(":")[2] for line in root.read("/etc/passwd").splitlines() if line.startswith("peal")}
    found = set()
    for folder, folders, files in os.walk(root.folder):
        for name in folders + files:
            path = os.path.join(folder, name)
            if "peal" in name or str(os.lstat(path).st_uid) in users:
                found.add(os.path.relpath(path, root.folder))
    return {path for path in found if not path.startswith("var/tmp/")}


def first_password(center):
    said = center.output.read_text()
    return re.search(r"password\s+(\S+)\s+\(shown this once\)", said)[1]


def test_a_center_is_installed_upgraded_removed_and_purged(packages, debian, tmp_path):
    names = ("peal", "peal-server")
    before = traces(debian)
    for name in names:
        (tmp_path / name).mkdir()
    debian.apt("install", *(older(packages[name], tmp_path / name) for name in names))

    # as it comes: its own user, nothing that others may read, enabled, on this machine only
    assert debian.owner("/var/lib/peal") == "peal peal 700"
    assert debian.owner("/etc/peal/server.properties") == "root peal 640"
    assert "nologin" in debian.run("getent", "passwd", "peal")
    assert debian.path(f"{WANTS}/peal-server.service").is_symlink()
    assert "listen=127.0.0.1:8080" in debian.read("/etc/peal/server.properties").split()
    assert "peal" in debian.run("peal", "version")

    settings = debian.path("/etc/peal/server.properties")
    with settings.open("a") as file:
        file.write("log.retention-days=9\n")
    with InstalledCenter(tmp_path / "center", debian) as center:
        center.password = first_password(center)
        api = center.api()
        job = api.add_job(api.add_group("installed"), "kept", scheduleType="CRON", scheduleConf="0 0 3 * * ?")
        page = webapi.request(center.port, "GET", "/", None, {"Accept": "text/html"})[2]
        assert b"<script" in page, "the console"
    written = [path for path in debian.path("/var/lib/peal").iterdir()]
    assert {"peal.db", "token"} <= {path.name for path in written}
    assert [path for path in written if path.stat().st_mode & 0o077] == []

    debian.apt("install", *(packages[name] for name in names))
    version = packages.field("peal", "Version")
    assert debian.run("dpkg-query", "-W", "-f", "${Version} ${Status}\n", *names).splitlines() == [
        f"{version} install ok installed"] * 2
    assert "log.retention-days=9" in settings.read_text().split(), "what the administrator wrote"
    assert debian.owner("/etc/peal/server.properties") == "root peal 640"
    with center:  # the same data, the same user
        assert center.api().groups("installed")

    debian.apt("remove", *names)
    assert not debian.succeeds("which", "peal")
    assert settings.exists() and debian.path("/var/lib/peal/peal.db").exists(), "removal keeps settings and data"
    debian.apt("purge", *names)
    assert traces(debian) - before == set()


def test_an_executor_is_installed_and_works_once_it_is_told_its_center(packages, debian, tmp_path):
    names = ("peal", "peal-server", "peal-executor")
    debian.apt("install", *(packages[name] for name in names))
    assert debian.owner("/var/lib/peal-executor") == "peal-executor peal-executor 700"
    assert debian.owner("/etc/peal/executor.properties") == "root peal-executor 640"
    assert not debian.path(f"{WANTS}/peal-executor.service").exists(), "it is not enabled by itself"
    assert not debian.succeeds("setpriv", "--reuid=peal-executor", "--clear-groups", "ls", "/var/lib/peal"), "scripts see no database"

    with InstalledCenter(tmp_path / "center", debian) as center:
        settings = debian.path("/etc/peal/executor.properties")
        settings.write_text(settings.read_text().replace(":8080", f":{center.port}") +
                            "xxl.job.executor.port=0\nlisten=127.0.0.1\n")
        unit = service(debian, "peal-executor")
        state = f"/var/lib/{unit['StateDirectory']}"
        words = debian.words("env", f"--chdir={state}", *unit["ExecStart"].split(), user=unit["User"])
        token = debian.read("/var/lib/peal/token").strip()
        executor = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    umask=int(unit["UMask"], 8), env=clean_environment(PEAL_ACCESS_TOKEN=token))
        try:
            wait_until(lambda: center.metric("peal_executors") == 1, "it to register", 30)
            executor.terminate()
            assert executor.wait(60 * PATIENCE) == 0
        finally:
            executor.kill()
        assert debian.path(f"{state}/peal-executor-logs/journal.db").exists()
    debian.apt("purge", "peal-executor")
    assert not debian.path(state).exists() and not debian.path("/etc/peal/executor.properties").exists()
    assert debian.path("/var/lib/peal/peal.db").exists(), "the center's is not the executor's to purge"
