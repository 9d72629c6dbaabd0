-- SPDX-License-Identifier: Apache-2.0
-- Was the last process stopped cleanly, so that no planned row has been sent, wherever the mark stands?
ALTER TABLE peal_mark ADD COLUMN clean INTEGER NOT NULL DEFAULT 0;
