/* SPDX-License-Identifier: Apache-2.0 */
/* The statements of the test of a server, as MySQL and MariaDB have them. */
#include "store/sql/selftest.h"

const struct sql_selftest my_selftest = {
    .create = "CREATE TABLE IF NOT EXISTS peal_selftest_rows (id bigint NOT NULL AUTO_INCREMENT "
              "PRIMARY KEY, batch bigint NOT NULL, moment datetime(3) NULL, word varchar(64) NULL, "
              "packed blob NULL, body mediumtext NULL, UNIQUE KEY u_word (word)) ENGINE=InnoDB "
              "ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    .alter = "ALTER TABLE peal_selftest_rows MODIFY word varchar(80) NULL",
    .locks = "SELECT get_lock(left(concat('peal_selftest ', database()), 64), 0)",
    .unlocks = "SELECT release_lock(left(concat('peal_selftest ', database()), 64))",
    .session = "SELECT connection_id()",
    .end = "KILL %lld",
};
