#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Take away what `make install` put under $DESTDIR: the files of build/installed, then the folders
# of its own that are empty now. Configuration and data are yours and stay.
set -euo pipefail
cd "$(dirname "$0")/.."
list=build/installed
[ -e $list ] || { echo "uninstall: $list is missing, so nothing was installed from here" >&2; exit 1; }
while IFS= read -r file || [ -n "$file" ]; do
    rm -f "${DESTDIR:-}$file"
done <$list
sed -nE 's#^(.*/(doc|include)/peal(/.*)?)/[^/]+$#\1#p' $list | sort -ru | while IFS= read -r folder; do
    [ ! -d "${DESTDIR:-}$folder" ] || rmdir --ignore-fail-on-non-empty "${DESTDIR:-}$folder"
done
rm -f $list
if [ -z "${DESTDIR:-}" ] && [ "$(id -u)" -eq 0 ]; then
    ldconfig
fi
