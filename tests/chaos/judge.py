# SPDX-License-Identifier: Apache-2.0
"""What make chaos judges by: the records of the executors and the rows of the tables. No node is asked."""

import collections
import dataclasses
import statistics

OPEN = "(1, 2, 3, 4)"
ENDS = "finished + rejected + lost + skipped + withdrawn - found"


@dataclasses.dataclass
class Row:
    id: int
    job: int
    moment: int
    trigger_code: int
    handle_code: int
    text: str

    def __str__(self):
        return (f"run {self.id} of job {self.job} at {self.moment}: {self.trigger_code} {self.handle_code} "
                f"{self.text[:200]}")


class Records:
    """Of the fleet, and of executors with the library by their logs (begun: log id -> how often)."""

    def __init__(self, path, begun):
        self.begun, self.ended = collections.Counter(begun), set()
        self.runs = {}  # log id: (at, job, moment, attempt, shard, shards, param, app)
        self.twins = 0
        self.results = {}  # log id: code, of those that a node has acknowledged
        self.told = {}     # log id: when
        self.last = 0
        with open(path) as file:
            for line in file:
                if line.endswith("\n"):
                    getattr(self, "_" + line.split("\t", 1)[0])(*line[:-1].split("\t")[1:])

    def _run(self, at, log, job, moment, attempt, shard, shards, param, app, begun):
        self.last = max(self.last, int(at))
        self.twins += begun == "0"
        if begun == "1":
            self.begun[int(log)] += 1
            self.runs.setdefault(int(log), []).append((int(at), *map(int, (job, moment, attempt, shard, shards)),
                                                        param, app))

    def _ended(self, _, log):
        self.ended.add(int(log))

    def _result(self, at, log, code, __):
        self.results.setdefault(int(log), int(code))
        self.told.setdefault(int(log), int(at))


def rows(link, as_ms):
    return [Row(*(int(value) for value in row[:5]), row[5] or "") for row in link.run(
        f"SELECT id, job_id, {as_ms('trigger_time')}, trigger_code, handle_code, "
        "concat(coalesce(trigger_msg, ''), ' | ', coalesce(handle_msg, '')) FROM xxl_job_log ORDER BY id")]


class Judge:
    """jobs: what -> ids. faults: {name: [texts]}, of which the first are shown."""

    def __init__(self, link, as_ms, records, jobs, asks):
        self.link, self.records, self.jobs, self.asks = link, records, jobs, asks
        self.rows = rows(link, as_ms)
        self.of = collections.defaultdict(list)
        for row in self.rows:
            self.of[row.job].append(row)
        self.faults = collections.defaultdict(list)
        self.counted = collections.Counter()
        self.skips = collections.defaultdict(list)  # job: [first, last, how many times are not spoken for yet]

    def number(self, sql):
        return int(self.link.run(sql)[0][0] or 0)

    def all(self, first, last, told):
        """first, last: epoch ms, seconds between which each-second jobs had to fire. told: those that are edited too."""
        self.books()
        for job in self.jobs["second"] + self.jobs["stock"]:
            self.each_second(job, first, last)
        for job in self.jobs["edited"] if told else []:
            self.each_second(job, first, last)
        for job in self.jobs["edited"] + self.jobs["stopped"] + self.jobs["parent"] + self.jobs["shaky"]:
            self.once(job)
        self.retries(last - 3000)
        self.children()
        self.broadcasts()
        self.by_hand()
        self.executors()
        self.results()

    def books(self):
        balance = self.number(f"SELECT (SELECT sum(planned - ({ENDS})) FROM peal_epoch) - "
                              f"(SELECT count(*) FROM peal_run WHERE phase IN {OPEN})")
        if balance:
            self.faults["unaccounted"].append(f"planned less ended less open is {balance}")
        for log, job, phase in self.link.run("SELECT log_id, job_id, phase FROM peal_run"):
            self.faults["not ended"].append(f"run {log} of job {job}, phase {phase}")
        for what, table in (("left in the inbox", "peal_inbox"),):
            for _ in range(self.number(f"SELECT count(*) FROM {table}")):
                self.faults[what].append(table)
        for job, begin, end, count, policy in self.link.run(
                "SELECT job_id, from_ms, to_ms, count, policy FROM peal_skip"):
            self.faults["skipped"].append(f"{count} times of job {job} ({policy})")
            self.skips[int(job)].append([int(begin), int(end), int(count)])
        self.counted["noted late"] = self.number("SELECT sum(late) FROM peal_epoch")
        self.counted["sent again"] = self.number("SELECT sum(resent) FROM peal_epoch")

    def each_second(self, job, first, last):
        seen = collections.Counter(row.moment for row in self.of[job])
        for moment in range(-(-first // 1000) * 1000, last + 1, 1000):
            if not seen[moment] and not self.skipped(job, moment):
                self.faults["lost"].append(f"job {job}, {moment}: no row")
        self.once(job)

    def skipped(self, job, moment):
        """A row of peal_skip says so. It speaks for as many times as it counts."""
        for skip in self.skips[job]:
            if skip[0] <= moment <= skip[1] and skip[2]:
                skip[2] -= 1
                return True
        return False

    def once(self, job):
        """No (scheduled time, attempt, shard) has two runs."""
        seen = collections.defaultdict(list)
        for row in self.of[job]:
            for _, _, moment, attempt, shard, *_ in self.records.runs.get(row.id, [])[:1]:
                seen[moment, attempt, shard].append(row)
        rows_of = collections.Counter(row.moment for row in self.of[job])
        if job in self.jobs["second"] + self.jobs["stock"]:
            for moment, count in rows_of.items():
                if count > 1:
                    self.faults["doubled"].append(f"job {job}, {moment}: {count} rows")
        for key, found in seen.items():
            if len(found) > 1 and job not in self.jobs["second"] + self.jobs["stock"]:
                self.faults["doubled"].append(f"job {job}, {key}: " + "; ".join(map(str, found)))

    def attempts(self, job):
        """{scheduled time: attempts that were begun}"""
        found = collections.defaultdict(list)
        for row in self.of[job]:
            for _, _, moment, attempt, *_ in self.records.runs.get(row.id, [])[:1]:
                found[moment].append(attempt)
        return found

    def retries(self, last):
        """A stop takes what has not left, so the last ones do not count."""
        for job in self.jobs["shaky"]:
            for moment, found in self.attempts(job).items():
                if sorted(found) != [0, 1] and (moment < last or len(found) > 1):
                    self.faults["lost" if 1 not in found else "doubled"].append(f"job {job}, {moment}: attempts {found}")

    def children(self):
        for parent, child in zip(self.jobs["parent"], self.jobs["child"]):
            ended = [row for row in self.of[parent] if row.handle_code == 200]
            if len(ended) != len(self.of[child]):
                kind = "lost" if len(ended) > len(self.of[child]) else "doubled"
                self.faults[kind].append(f"job {parent}: {len(ended)} ends, {len(self.of[child])} runs of its child {child}")

    def broadcasts(self):
        for job in self.jobs["broadcast"]:
            seen = collections.defaultdict(list)
            for row in self.of[job]:
                for _, _, moment, _, shard, shards, *_ in self.records.runs.get(row.id, [])[:1]:
                    seen[moment].append((shard, shards))
            for moment, found in seen.items():
                if sorted(found) != [(i, found[0][1]) for i in range(found[0][1])]:
                    kind = "lost" if len(set(found)) == len(found) else "doubled"
                    self.faults[kind].append(f"job {job}, {moment}: shards {sorted(found)}")

    def by_hand(self):
        rows_by_id = {row.id: row for row in self.rows}
        texts = collections.Counter(run[0][6] for run in self.records.runs.values() if run[0][6].startswith("hand "))
        answered = {ask.text: ask for ask in self.asks if ask.what == "trigger" and ask.status == 201}
        for text, ask in answered.items():
            row = rows_by_id.get(ask.run)
            if not row or row.handle_code != 200:
                self.faults["lost"].append(f"by hand, answered: run {ask.run}, {text}: {row}")
        for text, count in texts.items():
            if count > 1:
                self.faults["doubled"].append(f"by hand: {text} came {count} times")
        self.counted["by hand, answered"] = len(answered)

    def executors(self):
        """What was begun has a row, once; and what has ended well was begun."""
        known = {row.id: row for row in self.rows}
        stock, changed = set(self.jobs["stock"]), self.jobs["edited"] + self.jobs["stopped"]
        for log, count in self.records.begun.items():
            if log not in known:
                self.faults["without a row"].append(f"run {log}: {self.records.runs.get(log)}")
            elif count > 1 and known[log].job in stock:
                self.counted["stale sends to stock executors"] += count - 1
            elif count > 1:
                self.faults["doubled"].append(f"begun {count} times: {known[log]}")
        for row in self.rows:
            if row.handle_code == 200 and not self.records.begun[row.id]:
                self.faults["untrue"].append(f"ended well and was never begun: {row}")
            elif "| withdrawn: " in row.text and not self.records.begun[row.id] and row.job in changed:
                self.counted["withdrawn by users"] += 1
            elif row.handle_code != 200 and not (row.handle_code == 500 and self.records.results.get(row.id) == 500):
                self.faults["failed"].append(str(row))
        self.counted["runs"] = len(self.rows)
        self.counted["twins refused"] = self.records.twins

    def results(self):
        known = {row.id: row for row in self.rows}
        for log, code in self.records.results.items():
            row = known.get(log)
            if row and (row.handle_code != code or f"done {log}" not in row.text):
                self.faults["results lost"].append(f"acknowledged with {code}: {row}")
        self.counted["results acknowledged"] = len(self.records.results)

    def after_answers(self):
        """(job, how long after, ms) of what left by an old definition, or of a stopped job, after the answer."""
        late = {"edit": [], "stop": []}
        runs = collections.defaultdict(list)
        for found in self.records.runs.values():
            for at, job, moment, attempt, _, _, param, _ in found:
                runs[job].append((at, moment, param))
        good = sorted((a for a in self.asks if a.what in ("edit", "stop", "start")), key=lambda a: a.sent)
        for i, ask in enumerate(good):
            if ask.what == "start" or ask.status != 200:
                continue
            until = next((a.sent for a in good[i + 1:] if a.job == ask.job and a.what != "stop"), 1 << 62)
            for at, _, param in runs[ask.job]:
                if ask.answered < at < until and (ask.what == "stop" or param != ask.text):
                    late[ask.what].append((ask.job, at - ask.answered))
        return late

    def retried(self):
        """ms from the acknowledgement of a failure to its retry."""
        begun, failed = {}, {}
        for log, found in self.records.runs.items():
            for at, job, moment, attempt, *_ in found[:1]:
                if job in self.jobs["shaky"] and attempt:
                    begun[job, moment] = at
                elif job in self.jobs["shaky"] and log in self.records.told:
                    failed[job, moment] = self.records.told[log]
        return [begun[key] - at for key, at in failed.items() if key in begun]

    def take_over(self, killed):
        """ms from a kill to the first run of each job, of those that the node had, that was due after it."""
        firsts = collections.defaultdict(list)
        for found in self.records.runs.values():
            firsts[found[0][1]].append((found[0][0], found[0][2]))
        times = []
        for at, jobs in killed:
            for job in jobs:
                after = [came for came, moment in firsts[job] if came > at and moment > at]
                if after and job in self.jobs["second"]:
                    times.append(min(after) - at)
        return times


def percentiles(values):
    """p50 / p99 / max, as text."""
    if not values:
        return "none"
    values = sorted(values)
    p99 = values[min(len(values) - 1, int(len(values) * 0.99))]
    return f"{statistics.median(values):.0f} / {p99:.0f} / {values[-1]:.0f}  (of {len(values)})"
