# SPDX-License-Identifier: Apache-2.0
"""Links and pictures of the documentation lead to files, and to headings, that are there."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
PICTURES = 2 << 20  # bytes of all pictures of the console together


def pages():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in out.splitlines() if (ROOT / name).exists()]


def prose(path):
    """The page without its code."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", "\n".join(line for line in text.split("\n") if not line.startswith("    ")))


def headings(path):
    """The names by which a page's headings are linked, as forges make them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"^#+ +(.*)$", text, re.M))
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in plain}


@pytest.mark.parametrize("name", pages())
def test_links_lead_somewhere(name):
    page, bad = ROOT / name, []
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target) or target.startswith("/"):
            continue
        path, _, heading = target.partition("#")
        there = (page.parent / path) if path else page
        if not there.exists() or heading and there.suffix == ".md" and heading not in headings(there):
            bad.append(target)
    assert not bad, f"{name}: {bad}"


def test_the_pictures_stay_small():
    assert sum(path.stat().st_size for path in (ROOT / "docs" / "pictures").glob("*")) <= PICTURES
