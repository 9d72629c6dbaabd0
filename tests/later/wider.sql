-- SPDX-License-Identifier: Apache-2.0
-- What a release may do to the tables while an older one uses them.

CREATE TABLE IF NOT EXISTS peal_later (id int NOT NULL PRIMARY KEY);
ALTER TABLE peal_due ADD COLUMN later int NOT NULL DEFAULT 7;
ALTER TABLE peal_run ADD COLUMN later int NOT NULL DEFAULT 7;
