# SPDX-License-Identifier: Apache-2.0
"""A client for XXL-JOB's web API, as scripts in the wild use it, in both generations:

"2.x"  /login, /jobinfo/add, /jobinfo/remove id, lists by start and length without an envelope
"3.3"  /auth/doLogin, /jobinfo/insert, /jobinfo/delete ids[], lists by offset and pagesize inside one
"""

import datetime
import http.client
import json
import urllib.parse

from .wait import PATIENCE

GENERATIONS = ("2.x", "3.3")
PAGE = 100


class ApiError(Exception):
    """The center answered with a code other than 200."""

    def __init__(self, path, reply):
        super().__init__(f"{path}: {reply.get('code')} {reply.get('msg')}")
        self.code = reply.get("code")
        self.msg = reply.get("msg")


def request(port, method, path, body=None, headers=None, timeout=15 * PATIENCE):
    """One HTTP request on a connection of its own: (status, headers, body bytes)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read()
    finally:
        connection.close()


def epoch_ms(value):
    """A date as any generation writes it (the center runs in UTC), in epoch milliseconds or None."""
    if value is None or isinstance(value, (int, float)):
        return value
    text = value.replace(" ", "T").replace("Z", "+00:00")
    if len(text) > 5 and text[-5] in "+-" and text[-3] != ":":
        text = text[:-2] + ":" + text[-2:]
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.timezone.utc)
    return round(moment.timestamp() * 1000)


def finished(row):
    """Nothing more is to come for a log row: refused, or accepted and reported. The report of a short run
    can be there before the executor's answer to the send, which is still to come then."""
    return row["triggerCode"] != 0 and (row["triggerCode"] != 200 or row["handleCode"] != 0)


class WebApi:
    """One logged-in user. prefix is the context path: "" or "/xxl-job-admin", both are served."""

    def __init__(self, port, generation, user, password, prefix=""):
        assert generation in GENERATIONS
        self.port = port
        self.generation = generation
        self.prefix = prefix
        self.cookie = None
        self._login(user, password)

    # -- the conventions of a generation --

    def _new(self):
        return self.generation == "3.3"

    def _login(self, user, password):
        path = "/auth/doLogin" if self._new() else "/login"
        name = "xxl_job_login_token" if self._new() else "XXL_JOB_LOGIN_IDENTITY"
        status, headers, body = self._post(path, {"userName": user, "password": password})
        reply = json.loads(body)
        if status != 200 or reply.get("code") != 200:
            raise ApiError(path, reply)
        cookies = headers.get_all("Set-Cookie") or []
        assert len(cookies) == 1, f"{path} sets exactly one cookie, not {cookies}"
        assert cookies[0].startswith(name + "="), f"{path} sets {name}, not {cookies[0]}"
        self.cookie = cookies[0].split(";")[0]

    def _post(self, path, form):
        headers = {"Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"}
        if self.cookie:
            headers["Cookie"] = self.cookie
        body = urllib.parse.urlencode(form).encode()
        return request(self.port, "POST", self.prefix + path, body, headers)

    def raw(self, path, **form):
        """The reply's JSON as it is. The form's None values are left out."""
        given = {key: value for key, value in form.items() if value is not None}
        status, _, body = self._post(path, given)
        assert status == 200, f"{path}: HTTP {status} {body[:200]!r}"
        return json.loads(body)

    def call(self, path, **form):
        """The payload of an enveloped reply; ApiError unless its code is 200."""
        reply = self.raw(path, **form)
        if reply.get("code") != 200:
            raise ApiError(path, reply)
        return reply.get("data" if self._new() else "content")

    def by_id(self, path, number):
        """An action on one row, by id or by ids[]."""
        return self.call(path, **({"ids[]": number} if self._new() else {"id": number}))

    def pages(self, path, **form):
        """All rows of a list, page by page."""
        rows = []
        while True:
            if self._new():
                page = self.call(path, offset=len(rows), pagesize=PAGE, **form)
                total = page["total"]
            else:
                page = self.raw(path, start=len(rows), length=PAGE, **form)
                assert "data" in page, f"{path}: {page}"
                total = page["recordsTotal"]
            rows += page["data"]
            if not page["data"] or len(rows) >= total:
                return rows

    # -- groups --

    def groups(self, appname=""):
        return [g for g in self.pages("/jobgroup/pageList", appname=appname, title="")
                if not appname or g["appname"] == appname]

    def add_group(self, appname, title="made by a test", addresses=None):
        """A new group's id: filled by registration, or with a fixed list of addresses."""
        self.call("/jobgroup/insert" if self._new() else "/jobgroup/save", appname=appname, title=title,
                  addressType=1 if addresses else 0, addressList=",".join(addresses or []))
        return self.groups(appname)[0]["id"]

    def addresses(self, appname):
        """The addresses that a group has now."""
        group = self.groups(appname)[0]
        return group.get("registryList") or [a for a in (group.get("addressList") or "").split(",") if a]

    # -- jobs --

    def add_job(self, group, handler, **fields):
        """A new job's id. Fields not named get the values that the console's form would have."""
        form = {
            "jobGroup": group, "jobDesc": handler, "author": "tests", "alarmEmail": "",
            "scheduleType": "NONE", "scheduleConf": "", "misfireStrategy": "DO_NOTHING",
            "executorRouteStrategy": "FIRST", "executorHandler": handler, "executorParam": "",
            "executorBlockStrategy": "SERIAL_EXECUTION", "executorTimeout": 0,
            "executorFailRetryCount": 0, "glueType": "BEAN", "glueSource": "",
            "glueRemark": "initial", "childJobId": "",
        }
        form.update(fields)
        return int(self.call("/jobinfo/insert" if self._new() else "/jobinfo/add", **form))

    def delete_job(self, job):
        self.by_id("/jobinfo/delete" if self._new() else "/jobinfo/remove", job)

    def start_job(self, job):
        self.by_id("/jobinfo/start", job)

    def stop_job(self, job):
        self.by_id("/jobinfo/stop", job)

    def trigger(self, job, param="", addresses=""):
        """Run a job now. The answer does not carry the log id: see new_log()."""
        self.call("/jobinfo/trigger", id=job, executorParam=param, addressList=addresses)

    # -- logs --

    def logs(self, job, group=0):
        """All rows of a job, oldest first, with the dates in epoch milliseconds."""
        rows = self.pages("/joblog/pageList", jobGroup=group, jobId=job, logStatus=-1, filterTime="")
        for row in rows:
            row["triggerTime"] = epoch_ms(row.get("triggerTime"))
            row["handleTime"] = epoch_ms(row.get("handleTime"))
        return sorted(rows, key=lambda row: row["id"])

    def log_detail(self, log_id, from_line=1):
        return self.call("/joblog/logDetailCat", logId=log_id, fromLineNum=from_line)

    def log_kill(self, log_id):
        return self.call("/joblog/logKill", id=log_id)
