#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a program of this tree is made of, as CycloneDX 1.5 in JSON on standard output.

usage: sbom.py BINARY    the libraries that it is linked to, as the Debian packages that they are here, and the npm packages
                         in its console, by web/dist/third-party.txt and web/package-lock.json

The same program on the same packages gives the same bytes; its time is SOURCE_DATE_EPOCH, or left out.
"""
import base64
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
THIRD_PARTY = os.path.join(ROOT, "web", "dist", "third-party.txt")
LOCK = os.path.join(ROOT, "web", "package-lock.json")
# what Peal may be linked to, each with its licence by the list of SPDX
LICENCES = {"libargon2": "CC0-1.0 OR Apache-2.0", "libc": "LGPL-2.1-or-later", "libcrypto": "Apache-2.0", "libcurl": "curl",
            "libjansson": "MIT", "libm": "LGPL-2.1-or-later", "libmariadb": "LGPL-2.1-or-later", "libpq": "PostgreSQL",
            "libsqlite3": "blessing", "libssl": "Apache-2.0", "libz": "Zlib"}


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def licence_of(library):
    name = library.split(".so")[0]
    if name not in LICENCES:
        sys.exit(f"sbom: which licence has {library}? Add it to the table of scripts/sbom.py")
    return LICENCES[name]


def libraries(binary):
    """The libraries that the program names itself; what these need in turn is their packages' business."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said("readelf", "-W", "-d", binary))
    places = dict(re.findall(r"^\s*(\S+) => (/\S+)", said("ldd", binary), re.M))
    for library in sorted(needed):
        if library.startswith("ld-linux"):
            continue
        path = os.path.realpath(places[library])
        # a system with merged /usr knows the file by its older name
        names = [path, path.removeprefix("/usr")]
        owner = subprocess.run(["dpkg-query", "-S", *names], capture_output=True, text=True, check=False).stdout
        package = owner.split(":")[0]
        version, source = said("dpkg-query", "-W", "-f", "${Version}\t${source:Package}", f"{package}:{architecture()}").split("\t")
        purl = f"pkg:deb/debian/{package}@{version}?arch={architecture()}"
        yield {"type": "library", "bom-ref": f"{purl}#{library}", "name": library, "version": version, "purl": purl,
               "licenses": [{"expression": licence_of(library)}],
               "properties": [{"name": "peal:linked", "value": "shared"}, {"name": "peal:debian-source", "value": source}]}


def architecture():
    return said("dpkg", "--print-architecture").strip()


def npm_packages():
    with open(THIRD_PARTY, encoding="utf-8") as f:
        named = re.findall(r"^==== (\S+) (\S+) \((.+)\)$", f.read(), re.M)
    with open(LOCK, encoding="utf-8") as f:
        locked = json.load(f)["packages"]
    for name, version, licence in sorted(named):
        entry, = [e for path, e in sorted(locked.items()) if path.endswith(f"node_modules/{name}") and e["version"] == version][:1]
        kind, digest = entry["integrity"].split("-", 1)
        assert kind == "sha512", entry
        purl = f"pkg:npm/{name.replace('@', '%40', 1)}@{version}"
        yield {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
               "licenses": [{"expression": licence}],
               "hashes": [{"alg": "SHA-512", "content": base64.b64decode(digest).hex()}],
               "properties": [{"name": "peal:linked", "value": "console"}]}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    binary = sys.argv[1]
    version = said(binary, "version").split()[1]
    with open(binary, "rb") as f:
        sha256 = hashlib.sha256(f.read()).hexdigest()
    purl = f"pkg:generic/peal@{version}"
    program = {"type": "application", "bom-ref": purl, "name": "peal", "version": version, "purl": purl,
               "licenses": [{"license": {"id": "Apache-2.0"}}], "hashes": [{"alg": "SHA-256", "content": sha256}]}
    metadata = {"component": program}
    if os.environ.get("SOURCE_DATE_EPOCH"):
        at = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
        metadata["timestamp"] = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    parts = [*libraries(binary), *npm_packages()]
    refs = [part["bom-ref"] for part in parts]
    json.dump({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": metadata, "components": parts,
               "dependencies": [{"ref": purl, "dependsOn": refs}, *({"ref": ref} for ref in refs)]}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
