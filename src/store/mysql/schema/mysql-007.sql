-- SPDX-License-Identifier: Apache-2.0
-- Homes of jobs on a database that several servers have. peal_due.home: the node that plans the job, 0 none; the index by
-- it, i_due_home, is made by the first server that shares the database. peal_node.weight: a node gets jobs in proportion to
-- it; jobs: how many have their home there. MySQL has no ADD COLUMN IF NOT EXISTS.

SET @peal_alter = (SELECT IF(count(*) = 0, 'ALTER TABLE peal_due ADD COLUMN home int NOT NULL DEFAULT 0', 'DO 0')
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'peal_due' AND column_name = 'home');
PREPARE peal_alter FROM @peal_alter;
EXECUTE peal_alter;
DEALLOCATE PREPARE peal_alter;

SET @peal_alter = (SELECT IF(count(*) = 0, 'ALTER TABLE peal_node ADD COLUMN weight tinyint NOT NULL DEFAULT 4, ADD COLUMN jobs bigint', 'DO 0')
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'peal_node' AND column_name = 'weight');
PREPARE peal_alter FROM @peal_alter;
EXECUTE peal_alter;
DEALLOCATE PREPARE peal_alter;
