-- SPDX-License-Identifier: Apache-2.0
-- Of a life: how many of its transactions have changed groups, access tokens, rules of alarms or which executors are
-- registered. Other servers on the database look at these again when it moves. MySQL has no ADD COLUMN IF NOT EXISTS.

SET @peal_alter = (SELECT IF(count(*) = 0, 'ALTER TABLE peal_epoch ADD COLUMN changes bigint NOT NULL DEFAULT 0', 'DO 0')
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'peal_epoch' AND column_name = 'changes');
PREPARE peal_alter FROM @peal_alter;
EXECUTE peal_alter;
DEALLOCATE PREPARE peal_alter;
