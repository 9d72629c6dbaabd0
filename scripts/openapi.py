#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""docs/api-v1.yaml as JSON in one line: what the build embeds and /api/v1/openapi.json answers.

usage: openapi.py YAML JSON"""
import json
import os
import sys

try:
    import yaml
except ImportError:
    sys.exit("openapi.py: the build needs Python's YAML: apt-get install python3-yaml")


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Instants stay texts."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if tag != "tag:yaml.org,2002:timestamp"]
    for first, rules in Loader.yaml_implicit_resolvers.items()}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as f:
        document = yaml.load(f, Loader=Loader)
    os.makedirs(os.path.dirname(os.path.abspath(sys.argv[2])), exist_ok=True)
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        json.dump(document, f, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    main()
