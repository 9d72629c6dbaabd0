-- SPDX-License-Identifier: Apache-2.0
-- Who changed what, in the transaction of the change. Rows are added, and deleted by age.
CREATE TABLE peal_audit (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms     INTEGER NOT NULL,
    user_id   INTEGER NOT NULL,
    user_name TEXT NOT NULL,
    via       TEXT NOT NULL,
    address   TEXT NOT NULL,
    action    TEXT NOT NULL,
    kind      TEXT NOT NULL,
    object    TEXT NOT NULL,
    name      TEXT NOT NULL,
    changes   TEXT NOT NULL
) STRICT;
CREATE INDEX i_audit_object ON peal_audit (kind, object, id);
