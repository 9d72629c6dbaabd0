# SPDX-License-Identifier: Apache-2.0
"""Whoever holds the executors' token names addresses that the center posts to: executor.targets says which."""

import pytest

from support.center import Center
from support.puppet import Puppet
from support.wait import wait_until


def outcome(center, address):
    """What the log says of a run at that address."""
    api = center.api()
    job = api.add_job(api.add_group("named", addresses=[address]), "h")
    api.trigger(job)
    return wait_until(lambda: next((row for row in api.logs(job) if row["triggerCode"]), None), "the run to be sent or refused")


@pytest.mark.parametrize("address", ["http://169.254.169.254:80/latest/", "http://[fe80::1]:9999/", "http://0.0.0.0:9999/",
                                     "http://[::ffff:169.254.169.254]:80/", "http://239.1.1.1:80/"])
def test_what_answers_to_anybody_is_not_called(tmp_path, address):
    with Center(tmp_path) as center:
        row = outcome(center, address)
        assert row["triggerCode"] == 500 and "setting executor.targets" in row["triggerMsg"], row["triggerMsg"]


@pytest.mark.parametrize("targets, code", [("", 200), ("127.0.0.0/8", 200), ("any", 200), ("10.0.0.0/8", 500)])
def test_the_setting_says_which_addresses_are_called(tmp_path, targets, code):
    with Center(tmp_path, ["--executor.targets", targets]) as center, Puppet(center, "tests", register=False) as puppet:
        row = outcome(center, puppet.address)
        assert row["triggerCode"] == code, row["triggerMsg"]
        by_name = outcome(center, puppet.address.replace("127.0.0.1", "localhost"))
        assert by_name["triggerCode"] == code, by_name["triggerMsg"]
        assert bool(puppet.runs()) == (code == 200)


def test_a_network_that_is_none_is_refused_at_the_start(tmp_path):
    with pytest.raises(RuntimeError, match="executor.targets: 10.0.0/8 is no address or network"):
        Center(tmp_path, ["--executor.targets", "10.0.0/8"]).start()
