/* SPDX-License-Identifier: Apache-2.0 */
/* Figures on SQLite: a commit's ends as bytes, rows that are added to, how each job is doing, and
 * XXL-JOB's report. */
#include "base/buf.h"
#include "base/mem.h"
#include "store/sqlite/sqlite_db.h"
#include <assert.h>
#include <string.h>

static struct slice col_blob(sqlite3_stmt *q, int i)
{
    const void *p = sqlite3_column_blob(q, i); /* before its length is asked for */
    return slice_of(p, (size_t)sqlite3_column_bytes(q, i));
}

/* Behind what is there, should another program have taken the row with the number away. */
static enum err delta_add(struct store *store, struct slice ends, int64_t *ret_n, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err =
        sql_get(s,
                "INSERT INTO peal_delta (n, epoch, ends) VALUES (1 + max("
                "ifnull((SELECT batch FROM peal_epoch WHERE epoch = 1 AND batch < 1 << 53), 0), "
                "ifnull((SELECT max(n) FROM peal_delta WHERE n < 1 << 53), 0)), 1, ?1) "
                "RETURNING n",
                &q, why);
    if (err)
        return err;
    bind_blob(q, 1, ends);
    return sql_number(s, q, 0, ret_n, why);
}

static bool delta_row(sqlite3_stmt *q, void *fn, void *ctx)
{
    return (*(delta_row_fn **)fn)(ctx, col_i64(q, 0, 0), col_blob(q, 1));
}

static enum err deltas_each(struct store *store, delta_row_fn *fn, void *ctx, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, "SELECT n, ends FROM peal_delta ORDER BY n", &q, why);
    return err ? err : sql_each(s, q, delta_row, &fn, ctx, NULL, why);
}

static enum err deltas_drop(struct store *store, int64_t through, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, "DELETE FROM peal_delta WHERE n <= ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, through);
    return sql_run(s, q, why);
}

/* In the order of enum outcome, without its first. */
#define FIGURE_COLUMNS                                                                             \
    "succeeded, failed, timed_out, killed, lost, rejected, skipped, withdrawn, took_ms, "          \
    "late_ms, took_max_ms, late_max_ms"
#define FIGURE_NUMBERS (OUTCOME_COUNT - 1 + 4)

static void figure_bind(sqlite3_stmt *q, int i, const struct figure *f)
{
    for (int k = 1; k < OUTCOME_COUNT; k++)
        bind_i64(q, i++, f->counts[k]);
    bind_i64(q, i++, f->took_ms);
    bind_i64(q, i++, f->late_ms);
    bind_i64(q, i++, f->took_max_ms);
    bind_i64(q, i, f->late_max_ms);
}

static void figure_column(sqlite3_stmt *q, int i, struct figure *f)
{
    *f = (struct figure){ .took_ms = 0 };
    for (int k = 1; k < OUTCOME_COUNT; k++)
        f->counts[k] = col_i64(q, i++, 0);
    f->took_ms = col_i64(q, i++, 0);
    f->late_ms = col_i64(q, i++, 0);
    f->took_max_ms = col_i64(q, i++, 0);
    f->late_max_ms = col_i64(q, i, 0);
}

/* The row's durations with those that it has on disk, as bytes. Damaged ones are begun anew. */
static enum err durations_with(struct sqlite *s, const struct figure_row *r, struct buf *ret,
                               struct why *why)
{
    uint32_t counts[DURATION_BUCKETS];
    memcpy(counts, r->durations, sizeof(counts));
    sqlite3_stmt *q;
    bool row = false;
    enum err err = sql_get(s,
                           "SELECT durations FROM peal_figure WHERE slot = ?1 AND group_id = ?2 "
                           "AND job_id = ?3 AND node = ?4",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, r->slot);
    bind_i64(q, 2, r->group_id);
    bind_i64(q, 3, r->job_id);
    bind_i64(q, 4, s->node);
    err = sql_step(s, q, &row, why);
    if (!err && row)
        (void)!durations_add(counts, col_blob(q, 0));
    if (!err && row)
        sqlite3_reset(q);
    durations_put(ret, counts);
    return err;
}

static enum err figure_add_row(struct sqlite *s, sqlite3_stmt *q, const struct figure_row *r,
                               struct why *why)
{
    struct buf durations = BUF_INIT(DURATION_BUCKETS * 8);
    enum err err = r->durations ? durations_with(s, r, &durations, why) : OK;
    if (!err) {
        bind_i64(q, 1, r->slot);
        bind_i64(q, 2, r->group_id);
        bind_i64(q, 3, r->job_id);
        bind_i64(q, 4, s->node);
        bind_i64(q, 5, r->through);
        figure_bind(q, 6, &r->figure);
        if (durations.len)
            bind_blob(q, 6 + FIGURE_NUMBERS, slice_of(durations.data, durations.len));
        else
            sqlite3_bind_null(q, 6 + FIGURE_NUMBERS);
        err = sql_run(s, q, why);
    }
    buf_done(&durations);
    return err;
}

/* A sum beyond 64 bits, of what another program has written, stays at their end. */
#define ADDED(column) column " = CAST(" column " + excluded." column " AS INTEGER), "

static enum err figures_add(struct store *store, const struct figure_row *rows, int n,
                            struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    static_assert(FIGURE_NUMBERS == 12, "the statement names them");
    enum err err = sql_get(
        s,
        "INSERT INTO peal_figure (slot, group_id, job_id, node, through, " FIGURE_COLUMNS
        ", durations) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, "
        "?16, ?17, ?18) ON CONFLICT (slot, group_id, job_id, node) DO UPDATE SET "
        "through = excluded.through, " ADDED("succeeded") ADDED("failed") ADDED("timed_out")
            ADDED("killed") ADDED("lost") ADDED("rejected") ADDED("skipped") ADDED("withdrawn")
                ADDED("took_ms")
                    ADDED("late_ms") "took_max_ms = max(took_max_ms, excluded.took_max_ms), "
                                     "late_max_ms = max(late_max_ms, excluded.late_max_ms), "
                                     "durations = ifnull(excluded.durations, durations) "
                                     "WHERE peal_figure.through < excluded.through",
        &q, why);
    for (int i = 0; !err && i < n; i++)
        err = figure_add_row(s, q, &rows[i], why);
    return err;
}

static enum err figure_get(struct store *store, int64_t slot, int64_t group_id, int64_t job_id,
                           struct figure_row *ret, uint32_t *durations, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    bool row = true, any = false;
    *ret = (struct figure_row){ .slot = slot, .group_id = group_id, .job_id = job_id };
    if (durations)
        memset(durations, 0, DURATION_BUCKETS * sizeof(*durations));
    enum err err = sql_get(s,
                           "SELECT through, durations, " FIGURE_COLUMNS " FROM peal_figure WHERE "
                           "slot = ?1 AND group_id = ?2 AND job_id = ?3",
                           &q, why);
    if (err)
        return err;
    bind_i64(q, 1, slot);
    bind_i64(q, 2, group_id);
    bind_i64(q, 3, job_id);
    while (!(err = sql_step(s, q, &row, why)) && row) {
        struct figure f;
        int64_t through = col_i64(q, 0, 0);
        if (!any || through > ret->through)
            ret->through = through;
        any = true;
        if (durations)
            (void)!durations_add(durations, col_blob(q, 1));
        figure_column(q, 2, &f);
        figure_add(&ret->figure, &f);
    }
    return err ? err : any ? OK : ERR_NOTFOUND;
}

static enum err figures_expire(struct store *store, int64_t from, int64_t until, int max,
                               bool *ret_more, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err =
        sql_get(s,
                "DELETE FROM peal_figure WHERE (slot, group_id, job_id, node) IN (SELECT slot, "
                "group_id, job_id, node FROM peal_figure WHERE slot >= ?1 AND slot < ?2 LIMIT ?3)",
                &q, why);
    if (err)
        return err;
    bind_i64(q, 1, from);
    bind_i64(q, 2, until);
    bind_i64(q, 3, max);
    err = sql_run(s, q, why);
    if (!err)
        *ret_more = sqlite3_changes(s->db) >= max;
    return err;
}

static enum err job_stats_put(struct store *store, const struct job_stat_row *rows, int n,
                              struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    struct buf state = BUF_INIT(STAT_BYTES_MAX);
    sqlite3_stmt *q;
    enum err err = sql_get(s,
                           "INSERT INTO peal_job_stat (job_id, node, through, state) VALUES (?1, "
                           "?2, ?3, ?4) ON CONFLICT (job_id, node) DO UPDATE SET "
                           "through = excluded.through, state = excluded.state",
                           &q, why);
    for (int i = 0; !err && i < n; i++) {
        buf_reset(&state);
        job_stat_put(&state, rows[i].stat);
        bind_i64(q, 1, rows[i].job_id);
        bind_i64(q, 2, s->node);
        bind_i64(q, 3, rows[i].through);
        bind_blob(q, 4, slice_of(state.data, state.len));
        err = sql_run(s, q, why);
    }
    buf_done(&state);
    return err;
}

/* A state that cannot be read is an empty one: its commits count as included all the same. */
static bool job_stat_row(sqlite3_stmt *q, void *fn, void *ctx)
{
    struct job_stat stat;
    struct job_stat_row r = { .job_id = col_i64(q, 0, 0),
                              .node = col_i64(q, 1, 0),
                              .through = col_i64(q, 2, 0),
                              .stat = &stat };
    (void)!job_stat_get(col_blob(q, 3), &stat);
    return (*(job_stat_row_fn **)fn)(ctx, &r);
}

static enum err job_stats_each(struct store *store, job_stat_row_fn *fn, void *ctx, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(
        s, "SELECT job_id, node, through, state FROM peal_job_stat WHERE node = ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, s->node);
    return sql_each(s, q, job_stat_row, &fn, ctx, NULL, why);
}

/* ---- XXL-JOB's report ------------------------------------------------------------------------ */

static enum err reports_put(struct store *store, const struct report_row *rows, int n,
                            struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err =
        sql_get(s,
                "INSERT INTO xxl_job_log_report (trigger_day, running_count, suc_count, "
                "fail_count, update_time) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (trigger_day) "
                "DO UPDATE SET running_count = excluded.running_count, suc_count = "
                "excluded.suc_count, fail_count = excluded.fail_count, "
                "update_time = excluded.update_time",
                &q, why);
    for (int i = 0; !err && i < n; i++) {
        bind_i64(q, 1, rows[i].day_ms);
        bind_i64(q, 2, rows[i].running);
        bind_i64(q, 3, rows[i].succeeded);
        bind_i64(q, 4, rows[i].failed);
        bind_i64(q, 5, rows[i].updated_ms);
        err = sql_run(s, q, why);
    }
    return err;
}

static bool report_row(sqlite3_stmt *q, void *fn, void *ctx)
{
    const struct report_row r = { col_i64(q, 0, 0), col_i64(q, 1, 0), col_i64(q, 2, 0),
                                  col_i64(q, 3, 0), col_i64(q, 4, 0) };
    return (*(report_row_fn **)fn)(ctx, &r);
}

static enum err reports_each(struct store *store, int64_t from_ms, int64_t to_ms, report_row_fn *fn,
                             void *ctx, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err =
        sql_get(s,
                "SELECT trigger_day, running_count, suc_count, fail_count, update_time FROM "
                "xxl_job_log_report WHERE trigger_day BETWEEN ?1 AND ?2 ORDER BY trigger_day",
                &q, why);
    if (err)
        return err;
    bind_i64(q, 1, from_ms);
    bind_i64(q, 2, to_ms);
    return sql_each(s, q, report_row, &fn, ctx, NULL, why);
}

/* The group stands in the log row alone, which is not looked at for all groups. */
static const char *running_text(const struct scope *scope)
{
    if (scope_is_all(scope))
        return "SELECT iif(kind = ?1, due_ms, moment_ms), 0 FROM peal_run WHERE "
               "phase BETWEEN 1 AND 4 AND NOT (phase = 1 AND due_ms > ?2)";
    return "SELECT iif(kind = ?1, due_ms, moment_ms), job_group FROM peal_run "
           "JOIN xxl_job_log ON id = log_id WHERE phase BETWEEN 1 AND 4 AND NOT (phase = 1 AND "
           "due_ms > ?2)";
}

static enum err runs_running(struct store *store, const struct scope *scope, const int64_t *days,
                             int n, int64_t now_ms, int64_t *ret_counts, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    bool row = true, all = scope_is_all(scope);
    memset(ret_counts, 0, (size_t)n * sizeof(*ret_counts));
    enum err err = sql_get(s, running_text(scope), &q, why);
    if (err)
        return err;
    bind_i64(q, 1, KIND_RETRY);
    bind_i64(q, 2, now_ms);
    while (!(err = sql_step(s, q, &row, why)) && row) {
        int64_t at = col_i64(q, 0, 0);
        int i = 0;
        while (i < n && at < days[i])
            i++;
        if (i < n && (all || scope_has(scope, col_i64(q, 1, 0))))
            ret_counts[i]++;
    }
    return err;
}

const struct store_figures sqlite_figures = {
    .delta_add = delta_add,
    .deltas_each = deltas_each,
    .deltas_drop = deltas_drop,
    .figures_add = figures_add,
    .figure_get = figure_get,
    .figures_expire = figures_expire,
    .job_stats_put = job_stats_put,
    .job_stats_each = job_stats_each,
    .reports_put = reports_put,
    .reports_each = reports_each,
    .runs_running = runs_running,
};
