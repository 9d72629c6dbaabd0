# SPDX-License-Identifier: Apache-2.0
"""docs/executor.md against the program: the settings, and the examples that it names."""

import pathlib
import re
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import ROOT, binary  # noqa: E402 (path just set)
from support.installed import command  # noqa: E402

PAGE = (ROOT / "docs" / "executor.md").read_text()


def settings_of_the_help():
    """{key: (other names, default)}"""
    settings = {}
    for names, _, default in re.findall(r"^  (--[^ ]+(?:, --[^ ]+)*)( [\w|]+)?(?:  \(default (.*)\))?$",
                                        command(binary(), "executor", "--help"), re.M):
        key, *others = [name.strip("-") for name in names.split(", ")]
        settings[key] = (others, default)
    return settings


def settings_of_the_page():
    table = PAGE.split("## Settings")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w.-]+)` \|([^|]*)\|([^|]*)\|", table, re.M)
    return {key: (re.findall(r"`([\w.-]+)`", others), default.strip().strip("`")) for key, others, default in rows}


def test_the_page_has_each_setting_with_its_other_names_and_its_default():
    told, page = settings_of_the_help(), settings_of_the_page()
    assert len(told) > 15
    assert page == told


def test_the_page_names_each_example():
    named = re.findall(r"^\| `(\w+\.c)` \|", PAGE, re.M)
    assert sorted(named) == sorted(p.name for p in (ROOT / "examples").glob("*.c"))


def test_the_shortest_executor_is_everywhere_the_same():
    """The example file, the guide, both READMEs and the header show one program."""
    def code(text):
        return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", text, flags=re.S)).strip()
    hello = code((ROOT / "examples" / "hello.c").read_text())
    assert len((ROOT / "examples" / "hello.c").read_text().split("*/")[-1].strip().splitlines()) <= 15
    for name in ("docs/executor.md", "README.md", "README.zh-CN.md"):
        blocks = [code(b) for b in re.findall(r"```c\n(.*?)```", (ROOT / name).read_text(), re.S)]
        assert hello in blocks, name
    header = re.sub(r"^ \* ?", "", (ROOT / "include" / "peal" / "executor.h").read_text(), flags=re.M)
    assert hello in re.sub(r"\s+", " ", header)
