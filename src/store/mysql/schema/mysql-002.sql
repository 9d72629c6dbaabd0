-- SPDX-License-Identifier: Apache-2.0
-- Which trace (W3C Trace Context) a run belongs to where it has none of its own. kind: 1 that of the request which asked
-- for the run, 2 the same and it is not recorded: high and low are the id's halves. 3: that of the run whose log id is low.

CREATE TABLE IF NOT EXISTS peal_trace (
    log_id bigint NOT NULL PRIMARY KEY,
    kind bigint NOT NULL,
    high bigint NOT NULL,
    low bigint NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
