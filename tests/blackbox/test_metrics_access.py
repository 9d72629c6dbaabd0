# SPDX-License-Identifier: Apache-2.0
"""Who may read /metrics: everybody, until metrics.allow or metrics.token says who."""

import pytest

from support import webapi
from support.center import Center

SPELLINGS = "/metrics", "/xxl-job-admin/metrics", "//metrics", "/metrics?x=1"
TOKEN = "a-token-of-the-scraper"


def read(center, path="/metrics", token=None):
    return webapi.request(center.port, "GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})


def status(*args):
    return read(*args)[0]


def test_everybody_may_unless_a_setting_says_who(tmp_path):
    with Center(tmp_path) as center:
        assert status(center) == 200


@pytest.mark.parametrize("settings, alone, with_token", [
    (["--metrics.allow", "127.0.0.0/8"], 200, 200),
    (["--metrics.allow", "10.0.0.0/8, fd00::/8"], 401, 401),
    (["--metrics.token", TOKEN], 401, 200),
    (["--metrics.allow", "10.0.0.0/8", "--metrics.token", TOKEN], 401, 200),
])
def test_the_settings_hold_at_each_spelling_of_the_path(tmp_path, settings, alone, with_token):
    with Center(tmp_path, settings) as center:
        for path in SPELLINGS:
            found = status(center, path)
            assert found in (alone, 404), path
            if found != 404:
                assert status(center, path, TOKEN) == with_token, path
                assert status(center, path, TOKEN + "x") == alone, path
                assert status(center, path, TOKEN[:-1]) == alone, path
        code, headers, body = read(center)[:3]
        assert code == alone and (code == 200 or b"peal_" not in body)
        if alone == 401:
            assert headers["WWW-Authenticate"].startswith("Bearer ")
        assert center.get("/readyz")[0] == 200


def test_a_network_that_is_none_is_refused_at_the_start(tmp_path):
    center = Center(tmp_path, ["--metrics.allow", "10.0.0.0/33"])
    with pytest.raises(RuntimeError, match="metrics.allow: 10.0.0.0/33 is no address or network"):
        center.start()
