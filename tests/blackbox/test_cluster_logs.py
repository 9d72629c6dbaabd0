# SPDX-License-Identifier: Apache-2.0
"""A log that is followed at one server while the run is another one's: it ends with the run, and not before."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support.cluster import database, fresh, node, wait_for  # noqa: E402, F401 (a fixture)
from support.sse import lines_until, open_log  # noqa: E402
from support.stub_executor import OK, Stub  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import wait_until  # noqa: E402


def asked(stub):
    return sum(action == "log" for action, _, _ in list(stub.calls))


@pytest.mark.parametrize("is_end", [False, True], ids=["the page has no end", "each page says that it is the end"])
def test_a_followed_log_ends_with_the_run_at_each_server(db, tmp_path, is_end):
    _, url = fresh(db)
    with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two") as two, Stub(one, "logs") as stub:
        wait_for(one, one="up", two="up")
        lines = ["one"]

        def page(body):
            begin = body["fromLineNum"]
            found = {"fromLineNum": begin, "toLineNum": max(len(lines), begin - 1), "isEnd": is_end,
                     "logContent": "".join(line + "\n" for line in lines[begin - 1:])}
            return {**OK, "content": found, "data": found}

        stub.answers["log"] = page
        api = one.api()
        job = api.add_job(api.add_group("logs", addresses=[stub.address]), "h")
        api.trigger(job)  # and the run is this server's
        run = stub.wait_runs(1, job)[0]["logId"]
        with open_log(V1(one), run) as there, open_log(V1(two), run) as elsewhere:
            for stream in there, elsewhere:
                assert lines_until(stream, 1) == ["one"]
            for n in range(3):  # each after pages without lines, in which the run has gone on
                before = asked(stub)
                wait_until(lambda before=before: asked(stub) >= before + 4, "both to ask again", 60)
                lines.append(f"more {n}")
                for stream in there, elsewhere:
                    assert lines_until(stream, 1) == [f"more {n}"]
            lines.append("last")
            stub.call_back(run)
            for stream in there, elsewhere:
                rest = stream.rest()
                assert [line for name, data in rest if name == "lines" for line in data["lines"]] == ["last"], rest
                assert rest[-1] == ("state", {"state": "finished", "end": True, "detail": None}), rest
        with open_log(V1(two), run) as again:
            assert lines_until(again, 5)[-1] == "last"
            assert again.rest() == [("state", {"state": "finished", "end": True, "detail": None})]
