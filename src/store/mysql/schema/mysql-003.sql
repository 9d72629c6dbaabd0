-- SPDX-License-Identifier: Apache-2.0
-- Of a life: which epoch adopts its runs alone at first (NULL: none), and when it began by its server's clock. MySQL has no
-- ADD COLUMN IF NOT EXISTS.

SET @peal_alter = (SELECT IF(count(*) = 0, 'ALTER TABLE peal_epoch ADD COLUMN heir bigint, ADD COLUMN began_ms bigint', 'DO 0')
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'peal_epoch' AND column_name = 'heir');
PREPARE peal_alter FROM @peal_alter;
EXECUTE peal_alter;
DEALLOCATE PREPARE peal_alter;
