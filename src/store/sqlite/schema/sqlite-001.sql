-- SPDX-License-Identifier: Apache-2.0
-- XXL-JOB's tables with the columns of its release 3.4, datetimes as epoch milliseconds, and ours.
-- Never edit a migration that was released: its SHA-256 is remembered by every database.

CREATE TABLE xxl_job_group (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    app_name     TEXT NOT NULL,
    title        TEXT NOT NULL,
    address_type INTEGER NOT NULL DEFAULT 0,
    address_list TEXT,
    update_time  INTEGER
) STRICT;

CREATE TABLE xxl_job_registry (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    registry_group TEXT NOT NULL,
    registry_key   TEXT NOT NULL,
    registry_value TEXT NOT NULL,
    update_time    INTEGER
) STRICT;
CREATE UNIQUE INDEX i_g_k_v ON xxl_job_registry (registry_group, registry_key, registry_value);

CREATE TABLE xxl_job_info (
    id                        INTEGER PRIMARY KEY AUTOINCREMENT,
    job_group                 INTEGER NOT NULL,
    job_desc                  TEXT NOT NULL,
    add_time                  INTEGER,
    update_time               INTEGER,
    author                    TEXT,
    alarm_email               TEXT,
    schedule_type             TEXT NOT NULL DEFAULT 'NONE',
    schedule_conf             TEXT,
    misfire_strategy          TEXT NOT NULL DEFAULT 'DO_NOTHING',
    executor_route_strategy   TEXT,
    executor_handler          TEXT,
    executor_param            TEXT,
    executor_block_strategy   TEXT,
    executor_timeout          INTEGER NOT NULL DEFAULT 0,
    executor_fail_retry_count INTEGER NOT NULL DEFAULT 0,
    glue_type                 TEXT NOT NULL,
    glue_source               TEXT,
    glue_remark               TEXT,
    glue_updatetime           INTEGER,
    child_jobid               TEXT,
    trigger_status            INTEGER NOT NULL DEFAULT 0,
    trigger_last_time         INTEGER NOT NULL DEFAULT 0,
    trigger_next_time         INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX i_info_jobgroup ON xxl_job_info (job_group);

CREATE TABLE xxl_job_logglue (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id      INTEGER NOT NULL,
    glue_type   TEXT,
    glue_source TEXT,
    glue_remark TEXT NOT NULL,
    add_time    INTEGER,
    update_time INTEGER
) STRICT;
CREATE INDEX i_logglue_jobid ON xxl_job_logglue (job_id);

CREATE TABLE xxl_job_log (
    id                        INTEGER PRIMARY KEY,
    job_group                 INTEGER NOT NULL,
    job_id                    INTEGER NOT NULL,
    executor_address          TEXT,
    executor_handler          TEXT,
    executor_param            TEXT,
    executor_sharding_param   TEXT,
    executor_fail_retry_count INTEGER NOT NULL DEFAULT 0,
    trigger_time              INTEGER,
    trigger_code              INTEGER NOT NULL,
    trigger_msg               TEXT,
    handle_time               INTEGER,
    handle_code               INTEGER NOT NULL,
    handle_msg                TEXT,
    alarm_status              INTEGER NOT NULL DEFAULT 0
) STRICT;
-- By job, but 4,096 ids at a time: new rows of a thousand jobs go to a few pages at the end of the
-- index and not to a thousand pages all over it. Readers go from chunk to chunk.
CREATE INDEX i_log_jobid ON xxl_job_log (id >> 12, job_id);
CREATE INDEX i_log_failed ON xxl_job_log (id)
    WHERE trigger_code NOT IN (0, 200) OR handle_code NOT IN (0, 200);

CREATE TABLE xxl_job_log_report (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    trigger_day   INTEGER,
    running_count INTEGER NOT NULL DEFAULT 0,
    suc_count     INTEGER NOT NULL DEFAULT 0,
    fail_count    INTEGER NOT NULL DEFAULT 0,
    update_time   INTEGER
) STRICT;
CREATE UNIQUE INDEX i_trigger_day ON xxl_job_log_report (trigger_day);

CREATE TABLE xxl_job_lock (
    lock_name TEXT NOT NULL PRIMARY KEY
) STRICT;
INSERT INTO xxl_job_lock (lock_name) VALUES ('schedule_lock');

CREATE TABLE xxl_job_user (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    username   TEXT NOT NULL,
    password   TEXT NOT NULL,
    token      TEXT,
    role       INTEGER NOT NULL,
    permission TEXT
) STRICT;
CREATE UNIQUE INDEX i_username ON xxl_job_user (username);

-- What a job has beyond XXL-JOB's columns. A job without a row here has the defaults.
CREATE TABLE peal_job (
    job_id            INTEGER PRIMARY KEY,
    zone              TEXT,
    dst               TEXT,
    misfire_max       INTEGER,
    retry_delay_ms    INTEGER,
    retry_backoff     REAL,
    start_deadline_ms INTEGER,
    on_doubt          TEXT,
    stop_reason       TEXT
) STRICT;

-- Where planning stands: narrow, because it is written at every advance.
CREATE TABLE peal_due (
    job_id           INTEGER PRIMARY KEY,
    next_ms          INTEGER,
    last_ms          INTEGER NOT NULL DEFAULT 0,
    planned_until_ms INTEGER NOT NULL DEFAULT 0,
    version          INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX i_due_next ON peal_due (next_ms) WHERE next_ms IS NOT NULL;

-- Live runs. A row goes when its run is closed; the log row stays.
CREATE TABLE peal_run (
    log_id       INTEGER PRIMARY KEY,
    job_id       INTEGER NOT NULL,
    kind         INTEGER NOT NULL,
    moment_ms    INTEGER NOT NULL,
    shard        INTEGER NOT NULL,
    shard_total  INTEGER NOT NULL,
    attempt      INTEGER NOT NULL,
    cause        INTEGER NOT NULL,
    phase        INTEGER NOT NULL,
    doubted      INTEGER NOT NULL,
    broadcast    INTEGER NOT NULL,
    retries_left INTEGER NOT NULL,
    due_ms       INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    node         INTEGER NOT NULL,
    epoch        INTEGER NOT NULL,
    address      TEXT,
    choices      TEXT
) STRICT;
-- By job, kind and moment first: also finds a job's next planned moment.
CREATE UNIQUE INDEX i_run_key ON peal_run (job_id, kind, moment_ms, shard, attempt, cause);

-- Moments that were not fired, one row a job and outage.
CREATE TABLE peal_skip (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id  INTEGER NOT NULL,
    from_ms INTEGER NOT NULL,
    to_ms   INTEGER NOT NULL,
    count   INTEGER NOT NULL,
    policy  TEXT NOT NULL
) STRICT;
CREATE INDEX i_skip_jobid ON peal_skip (job_id);

-- The ids of the log rows whose trigger_time lies in one span of 10 minutes (slot = epoch
-- milliseconds / 600000) are all between first_id and last_id: pages by time need no index
-- on trigger_time, which every firing would pay for.
CREATE TABLE peal_log_span (
    slot     INTEGER PRIMARY KEY,
    first_id INTEGER NOT NULL,
    last_id  INTEGER NOT NULL
) STRICT;

CREATE TABLE peal_total (
    job_id INTEGER NOT NULL,
    name   TEXT NOT NULL,
    value  INTEGER NOT NULL,
    PRIMARY KEY (job_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE peal_mark (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    until_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE peal_seq (
    name  TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO peal_seq (name, value) VALUES ('log', 0);

-- Deleted jobs whose log rows are still to be taken away.
CREATE TABLE peal_purge (
    job_id INTEGER PRIMARY KEY
) STRICT;

CREATE TABLE peal_user (
    user_id INTEGER PRIMARY KEY,
    argon2  TEXT,
    legacy  TEXT
) STRICT;

CREATE TABLE peal_session (
    digest     TEXT NOT NULL PRIMARY KEY,
    user_id    INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    address    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX i_session_expires ON peal_session (expires_ms);
