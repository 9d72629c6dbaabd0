# SPDX-License-Identifier: Apache-2.0
"""Names that programs, files and people outside the tree hold: they stand in the binary and in the documents, whatever
the code calls the same things today."""

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("PEAL_BIN", ROOT / "build" / "dev" / "peal"))
DOCUMENTS = ("README.md", "docs", "man", "include")
NAMES = {  # what stands in the binary -> what stands in the documents
    "Peal-Moment": "Peal-Moment",                            # header of /run
    "MOMENT_MS": "PEAL_MOMENT_MS",                           # a script's environment
    "peal_moment_ms": "peal_moment_ms",                      # libpeal's function
    "moment_ms": "moment_ms", "doubted": "doubted", "on_doubt": "on_doubt",  # columns
    "onDoubt": "onDoubt",                                    # field of the form API
    "moment：": "`moment`",                                  # the last line of trigger_msg
    "lost: ": "`lost: ", "withdrawn: ": "`withdrawn: ", "skipped: ": "`skipped: ",  # beginnings of handle_msg
    "peal_horizon_seconds": "peal_horizon_seconds",
    "in_doubt": 'peal_queue_length{queue="in_doubt"}',
    "centers": "--centers",
    "callbacks.journal": "callbacks.journal",
}


@pytest.fixture(scope="module")
def documents():
    files = [file for name in DOCUMENTS for file in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*"))]
    return "\n".join(file.read_text(encoding="utf-8") for file in files if file.is_file() and file.suffix != ".webp")


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_stays_stands_in_the_binary_and_the_documents(name, documents):
    assert name.encode() in BINARY.read_bytes()
    assert NAMES[name] in documents
