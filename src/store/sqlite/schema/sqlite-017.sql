-- SPDX-License-Identifier: Apache-2.0
-- Access tokens of groups, in clear as they are sent to executors. NULL: none. next_token: the one that a change leads to.

CREATE TABLE peal_group (
    group_id   INTEGER PRIMARY KEY,
    token      TEXT,
    next_token TEXT,
    since_ms   INTEGER NOT NULL
) STRICT;
