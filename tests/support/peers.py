# SPDX-License-Identifier: Apache-2.0
"""Calls as nodes of a cluster make them to each other (src/server/peer_seal.h), right ones and others."""

import hashlib
import hmac
import itertools

from . import webapi
from .center import TOKEN

NONCE = itertools.count(1)


def seal(path, body=b"", to=1, sender=99, token=TOKEN, nonce=None):
    """The value of the header Peal-Node."""
    digest = hashlib.sha256(body).hexdigest()
    head = f"{sender} {to} {next(NONCE) if nonce is None else nonce} {digest}"
    mac = hmac.new(token.encode(), f"peal node call 1\n{path}\n{head}".encode(), hashlib.sha256).hexdigest()
    return f"{head} {mac}"


def epoch(center):
    """The life of that server."""
    labels = next(labels for name, labels, _ in center.metrics() if name == "peal_node_info")
    return int(labels["epoch"])


def post(center, path, body=b"", value=None, method="POST"):
    """(status, body) of the answer."""
    headers = {} if value is None else {"Peal-Node": value}
    status, _, reply = webapi.request(center.port, method, f"/peal/node/{path}", body, headers)
    return status, reply


def refusal(value, status, token=TOKEN):
    """What a node answers beside that status to a call with that seal."""
    text = f"peal node refusal 1\n{value.split()[-1]} {status}"
    return hmac.new(token.encode(), text.encode(), hashlib.sha256).hexdigest().encode()


def call(center, path, body=b""):
    """A right one: what the node says, or None if it refuses."""
    value = seal(path, body, to=epoch(center))
    status, reply = post(center, path, body, value)
    if status != 200:
        return None
    mac, _, said = reply.partition(b"\n")
    text = f"peal node answer 1\n{value.split()[-1]} {hashlib.sha256(said).hexdigest()}"
    assert mac.decode() == hmac.new(TOKEN.encode(), text.encode(), hashlib.sha256).hexdigest()
    return said
