#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Install the Debian packages that a task needs, only those that are missing, saying which and why.
#
#   scripts/install-deps.sh SET...        sets: build test console browser interop database package
#   scripts/install-deps.sh --list SET... print what is missing, install nothing (exit status 1 if any)
#
# As root it installs; as another user it prints the command, asks, and runs it with sudo; with
# no terminal to ask on it fails with that command. An entry "a,b:package" counts as present when the
# commands a and b exist, wherever they come from: tool chains are often installed by other means.
set -euo pipefail

declare -A packages why
packages[build]="gcc libc6-dev make cmake ninja-build pkg-config binutils
    libssl-dev libcurl4-openssl-dev libjansson-dev libsqlite3-dev libargon2-dev zlib1g-dev libmariadb-dev libpq-dev
    python3 python3-yaml"
why[build]="to build Peal"
packages[test]="git python3-pytest python3-requests libcmocka-dev tzdata
    python3-aiosmtpd prometheus-alertmanager openssl g++ mandoc clang clang-format clang-tidy libclang-rt-14-dev llvm gdb spin patch curl:curl procps mount:mount e2fsprogs
    mariadb-server-core mariadb-client-core systemd-analyze:systemd libseccomp2 promtool,prometheus:prometheus"
why[test]="to test Peal"
packages[console]="node:nodejs npm:npm python3"
why[console]="to build the console"
packages[browser]="chromium fonts-wqy-zenhei python3-venv"
why[browser]="to test the console in a browser"
packages[interop]="java,javac:default-jdk-headless mvn:maven node:nodejs npm:npm go:golang-go"
why[interop]="to test Peal against XXL-JOB's executors in other languages"
packages[database]="mariadbd:mariadb-server-core my_print_defaults:mariadb-client-core postgresql galera-4 garbd:galera-arbitrator-4"
why[database]="to test Peal on database servers"
packages[package]="debhelper dpkg-dev lintian mmdebstrap"
why[package]="to build Debian packages and to try them"

list=no
if [ "${1:-}" = --list ]; then
    list=yes
    shift
fi
[ $# -gt 0 ] || { echo "usage: scripts/install-deps.sh [--list] build|test|console|browser|interop|database|package..." >&2; exit 2; }

installed() { # PACKAGE
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

present() { # PACKAGE or COMMAND,COMMAND:PACKAGE
    local command
    case $1 in
    *:*)
        for command in $(tr , ' ' <<<"${1%%:*}"); do
            command -v "$command" >/dev/null || return 1
        done
        ;;
    *) installed "$1" ;;
    esac
}

missing=()
reasons=()
for set in "$@"; do
    [ -n "${packages[$set]:-}" ] || { echo "install-deps: no such set: $set" >&2; exit 2; }
    before=${#missing[@]}
    for entry in ${packages[$set]}; do
        present "$entry" || missing+=("${entry#*:}")
    done
    [ ${#missing[@]} -eq "$before" ] || reasons+=("${why[$set]}")
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ $list = yes ]; then
    printf '%s\n' "${missing[@]}"
    exit 1
fi

install=(apt-get install -y --no-install-recommends "${missing[@]}")
printf -v reason '%s, ' "${reasons[@]}"
echo "These Debian packages are missing (${reason%, }): ${missing[*]}"
if [ "$(id -u)" -eq 0 ]; then
    echo "+ apt-get update && ${install[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q || echo "install-deps: apt-get update failed; trying with the lists there are" >&2
    "${install[@]}"
    exit
fi
command="sudo apt-get update && sudo ${install[*]}"
echo "They are installed with:"
echo "    $command"
if [ ! -t 0 ] || [ ! -t 1 ]; then
    echo "install-deps: not root, and no terminal to ask on; run the command above, then try again" >&2
    exit 1
fi
read -r -p "Run it now? [y/N] " answer
case $answer in
[yY]*) sudo apt-get update && sudo "${install[@]}" ;;
*)
    echo "install-deps: nothing was installed" >&2
    exit 1
    ;;
esac
