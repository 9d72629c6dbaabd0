-- SPDX-License-Identifier: Apache-2.0
-- Silences: nothing is told of alarms of that group and that rule (0: of all) from from_ms until before until_ms.

CREATE TABLE peal_silence (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    group_id INTEGER NOT NULL,
    rule_id  INTEGER NOT NULL,
    from_ms  INTEGER NOT NULL,
    until_ms INTEGER NOT NULL,
    made_ms  INTEGER NOT NULL,
    reason   TEXT NOT NULL,
    made_by  TEXT NOT NULL
) STRICT;
