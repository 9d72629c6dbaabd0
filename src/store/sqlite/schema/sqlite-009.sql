-- SPDX-License-Identifier: Apache-2.0
-- Rights of users, their tokens, and what else a user has. "xxl" is the text of XXL-JOB's role and
-- permission that "center" and the rows of peal_grant belong to: when these columns have another
-- text, another program has changed them, and they count. group_id 0: all groups.
CREATE TABLE peal_grant (
    user_id  INTEGER NOT NULL,
    group_id INTEGER NOT NULL,
    role     TEXT NOT NULL,
    PRIMARY KEY (user_id, group_id)
) STRICT, WITHOUT ROWID;

ALTER TABLE peal_user ADD COLUMN center TEXT;
ALTER TABLE peal_user ADD COLUMN xxl TEXT;
ALTER TABLE peal_user ADD COLUMN preferences TEXT;
ALTER TABLE peal_user ADD COLUMN must_change INTEGER NOT NULL DEFAULT 0;
ALTER TABLE peal_user ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE peal_user ADD COLUMN created_ms INTEGER;
ALTER TABLE peal_user ADD COLUMN login_ms INTEGER;

ALTER TABLE peal_session ADD COLUMN used_ms INTEGER NOT NULL DEFAULT 0;
UPDATE peal_session SET used_ms = created_ms;
CREATE INDEX i_session_user ON peal_session (user_id);

-- Only the SHA-256 of a token is kept. groups NULL: all groups of its user.
CREATE TABLE peal_token (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL,
    name        TEXT NOT NULL,
    digest      TEXT NOT NULL,
    prefix      TEXT NOT NULL,
    permissions TEXT NOT NULL,
    groups      TEXT,
    created_ms  INTEGER NOT NULL,
    expires_ms  INTEGER,
    used_ms     INTEGER
) STRICT;
CREATE UNIQUE INDEX i_token_digest ON peal_token (digest);
CREATE INDEX i_token_user ON peal_token (user_id);
