# SPDX-License-Identifier: Apache-2.0
"""Log rows of a past that never was, put into a database as the center would have written them."""

import time

from . import ledger

DAY_MS = 86_400_000
SLOT_MS = 600_000  # of peal_log_span


def fill(center, rows):
    """rows: dicts with ms (trigger_time), and any of job, group, trigger_code, handle_code, handle_ms, handle_msg,
    trigger_msg, address, handler, param, sharding. The center is stopped. Their ids, in that order."""
    with ledger.opened(center, write=True) as db:
        # a database server counts ids by itself, behind those that are there
        first = db.execute("SELECT max(ifnull((SELECT value FROM peal_seq WHERE name = 'log'), 0), "
                           "ifnull((SELECT max(id) FROM xxl_job_log), 0))").fetchone()[0] + 1
        ids, spans = [], {}
        for number, row in enumerate(rows, first):
            db.execute("INSERT INTO xxl_job_log (id, job_group, job_id, executor_address, executor_handler, "
                       "executor_param, executor_sharding_param, trigger_time, trigger_code, trigger_msg, handle_time, "
                       "handle_code, handle_msg) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                       (number, row.get("group", 1), row.get("job", 1), row.get("address", "http://10.0.0.1:9999/"),
                        row.get("handler", "h"), row.get("param", ""), row.get("sharding"), row["ms"],
                        row.get("trigger_code", 200), row.get("trigger_msg"), row.get("handle_ms", row["ms"] + 20),
                        row.get("handle_code", 200), row.get("handle_msg")))
            low, high = spans.get(row["ms"] // SLOT_MS, (number, number))
            spans[row["ms"] // SLOT_MS] = (min(low, number), max(high, number))
            ids.append(number)
        db.executemany("INSERT INTO peal_log_span (slot, first_id, last_id) VALUES (?, ?, ?) ON CONFLICT (slot) DO "
                       "UPDATE SET first_id = min(first_id, excluded.first_id), last_id = max(last_id, "
                       "excluded.last_id)", [(slot, low, high) for slot, (low, high) in spans.items()])
        db.execute("UPDATE peal_seq SET value = ? WHERE name = 'log'", (ids[-1],))
    return ids


def days_ago(days):
    """Epoch milliseconds of a whole second."""
    return int(time.time() - days * 86400) * 1000
