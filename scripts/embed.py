#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Pack the built console, web/dist, for the binary: web/dist/packed/console/{files.bin,files.def}.

  embed.py            pack; the next build of the server carries it
  embed.py --list     what a pack holds, with sizes

Each file is gzipped as small as it gets; files.def is the table of src/console/console.c, sorted by path. The
same web/dist gives the same bytes.
"""
import gzip
import hashlib
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIST = os.path.join(ROOT, "web", "dist")
PACKED = os.path.join(DIST, "packed")
TYPES = {".html": "text/html;charset=UTF-8", ".js": "text/javascript;charset=UTF-8", ".css": "text/css;charset=UTF-8",
         ".svg": "image/svg+xml", ".woff2": "font/woff2", ".txt": "text/plain;charset=UTF-8", ".png": "image/png"}
MOST = 2 << 20  # of the whole console, packed


def files():
    for folder, folders, names in os.walk(DIST):
        folders[:] = sorted(f for f in folders if os.path.join(folder, f) != PACKED)
        for name in sorted(names):
            path = os.path.join(folder, name)
            yield os.path.relpath(path, DIST).replace(os.sep, "/"), path


def row(name, at, packed, raw):
    kind = TYPES.get(os.path.splitext(name)[1])
    if not kind or '"' in name or "\\" in name:
        sys.exit(f"embed: what is web/dist/{name}? Its kind is not in the table of scripts/embed.py")
    etag = hashlib.sha256(raw).hexdigest()[:16]
    immutable = "true" if name.startswith("a/") else "false"
    return f'{{ "{name}", "{kind}", "{etag}", {at}, {len(packed)}, {len(raw)}, {immutable} }},'


def main():
    if not os.path.exists(os.path.join(DIST, "index.html")):
        sys.exit("embed: web/dist is not there: `make console` builds it")
    rows, block = [], b""
    for name, path in sorted(files(), key=lambda f: f[0].encode()):
        with open(path, "rb") as f:
            raw = f.read()
        packed = gzip.compress(raw, 9, mtime=0)
        rows.append(row(name, len(block), packed, raw))
        block += packed
        if "--list" in sys.argv:
            print(f"{len(packed):8} {name}")
    if len(block) > MOST:
        sys.exit(f"embed: the console is {len(block)} bytes packed, more than {MOST}")
    os.makedirs(os.path.join(PACKED, "console"), exist_ok=True)
    for name, data in (("files.bin", block), ("files.def", ("\n".join(rows) + "\n").encode())):
        with open(os.path.join(PACKED, "console", name), "wb") as f:
            f.write(data)
    print(f"embed: {len(rows)} files, {len(block)} bytes")


if __name__ == "__main__":
    main()
