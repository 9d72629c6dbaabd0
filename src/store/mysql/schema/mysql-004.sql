-- SPDX-License-Identifier: Apache-2.0
-- What came to a server which does not own the run: whoever owns it reads it here. what: 1 a result; 2 and 3 are kept for
-- kills and their answers. from_epoch: of the life that took it.

CREATE TABLE IF NOT EXISTS peal_inbox (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    what tinyint NOT NULL,
    log_id bigint NOT NULL,
    at_ms bigint NOT NULL,
    code int NOT NULL,
    msg mediumtext NOT NULL,
    from_epoch bigint NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
