# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/api.md, as a reader would run them: one shell, then one Python program."""

import os
import re
import subprocess
import sys

from support.center import ROOT, clean_environment
from support.executor import Executor
from support.wait import PATIENCE, wait_until

PAGE = (ROOT / "docs" / "api.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


def test_the_examples_run(center, tmp_path):
    """The shell prints its token at last, which the program takes."""
    center.api().add_group("ops-agent")
    env = clean_environment(PEAL=center.url, PASSWORD=center.password)
    shell = "set -eu\n" + "\n".join(blocks("sh")) + "\necho \"token $TOKEN\"\n"
    with Executor(tmp_path / "executor", center.url, app="ops-agent"):
        wait_until(lambda: center.api().addresses("ops-agent"), "the executor to register")
        ran = subprocess.run(["bash", "-c", shell], cwd=tmp_path, env=env, text=True, capture_output=True,
                             timeout=60 * PATIENCE, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    token = ran.stdout.split("token ")[1].strip()
    (program,) = blocks("python")
    out = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env={**env, "TOKEN": token}, text=True,
                         capture_output=True, timeout=60 * PATIENCE, check=True).stdout
    assert "Nightly backup" in out


def test_the_reference_is_made_from_the_document():
    subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "api-doc.py"), "--check"], check=True)
