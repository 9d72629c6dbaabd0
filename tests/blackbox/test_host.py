# SPDX-License-Identifier: Apache-2.0
"""Executors in surroundings with habits of their own: how a process is started, what a host does with its
signals, its children, its descriptors."""

import os
import pathlib
import pwd
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import TOKEN, binary  # noqa: E402 (path just set)
from support.executor import Executor  # noqa: E402
from support.processes import children, state  # noqa: E402
from support.standin import StandinCenter  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

HOST = binary().parent / "tests" / "peal_test_host"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="another user takes root")
SCRIPTS = ["--peal.executor.glue", "shell"]


@pytest.fixture
def center():
    with StandinCenter() as it:
        yield it


def host(folder, center, *habits, args=()):
    """The test's own program with libpeal; its settings are the agent's."""
    executor = Executor(folder, center.url, args)
    executor.command = [str(HOST), *habits, *executor.command[2:], "--xxl.job.accessToken", executor.token]
    return executor


def agent(folder, center, *wrapper, args=()):
    executor = Executor(folder, center.url, ["--peal.executor.commands=*", *args])
    executor.command = [*wrapper, *executor.command]
    return executor


# -- SIGCHLD --


STARTS = {
    "agent, ignored": lambda folder, center: agent(folder, center, "/bin/sh", "-c", "trap '' CHLD; exec \"$@\"", "sh",
                                                   args=SCRIPTS),
    "host, ignored": lambda folder, center: host(folder, center, "ignore-children", args=SCRIPTS),
    "host, reaped": lambda folder, center: host(folder, center, "reap-children", args=SCRIPTS),
}


@pytest.mark.parametrize("how", STARTS)
def test_a_failed_script_is_a_failure_whoever_waits_for_children(tmp_path, center, how):
    with STARTS[how](tmp_path, center) as executor:
        executor.run_shell(1, 1, "exit 3")
        executor.run_shell(2, 2, "kill -9 $$")
        executor.run_shell(3, 3, "echo fine")
        assert center.result(1)["handleCode"] == 500
        assert center.result(1)["handleMsg"] == "script exit value(3) is failed"
        assert center.result(2)["handleCode"] == 500
        assert "ended by signal 9" in center.result(2)["handleMsg"]
        assert center.result(3)["handleCode"] == 200
        if how.startswith("agent"):
            executor.run(4, 4, "commandJobHandler", "bash -c 'exit 7'")
            assert center.result(4)["handleMsg"] == "command exit value(7) is failed"


def test_a_script_that_kills_its_parent_fails_and_others_run(tmp_path, center):
    with agent(tmp_path, center, args=SCRIPTS) as executor:
        for log in range(1, 6, 2):
            executor.run_shell(1, log, "sleep 3600 & echo left $!; kill -9 $PPID; sleep 3600")
            result = center.result(log)
            assert result["handleCode"] == 500 and "has died" in result["handleMsg"], result
            left = int(re.search(r"^left (\d+)$", executor.log(log)["logContent"], re.M)[1])
            wait_until(lambda: state(left) in (None, "Z"), "what the script left to be gone")
            executor.run_shell(1, log + 1, "exit 0")
            assert center.result(log + 1)["handleCode"] == 200


# -- what handlers say --


@pytest.mark.parametrize("handler", ["resultJobHandler", "resultProcessJobHandler"])
@pytest.mark.parametrize("params, code, text", [
    ("0 none", 200, ""),
    ("7 none", 500, "the handler returned 7"),
    ("0 200 fine", 200, "fine"),
    ("1 200", 200, ""),                        # what was said counts, an empty text too
    ("1 200 fine", 200, "fine"),
    ("0 0 no code", 500, "no code"),
    ("1 0 no code", 500, "no code"),
    ("0 -1 less than that", 500, "less than that"),
    ("0 -2147483648 least", 500, "least"),
    ("0 502 late", 502, "late"),
    ("0 7 a code of its own", 7, "a code of its own"),
])
def test_a_result_is_the_same_in_a_thread_and_in_a_process(tmp_path, center, handler, params, code, text):
    with host(tmp_path, center) as executor:
        executor.run(1, 1, handler, params)
        result = center.result(1)
        assert (result["handleCode"], result["handleMsg"] or "") == (code, text)


# -- the token --


ANCESTORS = """
pid=$PPID
while [ $pid -gt 1 ]; do
  echo looked at: $(tr '\\0' ' ' </proc/$pid/cmdline)
  tr '\\0' '\\n' </proc/$pid/environ
  pid=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$pid/status)
  [ $pid = $1 ] && last=1 || { [ "$last" ] && break; }
done
"""


def test_no_ancestor_of_a_script_shows_the_token(tmp_path, center):
    """Not in the memory that the system shows as environment and command line either."""
    secret = "the-token-on-the-command-line"
    executor = agent(tmp_path, center, args=[*SCRIPTS, "--xxl.job.accessToken", secret, f"--token={secret}"])
    executor.token = secret  # an option counts before the variable, which has another one
    with executor:
        executor.run_shell(1, 1, ANCESTORS, params=str(executor.process.pid))
        assert center.result(1)["handleCode"] == 200
        seen = executor.log(1)["logContent"]
        assert len(re.findall(r"looked at: .*peal executor", seen)) >= 3, seen  # server, watch, agent
        assert "PATH=" in seen and "--token=" in seen
        assert secret not in seen and TOKEN not in seen


@pytest.fixture
def open_folder():
    """A folder that every user can go into, with a copy of the program; pytest's own are root's alone."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="peal-host-", dir="/tmp"))
    path.chmod(0o777)
    shutil.copy(binary(), path / "peal")
    (path / "peal").chmod(0o755)
    yield path
    shutil.rmtree(path)


@as_root
def test_scripts_of_the_agents_own_user_cannot_look_into_it(open_folder, center):
    entry = pwd.getpwnam("nobody")
    executor = agent(open_folder / "work", center, args=SCRIPTS)
    (open_folder / "work").chmod(0o777)
    executor.command = ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups",
                        str(open_folder / "peal"), *executor.command[1:]]
    with executor:
        pid = executor.process.pid
        assert os.stat(f"/proc/{pid}").st_uid == 0 or os.stat(f"/proc/{pid}/environ").st_uid == 0
        executor.run_shell(1, 1, "id -u; for f in environ mem fd/0; do head -c1 /proc/$1/$f >/dev/null && echo read $f; "
                                 "done; head -c1 /proc/$PPID/environ && echo read the server; true", params=str(pid))
        assert center.result(1)["handleCode"] == 200
        seen = executor.log(1)["logContent"]
        assert f"\n{entry.pw_uid}\n" in seen and seen.count("Permission denied") == 4 and "read " not in seen, seen


# -- process 1 --


def namespaces():
    done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.skipif(not namespaces(), reason="a process namespace takes root and a kernel that allows it")
def test_as_process_1_it_waits_for_whoever_loses_his_parent(tmp_path, center):
    with agent(tmp_path, center, "unshare", "--pid", "--fork", "--kill-child", "--mount-proc", args=SCRIPTS) as executor:
        first = children(executor.process.pid)[0]
        assert "NSpid:\t%d\t1\n" % first in pathlib.Path(f"/proc/{first}/status").read_text()
        for log in range(1, 4):
            executor.run_shell(log, log, "for i in 1 2 3; do sh -c 'setsid sleep 0.2 & sleep 0.1 &'; done")
            assert center.result(log)["handleCode"] == 200
        # somebody from outside, as `docker exec` does it
        subprocess.run(["nsenter", "-t", str(first), "-p", "-m", "sh", "-c", "for i in 1 2 3; do (sleep 0.1 &) done"],
                       check=True)

        def family(pid):
            return [pid] + [one for child in children(pid) for one in family(child)]

        def at_rest():
            states = [state(pid) for pid in family(first)]
            return len(states) == 4 and not {"Z", None} & set(states)  # init, agent, watch, server
        wait_until(at_rest, "only the agent's own processes to be left")
        os.kill(first, signal.SIGTERM)
        executor.wait()
    assert center.of("registryRemove")


# -- descriptors --


@pytest.mark.parametrize("what", ["agent", "host"])
def test_without_standard_input_and_output(tmp_path, center, what):
    """A descriptor that gets their number is neither printed to nor replaced by /dev/null."""
    closed = ["/bin/sh", "-c", 'exec "$@" <&- >&-', "sh"]
    if what == "agent":
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        executor = agent(tmp_path, center, *closed, args=[*SCRIPTS, "--xxl.job.executor.port", str(port)])
        executor._address = lambda: answers(f"http://127.0.0.1:{port}/")
    else:
        executor = host(tmp_path, center, args=SCRIPTS)
        executor.command = [*closed, *executor.command]
    with executor:
        executor.run_shell(1, 1, "echo hello; readlink /proc/self/fd/0")
        assert center.result(1)["handleCode"] == 200
        assert "hello\n/dev/null\n" in executor.log(1)["logContent"]
        if what == "agent":
            assert os.readlink(f"/proc/{executor.process.pid}/fd/1") == "/dev/null"
        else:
            executor.run(2, 2, "resultProcessJobHandler", "0 200 fine")
            assert center.result(2)["handleMsg"] == "fine"


def answers(address):
    with socket.socket() as s:
        host, port = address.split("/")[2].split(":")
        return address if s.connect_ex((host, int(port))) == 0 else None


# -- stopping --


@pytest.fixture
def silent_centers():
    """Addresses that take connections and never answer."""
    sockets = [socket.create_server(("127.0.0.1", 0), backlog=64) for _ in range(4)]
    yield ",".join(f"http://127.0.0.1:{s.getsockname()[1]}" for s in sockets)
    for s in sockets:
        s.close()


@pytest.mark.parametrize("signals, most", [(1, 2), (2, 1)])
def test_centers_that_do_not_answer_do_not_hold_the_stop_up(tmp_path, silent_centers, signals, most):
    """One deadline for all of them, and a second signal ends that too."""
    with Executor(tmp_path, silent_centers) as executor:
        executor.terminate()
        wait_until(lambda: "stopping: " in executor.said(), "it to begin to stop")
        if signals > 1:
            executor.terminate()
        executor.wait(60 * PATIENCE)
        said = executor.said()
        assert said.count("no answer") <= most, said


# -- threads --


def test_faults_reach_the_hosts_crash_reporter_and_other_signals_do_not_come_here(tmp_path, center):
    with host(tmp_path, center, "report-crashes") as executor:
        executor.run(1, 1, "maskJobHandler")
        assert center.result(1)["handleMsg"] == "open: SEGV BUS FPE ILL TRAP SYS ABRT"
        if os.environ.get("PEAL_PRESET", "dev") in ("dev", "release"):  # sanitizers have a reporter of their own
            executor.run(2, 2, "faultJobHandler")
            assert executor.process.wait(60 * PATIENCE) == -signal.SIGSEGV
            assert "crash reporter: here" in executor.said()


@pytest.mark.parametrize("kib, args", [(6 << 10, []), (40 << 10, ["--peal.executor.stack", str(64 << 10)])])
def test_a_handler_has_the_stack_that_a_main_thread_has_or_more_by_wish(tmp_path, center, kib, args):
    with host(tmp_path, center, args=args) as executor:
        executor.run(1, 1, "deepJobHandler", str(kib))
        assert center.result(1)["handleMsg"] == f"{kib << 10} bytes"


# -- what a handler prints and says --


def test_what_is_printed_before_an_abort_is_in_the_log(tmp_path, center):
    with host(tmp_path, center) as executor:
        executor.run(1, 1, "abortJobHandler")
        assert "ended by signal 6" in center.result(1)["handleMsg"]
        assert "last words without an end\n" in executor.log(1)["logContent"]


def test_a_line_of_progress_names_the_handler(tmp_path, center):
    with host(tmp_path, center) as executor:
        executor.run(1, 1, "progressJobHandler")
        center.result(1)
        lines = [line for line in executor.log(1)["logContent"].splitlines() if "progress" in line and "%" in line]
        assert re.search(r"\[progressJobHandler#progressJobHandler\]-\[\d+\].* progress 40 %: on the way$", lines[0])
        assert "progress 100 %" in lines[1]


# -- connections --


def test_connections_leave_enough_descriptors_for_runs(tmp_path, center):
    """More of them than descriptors, none with the token: the executor keeps back what runs need."""
    executor = agent(tmp_path, center, "prlimit", "--nofile=160:160", args=[*SCRIPTS, "--workers=4"])
    with executor:
        host_and_port = ("127.0.0.1", int(executor.address.rstrip("/").rsplit(":", 1)[1]))
        idle = [socket.create_connection(host_and_port) for _ in range(200)]
        for log in range(1, 9):
            executor.run_shell(log, log, "echo fine")
        for log in range(1, 9):
            assert center.result(log)["handleCode"] == 200, center.result(log)
        for one in idle:
            one.close()


def test_a_large_body_without_the_token_is_not_waited_for(tmp_path, center):
    with agent(tmp_path, center) as executor:
        host_and_port = ("127.0.0.1", int(executor.address.rstrip("/").rsplit(":", 1)[1]))
        with socket.create_connection(host_and_port, 60) as one:
            one.sendall(b"POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n{")
            answer = one.recv(65536)
        assert b"The access token is wrong." in answer, answer


def test_the_soft_limit_of_descriptors_is_raised(tmp_path, center):
    executor = agent(tmp_path, center, "prlimit", "--nofile=256:3000", args=[*SCRIPTS, "--workers=250"])
    with executor:
        assert resource.prlimit(executor.process.pid, resource.RLIMIT_NOFILE) == (3000, 3000)
        executor.run_shell(1, 1, "ulimit -n")
        assert center.result(1)["handleCode"] == 200 and "\n1024\n" in executor.log(1)["logContent"]


def test_the_log_is_nobody_elses(tmp_path, center):
    with agent(tmp_path, center, args=SCRIPTS) as executor:
        executor.run_shell(1, 1, "echo line")
        center.result(1)
        executor.wait_for_log(1, "job execute end")
        (day,) = [path for path in executor.logs.iterdir() if re.fullmatch(r"\d{4}-\d\d-\d\d", path.name)]
        assert {path.name: oct(path.stat().st_mode & 0o777) for path in day.iterdir()} == {"1.log": "0o640"}
        assert oct(day.stat().st_mode & 0o777) == "0o750"


# -- settings of a Java application's file --


def start_with(tmp_path, text, *args, env=None):
    path = tmp_path / "application.properties"
    path.write_text(text)
    return subprocess.run([binary(), "executor", "-c", path, "--xxl.job.executor.logpath", tmp_path / "logs", *args],
                          capture_output=True, text=True, timeout=60 * PATIENCE, check=False, cwd=tmp_path,
                          env={**os.environ, **(env or {})})


def test_an_executor_that_is_switched_off_does_not_start(tmp_path):
    done = start_with(tmp_path, "xxl.job.executor.enabled=false\nxxl.job.accessToken=secret\n")
    assert (done.returncode, done.stdout) == (0, "peal executor does not start: xxl.job.executor.enabled is false\n")


@pytest.mark.parametrize("text, rule", [
    ("xxl.job.accessToken=${XXL_TOKEN:default_token}\n", "xxl.job.accessToken: ${...} in the file"),
    ("xxl.job.accessToken=s\nxxl.job.executor.appname=${spring.application.name}\n", "xxl.job.executor.appname: ${"),
    ("xxl.job.accessToken=s\nxxl.job.executor.appname=ab\n", "xxl.job.executor.appname: must have 4-64 characters"),
])
def test_a_file_that_only_spring_or_nobody_understands_is_refused(tmp_path, text, rule):
    done = start_with(tmp_path, text)
    assert done.returncode == 2 and rule in done.stderr and done.stderr.count("--help") == 1, done.stderr


def test_a_placeholder_is_fine_where_the_environment_has_the_value(tmp_path, center):
    path = tmp_path / "application.properties"
    path.write_text("xxl.job.accessToken=${XXL_TOKEN}\n")
    with agent(tmp_path, center, args=["-c", str(path)]):
        wait_until(lambda: center.of("registry"), "it to register with the variable's token")


def test_a_complaint_names_the_help_once(tmp_path):
    done = start_with(tmp_path, "", "--no-such-option")
    assert done.returncode == 2 and done.stderr.count("--help") == 1, done.stderr
