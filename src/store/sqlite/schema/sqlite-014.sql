-- SPDX-License-Identifier: Apache-2.0
-- Requests with an Idempotency-Key: what each has made, thing by thing, and what it was answered.

CREATE TABLE peal_idem (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL,
    key         TEXT NOT NULL,
    body_sha256 TEXT NOT NULL,
    at_ms       INTEGER NOT NULL,
    group_id    INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    headers     TEXT NOT NULL,
    answer      TEXT
) STRICT;
CREATE UNIQUE INDEX u_idem ON peal_idem (user_id, key);
CREATE INDEX i_idem_at ON peal_idem (at_ms);
CREATE TABLE peal_idem_made (
    idem_id INTEGER NOT NULL,
    item    INTEGER NOT NULL,
    made    INTEGER NOT NULL,
    PRIMARY KEY (idem_id, item)
) STRICT, WITHOUT ROWID;
