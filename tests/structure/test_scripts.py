# SPDX-License-Identifier: Apache-2.0
"""The scripts that run and judge the other tests, in small trees of their own: what fails must be seen to fail."""
import json
import os
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Tree:
    """A temporary project with a copy of scripts/ and, first on the path, stand-ins for other programs."""

    def __init__(self, folder):
        self.folder = folder
        shutil.copytree(os.path.join(ROOT, "scripts"), folder / "scripts")
        shutil.copy(os.path.join(ROOT, ".clang-format"), folder)
        shutil.copy(os.path.join(ROOT, ".clang-tidy"), folder)
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)

    def write(self, path, text, mode=0o644):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)
        return target

    def program(self, name, text, folder="bin"):
        return self.write(f"{folder}/{name}", "#!/bin/bash\n" + text, 0o755)

    def run(self, *command, **env):
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        base = {k: v for k, v in os.environ.items() if k != "CI"}
        done = subprocess.run(command, cwd=self.folder, env={**base, "PATH": path, **env}, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


# ---- run-tests.py ------------------------------------------------------------------------------

CASES = """# SPDX-License-Identifier: Apache-2.0
import pytest
def test_good(): pass
def test_also_good(): pass
"""
BAD = "def test_bad(): assert 1 == 2\n"
AWAY = "def test_away(): pytest.skip('no tool chain')\n"


@pytest.mark.parametrize("text, env, status, last", [
    (CASES, {}, 0, "2 passed, 0 failed"),
    (CASES + BAD, {}, 1, "2 passed, 1 failed"),
    (CASES + AWAY, {}, 0, "2 passed, 0 failed, 1 skipped"),
    (CASES + AWAY, {"CI": "true"}, 1, "2 passed, 1 failed"),
    ("import nothing_of_that_name\n", {}, 1, "0 passed, 1 failed"),
    ("", {}, 1, "0 passed, 1 failed"),
])
def test_cases_are_counted_and_the_last_line_sums_up(tree, text, env, status, last):
    tree.write("tests/blackbox/test_a.py", text)
    got, out = tree.run("scripts/run-tests.py", "blackbox", **env)
    assert (got, out.splitlines()[-1]) == (status, last), out
    if AWAY in text:
        assert "no tool chain" in out


def test_counts_of_an_earlier_run_are_added(tree):
    tree.write("tests/blackbox/test_a.py", CASES)
    tree.write("tests/interop/test_a.py", CASES + BAD)
    assert tree.run("scripts/run-tests.py", "interop", "--save", "before.json")[0] == 1
    assert json.loads((tree.folder / "before.json").read_text()) == {"passed": 2, "failed": 1, "skipped": 0}
    status, out = tree.run("scripts/run-tests.py", "blackbox", "--add", "before.json")
    assert (status, out.splitlines()[-1]) == (1, "4 passed, 1 failed")


def test_a_report_of_a_sanitizer_fails_cases_that_pass(tree):
    tree.write("tests/blackbox/test_a.py", CASES + """
import os
def test_report():
    path = dict(o.split("=", 1) for o in os.environ["ASAN_OPTIONS"].split(":"))["log_path"]
    open(path + ".1", "w").write("ERROR: AddressSanitizer: heap-use-after-free")
""")
    status, out = tree.run("scripts/run-tests.py", "blackbox-asan")
    assert (status, out.splitlines()[-1]) == (1, "3 passed, 1 failed"), out
    assert "heap-use-after-free" in out


def test_a_stage_that_needs_a_failed_one_fails_too(tree):
    tree.program("cmake", "exit 1\n")
    status, out = tree.run("scripts/run-tests.py", "build", "unit")
    assert (status, out.splitlines()[-1]) == (1, "0 passed, 2 failed"), out
    assert "unit FAILED: needs build" in out


def test_thread_sanitizer_has_all_files_but_those_that_are_listed(tree):
    for name in ("a", "b"):
        tree.write(f"tests/blackbox/test_{name}.py", CASES)
    assert tree.run("scripts/run-tests.py", "blackbox-tsan")[1].splitlines()[-1] == "4 passed, 0 failed"
    tree.write("tests/tsan-left-out.txt", "# why\ntest_b.py  has one thread\n")
    assert tree.run("scripts/run-tests.py", "blackbox-tsan")[1].splitlines()[-1] == "2 passed, 0 failed"
    assert tree.run("scripts/run-tests.py", "blackbox-asan")[1].splitlines()[-1] == "4 passed, 0 failed"


def test_what_thread_sanitizer_does_not_get_is_there_and_has_a_reason():
    with open(os.path.join(ROOT, "tests", "tsan-left-out.txt"), encoding="utf-8") as f:
        listed = [line.split(None, 1) for line in f if line.strip() and not line.startswith("#")]
    for name, reason in listed:
        assert os.path.exists(os.path.join(ROOT, "tests", "blackbox", name)), name
        assert len(reason.split()) >= 3, name
    assert len({name for name, _ in listed}) == len(listed)


def test_lanes_wait_for_what_their_stages_need(tree):
    """What only computes goes on beside the suites; a suite begins when its build has ended, and not when that failed."""
    tree.write("tests/blackbox/test_a.py", CASES)
    tree.program("cmake", 'echo "cmake $*" >>order\n[ "$2" != asan ] || sleep 1\n[ "$*" != "--preset tsan" ]\n')
    status, out = tree.run("scripts/run-tests.py", "build", "build-asan", "build-tsan", "blackbox-asan", "blackbox-tsan")
    assert status == 1
    assert (tree.folder / "order").read_text().splitlines() == [
        "cmake --preset dev", "cmake --build build/dev", "cmake --preset asan", "cmake --build build/asan",
        "cmake --preset tsan"]
    ends = [line for line in out.splitlines() if line.startswith("== ")]
    assert ends.index("== build-asan") < ends.index("== blackbox-asan"), out
    assert "blackbox-tsan FAILED: needs build-tsan" in out
    assert out.splitlines()[-1] == "4 passed, 2 failed"


def test_a_warning_fails_a_build(tree):
    tree.program("cmake", 'if [ "$1" = --build ]; then echo "a.c:1:1: warning: x may be uninitialized"; fi\n')
    status, out = tree.run("scripts/run-tests.py", "build-release")
    assert status == 1
    assert "the compiler warns: a.c:1:1" in out


def test_format_finds_what_clang_format_would_change(tree):
    tree.write("src/base/a.c", "int a;\n")
    assert tree.run("scripts/run-tests.py", "format")[0] == 0
    tree.write("src/base/a.c", "int  a ;\n")
    assert tree.run("scripts/run-tests.py", "format")[0] == 1
    assert tree.run("scripts/run-tests.py", "--format")[0] == 0
    assert (tree.folder / "src/base/a.c").read_text() == "int a;\n"


def test_lint_finds_a_bug_and_looks_again_after_a_change_of_a_header(tree):
    source = tree.write("src/base/a.c", '#include "base/a.h"\n#include <stdlib.h>\nint number(const char *p)\n{\n'
                                        "    return READ(p);\n}\n")
    tree.write("src/base/a.h", "#define READ(p) (p[0] - '0')\nint number(const char *p);\n")
    tree.write("build/dev/compile_commands.json", json.dumps([
        {"directory": str(tree.folder), "file": str(source), "command": f"gcc -Isrc -c {source}"}]))
    assert tree.run("scripts/run-tests.py", "clang-tidy")[0] == 0
    tree.write("src/base/a.h", "#define READ(p) atoi(p)\nint number(const char *p);\n")
    status, out = tree.run("scripts/run-tests.py", "clang-tidy")
    assert status == 1
    assert "cert-err34-c" in out


# ---- install-deps.sh ---------------------------------------------------------------------------

def test_deps_without_root_say_the_command_and_fail(tree):
    tree.program("dpkg-query", '[ "${@: -1}" != ninja-build ] && echo -n installed\n')
    tree.program("id", "echo 1000\n")
    status, out = tree.run("scripts/install-deps.sh", "build")
    assert status == 1, out
    assert "sudo apt-get install -y --no-install-recommends ninja-build\n" in out
    assert "to build Peal" in out


def test_deps_as_root_install_what_is_missing_only(tree):
    tree.program("dpkg-query", '[ "${@: -1}" != spin ] && echo -n installed\n')
    tree.program("id", "echo 0\n")
    tree.program("apt-get", 'echo "called: $*"\n')
    status, out = tree.run("scripts/install-deps.sh", "build", "test")
    assert status == 0, out
    assert "called: install -y --no-install-recommends spin\n" in out


def test_deps_that_are_there_need_nothing(tree):
    tree.program("dpkg-query", "echo -n installed\n")
    tree.program("apt-get", "echo called\n")
    assert tree.run("scripts/install-deps.sh", "build", "test") == (0, "")


# ---- fuzz.py, sim.py, model.py -----------------------------------------------------------------

def test_a_crash_of_a_fuzzer_is_printed_whole(tree):
    tree.program("fuzz_a", 'for a; do case $a in -artifact_prefix=*) p=${a#*=};; esac; done\n'
                           'printf abc >"${p}crash-1"\nexit 77\n', "build/fuzz/tests/fuzz")
    status, out = tree.run("scripts/fuzz.py", "fuzz_a", "--seconds", "1")
    assert status == 1
    assert "YWJj" in out
    assert out.splitlines()[-1] == "0 passed, 1 failed"


def test_a_long_fuzz_run_keeps_its_corpus(tree):
    tree.program("cmake", "exit 0\n")
    tree.program("fuzz_a", 'for a; do [ -d "$a" ] && ls "$a" && echo 1 >"$a/$RANDOM$RANDOM"; done\nexit 0\n',
                 "build/fuzz/tests/fuzz")
    for kept in (1, 2):
        assert tree.run("scripts/fuzz.py", "fuzz_a", "--seconds", "1", "--keep")[0] == 0
        assert len(list((tree.folder / "build/fuzz-corpus/fuzz_a").iterdir())) == kept


def test_a_failing_seed_is_said_and_passed_slices_are_not_run_again(tree):
    tree.write("tests/sim/seeds.txt", "# none\n")
    tree.program("cmake", "exit 0\n")
    tree.program("peal_sim", '[ "$2" = 51..100 ] && [ ! -e mended ] && echo "seed 77 breaks" && exit 1\nexit 0\n',
                 "build/release/tests/sim")
    status, out = tree.run("scripts/sim.py", "--seeds", "1..150", "--resume")
    assert status == 1
    assert "seed 77 breaks" in out and "peal_sim --seed 77" in out, out
    assert "149 seeds passed, 1 failed\n" in out and out.splitlines()[-1].endswith(": 77"), out
    tree.write("mended", "")
    status, out = tree.run("scripts/sim.py", "--seeds", "1..150", "--resume")
    assert (status, out.splitlines()[-1]) == (0, "50 seeds passed, 0 failed")


def test_seeds_that_move_are_printed_and_those_that_failed_once_come_along(tree):
    tree.write("tests/sim/seeds.txt", "# failed once\n7 9 # and so on\n")
    tree.program("cmake", "exit 0\n")
    tree.program("peal_sim", 'echo "$@" >>calls\n', "build/release/tests/sim")
    status, out = tree.run("scripts/sim.py", "--moving", "10", "--kept")
    seeds = out.splitlines()[0].removeprefix("seeds ")
    assert (status, out.splitlines()[-1]) == (0, "12 seeds passed, 0 failed"), out
    assert sorted((tree.folder / "calls").read_text().split("\n")[:-1]) == sorted(
        ["--seeds 7..7", "--seeds 9..9", f"--seeds {seeds}"])


# ---- mutants.py --------------------------------------------------------------------------------

MUTANT = """== a-name
breaks: something that counts
in: pick
- return list_first(&s->queue,
- true);
+ return NULL;
"""
CODE = """#include "x.h"

int other(void);

static const int pick_table[] = {
    1,
};

struct node *other(struct sched *s)
{
    return list_first(&s->queue, true);
}

static struct node *pick(struct sched *s)
{
    if (x) /* why */
        return list_first(
            &s->queue, /* the oldest */ true);
    return 0;
}
"""


def test_a_mutant_is_found_by_its_function_whatever_the_layout_is(tree):
    tree.write("src/a/a.c", CODE)
    tree.write("tests/mutants/a.txt", MUTANT)
    assert tree.run("scripts/mutants.py", "--check")[0] == 0
    status, out = tree.run("scripts/mutants.py", "--show", "a-name")
    assert status == 0
    assert "+        return NULL;\n" in out and out.count("\n-") == 2, out


@pytest.mark.parametrize("mutant, code, said", [
    (MUTANT.replace("in: pick", "in: picks"), CODE, "nothing called picks"),
    (MUTANT, CODE.replace("            &s->queue", "            &s->line"), "found 0 times in pick"),
    (MUTANT, CODE.replace("    return 0;", "    return list_first(&s->queue, true);"), "found 2 times in pick"),
    (MUTANT.replace("breaks: something that counts\n", ""), CODE, "says no promise"),
    (MUTANT + MUTANT, CODE, "is there twice"),
])
def test_a_mutant_that_cannot_be_planted_is_an_error(tree, mutant, code, said):
    tree.write("src/a/a.c", code)
    tree.write("tests/mutants/a.txt", mutant)
    status, out = tree.run("scripts/mutants.py", "--check")
    assert status == 1 and said in out, out


SHELL_CMAKE = """if [ "$1" = --preset ]; then mkdir -p build/dev/tests/sim; exit; fi"""
SHELL_NINJA = """cd "$2/../.." || exit 1
if grep -q never src/executor/a.c; then exit 1; fi
cat >build/dev/tests/unit_executor_a <<END
#!/bin/bash
if grep -q return.NULL $PWD/src/executor/a.c; then echo '[  FAILED  ] a_case'; exit 1; fi
END
for sim in sim sim_nodes sim_cluster; do
    mkdir -p build/dev/tests/$sim
    echo "exit 0" >build/dev/tests/$sim/peal_$sim
    chmod +x build/dev/tests/$sim/peal_$sim
done
chmod +x build/dev/tests/unit_executor_a
"""


@pytest.mark.parametrize("new, status, said", [
    ("return NULL;", 0, "found    a-name"), ("return one;", 1, "SURVIVED a-name"), ("never", 1, "ERROR    a-name")])
def test_a_survivor_fails_and_results_are_kept(tree, new, status, said):
    tree.write("src/executor/a.c", CODE)
    tree.write("tests/unit/executor/test_a.c", "")  # whose program it is: ninja makes it
    tree.write("tests/mutants/a.txt", MUTANT.replace("return NULL;", new))
    tree.program("cmake", SHELL_CMAKE)
    tree.program("ninja", SHELL_NINJA)
    got, out = tree.run("scripts/mutants.py")
    assert got == status and said in out, out
    assert "a-name" in (tree.folder / "build/mutants/table.md").read_text()
    again, out = tree.run("scripts/mutants.py")
    assert again == status and (said in out) == ("ERROR" in said), out  # what is known is not tried again
    tree.write("src/executor/a.c", CODE + "\n")
    got, out = tree.run("scripts/mutants.py")
    assert got == status and said in out, out


# ---- models --------------------------------------------------------------------------------------

MODEL = """byte a = 0;
active proctype P() { do :: a < 9 -> a++ :: else -> break od
#ifdef BREAK
    ; assert(a != 9)
#endif
}
"""


@pytest.mark.parametrize("expect, states, options, verdict", [
    ("holds", "-", "", None),
    ("error", "-", "BREAK", None),
    ("holds", "-", "BREAK", "assertion violated"),
    ("error", "-", "", "found nothing"),
    ("holds", "1", "", "has the model changed?"),
])
def test_a_search_that_gives_something_else_fails(tree, expect, states, options, verdict):
    tree.write("docs/model/m.pml", MODEL)
    tree.write("docs/model/configurations.tsv", "name\tmodel\tset\texpect\tstates\toptions\twhat\n"
                                                f"row\tm\tquick\t{expect}\t{states}\t{options}\twhat\n")
    status, out = tree.run("scripts/model.py")
    assert status == (1 if verdict else 0), out
    assert (verdict or "1 passed, 0 failed") in out
