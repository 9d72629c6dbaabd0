# SPDX-License-Identifier: Apache-2.0
"""The columns of a job (src/model/job_columns.def) against what is written by hand or made of them: the contract
docs/api-v1.yaml, which says the same of each field, and the table in docs/web-api.md."""
import copy
import importlib.util
import os
import subprocess

import pytest
import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(ROOT, "scripts", "job-fields.py")
CONTRACT = os.path.join(ROOT, "docs", "api-v1.yaml")
TYPES = {"ID": "integer", "I64": "integer", "INT": "integer", "TIME": "integer", "NEXT": "integer", "BOOL": "boolean",
         "REAL": "number", "TEXT": "string", "BYTES": "string", "WORD": "string", "IDS": "integer"}


def load_script():
    spec = importlib.util.spec_from_file_location("job_fields", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows():
    return load_script().columns()


@pytest.fixture(scope="module")
def contract():
    with open(CONTRACT, encoding="utf-8") as f:
        return yaml.safe_load(f)


def resolved(contract, schema):
    while "$ref" in schema:
        path, schema = schema["$ref"].split("/")[1:], contract
        for part in path:
            schema = schema[part]
    return schema


def leaves(contract, name, prefix=""):
    """{JSON pointer: schema} of the members of a schema that are no objects themselves."""
    out = {}
    schema = resolved(contract, name if isinstance(name, dict) else contract["components"]["schemas"][name])
    for member, part in schema.get("properties", {}).items():
        part = resolved(contract, part)
        if part.get("type") == "object":
            out.update(leaves(contract, part, f"{prefix}/{member}"))
        else:
            out[f"{prefix}/{member}"] = part
    return out


def differences(rows, contract):
    """What a row and the contract say differently of one field; and fields that only one of them has."""
    new, job = leaves(contract, "JobNew"), leaves(contract, "Job")
    out, pointers = [], set()
    for row in rows:
        if row["pointer"][0] == "NO_JSON":
            continue
        pointer, taken = row["pointer"][1], row["form"][0] in ("TAKEN", "ON_INSERT")
        pointers.add(pointer)
        schema = (new if taken else job).get(pointer)
        if schema is None:
            out.append(f"{pointer} is in no schema")
            continue
        if schema.get("type") == "array":
            schema = resolved(contract, schema["items"])
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if TYPES[row["type"]] not in kinds:
            out.append(f"{pointer}: {row['type']} and {kinds}")
        word, *limit = row["limits"]
        theirs = {"WORDS": lambda: (",".join(schema.get("enum", [])),), "LENGTH": lambda: (schema.get("maxLength"),),
                  "RANGE": lambda: (schema.get("minimum"), schema.get("maximum")), "ANY": lambda: ()}[word]()
        if row["type"] not in ("BOOL", "IDS") and tuple(limit) != theirs:
            out.append(f"{pointer}: {word} {limit} and {theirs}")
    return out + [f"{pointer} has no row" for pointer in new if pointer not in pointers]


def test_each_column_is_as_the_contract_says(rows, contract):
    assert differences(rows, contract) == []


@pytest.mark.parametrize("member, field, planted", [
    ("retries", "limits", ("RANGE", 0, 9999)),
    ("author", "limits", ("LENGTH", 63)),
    ("dst", "limits", ("WORDS", "xxl,smart,odd")),
    ("children", "type", "TEXT"),
    ("zone", "pointer", ("JSON", "/schedule/place")),
    ("timeout_s", "pointer", ("NO_JSON",)),
    ("updated_ms", "form", ("TAKEN", "updateTime")),
])
def test_a_difference_is_seen(rows, contract, member, field, planted):
    other = copy.deepcopy(rows)
    next(row for row in other if row["member"] == member)[field] = planted
    assert differences(other, contract)


def test_a_field_of_the_contract_alone_is_seen(rows, contract):
    other = copy.deepcopy(contract)
    other["components"]["schemas"]["Running"]["properties"]["extra"] = {"type": "integer"}
    assert differences(rows, other) == ["/running/extra has no row"]


def test_the_table_in_the_documentation_is_made_of_the_columns():
    done = subprocess.run([SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_column_stands_once(rows):
    for name in ("member", "column", "form", "pointer"):
        values = [row[name] for row in rows if row[name] not in (("HIDDEN",), ("NO_JSON",))]
        assert len(values) == len(set(values)) and len(values) > 25, name
