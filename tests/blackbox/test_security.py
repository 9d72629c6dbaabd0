# SPDX-License-Identifier: Apache-2.0
"""What has been reported against XXL-JOB and its like, row by row: which tests show that it is closed here, and
those that no other file has."""

import json
import pathlib
import re
import socket
import sqlite3
import urllib.parse

import pytest
from support import webapi
from support.center import Center
from support.v1 import V1, problem
from test_users import make

TESTS = pathlib.Path(__file__).resolve().parents[1]

# class of reports -> the tests that show it closed. Rows that concern executors alone have those of executors.
ROWS = {
    "unauthenticated executor /run is remote code": [
        "blackbox/test_executor_bad_input.py::test_", "blackbox/test_scripts.py::test_only_the_listed_kinds_run",
        "blackbox/test_upstream_faults.py::test_fault_12_an_empty_token_is_refused_unless_it_is_asked_for",
        "blackbox/test_executor_api.py::test_the_token_is_wanted"],
    "default token": [
        "blackbox/test_users.py::test_a_token_that_everybody_knows_is_refused",
        "blackbox/test_upstream_faults.py::test_fault_12_nobody_comes_in_with_the_names_that_everybody_knows",
        "blackbox/test_server.py::test_a_random_token_is_made_kept_and_wanted",
        "blackbox/test_doctor.py::test_a_known_token_in_the_folder_is_found"],
    "fixed admin/123456": [
        "blackbox/test_login.py::test_a_random_password_is_printed_once",
        "blackbox/test_users.py::test_a_generated_password_must_be_changed",
        "blackbox/test_doctor.py::test_passwords_that_everybody_tries_are_found"],
    "SSRF that leaks the token": [
        "blackbox/test_web_api.py::test_a_run_goes_nowhere_else",
        "blackbox/test_security.py::test_a_run_by_hand_goes_to_no_address_of_the_askers",
        "blackbox/test_security.py::test_a_log_is_asked_for_where_the_run_went_and_nowhere_else",
        "blackbox/test_security.py::test_who_may_not_write_groups_sends_the_token_nowhere"],
    "token replay and sniffing": [
        "blackbox/test_doctor.py::test_a_setting_is_found",
        "blackbox/test_doctor.py::test_rights_and_tokens_are_found_beside_a_running_server"],
    "fake registration and stored XSS through the registry": [
        "blackbox/test_executor_api.py::test_refusals_name_field_and_rule_with_status_200",
        "blackbox/test_security.py::test_what_registers_is_an_address_and_nothing_else"],
    "missing object checks": [
        "blackbox/test_rights.py::test_the_walk_over_v1", "blackbox/test_rights.py::test_the_walk_over_the_form_api",
        "blackbox/test_rights.py::test_a_job_of_another_group_is_out_of_sight",
        "blackbox/test_rights.py::test_lists_hold_what_one_may_read",
        "blackbox/test_api_batch.py::test_the_permission_is_asked_job_by_job"],
    "forgeable session cookie": [
        "blackbox/test_login.py::test_a_session_in_the_database_is_no_cookie",
        "blackbox/test_login.py::test_logout_ends_the_session_not_only_the_cookie",
        "blackbox/test_users.py::test_an_idle_session_ends", "blackbox/test_users.py::test_sessions_are_listed_and_ended",
        "blackbox/test_security.py::test_a_cookie_of_the_original_is_nobody"],
    "weak password hashing": [
        "blackbox/test_login.py::test_hashes_of_the_original_log_in_and_are_upgraded",
        "blackbox/test_users.py::test_the_shared_column_is_written_when_asked"],
    "brute force": [
        "blackbox/test_login.py::test_guessing_is_slowed_down_for_this_name_only",
        "blackbox/test_limits.py::test_a_spray_over_many_names_from_one_address_is_stopped",
        "blackbox/test_limits.py::test_one_name_from_many_addresses_is_slowed_and_its_owner_is_not_locked_out",
        "blackbox/test_users.py::test_guessing_the_old_password_has_to_wait"],
    "CSRF": [
        "blackbox/test_login.py::test_pages_of_other_sites_cannot_change_anything",
        "blackbox/test_login.py::test_a_referer_of_another_site_changes_nothing",
        "blackbox/test_login.py::test_a_link_changes_nothing",
        "blackbox/test_security.py::test_no_page_of_another_site_makes_a_user"],
    "stored XSS": [
        "blackbox/test_console.py::test_no_page_of_another_site_or_script_can_get_in",
        "blackbox/test_hostile_http.py::test_hostile_names_are_text_and_nothing_else",
        "blackbox/test_security.py::test_texts_of_users_are_never_html"],
    "template injection": ["blackbox/test_security.py::test_alarm_texts_are_no_templates"],
    "job-level SSRF": [
        "blackbox/test_builtins.py::test_a_host_that_is_not_listed_is_not_asked",
        "blackbox/test_builtins.py::test_a_private_address_is_refused_whatever_its_name",
        "blackbox/test_builtins.py::test_a_redirect_to_a_host_that_is_not_listed_is_not_followed"],
    "command handler": [
        "blackbox/test_builtins.py::test_the_samples_are_there_and_the_dangerous_ones_are_not",
        "blackbox/test_scripts.py::test_the_environment_is_clean"],
    "Hessian deserialisation": ["blackbox/test_security.py::test_the_old_binary_protocol_is_not_spoken"],
    "vulnerable dependencies, memory safety": [
        "blackbox/test_hostile_http.py::test_malformed_and_smuggling_requests_are_refused",
        "blackbox/test_hostile_http.py::test_json_of_any_depth_and_size",
        "structure/test_check_hardening.py::test_"],
    "one team acts as another": [
        "blackbox/test_group_tokens.py::test_one_team_cannot_register_or_remove_as_another",
        "blackbox/test_group_tokens.py::test_one_team_cannot_end_the_runs_of_another",
        "blackbox/test_group_tokens.py::test_a_late_result_is_judged_by_its_log_row",
        "blackbox/test_group_tokens.py::test_calls_carry_the_token_of_the_group",
        "blackbox/test_group_tokens.py::test_the_token_stands_in_no_other_answer"],
    "unsafe API by omission": [
        "structure/test_api_contract.py::test_rows_and_document_agree",
        "blackbox/test_security.py::test_nothing_is_open_without_login_but_what_is_named_here",
        "blackbox/test_doctor.py::test_nothing_is_found_where_nothing_is_wrong"],
}

# Rows whose answer is not there yet, and what is missing. This list only becomes shorter.
NOT_YET = {
    "TLS on the center's own port": "peal doctor says so; a proxy has to speak it",
}


@pytest.mark.parametrize("row", ROWS)
def test_each_class_of_reports_has_tests(row):
    assert ROWS[row]
    for name in ROWS[row]:
        path, test = name.split("::")
        names = re.findall(r"^def (test_\w+)\(", (TESTS / path).read_text(encoding="utf-8"), re.M)
        assert (any(n.startswith(test) for n in names) if test == "test_" else test in names), f"{name} is not there"


# -- tests that no other file has --

@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


def new_job(v1, group, **task):
    answer = v1.ask("POST", "/jobs", {"name": "j", "groupId": int(group), "schedule": {"type": "NONE"},
                                      "task": {"kind": "BEAN", "handler": "demo", **task}})
    assert answer.status == 201, answer.json
    return answer.json["id"]


@pytest.fixture
def trap():
    """A listening port; what connects to it has gone astray."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_run_by_hand_goes_to_no_address_of_the_askers(center, v1, trap):
    port = trap.getsockname()[1]
    job = new_job(v1, center.api().add_group("ssrf-run"))
    for address in (f"http://127.0.0.1:{port}/", f"127.0.0.1:{port}", "http://169.254.169.254/latest/meta-data/",
                    "http://[::ffff:169.254.169.254]/", "file:///etc/passwd"):
        problem(v1.ask("POST", f"/jobs/{job}/trigger", {"addresses": [address]}), 422, "invalid", ("/addresses", "run"))
        with pytest.raises(webapi.ApiError, match="neither registered"):
            center.api().trigger(job, addresses=address)


def test_a_log_is_asked_for_where_the_run_went_and_nowhere_else(center, v1, trap):
    address = f"http://127.0.0.1:{trap.getsockname()[1]}/"
    api = center.api()
    run = v1.ask("POST", f"/jobs/{new_job(v1, api.add_group('ssrf-log'))}/trigger", {}).json["runId"]
    for path in ("/joblog/logDetailCat", "/joblog/logKill"):
        api.raw(path, id=run, logId=run, fromLineNum=1, triggerTime=1, executorAddress=address, address=address)
    problem(v1.ask("GET", f"/runs/{run}/log?address={urllib.parse.quote(address)}"), 400, "malformed")


@pytest.mark.parametrize("key,value", [
    ("ok-app", "<script>alert(1)</script>"), ("ok-app", "javascript:alert(1)"), ("ok-app", "http://"),
    ("ok-app", "http://host:99999/"), ("ok-app", "http://a b/"), ("ok-app", "http://127.0.0.1:1/,http://127.0.0.1:2/"),
    ("<img src=x>", "http://127.0.0.1:1/"), ("", "http://127.0.0.1:1/"), ("x" * 300, "http://127.0.0.1:1/")])
def test_what_registers_is_an_address_and_nothing_else(center, key, value):
    group = center.api()
    reply = center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": key, "registryValue": value})
    if key == "<img src=x>" and reply["code"] == 200:  # an unknown app is kept beside the groups, and shown nowhere
        assert all(row["appname"] != key for row in group.groups())
        return
    assert reply["code"] == 500 and "registry" in reply["msg"]


def test_a_cookie_of_the_original_is_nobody(center):
    """Releases to 3.1 put the user into the cookie, in hex, with the MD5 of the password."""
    user = {"id": 1, "username": "admin", "password": "e10adc3949ba59abbe56e057f20f883e", "role": 1}
    for text in (json.dumps(user), json.dumps({**user, "password": center.password})):
        for name in ("XXL_JOB_LOGIN_IDENTITY", "xxl_job_login_token", "peal_session"):
            cookie = f"{name}={text.encode().hex()}"
            status, _, body = webapi.request(center.port, "GET", "/api/v1/session", None, {"Cookie": cookie})
            assert status == 401, body


def test_no_page_of_another_site_makes_a_user(center):
    cookie = V1(center).headers["Cookie"]
    body = json.dumps({"name": "intruder", "password": "intruder", "center": "admin"}).encode()
    form = urllib.parse.urlencode({"username": "intruder", "password": "intruder", "role": 1}).encode()
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"},
                    {"Referer": "http://evil.example/"}):
        sent = {"Cookie": cookie, **headers}
        assert webapi.request(center.port, "POST", "/api/v1/users", body,
                              {**sent, "Content-Type": "application/json"})[0] == 403
        assert webapi.request(center.port, "POST", "/api/v1/users", body, {**sent, "Content-Type": "text/plain"})[0] \
            in (403, 415)
        reply = webapi.request(center.port, "POST", "/user/insert", form,
                               {**sent, "Content-Type": "application/x-www-form-urlencoded"})
        assert json.loads(reply[2])["code"] in (403, 500)
    with sqlite3.connect(center.data / "peal.db") as db:
        assert not db.execute("SELECT id FROM xxl_job_user WHERE username = 'intruder'").fetchall()


def test_texts_of_users_are_never_html(center, v1):
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    with pytest.raises(webapi.ApiError, match="title"):
        center.api().add_group("xss-group", title="<b>t</b>")
    group = center.api().add_group("xss-group")
    job = new_job(v1, group, param=evil)
    v1.ask("PATCH", f"/jobs/{job}", {"name": evil[:50], "owner": "<i>o</i>"}, If_Match="*")
    for path in (f"/api/v1/jobs/{job}", "/api/v1/groups", f"/api/v1/jobs/{job}/changes", "/jobinfo/pageList?jobGroup=0"
                 "&triggerStatus=-1&start=0&length=9"):
        status, headers, body = webapi.request(center.port, "GET", path, None, {"Cookie": v1.headers["Cookie"]})
        assert status == 200 and "html" not in headers["Content-Type"], path
        assert headers["X-Content-Type-Options"] == "nosniff"
        json.loads(body)


def test_alarm_texts_are_no_templates(tmp_path):
    """What a job is called and says goes into an alarm as it stands."""
    with Center(tmp_path) as center:
        v1 = V1(center)
        evil = "${7*7} {{7*7}} #{7*7} <%= 7*7 %> %s %n"
        job = new_job(v1, center.api().add_group("templates"), param=evil)
        v1.ask("PATCH", f"/jobs/{job}", {"name": evil[:50], "alarmEmails": ["a@b.example"]}, If_Match="*")
        run = v1.ask("POST", f"/jobs/{job}/trigger", {}).json["runId"]
        assert v1.get(f"/jobs/{job}")["name"] == evil[:50]
        assert "49" not in json.dumps(v1.get(f"/runs/{run}")["run"].get("param") or evil)


def test_the_old_binary_protocol_is_not_spoken(center):
    """Releases before 2.2 took serialised Java objects at / and /api."""
    for path in ("/", "/api", "/xxl-job-admin/api", "/run"):
        for body in (b"c\x02\x00m\x00\x08registryt\x00\x1bjava.lang.ProcessBuilder", b"H\x02\x00C\x04beatZ",
                     b"\xac\xed\x00\x05sr\x00\x11java.util.HashMap"):
            status, _, answer = webapi.request(center.port, "POST", path, body, {
                "Content-Type": "application/octet-stream", "XXL-JOB-ACCESS-TOKEN": center.token})
            assert status in (302, 400, 404, 405, 415) or json.loads(answer)["code"] != 200, path
    assert center.running()


OPEN = {("POST", "/session"), ("GET", "/openapi.json")}


def test_nothing_is_open_without_login_but_what_is_named_here(center):
    rows = re.findall(r'^ROUTE\((\w+), *"([^"]+)", *(\w+),', (TESTS.parent / "src/api/v1/routes.def").read_text(), re.M)
    assert {(method, path) for method, path, permission in rows if permission == "PUBLIC"} == OPEN
    for method, path, _ in rows:
        if (method, path) in OPEN:
            continue
        path = "/api/v1" + re.sub(r"\{\w+\}", "1", path)
        kind = {"PATCH": "application/merge-patch+json"}.get(method, "application/json")
        body = b"{}" if method in ("POST", "PUT", "PATCH") else None
        status = webapi.request(center.port, method, path, body, {"Content-Type": kind} if body else {})[0]
        assert status in (400, 401), (method, path, status)
        if status == 400:  # it takes no body at all
            assert webapi.request(center.port, method, path)[0] == 401, (method, path)


def test_who_may_not_write_groups_sends_the_token_nowhere(center):
    """Registered addresses get it; a group of fixed addresses is for those who may write groups."""
    group = center.api().add_group("token-goes")
    make(center, "token-editor", grants=[{"role": "developer", "groups": [int(group)]}])
    editor = V1(center, "token-editor", "token-editor")
    listed = {"addressType": 1, "addressList": "http://127.0.0.1:1/"}
    problem(editor.ask("PATCH", f"/groups/{group}", listed, If_Match="*"), 403, "forbidden")
    problem(editor.ask("POST", "/groups", {"app": "mine", "title": "t"}), 403, "forbidden")
