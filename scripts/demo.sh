#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `make demo` does: install what the build needs (saying so), build, run `peal demo`.
#
#   scripts/demo.sh [OPTIONS OF peal demo]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh build console
mkdir -p build
quietly() { # LOG COMMAND...: show what was said only if it fails
    local log=$1
    shift
    "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
}
[ -f build/release/build.ninja ] || echo "Building Peal and its console (two or three minutes the first time) ..."
quietly build/console.log scripts/console.sh --if-possible
[ -f web/dist/packed/sources ] || cat build/console.log >&2
quietly build/release.log cmake --preset release
quietly build/release-build.log cmake --build build/release --target peal
ln -sfn release/peal build/peal
exec build/release/peal demo "$@"
