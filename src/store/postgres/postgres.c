/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL: opening, transactions, and the tables of functions.
 *
 * A transaction lives as long as its connection. When that goes while a COMMIT is under way, only
 * the server knows what became of it (ERR_UNHEARD). */
#include "base/mem.h"
#include "store/postgres/postgres.h"
#include "store/postgres/pg.h"
#include "store/sql/clock.h"
#include "store/sql/epoch.h"
#include <assert.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

enum {
    WRITER_MS = 12000, /* for one answer */
    READER_MS = 5000,
    BEAT_MS = 1500,
    BULK_MS = 60000, /* of a slice of a table */
};

/* ---- transactions ---------------------------------------------------------------------------- */

static void pg_rollback(struct store *store)
{
    struct pg *s = pg_of(store);
    struct why ignored = { "" };
    if (!s->in_transaction)
        return;
    bool waited = s->lost == ERR_BUSY;
    s->in_transaction = false;
    s->lost = OK;
    pg_floors_lift(s);
    if (s->db && pg_exec(s, "ROLLBACK", &ignored))
        pg_hang_up(s); /* the server rolls back what nobody commits */
    if (waited && !s->sql.bulk)
        pg_blocker_tell(s);
}

static enum err pg_begin(struct store *store, struct why *why)
{
    struct pg *s = pg_of(store);
    struct why gone = { "" };
    assert(!s->in_transaction);
    enum err err = pg_ready(s, why);
    if (err)
        return err;
    err = pg_exec(s, "BEGIN", &gone);
    if (err && !s->db) { /* it was gone while nothing was under way: nothing is lost */
        why_clear(&gone);
        err = pg_ready(s, &gone);
        if (!err)
            err = pg_exec(s, "BEGIN", &gone);
    }
    if (err) {
        why_set(why, "%s", gone.text);
        return err;
    }
    s->in_transaction = true;
    pg_floors_raise(s);
    s->saved.on = false;
    s->lost = OK;
    s->nspans = 0;
    s->taken = -1;
    err = sql_follow(&s->sql, why);
    if (err)
        pg_rollback(store);
    return err;
}

/* COMMIT of a transaction that has failed is answered with ROLLBACK. */
static enum err commit_send(struct pg *s, struct why *why)
{
    enum err err = pg_quiet(s, why);
    if (err)
        return err;
    if (PQtransactionStatus(s->db) != PQTRANS_INTRANS)
        return pg_fail_as(s, ERR_STORE, "the transaction is over already", why);
    struct why heard = { "" };
    err = pg_exec(s, "COMMIT", &heard);
    if (err)
        why_set(why, "%s", heard.text);
    return err && !s->db ? ERR_UNHEARD : err;
}

static enum err pg_commit(struct store *store, const struct commit *c, struct why *why)
{
    static const struct commit nothing;
    struct pg *s = pg_of(store);
    assert(s->in_transaction);
    enum err err = s->lost ? s->lost : OK;
    if (!err && !s->sql.bulk)
        err = pg_spans_flush(s, why);
    if (!err && !s->sql.bulk)
        err = sql_epoch_flush(&s->sql, c ? c : &nothing, why);
    if (err) {
        if (s->lost)
            why_set(why, "%s", s->lost_text);
        return err;
    }
    err = commit_send(s, why);
    if (err)
        return err;
    s->in_transaction = false;
    sql_epoch_committed(&s->sql);
    return OK;
}

static enum err pg_savepoint(struct store *store, struct why *why)
{
    struct pg *s = pg_of(store);
    assert(s->in_transaction && !s->saved.on);
    if (s->lost) {
        why_set(why, "%s", s->lost_text);
        return s->lost;
    }
    enum err err = pg_exec(s, "SAVEPOINT one", why);
    if (err)
        return err;
    s->saved.on = true;
    memcpy(s->saved.spans, s->spans, sizeof(s->spans));
    s->saved.nspans = s->nspans;
    return OK;
}

static enum err pg_savepoint_keep(struct store *store, struct why *why)
{
    struct pg *s = pg_of(store);
    assert(s->saved.on);
    s->saved.on = false;
    return pg_exec(s, "RELEASE one", why);
}

static enum err pg_savepoint_undo(struct store *store, struct why *why)
{
    struct pg *s = pg_of(store);
    assert(s->saved.on);
    s->saved.on = false;
    pg_floors_lift(s);
    enum err err = pg_exec(s, "ROLLBACK TO one; RELEASE one", why);
    if (err)
        return err;
    s->lost = OK;
    memcpy(s->spans, s->saved.spans, sizeof(s->spans));
    s->nspans = s->saved.nspans;
    return OK;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static enum err pg_job_insert(struct store *store, struct job_record *r, struct why *why)
{
    pg_due_written(pg_of(store), r->next_ms);
    return sql_job_insert(store, r, why);
}

static enum err pg_job_update(struct store *store, const struct job_record *r, struct why *why)
{
    pg_due_written(pg_of(store), r->next_ms);
    return sql_job_update(store, r, why);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void pg_close(struct store *store)
{
    struct pg *s = pg_of(store);
    void *p;
    pg_rollback(store);
    sql_epoch_leave(&s->sql);
    sql_done(&s->sql);
    pg_hang_up(s);
    for (size_t i = 0; map_next(&s->prepared, &i, &p);)
        free(p);
    map_done(&s->prepared);
    for (int i = 0; i < PG_ARRAYS; i++)
        buf_done(&s->arrays[i].bytes);
    free(s->jobs_text);
    db_url_wipe(&s->url);
    free(s);
}

static const char *node_name(const struct store_options *options)
{
    return options && options->node_name ? options->node_name : "peal";
}

extern const struct store_ops store_postgres_ops;

enum err postgres_open(const struct db_url *url, const struct store_options *options,
                       struct store **ret, struct why *why)
{
    struct pg *s = mem_new(sizeof(*s));
    s->url = *url;
    db_url_text(url, s->name, sizeof(s->name));
    enum store_bulk bulk = options ? options->bulk : STORE_SERVED;
    s->read_only = bulk == STORE_BULK_READ || (options && options->read_only);
    s->wait_ms = bulk                       ? BULK_MS
                 : s->read_only             ? READER_MS
                 : options && options->life ? BEAT_MS
                                            : WRITER_MS;
    pg_floors_lift(s);
    s->taken = -1;
    map_init(&s->prepared);
    enum err err = sql_init(&s->sql, &store_postgres_ops, &pg_driver, options, why);
    if (!err)
        err = pg_ready(s, why);
    if (!err && bulk == STORE_BULK_BARE) {
        *ret = &s->sql.store;
        return OK;
    }
    bool begins = !s->read_only && !(options && options->life);
    if (!err)
        err = sql_clock_check(&s->sql, options ? options->clock_skew_ms : 0, why);
    if (!err)
        err = begins ? pg_migrate(s, why) : pg_schema_check(s, why);
    if (!err && (begins || bulk))
        err = sql_epoch_watch(&s->sql, node_name(options), options ? options->gone_epoch : 0, why);
    if (!err && begins && !bulk)
        err = sql_epoch_join(&s->sql, node_name(options), why);
    if (!err && begins && !bulk)
        sql_home_index_drop(&s->sql);
    if (!err && begins)
        err = pg_session_name(s, why);
    if (err) {
        pg_close(&s->sql.store);
        return err;
    }
    *ret = &s->sql.store;
    return OK;
}

static const struct store_txn txn = {
    .begin = pg_begin,
    .commit = pg_commit,
    .rollback = pg_rollback,
    .savepoint = pg_savepoint,
    .savepoint_keep = pg_savepoint_keep,
    .savepoint_undo = pg_savepoint_undo,
    .seq_next = sql_seq_next,
    .watermark_get = sql_watermark_get,
    .totals_get = sql_totals_get,
    .outcome = sql_outcome,
};

static const struct store_runs runs = {
    .due_take = pg_due_take,
    .due_put = pg_due_put,
    .due_each = sql_due_each,
    .runs_add = pg_runs_add,
    .runs_change = pg_runs_change,
    .runs_each = sql_runs_each,
    .skips_add = sql_skips_add,
    .late_add = sql_late_add,
    .story_put = sql_story_put,
    .traces_put = sql_traces_put,
    .purge = sql_purge,
    .log_clean = sql_log_clean,
    .log_before = sql_log_before,
    .log_counts = sql_log_counts,
    .clean_add = sql_clean_add,
    .clean_first = sql_clean_first,
    .clean_put = sql_clean_put,
};

static const struct store_pages pages = {
    .jobs_page = sql_jobs_page,
    .logs_page = pg_logs_page,
    .runs_page = sql_runs_page,
    .groups_page = sql_groups_page,
    .log_get = sql_log_get,
    .story_get = sql_story_get,
    .trace_get = sql_trace_get,
    .retries_of = sql_retries_of,
    .children_of = sql_children_of,
    .facts = pg_facts,
};

/* As sql_catalog, but for what costs a round trip a job. */
static const struct store_catalog catalog = {
    .job_get = sql_job_get,
    .jobs_get = pg_jobs_get,
    .jobs_stop = sql_jobs_stop,
    .job_insert = pg_job_insert,
    .job_update = pg_job_update,
    .job_delete = sql_job_delete,
    .scripts_each = sql_scripts_each,
    .script_get = sql_script_get,
    .script_add = sql_script_add,
    .group_get = sql_group_get,
    .groups_get = sql_groups_get,
    .group_jobs = sql_group_jobs,
    .job_parents = sql_job_parents,
    .groups_each = sql_groups_each,
    .group_insert = sql_group_insert,
    .group_update = sql_group_update,
    .group_delete = sql_group_delete,
    .group_token_get = sql_group_token_get,
    .group_token_put = sql_group_token_put,
    .group_tokens_each = sql_group_tokens_each,
    .group_moved_put = sql_group_moved_put,
    .group_moved_each = sql_group_moved_each,
    .registry_each = sql_registry_each,
    .registry_put = sql_registry_put,
    .registry_delete = sql_registry_delete,
};

const struct store_ops store_postgres_ops = {
    .name = "postgres",
    .close = pg_close,
    .txn = &txn,
    .runs = &runs,
    .catalog = &catalog,
    .users = &sql_users,
    .pages = &pages,
    .figures = &sql_figures,
    .alarms = &sql_alarms,
    .rules = &sql_rules,
    .cluster = &sql_cluster,
};
