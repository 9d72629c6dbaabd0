/* SPDX-License-Identifier: Apache-2.0 */
/* Figures on any engine that speaks SQL: a commit's ends as bytes, rows that are added to, how each
 * job is doing, and XXL-JOB's report. */
#include "base/buf.h"
#include "base/mem.h"
#include "store/shared.h"
#include "store/sql/tables.h"
#include <assert.h>
#include <string.h>

/* Of what several servers have, a statement asks for one life's: ?1. */
static enum err number_of(struct sql *s, const char *text, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s, text, &q, why);
    if (!err && s->shared)
        sql_bind_i64(q, 1, s->epoch);
    return err ? err : sql_one(q, 0, ret, why);
}

#define OF_NODE "epoch IN (SELECT epoch FROM peal_epoch WHERE node = ?1)"

/* Behind what is there, should another program have taken the row with the number away. */
static enum err delta_add(struct store *store, struct slice ends, int64_t *ret_n, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    int64_t batch = 0, last = 0;
    enum err err = number_of(s,
                             s->shared ? "SELECT batch FROM peal_epoch WHERE epoch = ?1"
                             : s->driver->epochs
                                 ? "SELECT batch FROM peal_epoch WHERE batch < 9007199254740992 "
                                   "ORDER BY epoch DESC LIMIT 1"
                                 : "SELECT batch FROM peal_epoch WHERE epoch = 1 AND "
                                   "batch < 9007199254740992",
                             &batch, why);
    if (!err)
        err = number_of(s,
                        s->shared ? "SELECT max(n) FROM peal_delta WHERE epoch = ?1"
                                  : "SELECT max(n) FROM peal_delta WHERE n < 9007199254740992",
                        &last, why);
    if (!err)
        err = sql_query(s, "INSERT INTO peal_delta (n, epoch, ends) VALUES (?1, ?2, ?3)", &q, why);
    if (err)
        return err;
    int64_t n = 1 + (batch > last ? batch : last);
    sql_bind_i64(q, 1, n);
    sql_bind_i64(q, 2, s->shared ? s->epoch : 1);
    sql_bind_blob(q, 3, ends);
    err = sql_do(q, why);
    if (!err)
        *ret_n = n;
    return err;
}

static bool delta_lend(struct sql_query *q, void *fn, void *ctx)
{
    return (*(delta_row_fn **)fn)(ctx, sql_i64(q, 0, 0), sql_blob(q, 1));
}

static enum err deltas_each(struct store *store, delta_row_fn *fn, void *ctx, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err =
        sql_query(s,
                  s->shared ? "SELECT n, ends FROM peal_delta WHERE " OF_NODE " ORDER BY n"
                            : "SELECT n, ends FROM peal_delta ORDER BY n",
                  &q, why);
    if (!err && s->shared)
        sql_bind_i64(q, 1, s->node);
    return err ? err : sql_rows(q, delta_lend, &fn, ctx, why);
}

enum err sql_deltas_of(struct store *store, int64_t node, int64_t after, int64_t below,
                       int64_t limit, delta_row_fn *fn, void *ctx, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT n, ends FROM peal_delta WHERE " OF_NODE
                             " AND n > ?2 AND n < ?3 ORDER BY n LIMIT ?4",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, node);
    sql_bind_i64(q, 2, after);
    sql_bind_i64(q, 3, below);
    sql_bind_i64(q, 4, limit);
    return sql_rows(q, delta_lend, &fn, ctx, why);
}

static enum err deltas_drop(struct store *store, int64_t through, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    if (!s->shared)
        return sql_change_by_id(s, "DELETE FROM peal_delta WHERE n <= ?1", through, NULL, why);
    enum err err = sql_query(s, "DELETE FROM peal_delta WHERE " OF_NODE " AND n <= ?2", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, s->node);
    sql_bind_i64(q, 2, through);
    return sql_do(q, why);
}

/* In the order of enum outcome, without its first. */
#define FIGURE_COLUMNS                                                                             \
    "succeeded, failed, timed_out, killed, lost, rejected, skipped, withdrawn, took_ms, "          \
    "late_ms, took_max_ms, late_max_ms"
#define FIGURE_NUMBERS (OUTCOME_COUNT - 1 + 4)

static void figure_bind(struct sql_query *q, int i, const struct figure *f)
{
    for (int k = 1; k < OUTCOME_COUNT; k++)
        sql_bind_i64(q, i++, f->counts[k]);
    sql_bind_i64(q, i++, f->took_ms);
    sql_bind_i64(q, i++, f->late_ms);
    sql_bind_i64(q, i++, f->took_max_ms);
    sql_bind_i64(q, i, f->late_max_ms);
}

static void figure_column(struct sql_query *q, int i, struct figure *f)
{
    *f = (struct figure){ .took_ms = 0 };
    for (int k = 1; k < OUTCOME_COUNT; k++)
        f->counts[k] = sql_i64(q, i++, 0);
    f->took_ms = sql_i64(q, i++, 0);
    f->late_ms = sql_i64(q, i++, 0);
    f->took_max_ms = sql_i64(q, i++, 0);
    f->late_max_ms = sql_i64(q, i, 0);
}

/* What is on disk of a row. */
struct old_figure {
    bool there;
    int64_t through;
    struct figure figure;
    uint32_t durations[DURATION_BUCKETS]; /* with those of the new row */
};

static void key_bind(struct sql_query *q, int i, const struct sql *s, const struct figure_row *r)
{
    sql_bind_i64(q, i++, r->slot);
    sql_bind_i64(q, i++, r->group_id);
    sql_bind_i64(q, i++, r->job_id);
    sql_bind_i64(q, i, s->node);
}

/* Durations that are damaged are begun anew. */
static enum err figure_old(struct sql *s, const struct figure_row *r, struct old_figure *ret,
                           struct why *why)
{
    struct sql_query *q;
    *ret = (struct old_figure){ .there = false };
    if (r->durations)
        memcpy(ret->durations, r->durations, sizeof(ret->durations));
    enum err err = sql_query(s,
                             "SELECT through, durations, " FIGURE_COLUMNS " FROM peal_figure WHERE "
                             "slot = ?1 AND group_id = ?2 AND job_id = ?3 AND node = ?4",
                             &q, why);
    if (err)
        return err;
    key_bind(q, 1, s, r);
    err = sql_next(q, &ret->there, why);
    if (err || !ret->there)
        return err;
    ret->through = sql_i64(q, 0, 0);
    if (r->durations)
        (void)!durations_add(ret->durations, sql_blob(q, 1));
    figure_column(q, 2, &ret->figure);
    sql_reset(q);
    return OK;
}

/* Sums, which stay at the end of 64 bits should another program have written more. */
static enum err figure_put(struct sql *s, const struct figure_row *r, struct old_figure *old,
                           struct why *why)
{
    static_assert(FIGURE_NUMBERS == 12, "the statements name them");
    static const char *const texts[] = {
        "INSERT INTO peal_figure (through, " FIGURE_COLUMNS ", durations, slot, group_id, job_id, "
        "node) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, "
        "?18)",
        "UPDATE peal_figure SET through = ?1, succeeded = ?2, failed = ?3, timed_out = ?4, "
        "killed = ?5, lost = ?6, rejected = ?7, skipped = ?8, withdrawn = ?9, took_ms = ?10, "
        "late_ms = ?11, took_max_ms = ?12, late_max_ms = ?13, durations = coalesce(?14, durations) "
        "WHERE slot = ?15 AND "
        "group_id = ?16 AND job_id = ?17 AND node = ?18",
    };
    struct buf durations = BUF_INIT(DURATION_BUCKETS * 8);
    struct sql_query *q;
    enum err err = sql_query(s, texts[old->there], &q, why);
    if (err)
        return err;
    figure_add(&old->figure, &r->figure);
    if (r->durations)
        durations_put(&durations, old->durations);
    sql_bind_i64(q, 1, r->through);
    figure_bind(q, 2, &old->figure);
    if (durations.len)
        sql_bind_blob(q, 2 + FIGURE_NUMBERS, slice_of(durations.data, durations.len));
    else
        sql_bind_null(q, 2 + FIGURE_NUMBERS);
    key_bind(q, 3 + FIGURE_NUMBERS, s, r);
    err = sql_do(q, why);
    buf_done(&durations);
    return err;
}

static enum err figures_add(struct store *store, const struct figure_row *rows, int n,
                            struct why *why)
{
    struct sql *s = sql_of(store);
    enum err err = OK;
    for (int i = 0; !err && i < n; i++) {
        struct old_figure old;
        err = figure_old(s, &rows[i], &old, why);
        if (!err && (!old.there || old.through < rows[i].through))
            err = figure_put(s, &rows[i], &old, why);
    }
    return err;
}

static enum err figure_get(struct store *store, int64_t slot, int64_t group_id, int64_t job_id,
                           struct figure_row *ret, uint32_t *durations, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    bool row = true, any = false;
    *ret = (struct figure_row){ .slot = slot, .group_id = group_id, .job_id = job_id };
    if (durations)
        memset(durations, 0, DURATION_BUCKETS * sizeof(*durations));
    enum err err = sql_query(s,
                             "SELECT through, durations, " FIGURE_COLUMNS " FROM peal_figure WHERE "
                             "slot = ?1 AND group_id = ?2 AND job_id = ?3",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, slot);
    sql_bind_i64(q, 2, group_id);
    sql_bind_i64(q, 3, job_id);
    while (!(err = sql_next(q, &row, why)) && row) {
        struct figure f;
        int64_t through = sql_i64(q, 0, 0);
        if (!any || through > ret->through)
            ret->through = through;
        any = true;
        if (durations)
            (void)!durations_add(durations, sql_blob(q, 1));
        figure_column(q, 2, &f);
        figure_add(&ret->figure, &f);
    }
    return err ? err : any ? OK : ERR_NOTFOUND;
}

static bool figure_node_lend(struct sql_query *q, void *fn, void *ctx)
{
    uint32_t durations[DURATION_BUCKETS] = { 0 };
    struct figure_row r = { .node = sql_i64(q, 0, 0), .through = sql_i64(q, 1, 0) };
    (void)!durations_add(durations, sql_blob(q, 2));
    r.durations = durations;
    figure_column(q, 3, &r.figure);
    return (*(figure_row_fn **)fn)(ctx, &r);
}

enum err sql_figure_nodes(struct store *store, int64_t slot, int64_t group_id, int64_t job_id,
                          figure_row_fn *fn, void *ctx, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(sql_of(store),
                             "SELECT node, through, durations, " FIGURE_COLUMNS
                             " FROM peal_figure WHERE slot = ?1 AND group_id = ?2 AND job_id = ?3",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, slot);
    sql_bind_i64(q, 2, group_id);
    sql_bind_i64(q, 3, job_id);
    return sql_rows(q, figure_node_lend, &fn, ctx, why);
}

static bool figure_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct figure_row r = { .slot = sql_i64(q, 0, 0),
                            .group_id = sql_i64(q, 1, 0),
                            .node = sql_i64(q, 2, 0),
                            .through = sql_i64(q, 3, 0) };
    figure_column(q, 4, &r.figure);
    return (*(figure_row_fn **)fn)(ctx, &r);
}

static enum err figures_each(struct store *store, int64_t from, int64_t until, figure_row_fn *fn,
                             void *ctx, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s,
                             "SELECT slot, group_id, node, through, " FIGURE_COLUMNS
                             " FROM peal_figure WHERE slot >= ?1 AND slot < ?2 AND job_id = 0 "
                             "ORDER BY slot",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, from);
    sql_bind_i64(q, 2, until);
    return sql_rows(q, figure_lend, &fn, ctx, why);
}

static enum err figures_expire(struct store *store, int64_t from, int64_t until, int max,
                               bool *ret_more, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err =
        sql_query(s,
                  "DELETE FROM peal_figure WHERE slot >= ?1 AND slot < ?2 AND (slot, group_id, "
                  "job_id, node) IN (SELECT slot, group_id, job_id, node FROM (SELECT slot, "
                  "group_id, job_id, node FROM "
                  "peal_figure WHERE slot >= ?1 AND slot < ?2 LIMIT ?3) AS old)",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, from);
    sql_bind_i64(q, 2, until);
    sql_bind_i64(q, 3, max);
    int64_t gone = 0;
    err = sql_change(q, &gone, why);
    if (!err)
        *ret_more = gone >= max;
    return err;
}

static enum err job_stat_write(struct sql *s, const struct job_stat_row *r, struct slice state,
                               struct why *why)
{
    static const char *const texts[] = {
        "UPDATE peal_job_stat SET through = ?1, state = ?2 WHERE job_id = ?3 AND node = ?4",
        "INSERT INTO peal_job_stat (through, state, job_id, node) VALUES (?1, ?2, ?3, ?4)",
    };
    int64_t rows = 0;
    enum err err = OK;
    for (size_t i = 0; !err && !rows && i < countof(texts); i++) {
        struct sql_query *q;
        err = sql_query(s, texts[i], &q, why);
        if (err)
            break;
        sql_bind_i64(q, 1, r->through);
        sql_bind_blob(q, 2, state);
        sql_bind_i64(q, 3, r->job_id);
        sql_bind_i64(q, 4, s->node);
        err = sql_change(q, &rows, why);
    }
    return err;
}

static enum err job_stats_put(struct store *store, const struct job_stat_row *rows, int n,
                              struct why *why)
{
    struct buf state = BUF_INIT(STAT_BYTES_MAX);
    enum err err = OK;
    for (int i = 0; !err && i < n; i++) {
        buf_reset(&state);
        job_stat_put(&state, rows[i].stat);
        err = job_stat_write(sql_of(store), &rows[i], slice_of(state.data, state.len), why);
    }
    buf_done(&state);
    return err;
}

/* A state that cannot be read is an empty one: its commits count as included all the same. */
static bool job_stat_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct job_stat stat;
    struct job_stat_row r = { .job_id = sql_i64(q, 0, 0),
                              .node = sql_i64(q, 1, 0),
                              .through = sql_i64(q, 2, 0),
                              .stat = &stat };
    (void)!job_stat_get(sql_blob(q, 3), &stat);
    return (*(job_stat_row_fn **)fn)(ctx, &r);
}

static enum err job_stats_each(struct store *store, job_stat_row_fn *fn, void *ctx, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s, "SELECT job_id, node, through, state FROM peal_job_stat", &q, why);
    if (err)
        return err;
    return sql_rows(q, job_stat_lend, &fn, ctx, why);
}

/* ---- XXL-JOB's report ------------------------------------------------------------------------ */

static enum err report_write(struct sql *s, const struct report_row *r, struct why *why)
{
    static const char *const texts[] = {
        "UPDATE xxl_job_log_report SET running_count = ?1, suc_count = ?2, fail_count = ?3, "
        "update_time = {time ?4} WHERE trigger_day = {time ?5}",
        "INSERT INTO xxl_job_log_report (running_count, suc_count, fail_count, update_time, "
        "trigger_day) VALUES (?1, ?2, ?3, {time ?4}, {time ?5})",
    };
    int64_t rows = 0;
    enum err err = OK;
    for (size_t i = 0; !err && !rows && i < countof(texts); i++) {
        struct sql_query *q;
        err = sql_query(s, texts[i], &q, why);
        if (err)
            break;
        sql_bind_i64(q, 1, r->running);
        sql_bind_i64(q, 2, r->succeeded);
        sql_bind_i64(q, 3, r->failed);
        sql_bind_i64(q, 4, r->updated_ms);
        sql_bind_i64(q, 5, r->day_ms);
        err = sql_change(q, &rows, why);
    }
    return err;
}

static enum err reports_put(struct store *store, const struct report_row *rows, int n,
                            struct why *why)
{
    enum err err = OK;
    for (int i = 0; !err && i < n; i++)
        err = report_write(sql_of(store), &rows[i], why);
    return err;
}

static bool report_lend(struct sql_query *q, void *fn, void *ctx)
{
    const struct report_row r = { sql_i64(q, 0, 0), sql_i64(q, 1, 0), sql_i64(q, 2, 0),
                                  sql_i64(q, 3, 0), sql_i64(q, 4, 0) };
    return (*(report_row_fn **)fn)(ctx, &r);
}

static enum err reports_each(struct store *store, int64_t from_ms, int64_t to_ms, report_row_fn *fn,
                             void *ctx, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err =
        sql_query(s,
                  "SELECT {ms trigger_day}, running_count, suc_count, fail_count, {ms update_time} "
                  "FROM xxl_job_log_report WHERE trigger_day BETWEEN {time ?1} AND {time ?2} "
                  "ORDER BY trigger_day",
                  &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, from_ms);
    sql_bind_i64(q, 2, to_ms);
    return sql_rows(q, report_lend, &fn, ctx, why);
}

#define SCHEDULED_MS "CASE WHEN kind = ?1 THEN due_ms ELSE moment_ms END"

/* The group stands in the log row alone, which is not looked at for all groups. */
static const char *running_text(const struct scope *scope)
{
    if (scope_is_all(scope))
        return "SELECT " SCHEDULED_MS ", 0 FROM peal_run WHERE "
               "phase BETWEEN 1 AND 4 AND NOT (phase = 1 AND due_ms > ?2)";
    return "SELECT " SCHEDULED_MS ", job_group FROM peal_run "
           "JOIN xxl_job_log ON id = log_id WHERE phase BETWEEN 1 AND 4 AND NOT (phase = 1 AND "
           "due_ms > ?2)";
}

static enum err runs_running(struct store *store, const struct scope *scope, const int64_t *days,
                             int n, int64_t now_ms, int64_t *ret_counts, struct why *why)
{
    struct sql_query *q;
    bool row = true, all = scope_is_all(scope);
    memset(ret_counts, 0, (size_t)n * sizeof(*ret_counts));
    enum err err = sql_query(sql_of(store), running_text(scope), &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, KIND_RETRY);
    sql_bind_i64(q, 2, now_ms);
    while (!(err = sql_next(q, &row, why)) && row) {
        int64_t at = sql_i64(q, 0, 0);
        int i = 0;
        while (i < n && at < days[i])
            i++;
        if (i < n && (all || scope_has(scope, sql_i64(q, 1, 0))))
            ret_counts[i]++;
    }
    return err;
}

const struct store_figures sql_figures = STORE_FIGURES;
