-- SPDX-License-Identifier: Apache-2.0
-- Releases beside each other. peal_migration.oldest: the oldest protocol whose releases may use the tables after that
-- migration (store/sql/migration.h); 0: each that could before.

ALTER TABLE peal_migration ADD COLUMN oldest integer NOT NULL DEFAULT 0;
