# SPDX-License-Identifier: Apache-2.0
"""A client for /api/v1 that lets no answer pass which the contract does not have."""

import json
import urllib.parse

from . import webapi
from .contract import Contract

BASE = "/api/v1"
PATCH = "application/merge-patch+json"
CONTRACT = Contract()


class Answer:
    """status, headers, type, and the body: parsed JSON, or None without a body."""

    def __init__(self, status, headers, body):
        self.status, self.headers = status, headers
        self.type = headers.get_content_type() if body else None
        self.json = json.loads(body) if body else None
        self.etag = headers.get("ETag")


def template(path):
    """The document's path that a request's path stands for: /jobs/7 is /jobs/{id}."""
    parts = path.split("?")[0].split("/")
    best = None
    for _, known in CONTRACT.operations():
        wanted = known.split("/")
        if len(wanted) != len(parts) or not all(w == p or w.startswith("{") for w, p in zip(wanted, parts)):
            continue
        if best is None or known.count("{") < best.count("{"):
            best = known
    return best


class V1:
    """One user's session, or a token."""

    def __init__(self, center, name="admin", password=None, token=None):
        self.center = center
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        if not token:
            answer = self.ask("POST", "/session", {"name": name, "password": password or center.password})
            assert answer.status == 200, answer.json
            self.headers = {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}

    def ask(self, method, path, body=None, sparse=False, **headers):
        """path behind /api/v1; headers by name, _ for -. sparse: the answer's items lack members."""
        sent = dict(self.headers)
        if body is not None:
            sent["Content-Type"] = PATCH if method == "PATCH" else "application/json"
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        answer = Answer(*webapi.request(self.center.port, method, BASE + path, body, sent))
        known = template(path)
        there = known and (method, known) in CONTRACT.operations()
        if there and not (sparse and answer.status == 200):
            CONTRACT.check(method, known, answer.status, answer.headers, answer.json)
        return answer

    def get(self, path, **headers):
        """The body of a 200."""
        answer = self.ask("GET", path, **headers)
        assert answer.status == 200, answer.json
        return answer.json

    def pages(self, path, limit=3, **query):
        """All items of a list, page by page, as `next` leads."""
        items, cursor = [], None
        while True:
            given = {"limit": limit, **query, **({"cursor": cursor} if cursor else {})}
            answer = self.ask("GET", f"{path}?{urllib.parse.urlencode(given)}")
            assert answer.status == 200, answer.json
            items += answer.json["items"]
            cursor = answer.json["page"]["next"]
            assert (cursor is None) == ("Link" not in answer.headers)
            if cursor is None:
                return items


def problem(answer, status, code, *fields):
    """The answer is that problem; with fields, exactly those (pointer, rule) broke a rule."""
    assert (answer.status, answer.type) == (status, "application/problem+json"), answer.json
    assert answer.json["code"] == code and answer.json["detail"]
    if fields:
        assert sorted((e["field"], e["rule"]) for e in answer.json["errors"]) == sorted(fields)
    return answer.json
