-- SPDX-License-Identifier: Apache-2.0
-- Alarm channels that were made through the API. settings: a JSON object of texts, the secrets among them.

CREATE TABLE peal_channel (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    version    INTEGER NOT NULL,
    name       TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL,
    settings   TEXT NOT NULL,
    enabled    INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;
