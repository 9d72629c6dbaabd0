-- SPDX-License-Identifier: Apache-2.0
-- One row for what commits write all the time: their number, the totals, the dispatch watermark and the recorder
-- that goes with it. It is the row of epoch 1: a database in a file has no other.
CREATE TABLE peal_epoch (
    epoch        INTEGER PRIMARY KEY,
    node         INTEGER NOT NULL DEFAULT 1,
    batch        INTEGER NOT NULL DEFAULT 0,
    planned      INTEGER NOT NULL DEFAULT 0,
    finished     INTEGER NOT NULL DEFAULT 0,
    rejected     INTEGER NOT NULL DEFAULT 0,
    lost         INTEGER NOT NULL DEFAULT 0,
    skipped      INTEGER NOT NULL DEFAULT 0,
    withdrawn    INTEGER NOT NULL DEFAULT 0,
    sent         INTEGER NOT NULL DEFAULT 0,
    resent       INTEGER NOT NULL DEFAULT 0,
    late         INTEGER NOT NULL DEFAULT 0,
    found        INTEGER NOT NULL DEFAULT 0,
    watermark_ms INTEGER NOT NULL DEFAULT 0,
    clean        INTEGER NOT NULL DEFAULT 0,
    recorder     TEXT NOT NULL DEFAULT '',
    renewals     INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO peal_epoch (epoch) VALUES (1);
UPDATE peal_epoch SET
    planned   = ifnull((SELECT value FROM peal_total WHERE job_id = 0 AND name = 'planned'), 0),
    finished  = ifnull((SELECT value FROM peal_total WHERE job_id = 0 AND name = 'finished'), 0),
    rejected  = ifnull((SELECT value FROM peal_total WHERE job_id = 0 AND name = 'rejected'), 0),
    lost      = ifnull((SELECT value FROM peal_total WHERE job_id = 0 AND name = 'lost'), 0),
    skipped   = ifnull((SELECT value FROM peal_total WHERE job_id = 0 AND name = 'skipped'), 0),
    withdrawn = ifnull((SELECT value FROM peal_total WHERE job_id = 0 AND name = 'withdrawn'), 0),
    sent      = ifnull((SELECT value FROM peal_total WHERE job_id = 0 AND name = 'sent'), 0),
    resent    = ifnull((SELECT value FROM peal_total WHERE job_id = 0 AND name = 'resent'), 0),
    late      = ifnull((SELECT value FROM peal_total WHERE job_id = 0 AND name = 'late'), 0),
    found     = ifnull((SELECT value FROM peal_total WHERE job_id = 0 AND name = 'found'), 0);
UPDATE peal_epoch SET (watermark_ms, clean, recorder, renewals) =
    (SELECT until_ms, clean, recorder, renewals FROM peal_mark WHERE id = 1)
    WHERE EXISTS (SELECT 1 FROM peal_mark WHERE id = 1);
DROP TABLE peal_total;
DROP TABLE peal_mark;
