# SPDX-License-Identifier: Apache-2.0
"""A center under a prefix: asked directly, and behind proxies that pass the prefix on or take it away."""

import json
import subprocess

import pytest
from support import webapi
from support.center import Center, binary, clean_environment
from support.proxy import Proxy
from support.sse import Events
from support.stub_executor import Stub
from support.v1 import V1
from support.wait import PATIENCE, wait_until

PREFIX = "/tools/peal"
HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module", params=["http.prefix", "server.servlet.context-path"])
def under(request, tmp_path_factory):
    """A center under the prefix; both names of the setting are known."""
    with Center(tmp_path_factory.mktemp("prefix"), args=["--" + request.param, PREFIX + "/"]) as center:
        yield center


@pytest.fixture(scope="module", params=["direct", "passes", "strips"])
def way(under, request):
    """(center, port that browsers use)."""
    if request.param == "direct":
        yield under, under.port
        return
    with Proxy(under.port, PREFIX, request.param == "strips") as proxy:
        yield under, proxy.port


def test_pages_know_where_they_are(way):
    _, port = way
    for path in ("", "/", "/jobs", "/runs/7"):
        status, headers, body = webapi.request(port, "GET", PREFIX + path, headers=HTML)
        assert (status, headers.get_content_type()) == (200, "text/html")
        assert b"<base" not in body or f'<base href="{PREFIX}/">'.encode() in body
    status, headers, _ = webapi.request(port, "GET", PREFIX + "/joblog/logDetailPage?id=7", headers=HTML)
    assert (status, headers["Location"]) == (302, PREFIX + "/runs/7")


def test_a_session_from_the_login_to_the_stream(way):
    center, port = way
    body = json.dumps({"name": "admin", "password": center.password}).encode()
    status, headers, _ = webapi.request(port, "POST", PREFIX + "/api/v1/session", body,
                                        {"Content-Type": "application/json",
                                         "Origin": f"http://127.0.0.1:{port}"})
    assert status == 200
    cookie, *attributes = [part.strip() for part in headers["Set-Cookie"].split(";")]
    path = next(a for a in attributes if a.startswith("Path="))[5:]
    assert path in ("/", PREFIX)
    sent = {"Cookie": cookie}
    status, headers, body = webapi.request(port, "GET", PREFIX + "/api/v1/runs?limit=1", headers=sent)
    assert status == 200
    with Events(port, PREFIX + "/api/v1/events?topics=vitals", sent) as stream:
        assert stream.status == 200
        assert stream.next("vitals")[1]["ok"] is True
    token = {"name": "t", "permissions": ["read"], "groups": None, "days": 1}
    status, headers, body = webapi.request(port, "POST", PREFIX + "/api/v1/tokens", json.dumps(token).encode(),
                                           {**sent, "Content-Type": "application/json"})
    assert status == 201
    assert headers["Location"].startswith(PREFIX + "/api/v1/tokens/")


def test_the_cookie_is_for_the_prefix(under):
    body = json.dumps({"name": "admin", "password": under.password}).encode()
    kind = {"Content-Type": "application/json"}
    for path, scope in ((PREFIX, PREFIX), ("", "/"), ("/xxl-job-admin", "/")):
        _, headers, _ = webapi.request(under.port, "POST", path + "/api/v1/session", body, kind)
        assert f"; Path={scope};" in headers["Set-Cookie"]


@pytest.mark.parametrize("prefix", [PREFIX, "", "/xxl-job-admin"])
def test_executors_and_tools_find_it_under_each(under, prefix):
    api = under.api(prefix=prefix)
    app = "app-" + (prefix.strip("/") or "root").replace("/", "-")
    group = api.add_group(app)
    assert group in [g["id"] for g in api.groups()]
    reply = under.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": app,
                                        "registryValue": "http://127.0.0.1:1/"}, prefix=prefix)
    assert reply["code"] == 200
    wait_until(lambda: api.addresses(app), "registration")
    assert webapi.request(under.port, "GET", prefix + "/livez")[0] == 200
    assert V1(under).get("/groups")["items"]
    status, headers, _ = webapi.request(under.port, "POST", prefix + "/jobinfo/pageList", b"",
                                        {"Content-Type": "application/x-www-form-urlencoded"})
    assert status == 200 or headers["Location"] == (prefix or PREFIX) + "/toLogin"


def test_runs_go_on_under_a_prefix(under):
    api = under.api(prefix=PREFIX)
    group = api.add_group("runs-app")
    with Stub(under, "runs-app") as stub:
        wait_until(lambda: api.addresses("runs-app"), "registration")
        job = api.add_job(group, "h")
        api.trigger(job)
        run = stub.wait_runs(1)[0]["logId"]
        stub.call_back(run)
        wait_until(lambda: V1(under).get(f"/runs/{run}")["run"]["outcome"] == "succeeded", "the end")


@pytest.mark.parametrize("value", ["peal", "/a//b", "/api/x", "/a b", "/" + "x" * 100])
def test_a_prefix_that_is_none_is_refused(tmp_path, value):
    done = subprocess.run([str(binary()), "server", "--data", str(tmp_path / "d"), "--http.prefix", value],
                          capture_output=True, env=clean_environment(), timeout=20 * PATIENCE, check=False)
    assert done.returncode == 2
    assert b"http.prefix" in done.stderr
    assert not (tmp_path / "d").exists()
