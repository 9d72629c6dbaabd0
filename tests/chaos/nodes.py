# SPDX-License-Identifier: Apache-2.0
"""The nodes of make chaos: processes that are killed, paused, stopped and cut off, and started again when they have
ended by themselves because the others gave them up."""

import collections
import contextlib
import http.client
import signal
import sys
import threading
import time

from support import servers
from support.center import Center

GIVEN_UP = 3  # exit status of a node whose epoch others have ended


class Node:
    """One server with a name and a data folder of its own. `wanted`: it is to run; the keeper starts it again."""

    def __init__(self, folder, number, url, more=()):
        self.name = f"node{number}"
        self.number = number
        self.center = Center(folder / self.name, ["--db", url, "--node.name", self.name, "--node.cluster",
                                                  "--start.deadline", "1h", *more],
                             env={"PEAL_DB_PASSWORD": servers.PASSWORD})
        self.wanted = False
        self.lock = threading.Lock()

    @property
    def port(self):
        return self.center.port

    @property
    def process(self):
        return self.center.process

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def launch(self):
        with self.lock:
            self.wanted = True
            if not self.center.running():
                self.center.launch()

    def kill(self):
        """The time at which it was dead, epoch ms."""
        with self.lock:
            self.wanted = False
            self.signal(signal.SIGKILL)
            self.process.wait()
            return int(time.time() * 1000)

    def stop(self):
        """As an operator does; it must end with status 0. Seconds that it took, or None: it had ended, or did not."""
        with self.lock:
            self.wanted = False
            if not self.center.running():
                return None
            began = time.monotonic()
            self.signal(signal.SIGTERM)
            with contextlib.suppress(Exception):
                self.process.wait(60)
            if self.process.poll() is None:
                self.signal(signal.SIGKILL)
                self.process.wait()
                return None
            return time.monotonic() - began if self.process.returncode == 0 else None

    def ready(self):
        try:
            return self.center.running() and self.center.get("/readyz")[0] == 200
        except (OSError, http.client.HTTPException):
            return False


class Keeper:
    """Starts nodes again that have ended by themselves, and counts how they did."""

    def __init__(self, nodes):
        self.nodes, self.ends, self.crashes = nodes, collections.Counter(), []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _keep(self):
        while not self._end.wait(0.3):
            for node in self.nodes:
                with node.lock:
                    if node.wanted and not node.center.running():
                        self._ended(node)
                        node.center.launch()

    def _ended(self, node):
        status = node.process.returncode
        if status == GIVEN_UP and "ended its epoch" in node.center.tail(5):
            self.ends["given up"] += 1
        elif status > 0:
            self.ends[f"status {status}"] += 1
            last = node.center.tail(1)
            if last not in self.crashes:
                print(f"{node.name} ended with {status}: {last}", file=sys.stderr)
        else:
            self.crashes.append(f"{node.name} ended by signal {-status}:\n{node.center.tail(20)}")
