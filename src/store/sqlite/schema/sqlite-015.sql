-- SPDX-License-Identifier: Apache-2.0
-- Pages of jobs by the last scheduled time. before_ms: the one before last_ms, which counts while last_ms lies ahead.

ALTER TABLE peal_due ADD COLUMN before_ms INTEGER NOT NULL DEFAULT 0;
CREATE INDEX i_due_last ON peal_due (last_ms) WHERE last_ms > 0;
