# SPDX-License-Identifier: Apache-2.0
"""A database server and its standby: what the primary commits goes there, and the standby takes its place.

    with failover.Pair("postgres", sync=True) as pair:
        url = pair.create("jobs")     # the URL has both servers
        pair.primary.kill()
        pair.promote()                # pair.primary is the other one now

sync: a commit is acknowledged when the standby has it. Without it lag() cuts the standby off from what comes."""
import contextlib
import subprocess

from support import servers
from support.wait import PATIENCE, wait_until


class Pair:
    def __init__(self, kind, sync):
        self.kind, self.sync = kind, sync
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        with self._stack:
            self._start()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _start(self):
        if self.kind == "mariadb":
            self.primary, self.standby = (self._stack.enter_context(_with_binlog(number)) for number in (1, 2))
            _replicate(self.primary, self.standby, self.sync)
        else:
            self.primary = self._stack.enter_context(servers.open("postgres"))
            self.standby = self._stack.enter_context(servers.standby_of(self.primary))
            if self.sync:  # behind the copy of its settings
                _wait_for_each_commit(self.primary)

    @property
    def servers(self):
        return [self.primary, self.standby]

    def create(self, name):
        """A database on both; the URL has no password."""
        self.primary.create(name)
        return self.url(name)

    def url(self, name):
        """The standby first: it is passed over as long as it is one."""
        one = f"127.0.0.1:{self.primary.port}/"
        url = self.primary.url(name).replace(one, f"127.0.0.1:{self.standby.port},{one}", 1)
        return url.replace(f":{servers.WRITTEN}@", "@")

    def lag(self):
        """The standby gets nothing from here on."""
        if self.kind == "mariadb":
            self.standby.run("STOP SLAVE IO_THREAD")
            return
        self.standby.run("ALTER SYSTEM SET primary_conninfo = ''")
        self.standby.run("SELECT pg_reload_conf()")
        wait_until(lambda: not self.primary.run("SELECT pid FROM pg_stat_replication"), "the standby to be cut off", 60)

    def promote(self):
        """The standby takes writes, with all that it was given."""
        if self.kind == "mariadb":
            _promote_mariadb(self.standby)
        else:
            command = [servers.program("postgres", "pg_ctl"), "promote", "-w", "-t", "60", "-D", str(self.standby.data)]
            subprocess.run(self.standby._as_account(*command), check=True, capture_output=True, timeout=120 * PATIENCE,
                           cwd="/")
        self.lost, self.primary, self.standby = self.primary, self.standby, None

    def renew(self):
        """The server that was lost comes back as the standby, empty, on its port; each commit waits for it again."""
        lost = self.lost
        lost.stop(fast=True)
        if self.kind == "mariadb":
            self.standby = self._stack.enter_context(_with_binlog(self.primary.number_of + 1, lost.port))
            _replicate(self.primary, self.standby, self.sync)
            return
        self.standby = self._stack.enter_context(servers.standby_of(self.primary, lost.port))
        if self.sync:
            _wait_for_each_commit(self.primary)

    def __getattr__(self, name):
        """What a test asks of a server, it asks of the primary."""
        if name == "primary":
            raise AttributeError(name)
        return getattr(self.primary, name)


def _with_binlog(number, port=None):
    server = servers.open("mariadb", port=port)
    server.number_of = number
    server.extra = [f"--server-id={number}", "--log-bin=b", "--binlog-format=ROW", "--log-slave-updates"]
    return server


def _replicate(primary, standby, sync):
    patience_s = 300  # a new one hears of all that has ever been written
    primary.run("GRANT REPLICATION SLAVE ON *.* TO 'copy'@'%' IDENTIFIED BY 'copy'")
    if sync:
        settings = {"wait_point": "AFTER_SYNC", "timeout": 600000, "enabled": "ON"}
        for name, value in settings.items():
            primary.run(f"SET GLOBAL rpl_semi_sync_master_{name} = {value}")
        primary.extra += [f"--rpl-semi-sync-master-{name.replace('_', '-')}={value}" for name, value in settings.items()]
        standby.run("SET GLOBAL rpl_semi_sync_slave_enabled = 1")
    standby.run("SET GLOBAL read_only = 1")
    standby.run(f"CHANGE MASTER TO master_host = '127.0.0.1', master_port = {primary.port}, master_user = 'copy', "
                "master_password = 'copy', master_connect_retry = 1, master_use_gtid = slave_pos")
    standby.run("START SLAVE")
    wait_until(lambda: _applied(standby), "the replica to have what there is", patience_s)
    if sync:
        wait_until(lambda: primary.run("SHOW STATUS LIKE 'Rpl_semi_sync_master_clients'")[0][1] == "1",
                   "the replica to be waited for", 60)


def _applied(standby):
    """All that has come."""
    state = standby.run("SHOW SLAVE STATUS")[0]
    received, executed = (state[5], state[6]), (state[9], state[21])  # file and position of the primary's log
    return state[11] == "Yes" and state[5] and received == executed


def _promote_mariadb(standby):
    standby.run("STOP SLAVE IO_THREAD")
    wait_until(lambda: _applied(standby), "the replica to have applied what came", 300)
    standby.run("STOP SLAVE")
    standby.run("RESET SLAVE ALL")
    standby.run("SET GLOBAL read_only = 0")


def _wait_for_each_commit(primary):
    primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.run("SELECT pg_reload_conf()")
    wait_until(lambda: primary.run("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"),
               "the standby to be waited for", 60)
