-- SPDX-License-Identifier: Apache-2.0
-- Alarms: a row for each failed run and channel that is to be told of it, written with the end of the run; and
-- each try to send it. closed_ms NULL: there are targets that have not been told yet.
CREATE TABLE peal_alarm (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    log_id      INTEGER NOT NULL,
    job_id      INTEGER NOT NULL,
    group_id    INTEGER NOT NULL,
    channel     TEXT NOT NULL,
    targets     TEXT,
    made_ms     INTEGER NOT NULL,
    phase       INTEGER NOT NULL,
    code        INTEGER NOT NULL,
    cause       TEXT NOT NULL DEFAULT '',
    fingerprint INTEGER NOT NULL,
    closed_ms   INTEGER,
    status      INTEGER NOT NULL DEFAULT -1,
    UNIQUE (log_id, channel)
) STRICT;
CREATE INDEX i_alarm_open ON peal_alarm (channel, id) WHERE closed_ms IS NULL;
CREATE INDEX i_alarm_closed ON peal_alarm (closed_ms) WHERE closed_ms IS NOT NULL;
CREATE TABLE peal_delivery (
    alarm_id INTEGER NOT NULL,
    target   TEXT NOT NULL,
    n        INTEGER NOT NULL,
    at_ms    INTEGER NOT NULL,
    took_ms  INTEGER NOT NULL,
    outcome  INTEGER NOT NULL,
    said     TEXT,
    PRIMARY KEY (alarm_id, target, n)
) STRICT, WITHOUT ROWID;
