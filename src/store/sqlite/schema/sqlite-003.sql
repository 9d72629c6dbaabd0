-- SPDX-License-Identifier: Apache-2.0
-- The flight recorder that goes with the mark, and how often its life has renewed it. A release that does not
-- know them must not write here: it would leave a recorder believed that knows nothing of its sends.
ALTER TABLE peal_mark ADD COLUMN recorder TEXT NOT NULL DEFAULT '';
ALTER TABLE peal_mark ADD COLUMN renewals INTEGER NOT NULL DEFAULT 0;
