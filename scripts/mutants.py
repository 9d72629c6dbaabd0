#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plant mistakes in a copy of the tree, one at a time, and see each found by a test.

  mutants.py                   all of tests/mutants/*.txt; goes on where it was stopped
  mutants.py NAME...           these, whatever an earlier run said
  mutants.py --survivors       those that the last run found alive, again
  mutants.py --simulation      only those that a simulation must find alone
  mutants.py --check           only see that each one's text is still found (a second)
  mutants.py --show NAME...    print them as patches

The list is made of blocks, separated by blank lines:

    == name-of-the-mutant
    breaks: the promise that it breaks
    blackbox: test_disk.py test_journal.py::test_name     files or cases that are tried last (optional)
    database: nodes                                       programs of the store that are tried before these on a
                                                          MariaDB and a PostgreSQL of their own (optional)
    by: simulation                                        it must be found by that simulation alone (optional);
                                                          of several nodes: nodes; of whole centers: cluster
    in: function
    - text that is there now
    + text in its place

`in` names a function, a struct, a table, a macro or a constant of an enum, wherever in src/ it stands. Spaces, line
ends and comments do not matter in the text; it must be found once. More pairs and more `in` lines may follow.

A mutant is tried on the unit tests of its layer and of those above it, then on the simulations (of one server, of
several nodes, of whole centers), then on the database servers and in the black-box cases that it names; what finds it
first ends it. What found it in an earlier run is tried before all of them. A test that hangs has found it. One that
no test finds has survived, and fails the command. Copies, builds and results are kept in build/mutants; a result
holds for one mutant and one state of the sources and tests.
"""
import argparse
import collections
import difflib
import glob
import hashlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOME = os.path.join(ROOT, "build", "mutants")
RECORD = os.path.join(HOME, "results.json")
TABLE = os.path.join(HOME, "table.md")
SEEDS, SEEDS_ALONE = 300, 1000
# by what a mutant is found: its program
SIMULATIONS = {"simulation": "peal_sim", "nodes": "peal_sim_nodes", "cluster": "peal_sim_cluster"}
LIMIT_UNIT, LIMIT_SIM, LIMIT_CASE, LIMIT_FILE = 100, 600, 200, 400  # seconds; generous: two mutants share the machine
COUNTS = ("src/", "include/", "cmake/", "tests/", "CMakeLists.txt", "CMakePresets.json")  # what a result depends on
COUNTS_NOT = ("tests/mutants/", "tests/fuzz/", "tests/interop/", "tests/structure/")
WATCHERS = {  # whose unit tests look at a layer, the nearest first
    "base": ["base", "net", "wire", "cron", "plan", "sched", "sql", "store", "ledger", "server", "api", "executor"],
    "cron": ["cron", "plan", "sched", "ledger", "store", "server"], "model": ["model", "plan", "sched", "ledger", "store", "server"],
    "plan": ["plan", "sched", "ledger", "server"], "sched": ["sched", "ledger", "server"],
    "shadow": ["shadow"],
    "wire": ["wire", "transport", "server", "executor"], "net": ["net", "transport", "server", "executor"],
    "transport": ["transport", "server"],
    "sql": ["sql", "store", "executor"], "store": ["store", "ledger", "server"], "ledger": ["ledger", "sched", "store", "server"],
    "alarm": ["alarm"],
    "server": ["server", "api"], "api": ["api"], "executor": ["executor"], "cli": [],
}
PROCESSES = ["peal", "libpeal.so", "peal_archive", "peal_stub", "peal_test_executor", "peal_test_host",
             "peal_examples", "peal_later_wider", "peal_later_breaking"]  # what black-box cases start
STARTED = {"test_galera.py": "store"}  # files that start unit programs too, of that layer
SOUND = set()    # tests that pass on the sound sources
RUNNING = set()  # process groups
TOOK = {}        # the longest that a unit program has taken to pass, in seconds
SIMULATED = {"base", "cron", "model", "plan", "sched", "sql", "store", "ledger"}


Step = collections.namedtuple("Step", "targets test name")  # what to build, and to call with the name


class Bad(Exception):
    """A mutant that cannot be judged; the text says why."""


class NoSuchCase(Bad):
    """pytest does not find it."""


# ---- the list ----------------------------------------------------------------------------------

class Mutant:
    def __init__(self, name, where):
        self.name, self.where, self.breaks, self.blackbox, self.database, self.alone = name, where, "", [], [], None
        self.changes = []  # [name of the definition, old lines, new lines]

    def text(self):
        more = [self.database] if self.database else []
        return json.dumps([self.name, self.blackbox, self.alone, self.changes] + more)


def read_list(path):
    found, now, definition = [], None, None
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            line, where = line.rstrip("\n"), f"{os.path.relpath(path, ROOT)}:{number}"
            if line.startswith("== "):
                now, definition = Mutant(line[3:].strip(), where), None
                found.append(now)
            elif not line.strip() or line.startswith("#"):
                continue
            elif now is None:
                raise Bad(f"{where}: a line before the first mutant")
            elif line.startswith("breaks:"):
                now.breaks = line.partition(":")[2].strip()
            elif line.startswith("blackbox:"):
                now.blackbox += line.partition(":")[2].split()
            elif line.startswith("database:"):
                now.database += line.partition(":")[2].split()
            elif line.startswith("by:"):
                now.alone = line.partition(":")[2].strip()
                if now.alone not in SIMULATIONS:
                    raise Bad(f"{where}: by one of {', '.join(SIMULATIONS)}")
            elif line.startswith("in:"):
                definition = line.partition(":")[2].strip()
            elif line[0] in "-+" and definition:
                if line[0] == "-" and (not now.changes or now.changes[-1][0] != definition or now.changes[-1][2]):
                    now.changes.append([definition, [], []])
                if not now.changes:
                    raise Bad(f"{where}: a + without a -")
                now.changes[-1][1 if line[0] == "-" else 2].append(line[1:])
            else:
                raise Bad(f"{where}: cannot be read: {line}")
    return found


def read_lists():
    mutants = [m for path in sorted(glob.glob(f"{ROOT}/tests/mutants/*.txt")) for m in read_list(path)]
    names = set()
    for m in mutants:
        if m.name in names or not re.fullmatch(r"[a-z0-9-]+", m.name):
            raise Bad(f"{m.where}: the name {m.name} is there twice, or has other signs than a-z, 0-9 and -")
        names.add(m.name)
        if not m.breaks or not m.changes:
            raise Bad(f"{m.where}: {m.name} says no promise or changes nothing")
    return mutants


# ---- where a text stands -----------------------------------------------------------------------

def definitions(text):
    """(names, start, end) of what stands at the left margin of a C file: functions, types, tables, macros."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    i = 0
    while i < len(lines):
        first, line = i, lines[i]
        i += 1
        if line.startswith("#define"):
            while lines[i - 1].rstrip().endswith("\\") and i < len(lines):
                i += 1
            yield {re.match(r"#define\s+(\w+)", line)[1]}, starts[first], starts[i]
            continue
        if not re.match(r"\w", line):
            continue
        while not re.search(r"[{;]\s*$", lines[i - 1]) and i < len(lines):
            i += 1
        head = "".join(lines[first:i])
        if re.search(r"\{\s*$", lines[i - 1]):
            while not lines[i - 1].startswith("}") and i < len(lines):
                i += 1
        if head.startswith("enum"):
            names = set(re.findall(r"\w+", "".join(lines[first:i])))
        else:
            names = set(re.findall(r"\w+", re.split(r"[\[=({;]", re.sub(r"__attribute__\(\(.*?\)\)", "", head))[0])[-1:])
            names |= set(re.findall(r"\b(?:struct|union)\s+(\w+)\s*\{", head))
        yield names, starts[first], starts[i]


def pattern_of(lines):
    """The text, with any spaces and line ends between its words, and without comments."""
    words = re.findall(r"\w+|\S", without_comments(" ".join(lines)))
    out = r"(?<!\w)" if re.match(r"\w", words[0]) else ""
    for before, word in zip([""] + words, words):
        out += (r"\s+" if re.match(r"\w", word) and re.match(r"\w", before[-1:]) else r"\s*" if before else "")
        out += re.escape(word)
    return out + (r"(?!\w)" if re.match(r"\w", words[-1]) else "")


def without_comments(text):
    """The same text with spaces for comments, so that places stay where they are."""
    return re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def sources(tree):
    return sorted(glob.glob(f"{tree}/src/**/*.[ch]", recursive=True))


class Code:
    """The files of src/ and what is defined in them."""

    def __init__(self, tree):
        self.files, self.plain, self.places = {}, {}, {}
        for path in sources(tree):
            with open(path, encoding="utf-8") as f:
                text = f.read()
            file = os.path.relpath(path, tree)
            self.files[file], self.plain[file] = text, without_comments(text)
            for names, start, end in definitions(self.plain[file]):
                for name in names:
                    self.places.setdefault(name, []).append((file, start, end))

    def plant(self, mutant):
        """{file: text with the mistake}"""
        out, edits = {}, []
        for name, old, new in mutant.changes:
            hits = []
            for file, start, end in set(self.places.get(name, [])):
                for hit in re.finditer(pattern_of(old), self.plain[file][start:end]):
                    hits.append((file, start + hit.start(), start + hit.end()))
            if name not in self.places:
                raise Bad(f"{mutant.where}: {mutant.name}: nothing called {name} is defined in src/")
            if len(set(hits)) != 1:
                raise Bad(f"{mutant.where}: {mutant.name}: its text is found {len(set(hits))} times in {name}, not once: "
                          + " ".join(" ".join(old).split())[:100])
            edits.append((*hits[0], "\n".join(line.strip() for line in new)))
        for file, start, end, new in sorted(edits, reverse=True):  # from the end: places stay right
            text = out.get(file, self.files[file])
            out[file] = text[:start] + new + text[end:]
        return out


# ---- what is built and run ---------------------------------------------------------------------

def tracked():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True,
                         text=True).stdout.splitlines()
    return [f for f in out if os.path.isfile(os.path.join(ROOT, f))]


def same(a, b):
    try:
        with open(a, "rb") as f, open(b, "rb") as g:
            return f.read() == g.read()
    except OSError:
        return False


def digest_of(files):
    digest = hashlib.sha256()
    for file in sorted(files):
        if file.startswith(COUNTS) and not file.startswith(COUNTS_NOT):
            with open(os.path.join(ROOT, file), "rb") as f:
                digest.update(f"{file}\n".encode() + hashlib.sha256(f.read()).digest())
    return digest.hexdigest()


def in_memory():
    """What to put before a command so that its /tmp is memory, if we may: unit tests sync a great deal, and to none of
    them does it matter where."""
    prefix = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs tmpfs /tmp && exec "$@"', "sh"]
    if ROOT.startswith("/tmp/"):
        return []
    try:
        return prefix if subprocess.run([*prefix, "true"], capture_output=True).returncode == 0 else []
    except OSError:
        return []


def end_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stopped(_number, _frame):
    """Ctrl-C, or a polite kill: what runs is in sessions of its own and would go on."""
    for group in list(RUNNING):
        end_group(group)
    os._exit(130)


class Bench:
    """A copy of the tree with its own build folder, for one mutant at a time."""

    def __init__(self, number, files, alone):
        self.tree = os.path.join(HOME, str(number), "tree")
        self.build = os.path.join(self.tree, "build", "dev")
        self.log_path = os.path.join(HOME, str(number), "log")
        self.sound = os.path.join(HOME, str(number), "sound_")
        self.files, self.alone, self.code, self.memory = files, alone, None, in_memory()
        os.makedirs(self.tree, exist_ok=True)

    def run(self, command, limit, cwd=None, env=None):
        """(exit status or None when it took too long, output)"""
        with open(self.log_path, "w+b") as log:
            process = subprocess.Popen(command, cwd=cwd or self.tree, env={**os.environ, **(env or {})},
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                       start_new_session=True)
            RUNNING.add(process.pid)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:  # with what it left behind
                RUNNING.discard(process.pid)
                end_group(process.pid)
                process.wait()
            log.seek(0)
            return status, log.read().decode(errors="replace")

    def must(self, command, what):
        status, out = self.run(command, 1800)
        if status != 0:
            raise Bad(f"{what}: {out[-3000:]}")

    def copy(self):
        """The sound sources; what has not changed keeps its time, so that little is compiled."""
        old = {os.path.relpath(os.path.join(d, f), self.tree) for d, subs, files in os.walk(self.tree)
               for f in files + [s for s in subs if os.path.islink(os.path.join(d, s))]}
        for file in old - set(self.files):
            if not file.startswith("build/"):
                os.unlink(os.path.join(self.tree, file))
        for file in self.files:
            source, target = os.path.join(ROOT, file), os.path.join(self.tree, file)
            if not same(source, target):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(source, target)
                os.utime(target)

    def write(self, texts):
        for file, text in texts.items():
            with open(os.path.join(self.tree, file), "w", encoding="utf-8") as f:
                f.write(text)

    def prepare(self):
        self.copy()
        self.code = Code(self.tree)
        self.must(["cmake", "--preset", "dev", "-DCMAKE_BUILD_TYPE=Mutants", "-DPEAL_WERROR=OFF",
                   "-DCMAKE_C_FLAGS=-O1 -g1 -w"], "cmake")
        self.make(list(SIMULATIONS.values()) if self.alone else ["all"], "the sound sources")
        for name in SIMULATIONS.values():
            shutil.copy(self.simulation(name), self.sound + name)

    def program(self, name):
        return os.path.join(self.build, "tests", name)

    def simulation(self, name):
        return self.program(os.path.join(name.removeprefix("peal_"), name))

    def make(self, targets, what):
        self.must(["ninja", "-C", self.build, "-j", "1", *targets], f"{what}: cannot be built")

    def unit_programs(self, watcher):
        """The quick ones first. By the sources: what is built may be left of a test that has another name now."""
        tests = glob.glob(os.path.join(self.tree, "tests", "unit", watcher, "test_*.c"))
        programs = [f"unit_{watcher}_{os.path.basename(path)[len('test_'):-len('.c')]}" for path in tests]
        return sorted(programs, key=lambda p: (TOOK.get(p, 0), p))

    def unit(self, program):
        """What fails, or None."""
        begun = time.monotonic()
        limit = min(LIMIT_UNIT, 20 + 10 * TOOK.get(program, LIMIT_UNIT))
        status, out = self.run([*self.memory, self.program(program)], limit, cwd=os.path.join(self.build, "tests"))
        if status == 0:
            TOOK[program] = max(TOOK.get(program, 0), time.monotonic() - begun)
            return None
        case = re.search(r"\[  FAILED  \] (?:\d+ test\(s\).*\n)?(?:\[  FAILED  \] )?(\w+)", out)
        return "takes too long" if status is None else case[1] if case else f"exit status {status}"

    def simulate(self, name, seeds):
        """A seed that the sound sources fail as well says nothing: on to the next."""
        first = 1
        while first <= seeds:
            status, out = self.run([self.simulation(name), "--seeds", f"{first}..{seeds}"], LIMIT_SIM)
            if status == 0:
                return None
            if status is None:
                return "takes too long"
            said = " ".join(" ".join(out.splitlines()[:2]).split()) or f"exit status {status}"
            seed = re.match(r"seed (\d+)", said)
            if not seed or self.run([self.sound + name, "--seed", seed[1]], LIMIT_SIM)[0] == 0:
                return said[:110]
            print(f"mutants: the sound sources fail too: {said[:150]}", file=sys.stderr)
            first = int(seed[1]) + 1
        return None

    def blackbox(self, case):
        env = {"PEAL_BIN": os.path.join(self.build, "peal"), "PEAL_PRESET": "dev"}
        status, out = self.run(["/usr/bin/python3", "-m", "pytest", "-p", "no:cacheprovider", "-x", "-q", "-rf",
                                f"tests/blackbox/{case}"], LIMIT_CASE if "::" in case else LIMIT_FILE, env=env)
        if status in (2, 3, 4):
            raise (NoSuchCase if status == 4 else Bad)(f"pytest cannot run {case}: {out[-1000:]}")
        failed = re.search(r"^FAILED \S+?::(\S+)", out, re.M)
        return None if status in (0, 5) else "takes too long" if status is None else failed[1] if failed else "fails"

    def on_servers(self, name):
        """A program of the store on servers that are started for it. What fails, or None."""
        status, out = self.run(["/usr/bin/python3", "scripts/test-db.py", "--only", name.removeprefix("database ")],
                               LIMIT_FILE)
        if "left out" in out:
            raise Bad(f"{name}: {out[out.index('left out'):].splitlines()[0]}")
        case = re.search(r"\[  FAILED  \] (\w+)", out)
        return None if status == 0 else "takes too long" if status is None else case[1] if case else "fails"

    def twice(self, test, name, before=("", "")):
        """What fails only now and then has found nothing. A seed of the simulation fails always; what found the mutant
        in an earlier run need not prove it again."""
        first = test(name)
        if name in SIMULATIONS or (name, first) == before:
            return first
        return first if not first or first == "takes too long" else test(name)

    def see_sound(self, step):
        """What fails without the mistake as well has found nothing. Once a test; the simulation sees to it itself."""
        if step.name in SOUND or step.name in SIMULATIONS:
            return
        self.make(step.targets, "the sound sources")
        if self.twice(step.test, step.name):
            raise Bad(f"{step.name} fails without the mistake too")
        SOUND.add(step.name)

    def blackbox_step(self, case):
        layer = STARTED.get(case.partition("::")[0])
        return Step(PROCESSES + (self.unit_programs(layer) if layer else []), self.blackbox, case)

    def steps(self, mutant, layers, before):
        """What is tried, in this order; before: what found it in an earlier run, and the detail."""
        seeds = SEEDS_ALONE if mutant.alone else SEEDS
        simulations = [Step([program], lambda _, program=program: self.simulate(program, seeds), name)
                       for name, program in SIMULATIONS.items() if mutant.alone in (None, name)]
        if mutant.alone:
            return simulations
        steps = []
        layer = max(layers, key=lambda name: len(WATCHERS.get(name, [])))
        for watcher in WATCHERS.get(layer, []):
            programs = self.unit_programs(watcher)
            steps += [Step(programs, self.unit, program) for program in programs]
        if layers <= SIMULATED:
            steps += simulations
        steps += [Step(("peal", f"unit_store_{name}"), self.on_servers, f"database {name}") for name in mutant.database]
        steps += [self.blackbox_step(case) for case in mutant.blackbox]
        by, detail = before
        first = [step for step in steps if step.name == by]
        if by and by.partition("::")[0] in mutant.blackbox and detail.startswith("test_"):  # the case, not its file
            first = [self.blackbox_step(by if "::" in by else f"{by}::{detail}")]
        return first + [step for step in steps if step not in first]

    def judge(self, mutant, before):
        """(by what it was found, the details); (None, "") when it was not."""
        step, found = self.try_out(mutant, before)
        if not step:
            return None, ""
        self.see_sound(step)
        return step.name, found

    def try_out(self, mutant, before):
        """The step that found it, or None, and the details."""
        planted = self.code.plant(mutant)
        made = []
        try:
            self.write(planted)
            for step in self.steps(mutant, {file.split("/")[1] for file in planted}, before):
                if step.targets not in made:
                    self.make(step.targets, mutant.name)
                    made.append(step.targets)
                try:
                    found = self.twice(step.test, step.name, before)
                except NoSuchCase:
                    if step.name in mutant.blackbox:
                        raise
                    continue  # there was such a case in an earlier run
                if found:
                    return step, found
            return None, ""
        finally:
            self.write({file: self.code.files[file] for file in planted})


# ---- all of them -------------------------------------------------------------------------------

class Results:
    def __init__(self):
        self.lock, self.of = threading.Lock(), {}
        if os.path.exists(RECORD):
            with open(RECORD, encoding="utf-8") as f:
                self.of = json.load(f)

    def put(self, name, result):
        with self.lock:
            self.of[name] = result
            with open(RECORD + ".new", "w", encoding="utf-8") as f:
                json.dump(self.of, f, indent=1)
            os.replace(RECORD + ".new", RECORD)


def say(mutant, result):
    how = {"killed": "found   ", "survived": "SURVIVED", "error": "ERROR   "}[result["end"]]
    print(f"{how} {mutant.name:32} {result['by'] or ''} {result['detail']} ({result['seconds']:.0f} s)", flush=True)


def work(bench, todo, results, keys):
    try:
        bench.prepare()
    except Bad as bad:
        print(f"mutants: {bad}", file=sys.stderr)
        return
    while True:
        try:
            mutant = todo.get_nowait()
        except queue.Empty:
            return
        begun = time.monotonic()
        try:
            old = results.of.get(mutant.name, {})
            by, detail = bench.judge(mutant, (old.get("by"), old.get("detail", "")))
            end = "killed" if by else "survived"
        except Bad as bad:
            by, detail, end = None, str(bad), "error"
        result = {"key": keys[mutant.name], "end": end, "by": by, "detail": detail,
                  "seconds": time.monotonic() - begun}
        results.put(mutant.name, result)
        say(mutant, result)


def write_table(mutants, results, keys):
    """Every mutant of the list; what has no result for these sources says so."""
    with open(TABLE, "w", encoding="utf-8") as f:
        f.write("| mutant | the promise that it breaks | found by | how |\n|---|---|---|---|\n")
        for m in mutants:
            r = results.of.get(m.name)
            by, how = (r["by"] or f"**{r['end']}**", r["detail"]) if r else ("not tried", "")
            if r and r["key"] != keys[m.name]:
                by += " (of other sources)"
            f.write("| " + " | ".join(x.replace("|", "\\|").replace("\n", " ")
                                      for x in (m.name, m.breaks, by, how[:120])) + " |\n")


def select(mutants, args, results, keys):
    known = {m.name for m in mutants}
    unknown = set(args.names) - known
    if unknown:
        raise Bad(f"no such mutant: {', '.join(sorted(unknown))}")
    if args.simulation:
        return [m for m in mutants if m.alone and (not args.names or m.name in args.names)]
    if args.names:
        return [m for m in mutants if m.name in args.names]
    old = results.of
    if args.survivors:
        return [m for m in mutants if old.get(m.name, {}).get("end") in ("survived", "error")]
    return [m for m in mutants if old.get(m.name, {}).get("key") != keys[m.name] or old[m.name]["end"] == "error"]


def check(code, mutants):
    lost = 0
    for mutant in mutants:
        try:
            code.plant(mutant)
        except Bad as bad:
            lost += 1
            print(bad)
    print(f"{len(mutants) - lost} of {len(mutants)} mutants can be planted")
    return 1 if lost else 0


def file_of(code, mutant):
    """The first that it touches; of one that cannot be planted, none."""
    try:
        return min(code.plant(mutant))
    except Bad:
        return ""


def show(code, mutant):
    for file, text in code.plant(mutant).items():
        sys.stdout.writelines(difflib.unified_diff(code.files[file].splitlines(True), text.splitlines(True),
                                                   "a/" + file, "b/" + file))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--simulation", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    try:
        mutants, code = read_lists(), Code(ROOT)
        chosen = [m for m in mutants if not args.names or m.name in args.names]
        if args.check:
            return check(code, mutants)
        if args.show:
            for mutant in chosen:
                show(code, mutant)
            return 0
        os.makedirs(HOME, exist_ok=True)
        files = tracked()
        state = digest_of(files)
        keys = {m.name: hashlib.sha256((state + m.text()).encode()).hexdigest()[:24] for m in mutants}
        results = Results()
        chosen = select(mutants, args, results, keys)
    except Bad as bad:
        sys.exit(f"mutants: {bad}")
    begun = time.monotonic()
    todo = queue.Queue()
    for mutant in sorted(chosen, key=lambda m: file_of(code, m)):  # neighbours compile the same file
        todo.put(mutant)
    threads = [threading.Thread(target=work, args=(Bench(n, files, args.simulation), todo, results, keys), daemon=True)
               for n in range(min(args.jobs, len(chosen)))]
    signal.signal(signal.SIGINT, stopped)
    signal.signal(signal.SIGTERM, stopped)
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    judged = chosen if args.names or args.simulation or args.survivors else mutants
    ends = [results.of.get(m.name, {}).get("end") if results.of.get(m.name, {}).get("key") == keys[m.name] else None
            for m in judged]
    write_table(mutants, results, keys)
    print(f"{ends.count('killed')} of {len(ends)} found in {time.monotonic() - begun:.0f} s"
          + "".join(f", {ends.count(end)} {text}" for end, text in (("survived", "survived"), ("error", "not to be judged"),
                                                                    (None, "not tried")) if ends.count(end))
          + f"; the table is {os.path.relpath(TABLE, ROOT)}")
    return 0 if ends and set(ends) == {"killed"} else 1


if __name__ == "__main__":
    sys.exit(main())
