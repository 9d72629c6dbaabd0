#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Build the console, web/, and pack it for the server's binary: npm ci, types, tests, Vite, sizes, scripts/embed.py.
# What is built already from the same sources is not built again.
#
#   scripts/console.sh                 needs Node.js 18.20 or later, npm, and the network for its packages
#   scripts/console.sh --if-possible   without them: say what to do, and succeed (the server then has a page that says so)
#   scripts/console.sh --check         also the unit tests; what CI runs
set -euo pipefail
cd "$(dirname "$0")/../web"

if_possible=no check=no
for option; do
    case $option in
    --if-possible) if_possible=yes ;;
    --check) check=yes ;;
    *) echo "usage: scripts/console.sh [--if-possible] [--check]" >&2; exit 2 ;;
    esac
done

give_up() { # WHY
    echo "console: $1" >&2
    [ $if_possible = yes ] || exit 1
    echo "console: the server is built without it; \`make console\` builds it later" >&2
    exit 0
}

sources=$(find . -path ./node_modules -prune -o -path ./dist -prune -o -type f -print0 | sort -z | xargs -0 sha256sum |
    sha256sum | cut -d' ' -f1)
stamp=dist/packed/sources
if [ $check = no ] && [ "$(cat $stamp 2>/dev/null)" = "$sources" ]; then
    exit 0
fi
command -v node >/dev/null && command -v npm >/dev/null || give_up "Node.js and npm are missing (Debian: apt-get install nodejs npm)"
lock=$(sha256sum package-lock.json | cut -d' ' -f1)
if [ "$(cat node_modules/.peal-lock 2>/dev/null)" != "$lock" ]; then
    echo "console: getting its packages"
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error || give_up "npm could not get the packages"
    echo "$lock" >node_modules/.peal-lock
fi
echo "console: building"
node node_modules/vue-tsc/bin/vue-tsc.js --noEmit
if [ $check = yes ]; then
    node api.mjs dist-api.d.ts
    diff -q dist-api.d.ts src/lib/api.d.ts || { echo "console: src/lib/api.d.ts is older than docs/api-v1.yaml: npm run api" >&2; exit 1; }
    rm dist-api.d.ts
    node node_modules/vitest/vitest.mjs run
fi
node node_modules/vite/bin/vite.js build --logLevel warn
node sizes.mjs
../scripts/embed.py
echo "$sources" >$stamp
