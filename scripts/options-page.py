#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The OPTIONS of man/peal-executor.1 out of `peal executor --help`, which prints the program's table.

usage: options-page.py PEAL PAGE [--write]    exit status 1 if the page says something else
"""
import re
import subprocess
import sys

BEGIN, END = '.\\" options: begin', '.\\" options: end'


def rows(help_text):
    """(names, placeholder, default, lines of text) of each option of a --help."""
    for block in re.split(r"\n(?=  -)", help_text)[1:]:
        head, *text = block.split("\n")
        names, default = re.fullmatch(r"  (.*?)(?:  \(default (.*)\))?", head).groups()
        names = [name.split() for name in names.split(", ")]
        lines = []
        for line in text:
            if not line.startswith("        "):
                break
            lines.append(line.strip())
        yield [name[0] for name in names], " ".join(names[-1][1:]), default, lines


def escape(text):
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e"))


def page_section(help_text):
    out = [".Bl -tag -width Ds"]
    for names, placeholder, default, lines in rows(help_text):
        flags = " , ".join("Fl " + name[1:] for name in names)
        out.append(f".It {flags}" + (f" Ar {placeholder}" if placeholder else ""))
        for line in lines:
            variables = re.fullmatch(r"environment: (.*)", line)
            if variables:
                out += [".br", "Environment: " + escape(variables[1]) + "."]
            else:
                out += map(escape, re.split(r"(?<=\.) (?=[A-Z])", line))  # a sentence, a line: mandoc's rule
        if default:
            out += [".br", f"Default: {escape(default)}."]
    return "\n".join(out + [".El"]) + "\n"


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    binary, path, write = sys.argv[1], sys.argv[2], sys.argv[3:] == ["--write"]
    done = subprocess.run([binary, "executor", "--help"], check=True, capture_output=True, text=True)
    with open(path, encoding="utf-8") as f:
        page = f.read()
    begin, end = page.index("\n", page.index(BEGIN)) + 1, page.index(END)
    fresh = page[:begin] + page_section(done.stdout) + page[end:]
    if fresh == page:
        return 0
    if not write:
        print(f"{path} is not what --help says: scripts/options-page.py {binary} {path} --write")
        return 1
    with open(path, "w", encoding="utf-8") as f:
        f.write(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
