# SPDX-License-Identifier: Apache-2.0
"""docs/api-v1.yaml as a judge of answers: status, type, headers and body of an operation.

As much of JSON Schema as the document uses. Unknown members of an answer are a finding too: the contract
says what is sent.
"""

import pathlib
import re

import yaml

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "api-v1.yaml"
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
         "null": type(None)}
ALWAYS = {405, 406, 500}  # every operation may answer these, as a problem


class Contract:
    """The document, loaded once."""

    def __init__(self):
        self.document = yaml.safe_load(DOCUMENT.read_text(encoding="utf-8"))

    def _get(self, node):
        while "$ref" in node:
            target = self.document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            node = target
        return node

    def operations(self):
        """(method, path) of each."""
        return [(method.upper(), path) for path, item in self.document["paths"].items()
                for method in item if method != "parameters"]

    def check(self, method, path, status, headers, body):
        """Fail unless the operation may answer that. body: parsed JSON, None if there is none."""
        operation = self.document["paths"][path][method.lower()]
        responses = operation["responses"]
        if status in ALWAYS and str(status) not in responses:
            schema = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
            response = {"content": schema}
        else:
            assert str(status) in responses, f"{method} {path} does not answer {status}"
            response = self._get(responses[str(status)])
        content = response.get("content", {})
        if not content:
            assert body is None, f"{method} {path} {status} has no body"
            return
        kind = headers.get_content_type()
        assert kind in content, f"{method} {path} {status} is not {kind}"
        self.judge(content[kind]["schema"], body, f"{method} {path} {status}")

    def judge(self, schema, value, where):
        """Fail unless the value fits the schema."""
        schema = self._get(schema)
        if "oneOf" in schema:
            self._judge_one(schema["oneOf"], value, where)
            return
        kinds = schema.get("type", [])
        kinds = kinds if isinstance(kinds, list) else [kinds]
        fits = [k for k in kinds if isinstance(value, TYPES[k]) and not (k != "boolean" and isinstance(value, bool))]
        assert fits or not kinds, f"{where}: {value!r} is not {kinds}"
        assert "enum" not in schema or value in schema["enum"], f"{where}: {value!r}"
        if isinstance(value, dict):
            self._judge_object(schema, value, where)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                self.judge(schema.get("items", {}), item, f"{where}/{i}")
        elif isinstance(value, str):
            assert len(value) <= schema.get("maxLength", len(value)), where
            assert re.search(schema.get("pattern", ""), value), f"{where}: {value!r}"
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            assert schema.get("minimum", value) <= value <= schema.get("maximum", value), f"{where}: {value}"

    def _judge_one(self, schemas, value, where):
        faults = []
        for schema in schemas:
            try:
                self.judge(schema, value, where)
            except AssertionError as fault:
                faults.append(str(fault))
        assert len(faults) == len(schemas) - 1, faults or f"{where} fits more than one schema"

    def _judge_object(self, schema, value, where):
        missing = set(schema.get("required", [])) - set(value)
        assert not missing, f"{where}: {missing} missing"
        rest = schema.get("additionalProperties", False)
        for name, member in value.items():
            of = schema.get("properties", {}).get(name, rest)
            assert of or of == {}, f"{where}/{name} is not in the contract"
            if isinstance(of, dict):
                self.judge(of, member, f"{where}/{name}")
