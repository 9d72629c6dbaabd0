-- SPDX-License-Identifier: Apache-2.0
-- When a user had a message sent again (NULL: never); how many messages a channel takes in a minute (0: no limit); the
-- job that a silence is about (0: of all; else group_id is that of the job).

ALTER TABLE peal_alarm ADD COLUMN resent_ms INTEGER;
ALTER TABLE peal_channel ADD COLUMN per_minute INTEGER NOT NULL DEFAULT 0;
ALTER TABLE peal_silence ADD COLUMN job_id INTEGER NOT NULL DEFAULT 0;
