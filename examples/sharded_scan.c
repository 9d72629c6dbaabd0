/* SPDX-License-Identifier: Apache-2.0 */
/* sharded_scan.c - a table too large for one machine, scanned by all executors of a group at once.
 *
 * A job with the route SHARDING_BROADCAST starts one run on each executor; each is told which shard
 * it is (index) and of how many (total). Shards take the rows whose id leaves their index when it
 * is divided by the total: no executor has to agree with another, and when an executor joins, the
 * next broadcast has one more shard.
 *
 * What a long scan should do besides: say how far it is, look now and then whether it shall stop,
 * and put what a person wants to know into the result's message.
 *
 * The parameter is the path of an SQLite database with a table orders(id INTEGER PRIMARY KEY,
 * cents INTEGER). Reading does no harm a second time, so the handler is PEAL_IDEMPOTENT: a scan
 * that a crash of the executor interrupted is done again by itself.
 *
 *     cc sharded_scan.c $(pkg-config --cflags --libs peal sqlite3) -o sharded_scan
 *     PEAL_ACCESS_TOKEN=... ./sharded_scan --centers http://127.0.0.1:8080 --app scan */
#include <peal/executor.h>
#include <sqlite3.h>

enum { LOOK_EVERY = 1000 }; /* rows */

/* The rows of this shard, each with the number of rows that it may expect. */
static int begin(sqlite3 *db, const struct peal_run *run, sqlite3_stmt **rows)
{
    int failed = sqlite3_prepare_v2(db,
                                    "SELECT id, cents, (SELECT count(*) FROM orders) / ?2 "
                                    "FROM orders WHERE id % ?2 = ?1 ORDER BY id",
                                    -1, rows, NULL);
    if (!failed) {
        sqlite3_bind_int(*rows, 1, peal_shard_index(run));
        sqlite3_bind_int(*rows, 2, peal_shard_total(run));
    }
    return failed;
}

/* To the end, until it is stopped, or until the database fails: the result says which. */
static void scan(struct peal_run *run, sqlite3 *db, sqlite3_stmt *rows)
{
    int64_t n = 0, cents = 0, all = 0;
    int step;
    while ((step = sqlite3_step(rows)) == SQLITE_ROW) {
        cents += sqlite3_column_int64(rows, 1);
        all = sqlite3_column_int64(rows, 2);
        if (++n % LOOK_EVERY)
            continue;
        peal_progress(run, all ? (int)(n * 100 / all) : 0, "row %lld",
                      (long long)sqlite3_column_int64(rows, 0));
        if (peal_stopping(run))
            return; /* its result is the reason to stop, with the progress */
    }
    if (step != SQLITE_DONE)
        peal_result(run, 500, "after %lld rows: %s", (long long)n, sqlite3_errmsg(db));
    else
        peal_result(run, 200, "%lld rows, %lld cents", (long long)n, (long long)cents);
}

PEAL_HANDLER(scanJobHandler, .flags = PEAL_IDEMPOTENT)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    peal_log(run, "shard %d of %d of %s", peal_shard_index(run), peal_shard_total(run),
             peal_param(run));
    if (sqlite3_open_v2(peal_param(run), &db, SQLITE_OPEN_READONLY, NULL) || begin(db, run, &rows))
        peal_result(run, 500, "%s: %s", peal_param(run), sqlite3_errmsg(db));
    else
        scan(run, db, rows);
    sqlite3_finalize(rows);
    sqlite3_close(db);
    return 0;
}

int main(int argc, char **argv)
{
    return peal_executor_main(argc, argv);
}
