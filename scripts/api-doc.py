#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The reference of docs/api.md, made from docs/api-v1.yaml.

  api-doc.py           write it
  api-doc.py --check   fail if it is not as the document says

What stands above the mark is written by hand; tests/blackbox/test_api_docs.py runs its examples."""
import json
import os
import sys
import textwrap

import yaml

from openapi import Loader

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "docs", "api-v1.yaml")
PAGE = os.path.join(ROOT, "docs", "api.md")
MARK = "<!-- from here on scripts/api-doc.py writes what api-v1.yaml says -->\n"
METHODS = ("get", "post", "put", "patch", "delete")


def resolve(document, node):
    """What a reference names; anything else as it is."""
    while isinstance(node, dict) and "$ref" in node:
        found = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = found
    return node


def type_of(document, schema):
    """A schema in a few words."""
    name = schema["$ref"].rpartition("/")[2] if "$ref" in schema else None
    schema = resolve(document, schema)
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"] if word is not None)
    kind = schema.get("type", name or "")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    bounds = [f"{text} {schema[key]}" for key, text in (("minimum", "from"), ("maximum", "to"), ("maxLength", "at most"),
                                                      ("default", "without:")) if key in schema]
    return " ".join([kind, *bounds]) + (" characters" if "maxLength" in schema else "")


def parameters(document, item, operation):
    rows = []
    for raw in item.get("parameters", []) + operation.get("parameters", []):
        parameter = resolve(document, raw)
        where = "" if parameter["in"] == "query" else f" ({parameter['in']})"
        rows.append(f"| `{parameter['name']}`{where} | {type_of(document, parameter['schema'])} | "
                    f"{parameter.get('description', '')} |")
    return ["| parameter | type | |", "|---|---|---|", *rows, ""] if rows else []


def example_of(document, content):
    """The example of a media type: its own, or its schema's first."""
    if "example" in content:
        return content["example"]
    for example in content.get("examples", {}).values():
        return resolve(document, example).get("value")
    for example in resolve(document, content.get("schema", {})).get("examples", []):
        return example
    return None


def fold(value, indent="", width=100):
    """JSON in which what fits a line stands in one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= width or not isinstance(value, (dict, list)) or not value:
        return line
    inner = indent + "  "
    if isinstance(value, list) and not any(isinstance(v, (dict, list)) for v in value):
        texts = textwrap.wrap(", ".join(json.dumps(v, ensure_ascii=False) for v in value), width - len(inner))
        return "[\n" + "\n".join(inner + text for text in texts) + "\n" + indent + "]"
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + fold(v, inner, width) for v in value) + "\n" + indent + "]"
    return "{\n" + ",\n".join(f"{inner}{json.dumps(k)}: {fold(v, inner, width)}" for k, v in value.items()) + \
        "\n" + indent + "}"


def block(example):
    text = example if isinstance(example, str) else fold(example)
    language = "" if isinstance(example, str) else "json"
    return [f"```{language}", text.rstrip("\n"), "```", ""]


def body(document, content, title):
    lines = []
    for media, described in content.items():
        example = example_of(document, described)
        lines += [f"{title} (`{media}`):", ""] + (block(example) if example is not None else [])
    return lines


def permission(operation):
    value = operation["x-peal-permission"]
    if not isinstance(value, dict):
        return f"`{value}`"
    (member, words), = value.items()
    return f"by `{member}`: " + ", ".join(f"{word} `{needed}`" for word, needed in words.items())


def problems(document, operation):
    names = [code for code in operation["responses"] if not code.startswith("2")]
    return ", ".join(f"{code} {resolve(document, operation['responses'][code])['description']}" for code in names)


def prose(text):
    """Lines of at most 100 columns; a blank line stays one."""
    lines = []
    for paragraph in text.strip().split("\n"):
        lines += textwrap.wrap(paragraph, 100, break_long_words=False, break_on_hyphens=False) or [""]
    return lines


def operation_page(document, method, path, item, operation):
    lines = [f"#### {method.upper()} {path}", "",
             *prose(f"{operation['summary']}. Permission: {permission(operation)}."), ""]
    if "description" in operation:
        lines += prose(operation["description"]) + [""]
    lines += parameters(document, item, operation)
    if "requestBody" in operation:
        lines += body(document, operation["requestBody"]["content"], "Body")
    for code, answer in operation["responses"].items():
        answer = resolve(document, answer)
        if code.startswith("2"):
            lines += prose(f"{code}: {answer['description']}.") + [""]
            lines += body(document, answer.get("content", {}), "Answer")
    return lines + prose(f"Else: {problems(document, operation)}.") + [""]


def reference(document):
    lines = ["## Operations", ""]
    for tag in document["tags"]:
        lines += [f"### {tag['description']}", ""]
        for path, item in document["paths"].items():
            for method in METHODS:
                operation = item.get(method)
                if operation and operation["tags"][0] == tag["name"]:
                    lines += operation_page(document, method, path, item, operation)
    return "\n".join(lines).rstrip("\n") + "\n"


def main():
    with open(DOCUMENT, encoding="utf-8") as f:
        document = yaml.load(f, Loader=Loader)
    with open(PAGE, encoding="utf-8") as f:
        text = f.read()
    above, mark, _ = text.partition(MARK)
    wanted = above + MARK + "\n" + reference(document)
    if sys.argv[1:] == ["--check"]:
        if not mark or wanted != text:
            sys.exit("docs/api.md is not as docs/api-v1.yaml says; run scripts/api-doc.py")
        return
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(wanted)


if __name__ == "__main__":
    main()
