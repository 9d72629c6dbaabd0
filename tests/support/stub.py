# SPDX-License-Identifier: Apache-2.0
"""bench/peal_stub as a process: an executor that does no work and counts what it was given."""

import http.client
import json
import subprocess
import time
import urllib.parse

from .center import TOKEN, binary, clean_environment
from .standin import call
from .wait import PATIENCE, wait_until


class Stub:
    """The stub beside the binary under test. args: added to the command."""

    def __init__(self, folder, center, *args, app="bench"):
        self.output = folder / "stub.log"
        self.command = [str(binary().parent / "bench" / "peal_stub"), "--center", center.url, "--app", app, *args]

    def __enter__(self):
        with open(self.output, "wb") as out:
            self.process = subprocess.Popen(self.command, stdout=out, stderr=out,
                                            env=clean_environment(PEAL_ACCESS_TOKEN=TOKEN))
        want = int(self.command[self.command.index("--ports") + 1]) if "--ports" in self.command else 1

        def listening():
            lines = self.output.read_text().splitlines()
            found = [line.split()[-1] for line in lines if line.startswith("listening on ")]
            return found if len(found) == want else None
        self.addresses = wait_until(listening, "the stub to listen")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def run(self, log, late_ms=0, port=0):
        """/run as a center sends it; the reply's code."""
        scheduled = round(time.time() * 1000) - late_ms
        return call(self.addresses[port], "run", json.dumps({"jobId": 1, "logId": log, "logDateTime": scheduled},
                                                            separators=(",", ":")).encode(),
                    headers={"Peal-Moment": str(scheduled)})[1]["code"]

    def stats(self):
        return call(self.addresses[0], "stub/stats", b"", method="GET")[1]

    def ids(self):
        """{log id: how often it was run} of all that came."""
        first = self.stats()["first_id"]
        url = urllib.parse.urlsplit(self.addresses[0])
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=10 * PATIENCE)
        try:
            connection.request("GET", "/stub/ids")
            counts = connection.getresponse().read().decode()
        finally:
            connection.close()
        return {first + i: int(n) for i, n in enumerate(counts) if n != "0"}
