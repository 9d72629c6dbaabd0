#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzz /api/v1 by its document: schemathesis against a real server with a real executor.

    build/venv/bin/python tests/contract/run.py [--max-examples 30] [schemathesis' options]

Everything with a token that may do everything; what only a session may do with an administrator's cookie. A status, a
header or a body that docs/api-v1.yaml does not have is a failure, and so is an answer 5xx."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import yaml  # noqa: E402

from structure.test_api_contract import NOT_YET  # noqa: E402 (found through the path just set)
from support.center import Center, ROOT  # noqa: E402
from support.executor import Executor  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import wait_until  # noqa: E402

DOCUMENT = ROOT / "docs" / "api-v1.yaml"
APP = "ops-agent"
ATOMS = ["read", "run", "jobs:write", "scripts:write", "audit:read", "executors:write", "users:admin", "system:admin"]
ENDS_ITSELF = {"logout", "changePassword"}  # would end the session or the password that the run stands on
STREAMS = {"streamLog", "streamEvents"}  # never end; tests/blackbox has them


def operations():
    """operationId: permission."""
    with open(DOCUMENT, encoding="utf-8") as f:
        document = yaml.safe_load(f)
    known = {operation["operationId"]: operation["x-peal-permission"] for item in document["paths"].values()
             for method, operation in item.items() if method != "parameters"}
    return {name: permission for name, permission in known.items() if name not in NOT_YET}


def job(group, n):
    """A third of them run scripts."""
    task = {"kind": "GLUE_SHELL"} if n % 3 == 0 else {"kind": "BEAN", "handler": "demoJobHandler"}
    return {"groupId": group, "name": f"job {n}", "owner": "ops-1", "schedule": {"type": "NONE"}, "task": task,
            **({"script": "#!/bin/sh\necho done\n"} if n % 3 == 0 else {})}


def furnish(center, v1):
    """Some of each kind, so that ids find something; a token for everything."""
    group = center.api().add_group(APP)
    for n in range(1, 9):
        made = v1.ask("POST", "/jobs", job(group, n))
        assert made.status == 201, made.json
        ran = v1.ask("POST", f"/jobs/{made.json['id']}/trigger", {})
        assert ran.status < 300, ran.json
    for n in range(3):
        v1.ask("POST", "/users", {"name": f"user-{n}", "password": "a password for tests", "center": "none", "grants": []})
    token = v1.ask("POST", "/tokens", {"name": "contract", "permissions": ATOMS, "groups": None})
    assert token.status == 201, token.json
    return token.json["secret"]


def fuzz(center, name, which, more, env):
    """Exit status of one run over these operations."""
    command = [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "--config-file", str(HERE / "schemathesis.toml"),
               "run", str(DOCUMENT), "--url", center.url + "/api/v1", "--phases", "examples,coverage,fuzzing",
               "--checks", "all", "--no-color", "--workers", "1", *more]
    for operation in sorted(which):
        command += ["--include-operation-id", operation]
    print(f"== {name}: {len(which)} operations", flush=True)
    # what schemathesis keeps of its cases goes where it is started
    return subprocess.run(command, cwd=ROOT / "build", check=False,
                          env={**os.environ, "SCHEMATHESIS_HOOKS": str(HERE / "hooks.py"), **env}).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--max-examples", default="30")
    options, more = parser.parse_known_args()
    more = ["--max-examples", options.max_examples, *more]
    permissions = operations()
    sessions = {name for name, permission in permissions.items() if permission == "session"} - ENDS_ITSELF
    others = set(permissions) - sessions - ENDS_ITSELF - STREAMS
    folder = pathlib.Path(tempfile.mkdtemp(prefix="peal-contract-"))
    unlimited = ["--limit.token", "0", "--limit.session", "0"]
    with Center(folder / "center", unlimited) as center, Executor(folder / "executor", center.url, app=APP):
        wait_until(lambda: center.get("/readyz")[0] == 200, "the center")
        v1 = V1(center)
        secret = furnish(center, v1)
        status = fuzz(center, "with a token", others, more, {"PEAL_TOKEN": secret})
        cookie = ["-H", "Cookie: " + v1.headers["Cookie"], "--exclude-checks", "ignored_auth"]
        status |= fuzz(center, "with a session", sessions, more + cookie, {"PEAL_TOKEN": ""})
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
