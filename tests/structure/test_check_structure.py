# SPDX-License-Identifier: Apache-2.0
"""Each check of scripts/check-structure.py passes on a small sound code base and fails on a planted violation."""
import os
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"
IDEA = SPDX + "/* What this file is about. */\n"

SOUND = {
    "src/base/buf.h": SPDX + "#include <stddef.h>\nint buf_one(size_t n);\n",
    "src/base/buf.c": IDEA + '#include "base/buf.h"\nint buf_one(size_t n)\n{\n    return (int)n;\n}\n',
    "src/base/clock.h": SPDX + "#include <stdint.h>\nint64_t clock_wall_ms(void);\n",
    "src/base/clock.c": IDEA + '#include "base/clock.h"\n#include <time.h>\nint64_t clock_wall_ms(void)\n{\n'
                               "    return (int64_t)time(NULL);\n}\n",
    "src/cron/cron.c": IDEA + '#include "base/buf.h"\n#include <stdio.h>\n'
                              'int cron_url(char *to);\nint cron_url(char *to)\n{\n'
                              '    return snprintf(to, 9, "http://%d", buf_one(1)); /* no // here */\n}\n',
    "scripts/do.py": "#!/usr/bin/python3\n# SPDX-License-Identifier: Apache-2.0\n",
    "docs/page.md": f"no licence line needed\n\n| {'table ' * 20}|\n\n    {'code ' * 30}\n\n```\n{'code ' * 30}\n```\n"
                    f"{'one-word' * 20}\n",
    "README.zh-CN.md": "中文, " * 50 + "\n",
}


class House:
    """A tree in a temporary folder, with the objects and archives that its C files give."""

    def __init__(self, folder):
        self.folder = folder
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        for path, text in SOUND.items():
            self.write(path, text)

    def write(self, path, text):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def build(self):
        out = self.folder / "build"
        out.mkdir(exist_ok=True)
        (self.folder / ".gitignore").write_text("/build/\n")
        for layer in sorted(p for p in (self.folder / "src").iterdir()):
            objects = []
            for source in sorted(layer.rglob("*.c")):
                target = out / "CMakeFiles" / f"peal_{layer.name}.dir" / f"{source.relative_to(self.folder)}.o"
                target.parent.mkdir(parents=True, exist_ok=True)
                objects.append(str(target))
                subprocess.run(["gcc", "-D_GNU_SOURCE", "-Isrc", "-c", str(source), "-o", objects[-1]],
                               cwd=self.folder, check=True)
            subprocess.run(["ar", "rcs", str(out / f"libpeal_{layer.name}.a"), *objects], check=True)

    def check(self, *names):
        done = subprocess.run([os.path.join(ROOT, "scripts", "check-structure.py"), "--root", self.folder,
                               "--build", self.folder / "build", *names], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def house(tmp_path):
    return House(tmp_path)


def test_a_sound_house_passes_every_check(house):
    house.build()
    status, out = house.check()
    assert status == 0, out
    assert out.startswith("11 checks"), out


@pytest.mark.parametrize("check, path, text, finding", [
    ("includes", "src/base/up.c", SPDX + '#include "cron/cron.h"\n', 'base may not include "cron/cron.h"'),
    ("includes", "src/net/side.c", SPDX + '#include "wire/run.h"\n', 'net may not include "wire/run.h"'),
    ("includes", "src/store/up.h", SPDX + '#include "server/server.h"\n', 'store may not include'),
    ("includes", "src/server/roof.c", SPDX + '#include "api/routes.h"\n', 'server may not include'),
    ("includes", "src/server/sql.c", SPDX + "#include <sqlite3.h>\n", "server may not include <sqlite3.h>"),
    ("includes", "include/peal/executor.h", SPDX + '#include "base/buf.h"\n', 'peal may not include'),
    ("includes", "src/cron/near.c", SPDX + '#include "near.h"\n', "from the root"),
    ("includes", "src/attic/old.c", SPDX, "not in the table of layers"),
    ("includes", "src/executor/log/up.c", SPDX + '#include "executor/core/run.h"\n',
     'executor/log may not include "executor/core/run.h"'),
    ("includes", "src/store/memory/side.c", SPDX + '#include "store/sqlite/sqlite.h"\n',
     'store/memory may not include'),
    ("includes", "src/server/deep.c", SPDX + '#include "store/sqlite/sqlite.h"\n', 'server may not include'),
    ("includes", "src/server/journal/sql.c", SPDX + "#include <sqlite3.h>\n",
     "server/journal may not include <sqlite3.h>"),
    ("pure", "src/cron/now.c", SPDX + "#include <time.h>\n", "may not include <time.h>"),
    ("pure", "src/sched/now.c", SPDX + '#include "base/clock.h"\n', 'may not include "base/clock.h"'),
    ("pure", "src/sched/log.h", SPDX + '  #  include "base/log.h"\n', 'may not include "base/log.h"'),
    ("pure", "src/wire/talk.c", SPDX + "#include <sys/socket.h>\n", "may not include <sys/socket.h>"),
    ("pure", "src/cron/json.c", SPDX + "#include <jansson.h>\n", "may not include <jansson.h>"),
    ("headers", "src/base/loose.h", SPDX + "size_t loose(void);\n", "does not compile on its own"),
    ("headers", "src/base/twice.h", SPDX + "struct twice {\n    int a;\n};\n", "does not compile on its own"),
    ("comments", "src/base/note.c", SPDX + "int a; // note\n", "// comment"),
    ("comments", "tests/unit/base/test_a.c", SPDX + 'char *a = "\\""; // note\n', "// comment"),
    ("calls", "src/base/copy.c", SPDX + "void f(char *a)\n{\n    strcpy(a, \"\");\n}\n", "strcpy() is banned"),
    ("calls", "src/net/zone.c", SPDX + "void *f(long *t)\n{\n    return localtime (t);\n}\n", "localtime() is"),
    ("licence", "src/base/bare.c", "int a;\n", "bare.c: one line"),
    ("licence", "scripts/run", "#!/bin/bash\n", "scripts/run: one line"),
    ("licence", "src/base/two.c", SPDX + SPDX, "two.c: one line"),
    ("heads", "src/base/mute.c", SPDX + '#include "base/buf.h"\n/* Too late. */\n', "opens without its idea"),
    ("heads", "src/store/memory/mute.c", SPDX + "\nint a;\n", "opens without its idea"),
    ("columns", "docs/internals/wide.md", "word " * 21 + "\n", "wide.md:1: 105 columns"),
    ("columns", "README.md", "```\ncode\n```\n" + "word " * 21 + "\n", "README.md:4: 105 columns"),
])
def test_a_planted_violation_is_found(house, check, path, text, finding):
    status, out = house.check(check)
    assert status == 0, out
    house.write(path, text)
    status, out = house.check(check)
    assert status == 1, out
    assert finding in out
    assert path in out


@pytest.mark.parametrize("layer, body, symbol", [
    ("cron", "#include <time.h>\nlong f(void);\nlong f(void)\n{\n    return time(NULL);\n}\n", "time"),
    ("cron", "#include <stdlib.h>\nlong f(void);\nlong f(void)\n{\n    return random();\n}\n", "random"),
    ("sched", '#include "base/clock.h"\nlong f(void);\nlong f(void)\n{\n    return clock_wall_ms();\n}\n',
     "clock_wall_ms"),
    ("wire", "#include <stdio.h>\nvoid f(void);\nvoid f(void)\n{\n    puts(\"hello\");\n}\n", "puts"),
    ("sched", "#include <pthread.h>\nvoid f(pthread_mutex_t *m);\nvoid f(pthread_mutex_t *m)\n{\n"
              "    pthread_mutex_lock(m);\n}\n", "pthread_mutex_lock"),
    ("sched", "#include <stdlib.h>\nchar *f(void);\nchar *f(void)\n{\n    return getenv(\"TZ\");\n}\n", "getenv"),
    ("wire", "int open(const char *path, int flags);\nint f(void);\nint f(void)\n{\n    return open(\"a\", 0);\n}\n",
     "open"),
])
def test_a_symbol_that_is_not_pure_is_found(house, layer, body, symbol):
    house.write(f"src/{layer}/sneak.c", SPDX + body)
    house.build()
    status, out = house.check("archives")
    assert status == 1, out
    assert f"src/{layer}/sneak.c: {layer} is pure and may not need {symbol}()" in out


def test_an_archive_that_was_not_built_is_a_finding(house):
    status, out = house.check("archives")
    assert status == 1, out
    assert "build first" in out


def calls(name, other):
    return SPDX + f"void {name}(void);\nvoid {other}(void);\nvoid {name}(void)\n{{\n    {other}();\n}}\n"


@pytest.mark.parametrize("files", [
    {"src/cron/a.c": "b", "src/cron/b.c": "a"},
    {"src/net/a.c": "b", "src/net/b.c": "c", "src/net/c.c": "a"},
    {"src/server/a.c": "b", "src/server/journal/b.c": "a"},
])
def test_a_circle_of_calls_is_found(house, files):
    for path, other in files.items():
        house.write(path, calls(os.path.basename(path)[:-2], other))
    house.write("src/cron/apart.c", calls("apart", "cron_url"))
    house.build()
    status, out = house.check("circles")
    assert status == 1, out
    assert "calls in a circle: " + ", ".join(os.path.basename(f) for f in sorted(files)) in out
    assert "apart.c" not in out


def test_calls_downward_are_no_circle(house):
    house.write("src/cron/a.c", calls("a", "b"))
    house.write("src/cron/b.c", calls("b", "cron_url"))
    house.build()
    status, out = house.check("circles")
    assert status == 0, out


def test_objects_that_were_not_built_are_a_finding(house):
    status, out = house.check("circles")
    assert status == 1, out
    assert "build first" in out


@pytest.mark.parametrize("second", ["16", "0x10", "1 << 4", "16u"])
def test_two_words_of_an_enumeration_with_one_number_are_found(house, second):
    house.write("src/base/flags.h", SPDX + "enum flag {\n    FLAG_A = 8, /* = 16 */\n    FLAG_B = 16,\n"
                                           f"    FLAG_C = {second},\n}};\n")
    status, out = house.check("values")
    assert status == 1, out
    assert "src/base/flags.h:5: FLAG_C has the number of FLAG_B" in out


def test_a_second_name_for_a_value_is_allowed(house):
    house.write("src/base/flags.h", SPDX + "enum flag { FLAG_A = 8, FLAG_B = FLAG_A, FLAG_C = 8 << 1 };\n")
    status, out = house.check("values")
    assert status == 0, out
