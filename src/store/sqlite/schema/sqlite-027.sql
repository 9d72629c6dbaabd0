-- SPDX-License-Identifier: Apache-2.0
-- Which trace (W3C Trace Context) a run belongs to where it has none of its own. kind: 1 that of the request which asked
-- for the run, 2 the same and it is not recorded: high and low are the id's halves. 3: that of the run whose log id is low.

CREATE TABLE peal_trace (
    log_id INTEGER PRIMARY KEY,
    kind   INTEGER NOT NULL,
    high   INTEGER NOT NULL,
    low    INTEGER NOT NULL
) STRICT;
