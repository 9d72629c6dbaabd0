-- SPDX-License-Identifier: Apache-2.0
-- What happened to runs, in microseconds, of those that did not just succeed. cause: the run that it retries.

CREATE TABLE peal_story (
    log_id INTEGER PRIMARY KEY,
    cause  INTEGER NOT NULL,
    steps  BLOB NOT NULL
) STRICT;
CREATE INDEX i_story_cause ON peal_story (cause) WHERE cause > 0;
