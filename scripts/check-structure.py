#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The house's rules that a program can check; docs/development.md says why each is there.

  includes   src/ includes point downward only; libraries stay behind the layer that owns them
  pure       cron, sched and wire include nothing that knows clock, I/O, chance or threads
  archives   the same, seen by the linker: the pure folders' objects need no such symbol
  circles    the .c files of a folder and its sub-folders do not call each other in a circle
  headers    each header compiles on its own, and twice
  comments   C has no // comments
  heads      a .c file of src/ opens with a comment that tells its idea
  calls      no call of a libc function that cannot be used safely
  licence    one SPDX line in each source and script
  columns    prose in Markdown has lines of at most 100 columns

usage: check-structure.py [--root DIR] [--build DIR] [CHECK...]
tests/structure shows for each check that it fails on a planted violation.
"""
import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# Which folders of src/ a folder may include, itself apart. The drawing: docs/architecture.md. A sub-folder that stands
# here is a folder of its own. A folder and its sub-folder may see each other where the one has the contract and the
# other what is behind it.
LAYERS = {
    "base": [],
    "cron": ["base"],
    "model": ["base", "cron"],
    "plan": ["base", "cron", "model"],
    "sched": ["base", "cron", "model", "plan"],
    "wire": ["base"],
    "sql": ["base"],
    "store": ["base", "cron", "model", "sql", "store/sqlite", "store/memory", "store/mysql", "store/postgres"],
    "store/sql": ["base", "cron", "model", "store"],
    "store/sqlite": ["base", "cron", "model", "sql", "store", "store/sql"],
    "store/postgres": ["base", "cron", "model", "store", "store/sql"],
    "store/memory": ["base", "cron", "model", "store"],
    "store/mysql": ["base", "cron", "model", "store", "store/sql"],
    "shadow": ["base", "cron", "model", "plan", "store", "store/mysql"],
    "ledger": ["base", "cron", "model", "plan", "sched", "store"],
    "net": ["base"],
    "transport": ["base", "cron", "model", "wire", "net"],
    "server": ["base", "cron", "model", "plan", "sched", "wire", "store", "ledger", "net", "transport",
               "server/journal"],
    "server/journal": ["base", "server"],
    "alarm": ["base", "cron", "model", "wire", "store", "ledger", "server"],
    "live": ["base", "cron", "model", "sched", "wire", "store", "ledger", "net", "server"],
    "console": ["base", "net"],
    "api": ["base", "cron", "model", "sched", "wire", "store", "ledger", "net", "transport", "server", "live", "console",
            "alarm", "api/xxl", "api/v1"],
    "api/xxl": ["base", "cron", "model", "sched", "wire", "store", "ledger", "net", "transport", "server", "api"],
    "api/v1": ["base", "cron", "model", "sched", "wire", "store", "ledger", "net", "transport", "server", "live", "alarm", "api"],
    "executor/log": ["base", "wire"],
    "executor/journal": ["base", "sql"],
    "executor/run": ["base", "wire", "peal", "executor/log"],
    "executor/process": ["base", "wire", "executor/run"],
    "executor/core": ["base", "wire", "net", "peal", "executor/run", "executor/process", "executor/log",
                      "executor/journal"],
    "executor/lib": ["base", "wire", "net", "peal", "executor/run", "executor/core", "executor/process"],
    "executor/agent": ["base", "peal", "executor/run", "executor/process"],
    "cli": ["base", "cron", "wire", "store", "store/mysql", "shadow", "net", "server", "alarm", "api", "peal", "executor/agent", "executor/lib"],
    "peal": [],  # include/peal, the installed header
}
PURE = ["cron", "model", "plan", "sched", "wire"]

# Headers of base that a pure folder may not see.
IMPURE_BASE = {"base/clock.h", "base/file.h", "base/filelock.h", "base/log.h", "base/mailbox.h", "base/secret.h", "base/thread.h"}
# Headers of libc and libraries that it may see; all others are forbidden there. stdatomic.h is for
# counted objects that any thread may let go of.
PURE_SYSTEM = {
    "assert.h", "ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h", "stdalign.h",
    "stdarg.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "stdnoreturn.h",
    "string.h", "strings.h",
}
PURE_EXTRA = {"wire": {"jansson.h"}}
# Libraries that have one owner: another folder calls the owner's functions.
OWNERS = {
    "sqlite3.h": ["sql", "store", "executor"],
    "mysql": ["store/mysql"],
    "libpq-fe.h": ["store/postgres"],
    "argon2.h": ["api"],
    "jansson.h": ["wire", "server", "api", "executor", "cli"],
    "openssl/": ["base", "net"],
    "curl/": ["executor", "alarm", "cli"],
}

# Symbols that a pure archive may need from outside the code base, as whole names.
PURE_SYMBOLS = re.compile(
    r"mem(cpy|move|set|cmp|chr|rchr|mem|pcpy)|malloc|calloc|realloc|reallocarray|free|abort|"
    r"str(n?len|n?cmp|n?casecmp|chr|rchr|chrnul|str|casestr|pbrk|c?spn|n?dup|lcpy|tod|tol|toll|toul|"
    r"toull)|qsort|bsearch|v?snprintf|l?labs|abs|l?lrint|l?lround|(floor|ceil|round|trunc|fmod|log|"
    r"log2|log1p|exp|exp2|pow|ldexp|frexp|modf|scalbn|sqrt)f?|"
    r"isalpha|isdigit|isalnum|isspace|isupper|islower|isxdigit|toupper|tolower|"
    r"__ctype_(b|toupper|tolower)_loc|__errno_location|__assert_fail|__isoc\d+_strto\w+|"
    r"__(mem|str)\w+_chk|__v?snprintf_chk|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|"
    r"__(asan|ubsan|tsan|sanitizer|lsan)_\w+|__popcount\w+|__gcov_\w+"
)
PURE_SYMBOLS_EXTRA = {"wire": re.compile(r"jansson_\w+|json_\w+")}

# Calls without bounds, with hidden static state, or that run a shell.
BANNED_CALLS = (
    "strcpy strcat stpcpy sprintf vsprintf gets strtok strncpy strncat asctime ctime localtime gmtime "
    "asctime_r ctime_r tmpnam tempnam mktemp system popen atoi atol atoll atof rand srand alloca"
).split()

SOURCES = (".c", ".h")
LICENSED = SOURCES + (".py", ".sh", ".cmake", ".pml", ".sql", ".js", ".mjs", ".ts", ".vue", ".go",
                      ".java", ".yml", ".yaml", ".supp")
LICENSED_NAMES = ("CMakeLists.txt", "Makefile", "Dockerfile")
SPDX = "SPDX-License-Identifier: Apache-2.0"


class House:
    """The tree under check: its files, and the findings so far."""

    def __init__(self, root, build):
        self.root, self.build, self.findings = root, build, []
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, check=True,
                                capture_output=True, text=True).stdout.splitlines()
        self.files = sorted(f for f in listed if os.path.isfile(os.path.join(root, f)))

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as f:
            return f.read()

    def report(self, where, text):
        self.findings.append(f"{where}: {text}")

    def c_files(self, *folders):
        return [f for f in self.files if f.endswith(SOURCES) and f.startswith(folders)]


def layer_of(path):
    """The row of LAYERS for a file, or for an include written from the root of src/ with "src/" before it."""
    parts = path.split("/")
    if parts[0] == "include" or parts[1] == "peal":
        return "peal"
    sub = "/".join(parts[1:3])
    return sub if sub in LAYERS else parts[1]


def owns(owner, layer):
    return layer == owner or layer.startswith(owner + "/")


def strip(text, keep_comments=False):
    """C without strings and comments, line for line; // comments become a lone '//' if asked."""
    def blank(match):
        token = match.group(0)
        if keep_comments and token.startswith("//"):
            return "//"
        return ("\"\"" if token[0] in "\"'" else " ") + "\n" * token.count("\n")
    return re.sub(r"/\*.*?\*/|//(?:\\\n|[^\n])*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text,
                  flags=re.S)


def includes(house, path):
    """(line, brackets or quotes, name) of each include of a file."""
    for number, line in enumerate(house.read(path).splitlines(), 1):
        match = re.match(r"\s*#\s*include\s*([<\"])([^>\"]+)", line)
        if match:
            yield number, match.group(1), match.group(2)


def check_includes(house):
    for path in house.c_files("src/", "include/"):
        layer = layer_of(path)
        if layer not in LAYERS:
            house.report(path, f"src/{layer} is not in the table of layers (scripts/check-structure.py)")
            continue
        for number, mark, name in includes(house, path):
            where = f"{path}:{number}"
            if mark == "<":
                for library, owners in OWNERS.items():
                    if name.startswith(library) and not any(owns(o, layer) for o in owners):
                        house.report(where, f"{layer} may not include <{name}>: {', '.join(owners)} may")
                continue
            target = layer_of("src/" + name) if "/" in name else layer
            if "/" not in name or ".." in name.split("/"):
                house.report(where, f'write the include from the root: "{layer}/{os.path.basename(name)}"')
            elif target != layer and target not in LAYERS[layer]:
                house.report(where, f'{layer} may not include "{name}": includes point downward only')


def check_pure(house):
    for path in house.c_files(*(f"src/{layer}/" for layer in PURE)):
        layer = layer_of(path)
        allowed = PURE_SYSTEM | PURE_EXTRA.get(layer, set())
        for number, mark, name in includes(house, path):
            if mark == "<" and name not in allowed:
                house.report(f"{path}:{number}", f"{layer} is pure and may not include <{name}>")
            elif name in IMPURE_BASE:
                house.report(f"{path}:{number}", f'{layer} is pure and may not include "{name}"')


def symbols(archive):
    """{object: (defined, undefined)} of a static archive."""
    out = subprocess.run(["nm", "-P", archive], check=True, capture_output=True, text=True).stdout
    objects, current = {}, None
    for line in out.splitlines():
        member = re.match(r".*\[(.+)\]:$", line)
        if member:
            current = objects.setdefault(member.group(1), (set(), set()))
            continue
        fields = line.split()
        if current and len(fields) >= 2:
            current[1 if fields[1] in "Uwv" else 0].add(fields[0].split("@")[0])
    return objects


def check_archives(house):
    """Each pure archive, against libc's allowed names and the pure part of what lies below it."""
    def archive(layer):
        path = os.path.join(house.build, f"libpeal_{layer}.a")
        return symbols(path) if os.path.exists(path) else {}

    impure = {os.path.basename(h)[:-2] + ".c.o" for h in IMPURE_BASE}
    for layer in PURE:
        if not house.c_files(f"src/{layer}/"):
            continue
        own = archive(layer)
        if not own:
            house.report(f"src/{layer}", f"{house.build}/libpeal_{layer}.a is missing: build first")
            continue
        known = set().union(*(defined for defined, _ in own.values()))
        for below in LAYERS[layer]:
            for member, (defined, _) in archive(below).items():
                if below != "base" or member not in impure:
                    known |= defined
        extra = PURE_SYMBOLS_EXTRA.get(layer)
        for member, (_, undefined) in own.items():
            for name in sorted(undefined - known):
                if not (PURE_SYMBOLS.fullmatch(name) or extra and extra.fullmatch(name)):
                    house.report(f"src/{layer}/{member[:-2]}", f"{layer} is pure and may not need {name}()")


def objects_of(house, folder):
    """{source: (defined, undefined)} of the C files below src/folder/; None if one was not built. without_*.c stands in the
    place of a library that is here."""
    target = "peal" if folder == "cli" else f"peal_{folder}"
    below = os.path.join(house.build, "CMakeFiles", f"{target}.dir")
    sources = {os.path.join(below, f"{f}.o"): f for f in house.c_files(f"src/{folder}/")
               if f.endswith(".c") and not os.path.basename(f).startswith("without_")}
    if not all(os.path.exists(o) for o in sources):
        return None
    found = {source: (set(), set()) for source in sources.values()}
    out = subprocess.run(["nm", "-A", "-P", "-g", *sources], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        path, name, kind = re.match(r"(.*): (\S+) (\S)", line).groups()
        found[sources[path]][1 if kind in "Uwv" else 0].add(name)
    return found


def circles(calls):
    """The sets of files that reach each other, of {file: files that it calls}."""
    reach = {}
    for start in calls:
        seen, ahead = set(), [start]
        while ahead:
            for other in calls[ahead.pop()] - seen:
                seen.add(other)
                ahead.append(other)
        reach[start] = seen
    found = {frozenset(b for b in reach[a] if a in reach[b]) for a in calls if a in reach[a]}
    return sorted(sorted(one) for one in found)


def check_circles(house):
    folders = sorted({f.split("/")[1] for f in house.c_files("src/") if f.endswith(".c")})
    for folder in folders:
        objects = objects_of(house, folder)
        if objects is None:
            house.report(f"src/{folder}", f"its objects are missing in {house.build}: build first")
            continue
        owner = {name: source for source, (defined, _) in objects.items() for name in defined}
        calls = {source: {owner[n] for n in undefined if n in owner} - {source}
                 for source, (_, undefined) in objects.items()}
        for one in circles(calls):
            house.report(one[0], "calls in a circle: " + ", ".join(os.path.basename(f) for f in one))


def check_headers(house):
    def compile_alone(path):
        name = path.split("/", 1)[1]
        done = subprocess.run(
            ["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-Isrc",
             "-Iinclude", "-fsyntax-only", "-x", "c", "-"], cwd=house.root, text=True, capture_output=True,
            input=f'#include "{name}"\n#include "{name}"\n')
        return None if done.returncode == 0 else done.stderr.strip().splitlines()[:6]

    headers = [f for f in house.c_files("src/", "include/") if f.endswith(".h")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, trouble in zip(headers, pool.map(compile_alone, headers)):
            if trouble:
                house.report(path, "does not compile on its own:\n    " + "\n    ".join(trouble))


def check_comments(house):
    for path in house.c_files(""):
        for number, line in enumerate(strip(house.read(path), keep_comments=True).split("\n"), 1):
            if "//" in line:
                house.report(f"{path}:{number}", "// comment: write /* */")


def check_heads(house):
    for path in house.c_files("src/"):
        if path.endswith(".c") and not house.read(path).partition("\n")[2].startswith("/*"):
            house.report(path, "opens without its idea: a comment behind the licence line, above the includes")


def check_columns(house):
    """Tables, code and what has no blank to break at may be longer. Chinese is written without blanks."""
    for path in house.files:
        if not path.endswith(".md") or path.endswith(".zh-CN.md"):
            continue
        fenced = False
        for number, line in enumerate(house.read(path).splitlines(), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            code = fenced or line.startswith(("    ", "|")) or " " not in line.strip()
            if len(line) > 100 and not code:
                house.report(f"{path}:{number}", f"{len(line)} columns: prose has lines of at most 100")


def check_calls(house):
    banned = re.compile(rf"(?<![\w.>])({'|'.join(BANNED_CALLS)})\s*\(")
    for path in house.c_files("src/", "include/"):
        for number, line in enumerate(strip(house.read(path)).split("\n"), 1):
            for match in banned.finditer(line):
                house.report(f"{path}:{number}", f"{match.group(1)}() is banned here")


def check_values(house):
    """Two words of an enumeration with one number are two meanings that nobody can tell apart; a second name for a
    value is written as that name."""
    for path in house.c_files("src/", "include/"):
        text = strip(house.read(path))
        for body in re.finditer(r"\benum\s+\w+\s*\{([^{}]*)\}", text):
            seen = {}
            for word in re.finditer(r"\b(\w+)\s*=\s*([^,]+)", body.group(1)):
                number = value_of(word.group(2))
                if number is None:
                    continue
                if number in seen:
                    line = text.count("\n", 0, body.start(1) + word.start()) + 1
                    house.report(f"{path}:{line}", f"{word.group(1)} has the number of {seen[number]}")
                seen.setdefault(number, word.group(1))


def value_of(text):
    """The number that is written there: 16, 0x10, 1 << 4; None if it is something else."""
    shifted = re.fullmatch(r"\(?\s*(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\s*(?:<<\s*(\d+))?\s*\)?", text.strip())
    return int(shifted.group(1), 0) << int(shifted.group(2) or 0) if shifted else None


def check_licence(house):
    for path in house.files:
        name = os.path.basename(path)
        text = house.read(path)
        if not (name.endswith(LICENSED) or name in LICENSED_NAMES or text.startswith("#!")):
            continue
        head = sum(SPDX in line for line in text.split("\n")[:3])
        if head != 1:
            house.report(path, f"one line in the first three says {SPDX}")


CHECKS = {
    "includes": check_includes,
    "pure": check_pure,
    "archives": check_archives,
    "circles": check_circles,
    "headers": check_headers,
    "comments": check_comments,
    "heads": check_heads,
    "calls": check_calls,
    "values": check_values,
    "licence": check_licence,
    "columns": check_columns,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=", ".join(CHECKS))
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--build", help="folder with the archives (ROOT/build/dev)")
    args = parser.parse_args()
    names = args.checks or list(CHECKS)
    if set(names) - set(CHECKS):
        parser.error(f"the checks are {', '.join(CHECKS)}")
    house = House(args.root, args.build or os.path.join(args.root, "build", "dev"))
    for name in names:
        CHECKS[name](house)
    for finding in house.findings:
        print(finding)
    print(f"{len(names)} checks, {len(house.files)} files, {len(house.findings)} findings")
    return 1 if house.findings else 0


if __name__ == "__main__":
    sys.exit(main())
