# SPDX-License-Identifier: Apache-2.0
"""The rows of src/api/v1/routes.def against docs/api-v1.yaml: path, method, permission, body, answer. What the
document has and the server does not yet stands in NOT_YET, and nowhere else."""
import os
import re

import pytest
import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROW = re.compile(r'^ROUTE\((\w+), *"([^"]+)", *(\w+), *(\w+), *(\w+), *(\w+), *(\w+)\)$', re.M)
BODIES = {"NONE": None, "JSON": "application/json", "FILE": "application/json", "MERGE": "application/merge-patch+json"}
WORDS = {"PUBLIC": "none", "LOGIN": "login", "SESSION": "session", "READ": "read", "RUN": "run",
         "JOBS_WRITE": "jobs:write", "SCRIPTS_WRITE": "scripts:write", "AUDIT_READ": "audit:read",
         "EXECUTORS_WRITE": "executors:write", "USERS_ADMIN": "users:admin", "SYSTEM_ADMIN": "system:admin"}

# Operations that are not there yet. This list only becomes shorter.
NOT_YET = set("""

""".split())


@pytest.fixture(scope="module")
def document():
    with open(os.path.join(ROOT, "docs", "api-v1.yaml"), encoding="utf-8") as f:
        return yaml.safe_load(f)


@pytest.fixture(scope="module")
def rows():
    with open(os.path.join(ROOT, "src", "api", "v1", "routes.def"), encoding="utf-8") as f:
        text = f.read()
    found = [dict(zip(("method", "path", "permission", "body", "answer", "class", "run"), row))
             for row in ROW.findall(text)]
    assert len(found) == len(re.findall(r"^ROUTE\(", text, re.M)), "a row that this test cannot read"
    return found


def operations(document):
    return {(method.upper(), path): operation for path, item in document["paths"].items()
            for method, operation in item.items() if method != "parameters"}


def differences(row, operation):
    """What a row and its operation say differently."""
    out = []
    permission = operation["x-peal-permission"]
    # a map: a member of the body decides, and either all of its words need the same, or the handler asks
    allowed = set(next(iter(permission.values())).values()) if isinstance(permission, dict) else {permission}
    if row["permission"] != "ACTION" and {WORDS[row["permission"]]} != allowed or \
            row["permission"] == "ACTION" and len(allowed) < 2:
        out.append(f"permission {row['permission']} and {permission}")
    content = operation.get("requestBody", {}).get("content")
    if BODIES[row["body"]] != (next(iter(content)) if content else None):
        out.append(f"body {row['body']} and {content and list(content)}")
    good = [code for code in operation["responses"] if code.startswith("2")]
    empty = good == ["204"]
    if (row["answer"] == "EMPTY") != empty:
        out.append(f"answer {row['answer']} and {good}")
    wanted = {"401"} if row["permission"] != "PUBLIC" else set()
    wanted |= {"413", "415"} if content else set()
    wanted |= {"404"} if "{" in row["path"] else set()
    missing = wanted - set(operation["responses"])
    if missing:
        out.append(f"may answer {missing}, which the document does not have")
    return out


def test_each_row_is_an_operation_of_the_document(rows, document):
    known = operations(document)
    assert [row for row in rows if (row["method"], row["path"]) not in known] == []


def test_rows_and_document_agree(rows, document):
    known = operations(document)
    found = {f"{row['method']} {row['path']}": differences(row, known[row["method"], row["path"]]) for row in rows}
    assert {name: what for name, what in found.items() if what} == {}


def test_what_is_missing_is_known(rows, document):
    served = {(row["method"], row["path"]) for row in rows}
    missing = {known["operationId"] for key, known in operations(document).items() if key not in served}
    assert missing == NOT_YET


@pytest.mark.parametrize("member, planted", [("permission", "SYSTEM_ADMIN"), ("body", "JSON"), ("answer", "EMPTY")])
def test_a_difference_is_seen(rows, document, member, planted):
    row = dict(next(row for row in rows if row["path"] == "/jobs/{id}" and row["method"] == "GET"))
    row[member] = planted
    assert differences(row, operations(document)["GET", "/jobs/{id}"])
