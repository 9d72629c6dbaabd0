/* SPDX-License-Identifier: Apache-2.0 */
/* What of planning and the ledger is not paid with every firing, on any engine that speaks SQL:
 * sweeps, skips, late results, counters, and what a server reads when it starts. */
#include "base/buf.h"
#include "base/mem.h"
#include "store/bulk.h"
#include "store/shared.h"
#include "store/sql/tables.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SEQ_BITS 32 /* values of a counter that one life gives, where each has its own */

/* ---- sweeps ---------------------------------------------------------------------------------- */

static void due_read(struct sql_query *q, struct due_row *ret)
{
    ret->job_id = sql_i64(q, 0, 0);
    ret->next_ms = sql_i64(q, 1, NEVER_MS);
    ret->last_ms = sql_i64(q, 2, 0);
    ret->planned_until_ms = sql_i64(q, 3, 0);
    ret->version = sql_i64(q, 4, 0);
}

enum err sql_due_each(struct store *store, bool rate, int64_t after_id, int max,
                      struct due_row *rows, int *ret_n, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(s,
                             "SELECT d.job_id, d.next_ms, d.last_ms, d.planned_until_ms, d.version "
                             "FROM peal_due d JOIN xxl_job_info j ON j.id = d.job_id "
                             "WHERE d.job_id > ?1 AND d.next_ms IS NOT NULL "
                             "AND j.schedule_type IN (?2, ?3) ORDER BY d.job_id LIMIT ?4",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, after_id);
    sql_bind_text(q, 2, rate ? "FIX_RATE" : "CRON");
    sql_bind_text(q, 3, rate ? "FIX_DELAY" : "CRON");
    sql_bind_i64(q, 4, max);
    int n = 0;
    bool row = true;
    for (;;) {
        err = sql_next(q, &row, why);
        if (err)
            return err;
        if (!row)
            break;
        due_read(q, &rows[n++]);
    }
    *ret_n = n;
    return OK;
}

/* ---- beside the rows ------------------------------------------------------------------------- */

/* *ret_done: the job has an earlier row, and that was widened. */
static enum err skip_extend(struct sql *s, const struct skip_row *k, bool *ret_done,
                            struct why *why)
{
    struct sql_query *q;
    int64_t id = 0, rows = 0;
    enum err err = sql_query(s, "SELECT max(id) FROM peal_skip WHERE job_id = ?1", &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, k->job_id);
    err = sql_one(q, 0, &id, why);
    if (err || !id)
        return err;
    err = sql_query(s,
                    "UPDATE peal_skip SET to_ms = CASE WHEN to_ms < ?1 THEN ?1 ELSE to_ms END, "
                    "count = count + ?2 WHERE id = ?3",
                    &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, k->to_ms);
    sql_bind_i64(q, 2, k->count);
    sql_bind_i64(q, 3, id);
    err = sql_change(q, &rows, why);
    *ret_done = !err && rows;
    return err;
}

static enum err skip_insert(struct sql *s, const struct skip_row *k, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s,
                             "INSERT INTO peal_skip (job_id, from_ms, to_ms, count, policy) "
                             "VALUES (?1, ?2, ?3, ?4, ?5)",
                             &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, k->job_id);
    sql_bind_i64(q, 2, k->from_ms);
    sql_bind_i64(q, 3, k->to_ms);
    sql_bind_i64(q, 4, k->count);
    sql_bind_text(q, 5, misfire_text(k->policy));
    return sql_do(q, why);
}

enum err sql_skips_add(struct store *store, const struct skip_row *rows, int n, struct why *why)
{
    struct sql *s = sql_of(store);
    enum err err = OK;
    for (int i = 0; !err && i < n; i++) {
        bool done = false;
        if (rows[i].extend)
            err = skip_extend(s, &rows[i], &done, why);
        if (!err && !done)
            err = skip_insert(s, &rows[i], why);
    }
    return err;
}

struct late_row { /* of the log, without a live row */
    char *msg;    /* that a late result is added to, owned; NULL: it is not noted */
    bool open;    /* it has no end */
    int64_t job_id;
};

#define LATE_TO                                                                                    \
    "SELECT handle_msg, trigger_code, handle_code, job_id FROM xxl_job_log WHERE id = ?1 AND "     \
    "NOT EXISTS (SELECT 1 FROM peal_run WHERE log_id = ?1)"

/* msg: handle_msg of a closed row that was given up, or what stands for it in one without an end.
 * Another server may be about to add to the same text. */
static enum err late_to(struct sql *s, int64_t log_id, struct late_row *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s, s->shared ? LATE_TO " FOR UPDATE" : LATE_TO, &q, why);
    if (err)
        return err;
    sql_bind_i64(q, 1, log_id);
    bool row;
    err = sql_next(q, &row, why);
    if (err || !row)
        return err;
    char *text = sql_text(q, 0);
    ret->open = store_no_end((int)sql_i64(q, 1, 0), (int)sql_i64(q, 2, 0));
    ret->job_id = sql_i64(q, 3, 0);
    sql_reset(q);
    if (ret->open ? !s->store.beside : !store_given_up(text)) {
        free(text);
        text = ret->open ? mem_dup(STORE_NO_LIVE_ROW) : NULL;
    }
    ret->msg = text;
    return OK;
}

/* As a Java admin ends it (XXL-JOB 2.1 to 3.4): whoever comes second finds an end and does nothing.
 */
static enum err end_of_theirs(struct sql *s, struct late_result *late, const struct late_row *row,
                              struct why *why)
{
    struct sql_query *q;
    int64_t changed = 0;
    enum err err = sql_query(s,
                             "UPDATE {cut xxl_job_log} SET handle_msg = ?2, handle_code = ?3, "
                             "handle_time = {time ?4} WHERE id = ?1 AND handle_code = 0",
                             &q, why);
    if (err)
        return err;
    char *text = store_end_text(row->msg, late->msg);
    sql_bind_i64(q, 1, late->log_id);
    sql_bind_text(q, 2, text);
    sql_bind_i64(q, 3, late->code);
    sql_bind_i64(q, 4, late->at_ms);
    err = sql_change(q, &changed, why);
    free(text);
    if (changed && late->code == 200)
        late->parent = row->job_id;
    return err;
}

static enum err late_note(struct sql *s, struct late_result *late, const struct late_row *row,
                          int *noted, struct why *why)
{
    char *text = store_late_text(row->msg, late);
    bool open = row->open;
    if (!text)
        return OK;
    struct sql_query *q;
    enum err err =
        sql_query(s,
                  open ? "UPDATE {cut xxl_job_log} SET handle_msg = ?2, handle_code = ?3, "
                         "handle_time = {time ?4} WHERE id = ?1"
                       : "UPDATE {cut xxl_job_log} SET handle_msg = ?2 WHERE id = ?1",
                  &q, why);
    if (!err) {
        sql_bind_i64(q, 1, late->log_id);
        sql_bind_text(q, 2, text);
        if (open) {
            sql_bind_i64(q, 3, late->code);
            sql_bind_i64(q, 4, late->at_ms);
        }
        err = sql_do(q, why);
        ++*noted;
    }
    free(text);
    return err;
}

static enum err late_one(struct sql *s, struct late_result *late, int *noted, struct why *why)
{
    struct late_row row = { 0 };
    late->parent = 0;
    enum err err = late_to(s, late->log_id, &row, why);
    if (!err && row.open && s->store.beside)
        err = end_of_theirs(s, late, &row, why);
    else if (!err && row.msg)
        err = late_note(s, late, &row, noted, why);
    free(row.msg);
    return err;
}

enum err sql_late_add(struct store *store, struct late_result *late, int n, int *ret_noted,
                      struct why *why)
{
    enum err err = OK;
    int noted = 0;
    for (int i = 0; !err && i < n; i++)
        err = late_one(sql_of(store), &late[i], &noted, why);
    if (!err)
        *ret_noted = noted;
    return err;
}

static enum err seq_value(struct sql *s, const char *name, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    enum err err = sql_query(s, "SELECT value FROM peal_seq WHERE name = ?1", &q, why);
    if (err)
        return err;
    sql_bind_text(q, 1, name);
    return sql_one(q, 0, ret, why);
}

enum err sql_seq_next(struct store *store, const char *name, int n, int64_t *ret_first,
                      struct why *why)
{
    static const char *const texts[] = {
        "UPDATE peal_seq SET value = value + ?1 WHERE name = ?2",
        "INSERT INTO peal_seq (value, name) VALUES (?1, ?2)",
    };
    struct sql *s = sql_of(store);
    int64_t rows = 0, last = 0;
    enum err err = OK;
    if (s->shared) { /* no row that all servers write; what is undone leaves a gap */
        *ret_first = (s->epoch << SEQ_BITS) + s->counted + 1;
        s->counted += n;
        return OK;
    }
    for (size_t i = 0; !err && !rows && i < countof(texts); i++) {
        struct sql_query *q;
        err = sql_query(s, texts[i], &q, why);
        if (err)
            break;
        sql_bind_i64(q, 1, n);
        sql_bind_text(q, 2, name);
        err = sql_change(q, &rows, why);
    }
    if (!err)
        err = seq_value(s, name, &last, why);
    if (!err)
        *ret_first = last - n + 1;
    return err;
}

/* ---- start ----------------------------------------------------------------------------------- */

enum err sql_move_ended(struct sql *s, struct why *why)
{
    struct sql_query *q;
    int64_t moves = 0, all = 0;
    enum err err = sql_query(s,
                             "SELECT count(*) FROM peal_seq WHERE name IN ('" SQL_MOVE_FROM
                             "', '" BULK_MARK_IMPORT "')",
                             &q, why);
    if (!err)
        err = sql_one(q, 0, &all, why);
    if (err || all == 0)
        return err;
    err = sql_query(s, "SELECT count(*) FROM peal_seq WHERE name = '" SQL_MOVE_FROM "'", &q, why);
    if (!err)
        err = sql_one(q, 0, &moves, why);
    if (err)
        return err;
    why_set(why,
            "%s into this database has begun and has not ended, so it has a part of the other "
            "one's rows: finish it with the same peal db %s, or drop the database",
            moves ? "a move" : "an import", moves ? "move" : "import");
    return ERR_INVALID;
}

/* The last log id that was given. A server engine counts them itself, and what has been deleted
 * since was not open. */
static enum err last_id(struct sql *s, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    int64_t live = 0;
    if (!s->driver->epochs)
        return seq_value(s, "log", ret, why);
    enum err err = sql_query(s, "SELECT max(log_id) FROM peal_run", &q, why);
    if (!err)
        err = sql_one(q, 0, &live, why);
    if (!err)
        err = sql_query(s, "SELECT max(id) FROM xxl_job_log", &q, why);
    if (!err)
        err = sql_one(q, 0, ret, why);
    if (!err && *ret < live)
        *ret = live;
    return err;
}

enum err sql_watermark_get(struct store *store, struct watermark *ret, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    struct watermark m = { 0 };
    bool row = false;
    enum err err = sql_query(s,
                             s->driver->epochs && !s->shared
                                 ? "SELECT watermark_ms, clean, recorder, renewals, batch FROM "
                                   "peal_epoch ORDER BY epoch DESC LIMIT 1"
                                 : "SELECT watermark_ms, clean, recorder, renewals, batch FROM "
                                   "peal_epoch WHERE epoch = ?1",
                             &q, why);
    if (!err && (s->shared || !s->driver->epochs))
        sql_bind_i64(q, 1, s->shared ? s->epoch : 1);
    if (!err)
        err = sql_next(q, &row, why);
    if (err)
        return err;
    if (row) {
        m.until_ms = sql_i64(q, 0, 0);
        m.clean = sql_i64(q, 1, 0) == 1;
        sql_text_copy(q, 2, m.recorder, sizeof(m.recorder));
        m.renewals = sql_i64(q, 3, 0);
        m.batch = sql_i64(q, 4, 0);
    }
    sql_reset(q);
    err = last_id(s, &m.last_id, why);
    if (!err)
        err = seq_value(s, "trace", &m.trace_key, why);
    if (!err)
        *ret = m;
    return err;
}

#define OPEN_RUNS "(SELECT count(*) FROM peal_run WHERE phase BETWEEN 1 AND 4)"

/* Totals of all lives and open runs in one statement, which sees one state of the database: a
 * commit between two would look like runs unaccounted for. */
static enum err totals_read(struct sql *s, struct totals *ret, int64_t *ret_open, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(
        s,
        s->driver->epochs ? "SELECT sum(planned), sum(finished), sum(rejected), sum(lost), "
                            "sum(skipped), sum(withdrawn), sum(sent), sum(resent), sum(late), "
                            "sum(found), " OPEN_RUNS " FROM peal_epoch"
                          : "SELECT planned, finished, rejected, lost, skipped, withdrawn, sent, "
                            "resent, late, found, " OPEN_RUNS " FROM peal_epoch WHERE epoch = 1",
        &q, why);
    if (!err)
        err = sql_next(q, &row, why);
    for (int i = 0; !err && row && i < TOTAL_COUNT; i++)
        ret->n[i] = sql_i64(q, i, 0);
    if (!err && row) {
        *ret_open = sql_i64(q, TOTAL_COUNT, 0);
        sql_reset(q);
    }
    return err;
}

/* A page: so the time that it may take is bounded. */
enum err sql_totals_get(struct store *store, struct totals *ret, int64_t *ret_open, struct why *why)
{
    struct sql *s = sql_of(store);
    struct totals sums = { { 0 } };
    int64_t open = 0;
    bool own;
    enum err err = s->driver->page_begin(s, &own, why);
    if (!err)
        err = totals_read(s, &sums, &open, why);
    s->driver->page_end(s, own);
    if (err)
        return err;
    *ret = sums;
    *ret_open = open;
    return OK;
}

/* A phase that no release knows is treated as doubt: the executor is asked, nothing is sent
 * blindly. A kind that none knows becomes a manual run, which planning never counts on. */
static void run_read(struct sql_query *q, struct run_row *r)
{
    int i = 0;
    memset(r, 0, sizeof(*r));
    r->log_id = sql_i64(q, i++, 0);
    r->job_id = sql_i64(q, i++, 0);
    int64_t kind = sql_i64(q, i++, -1);
    r->kind = kind < 0 || kind >= KIND_COUNT ? KIND_MANUAL : (enum kind)kind;
    r->scheduled_ms = sql_i64(q, i++, 0);
    r->shard = sql_int(q, i++, 0);
    r->shard_total = sql_int(q, i++, 1);
    r->attempt = sql_int(q, i++, 0);
    r->cause = sql_i64(q, i++, 0);
    int64_t phase = sql_i64(q, i++, 0);
    bool known = phase >= PHASE_PLANNED && phase <= PHASE_LOST;
    r->phase = known ? (enum phase)phase : PHASE_UNKNOWN;
    r->doubted = sql_i64(q, i++, 0) != 0 || !known;
    r->broadcast = sql_i64(q, i++, 0) != 0;
    r->retries_left = sql_int(q, i++, 0);
    r->due_ms = sql_i64(q, i++, 0);
    r->version = sql_i64(q, i++, 0);
    r->address = sql_text(q, i++);
    r->choices = sql_text(q, i++);
    r->group_id = sql_i64(q, i++, 0);
    r->handler = sql_text(q, i++);
    r->param = sql_text(q, i++);
    r->log_ms = sql_i64(q, i++, -1);
    int64_t traced = sql_i64(q, i++, TRACE_OWN), high = sql_i64(q, i++, 0);
    r->trace = trace_kept(traced, high, sql_i64(q, i++, 0));
}

static bool runs_lend(struct sql_query *q, void *fn, void *ctx)
{
    struct run_row r;
    run_read(q, &r);
    bool more = (*(run_row_fn **)fn)(ctx, &r);
    run_row_done(&r);
    return more;
}

/* An edit while the outcome of a send is unknown, so it is rare: a statement a row. */
enum err sql_runs_task(struct sql *s, const struct run_change *changes, int n, struct why *why)
{
    enum err err = OK;
    for (int i = 0; !err && i < n; i++) {
        const struct run_change *c = &changes[i];
        struct sql_query *q;
        if (!(c->what & CHANGE_TASK) || c->what & CHANGE_DROP || c->missing)
            continue;
        err = sql_query(s,
                        "UPDATE xxl_job_log SET executor_handler = ?2, executor_param = ?3 "
                        "WHERE id = ?1",
                        &q, why);
        if (err)
            return err;
        sql_bind_i64(q, 1, c->log_id);
        sql_bind_text(q, 2, c->handler);
        sql_bind_text(q, 3, c->param);
        err = sql_do(q, why);
    }
    return err;
}

#define RUNS                                                                                       \
    "SELECT r.log_id, r.job_id, r.kind, r.moment_ms, r.shard, r.shard_total, r.attempt, "          \
    "r.cause, r.phase, r.doubted, r.broadcast, r.retries_left, r.due_ms, r.version, r.address, "   \
    "r.choices, l.job_group, l.executor_handler, l.executor_param, "                               \
    "{ms l.trigger_time}, t.kind, t.high, t.low FROM peal_run r "                                  \
    "LEFT JOIN xxl_job_log l ON l.id = r.log_id "                                                  \
    "LEFT JOIN peal_trace t ON t.log_id = r.log_id "

enum err sql_runs_each(struct store *store, run_row_fn *fn, void *ctx, struct why *why)
{
    struct sql *s = sql_of(store);
    struct sql_query *q;
    enum err err = sql_query(
        s, s->shared ? RUNS "WHERE r.epoch = ?1 ORDER BY r.log_id" : RUNS "ORDER BY r.log_id", &q,
        why);
    if (!err && s->shared)
        sql_bind_i64(q, 1, s->epoch);
    return err ? err : sql_rows(q, runs_lend, &fn, ctx, why);
}

enum err sql_runs_listed(struct sql *s, const char *ids, run_row_fn *fn, void *ctx, struct why *why)
{
    struct buf text = BUF_INIT(1 << 16);
    struct sql_query *q;
    buf_printf(&text, RUNS "WHERE r.log_id IN (%s) ORDER BY r.log_id", ids);
    enum err err = sql_query_once(s, buf_str(&text), &q, why);
    buf_done(&text);
    if (err)
        return err;
    err = sql_rows(q, runs_lend, &fn, ctx, why);
    sql_query_end(q);
    return err;
}
