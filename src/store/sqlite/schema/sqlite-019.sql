-- SPDX-License-Identifier: Apache-2.0
-- GROUPS and KEY are reserved words of MySQL 8: the columns get names that every engine takes.
ALTER TABLE peal_clean RENAME COLUMN groups TO group_ids;
ALTER TABLE peal_token RENAME COLUMN groups TO group_ids;
ALTER TABLE peal_idem RENAME COLUMN key TO idem_key;
