/* SPDX-License-Identifier: Apache-2.0 */
/* peal_due.home, on engines that several servers can open: which of them plans a job. Its index
 * costs each advance of a job as much again as the one by time, so it is there only where servers
 * share the database: the first of these makes it, and one that has the database alone drops it. */
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/sql/tables.h"
#include <stdlib.h>

#define LIST_BYTES (1 << 16)
#define LIST_IDS 1000 /* of one statement */

void sql_home(struct store *store, int64_t node, int64_t claim_ms)
{
    struct sql *s = sql_of(store);
    s->homed = true;
    s->home = node;
    s->claim_ms = claim_ms;
}

/* Those of the jobs that go to the home of the first one; the others move to the front. */
static enum err put_some(struct sql *s, int64_t *ids, int64_t *homes, int *n, struct why *why)
{
    struct buf text = BUF_INIT(LIST_BYTES);
    int64_t home = homes[0];
    int kept = 0, taken = 0;
    buf_printf(&text, "UPDATE peal_due SET home = %lld WHERE job_id IN (", (long long)home);
    for (int i = 0; i < *n; i++) {
        if (homes[i] == home && taken < LIST_IDS) {
            buf_printf(&text, "%s%lld", taken++ ? "," : "", (long long)ids[i]);
        } else {
            ids[kept] = ids[i];
            homes[kept++] = homes[i];
        }
    }
    buf_char(&text, ')');
    *n = kept;
    enum err err = sql_do_once(s, buf_str(&text), why);
    buf_done(&text);
    return err;
}

enum err sql_homes_put(struct store *store, const int64_t *ids, const int64_t *homes, int n,
                       struct why *why)
{
    enum err err = OK;
    if (n <= 0)
        return OK;
    int64_t *left = mem_new((size_t)n * 2 * sizeof(*left)), *to = left + n;
    for (int i = 0; i < n; i++) {
        left[i] = ids[i];
        to[i] = homes[i];
    }
    while (!err && n > 0)
        err = put_some(sql_of(store), left, to, &n, why);
    free(left);
    return err;
}

enum err sql_homes_take(struct store *store, const struct home_row *after, int max,
                        struct home_row *rows, int *ret_n, struct why *why)
{
    struct sql_query *q;
    bool row = true;
    *ret_n = 0;
    struct sql *s = sql_of(store);
    enum err err = sql_query(s, s->driver->home_index->take, &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, after->home);
    sql_bind_i64(q, 2, after->next_ms);
    sql_bind_i64(q, 3, after->job_id);
    sql_bind_i64(q, 4, max);
    while (!(err = sql_next(q, &row, why)) && row)
        rows[(*ret_n)++] = (struct home_row){ after->home, sql_i64(q, 0, 0), sql_i64(q, 1, 0) };
    return err;
}

enum err sql_homes_next(struct store *store, int64_t home, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT home FROM peal_due{must i_due_home} WHERE home > ?1 AND "
                             "next_ms IS NOT NULL ORDER BY home LIMIT 1",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, home);
    return sql_one(q, -1, ret, why);
}

enum err sql_homes_count(struct store *store, int64_t home, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT count(*) FROM peal_due{must i_due_home} WHERE home = ?1 AND "
                             "next_ms IS NOT NULL",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, home);
    return sql_one(q, 0, ret, why);
}

/* ---- the index ------------------------------------------------------------------------------- */

static enum err index_there(struct sql *s, bool *ret, struct why *why)
{
    struct sql_query *q;
    int64_t n = 0;
    enum err err = sql_query(s, s->driver->home_index->there, &q, why);
    if (!err)
        err = sql_one(q, 0, &n, why);
    *ret = n > 0;
    return err;
}

enum err sql_home_index_make(struct sql *s, struct why *why)
{
    bool there = true;
    enum err err = s->shared ? index_there(s, &there, why) : OK;
    return err || there ? err : sql_do_once(s, s->driver->home_index->make, why);
}

void sql_home_index_drop(struct sql *s)
{
    bool there = false;
    struct why why = { "" };
    enum err err = s->shared ? OK : index_there(s, &there, &why);
    if (!err && there)
        err = sql_do_once(s, s->driver->home_index->drop, &why);
    if (err)
        log_warn("store", "the index i_due_home, which only several servers need, stays: %s",
                 why.text);
}
