-- SPDX-License-Identifier: Apache-2.0
-- Addresses that have registered with the next token of their group, while a change of it is under way.

CREATE TABLE peal_group_moved (
    group_id INTEGER NOT NULL,
    address  TEXT NOT NULL,
    PRIMARY KEY (group_id, address)
) STRICT, WITHOUT ROWID;
