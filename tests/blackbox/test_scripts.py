# SPDX-License-Identifier: Apache-2.0
"""Script jobs of every kind, and how far scripts and commands may go.

NOTE: Debian has no pwsh, powershell or python2, and a machine for tests need not have php or node. Where
a test is about how an interpreter is found and called, a STAND-IN is put on PATH: a shell script that
prints its own name, its arguments and the script's text. bash and python3 are the real ones."""

import os
import pathlib
import pwd
import re
import shutil
import stat
import subprocess
import sys
import tempfile

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import TOKEN, binary, clean_environment  # noqa: E402 (path just set)
from support.executor import Executor  # noqa: E402
from support.processes import alive  # noqa: E402
from support.standin import StandinCenter  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

ALL = "shell,python,python2,php,nodejs,powershell"
STANDIN = '#!/bin/bash\nname=${0##*/}; echo "stand-in $name, $# arguments: <$2> <$3> <$4>"; cat "$1"\n'
USER = "nobody"
# Debian's own that run nothing: one for each build whose cases may be played at the same time
ALONE = {"asan": "daemon", "tsan": "www-data"}.get(os.environ.get("PEAL_PRESET"), "games")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="another user takes root")


@pytest.fixture
def center():
    with StandinCenter() as it:
        yield it


@pytest.fixture
def bin(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


@pytest.fixture
def open_folder():
    """A folder that every user can go into; pytest's own are root's alone."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="peal-scripts-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def standin(folder, name, text=STANDIN):
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)


def start(folder, center, *args, kinds=ALL, path=None, **env):
    if path:
        env["PATH"] = str(path)
    return Executor(folder, center.url, ["--peal.executor.glue", kinds, "--peal.executor.commands=*", *args], env)


def run(center, executor, log, source, glue="GLUE_SHELL", job=1, **fields):
    """Result and output of one script."""
    assert executor.run(job, log, "", glueType=glue, glueSource=source, **fields)["code"] == 200
    result = center.result(log, 60)
    content = executor.log(log)["logContent"].splitlines(keepends=True)
    first = next(i for i, line in enumerate(content) if "script file:" in line) + 1 if any(
        "script file:" in line for line in content) else len(content)
    last = next(i for i, line in enumerate(content) if "job execute end(" in line)
    return result, "".join(content[first:last])


# -- kinds --


@pytest.mark.parametrize("glue, program, suffix", [
    ("GLUE_PYTHON2", "python2", ".py"),      # a stand-in
    ("GLUE_PHP", "php", ".php"),             # a stand-in
    ("GLUE_NODEJS", "node", ".js"),          # a stand-in
    ("GLUE_POWERSHELL", "pwsh", ".ps1"),     # a stand-in
])
def test_an_interpreter_is_called_with_file_parameter_and_shard(tmp_path, center, bin, glue, program, suffix):
    standin(bin, program)
    with start(tmp_path, center, path=f"{bin}:/usr/bin:/bin") as executor:
        result, output = run(center, executor, 1, "source\n", glue, job=5, executorParams="a b", glueUpdatetime=77,
                             broadcastIndex=1, broadcastTotal=3)
        assert result["handleCode"] == 200, result
        assert output == f"stand-in {program}, 4 arguments: <a b> <1> <3>\nsource\n"
        assert [p.name for p in (executor.logs / "gluesource").iterdir()] == [f"5_77{suffix}"]


def test_python_is_python3(tmp_path, center):
    source = "import sys\nprint(sys.version_info[0], sys.argv[1:])\nsys.exit(len(sys.argv))\n"
    with start(tmp_path, center) as executor:
        result, output = run(center, executor, 2, source, "GLUE_PYTHON", executorParams="é;$(x)")
        assert output == "3 ['é;$(x)', '0', '1']\n"
        assert (result["handleCode"], result["handleMsg"]) == (500, "script exit value(4) is failed")


def test_nodejs_for_real_where_it_is(tmp_path, center):
    if not shutil.which("node", path="/usr/bin:/bin"):
        pytest.skip("node is not installed: only its stand-in was tested")
    with start(tmp_path, center) as executor:
        result, output = run(center, executor, 3, "console.log(process.argv.slice(2).join('|'))", "GLUE_NODEJS",
                             executorParams="p")
        assert (result["handleCode"], output) == (200, "p|0|1\n")


def test_the_second_name_of_an_interpreter_will_do(tmp_path, center, bin):
    standin(bin, "powershell")
    standin(bin, "python", '#!/bin/sh\n[ "$1" = -c ] && exit 2\necho "stand-in python 2"\n')
    for name in ("bash", "cat", "sh"):
        (bin / name).symlink_to(shutil.which(name, path="/usr/bin:/bin"))
    with start(tmp_path, center, path=bin) as executor:
        assert "stand-in powershell" in run(center, executor, 4, "x", "GLUE_POWERSHELL")[1]
        assert run(center, executor, 5, "x", "GLUE_PYTHON2")[1] == "stand-in python 2\n"


def test_a_python_of_version_3_is_no_python2(tmp_path, center, bin):
    standin(bin, "python", '#!/bin/sh\nexit 3\n')
    with start(tmp_path, center, path=bin) as executor:
        result, _ = run(center, executor, 6, "x", "GLUE_PYTHON2")
        assert result["handleCode"] == 500
        assert result["handleMsg"].startswith("GLUE_PYTHON2 needs python2, or python of version 2; neither is in PATH")


@pytest.mark.parametrize("glue, program", [("GLUE_SHELL", "bash"), ("GLUE_PYTHON", "python3"), ("GLUE_PHP", "php"),
                                           ("GLUE_NODEJS", "node")])
def test_a_missing_interpreter_is_named(tmp_path, center, bin, glue, program):
    with start(tmp_path, center, path=bin) as executor:
        result, _ = run(center, executor, 7, "x", glue)
        assert (result["handleCode"], result["handleMsg"]) == (
            500, f"{glue} needs {program}, which is not in PATH, which is {bin}")


def test_groovy_is_refused_with_what_to_do_instead(tmp_path, center):
    with start(tmp_path, center) as executor:
        reply = executor.run(1, 8, "", glueType="GLUE_GROOVY", glueSource="x")
        assert reply["code"] == 500
        assert reply["msg"].startswith("glueType[GLUE_GROOVY] is not valid. An executor in C cannot run Groovy")
        assert "libpeal" in reply["msg"]


def test_only_the_listed_kinds_run(tmp_path, center):
    with start(tmp_path, center, kinds="python, nodejs") as executor:
        reply = executor.run_shell(1, 9, "true")
        assert reply["code"] == 500 and "--peal.executor.glue=shell" in reply["msg"]


def test_an_unknown_kind_is_refused_at_start(tmp_path):
    done = subprocess.run([str(binary()), "executor", "--peal.executor.glue=shell,perl"], cwd=tmp_path,
                          env=clean_environment(PEAL_ACCESS_TOKEN=TOKEN), capture_output=True, text=True, timeout=60 * PATIENCE)
    assert done.returncode == 2 and "there is no script kind perl" in done.stderr


# -- what they get --


def test_the_environment_is_clean(tmp_path, center):
    with start(tmp_path, center, "--peal.executor.glue.env", "MINE, ABSENT", LANG="C.UTF-8", HOME="/home/me",
               MINE="is mine", SECRET="not for scripts", AWS_SECRET_ACCESS_KEY="x") as executor:
        assert executor.run_shell(31, 10, "tr '\\0' '\\n' </proc/$$/environ", broadcastIndex=2,
                                  broadcastTotal=4)["code"] == 200
        assert center.result(10)["handleCode"] == 200
        content = executor.log(10)["logContent"]
        found = dict(line.split("=", 1) for line in content.splitlines() if re.match(r"\w+=", line))
        assert found.pop("PATH") == executor.env["PATH"]
        assert found.pop("USER") == pwd.getpwuid(os.geteuid()).pw_name
        assert int(found.pop("PEAL_MOMENT_MS")) > 0
        assert found == {"HOME": "/home/me", "LANG": "C.UTF-8", "TZ": "UTC", "MINE": "is mine",
                         "PEAL_JOB_ID": "31", "PEAL_LOG_ID": "10", "PEAL_SHARD_INDEX": "2", "PEAL_SHARD_TOTAL": "4",
                         "PEAL_ATTEMPT": "0", "PEAL_DEADLINE_MS": "0"}


def test_a_command_gets_the_same_and_no_descriptor(tmp_path, center):
    with start(tmp_path, center, SECRET="not for commands") as executor:
        executor.run(1, 11, "commandJobHandler", "env")
        assert center.result(11)["handleCode"] == 200
        content = executor.log(11)["logContent"]
        assert "PEAL_LOG_ID=11\n" in content and "SECRET" not in content and TOKEN not in content
        executor.run(1, 12, "commandJobHandler", "ls -l /proc/self/fd")
        assert center.result(12)["handleCode"] == 200
        found = dict(re.findall(r" (\d+) -> (\S+)", executor.log(12)["logContent"]))
        assert found.pop("0") == "/dev/null" and found["1"] == found["2"] and found["1"].startswith("pipe:")
        assert set(found) == {"1", "2", "3"}  # 3 is ls's own


def test_limits_are_set_and_privileges_cannot_be_gained(tmp_path, center):
    source = ("ulimit -Hn; ulimit -Sn; ulimit -Hv; ulimit -Hu; ulimit -Hc\n"
              "while read -r a b; do [ \"$a\" = NoNewPrivs: ] && echo nnp $b; done </proc/$$/status; true")
    with start(tmp_path, center, "--peal.executor.glue.files=100", "--peal.executor.glue.memory=512",
               "--peal.executor.glue.processes=1000") as executor:
        assert run(center, executor, 13, source)[1] == "100\n100\n524288\n1000\n0\nnnp 1\n"


def test_memory_beyond_the_limit_is_not_there(tmp_path, center):
    with start(tmp_path, center, "--peal.executor.glue.memory=300") as executor:
        result, output = run(center, executor, 14, "print(len(bytearray(400 << 20)))", "GLUE_PYTHON")
        assert result["handleCode"] == 500 and "MemoryError" in output


def test_time_beyond_the_limit_is_a_timeout(tmp_path, center):
    with start(tmp_path, center, "--peal.executor.glue.time=2s", "--peal.executor.stop.grace=200ms") as executor:
        result, output = run(center, executor, 15, "trap '' TERM; echo $$; while :; do read -t 3600 < <(:); done")
        assert (result["handleCode"], result["handleMsg"]) == (
            502, "ended: it took longer than peal.executor.glue.time, 2000 ms")
        wait_until(lambda: not alive(int(output)), "the script to be gone")


def test_what_is_not_executable_fails_with_the_reason(tmp_path, center, bin):
    standin(bin, "php", "no program at all")
    with start(tmp_path, center, path=bin) as executor:
        result, _ = run(center, executor, 16, "x", "GLUE_PHP")
        assert result["handleCode"] == 500
        if os.environ.get("PEAL_PRESET") != "tsan":  # vfork is fork there: only the status is seen
            assert "cannot be started" in result["handleMsg"] and "Exec format error" in result["handleMsg"]


@pytest.mark.parametrize("how", ["script", "command"])
def test_a_killed_executor_takes_all_of_its_scripts_along(tmp_path, center, how):
    source = "trap : TERM HUP; sleep 3600 & echo pids $$ $!; while :; do wait; done"
    with start(tmp_path, center) as executor:
        if how == "script":
            executor.run_shell(1, 17, source)
        else:
            executor.run(1, 17, "commandJobHandler", f"bash -c '{source}'")
        content = executor.wait_for_log(17, "\npids ")
        pids = [int(pid) for pid in re.search(r"^pids (\d+) (\d+)$", content, re.M).groups()]
        executor.process.kill()
        executor.process.wait()
        wait_until(lambda: not any(alive(pid) for pid in pids), "the group to be gone")


# -- the file --


def test_the_folder_may_vanish_and_the_file_is_made_again(tmp_path, center):
    with start(tmp_path, center) as executor:
        assert run(center, executor, 18, "echo one")[1] == "one\n"
        shutil.rmtree(executor.logs / "gluesource")
        assert run(center, executor, 19, "echo one")[1] == "one\n"


@as_root
def test_a_full_disk_under_the_scripts_is_a_failed_run(tmp_path, center):
    with start(tmp_path, center) as executor:
        folder = executor.logs / "gluesource"
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)], check=True)
        try:
            result, _ = run(center, executor, 20, "true # " + "x" * 300000)
            assert result["handleCode"] == 500
            assert result["handleMsg"].startswith("the script cannot be kept in ")
            assert result["handleMsg"].endswith("No space left on device")
            assert list(folder.iterdir()) == []
            assert run(center, executor, 21, "echo small")[1] == "small\n"
        finally:
            subprocess.run(["umount", str(folder)], check=True)


# -- another user --


@as_root
def test_scripts_run_as_the_given_user(open_folder, center):
    source = "id -un; id -G; pwd; echo $HOME $USER; cat \"$0\" >/dev/null && echo read; echo x >>\"$0\"; echo $?"
    with start(open_folder, center, "--peal.executor.glue.user", USER) as executor:
        result, output = run(center, executor, 22, source, job=9)
        lines = output.splitlines()
        user = pwd.getpwnam(USER)
        home = user.pw_dir if os.path.isdir(user.pw_dir) else "/"
        assert lines[:5] == [USER, str(user.pw_gid), home, f"{user.pw_dir} {USER}", "read"]
        assert "Permission denied" in lines[5] and lines[6] == "1"
        kept = (executor.logs / "gluesource" / "9_1541254891000.sh").stat()
        assert (kept.st_uid, kept.st_gid, stat.S_IMODE(kept.st_mode)) == (0, user.pw_gid, 0o640)


@as_root
def test_the_number_of_processes_is_limited(open_folder, center):
    source = ("import os, time\npids = []\ntry:\n    while len(pids) < 100:\n        pid = os.fork()\n"
              "        if pid == 0:\n            time.sleep(3600)\n        pids.append(pid)\n"
              "except BlockingIOError:\n    print('no more', 0 < 30 - len(pids))\n")
    # a PATH that starts with folders of root alone: for this user they are not there
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    standin(closed, "python3")
    # the kernel counts all processes and threads of a user: database servers of other tests are nobody's
    with start(open_folder, center, "--peal.executor.glue.user", ALONE, "--peal.executor.glue.processes=30",
               path=f"{closed}:/usr/bin:/bin") as executor:
        assert run(center, executor, 23, source, "GLUE_PYTHON")[1] == "no more True\n"


def refused(folder, *args, **more):
    done = subprocess.run([str(more.pop("program", binary())), "executor", "--peal.executor.glue=shell", "--listen",
                           "127.0.0.1", "--port", "0", "--logs", str(folder / "logs"), *args],
                          env=clean_environment(PEAL_ACCESS_TOKEN=TOKEN), cwd=folder, capture_output=True, text=True,
                          timeout=60 * PATIENCE, **more)
    assert done.returncode == 2, done
    return done.stderr


def test_a_user_that_does_not_exist_is_refused_at_start(tmp_path):
    assert "there is no user nobody-of-ours" in refused(tmp_path, "--peal.executor.glue.user=nobody-of-ours")


@as_root
def test_a_user_that_cannot_reach_the_scripts_is_refused_at_start(open_folder):
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    assert f"cannot go into {closed}" in refused(closed, "--peal.executor.glue.user", USER)


@as_root
def test_another_user_takes_root(open_folder):
    program = open_folder / "peal"
    shutil.copy(binary(), program)
    mine = open_folder / "mine"
    mine.mkdir()
    os.chown(mine, pwd.getpwnam(USER).pw_uid, -1)
    said = refused(mine, "--peal.executor.glue.user=root", program=program, user=USER, extra_groups=[])
    assert "only an executor that root starts can run scripts as root" in said
