# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the black-box suite: the real binary, a fresh center on a free port for each file."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.center import Center  # noqa: E402 (found through the path just set)


@pytest.fixture(scope="module")
def center(tmp_path_factory):
    with Center(tmp_path_factory.mktemp("center")) as it:
        yield it


@pytest.fixture(params=["2.x", "3.3"])
def api(center, request):
    """A logged-in admin of either generation; each under the context path of its time."""
    return center.api(request.param, "/xxl-job-admin" if request.param == "2.x" else "")
