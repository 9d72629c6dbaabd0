# SPDX-License-Identifier: Apache-2.0
"""What the fuzzer does beside the document: see run.py."""
import schemathesis

THERE = 12  # ids of each kind begin at 1


# Half of the ids are those of things that are there; else nearly all answers were 404.
@schemathesis.hook
def map_path_parameters(context, path_parameters):
    number = (path_parameters or {}).get("id")
    if isinstance(number, int) and not isinstance(number, bool) and number > THERE and number % 2:
        path_parameters["id"] = number % THERE + 1
    return path_parameters


# Answers with some members only do not fit the schema of whole ones; tests/blackbox look at them.
@schemathesis.hook
def map_query(context, query):
    if query:
        query.pop("fields", None)
    return query


# What these say is HTTP's, and is answered before there is an operation: a coding that is not known by 501
# (RFC 9112, 6.1). tests/blackbox/test_hostile_http.py looks at that.
OF_HTTP = {"transfer-encoding", "content-length", "connection", "expect", "upgrade", "te", "trailer", "host"}


@schemathesis.hook
def map_headers(context, headers):
    return {name: value for name, value in (headers or {}).items() if name.lower() not in OF_HTTP}
