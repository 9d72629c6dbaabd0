# SPDX-License-Identifier: Apache-2.0
"""A model of XXL-JOB's Java admin at work on its database: it scans under the lock row, keeps what is due within 5 s in a
ring of seconds, writes log rows as they fire and their results. A row says the scheduled second, however slow the machine
is. It knows two kinds of schedules, every N seconds of a minute
as a cron expression and a rate. Mistakes are planted by job: `admin.faults[job_id] = kind`, made once, at its next firing."""
import datetime
import threading
import time

from support.mariadb import DatabaseError

WORDS = {"zh": {"CRON": "Cron触发", "MANUAL": "手动触发", "RETRY": "失败重试触发", "PARENT": "父任务触发", "MISFIRE": "调度过期补偿"},
         "en": {"CRON": "Cron trigger", "MANUAL": "Manual trigger", "RETRY": "Fail retry trigger",
                "PARENT": "Parent job trigger", "MISFIRE": "Misfire compensation trigger"}}
LABEL = {"zh": "任务触发类型", "en": "Trigger type"}


def now_ms():
    return time.time_ns() // 1_000_000


def latest_deadlock(db):
    """The two transactions of it, as the server says: which statement of whom waits for what the other has."""
    status = db.run("SHOW ENGINE INNODB STATUS")[0][-1]
    lines = status.partition("LATEST DETECTED DEADLOCK")[2].partition("TRANSACTIONS\n---")[0].splitlines()
    return " ".join(line.strip() for line in lines if line.isprintable() and not line.startswith((" 0:", " len")))


class JavaAdmin:
    def __init__(self, connect, offset_s=0, language="zh"):
        self.connect, self.offset_s, self.language = connect, offset_s, language
        self.faults, self.done = {}, {}  # job -> kind of mistake; those made: job -> scheduled ms
        self.ring = {}
        self.error = None
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self._guard, args=(work,)) for work in (self._scan, self._fire_ring)]

    def __enter__(self):
        for thread in list(self.threads):  # a scan that is quick adds to them
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in list(self.threads):
            thread.join()
        assert self.error is None, self.error

    def _guard(self, work, *args):
        try:
            db = self.connect()
            try:
                work(db, *args)
            except DatabaseError as error:
                raise AssertionError(f"{error}: {latest_deadlock(db)}" if error.code == 1213 else error) from error
            finally:
                db.close()
        except Exception as error:  # a thread's error is the test's
            self.error = error

    def wall(self, ms=None):
        at = datetime.datetime.fromtimestamp((now_ms() if ms is None else ms) / 1000, datetime.timezone.utc)
        return (at + datetime.timedelta(seconds=self.offset_s)).strftime("%Y-%m-%d %H:%M:%S")

    # ---- scheduling

    @staticmethod
    def next_after(kind, conf, base_ms):
        if kind == "FIX_RATE":
            return base_ms + int(conf) * 1000
        every = int(conf.split()[0].partition("/")[2])
        return (base_ms // 1000 // every + 1) * every * 1000

    def _scan(self, db):
        db.run("SET autocommit = 0")
        while not self.stopping.is_set():
            began, found = now_ms(), False
            try:
                db.run("SELECT * FROM xxl_job_lock WHERE lock_name = 'schedule_lock' FOR UPDATE")
                found = self._scan_locked(db)
                db.run("COMMIT")
            except DatabaseError as error:
                if error.code not in (1205, 1213):
                    raise
                db.run("ROLLBACK")
            self.rest(found, began)

    def rest(self, found, began):
        if now_ms() - began < 1000:
            self.stopping.wait(((1000 if found else 5000) - now_ms() % 1000) / 1000)

    def think(self, rows):
        """It has read what is due and has not written yet."""

    def late(self, job, moment, following):
        """It was late with that one, and leaves out those between the two."""

    def _scan_locked(self, db):
        now = now_ms()
        rows = db.run("SELECT id, schedule_type, schedule_conf, misfire_strategy, trigger_next_time FROM xxl_job_info "
                      "WHERE trigger_status = 1 AND trigger_next_time <= %s ORDER BY id LIMIT 5000", now + 5000)
        self.think(rows)
        for job, kind, conf, misfire, moment in rows:
            job, moment = int(job), int(moment)
            if now > moment + 5000:
                if misfire == "FIRE_ONCE_NOW":
                    self.start(self.fire, job, "MISFIRE", moment)
                following = self.next_after(kind, conf, now)
                self.late(job, moment - 1, following)
            elif now >= moment:
                self.start(self.fire, job, "CRON", moment)
                following = self.next_after(kind, conf, now)
                self.late(job, moment, following)
            else:
                with self.lock:
                    self.ring.setdefault(moment // 1000, []).append((job, moment))
                following = self.next_after(kind, conf, moment)
            db.run("UPDATE xxl_job_info SET trigger_last_time = %s, trigger_next_time = %s WHERE id = %s AND "
                   "trigger_status = 1", moment, following, job)
        return bool(rows)

    def _fire_ring(self, _db):
        while not self.stopping.is_set():
            self.stopping.wait((1000 - now_ms() % 1000) / 1000)
            with self.lock:
                due = [one for second in sorted(self.ring) if second * 1000 <= now_ms() for one in self.ring.pop(second)]
            for job, moment in due:
                self.start(self.fire, job, "CRON", moment)

    def start(self, work, *args):
        thread = threading.Thread(target=self._guard, args=(work, *args))
        self.threads.append(thread)
        thread.start()

    # ---- firing

    def fire(self, db, job, kind, moment):
        fault = self.faults.pop(job, None) if kind == "CRON" else None
        if fault:
            self.done[job] = moment
        if fault == "missing":
            return
        self.trigger(db, job, kind, moment + 3000 if fault == "late" else moment, other=fault == "executor",
                     leave_out=1 if fault == "shard" else None)
        if fault == "doubled":
            self.trigger(db, job, kind, moment)

    def trigger(self, db, job, kind, at_ms=None, retries=None, other=False, leave_out=None):
        row = db.run("SELECT i.job_group, i.executor_route_strategy, i.executor_fail_retry_count, g.address_list "
                     "FROM xxl_job_info i JOIN xxl_job_group g ON g.id = i.job_group WHERE i.id = %s", job)
        if not row:
            return
        group, route, count, addresses = row[0]
        addresses = [a for a in (addresses or "").split(",") if a]
        broadcast = route == "SHARDING_BROADCAST" and addresses
        shards = [(i, len(addresses)) for i in range(len(addresses)) if i != leave_out] if broadcast else [None]
        for one in shards:
            address = addresses[one[0]] if one else self.choose(route, addresses)
            if other:
                address = next(a for a in addresses if a != address)
            self.run(db, int(group), job, kind, at_ms, address, one, int(count) if retries is None else retries)

    @staticmethod
    def choose(route, addresses):
        return None if not addresses else addresses[-1] if route == "LAST" else addresses[0]

    def run(self, db, group, job, kind, at_ms, address, shard, retries):
        log = db.insert("INSERT INTO xxl_job_log (job_group, job_id, trigger_time, trigger_code, handle_code) "
                        "VALUES (%s, %s, %s, 0, 0)", group, job, self.wall(at_ms))
        message = f"{LABEL[self.language]}：{WORDS[self.language][kind]}<br>..."
        db.run("UPDATE xxl_job_log SET executor_address = %s, executor_sharding_param = %s, executor_fail_retry_count = %s, "
               "trigger_code = %s, trigger_msg = %s WHERE id = %s", address,
               f"{shard[0]}/{shard[1]}" if shard else None, retries, 200 if address else 500, message, log)
        db.run("UPDATE xxl_job_log SET handle_time = %s, handle_code = 200 WHERE id = %s AND handle_code = 0",
               self.wall(), log)

    # ---- what people do

    def set_running(self, db, job, running):
        kind, conf = db.run("SELECT schedule_type, schedule_conf FROM xxl_job_info WHERE id = %s", job)[0]
        db.run("UPDATE xxl_job_info SET trigger_status = %s, trigger_last_time = 0, trigger_next_time = %s, update_time = %s "
               "WHERE id = %s", int(running), self.next_after(kind, conf, now_ms() + 5000) if running else 0, self.wall(), job)

    def set_conf(self, db, job, kind, conf):
        db.run("UPDATE xxl_job_info SET schedule_type = %s, schedule_conf = %s, trigger_next_time = %s, update_time = %s "
               "WHERE id = %s", kind, conf, self.next_after(kind, conf, now_ms() + 5000), self.wall(), job)
