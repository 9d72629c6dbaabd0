-- SPDX-License-Identifier: Apache-2.0
-- The audit: the reason that a user gave, and the things that one entry of a bulk action is about.

ALTER TABLE peal_audit ADD COLUMN reason TEXT;
CREATE TABLE peal_audit_item (
    audit_id INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    object   TEXT NOT NULL,
    PRIMARY KEY (audit_id, kind, object)
) STRICT, WITHOUT ROWID;
CREATE INDEX i_audit_item ON peal_audit_item (kind, object, audit_id);
