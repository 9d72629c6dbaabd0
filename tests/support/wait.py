# SPDX-License-Identifier: Apache-2.0
"""Waiting for events. Tests never assert how long something took; they wait for it, with a bound
generous enough that only a defect reaches it. PEAL_TEST_PATIENCE multiplies every bound, for
sanitizers and crowded machines."""

import os
import time

PATIENCE = float(os.environ.get("PEAL_TEST_PATIENCE", "1"))


def wait_until(predicate, what, timeout=20.0, interval=0.05):
    """Call predicate until it returns something true, and return that.

    An AssertionError inside the predicate counts as "not yet"; any other exception is an error at
    once. On timeout the failure names what was waited for and what was seen last.
    """
    deadline = time.monotonic() + timeout * PATIENCE
    while True:
        try:
            seen = predicate()
            if seen:
                return seen
        except AssertionError as not_yet:
            seen = not_yet
        if time.monotonic() >= deadline:
            raise AssertionError(f"waited {timeout * PATIENCE:g} s for {what}; last seen: {seen!r}")
        time.sleep(interval)
