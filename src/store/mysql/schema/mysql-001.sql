-- SPDX-License-Identifier: Apache-2.0
-- XXL-JOB's tables with the columns of its release 3.4, and ours, as migrations 1 to 26 of SQLite leave them. Each
-- statement ends at a line's end and does nothing where it has been done before. Never edit a migration that was
-- released: its SHA-256 is remembered by every database.

CREATE TABLE IF NOT EXISTS xxl_job_group (
    id int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    app_name varchar(64) NOT NULL,
    title varchar(64) NOT NULL,
    address_type tinyint NOT NULL DEFAULT 0,
    address_list text,
    update_time datetime(3)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS xxl_job_registry (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    registry_group varchar(50) NOT NULL,
    registry_key varchar(255) NOT NULL,
    registry_value varchar(255) NOT NULL,
    update_time datetime(3),
    UNIQUE KEY i_g_k_v (registry_group, registry_key, registry_value)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS xxl_job_info (
    id int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    job_group int NOT NULL,
    job_desc varchar(255) NOT NULL,
    add_time datetime(3),
    update_time datetime(3),
    author varchar(64),
    alarm_email varchar(255),
    schedule_type varchar(50) NOT NULL DEFAULT 'NONE',
    schedule_conf varchar(128),
    misfire_strategy varchar(50) NOT NULL DEFAULT 'DO_NOTHING',
    executor_route_strategy varchar(50),
    executor_handler varchar(255),
    executor_param text,
    executor_block_strategy varchar(50),
    executor_timeout int NOT NULL DEFAULT 0,
    executor_fail_retry_count int NOT NULL DEFAULT 0,
    glue_type varchar(50) NOT NULL,
    glue_source mediumtext,
    glue_remark varchar(128),
    glue_updatetime datetime(3),
    child_jobid varchar(255),
    trigger_status tinyint NOT NULL DEFAULT 0,
    trigger_last_time bigint NOT NULL DEFAULT 0,
    trigger_next_time bigint NOT NULL DEFAULT 0,
    KEY i_info_group (job_group, trigger_status),
    KEY i_info_name (job_desc(85))
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS xxl_job_logglue (
    id int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    job_id int NOT NULL,
    glue_type varchar(50),
    glue_source mediumtext,
    glue_remark varchar(128) NOT NULL,
    add_time datetime(3),
    update_time datetime(3),
    KEY i_logglue_jobid (job_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS xxl_job_log (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    job_group int NOT NULL,
    job_id int NOT NULL,
    executor_address varchar(255),
    executor_handler varchar(255),
    executor_param text,
    executor_sharding_param varchar(20),
    executor_fail_retry_count int NOT NULL DEFAULT 0,
    trigger_time datetime(3),
    trigger_code int NOT NULL,
    trigger_msg text,
    handle_time datetime(3),
    handle_code int NOT NULL,
    handle_msg text,
    alarm_status tinyint NOT NULL DEFAULT 0,
    KEY I_jobid (job_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS xxl_job_log_report (
    id int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    trigger_day datetime(3),
    running_count int NOT NULL DEFAULT 0,
    suc_count int NOT NULL DEFAULT 0,
    fail_count int NOT NULL DEFAULT 0,
    update_time datetime(3),
    UNIQUE KEY i_trigger_day (trigger_day)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS xxl_job_lock (
    lock_name varchar(50) NOT NULL PRIMARY KEY
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

INSERT IGNORE INTO xxl_job_lock (lock_name) VALUES ('schedule_lock');

CREATE TABLE IF NOT EXISTS xxl_job_user (
    id int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    username varchar(50) NOT NULL,
    password varchar(100) NOT NULL,
    token varchar(100),
    role tinyint NOT NULL,
    permission varchar(255),
    UNIQUE KEY i_username (username)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What a job has beyond the columns of XXL-JOB. A job without a row here has the defaults.
CREATE TABLE IF NOT EXISTS peal_job (
    job_id int NOT NULL PRIMARY KEY,
    zone varchar(64),
    dst varchar(16),
    misfire_max int,
    retry_delay_ms bigint,
    retry_backoff double,
    start_deadline_ms bigint,
    on_doubt varchar(16),
    stop_reason text
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Where planning stands: narrow, because it is written at every advance.
CREATE TABLE IF NOT EXISTS peal_due (
    job_id int NOT NULL PRIMARY KEY,
    next_ms bigint,
    last_ms bigint NOT NULL DEFAULT 0,
    planned_until_ms bigint NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 0,
    before_ms bigint NOT NULL DEFAULT 0,
    KEY i_due_next (next_ms),
    KEY i_due_last (last_ms)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Live runs. A row goes when its run is closed; the log row stays.
CREATE TABLE IF NOT EXISTS peal_run (
    log_id bigint NOT NULL PRIMARY KEY,
    job_id int NOT NULL,
    kind tinyint NOT NULL,
    moment_ms bigint NOT NULL,
    shard int NOT NULL,
    shard_total int NOT NULL,
    attempt int NOT NULL,
    cause bigint NOT NULL,
    phase tinyint NOT NULL,
    doubted tinyint NOT NULL,
    broadcast tinyint NOT NULL,
    retries_left int NOT NULL,
    due_ms bigint NOT NULL,
    version bigint NOT NULL,
    node int NOT NULL,
    epoch int NOT NULL,
    address varchar(255),
    choices text,
    UNIQUE KEY u_run (job_id, kind, moment_ms, shard, attempt, cause)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Scheduled times that were not fired, one row a job and outage.
CREATE TABLE IF NOT EXISTS peal_skip (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    job_id int NOT NULL,
    from_ms bigint NOT NULL,
    to_ms bigint NOT NULL,
    count bigint NOT NULL,
    policy varchar(50) NOT NULL,
    KEY i_skip_jobid (job_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The ids of the log rows whose trigger_time lies in one span of 10 minutes are all between first_id and last_id.
CREATE TABLE IF NOT EXISTS peal_log_span (
    slot bigint NOT NULL PRIMARY KEY,
    first_id bigint NOT NULL,
    last_id bigint NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_seq (
    name varchar(64) NOT NULL PRIMARY KEY,
    value bigint NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- A random number of this database: ids of traces are made of it and of log ids.
INSERT IGNORE INTO peal_seq (name, value) VALUES
    ('trace', cast(conv(left(sha2(concat(uuid(), rand(), connection_id()), 256), 15), 16, 10) AS signed));

-- How far the walk through the log rows of a deleted job has come.
CREATE TABLE IF NOT EXISTS peal_purge (
    job_id int NOT NULL PRIMARY KEY,
    from_id bigint NOT NULL DEFAULT 0,
    open_id bigint
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- One row a life of a server: the number of its last commit, and what commits write all the time.
CREATE TABLE IF NOT EXISTS peal_epoch (
    epoch int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    node int NOT NULL DEFAULT 1,
    ended tinyint NOT NULL DEFAULT 0,
    batch bigint NOT NULL DEFAULT 0,
    planned bigint NOT NULL DEFAULT 0,
    finished bigint NOT NULL DEFAULT 0,
    rejected bigint NOT NULL DEFAULT 0,
    lost bigint NOT NULL DEFAULT 0,
    skipped bigint NOT NULL DEFAULT 0,
    withdrawn bigint NOT NULL DEFAULT 0,
    sent bigint NOT NULL DEFAULT 0,
    resent bigint NOT NULL DEFAULT 0,
    late bigint NOT NULL DEFAULT 0,
    found bigint NOT NULL DEFAULT 0,
    watermark_ms bigint NOT NULL DEFAULT 0,
    clean tinyint NOT NULL DEFAULT 0,
    recorder varchar(64) NOT NULL DEFAULT '',
    renewals bigint NOT NULL DEFAULT 0,
    KEY i_epoch_node (node)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_node (
    node int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name varchar(128) NOT NULL,
    epoch int NOT NULL,
    dead tinyint NOT NULL,
    beat bigint NOT NULL,
    mark_ms bigint NOT NULL,
    wall_ms bigint NOT NULL,
    skew_ms int NOT NULL,
    address varchar(255),
    state tinyint NOT NULL,
    live int NOT NULL,
    version varchar(32),
    connection varchar(64),
    UNIQUE KEY u_name (name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Log rows that a user wants deleted, until that has been done: which, and how far it has come.
CREATE TABLE IF NOT EXISTS peal_clean (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    made_ms bigint NOT NULL,
    job_id int NOT NULL,
    group_ids text,
    before_ms bigint,
    keep bigint NOT NULL,
    below_id bigint NOT NULL,
    kept bigint NOT NULL DEFAULT 0,
    gone bigint NOT NULL DEFAULT 0
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What has become of runs, by time.
CREATE TABLE IF NOT EXISTS peal_delta (
    n bigint NOT NULL PRIMARY KEY,
    epoch int NOT NULL,
    ends longblob NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_figure (
    slot bigint NOT NULL,
    group_id int NOT NULL,
    job_id int NOT NULL,
    node int NOT NULL,
    through bigint NOT NULL,
    succeeded bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    timed_out bigint NOT NULL DEFAULT 0,
    killed bigint NOT NULL DEFAULT 0,
    lost bigint NOT NULL DEFAULT 0,
    rejected bigint NOT NULL DEFAULT 0,
    skipped bigint NOT NULL DEFAULT 0,
    withdrawn bigint NOT NULL DEFAULT 0,
    took_ms bigint NOT NULL DEFAULT 0,
    late_ms bigint NOT NULL DEFAULT 0,
    took_max_ms bigint NOT NULL DEFAULT 0,
    late_max_ms bigint NOT NULL DEFAULT 0,
    durations longblob,
    PRIMARY KEY (slot, group_id, job_id, node)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_job_stat (
    job_id int NOT NULL,
    node int NOT NULL,
    through bigint NOT NULL,
    state longblob NOT NULL,
    PRIMARY KEY (job_id, node)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_alarm (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    log_id bigint NOT NULL,
    job_id int NOT NULL,
    group_id int NOT NULL,
    channel varchar(128) NOT NULL,
    targets mediumtext,
    made_ms bigint NOT NULL,
    phase int NOT NULL,
    code int NOT NULL,
    cause mediumtext NOT NULL,
    fingerprint bigint NOT NULL,
    closed_ms bigint,
    status int NOT NULL DEFAULT -1,
    resent_ms bigint,
    UNIQUE KEY u_alarm (log_id, channel),
    KEY i_alarm_open (closed_ms, channel, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_delivery (
    alarm_id bigint NOT NULL,
    target varchar(512) NOT NULL,
    n int NOT NULL,
    at_ms bigint NOT NULL,
    took_ms bigint NOT NULL,
    outcome int NOT NULL,
    said mediumtext,
    PRIMARY KEY (alarm_id, target, n)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_user (
    user_id int NOT NULL PRIMARY KEY,
    argon2 varchar(255),
    legacy varchar(255),
    center varchar(255),
    xxl text,
    preferences mediumtext,
    must_change tinyint NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 0,
    created_ms bigint,
    login_ms bigint
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_session (
    digest varchar(128) NOT NULL PRIMARY KEY,
    user_id int NOT NULL,
    created_ms bigint NOT NULL,
    expires_ms bigint NOT NULL,
    address varchar(255) NOT NULL,
    used_ms bigint NOT NULL DEFAULT 0,
    KEY i_session_expires (expires_ms),
    KEY i_session_user (user_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_grant (
    user_id int NOT NULL,
    group_id int NOT NULL,
    role varchar(32) NOT NULL,
    PRIMARY KEY (user_id, group_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_token (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    user_id int NOT NULL,
    name varchar(255) NOT NULL,
    digest varchar(128) NOT NULL,
    prefix varchar(64) NOT NULL,
    permissions text NOT NULL,
    group_ids text,
    created_ms bigint NOT NULL,
    expires_ms bigint,
    used_ms bigint,
    UNIQUE KEY i_token_digest (digest),
    KEY i_token_user (user_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Who changed what, in the transaction of the change. Rows are added, and deleted by age.
CREATE TABLE IF NOT EXISTS peal_audit (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    at_ms bigint NOT NULL,
    user_id int NOT NULL,
    user_name varchar(255) NOT NULL,
    via varchar(64) NOT NULL,
    address varchar(255) NOT NULL,
    action varchar(64) NOT NULL,
    kind varchar(64) NOT NULL,
    object varchar(255) NOT NULL,
    name text NOT NULL,
    changes mediumtext NOT NULL,
    reason text,
    KEY i_audit_object (kind, object, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_audit_item (
    audit_id bigint NOT NULL,
    kind varchar(64) NOT NULL,
    object varchar(255) NOT NULL,
    PRIMARY KEY (audit_id, kind, object),
    KEY i_audit_item (kind, object, audit_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What happened to runs, in microseconds, of those that did not just succeed.
CREATE TABLE IF NOT EXISTS peal_story (
    log_id bigint NOT NULL PRIMARY KEY,
    cause bigint NOT NULL,
    steps longblob NOT NULL,
    KEY i_story_cause (cause)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_idem (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    user_id int NOT NULL,
    idem_key varchar(255) NOT NULL,
    body_sha256 varchar(64) NOT NULL,
    at_ms bigint NOT NULL,
    group_id int NOT NULL,
    status int NOT NULL,
    headers mediumtext NOT NULL,
    answer longtext,
    UNIQUE KEY u_idem (user_id, idem_key),
    KEY i_idem_at (at_ms)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_idem_made (
    idem_id bigint NOT NULL,
    item bigint NOT NULL,
    made bigint NOT NULL,
    PRIMARY KEY (idem_id, item)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_group (
    group_id int NOT NULL PRIMARY KEY,
    token text,
    next_token text,
    since_ms bigint NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_group_moved (
    group_id int NOT NULL,
    address varchar(255) NOT NULL,
    PRIMARY KEY (group_id, address)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_alarm_rule (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    version bigint NOT NULL,
    name varchar(255) NOT NULL,
    kind varchar(64) NOT NULL,
    level varchar(64) NOT NULL,
    group_id int NOT NULL,
    job_id int NOT NULL,
    in_a_row int NOT NULL,
    longer_ms bigint NOT NULL,
    channels text NOT NULL,
    quiet_from int,
    quiet_to int,
    repeat_ms bigint NOT NULL,
    enabled tinyint NOT NULL,
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_incident (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    rule_id bigint NOT NULL,
    group_id int NOT NULL,
    kind varchar(64) NOT NULL,
    level varchar(64) NOT NULL,
    cause int NOT NULL,
    address varchar(255) NOT NULL,
    since_ms bigint NOT NULL,
    last_ms bigint NOT NULL,
    jobs bigint NOT NULL,
    open bigint NOT NULL,
    events bigint NOT NULL,
    untold bigint NOT NULL,
    log_id bigint NOT NULL,
    text mediumtext NOT NULL,
    told_ms bigint,
    told int NOT NULL,
    closed_ms bigint,
    closed_by varchar(255),
    acknowledged_ms bigint,
    acknowledged_by varchar(255),
    settled tinyint NOT NULL,
    KEY i_incident_open (rule_id, group_id, cause),
    KEY i_incident_settled (settled, closed_ms)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_incident_job (
    incident_id bigint NOT NULL,
    job_id int NOT NULL,
    rule_id bigint NOT NULL,
    log_id bigint NOT NULL,
    since_ms bigint NOT NULL,
    events bigint NOT NULL,
    took_ms bigint NOT NULL,
    closed_ms bigint,
    text mediumtext NOT NULL,
    PRIMARY KEY (incident_id, job_id),
    KEY i_incident_job (job_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_tell (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    incident_id bigint NOT NULL,
    state int NOT NULL,
    at_ms bigint NOT NULL,
    KEY i_tell_incident (incident_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_channel (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    version bigint NOT NULL,
    name varchar(255) NOT NULL,
    kind varchar(64) NOT NULL,
    settings mediumtext NOT NULL,
    enabled tinyint NOT NULL,
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    per_minute int NOT NULL DEFAULT 0,
    UNIQUE KEY u_channel (name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS peal_silence (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    group_id int NOT NULL,
    rule_id bigint NOT NULL,
    from_ms bigint NOT NULL,
    until_ms bigint NOT NULL,
    made_ms bigint NOT NULL,
    reason text NOT NULL,
    made_by varchar(255) NOT NULL,
    job_id int NOT NULL DEFAULT 0
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Jobs that XXL-JOB has scheduled so far go on where they stand.
INSERT INTO peal_due (job_id, next_ms, last_ms, version)
    SELECT id, CASE WHEN trigger_status = 1 AND trigger_next_time > 0 THEN trigger_next_time END,
           trigger_last_time, 1 FROM xxl_job_info
    WHERE id NOT IN (SELECT d.job_id FROM (SELECT job_id FROM peal_due) d);
