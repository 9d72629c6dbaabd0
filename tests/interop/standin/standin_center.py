#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NOT the center: a stand-in for it, which checks the interop suite's own programs and nothing else.

    PEAL_BIN=tests/interop/standin/standin_center.py /usr/bin/python3 -m pytest tests/interop

runs the suite with real executors against these few lines, so that one can tell a defect of an executor
program or of a test from one of `peal server`. It knows just what the suite asks for, and nothing about
speed, bad input, time zones or more than one schedule. No test uses it by itself.

STANDIN_DEFECT plants a mistake that the suite must find: `double` sends some firings twice, `lose` drops
some, `late-goodbye` ignores deregistration, `mangle` damages non-ASCII parameters, `forget` drops results.
"""

import datetime
import hashlib
import http.client
import http.server
import json
import os
import signal
import sqlite3
import sys
import threading
import time
import urllib.parse

DEFECT = os.environ.get("STANDIN_DEFECT", "")
HORIZON = 3000
TABLES = """
create table if not exists grp (id integer primary key, appname, title, addressType, addressList);
create table if not exists reg (appname, address, primary key (appname, address));
create table if not exists job (id integer primary key, fields, running, planned);
create table if not exists log (id integer primary key, jobId, jobGroup, triggerTime, moment, state,
  executorAddress, executorHandler, executorParam, executorShardingParam, triggerCode default 0, triggerMsg,
  handleTime, handleCode default 0, handleMsg);
"""
ROW = ("id jobId jobGroup executorAddress executorHandler executorParam executorShardingParam triggerTime "
       "triggerCode triggerMsg handleTime handleCode handleMsg").split()


def now_ms():
    return int(time.time() * 1000)


class Store:
    """One SQLite connection behind one lock; every statement is committed at once."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.lock = threading.RLock()
        self.db = sqlite3.connect(os.path.join(folder, "standin.db"), check_same_thread=False,
                                  isolation_level=None)
        self.db.row_factory = sqlite3.Row
        self.db.execute("pragma journal_mode = wal")
        self.db.execute("pragma synchronous = off")  # survives SIGKILL, which is all that is asked
        self.db.executescript(TABLES)

    def all(self, sql, *args):
        with self.lock:
            return [dict(row) for row in self.db.execute(sql, args)]

    def one(self, sql, *args):
        return next(iter(self.all(sql, *args)), None)

    def put(self, sql, *args):
        with self.lock:
            cursor = self.db.execute(sql, args)
            return cursor.lastrowid, cursor.rowcount


store = None
token = os.environ.get("PEAL_ACCESS_TOKEN", "")
password = os.environ.get("PEAL_ADMIN_PASSWORD", "")


# -- executors --

def call(address, action, body, timeout=10):
    """POST to an executor: the reply's JSON; an array's first element is a refusal."""
    url = urllib.parse.urlsplit(address if "://" in address else "http://" + address)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=timeout)
    try:
        connection.request("POST", url.path.rstrip("/") + "/" + action,
                           json.dumps(body, ensure_ascii=False).encode(),
                           {"Content-Type": "application/json;charset=UTF-8", "XXL-JOB-ACCESS-TOKEN": token})
        reply = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    if isinstance(reply, list):
        return {"code": reply[0]["handleCode"], "msg": reply[0]["handleMsg"]}
    return reply


def idle(address, action, body):
    try:
        return call(address, action, body)["code"] == 200
    except (OSError, ValueError):
        return False


def addresses(group):
    if group["addressType"] == 1:
        return [a for a in group["addressList"].split(",") if a]
    rows = store.all("select address from reg where appname = ?", group["appname"])
    return sorted(row["address"] for row in rows)


def route(strategy, listed, job_id):
    if strategy == "FAILOVER":
        return next((a for a in listed if idle(a, "beat", {})), None)
    if strategy == "BUSYOVER":
        return next((a for a in listed if idle(a, "idleBeat", {"jobId": job_id})), None)
    return listed[0] if listed else None


def send(log_id):
    """Send one planned row. It is marked as sent first: after a crash nobody knows, and nobody resends."""
    log = store.one("select * from log where id = ?", log_id)
    job = json.loads(store.one("select fields from job where id = ?", log["jobId"])["fields"])
    group = store.one("select * from grp where id = ?", log["jobGroup"])
    listed = addresses(group)
    shard, total = 0, 1
    if log["executorShardingParam"]:
        shard, total = map(int, log["executorShardingParam"].split("/"))
        address = listed[shard] if shard < len(listed) else None
    else:
        address = log["executorAddress"] or route(job["executorRouteStrategy"], listed, log["jobId"])
    store.put("update log set state = 'sent', executorAddress = ? where id = ?", address, log_id)
    param = log["executorParam"]
    if DEFECT == "mangle":
        param = param.encode("ascii", "replace").decode()
    body = {"jobId": log["jobId"], "executorHandler": job["executorHandler"], "executorParams": param,
            "executorBlockStrategy": job["executorBlockStrategy"],
            "executorTimeout": int(job["executorTimeout"]), "logId": log_id,
            "logDateTime": log["triggerTime"], "glueType": "BEAN", "glueSource": "", "glueUpdatetime": 0,
            "broadcastIndex": shard, "broadcastTotal": total}
    code, msg = 500, "no address"
    if DEFECT == "lose" and log_id % 7 == 0:
        address = None
    if address:
        for _ in range(2 if DEFECT == "double" and log_id % 7 == 0 else 1):
            try:
                reply = call(address, "run", body)
                code, msg = reply["code"], reply.get("msg")
            except (OSError, ValueError) as error:
                msg = str(error)
    store.put("update log set triggerCode = ?, triggerMsg = ? where id = ?", code, msg, log_id)


def fire(log_id):
    threading.Thread(target=send, args=(log_id,), daemon=True).start()


def add_row(job, fields, moment, param, state="planned", address=None, shard=None):
    return store.put("insert into log (jobId, jobGroup, triggerTime, moment, state, executorAddress, "
                     "executorHandler, executorParam, executorShardingParam) values (?,?,?,?,?,?,?,?,?)",
                     job, fields["jobGroup"], moment // 1000 * 1000, moment, state, address,
                     fields["executorHandler"], param, shard)[0]


def trigger(job_id, param, address):
    fields = json.loads(store.one("select fields from job where id = ?", job_id)["fields"])
    shards = [None]
    if fields["executorRouteStrategy"] == "SHARDING_BROADCAST":
        count = len(addresses(store.one("select * from grp where id = ?", fields["jobGroup"])))
        shards = [f"{i}/{count}" for i in range(count)]
    for shard in shards:
        fire(add_row(job_id, fields, now_ms(), param, "firing", address or None, shard))


def plan_and_fire():
    """Every job that runs fires each full second. Rows are planned ahead and survive a crash."""
    while True:
        now = now_ms()
        with store.lock:
            for job in store.all("select * from job where running = 1"):
                fields = json.loads(job["fields"])
                moment = max(job["planned"], now // 1000 * 1000 - HORIZON) + 1000
                while moment <= now + HORIZON:
                    add_row(job["id"], fields, moment, fields["executorParam"])
                    store.put("update job set planned = ? where id = ?", moment, job["id"])
                    moment += 1000
            due = store.all("select id from log where state = 'planned' and moment <= ?", now)
            store.put("update log set state = 'firing' where state = 'planned' and moment <= ?", now)
        for row in due:
            fire(row["id"])
        time.sleep(0.02)


# -- the executors' API --

def open_api(action, body):
    if action == "registry":
        store.put("insert or ignore into reg values (?, ?)", body["registryKey"], body["registryValue"])
    elif action == "registryRemove" and DEFECT != "late-goodbye":
        store.put("delete from reg where appname = ? and address = ?", body["registryKey"],
                  body["registryValue"])
    elif action == "callback":
        for item in body:
            old = item.get("executeResult") or {}
            code = item.get("handleCode") or old.get("code")
            if DEFECT == "forget" and int(item["logId"]) % 7 == 0:
                continue
            store.put("update log set handleCode = ?, handleMsg = ?, handleTime = ? where id = ? and "
                      "handleCode = 0", code, item.get("handleMsg", old.get("msg")) or "", now_ms(),
                      int(item["logId"]))
    return None


# -- the web API --

def text_of(ms):
    if ms is None:
        return None
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def log_row(row):
    shown = {key: row[key] for key in ROW}
    return {**shown, "triggerTime": text_of(row["triggerTime"]), "handleTime": text_of(row["handleTime"])}


def group_row(row):
    return {**row, "registryList": addresses(row) or None}


def job_id(form):
    return int(form.get("id") or form.get("ids[]"))


def set_running(form, running):
    start = now_ms() // 1000 * 1000
    store.put("update job set running = ?, planned = ? where id = ?", running, start, job_id(form))
    if not running:
        store.put("delete from log where jobId = ? and state = 'planned'", job_id(form))


def log_detail(form):
    log = store.one("select * from log where id = ?", int(form["logId"]))
    line = int(form["fromLineNum"])
    reply = call(log["executorAddress"], "log",
                 {"logDateTim": log["triggerTime"], "logId": log["id"], "fromLineNum": line})
    if reply["code"] != 200:
        raise ValueError(reply["msg"])
    found = reply.get("data") or reply.get("content")
    end = found.get("isEnd", False) or (line > found["toLineNum"] and log["handleCode"] > 0)
    return {"fromLineNum": line, "toLineNum": found["toLineNum"], "logContent": found["logContent"], "end": end}


def log_kill(form):
    log = store.one("select * from log where id = ?", int(form["id"]))
    reply = call(log["executorAddress"], "kill", {"jobId": log["jobId"]})
    if reply["code"] != 200:
        raise ValueError(reply["msg"])
    store.put("update log set handleCode = 500, handleMsg = 'killed', handleTime = ? where id = ? and "
              "handleCode = 0", now_ms(), log["id"])


def page(form, rows):
    start = int(form.get("start") or form.get("offset") or 0)
    shown = rows[start:start + int(form.get("length") or form.get("pagesize"))]
    if "pagesize" in form:
        return {"data": shown, "total": len(rows)}
    return {"raw": {"recordsTotal": len(rows), "recordsFiltered": len(rows), "data": shown}}


def add_job(form):
    return str(store.put("insert into job (fields, running, planned) values (?, 0, 0)", json.dumps(form))[0])


def add_group(form):
    store.put("insert into grp (appname, title, addressType, addressList) values (?,?,?,?)", form["appname"],
              form["title"], int(form["addressType"]), form["addressList"])


ROUTES = {
    "/jobgroup/save": add_group,
    "/jobgroup/insert": add_group,
    "/jobgroup/pageList": lambda f: page(f, [group_row(g) for g in store.all("select * from grp")]),
    "/jobinfo/add": add_job,
    "/jobinfo/insert": add_job,
    "/jobinfo/remove": lambda f: None,
    "/jobinfo/delete": lambda f: None,
    "/jobinfo/start": lambda f: set_running(f, 1),
    "/jobinfo/stop": lambda f: set_running(f, 0),
    "/jobinfo/trigger": lambda f: trigger(job_id(f), f.get("executorParam", ""), f.get("addressList")),
    "/joblog/pageList": lambda f: page(f, [log_row(r) for r in store.all(
        "select * from log where jobId = ? order by id desc", int(f["jobId"]))]),
    "/joblog/logDetailCat": log_detail,
    "/joblog/logKill": log_kill,
}
SESSION = hashlib.sha256(password.encode()).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, body, kind="application/json", cookie=None):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        if cookie:
            self.send_header("Set-Cookie", f"{cookie}={SESSION}; Path=/; HttpOnly")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply("peal_firings_unaccounted 0\n" if self.path == "/metrics" else "ok\n", "text/plain")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path.replace("/xxl-job-admin", "", 1)
        try:
            found = self.answer(path, body)
        except Exception as error:  # a stand-in says what went wrong and goes on
            found = {"code": 500, "msg": f"{type(error).__name__}: {error}"}
        cookie = {"/login": "XXL_JOB_LOGIN_IDENTITY", "/auth/doLogin": "xxl_job_login_token"}.get(path)
        self.reply(found, cookie=cookie)

    def answer(self, path, body):
        if path.startswith("/api/"):
            if self.headers.get("XXL-JOB-ACCESS-TOKEN") != token:
                return {"code": 500, "msg": "The access token is wrong."}
            found = open_api(path[len("/api/"):], json.loads(body))
        else:
            form = dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
            if path in ("/login", "/auth/doLogin"):
                found = None
                if (form["userName"], form["password"]) != ("admin", password):
                    raise ValueError("wrong password")
            elif SESSION not in (self.headers.get("Cookie") or ""):
                raise ValueError("not logged in")
            else:
                found = ROUTES[path](form)
        if isinstance(found, dict) and "raw" in found:
            return found["raw"]
        return {"code": 200, "msg": None, "content": found, "data": found}


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


def main(args):
    global store
    assert args[0] == "server", "only the command `server` is here"
    options = dict(zip(args[1::2], args[2::2]))
    host, port = options["--listen"].rsplit(":", 1)
    store = Store(options["--data"])
    server = Server((host, int(port)), Handler)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    threading.Thread(target=plan_and_fire, daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
