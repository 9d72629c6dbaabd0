# SPDX-License-Identifier: Apache-2.0
"""Ports for the processes of tests."""

import collections
import contextlib
import pathlib
import random
import socket

_taken = collections.deque(maxlen=200)  # UDP sockets on the ports given out, which no other test's process gets meanwhile


def free_port():
    """A port without a listener now; none that the kernel gives to clients, one of which could have it when a
    center that was killed wants it back, and none that a test in another process was given."""
    clients_from = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(1000):
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", random.randrange(12000, clients_from) if clients_from > 14000 else 0))
            mark = socket.socket(type=socket.SOCK_DGRAM)
            mark.bind(s.getsockname())
            _taken.append(mark)
            return s.getsockname()[1]
    raise RuntimeError("no port is free")
