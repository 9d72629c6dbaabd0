-- SPDX-License-Identifier: Apache-2.0
-- Rules of alarms, what they have found, and what was told of it. Times are epoch milliseconds.

-- group_id and job_id 0: of all jobs. quiet_…: minutes of the day, NULL: no quiet hours.
CREATE TABLE peal_alarm_rule (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    version    INTEGER NOT NULL,
    name       TEXT NOT NULL,
    kind       TEXT NOT NULL,
    level      TEXT NOT NULL,
    group_id   INTEGER NOT NULL,
    job_id     INTEGER NOT NULL,
    in_a_row   INTEGER NOT NULL,
    longer_ms  INTEGER NOT NULL,
    channels   TEXT NOT NULL,
    quiet_from INTEGER,
    quiet_to   INTEGER,
    repeat_ms  INTEGER NOT NULL,
    enabled    INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;

-- cause: 0 the group alone, 1 the executor at the address, 2 the group has no executor. untold: events since the last
-- message. closed_ms NULL: open. settled: nothing of it is to be told any more.
CREATE TABLE peal_incident (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    rule_id         INTEGER NOT NULL,
    group_id        INTEGER NOT NULL,
    kind            TEXT NOT NULL,
    level           TEXT NOT NULL,
    cause           INTEGER NOT NULL,
    address         TEXT NOT NULL,
    since_ms        INTEGER NOT NULL,
    last_ms         INTEGER NOT NULL,
    jobs            INTEGER NOT NULL,
    open            INTEGER NOT NULL,
    events          INTEGER NOT NULL,
    untold          INTEGER NOT NULL,
    log_id          INTEGER NOT NULL,
    text            TEXT NOT NULL,
    told_ms         INTEGER,
    told            INTEGER NOT NULL,
    closed_ms       INTEGER,
    closed_by       TEXT,
    acknowledged_ms INTEGER,
    acknowledged_by TEXT,
    settled         INTEGER NOT NULL
) STRICT;
CREATE INDEX i_incident_open ON peal_incident (rule_id, group_id, cause, address) WHERE closed_ms IS NULL;
CREATE INDEX i_incident_unsettled ON peal_incident (id) WHERE settled = 0;
CREATE INDEX i_incident_closed ON peal_incident (closed_ms) WHERE settled = 1;

CREATE TABLE peal_incident_job (
    incident_id INTEGER NOT NULL,
    job_id      INTEGER NOT NULL,
    rule_id     INTEGER NOT NULL,
    log_id      INTEGER NOT NULL,
    since_ms    INTEGER NOT NULL,
    events      INTEGER NOT NULL,
    took_ms     INTEGER NOT NULL,
    closed_ms   INTEGER,
    text        TEXT NOT NULL,
    PRIMARY KEY (incident_id, job_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX i_incident_job ON peal_incident_job (job_id) WHERE closed_ms IS NULL;

-- A message to the channels of a rule. Its rows of peal_alarm have its id, negative, in log_id. state: 0 opened,
-- 1 again, 2 closed.
CREATE TABLE peal_tell (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    incident_id INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    at_ms       INTEGER NOT NULL
) STRICT;
CREATE INDEX i_tell_incident ON peal_tell (incident_id);
