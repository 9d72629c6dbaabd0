# SPDX-License-Identifier: Apache-2.0
"""What make chaos does to nodes and database: a list of faults, all of it drawn from the seed before the first one."""

import collections
import concurrent.futures
import contextlib
import dataclasses
import random
import signal
import threading
import time

from support.wait import wait_until

# how often, and for how many seconds
KINDS = {"kill": (4, 0, 6), "stop": (2, 0, 3), "pause": (3, 0.5, 20), "cut": (2, 0.5, 12), "hold": (2, 0.5, 8),
         "drain": (2, 1, 10), "kill database": (1, 0, 3), "promote": (1, 0, 3)}
DATABASE_KINDS = ("kill database", "promote")
# of a Galera cluster's servers, in place of these two
SERVER_KINDS = {"kill server": (2, 0, 8), "restart server": (1, 0, 3), "part server": (2, 1, 10)}
CALM_S = 8  # at the end of the minutes, and after a burst now and then: everybody is up


@dataclasses.dataclass
class Fault:
    at: float  # seconds from the begin
    kind: str
    node: int  # -1: the database; of SERVER_KINDS: the server
    lasts: float

    def __str__(self):
        whom = "" if self.node < 0 else f" {self.node + 1}" if self.kind in SERVER_KINDS else f" node{self.node + 1}"
        return f"{self.at:7.1f} s  {self.kind}{whom}, {self.lasts:.1f} s"


def kinds_of(servers):
    """With how many servers the database has."""
    if servers == 1:
        return KINDS
    return {kind: weights for kind, weights in KINDS.items() if kind not in DATABASE_KINDS} | SERVER_KINDS


REJOIN_S = 6  # of a server, after which the next one may go


def plan(seed, seconds, nodes, without=(), servers=1):
    """Faults of a node do not overlap each other, and one node at least has none at any time; the database may go in
    the middle of all, of several servers one at a time."""
    dice = random.Random(seed)
    kinds = {kind: weights for kind, weights in kinds_of(servers).items() if kind not in without}
    faults, busy, now, whole = [], [0.0] * nodes, 5.0 if kinds else seconds, 0.0
    while now < seconds - CALM_S:
        kind = dice.choices(list(kinds), [weights[0] for weights in kinds.values()])[0]
        lasts = round(dice.uniform(*kinds[kind][1:]) * dice.choice((0.3, 1, 1)), 2)
        node, gap = dice.randrange(nodes), dice.choice((0.2, 1, 3, 5)) * dice.uniform(0.5, 1.5)
        if kind in DATABASE_KINDS:
            faults.append(Fault(round(now, 2), kind, -1, lasts))
        elif kind in SERVER_KINDS:
            if whole <= now and now + lasts + REJOIN_S < seconds - CALM_S:
                faults.append(Fault(round(now, 2), kind, dice.randrange(servers), lasts))
                whole = now + lasts + REJOIN_S
        elif busy[node] <= now and sum(end > now for end in busy) < nodes - 1:
            faults.append(Fault(round(now, 2), kind, node, lasts))
            busy[node] = now + lasts + 3
        now += gap
        if dice.random() < 0.06:
            now += CALM_S
    return faults


class Chaos:
    """Does a list of faults. Each one in a thread of its own, because they overlap."""

    def __init__(self, nodes, db, links, homes):
        self.nodes, self.db, self.links, self.homes = nodes, db, links, homes
        self.done = collections.Counter()
        self.killed = []  # (when, epoch ms; jobs whose runs the node had)
        self.stops = []   # seconds
        self.drains = collections.Counter()  # by the answer's status
        self.last = 0.0   # monotonic, when the last one was over
        self.under_way = 0
        self.ask = None   # users.Users.ask: what an operator does by the API
        self._lock = threading.Lock()
        self._threads = []
        # the server ends with the thread that has started it, so that one stays
        self._database = concurrent.futures.ThreadPoolExecutor(1)

    def calm(self):
        return not self.under_way and time.monotonic() - self.last > 6

    def run(self, faults, say):
        began = time.monotonic()
        for fault in faults:
            time.sleep(max(0, began + fault.at - time.monotonic()))
            say(fault)
            thread = threading.Thread(target=self._do, args=(fault,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def join(self):
        for thread in self._threads:
            thread.join()

    def _do(self, fault):
        with self._lock:
            self.under_way += 1
        try:
            getattr(self, "_" + fault.kind.replace(" ", "_"))(fault)
            self.done[fault.kind] += 1
        finally:
            with self._lock:
                self.under_way -= 1
                self.last = time.monotonic()

    def _kill(self, fault):
        node = self.nodes[fault.node]
        jobs = self.homes(node) if node.center.running() else []
        at = node.kill()
        self.killed.append((at, jobs))
        time.sleep(fault.lasts)
        node.launch()

    def _stop(self, fault):
        node = self.nodes[fault.node]
        took = node.stop()
        if took is not None:
            self.stops.append(took)
        time.sleep(fault.lasts)
        node.launch()

    def _pause(self, fault):
        process = self.nodes[fault.node].process
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGSTOP)
            time.sleep(fault.lasts)
            process.send_signal(signal.SIGCONT)

    def _cut(self, fault):
        self.links.say("cut", fault.node)
        time.sleep(fault.lasts)
        self.links.say("open", fault.node)

    def _hold(self, fault):
        self.links.say("hold", fault.node)
        time.sleep(fault.lasts)
        self.links.say("open", fault.node)

    def _drain(self, fault):
        """Asked for at another node. It ends with the life of the node at the latest; the database may be away."""
        node, other = self.nodes[fault.node], self.nodes[fault.node - 1]
        _, found = self.ask(other, "GET", "/nodes")
        number = next((n["id"] for n in (found or {}).get("items", []) if n["name"] == node.name), 0)
        self.drains[self.ask(other, "POST", f"/nodes/{number}/drain")[0]] += 1
        time.sleep(fault.lasts)
        self.ask(other, "POST", f"/nodes/{number}/undrain")

    def _kill_database(self, fault):
        self._database.submit(self._kill_the_database, fault).result()

    def _promote(self, fault):
        self._database.submit(self._promote_the_standby, fault).result()

    def _promote_the_standby(self, fault):
        """The other one becomes its standby, with an empty folder, when the nodes work again."""
        self.db.kill()
        time.sleep(fault.lasts)
        self.db.promote()
        self.db.renew()

    def _kill_the_database(self, fault):
        self.db.kill()
        time.sleep(fault.lasts)
        self.db.start()

    def _kill_server(self, fault):
        self._database.submit(self._gone_and_back, self.db.servers[fault.node], "kill", fault.lasts).result()

    def _restart_server(self, fault):
        self._database.submit(self._gone_and_back, self.db.servers[fault.node], "stop", fault.lasts).result()

    @staticmethod
    def _gone_and_back(server, how, lasts):
        getattr(server, how)()
        time.sleep(lasts)
        server.start()

    def _part_server(self, fault):
        """Cut from the other one and from the arbitrator, not from its clients."""
        server = self.db.servers[fault.node]
        server.apart(True)
        time.sleep(fault.lasts)
        server.apart(False)
        wait_until(server.synced, f"server {fault.node + 1} to be in step again", 60)
