# SPDX-License-Identifier: Apache-2.0
"""What database servers say of the statements of a center that fires, beside many jobs and log rows that are of no concern
to it: each goes by an index, and reads the rows that it takes."""
import pytest

from support import plans, servers
from support.center import binary

JOBS = ROWS = 20_000
GONE = 1_000
FIRINGS = 40
LARGE = ("xxl_job_log", "xxl_job_info", "peal_job", "peal_due")
WRITES = ("UPDATE ", "DELETE ")


@pytest.fixture(params=servers.built(binary()))
def db(request):
    lacks = servers.missing(request.param)
    if lacks:
        pytest.skip(f"{lacks} is not installed: scripts/install-deps.sh database")
    with servers.open(request.param) as it:
        yield it


def told_of(found):
    return "\n".join(f"{s.count} times, read {s.read}, taken {s.taken}, by {s.access}: {s.text[:200]}" for s in found)


def test_the_statements_of_a_firing_read_the_rows_that_they_take(db, tmp_path):
    found = plans.of_firings(db, tmp_path, JOBS, ROWS, FIRINGS)
    said = told_of(found)
    for s in found:
        if s.count > 2:  # a page of jobs has 200, of up to seven rows each
            assert s.read / s.count < JOBS / 5, said
        if s.text.startswith(WRITES) or "FOR UPDATE" in s.text:
            walked = {table for table, index, _ in s.access if index is None}
            assert not walked & set(LARGE), said
            if s.tables() and s.tables() <= set(LARGE):
                assert s.read <= s.taken + 2 * s.count, said  # and what comes behind what is due
    texts = [s.text for s in found]
    for wanted in ("FOR UPDATE", "UPDATE xxl_job_log", "UPDATE peal_due", "DELETE FROM peal_run", "UPDATE peal_epoch",
                   "INSERT INTO xxl_job_log", "INSERT INTO peal_run"):
        assert any(wanted in text for text in texts), (wanted, said)


def test_rows_that_go_are_deleted_without_a_walk_through_the_log(db, tmp_path):
    found = plans.of_deletions(db, tmp_path, ROWS, GONE)
    said = told_of(found)
    deletes = [s for s in found if s.text.startswith("DELETE FROM xxl_job_log ")]
    assert sum(s.count for s in deletes) >= 2 * GONE / 500, said
    for s in deletes:
        assert s.access and {index for _, index, _ in s.access} != {None} and s.read <= 3 * s.taken, said
    for s in found:
        assert s.read / s.count <= 4096 * 2, said  # a chunk, and its live rows
