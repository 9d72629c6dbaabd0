#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The table of a job's fields in docs/web-api.md, out of src/model/job_columns.def.

usage: job-fields.py [--write]    exit status 1 if the page says something else
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS = os.path.join(ROOT, "src", "model", "job_columns.def")
HEADER = os.path.join(ROOT, "src", "model", "job.h")
PAGE = os.path.join(ROOT, "docs", "web-api.md")
BEGIN, END = "<!-- job fields: begin (scripts/job-fields.py writes this) -->\n", "<!-- job fields: end -->\n"
TABLES = {"INFO": "xxl_job_info", "DUE": "peal_due", "OWN": "peal_job"}
NAMES = ("member type table column nulls default limits form pointer edit on_insert rule").split()
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[(),]|[^\s"(),]+')


def arguments(tokens):
    """The arguments of a call whose opening parenthesis has been taken; takes the closing one."""
    out = [[]]
    for token in tokens:
        if token == "(":
            out[-1].append(arguments(tokens))
        elif token == ")":
            return out
        elif token == ",":
            out.append([])
        else:
            out[-1].append(token)
    sys.exit(f"{COLUMNS}: a parenthesis is missing")


def text(tokens):
    return "".join(re.sub(r"\\(.)", r"\1", token[1:-1]) for token in tokens)


def value(tokens, constants):
    """A number, a product of numbers and constants of job.h, or text."""
    if tokens and tokens[0].startswith('"'):
        return text(tokens)
    out = 1
    for factor in " ".join(tokens).split(" * "):
        if factor == "NEVER_MS":
            return None
        out *= int(constants.get(factor, factor))
    return out


def columns():
    """The rows in their order: a dict each, with limits, form and pointer as (word, arguments...)."""
    with open(HEADER, encoding="utf-8") as f:
        constants = dict(re.findall(r"#define (JOB_\w+) (\d+)\n", f.read()))
    with open(COLUMNS, encoding="utf-8") as f:
        source = re.sub(r"/\*.*?\*/|^#.*?$", "", f.read(), flags=re.S | re.M)
    tokens = iter(TOKEN.findall(source))
    rows = []
    for token in tokens:
        if token != "JOB_COLUMN" or next(tokens) != "(":
            sys.exit(f"{COLUMNS}: {token} is no row")
        row = dict(zip(NAMES, arguments(tokens)))
        for name in ("column", "on_insert", "rule"):
            row[name] = text(row[name])
        for name in ("default", "limits", "form", "pointer"):
            word, *rest = row[name]
            row[name] = (word, *(value(part, constants) for part in (rest[0] if rest else [])))
        for name in ("member", "type", "table", "nulls", "edit"):
            row[name], = row[name]
        rows.append(row)
    return rows


def limits(row):
    word, *rest = row["limits"]
    if word == "WORDS":
        return ", ".join(f"`{one}`" for one in rest[0].split(","))
    if word == "RANGE":
        return "{:,}–{:,}".format(*rest)
    if word == "LENGTH":
        return "{:,} {}".format(rest[0], "bytes" if row["type"] == "BYTES" else "characters")
    return ""


def line(*cells):
    return "| " + " | ".join(cells) + " |\n"


def table():
    fields = line("field", "stored in", "on insert", "rule") + line(*["---"] * 4)
    shown = line("in lists only", "stored in", "what") + line(*["---"] * 3)
    for row in columns():
        stored = f"`{TABLES[row['table']]}.{row['column']}`"
        use, *name = row["form"]
        if use == "SHOWN":
            shown += line(f"`{name[0]}`", stored, row["rule"])
        elif use != "HIDDEN":
            rules = [limits(row), row["rule"], "an update leaves it" if use == "ON_INSERT" else ""]
            fields += line(f"`{name[0]}`", stored, row["on_insert"], "; ".join(filter(None, rules)))
    return f"\n{fields}\n{shown}\n"


def main():
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    fresh = page[:begin] + table() + page[end:]
    if fresh == page:
        return 0
    if not sys.argv[1:]:
        print(f"{PAGE} is not what {COLUMNS} says: scripts/job-fields.py --write")
        return 1
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
