-- SPDX-License-Identifier: Apache-2.0
-- Of a life: how many of its transactions have changed groups, access tokens, rules of alarms or which executors are
-- registered. Other servers on the database look at these again when it moves.

ALTER TABLE peal_epoch ADD COLUMN changes bigint NOT NULL DEFAULT 0;
