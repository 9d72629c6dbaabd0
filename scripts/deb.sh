#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Build the Debian packages from this tree, console included, with packaging/debian: OUT/*.deb.
#
#   scripts/deb.sh [OUT]        OUT: a folder, build/deb if left out; what is in it goes
#
# The packages are built in a copy of the tree, OUT/source, which holds what git knows and what is new, but for
# ignored files. Their times are that of the newest entry of packaging/debian/changelog.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-build/deb}")
scripts/console.sh

rm -rf "$out"
mkdir -p "$out/source"
if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files -z -co --exclude-standard | while IFS= read -r -d '' file; do
        [ ! -e "$file" ] || printf '%s\0' "$file"
    done
else # a tree without its history
    find . \( -path ./build -o -path ./web/node_modules -o -path ./web/dist -o -name __pycache__ \) -prune -o -type f -print0
fi | tar -c --null -T - | tar -x -C "$out/source"
mkdir -p "$out/source/web/dist"
cp -r web/dist/packed web/dist/third-party.txt "$out/source/web/dist"
mv "$out/source/packaging/debian" "$out/source/debian"

cd "$out/source"
# what the caller's own builds are told is not for these
unset CFLAGS CPPFLAGS LDFLAGS CMAKE_C_COMPILER_LAUNCHER CMAKE_GENERATOR SOURCE_DATE_EPOCH
if ! dpkg-buildpackage -b -us -uc >../build.log 2>&1; then
    tail -40 ../build.log >&2
    exit 1
fi
cd ..
rm -r source
printf '%s\n' "$out"/*.deb
