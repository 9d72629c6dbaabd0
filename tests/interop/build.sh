#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Build the programs of the interop suite, small ones of ours on the published XXL-JOB libraries: executors,
# and for Java the admin's client too.
#
#   build.sh [NAME...]     java-2.2.0 java-2.4.2 java-3.3.2 node go; all without a NAME
#   build.sh --list        the names
#
# Everything lands in build/interop, what was downloaded in build/interop/cache (or $PEAL_INTEROP_CACHE).
# What is built already and whose sources did not change is left alone, so a second call is quick and
# needs no network. Exit status: 0 built, 77 a tool chain is missing (the last line says how to get it),
# 76 something could not be fetched, anything else is a failure to look into.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${PEAL_INTEROP_BUILD:-$root/build/interop}
cache=${PEAL_INTEROP_CACHE:-$out/cache}

# One version of each dialect: 2.2 (executeResult), 2.3-3.2 (content), 3.3 and later (data).
java_versions="2.2.0 2.4.2 3.3.2"

names=
for v in $java_versions; do
    names="$names java-$v"
done
names="$names node go"

say() {
    echo "interop: $*"
}

missing() { # tool, Debian packages
    echo "interop: $1 is missing: apt-get install $2"
    exit 77
}

# need TOOL... -- PACKAGES: all tools are there, or leave with 77
need() {
    tools=
    while [ "$1" != -- ]; do
        tools="$tools $1"
        shift
    done
    shift
    for tool in $tools; do
        command -v "$tool" >/dev/null 2>&1 || missing "$tool" "$*"
    done
}

# fetch WHAT COMMAND...: run it quietly; on failure show its output and leave with 76
fetch() {
    what=$1
    shift
    say "fetching $what"
    if ! "$@" >"$out/fetch.$$" 2>&1; then
        cat "$out/fetch.$$" >&2
        rm -f "$out/fetch.$$"
        echo "interop: could not fetch $what (see above)"
        exit 76
    fi
    rm -f "$out/fetch.$$"
}

# stamp FILES...: a digest of the sources and of this script
stamp() {
    cat "$here/build.sh" "$@" | sha256sum | cut -d' ' -f1
}

# fresh DIR DIGEST: DIR was built from just these sources
fresh() {
    [ -f "$1/stamp" ] && [ "$(cat "$1/stamp")" = "$2" ]
}

java_sources() { # version -> the folders that suit its API
    case $1 in
    2.2.*) set -- v2.2 admin/v2 ;;
    2.* | 3.[012].*) set -- annotated v2.3 admin/v2 ;;
    *) set -- annotated v3.3 admin/v3.3 ;;
    esac
    for folder in common admin/common "$@"; do
        echo "$here/java/$folder"
    done
}

build_java() {
    version=$1
    case $version in # the generation of logging that the library was built for
    2.2.*) slf4j=1.7.30 ;;
    *) slf4j=2.0.16 ;;
    esac
    dir=$out/java-$version
    sources=
    for folder in $(java_sources "$version"); do
        sources="$sources $folder/*.java"
    done
    # shellcheck disable=SC2086 # the patterns are meant to expand
    digest=$(stamp "$here/java/pom.xml" $sources)
    need java javac mvn -- default-jdk-headless maven
    if fresh "$dir" "$digest"; then
        say "java $version is up to date"
        return
    fi
    rm -rf "$dir"
    mkdir -p "$dir/lib" "$dir/classes"
    fetch "com.xuxueli:xxl-job-core $version (Maven)" \
        mvn -B -q -Dmaven.repo.local="$cache/maven" -f "$here/java/pom.xml" \
        -Dxxl.version="$version" -Dslf4j.version="$slf4j" \
        dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$dir/lib"
    say "compiling executor and admin's client for $version"
    # shellcheck disable=SC2086
    javac -nowarn -encoding UTF-8 -cp "$dir/lib/*" -d "$dir/classes" $sources
    echo "$digest" >"$dir/stamp"
}

build_node() {
    dir=$out/node
    digest=$(stamp "$here/node/package.json" "$here/node/package-lock.json" "$here/node/executor.mjs")
    need node npm -- nodejs npm
    if fresh "$dir" "$digest"; then
        say "node is up to date"
        return
    fi
    rm -rf "$dir"
    mkdir -p "$dir"
    cp "$here/node/package.json" "$here/node/package-lock.json" "$here/node/executor.mjs" "$dir/"
    fetch "the npm packages xxl-job and express" \
        npm ci --prefix "$dir" --cache "$cache/npm" --no-audit --no-fund --ignore-scripts
    echo "$digest" >"$dir/stamp"
}

build_go() {
    dir=$out/go
    digest=$(stamp "$here/go/go.mod" "$here/go/go.sum" "$here/go/main.go")
    need go -- golang-go
    if fresh "$dir" "$digest"; then
        say "go is up to date"
        return
    fi
    rm -rf "$dir"
    mkdir -p "$dir"
    export GOMODCACHE="$cache/go" GOCACHE="$cache/go-build" GOTOOLCHAIN=local
    export GOFLAGS="-mod=readonly -modcacherw -buildvcs=false"
    fetch "github.com/xxl-job/xxl-job-executor-go" env -C "$here/go" go mod download
    say "compiling the Go executor"
    env -C "$here/go" go build -o "$dir/executor" .
    echo "$digest" >"$dir/stamp"
}

if [ "${1:-}" = --list ]; then
    # shellcheck disable=SC2086
    printf '%s\n' $names
    exit 0
fi
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $names
mkdir -p "$out" "$cache"
for name in "$@"; do
    case $name in
    java-*) build_java "${name#java-}" ;;
    node) build_node ;;
    go) build_go ;;
    *)
        echo "interop: no executor is called $name; there are:$names" >&2
        exit 2
        ;;
    esac
done
