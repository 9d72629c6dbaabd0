# SPDX-License-Identifier: Apache-2.0
"""peal db move between the engines: what a center shows is the same on the new database, it works on there, and a move
that is killed in its middle goes on when it is called again."""
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import servers  # noqa: E402
from support.center import Center, binary, clean_environment  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.webapi import finished  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

ROWS = 40_000  # of the log, for a move that takes long enough to be killed in it


@pytest.fixture(scope="module", params=servers.built(binary()))
def db(request):
    lacks = servers.missing(request.param)
    if lacks:
        pytest.skip(f"{lacks} is not installed: scripts/install-deps.sh database")
    with servers.open(request.param) as server:
        yield server


def url_on(db, name):
    return db.create(name).replace(f":{servers.WRITTEN}@", "@")


def environment():
    return clean_environment(PEAL_DB_PASSWORD=servers.PASSWORD)


def move(source, target, *more):
    got = subprocess.run([binary(), "db", "move", "--from", source, "--db", target, *more], capture_output=True, text=True,
                         timeout=300 * PATIENCE, env=environment(), check=False)
    return got.returncode, got.stdout, got.stderr


def new_center(folder, url):
    return Center(folder, ["--db", url], env={"PEAL_DB_PASSWORD": servers.PASSWORD})


def shown(center):
    """What a user sees that a move must not change. Not the last time of a job that was stopped soon after a start: until
    that lies behind now, the page has the last firing in its place. The move itself compares the column."""
    api = center.api()
    jobs = api.pages("/jobinfo/pageList", jobGroup=-1, triggerStatus=-1, jobDesc="", executorHandler="", author="")
    return [[{**job, "triggerLastTime": None} for job in jobs],
            api.pages("/joblog/pageList", jobGroup=0, jobId=0, logStatus=-1, filterTime="")]


def work(center, group, job):
    """Two runs or more, all of which have ended."""
    api = center.api()
    with Puppet(center, "tests") as puppet:
        assert center.api().groups("tests")[0]["id"] == group
        api.start_job(job)
        puppet.wait_for_runs(2, job, 40)
        api.stop_job(job)
        wait_until(lambda: all(finished(row) for row in api.logs(job)), "the runs to end", 40)
    assert center.metric("peal_firings_unaccounted") == 0


def test_a_center_goes_on_after_a_round_over_the_engines(db, tmp_path):
    """SQLite to the server, and back into a file; the data folder stays the same."""
    first, second, third = f"sqlite:{tmp_path}/first.db", url_on(db, "moved"), f"sqlite:{tmp_path}/third.db"
    with new_center(tmp_path / "center", first) as center:
        api = center.api()
        group = api.add_group("tests", "移动 'one'")
        job = api.add_job(group, "every", scheduleType="CRON", scheduleConf="* * * * * ?")
        gone = api.add_job(group, "gone", scheduleType="NONE", scheduleConf="")
        api.delete_job(gone)
        work(center, group, job)
        status, out, err = move(first, second)
        assert (status, out) == (3, "") and "in use" in err, err
        before = shown(center)
        center.stop()

        status, out, err = move(first, second, "--dry-run")
        assert (status, err) == (0, "") and "nothing was written" in out
        status, out, err = move(first, second)
        assert (status, err) == (0, "") and "found equal" in out
        status, out, err = move(first, second)
        assert status == 2 and "the target is not empty" in err

        center.args = ["--db", second]
        center.start()
        assert shown(center) == before
        last = max(row["id"] for row in before[1])
        assert center.api().add_job(group, "following", scheduleType="NONE", scheduleConf="") > gone
        work(center, group, job)
        before = shown(center)
        assert min(row["id"] for row in before[1] if row["id"] > last) > last + (1 << 24)
        center.stop()

        status, out, err = move(second, third)
        assert (status, err) == (0, "") and "found equal" in out
        center.args = ["--db", third]
        center.start()
        assert shown(center) == before
        work(center, group, job)


def killed_in_its_middle(db, source, name):
    """False: it was at its end first."""
    with subprocess.Popen([binary(), "db", "move", "--from", source, "--db", url_on(db, name)], env=environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        def far_enough():
            return process.poll() is not None or has_rows(db, name, 2000)
        wait_until(far_enough, "rows in the target", 60)
        process.send_signal(signal.SIGKILL)
        said = process.stdout.read()
    assert process.returncode in (0, -signal.SIGKILL), said
    return process.returncode != 0


def has_rows(db, name, n):
    try:
        return db.number("SELECT coalesce(max(id), 0) FROM xxl_job_log", name) >= n
    except Exception:  # pylint: disable=broad-except
        return False  # the table is not there yet


def test_a_move_that_is_killed_goes_on(db, tmp_path):
    source = tmp_path / "source.db"
    with new_center(tmp_path / "center", f"sqlite:{source}"):
        pass
    file = sqlite3.connect(source)
    file.execute("INSERT INTO xxl_job_log (id, job_group, job_id, trigger_time, trigger_code, handle_code, handle_msg) "
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                 "SELECT i, 1, i % 50, ? + i, 200, 200, 'line ' || i FROM n", (ROWS, int(time.time() * 1000) - ROWS))
    file.execute("UPDATE peal_seq SET value = ? WHERE name = 'log'", (ROWS,))
    file.commit()
    file.close()
    name = next(name for name in (f"killed{i}" for i in range(10)) if killed_in_its_middle(db, f"sqlite:{source}", name))
    url = db.url(name).replace(f":{servers.WRITTEN}@", "@")
    assert db.number("SELECT count(*) FROM xxl_job_log", name) < ROWS
    refused = new_center(tmp_path / "other", url)
    refused.launch()
    assert refused.process.wait(60 * PATIENCE) != 0
    assert "a move into this database has begun" in refused.output.read_text()
    status, out, err = move(f"sqlite:{source}", url)
    assert (status, err) == (0, "") and "gone on where a move was cut off" in out and "found equal" in out
    left = int(re.search(r"cut off: (\d+) rows were left", out)[1])
    assert 0 < left < ROWS
    assert db.number("SELECT count(*) FROM xxl_job_log", name) == ROWS
    with new_center(tmp_path / "center", url) as center:
        page = center.api().call("/joblog/pageList", jobGroup=0, jobId=0, logStatus=-1, filterTime="", offset=0, pagesize=10)
        assert [row["handleMsg"] for row in page["data"]] == [f"line {ROWS - i}" for i in range(10)]


@pytest.mark.parametrize("change, said", [
    ("UPDATE xxl_job_info SET executor_timeout = 1 << 40", ["xxl_job_info, id 1: ", "executor_timeout", "(1264)"]),
    ("UPDATE xxl_job_info SET author = printf('%.65c', 'x')", ["xxl_job_info, id 1: ", "author", "(1406)"]),
    ("INSERT INTO peal_group_moved VALUES (7, 'http://a:1'), (7, 'http://a:1 ')",
     ["peal_group_moved, group_id 7: ", "http://a:1", "(1062)"]),
])
def test_what_a_server_has_no_room_for_is_named(db, tmp_path, change, said):
    """MySQL's columns are narrower than the others' and compare without blanks at the end."""
    source = tmp_path / "source.db"
    with new_center(tmp_path / "center", f"sqlite:{source}") as center:
        api = center.api()
        assert api.add_job(api.add_group("tests"), "handler", scheduleType="NONE", scheduleConf="") == 1
    with sqlite3.connect(source) as file:
        file.execute(change)
    file.close()
    db.cases = getattr(db, "cases", 0) + 1
    url = url_on(db, f"narrow{db.cases}")
    for more in (["--dry-run"], []):
        status, out, err = move(f"sqlite:{source}", url, *more)
        if db.kind == "mariadb":
            assert status in (2, 3) and not out and all(word in err for word in said), err
        else:
            assert (status, err) == (0, ""), err
