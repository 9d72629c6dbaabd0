# SPDX-License-Identifier: Apache-2.0
"""Each rule that the server may say of a member of a body has a text in the console's languages: without one a field's
error would stand there in English."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = r'"([a-z][a-z0-9]*(?:[.][a-z]+)*)"'
SAID = [re.compile(pattern) for pattern in (
    r"problem_error\(\s*[^,]+,\s*[^,]+,\s*(?:[^\",]*\?\s*)?" + NAME + r"(?:\s*:\s*" + NAME + ")?",
    r"v1_refuse_field\(\s*[^,]+,\s*[^,]+,\s*" + NAME,
    r"\bfault(?:_limits)?\(\s*k,\s*[^;]*?" + NAME,
    r"[.>\s]rule = " + NAME,
    r"\{ \"(type[.][a-z]+)\"")]
# Of imports, which the console does not make.
IMPORTS = {"file.shape", "name.unclear", "permission", "refused"}
# Of parameters and headers, which the console writes itself.
ELSEWHERE = IMPORTS | {"audit.object", "cursor", "enum", "idempotency.key", "line", "once", "together", "type.instant", "unavailable"}


def rules():
    found = set()
    for path in (ROOT / "src" / "api").rglob("*.c"):
        text = path.read_text(encoding="utf-8")
        for pattern in SAID:
            found |= {name for match in pattern.finditer(text) for name in match.groups() if name}
    return found - ELSEWHERE


def test_each_rule_has_a_text():
    known = set(re.findall(r"'rule[.]([a-z.]+)'", (ROOT / "web/src/locales/center/en.ts").read_text(encoding="utf-8")))
    assert {"text.length", "schedule.conf", "password.wrong", "number.range"} <= rules(), "this test finds too little"
    assert not rules() - known, "rules without a text in web/src/locales/center"


def test_each_setting_is_described_in_chinese():
    """docs/configuration.md has the settings of the server (test_server_docs.py); English is the server's own."""
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    wanted = re.findall(r"^\| `([a-z][a-z0-9._-]*)` \|", page, re.M)
    assert "lane.queue" in wanted and len(wanted) > 50, "this test finds too little"
    for language in ("zh-CN", "zh-TW"):
        text = (ROOT / f"web/src/locales/settings/{language}.ts").read_text(encoding="utf-8")
        assert re.findall(r"^  '([^']+)': '.+',$", text, re.M) == wanted, f"the settings of {language}, in this order"
