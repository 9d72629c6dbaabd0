/* SPDX-License-Identifier: Apache-2.0 */
/* The statements of the test of a server, as MySQL and MariaDB have them. */
#include "store/sql/selftest.h"
#include "store/sql/sql.h"
#include <inttypes.h>
#include <stdio.h>

#define MOST_ROWS 100000 /* of one transaction; a take-over may have 20,000 runs */
#define VOTES 3

static enum err number(struct sql *s, const char *text, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query_once(s, text, &q, why);
    if (err)
        return err;
    err = sql_one(q, 0, ret, why);
    sql_query_end(q);
    return err;
}

static enum err cluster(struct sql *s, char *remark, size_t size, struct why *why)
{
    int64_t rows = 0, votes = 0;
    enum err err = number(s, "SELECT @@global.wsrep_max_ws_rows", &rows, why);
    if (!err)
        err = number(s,
                     "SELECT variable_value FROM information_schema.global_status "
                     "WHERE variable_name = 'wsrep_cluster_size'",
                     &votes, why);
    if (!err && rows && rows < MOST_ROWS) {
        why_set(why,
                "wsrep_max_ws_rows is %" PRId64 ", and transactions of Peal have more rows: set it "
                "to 0, or to %d at least",
                rows, MOST_ROWS);
        return ERR_INVALID;
    }
    if (!err)
        snprintf(remark, size,
                 "%" PRId64 " votes%s; locks of rows and locks with a name hold within one server, "
                 "so beside Java admins all of them and Peal use the same one",
                 votes,
                 votes >= VOTES ? ""
                                : ": when one of two dies the other refuses everything; add a "
                                  "server, or an arbitrator (garbd)");
    return err;
}

const struct sql_selftest my_selftest = {
    .create = "CREATE TABLE IF NOT EXISTS peal_selftest_rows (id bigint NOT NULL AUTO_INCREMENT "
              "PRIMARY KEY, batch bigint NOT NULL, moment datetime(3) NULL, word varchar(64) NULL, "
              "packed blob NULL, body mediumtext NULL, UNIQUE KEY u_word (word)) ENGINE=InnoDB "
              "ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    .alter = "ALTER TABLE peal_selftest_rows MODIFY word varchar(80) NULL",
    .locks = "SELECT get_lock(left(concat('peal_selftest ', database()), 64), 0)",
    .cluster = cluster,
    .unlocks = "SELECT release_lock(left(concat('peal_selftest ', database()), 64))",
    .schema = "database()",
    .session = "SELECT connection_id()",
    .end = "KILL %lld",
};
