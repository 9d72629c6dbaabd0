-- SPDX-License-Identifier: Apache-2.0
-- Releases beside each other. peal_migration.oldest: the oldest protocol whose releases may use the tables after that
-- migration (store/sql/migration.h); 0: each that could before.

SET @peal_alter = (SELECT IF(count(*) = 0, 'ALTER TABLE peal_migration ADD COLUMN oldest int NOT NULL DEFAULT 0', 'DO 0')
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'peal_migration' AND column_name = 'oldest');
PREPARE peal_alter FROM @peal_alter;
EXECUTE peal_alter;
DEALLOCATE PREPARE peal_alter;
