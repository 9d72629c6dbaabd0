# SPDX-License-Identifier: Apache-2.0
"""The console's files as a client without a browser sees them: pages, caching, old addresses, both prefixes."""
import gzip
import pathlib
import re

import pytest
from support import webapi
from support.center import Center

ROOT = pathlib.Path(__file__).resolve().parents[2]
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
PREFIXES = ["", "/xxl-job-admin"]


def get(center, path, method="GET", **headers):
    return webapi.request(center.port, method, path, None, {k.replace("_", "-"): v for k, v in headers.items()})


def embedded():
    """Whether the tests' binary carries the console: a build after `make console` does."""
    return (ROOT / "web" / "dist" / "packed" / "console" / "files.def").exists()


@pytest.fixture(scope="module")
def page(center):
    status, headers, body = get(center, "/", **HTML)
    assert status == 200
    assert headers["Content-Type"].startswith("text/html")
    return body.decode()


def test_a_browser_gets_the_console_or_how_to_have_it(page):
    if embedded():
        assert '<div id="app">' in page
    else:
        assert "make console" in page


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("path", ["/", "/jobs", "/jobs/7?tab=runs", "/runs/9", "/no/such/screen", "/login"])
def test_each_screen_is_the_page_and_knows_its_prefix(center, page, prefix, path):
    status, headers, body = get(center, prefix + path, **HTML)
    assert status == 200
    assert headers["Cache-Control"] == "no-cache"
    if embedded():
        assert f'<base href="{prefix}/">' in body.decode()


def test_no_page_of_another_site_or_script_can_get_in(center):
    policy = get(center, "/", **HTML)[1]["Content-Security-Policy"]
    for rule in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"):
        assert rule in policy
    assert "unsafe" not in policy


def test_the_opener_is_cut_off_where_browsers_heed_that(center, tmp_path):
    by_proxy = {**HTML, "X-Forwarded-Proto": "https"}
    assert "Cross-Origin-Opener-Policy" not in get(center, "/", **HTML)[1]
    assert "Cross-Origin-Opener-Policy" not in get(center, "/", **by_proxy)[1], "a stranger is not believed"
    with Center(tmp_path / "behind", ["--http.proxies", "127.0.0.1"]) as behind:
        assert "Cross-Origin-Opener-Policy" not in get(behind, "/", **HTML)[1]
        assert get(behind, "/", **by_proxy)[1]["Cross-Origin-Opener-Policy"] == "same-origin"


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("old, new", [
    ("/toLogin", "/login"), ("/jobinfo", "/jobs"), ("/jobinfo?jobGroup=3", "/jobs"), ("/joblog", "/runs"), ("/joblog?jobId=42", "/runs?job=42"),
    ("/joblog/logDetailPage?id=9", "/runs/9"), ("/jobgroup", "/executors"), ("/user", "/users"), ("/jobcode?jobId=7", "/jobs/7?tab=script"),
    ("/joblog/logDetailPage?id=9%0d%0aX: y", "/runs"), ("/joblog?jobId=-1", "/runs"), ("/jobcode?jobId=99999999999999999999", "/jobs"),
])
def test_bookmarks_of_xxl_jobs_console_lead_on(center, prefix, old, new):
    status, headers, _ = get(center, prefix + old.replace(" ", "%20"), **HTML)
    assert (status, headers["Location"]) == (302, prefix + new)


@pytest.mark.parametrize("path", ["/jobs", "/joblog/logDetailPage?id=9", "/no/such/screen"])
def test_scripts_do_not_get_the_page(center, path):
    status, headers, body = get(center, path, Accept="application/json")
    assert status == 404
    assert b"<html" not in body


def test_apis_keep_their_paths(center):
    assert get(center, "/livez", **HTML)[0] == 200
    status, headers, _ = get(center, "/api/v1/jobs", **HTML)
    assert status == 401
    assert headers["Content-Type"].startswith("application/problem+json")
    assert get(center, "/api/v1/nothing", **HTML)[0] == 404
    assert get(center, "/a/no-such-file.js", **HTML)[0] == 404
    assert get(center, "/jobs", method="POST", **HTML)[0] != 200


@pytest.mark.skipif(not embedded(), reason="the console is not built (make console)")
class TestFiles:
    @pytest.fixture
    def asset(self, page):
        return "/" + re.search(r'src="\./(a/[^"]+\.js)"', page).group(1)

    def test_are_kept_by_browsers_for_ever_if_their_name_has_their_hash(self, center, asset):
        status, headers, body = get(center, asset, Accept_Encoding="gzip, br")
        assert status == 200
        assert headers["Content-Encoding"] == "gzip"
        assert "immutable" in headers["Cache-Control"]
        assert headers["Content-Type"].startswith("text/javascript")
        plain = get(center, asset)
        assert "Content-Encoding" not in plain[1]
        assert plain[2] == gzip.decompress(body) == (ROOT / "web" / "dist" / asset[1:]).read_bytes()
        assert get(center, asset, Accept_Encoding="gzip;q=0")[2] == plain[2]

    def test_are_not_sent_again(self, center, asset):
        etag = get(center, asset, Accept_Encoding="gzip")[1]["ETag"]
        status, _, body = get(center, asset, Accept_Encoding="gzip", If_None_Match=f'"other", {etag}')
        assert (status, body) == (304, b"")
        assert get(center, asset, If_None_Match='"other"')[0] == 200

    def test_answer_head(self, center, asset):
        status, headers, body = get(center, asset, method="HEAD")
        assert (status, body) == (200, b"")
        assert int(headers["Content-Length"]) == len(get(center, asset)[2])

    def test_stand_under_the_prefix_too(self, center, asset):
        assert get(center, "/xxl-job-admin" + asset)[2] == get(center, asset)[2]

    @pytest.mark.parametrize("path", ["/a/../index.html", "/%69ndex.html", "/packed/console/files.bin", "/a", "/a/"])
    def test_are_found_by_their_exact_names_only(self, center, path):
        assert get(center, path)[0] == 404

    def test_all_are_served(self, center):
        dist = ROOT / "web" / "dist"
        for path in sorted(p for p in dist.rglob("*") if p.is_file() and "packed" not in p.parts and p.name != "index.html"):
            status, headers, body = get(center, "/" + path.relative_to(dist).as_posix())
            assert (status, body) == (200, path.read_bytes()), path
            assert headers["X-Content-Type-Options"] == "nosniff"
