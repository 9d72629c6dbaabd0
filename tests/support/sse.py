# SPDX-License-Identifier: Apache-2.0
"""A client of server-sent events, as browsers read them: one event after the other, with its id."""

import contextlib
import http.client
import json
import socket

from .wait import PATIENCE


class Ended(Exception):
    """The server has ended the stream."""


class Events:
    """One open stream. headers: those of the answer. last: the id that a browser would come back with. context: of
    TLS."""

    def __init__(self, port, path, headers, last=None, timeout=60 * PATIENCE, context=None):
        if context:
            self.http = http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=context)
        else:
            self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        sent = {"Accept": "text/event-stream", **headers, **({"Last-Event-ID": str(last)} if last is not None else {})}
        self.http.request("GET", path, headers=sent)
        self.answer = self.http.getresponse()
        self.status, self.headers = self.answer.status, self.answer.headers
        self.last, self.retry, self.comments = last, None, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with contextlib.suppress(OSError):
            if self.http.sock:
                self.http.sock.shutdown(socket.SHUT_RDWR)
        self.answer.close()
        self.http.close()

    def problem(self):
        """The body of a refusal."""
        return json.loads(self.answer.read())

    def _line(self):
        try:
            line = self.answer.readline()
        except http.client.IncompleteRead as e:
            raise Ended from e
        except (ConnectionError, ValueError) as e:
            raise Ended from e
        if not line:
            raise Ended
        return line.decode().rstrip("\n")

    def next(self, *names, beats=None):
        """The next event (of one of these names): (name, data); a failure when so many heartbeats came before it."""
        name, data, number = None, None, None
        most = None if beats is None else self.comments + beats
        while True:
            line = self._line()
            field, _, value = line.partition(": ")
            if line == "":
                self.last = number if number is not None else self.last
                if name:
                    if not names or name in names:
                        return name, json.loads(data)
                name, data, number = None, None, None
            elif line == ":":
                self.comments += 1
                assert most is None or self.comments < most, f"none of {names or 'any'} in {beats} heartbeats"
            elif field == "retry":
                self.retry = int(value)
            elif field == "event":
                name = value
            elif field == "data":
                data = value
            elif field == "id":
                number = value
            else:
                raise AssertionError(f"not a line of a stream of events: {line!r}")

    def rest(self):
        """All events up to the end of the stream."""
        events = []
        with contextlib.suppress(Ended):
            while True:
                events.append(self.next())
        return events

    def comment(self):
        """Until the next comment line has come."""
        had = self.comments
        while self.comments == had:
            line = self._line()
            self.comments += line == ":"


def open_log(v1, run, last=None, query="", timeout=60 * PATIENCE):
    """The stream of a run's log, as that user of the API."""
    return Events(v1.center.port, f"/api/v1/runs/{run}/log/stream{query}", v1.headers, last, timeout)


def lines_until(stream, wanted):
    """Lines as they come, until there are so many; their numbers follow on each other."""
    lines, at = [], None
    while len(lines) < wanted:
        _, data = stream.next("lines")
        assert at is None or data["fromLine"] == at, (data["fromLine"], at)
        at = data["fromLine"] + len(data["lines"])
        assert stream.last == str(at - 1)
        lines += data["lines"]
    return lines
