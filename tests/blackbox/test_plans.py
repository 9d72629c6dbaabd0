# SPDX-License-Identifier: Apache-2.0
"""What database servers say of the statements of a center that fires, beside many jobs and log rows that are of no concern
to it: each goes by an index, and reads the rows that it takes."""
import pytest

from support import plans, servers
from support.center import ROOT, binary

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


def check_names(db, names, said):
    """Each statement is in the list, and so on the page; and those that a firing must have were seen."""
    assert None not in names, "not in plans.STATEMENTS: " + "\n".join(
        line for name, line in zip(names, said.split("\n")) if name is None)
    in_others = () if db.kind == "mariadb" else ("the next one behind what is due", "addresses of log rows")
    assert not set(plans.FIRING_NAMES) - set(names) - set(in_others), said


def test_the_page_has_each_statement_of_the_list():
    page = (ROOT / "docs" / "internals" / "store.md").read_text()
    assert [name for name, _ in plans.STATEMENTS if f"\n| {name} | " not in page] == []
    assert plans.name_of("SELECT next_ms FROM peal_due WHERE job_id = ?") is None  # one that no firing has


def test_the_statements_of_a_firing_read_the_rows_that_they_take(db, tmp_path):
    found = plans.of_firings(db, tmp_path, JOBS, ROWS, FIRINGS, nodes=2)
    said = told_of(found)
    for s in found:
        if s.text.startswith("SELECT count(*) FROM peal_due "):  # a node's jobs, each half minute
            continue
        walks = "ORDER BY next_ms" in s.text and s.text.startswith("SELECT next_ms, job_id FROM peal_due ")
        if "home = ?" in s.text:  # and never by the index of all homes
            assert "i_due_next" not in {index for _, index, _ in s.access}, said
        if s.count > 2:  # a page of jobs has 200, of up to seven rows each
            assert s.read / s.count < JOBS / 5, said
        if s.text.startswith(WRITES) or "FOR UPDATE" in s.text:
            walked = {table for table, index, _ in s.access if index is None}
            assert not walked & set(LARGE), said
            if s.tables() and s.tables() <= set(LARGE):
                # two nodes walk through one home: what one of them holds, or has moved a moment ago, the other passes over
                assert s.read <= s.taken * (3 if walks else 1) + 2 * s.count, said  # and what comes behind what is due
    check_names(db, [plans.name_of(s.text) for s in found], said)
    texts = [s.text.replace("UPDATE IGNORE ", "UPDATE ") for s in found]
    for wanted in ("home = ", "home <> ", "FOR UPDATE", "UPDATE xxl_job_log", "UPDATE peal_due", "DELETE FROM peal_run", "UPDATE peal_epoch",
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


def test_a_late_result_and_an_edit_before_a_second_send_go_by_the_primary_key(db, tmp_path):
    found = plans.of_edits(db, tmp_path, ROWS)
    said = told_of(found)
    for name, texts in (("late results", 2), ("what a run is sent with, after an edit", 1)):
        some = [s for s in found if plans.name_of(s.text) == name]
        assert len(some) >= texts, (name, said)
        for s in some:
            assert "xxl_job_log" in s.tables() and s.read <= 2 * s.count, said
            assert None not in {index for table, index, _ in s.access if table == "xxl_job_log"}, said
