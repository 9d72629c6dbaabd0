-- SPDX-License-Identifier: Apache-2.0
-- How far the walk through a deleted job's log rows has come: the next id to look at, and the first of the job's
-- runs that was open when the walk began (0: none; NULL: it has not begun), where the next walk begins.
ALTER TABLE peal_purge ADD COLUMN from_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE peal_purge ADD COLUMN open_id INTEGER;
-- Failures by job, in chunks as i_log_jobid.
CREATE INDEX i_log_job_failed ON xxl_job_log (id >> 12, job_id)
    WHERE trigger_code NOT IN (0, 200) OR handle_code NOT IN (0, 200);
