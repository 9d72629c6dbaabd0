-- SPDX-License-Identifier: Apache-2.0
-- Releases beside each other. peal_node.protocol: of the release that the node's life runs; oldest: the oldest one that it
-- can run beside (store/release.h).

SET @peal_alter = (SELECT IF(count(*) = 0, 'ALTER TABLE peal_node ADD COLUMN protocol int NOT NULL DEFAULT 1, ADD COLUMN oldest int NOT NULL DEFAULT 1', 'DO 0')
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'peal_node' AND column_name = 'protocol');
PREPARE peal_alter FROM @peal_alter;
EXECUTE peal_alter;
DEALLOCATE PREPARE peal_alter;
