-- SPDX-License-Identifier: Apache-2.0
-- Log rows that a user wants deleted, until that has been done: which, and how far it has come.
CREATE TABLE peal_clean (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    made_ms   INTEGER NOT NULL,
    job_id    INTEGER NOT NULL, -- 0: any
    groups    TEXT,             -- ids, separated by commas; NULL: all
    before_ms INTEGER,          -- of trigger_time; NULL: any
    keep      INTEGER NOT NULL, -- the newest stay
    below_id  INTEGER NOT NULL, -- rows from this id on have been looked at
    kept      INTEGER NOT NULL DEFAULT 0,
    gone      INTEGER NOT NULL DEFAULT 0
) STRICT;
