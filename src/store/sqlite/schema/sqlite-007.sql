-- SPDX-License-Identifier: Apache-2.0
-- What has become of runs, by time. A commit's ends as bytes, until the rows below include them: each says through
-- which commit it does.
CREATE TABLE peal_delta (
    n     INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    ends  BLOB NOT NULL
) STRICT;

-- slot: its level << 40 | its first minute since 1970. Of the whole (group 0, job 0), of a group, of a job (group 0).
CREATE TABLE peal_figure (
    slot        INTEGER NOT NULL,
    group_id    INTEGER NOT NULL,
    job_id      INTEGER NOT NULL,
    node        INTEGER NOT NULL,
    through     INTEGER NOT NULL,
    succeeded   INTEGER NOT NULL DEFAULT 0,
    failed      INTEGER NOT NULL DEFAULT 0,
    timed_out   INTEGER NOT NULL DEFAULT 0,
    killed      INTEGER NOT NULL DEFAULT 0,
    lost        INTEGER NOT NULL DEFAULT 0,
    rejected    INTEGER NOT NULL DEFAULT 0,
    skipped     INTEGER NOT NULL DEFAULT 0,
    withdrawn   INTEGER NOT NULL DEFAULT 0,
    took_ms     INTEGER NOT NULL DEFAULT 0,
    late_ms     INTEGER NOT NULL DEFAULT 0,
    took_max_ms INTEGER NOT NULL DEFAULT 0,
    late_max_ms INTEGER NOT NULL DEFAULT 0,
    durations   BLOB,
    PRIMARY KEY (slot, group_id, job_id, node)
) STRICT, WITHOUT ROWID;

-- How each job is doing.
CREATE TABLE peal_job_stat (
    job_id  INTEGER NOT NULL,
    node    INTEGER NOT NULL,
    through INTEGER NOT NULL,
    state   BLOB NOT NULL,
    PRIMARY KEY (job_id, node)
) STRICT, WITHOUT ROWID;
