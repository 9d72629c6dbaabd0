# SPDX-License-Identifier: Apache-2.0
"""NOT executors: a process that plays many of them, one port each, with as little work as possible, and writes down
what came and what was acknowledged. Nobody kills it, so its records are what the nodes are judged by.

    fleet.py --admins URL,URL --token T --records FILE --app NAME:COUNT[:stock] ...

An executor remembers log ids (a run that comes again is answered `repeate trigger job` and not begun) and says so
when it registers; a `stock` one does neither. Results go to the first server of the executor's list that takes them;
lists begin at different servers. The parameter of a run may be `fail`: then its first attempt fails; or `slow`: then
it lasts up to 3 s, in place of some ms.

Lines of FILE, fields separated by tabs; times are epoch ms:

    run      at  log id  job  scheduled time  attempt  shard index  shards  parameter  app  begun (1; 0: a twin)
    result   at  log id  code  number of the server that acknowledged it
    ended    at  log id                        its work is done here
"""

import argparse
import asyncio
import collections
import contextlib
import json
import random
import sys
import time

OK = b'{"code":200,"msg":null,"content":null}'
BUSY = b'{"code":500,"msg":"job thread is running or has trigger queue."}'
TWIN = b'{"code":500,"msg":"repeate trigger job, logId:%d"}'
BEAT_S = 10
CALL_S = 4   # an answer to a callback that takes longer is not waited for
AGAIN_S = 0.5
BATCH = 100


def now_ms():
    return int(time.time() * 1000)


class Records:
    def __init__(self, path):
        self.file = open(path, "w")

    def write(self, *fields):
        self.file.write("\t".join(map(str, fields)) + "\n")

    async def flush(self):
        while True:
            await asyncio.sleep(0.2)
            self.file.flush()


class Poster:
    """Callbacks of the executors whose list begins at one server: one request at a time, over a connection that
    stays."""

    def __init__(self, fleet, first):
        self.fleet, self.order = fleet, fleet.admins[first:] + fleet.admins[:first]
        self.waiting = collections.deque()
        self.wake = asyncio.Event()
        self.links = {}

    def put(self, result):
        self.waiting.append(result)
        self.wake.set()

    async def work(self):
        while True:
            await self.wake.wait()
            self.wake.clear()
            while self.waiting:
                batch = [self.waiting.popleft() for _ in range(min(BATCH, len(self.waiting)))]
                while not (admin := await self._any(batch)):
                    await asyncio.sleep(AGAIN_S)
                for result in batch:
                    self.fleet.records.write("result", now_ms(), result["logId"], result["handleCode"], admin)

    async def _any(self, batch):
        """The server that acknowledged it; None: none did."""
        for admin in self.order:
            if await self.post(admin, "callback", batch):
                return admin
        return None

    async def post(self, admin, action, body, extra=""):
        with contextlib.suppress(OSError, asyncio.TimeoutError, asyncio.IncompleteReadError, ValueError):
            async with asyncio.timeout(CALL_S):
                return await self._post(admin, action, json.dumps(body).encode(), extra)
        if admin in self.links:
            self.links.pop(admin)[1].transport.abort()
        return False

    async def _post(self, admin, action, body, extra):
        if admin not in self.links:
            self.links[admin] = await asyncio.open_connection("127.0.0.1", admin)
        reader, writer = self.links[admin]
        writer.write(f"POST /api/{action} HTTP/1.1\r\nHost: peal\r\nContent-Type: application/json\r\n"
                     f"XXL-JOB-ACCESS-TOKEN: {self.fleet.token}\r\n{extra}Content-Length: {len(body)}\r\n\r\n".encode() +
                     body)
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        return json.loads(await reader.readexactly(length))["code"] == 200


class Executor:
    def __init__(self, fleet, app, stock, poster):
        self.fleet, self.app, self.stock, self.poster = fleet, app, stock, poster
        self.begun, self.done = {}, set()  # log ids
        self.open = collections.Counter()  # job: runs at work

    async def listen(self):
        server = await asyncio.get_running_loop().create_server(lambda: Connection(self), "127.0.0.1", 0, backlog=512)
        self.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"

    async def beat(self):
        body = {"registryGroup": "EXECUTOR", "registryKey": self.app, "registryValue": self.address}
        extra = "" if self.stock else "Peal-Executor: 1\r\n"
        links = Poster(self.fleet, random.randrange(len(self.fleet.admins)))
        while True:
            for admin in links.order:
                if await links.post(admin, "registry", body, extra):
                    await asyncio.sleep(BEAT_S)
                    break
            else:
                await asyncio.sleep(AGAIN_S)

    def answer(self, action, headers, body):
        if action == "run":
            return self._run(body, headers)
        if action == "log":
            return self._log(body["logId"])
        if action == "idleBeat":
            return BUSY if self.open[body["jobId"]] else OK
        return OK

    def _log(self, log):
        text = "job execute start\n" * (log in self.begun) + "job execute end(finish)\n" * (log in self.done)
        page = {"fromLineNum": 1, "toLineNum": text.count("\n"), "logContent": text, "isEnd": not text}
        return json.dumps({"code": 200, "msg": None, "content": page, "data": page}).encode()

    def _run(self, body, headers):
        log, job, attempt = body["logId"], body["jobId"], int(headers.get(b"peal-attempt", 0))
        twin = log in self.begun and not self.stock
        self.fleet.records.write("run", now_ms(), log, job, headers.get(b"peal-moment", b"0").decode(), attempt,
                                 body["broadcastIndex"], body["broadcastTotal"], body["executorParams"] or "", self.app,
                                 int(not twin))
        if twin:
            return TWIN % log
        self.begun[log] = body
        self.open[job] += 1
        takes = random.uniform(0.1, 3) if body["executorParams"] == "slow" else random.uniform(0.001, 0.02)
        code = 500 if body["executorParams"] == "fail" and attempt == 0 else 200
        asyncio.get_running_loop().call_later(takes, self._end, body, code)
        return OK

    def _end(self, body, code):
        self.open[body["jobId"]] -= 1
        self.done.add(body["logId"])
        self.fleet.records.write("ended", now_ms(), body["logId"])
        self.poster.put({"logId": body["logId"], "logDateTim": body["logDateTime"], "handleCode": code,
                         "handleMsg": f"done {body['logId']}"})


class Connection(asyncio.Protocol):
    """A center's: requests one after the other, answered at once."""

    def __init__(self, executor):
        self.executor, self.got = executor, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.got += data
        while (end := self.got.find(b"\r\n\r\n")) >= 0:
            lines = self.got[:end].split(b"\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines[1:])}
            size = int(headers.get(b"content-length", 0))
            if len(self.got) < end + 4 + size:
                return
            body, self.got = self.got[end + 4:end + 4 + size], self.got[end + 4 + size:]
            action = lines[0].split(b" ")[1].decode().strip("/")
            reply = self.executor.answer(action, headers, json.loads(body or b"{}"))
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" %
                                 len(reply) + reply)


class Fleet:
    def __init__(self, args):
        self.admins = [int(url.rsplit(":", 1)[1]) for url in args.admins.split(",")]
        self.token, self.records = args.token, Records(args.records)
        self.apps = [part.split(":") for part in args.app]

    async def main(self):
        posters = [Poster(self, first) for first in range(len(self.admins))]
        executors = [Executor(self, app, bool(stock), posters[i % len(posters)])
                     for app, count, *stock in self.apps for i in range(int(count))]
        for executor in executors:
            await executor.listen()
        print("ready", flush=True)
        end = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(end), sys.stdin)
        tasks = [asyncio.create_task(work) for work in
                 (self.records.flush(), *(p.work() for p in posters), *(e.beat() for e in executors))]
        await end.read()  # the script ends it by closing this
        for task in tasks:
            task.cancel()
        self.records.file.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--admins", required=True)
    parser.add_argument("--token", required=True)
    parser.add_argument("--records", required=True)
    parser.add_argument("--app", action="append", required=True)
    asyncio.run(Fleet(parser.parse_args()).main())
