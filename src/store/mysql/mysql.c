/* SPDX-License-Identifier: Apache-2.0 */
/* A database on a MySQL or MariaDB server: opening, transactions.
 *
 * One writing handle at a time: it opens with an epoch of its own, which ends those before it, and
 * a transaction of an epoch that has ended is never committed (epoch.h). */
#include "store/mysql/mysql.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/mysql/my_db.h"
#include "store/sql/clock.h"
#include "store/sql/epoch.h"
#include <assert.h>
#include <mysql.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- transactions ---------------------------------------------------------------------------- */

static void my_rollback(struct store *store)
{
    struct mydb *s = my_of(store);
    struct why why = { "" };
    if (!s->in_transaction)
        return;
    bool waited = s->lost == ERR_BUSY;
    if (s->db && my_exec(s, "ROLLBACK", &why))
        my_disconnect(s); /* the server rolls back then */
    s->in_transaction = false;
    my_lock_over(s);
    s->lost = OK;
    s->now = s->begun;
    if (waited && !s->sql.bulk)
        my_blocker_tell(s);
}

static enum err my_begin(struct store *store, struct why *why)
{
    struct mydb *s = my_of(store);
    assert(!s->in_transaction && !s->in_page);
    bool locked = my_lock_begun(s);
    enum err err = locked ? OK : my_exec(s, "START TRANSACTION", why);
    if (err)
        return err;
    s->in_transaction = true;
    s->plan_locked = locked;
    s->has_saved = false;
    s->lost = OK;
    s->lost_text[0] = '\0';
    s->now.nspans = 0;
    s->begun = s->now;
    err = sql_follow(&s->sql, why);
    if (err)
        my_rollback(store);
    return err;
}

/* A server that has dropped the transaction by itself would commit what came after. */
static enum err still_there(struct mydb *s, struct why *why)
{
    if (s->db->server_status & SERVER_STATUS_IN_TRANS)
        return OK;
    return my_fail(s, 1213, "the server has ended the transaction", why);
}

/* A server of a Galera cluster that loses the others meanwhile says that it failed, also where they
 * have the transaction by then. */
static bool unheard(unsigned code)
{
    return my_gone(code) || code == MY_COMMIT_FAILED;
}

static enum err send_commit(struct mydb *s, struct why *why)
{
    static const char text[] = "COMMIT";
    if (!mysql_real_query(s->db, text, sizeof(text) - 1))
        return OK;
    unsigned code = mysql_errno(s->db);
    enum err err = my_fail(s, code, mysql_error(s->db), why);
    if (!unheard(code))
        return err;
    my_disconnect(s);
    s->begun = s->now; /* it may have been committed: its ids are not given again */
    s->lost = ERR_UNHEARD;
    return ERR_UNHEARD;
}

static enum err my_commit(struct store *store, const struct commit *c, struct why *why)
{
    struct mydb *s = my_of(store);
    assert(s->in_transaction);
    if (s->lost) {
        why_set(why, "%s", s->lost_text);
        return s->lost;
    }
    enum err err = s->sql.bulk ? OK : my_ledger_flush(s, why);
    if (!err && !s->sql.bulk)
        err = sql_epoch_flush(&s->sql, c, why);
    if (!err)
        err = still_there(s, why);
    if (!err)
        err = send_commit(s, why);
    if (err)
        return err;
    sql_epoch_committed(&s->sql);
    s->in_transaction = false;
    my_lock_over(s);
    my_ledger_committed(s);
    return OK;
}

static enum err my_savepoint(struct store *store, struct why *why)
{
    struct mydb *s = my_of(store);
    assert(s->in_transaction && !s->has_saved);
    if (s->lost) {
        why_set(why, "%s", s->lost_text);
        return s->lost;
    }
    enum err err = my_exec(s, "SAVEPOINT peal", why);
    s->has_saved = !err;
    s->saved = s->now;
    return err;
}

static enum err my_savepoint_keep(struct store *store, struct why *why)
{
    struct mydb *s = my_of(store);
    assert(s->has_saved);
    s->has_saved = false;
    return my_exec(s, "RELEASE SAVEPOINT peal", why);
}

/* Fails where the server has rolled back the whole transaction, which stays lost. */
static enum err my_savepoint_undo(struct store *store, struct why *why)
{
    struct mydb *s = my_of(store);
    assert(s->has_saved);
    s->has_saved = false;
    enum err err = my_exec(s, "ROLLBACK TO SAVEPOINT peal", why);
    if (!err)
        err = my_exec(s, "RELEASE SAVEPOINT peal", why);
    if (err)
        return err;
    s->lost = OK;
    s->now = s->saved;
    return OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The last that a life does: a Java admin may be started now. */
static void give_back(struct mydb *s)
{
    struct why why = { "" };
    int64_t n = 0;
    if (!s->adopted.is || s->adopted.beside || !s->sql.joined)
        return;
    if (my_adopted_give(s, &n, &why))
        log_warn("store",
                 "XXL-JOB's jobs have no next scheduled time until the next clean stop: %s",
                 why.text);
}

static void my_close(struct store *store)
{
    struct mydb *s = my_of(store);
    my_rollback(store);
    give_back(s);
    if (!s->read_only)
        sql_epoch_leave(&s->sql);
    my_lock_drop(s);
    sql_done(&s->sql);
    my_disconnect(s);
    my_ledger_close(s);
    db_url_wipe(&s->url);
    free(s);
}

extern const struct store_ops store_mysql_ops;

static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void library_init(void)
{
    mysql_library_init(0, NULL, NULL);
}

/* Datetimes are of a zone without summer time: UTC. */
static void formats_make(struct mydb *s)
{
    s->driver = my_driver;
    snprintf(s->ms_of, sizeof(s->ms_of),
             "(timestampdiff(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', %%s) DIV 1000)");
    snprintf(s->time_of, sizeof(s->time_of),
             "timestampadd(MICROSECOND, %%s * 1000, TIMESTAMP'1970-01-01 00:00:00')");
    s->driver.ms_of = s->ms_of;
    s->driver.time_of = s->time_of;
}

static const char *node_name(const struct store_options *options)
{
    return options && options->node_name ? options->node_name : "peal";
}

/* Not a life of its own yet. */
static enum err open_handle(struct mydb *s, const struct db_url *u,
                            const struct store_options *options, struct why *why)
{
    pthread_once(&library_once, library_init);
    s->url = *u;
    s->read_only = options && (options->read_only || options->bulk == STORE_BULK_READ);
    s->beats = options && options->life;
    db_url_text(u, s->name, sizeof(s->name));
    formats_make(s);
    enum err err = sql_init(&s->sql, &store_mysql_ops, &s->driver, options, why);
    if (!err)
        err = my_ready(s, why);
    if (err || s->sql.bulk == STORE_BULK_BARE)
        return err;
    err = sql_clock_check(&s->sql, options ? options->clock_skew_ms : 0, why);
    if (!err)
        err = s->read_only || s->beats ? my_schema_check(s, why) : my_migrate(s, why);
    return err ? err : my_adopted_read(s, why);
}

static enum err begin_life(struct mydb *s, const struct store_options *options, struct why *why)
{
    if (s->adopted.is && s->sql.shared) {
        why_set(why, "%s has the tables of an XXL-JOB in place, which one server alone may use",
                s->name);
        return ERR_INVALID;
    }
    if (s->adopted.beside && s->sql.certified && s->url.nhosts > 1) {
        why_set(why,
                "%s is a Galera cluster, where schedule_lock excludes nobody at another server: "
                "name one server in --db, the one that all Java admins use",
                s->name);
        return ERR_INVALID;
    }
    enum err err = s->adopted.is ? my_adopted_spans(s, why) : OK;
    if (!err)
        err = my_ledger_open(s, why);
    if (!err)
        err = sql_epoch_watch(&s->sql, node_name(options), options ? options->gone_epoch : 0, why);
    if (!err)
        err = sql_epoch_join(&s->sql, node_name(options), why);
    if (!err)
        sql_home_index_drop(&s->sql);
    if (err || !s->adopted.is)
        return err;
    return s->adopted.beside ? my_beside_begin(s, why) : my_adopted_take(s, why);
}

/* Moments of such tables are of the admins' zone there, and it is XXL-JOB's as well. */
static enum err bulk_begin_with(struct mydb *s, struct why *why)
{
    if (s->sql.bulk == STORE_BULK_BARE)
        return OK;
    if (s->adopted.is) {
        why_set(why, "%s has the tables of an XXL-JOB in place, which stay there", s->name);
        return ERR_INVALID;
    }
    return sql_epoch_watch(&s->sql, "", 0, why);
}

enum err mysql_open(const struct db_url *u, const struct store_options *options, struct store **ret,
                    struct why *why)
{
    struct mydb *s = mem_new(sizeof(*s));
    enum err err = open_handle(s, u, options, why);
    if (!err && s->sql.bulk)
        err = bulk_begin_with(s, why);
    else if (!err && !s->read_only && !s->beats)
        err = begin_life(s, options, why);
    if (err) {
        my_close(&s->sql.store);
        return err;
    }
    *ret = &s->sql.store;
    return OK;
}

/* The due index serves a Java admin's scan, the other one a job's log. */
static enum err add_indexes(struct mydb *s, struct why *why)
{
    enum err err = OK;
    if (!s->adopted.due_index)
        err = my_exec(
            s, "CREATE INDEX peal_i_due ON xxl_job_info (trigger_status, trigger_next_time)", why);
    if (!err && !s->adopted.log_index)
        err = my_exec(s, "CREATE INDEX peal_i_jobid ON xxl_job_log (job_id)", why);
    return err;
}

enum err mysql_adopt(const struct db_url *u, const struct mysql_zone *zone, bool index,
                     struct why *why)
{
    struct mydb *s = mem_new(sizeof(*s));
    s->adopt = zone;
    enum err err = open_handle(s, u, NULL, why);
    if (!err)
        err = my_adopted_spans(s, why);
    if (!err && index)
        err = add_indexes(s, why);
    my_close(&s->sql.store);
    return err;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct store_txn txn = {
    .begin = my_begin,
    .commit = my_commit,
    .rollback = my_rollback,
    .plan_lock = my_plan_lock,
    .outcome = sql_outcome,
    .savepoint = my_savepoint,
    .savepoint_keep = my_savepoint_keep,
    .savepoint_undo = my_savepoint_undo,
    .seq_next = sql_seq_next,
    .watermark_get = sql_watermark_get,
    .totals_get = sql_totals_get,
};

static const struct store_runs runs = {
    .due_take = my_due_take,
    .due_put = my_due_put,
    .due_each = my_due_each,
    .runs_add = my_runs_add,
    .runs_change = my_runs_change,
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
    .logs_page = my_logs_page,
    .runs_page = sql_runs_page,
    .groups_page = sql_groups_page,
    .log_get = sql_log_get,
    .story_get = sql_story_get,
    .trace_get = sql_trace_get,
    .retries_of = sql_retries_of,
    .children_of = sql_children_of,
    .facts = my_facts,
    .runs_ended = my_runs_ended,
};

/* As sql_catalog, but that Java admins may have to be told of a job's next scheduled time. */
static const struct store_catalog catalog = {
    .job_get = sql_job_get,
    .jobs_get = sql_jobs_get,
    .jobs_stop = my_jobs_stop,
    .job_insert = my_job_insert,
    .job_update = my_job_update,
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

const struct store_ops store_mysql_ops = {
    .name = "mysql",
    .close = my_close,
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
