# SPDX-License-Identifier: Apache-2.0
"""The handlers that come with `peal executor`: which of them there are, and what httpJobHandler may do."""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import TOKEN, binary, clean_environment, free_port  # noqa: E402 (path just set)
from support.executor import Executor  # noqa: E402
from support.standin import StandinCenter  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

HTTP = ("--peal.executor.http.hosts=127.0.0.1,localhost", "--peal.executor.http.private")


class Target:
    """A web server on 127.0.0.1 that records what it is asked, and answers by path."""

    def __init__(self):
        self.asked = []  # (method, path, headers, body)
        self.release = threading.Event()
        self.redirect = {}  # path: (status, location)
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.asked.append((self.command, self.path, self.headers, body))
                if self.path == "/hang":
                    outer.release.wait()
                if self.path.startswith("/wait/"):
                    time.sleep(int(self.path.rsplit("/", 1)[1]) / 1000)
                status, location = outer.redirect.get(self.path, (200, None))
                if self.path.startswith("/status/"):
                    status = int(self.path.rsplit("/", 1)[1])
                data = b"x" * (3 << 20) if self.path == "/large" else b"the answer"
                try:
                    self.send_response(status)
                    if location:
                        self.send_header("Location", location)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(data)
                except ConnectionError:
                    pass
                self.close_connection = self.close_connection or self.path == "/hang"

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = serve

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release.set()
        self.server.shutdown()
        self.server.server_close()

    def url(self, path="/", host="127.0.0.1"):
        return f"http://{host}:{self.port}{path}"


@pytest.fixture
def center():
    with StandinCenter() as it:
        yield it


@pytest.fixture
def target():
    with Target() as it:
        yield it


@pytest.fixture
def asker(tmp_path, center):
    """An executor that may ask 127.0.0.1."""
    with Executor(tmp_path, center.url, HTTP) as it:
        yield it


def ask(center, executor, log, param, **fields):
    """Code, message and log of one request."""
    param = param if isinstance(param, str) else json.dumps(param)
    assert executor.run(log, log, "httpJobHandler", param, **fields)["code"] == 200
    result = center.result(log, 30)
    return result["handleCode"], result["handleMsg"], executor.log(log)["logContent"]


# -- which of them there are --


def handlers(executor):
    line = wait_until(lambda: [x for x in executor.said().splitlines() if x.startswith("  handlers:")], "the list")
    return line[0].split()[1:]


def test_the_samples_are_there_and_the_dangerous_ones_are_not(tmp_path, center):
    with Executor(tmp_path, center.url) as executor:
        assert handlers(executor) == ["demoJobHandler", "shardingJobHandler", "failJobHandler", "sleepJobHandler",
                                      "lifecycleJobHandler"]
        for name, option in (("commandJobHandler", "commands"), ("httpJobHandler", "http.hosts")):
            reply = executor.run(1, 1, name, "x")
            assert reply["code"] == 500 and f"--peal.executor.{option}=" in reply["msg"]


def test_each_can_be_off(tmp_path, center):
    with Executor(tmp_path, center.url, ["--peal.executor.samples=sleep, fail"]) as executor:
        assert handlers(executor) == ["failJobHandler", "sleepJobHandler"]
        assert "--peal.executor.samples=demo" in executor.run(1, 1, "demoJobHandler")["msg"]


def test_a_sample_that_does_not_exist_is_refused_at_start(tmp_path):
    done = subprocess.run([str(binary()), "executor", "--peal.executor.samples=demo,hello"], cwd=tmp_path,
                          env=clean_environment(PEAL_ACCESS_TOKEN=TOKEN), capture_output=True, text=True, timeout=60 * PATIENCE)
    assert done.returncode == 2 and "peal.executor.samples: there is no hello" in done.stderr


def test_the_life_cycle_can_be_seen(tmp_path, center):
    with Executor(tmp_path, center.url) as executor:
        for log, count in ((2, 1), (3, 2)):
            executor.run(7, log, "lifecycleJobHandler")
            assert center.result(log)["handleCode"] == 200
            assert f"this is run {count} since" in executor.log(log)["logContent"]
        executor.stop()
        assert executor.said().count("lifecycleJobHandler: init") == 1
        assert "lifecycleJobHandler: destroy, after 2 runs" in executor.said()


def test_a_command_that_does_not_end_is_killed_within_the_grace(tmp_path, center):
    with Executor(tmp_path, center.url, ["--peal.executor.commands=bash", "--peal.executor.stop.grace=800ms"]) as executor:
        executor.run(8, 4, "commandJobHandler", "bash -c 'trap : TERM; echo pid $$; while :; do wait; read -t 1; done'")
        executor.wait_for_log(4, "\npid ")
        executor.call("kill", {"jobId": 8})
        assert "killed" in center.result(4)["handleMsg"]
        assert "would not stop" not in executor.said() + center.result(4)["handleMsg"]


# -- HTTP --


def test_a_request_with_everything(center, target, asker):
    code, message, log = ask(center, asker, 10, {
        "url": target.url("/path?q=1"), "method": "POST", "data": "é body", "contentType": "text/plain",
        "headers": {"X-Mine": "yes"}, "cookies": {"a": "b"}, "auth": "Bearer secret", "timeout": 20000})
    assert (code, message) == (200, "HTTP 200")
    assert f"POST {target.url('/path?q=1')}" in log and "\nthe answer\n" in log and "HTTP 200" in log
    assert "secret" not in log.split("\n", 2)[2]  # the first lines show the parameter
    (method, path, headers, body), = target.asked
    assert (method, path, body.decode()) == ("POST", "/path?q=1", "é body")
    assert (headers["X-Mine"], headers["Cookie"], headers["Authorization"], headers["Content-Type"]) == (
        "yes", "a=b", "Bearer secret", "text/plain")
    assert headers["User-Agent"].startswith("peal/")


def test_the_form_of_lines(center, target, asker):
    code, _, _ = ask(center, asker, 11, f"url: {target.url('/old')}\nmethod: post\ndata: content\n")
    assert code == 200
    assert [(m, p, b) for m, p, _, b in target.asked] == [("POST", "/old", b"content")]


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
def test_other_methods(center, target, asker, method):
    assert ask(center, asker, 12, {"url": target.url(), "method": method})[0] == 200
    assert [m for m, *_ in target.asked] == [method]


@pytest.mark.parametrize("status", [404, 500, 304])
def test_another_status_is_a_failure(center, target, asker, status):
    code, message, _ = ask(center, asker, 13, {"url": target.url(f"/status/{status}")})
    assert (code, message) == (500, f"httpJobHandler: HTTP {status}")


def test_a_long_answer_is_cut_in_the_log(center, target, asker):
    code, _, log = ask(center, asker, 14, {"url": target.url("/large")})
    assert code == 200 and "the answer is longer than 1048576 bytes" in log
    assert log.count("x" * 1000) <= 1100


def test_no_answer_in_time_is_a_timeout(center, target, asker):
    code, message, _ = ask(center, asker, 15, {"url": target.url("/hang"), "timeout": 200})
    assert (code, message) == (502, "httpJobHandler: no answer within 200 ms")


def test_a_kill_is_felt_while_it_waits(center, target, asker):
    asker.run(1, 16, "httpJobHandler", json.dumps({"url": target.url("/hang"), "timeout": 3600000}))
    wait_until(lambda: target.asked, "the request")
    asker.call("kill", {"jobId": 1})
    assert "killed" in center.result(16)["handleMsg"]


def test_nobody_there_is_a_failure_with_the_reason(center, asker):
    code, message, _ = ask(center, asker, 17, {"url": f"http://127.0.0.1:{free_port()}/"})
    assert code == 500 and "connect" in message.lower()


@pytest.mark.parametrize("url", ["http://127.0.0.2:{}/", "http://example.com:{}/", "http://localhost.:{}x/",
                                 "http://2130706434:{}/"])
def test_a_host_that_is_not_listed_is_not_asked(center, target, asker, url):
    code, message, _ = ask(center, asker, 18, {"url": url.format(target.port)})
    assert code == 500 and ("peal.executor.http.hosts" in message or "cannot be read" in message)
    assert not target.asked


@pytest.mark.parametrize("url, rule", [("file:///etc/passwd", "url:"), ("ftp://127.0.0.1/", "must begin with http"),
                                       ("http://a:b@127.0.0.1/", "user or password"), ("nonsense", "url:"),
                                       ("", "url: must be given")])
def test_urls_that_are_refused(center, asker, url, rule):
    code, message, _ = ask(center, asker, 19, {"url": url})
    assert code == 500 and rule in message


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "[::ffff:127.0.0.1]", "0.0.0.0"])
def test_a_private_address_is_refused_whatever_its_name(tmp_path, center, target, host):
    with Executor(tmp_path, center.url, ["--peal.executor.http.hosts=*"]) as executor:
        code, message, _ = ask(center, executor, 20, {"url": target.url(host=host)})
        assert (code, message) == (500, "httpJobHandler: the host's address is not a public one, and "
                                        "peal.executor.http.private is not set")
        assert not target.asked


def test_a_proxy_of_the_environment_is_not_used(tmp_path, center, target):
    proxy = f"http://127.0.0.1:{free_port()}"
    with Executor(tmp_path, center.url, HTTP, env={"http_proxy": proxy, "all_proxy": proxy, "no_proxy": "",
                                                   "NO_PROXY": ""}) as executor:
        assert ask(center, executor, 21, {"url": target.url()})[0] == 200


# -- redirects --


def test_a_redirect_is_followed_and_a_post_becomes_a_get(center, target, asker):
    target.redirect["/from"] = (302, "/to")
    code, _, log = ask(center, asker, 30, {"url": target.url("/from"), "method": "POST", "data": "x"})
    assert code == 200 and "HTTP 302" in log
    assert [(m, p) for m, p, *_ in target.asked] == [("POST", "/from"), ("GET", "/to")]


def test_a_redirect_to_a_host_that_is_not_listed_is_not_followed(center, target, asker):
    target.redirect["/from"] = (302, target.url("/to", "127.0.0.2"))
    code, message, _ = ask(center, asker, 31, {"url": target.url("/from")})
    assert code == 500 and "peal.executor.http.hosts" in message
    assert len(target.asked) == 1


def test_a_redirect_to_another_scheme_is_not_followed(center, target, asker):
    target.redirect["/from"] = (302, "file:///etc/passwd")
    assert ask(center, asker, 32, {"url": target.url("/from")})[0] == 500


def test_secrets_do_not_go_to_another_host(center, target, asker):
    with Target() as other:
        target.redirect["/from"] = (307, other.url("/to"))
        code, _, _ = ask(center, asker, 33, {"url": target.url("/from"), "method": "POST", "data": "x",
                                             "auth": "Bearer t", "cookies": {"a": "b"}, "contentType": "text/plain",
                                             "headers": {"X-Api-Key": "k"}})
        assert code == 200
        (method, _, headers, body), = other.asked
        assert (method, body, headers["Content-Type"]) == ("POST", b"x", "text/plain")
        assert [headers[name] for name in ("Authorization", "Cookie", "X-Api-Key")] == [None] * 3
        target.redirect["/here"] = (307, target.url("/there"))
        ask(center, asker, 133, {"url": target.url("/here"), "headers": {"X-Api-Key": "k"}})
        assert target.asked[-1][1] == "/there" and target.asked[-1][2]["X-Api-Key"] == "k"


def test_the_timeout_is_for_the_whole_way(center, target, asker):
    target.redirect["/wait/1500"] = (302, "/wait/1600")
    code, message, _ = ask(center, asker, 134, {"url": target.url("/wait/1500"), "timeout": 2500})
    assert (code, message) == (502, "httpJobHandler: no answer within 2500 ms")


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "Connection", "Upgrade"])
def test_headers_that_say_where_a_request_goes_and_ends_are_refused(center, target, asker, name):
    code, message, _ = ask(center, asker, 135, {"url": target.url("/"), "headers": {name: "5"}})
    assert code == 500 and message.startswith("httpJobHandler: headers: Host, Content-Length"), message
    assert not target.asked


SLOW_LOOKUP = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    while (name && strcmp(name, "slow.test") == 0)
        pause();
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(name, service, hints, ret);
}
"""


def test_a_name_that_cannot_be_looked_up_holds_up_neither_kill_nor_timeout(tmp_path, center):
    """A look-up that never ends: every call that would wait for it hangs."""
    (tmp_path / "slow.c").write_text(SLOW_LOOKUP)
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", tmp_path / "slow.so", tmp_path / "slow.c",
                    "-ldl"], check=True)
    options = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0:detect_leaks=0"]))
    with Executor(tmp_path, center.url, ["--peal.executor.http.hosts=slow.test"],
                  {"LD_PRELOAD": str(tmp_path / "slow.so"), "ASAN_OPTIONS": options}) as executor:
        param = {"url": "http://slow.test/"}
        assert executor.run(1, 1, "httpJobHandler", json.dumps(param))["code"] == 200
        executor.wait_for_log(1, "http://slow.test/")
        executor.call("kill", {"jobId": 1})
        assert "kill job" in center.result(1)["handleMsg"] and "would not stop" not in center.result(1)["handleMsg"]
        code, message, _ = ask(center, executor, 2, {**param, "timeout": 100})
        assert code == 502 and "no answer within 100 ms" in message


def test_redirects_in_a_circle_end(center, target, asker):
    target.redirect["/round"] = (301, "/round")
    code, message, _ = ask(center, asker, 34, {"url": target.url("/round")})
    assert (code, message) == (500, "httpJobHandler: more than 5 redirects")
    assert len(target.asked) == 6
