# SPDX-License-Identifier: Apache-2.0
"""docs/configuration.md against the program: each setting of the server stands there, and no other."""

import re

from support.center import ROOT, binary
from support.installed import command


def test_the_page_has_each_setting_of_the_server():
    told = set(re.findall(r"^  --([\w.-]+)", command(binary(), "server", "--help"), re.M))
    page = (ROOT / "docs" / "configuration.md").read_text()
    named = set(re.findall(r"^\| `([a-z][\w.-]+)` \|", page, re.M))
    assert len(told) > 15 and named == told
