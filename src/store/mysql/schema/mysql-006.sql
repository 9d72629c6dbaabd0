-- SPDX-License-Identifier: Apache-2.0
-- Edits of jobs on a database that several servers have. peal_run.told: the version of the job that the run's owner knew
-- when it wrote the row. peal_change: an edit that the other servers shall hear of; its version (of a deleted job: the
-- largest number there is); anew 1: it gave the job other scheduled times. Rows go after a while. MySQL has no ADD COLUMN
-- IF NOT EXISTS.

SET @peal_alter = (SELECT IF(count(*) = 0, 'ALTER TABLE peal_run ADD COLUMN told bigint NOT NULL DEFAULT 0', 'DO 0')
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'peal_run' AND column_name = 'told');
PREPARE peal_alter FROM @peal_alter;
EXECUTE peal_alter;
DEALLOCATE PREPARE peal_alter;

CREATE TABLE IF NOT EXISTS peal_change (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    job_id bigint NOT NULL,
    version bigint NOT NULL,
    anew tinyint NOT NULL,
    at_ms bigint NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
