# SPDX-License-Identifier: Apache-2.0
"""A private Galera cluster for tests: two MariaDB servers and an arbitrator (garbd) as children of the test. The
arbitrator is the third vote, without which the server that is left over refuses everything when the other one dies.

    with galera.open() as pair:
        url = pair.create("jobs")              # by the first server; pair.servers[1].url("jobs"): by the second one
        pair.servers[1].kill(); pair.servers[1].start()      # it rejoins and gets what it lacks
        pair.servers[1].apart(True)            # cut from the others: it refuses all statements
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from support import mariadb, servers
from support.ports import free_port
from support.wait import wait_until

PLUGIN = ("/usr/lib/galera/libgalera_smm.so", "/usr/lib/libgalera_smm.so")
SCRIPT = pathlib.Path(__file__).with_name("wsrep_sst_copy")
OPTIONS = "evs.keepalive_period=PT0.5S;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT4S;evs.install_timeout=PT4S"
GROUP = "peal-tests"


def plugin():
    return next((path for path in PLUGIN if os.path.exists(path)), None)


def missing():
    """What is not installed; None if all is there."""
    if not plugin():
        return "galera-4"
    return servers.missing("mariadb") or (None if shutil.which("garbd") else "garbd")


class Member(servers.MariaDB):
    """One server of the cluster."""

    def __init__(self, pair, number):
        super().__init__(False, pair.folder / f"server{number}", pair.ports[number])
        self.pair, self.place = pair, number
        self.position = []  # of the next start

    def _install(self):
        if self.place == 0:
            return super()._install()
        self._temporary()  # all else is copied when it joins
        self.data.mkdir()
        return shutil.chown(self.data, self._account()) if os.geteuid() == 0 else None

    def _arguments(self):
        home = f"127.0.0.1:{self.pair.links[self.place]}"
        return [*super()._arguments(), "--wsrep-on=ON", f"--wsrep-provider={plugin()}", f"--wsrep-cluster-name={GROUP}",
                f"--wsrep-cluster-address={self.pair.address()}", f"--wsrep-node-name=server{self.place}",
                f"--wsrep-node-address={home}", "--wsrep-sst-method=copy", "--binlog-format=ROW",
                "--innodb-autoinc-lock-mode=2", "--wsrep-slave-threads=2",
                # galera-4 26.4.23, started after a kill -9, may scan the ring of a cache that it shall recover without
                # an end, and take all memory
                f"--wsrep-provider-options=gmcast.listen_addr=tcp://{home};ist.recv_addr=127.0.0.1:"
                f"{self.pair.lists[self.place]};gcache.size=64M;gcache.recover=no;{OPTIONS}"]

    def launch(self, *extra):
        os.environ["PATH"] = self.pair.path  # where the server finds the script
        super().launch(*self.position, *extra)
        self.position = []

    def start(self, *extra):
        """Until it has joined, and has what the others have."""
        super().start(*extra)
        wait_until(self.synced, f"server {self.place} to be in step", 60)

    def status(self, name):
        return self.run(f"SHOW GLOBAL STATUS LIKE 'wsrep_{name}'")[0][1]

    def synced(self):
        with contextlib.suppress(mariadb.DatabaseError):
            return self.status("local_state_comment") == "Synced" and self.status("ready") == "ON"
        return False

    def kill(self):
        """As a crash does. At its next start it says up to where it was, so that it need not be copied whole."""
        super().kill()
        log = subprocess.run(self._as_account(*self._arguments(), "--wsrep-recover", "--log-error-verbosity=3"),
                             capture_output=True, text=True, timeout=60, cwd="/", check=False).stderr
        found = re.search(r"Recovered position: ?(\S+)", log)
        self.position = [f"--wsrep-start-position={found[1]}"] if found else []

    def stop(self, fast=False):
        """As an operator does: it leaves the cluster."""
        if fast and self.pair.ends:
            return super().stop(fast=True) if self.process else None
        return super().stop()

    def apart(self, on):
        """Cut from the others. It answers, and refuses."""
        self.run(f"SET GLOBAL wsrep_provider_options = 'gmcast.isolate={int(on)}'")


class Pair:
    """A context manager. servers: both of them, which have the same content."""

    kind = "galera"

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="peal-ga-", dir=servers._place(False)))
        self.ports, self.lists = [free_port(), free_port()], [free_port(), free_port()]
        self.links = [free_port(), free_port(), free_port()]
        self.path = f"{self.folder}:{os.environ['PATH']}"
        self.servers = [Member(self, 0), Member(self, 1)]
        self.arbitrator = None
        self.alone = True  # the cluster is made by the server that starts
        self.ends = False

    def address(self):
        others = ",".join(f"127.0.0.1:{port}" for port in self.links)
        return "gcomm://" if self.alone else f"gcomm://{others}"

    def __enter__(self):
        try:
            self.folder.chmod(0o755)
            shutil.copy(SCRIPT, self.folder)
            first, second = self.servers
            first.__enter__()
            self.alone = False
            self._start_arbitrator()
            second.__enter__()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start_arbitrator(self):
        self.log = (self.folder / "garbd").open("w")
        options = f"gmcast.listen_addr=tcp://127.0.0.1:{self.links[2]};{OPTIONS}"
        self.arbitrator = subprocess.Popen(
            ["setpriv", "--pdeathsig=KILL", shutil.which("garbd"), "-g", GROUP, "-n", "arbitrator", "-a", self.address(),
             "-o", options, "-w", str(self.folder)], stdout=self.log, stderr=self.log, cwd="/")
        wait_until(lambda: self.servers[0].status("cluster_size") == "2", "the arbitrator to join")

    def __exit__(self, *_):
        self.ends = True
        for server in self.servers:
            server.stop(fast=True)
        if self.arbitrator:
            self.arbitrator.kill()
            self.arbitrator.wait()
            self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def create(self, database):
        """An empty database, and the URL of the first server."""
        return self.servers[0].create(database)

    # -- as one server: by one that is in step, after what the other one has committed --

    as_ms = staticmethod(servers.MariaDB.as_ms)

    def _well(self):
        return wait_until(lambda: next((server for server in self.servers if server.process and server.synced()), None),
                          "a server in step", 60)

    def run(self, sql, database=""):
        return self._well().run(sql, database)

    def number(self, sql, database):
        return int(self.run(sql, database)[0][0])

    def snapshot(self, database):
        return self._well().snapshot(database)


def open():  # pylint: disable=redefined-builtin
    return Pair()
