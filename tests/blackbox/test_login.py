# SPDX-License-Identifier: Apache-2.0
"""Who may ask: the first user, sessions and cookies of both generations, guessing, other sites."""

import re
import sqlite3
import urllib.parse

import pytest
from support import webapi
from support.center import Center

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
LOGIN = {"2.x": "/login", "3.3": "/auth/doLogin"}
LOGOUT = {"2.x": "/logout", "3.3": "/auth/logout"}
COOKIE = {"2.x": "XXL_JOB_LOGIN_IDENTITY", "3.3": "xxl_job_login_token"}


def post(center, path, cookie=None, headers=None, **form):
    sent = dict(FORM, **(headers or {}))
    if cookie:
        sent["Cookie"] = cookie
    return webapi.request(center.port, "POST", path, urllib.parse.urlencode(form).encode(), sent)


def code(reply):
    return webapi.json.loads(reply[2])["code"]


def msg(reply):
    return webapi.json.loads(reply[2])["msg"]


def login(center, generation, **more):
    form = {"userName": "admin", "password": center.password, **more}
    return post(center, LOGIN[generation], **form)


def is_logged_in(center, cookie):
    return code(post(center, "/jobinfo/pageList", cookie, pagesize=1, jobGroup=0, triggerStatus=-1)) == 200


@pytest.mark.parametrize("generation", ["2.x", "3.3"])
@pytest.mark.parametrize("prefix", ["", "/xxl-job-admin", "//"])
def test_login_sets_one_cookie_that_scripts_can_send_back_whole(center, generation, prefix):
    status, headers, body = post(center, prefix.rstrip("/") + LOGIN[generation], userName="admin",
                                 password=center.password)
    reply = webapi.json.loads(body)
    assert (status, reply["code"]) == (200, 200)
    assert set(reply) >= {"code", "msg", "content", "data"}
    cookies = headers.get_all("Set-Cookie")
    assert len(cookies) == 1
    match = re.fullmatch(rf"{COOKIE[generation]}=([\w-]{{43}}); Path=/; HttpOnly; SameSite=Strict", cookies[0])
    assert match, cookies
    assert is_logged_in(center, cookies[0])
    for name in COOKIE.values():  # either name is accepted everywhere
        assert is_logged_in(center, f"{name}={match[1]}")


def test_a_remembered_login_has_an_age(center):
    _, headers, _ = login(center, "3.3", ifRemember="on")
    assert "; Max-Age=2592000" in headers["Set-Cookie"]


@pytest.mark.parametrize("generation", ["2.x", "3.3"])
def test_logout_ends_the_session_not_only_the_cookie(center, generation):
    cookie = login(center, generation)[1]["Set-Cookie"].split(";")[0]
    assert is_logged_in(center, cookie)
    status, headers, _ = post(center, LOGOUT[generation], cookie)
    assert status == 200 and headers["Set-Cookie"].startswith(f"{COOKIE[generation]}=;")
    assert "Max-Age=0" in headers["Set-Cookie"]
    assert not is_logged_in(center, cookie)


def test_wrong_name_and_wrong_password_get_the_same_answer(center):
    a = post(center, "/login", userName="admin", password="wrong password")
    b = post(center, "/login", userName="nobody", password="wrong password")
    assert code(a) == code(b) == 500
    assert msg(a) == msg(b)
    assert "Set-Cookie" not in a[1]


def test_a_name_in_another_case_is_the_users_if_it_is_one(tmp_path):
    """As MySQL's collation had it. Guesses by all spellings count together."""
    with Center(tmp_path) as center:
        assert code(login(center, "2.x", userName="ADMIN")) == code(login(center, "2.x", userName="Admin")) == 200
        assert code(login(center, "2.x", userName="Admi")) == 500
        center.stop()
        with sqlite3.connect(center.data / "peal.db") as db:
            db.executemany("INSERT INTO xxl_job_user (username, password, role, permission) VALUES "
                           "(?, 'e10adc3949ba59abbe56e057f20f883e', 0, '')", [("Bob",), ("bob",)])
        center.start()
        assert code(login(center, "2.x", userName="bob", password="123456")) == 200
        assert code(login(center, "2.x", userName="BOB", password="123456")) == 500, "which of them?"
        for name in ("admin", "Admin", "aDmin", "adMin", "admIn", "admiN", "ADMIN"):
            last = post(center, "/login", userName=name, password="guess")
        assert "too many failed logins" in msg(last)


def test_empty_fields_are_named(center):
    assert "userName, password" in msg(post(center, "/login", userName="", password="x"))
    assert "userName, password" in msg(post(center, "/login"))


def test_guessing_is_slowed_down_for_this_name_only(tmp_path):
    with Center(tmp_path) as center:
        for _ in range(7):
            last = post(center, "/login", userName="eve", password="guess")
        assert "too many failed logins" in msg(last)
        assert code(login(center, "2.x")) == 200


def test_login_is_post_only(center):
    for path in [*LOGIN.values(), *LOGOUT.values()]:
        status, headers, _ = webapi.request(center.port, "GET", path + "?userName=admin&password=x")
        assert status == 405 and headers["Allow"] == "POST"


def test_without_login_scripts_of_2_are_sent_away_and_those_of_3_are_told(center):
    status, headers, _ = post(center, "/xxl-job-admin/jobinfo/add", jobGroup=1)
    assert (status, headers["Location"]) == (302, "/xxl-job-admin/toLogin")
    status, headers, _ = post(center, "/jobinfo/pageList", start=0, length=1)
    assert (status, headers["Location"]) == (302, "/toLogin")
    for path, cookie, form in [("/jobinfo/insert", None, {}), ("/jobinfo/pageList", None, {"offset": 0}),
                               ("/jobinfo/start", None, {"ids[]": 1}),
                               ("/jobinfo/start", "xxl_job_login_token=gone", {"id": 1})]:
        reply = post(center, path, cookie, **form)
        assert (reply[0], code(reply)) == (200, 500)
        assert msg(reply) == f"not login for path: {path}"
        assert ("Set-Cookie" in reply[1]) == bool(cookie)


def test_a_session_in_the_database_is_no_cookie(center):
    cookie = login(center, "3.3")[1]["Set-Cookie"].split(";")[0]
    token = cookie.split("=")[1]
    with sqlite3.connect(center.data / "peal.db") as db:
        stored = [row[0] for row in db.execute("SELECT * FROM peal_session")]
        assert stored and token not in str(list(db.execute("SELECT * FROM peal_session")))
    for value in stored:
        assert not is_logged_in(center, f"xxl_job_login_token={value}")


def test_sessions_and_users_outlive_a_restart(tmp_path):
    with Center(tmp_path) as center:
        cookie = login(center, "3.3")[1]["Set-Cookie"].split(";")[0]
        center.restart()
        assert is_logged_in(center, cookie)
        assert code(login(center, "2.x")) == 200
        assert "admin.password is ignored" in center.tail()
        assert center.password not in center.output.read_text()


def test_a_random_password_is_printed_once(tmp_path):
    with Center(tmp_path, password="") as center:
        printed = re.search(r"password  (\S+)", center.output.read_text())
        assert 4 <= len(printed[1]) <= 20
        assert code(post(center, "/login", userName="admin", password=printed[1])) == 200
        center.restart()
        assert center.output.read_text().count(printed[1]) == 1


def test_hashes_of_the_original_log_in_and_are_upgraded(tmp_path):
    """Users as an XXL-JOB database has them, of before and after 3.2."""
    with Center(tmp_path) as center:
        center.stop()
        rows = [("old", "e10adc3949ba59abbe56e057f20f883e"),
                ("new", "8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92")]
        with sqlite3.connect(center.data / "peal.db") as db:
            for name, column in rows:
                db.execute("INSERT INTO xxl_job_user (username, password, role, permission) VALUES (?, ?, 0, '1')",
                           (name, column))
        center.start()
        for name, column in rows:
            assert code(post(center, "/login", userName=name, password="654321")) == 500
            assert code(post(center, "/login", userName=name, password="123456")) == 200
            with sqlite3.connect(center.data / "peal.db") as db:
                ours = db.execute("SELECT u.argon2, x.password FROM xxl_job_user x JOIN peal_user u "
                                  "ON u.user_id = x.id WHERE x.username = ?", (name,)).fetchone()
            assert ours[0].startswith("$argon2id$")
            assert ours[1] == column  # a shared column is never rewritten
            assert code(post(center, "/login", userName=name, password="123456")) == 200


def test_a_user_without_role_works_on_permitted_groups_only(tmp_path):
    with Center(tmp_path) as center:
        admin = center.api()
        mine, other = admin.add_group("group-mine"), admin.add_group("group-other")
        job = admin.add_job(other, "h")
        center.stop()
        with sqlite3.connect(center.data / "peal.db") as db:
            db.execute("INSERT INTO xxl_job_user (username, password, role, permission) VALUES "
                       "('bob', 'e10adc3949ba59abbe56e057f20f883e', 0, ?)", (str(mine),))
        center.start()
        bob = webapi.WebApi(center.port, "3.3", "bob", "123456")
        own = bob.add_job(mine, "h")
        bob.call("/jobinfo/update", id=own, jobDesc="changed")
        bob.trigger(own)
        assert bob.call("/jobgroup/loadById", id=mine)["appname"] == "group-mine"
        refused = [("/jobgroup/pageList", {}), ("/jobgroup/insert", {"appname": "abcd", "title": "t"}),
                   ("/jobgroup/delete", {"ids[]": mine}), ("/jobinfo/pageList", {"jobGroup": other}),
                   ("/jobinfo/pageList", {"jobGroup": 0}), ("/joblog/pageList", {"jobGroup": 0}),
                   ("/jobinfo/insert", {"jobGroup": other}), ("/jobinfo/update", {"id": job}),
                   ("/jobinfo/update", {"id": own, "jobGroup": other}), ("/jobinfo/start", {"id": job}),
                   ("/jobinfo/trigger", {"id": job}), ("/jobinfo/delete", {"ids[]": job})]
        for path, form in refused:
            assert bob.raw(path, **form)["msg"] == "permission limit", path
        bob.delete_job(own)


@pytest.mark.parametrize("headers", [
    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"},
    {"Origin": "null"}, {"Origin": "http://127.0.0.1"}])
def test_pages_of_other_sites_cannot_change_anything(center, headers):
    cookie = login(center, "3.3")[1]["Set-Cookie"].split(";")[0]
    for path, form in [("/jobgroup/insert", {"appname": "evil", "title": "t"}), ("/auth/logout", {}),
                       ("/login", {"userName": "admin", "password": center.password})]:
        reply = post(center, path, cookie, headers, **form)
        assert (reply[0], code(reply)) == (403, 403)
    assert center.api().groups("evil") == []


@pytest.mark.parametrize("headers", [
    {"Referer": "http://evil.example/page?at=127.0.0.1"}, {"Referer": "http://127.0.0.1/other-port"},
    {"Referer": "http://{host}.evil.example/"}, {"Referer": "http://evil.example/http://{host}/"},
    {"Referer": "about:blank"}, {"Origin": "http://evil.example", "Referer": "http://{host}/"}])
def test_a_referer_of_another_site_changes_nothing(center, headers):
    """Over plain http a browser sends neither Sec-Fetch-Site nor, with some requests, Origin."""
    cookie = login(center, "3.3")[1]["Set-Cookie"].split(";")[0]
    sent = {name: value.format(host=f"127.0.0.1:{center.port}") for name, value in headers.items()}
    reply = post(center, "/jobgroup/insert", cookie, sent, appname="evil", title="t")
    assert (reply[0], code(reply)) == (403, 403) and "cross-site request refused" in msg(reply)
    assert center.api().groups("evil") == []


@pytest.mark.parametrize("headers", [
    {}, {"Sec-Fetch-Site": "same-origin", "Origin": "http://{host}"}, {"Origin": "http://{host}"},
    {"Referer": "http://{host}/xxl-job-admin/jobinfo?jobGroup=1"}, {"Referer": ""},
    {"Host": "peal.example", "Origin": "https://peal.example"},  # a proxy that speaks TLS and keeps the Host
    {"Host": "peal.example:443", "Origin": "https://Peal.Example"},
    {"Host": "peal.example:8443", "Origin": "https://peal.example:8443", "Referer": "https://peal.example:8443/x"}])
def test_own_pages_and_scripts_can_change_things(center, headers):
    cookie = login(center, "3.3")[1]["Set-Cookie"].split(";")[0]
    sent = {name: value.format(host=f"127.0.0.1:{center.port}") for name, value in headers.items()}
    reply = post(center, "/jobinfo/start", cookie, sent, id=99999)
    assert (reply[0], code(reply)) == (200, 500) and "99999" in msg(reply)  # it came to the job


CHANGES = ["/jobgroup/save", "/jobgroup/insert", "/jobgroup/update", "/jobgroup/remove", "/jobgroup/delete",
           "/jobinfo/add", "/jobinfo/insert", "/jobinfo/update", "/jobinfo/remove", "/jobinfo/delete",
           "/jobinfo/start", "/jobinfo/stop", "/jobinfo/trigger", "/joblog/logKill"]


def test_a_link_changes_nothing(center):
    """A navigation from another site over plain http: GET, the cookie, and no header that says where from."""
    api = center.api()
    group = api.add_group("linked-group")
    job = api.add_job(group, "h")
    before = api.groups(), api.pages("/jobinfo/pageList", jobGroup=0, triggerStatus=-1)
    fields = {"appname": "evil-group", "title": "t", "addressType": 0, "jobGroup": group, "jobDesc": "evil", "id": job,
              "scheduleType": "NONE", "glueType": "BEAN", "executorHandler": "h", "executorRouteStrategy": "FIRST",
              "executorBlockStrategy": "SERIAL_EXECUTION"}
    for prefix in ("", "/xxl-job-admin"):
        for path in CHANGES:
            for method in ("GET", "HEAD"):
                status, headers, body = webapi.request(center.port, method,
                                                       f"{prefix}{path}?{urllib.parse.urlencode(fields)}",
                                                       headers={"Cookie": api.cookie})
                assert (status, headers["Allow"]) == (405, "POST"), path
                assert method == "HEAD" or "POST" in webapi.json.loads(body)["msg"]
    after = api.groups(), api.pages("/jobinfo/pageList", jobGroup=0, triggerStatus=-1)
    assert after == before
    api.delete_job(job)


def test_get_may_change_things_where_the_settings_say_so(tmp_path):
    with Center(tmp_path, args=["--compat.get-changes"]) as center:
        api = center.api()
        job = api.add_job(api.add_group("get-group"), "h", scheduleType="FIX_RATE", scheduleConf="3600")

        def get(method="GET", path="/jobinfo/start", **headers):
            return webapi.request(center.port, method, f"{path}?id={job}", headers={"Cookie": api.cookie, **headers})
        for foreign in ({"Referer": "http://evil.example/"}, {"Sec-Fetch-Site": "cross-site"}):
            assert get(**foreign)[0] == 403
        assert get("HEAD")[0] == 405
        assert get(path="/logout")[0] == 405
        rows = api.pages("/jobinfo/pageList", jobGroup=0, triggerStatus=-1)
        assert [row["triggerStatus"] for row in rows] == [0]
        status, _, body = get()
        assert (status, webapi.json.loads(body)["code"]) == (200, 200)
        rows = api.pages("/jobinfo/pageList", jobGroup=0, triggerStatus=-1)
        assert [row["triggerStatus"] for row in rows] == [1]
