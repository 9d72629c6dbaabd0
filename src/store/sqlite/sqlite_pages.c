/* SPDX-License-Identifier: Apache-2.0 */
/* Pages on SQLite: rows newest first, and how many there are.
 *
 * Filters become parts of a WHERE clause with numbered parameters; nothing that a user wrote
 * enters the text. A page has one second: the rows come first. A page that is not full says by
 * itself how many there are. Else rows of the log are counted up to LOGS_COUNT_MAX, and below the
 * last one that was counted every id of the filter's span counts: a total may be too high then, and
 * is never below what can still be read. So a newest page costs the same however long the log is.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "store/shared.h"
#include "store/sqlite/sqlite_db.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 1000000    /* jobs and groups are counted up to here */
#define LOGS_COUNT_MAX 10001 /* rows of the log */

/* ---- composing ------------------------------------------------------------------------------- */

enum { PARAMS_MAX = 40 };

struct query {
    struct buf where; /* " WHERE …" or empty */
    int n;
    struct param {
        const char *text; /* NULL: the number counts */
        int64_t number;
    } params[PARAMS_MAX];
    char *scope;    /* ids of the asker's groups as a JSON array; NULL: no such condition */
    struct buf key; /* " AND …": where the page begins; its parameters come last */
    int nkey;
    char *texts[JOBS_WORDS_MAX]; /* that parameters point to */
    int ntexts;
};

static void query_init(struct query *p)
{
    memset(p, 0, sizeof(*p));
    buf_init(&p->where, 16384);
    buf_init(&p->key, 4096);
}

static void query_add(struct query *p, const char *condition)
{
    buf_text(&p->where, p->where.len ? " AND " : " WHERE ");
    buf_text(&p->where, condition);
}

/* A condition with one parameter: before, its number, after. */
static void query_number(struct query *p, const char *before, int64_t v)
{
    query_add(p, before);
    p->params[p->n++] = (struct param){ NULL, v };
    buf_printf(&p->where, "?%d", p->n);
}

static void query_has(struct query *p, const char *column, const char *part)
{
    if (!part || !*part)
        return;
    p->params[p->n++] = (struct param){ part, 0 };
    buf_text(&p->where, p->where.len ? " AND " : " WHERE ");
    buf_printf(&p->where, "instr(lower(%s), lower(?%d)) > 0", column, p->n);
}

/* Only rows of groups that the asker may see. group_id > 0: the filter names the group anyhow. */
static void query_scope(struct query *p, const char *column, const struct scope *scope,
                        int64_t group_id)
{
    if (scope_is_all(scope))
        return;
    if (group_id > 0) {
        if (!scope_has(scope, group_id))
            query_add(p, "0");
        return;
    }
    struct buf ids = BUF_INIT(1 << 20);
    for (size_t i = 0; i < scope->n; i++)
        buf_printf(&ids, "%c%lld", i ? ',' : '[', (long long)scope->ids[i]);
    buf_text(&ids, scope->n ? "]" : "[]");
    p->scope = buf_take(&ids);
    p->params[p->n++] = (struct param){ p->scope, 0 };
    query_add(p, column);
    buf_printf(&p->where, " IN (SELECT value FROM json_each(?%d))", p->n);
}

static enum err query_prepare(struct sqlite *s, const struct query *p, const char *before,
                              const char *after, bool keyed, sqlite3_stmt **ret, struct why *why)
{
    struct buf text = BUF_INIT(32768);
    buf_text(&text, before);
    buf_text(&text, buf_str(&p->where));
    if (keyed)
        buf_text(&text, buf_str(&p->key));
    buf_text(&text, after);
    enum err err = sql_prepare(s, buf_str(&text), ret, why);
    int n = keyed ? p->n : p->n - p->nkey;
    for (int i = 0; !err && i < n; i++) {
        if (p->params[i].text)
            bind_text(*ret, i + 1, p->params[i].text);
        else
            bind_i64(*ret, i + 1, p->params[i].number);
    }
    buf_done(&text);
    return err;
}

static void query_done(struct query *p)
{
    buf_done(&p->where);
    buf_done(&p->key);
    free(p->scope);
    while (p->ntexts > 0)
        free(p->texts[--p->ntexts]);
}

/* ---- walking --------------------------------------------------------------------------------- */

struct page {
    const char *select, *order; /* up to the WHERE clause, and behind it */
    const char *rest;           /* behind LIMIT, or NULL */
    const char *count;          /* "SELECT … AS id FROM …" up to the WHERE clause */
    const char *count_order;    /* NULL: as the rows; which rows are counted says nothing then */
    int64_t count_max;
    int64_t low, high; /* what matches has ids from low to high; high 0: no such bound */
    int64_t offset, limit;
    sql_row_fn *row;
    void *fn, *ctx; /* fn: the address of the caller's function pointer */
};

static int64_t page_offset(const struct page *page)
{
    const int64_t max = INT64_MAX / 2; /* there is nothing behind it, and sums do not overflow */
    return page->offset > max ? max : page->offset > 0 ? page->offset : 0;
}

struct seen {
    int64_t n;
    bool all; /* there are no more rows behind them */
};

static enum err page_rows(struct sqlite *s, const struct page *page, const struct query *p,
                          struct seen *ret, struct why *why)
{
    struct buf after = BUF_INIT(16384);
    int64_t limit = page->limit > 0 ? page->limit : 0;
    buf_printf(&after, "%s LIMIT %lld OFFSET %lld%s", page->order, (long long)limit,
               (long long)page_offset(page), page->rest ? page->rest : "");
    sqlite3_stmt *q = NULL;
    bool row = false;
    struct seen seen = { 0 };
    enum err err = query_prepare(s, p, page->select, buf_str(&after), true, &q, why);
    buf_done(&after);
    for (bool more = true; !err && more; seen.n += row) {
        err = sql_step(s, q, &row, why);
        more = row && page->row(q, page->fn, page->ctx);
    }
    sql_drop(s, q);
    seen.all = !row && seen.n < limit && (seen.n || page_offset(page) == 0) && !p->nkey;
    *ret = seen;
    return err;
}

/* How many rows were counted, and the smallest id of them. ERR_TIMEOUT. */
static enum err count_some(struct sqlite *s, const struct page *page, const struct query *p,
                           int64_t *ret_n, int64_t *ret_lowest, struct why *why)
{
    struct buf before = BUF_INIT(4096);
    char after[192];
    sqlite3_stmt *q = NULL;
    bool row = false;
    buf_printf(&before, "SELECT count(*), min(id) FROM (%s", page->count);
    snprintf(after, sizeof(after), "%s LIMIT %lld)",
             page->count_order ? page->count_order : page->order, (long long)page->count_max);
    enum err err = query_prepare(s, p, buf_str(&before), after, false, &q, why);
    if (!err)
        err = sql_step(s, q, &row, why);
    if (!err && row) {
        *ret_n = col_i64(q, 0, 0);
        *ret_lowest = col_i64(q, 1, INT64_MAX);
    }
    sql_drop(s, q);
    buf_done(&before);
    return err;
}

/* Other programs may have written any id. */
static int64_t ids_between(int64_t low, int64_t high)
{
    int64_t n;
    if (high < low)
        return 0;
    return __builtin_sub_overflow(high, low, &n) || n == INT64_MAX ? INT64_MAX : n + 1;
}

/* The rows that were not counted are at most as many as there are ids for them. */
static int64_t at_most(const struct page *page, int64_t counted, int64_t lowest)
{
    int64_t span = ids_between(page->low, page->high);
    int64_t end = lowest | 4095; /* a chunk's rows are counted in any order, at least one of them */
    int64_t below = end > page->low ? ids_between(page->low, end) - 1 : 0;
    return counted < span - below ? counted + below : span;
}

static enum err page_count(struct sqlite *s, const struct page *page, const struct query *p,
                           const struct seen *seen, int64_t *ret_total, struct why *why)
{
    int64_t shown = page_offset(page) + seen->n, total = 0, lowest = INT64_MAX;
    if (seen->all) {
        *ret_total = shown;
        return OK;
    }
    struct why slow = { "" };
    enum err err = count_some(s, page, p, &total, &lowest, &slow);
    if (err && err != ERR_TIMEOUT) {
        why_set(why, "%s", slow.text);
        return err;
    }
    bool whole = !err && total < page->count_max;
    if (!whole && page->high)
        total = err ? ids_between(page->low, page->high) : at_most(page, total, lowest);
    else if (err)
        total = shown + 1;
    *ret_total = total > shown || seen->n == 0 ? total : shown;
    return OK;
}

static enum err page_run(struct sqlite *s, const struct page *page, struct query *p,
                         int64_t *ret_total, struct why *why)
{
    bool own = false;
    struct seen seen;
    enum err err = sql_page_begin(s, &own, why);
    if (!err)
        err = page_rows(s, page, p, &seen, why);
    if (!err)
        err = page_count(s, page, p, &seen, ret_total, why);
    sql_page_end(s, own);
    query_done(p);
    return err;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

struct jobs_walk {
    struct sqlite *s;
    job_row_fn *fn;
    void *ctx;
    int64_t now_ms;
    enum err err;
    struct why *why;
};

/* The newest of the schedule's runs whose scheduled time has come: planning has moved last_ms past
 * it. Found like JOB_LOG_SELECT finds a page, but in LAST_STEPS at most, so that a page of jobs
 * which all wait for one scheduled time costs milliseconds whatever the log holds; 0 then. */
#define LAST_STEPS "1000"
#define LAST_FOUND                                                                                 \
    "(SELECT max(x.id) FROM xxl_job_log x WHERE x.id >> 12 = w.n AND x.job_id = ?1 AND "           \
    "x.id < ifnull(w.id, w.n + 1 << 12))"
static enum err last_fired(struct jobs_walk *w, struct job_record *r)
{
    if (w->now_ms <= 0 || r->last_ms <= w->now_ms)
        return OK;
    sqlite3_stmt *q;
    enum err err = sql_get(
        w->s,
        "WITH RECURSIVE walk(n, id, step) AS (SELECT max(id) >> 12, NULL, 0 FROM xxl_job_log "
        "UNION ALL SELECT iif(" LAST_FOUND " IS NULL, "
        "(SELECT max(id) FROM xxl_job_log WHERE id < w.n << 12) >> 12, w.n), " LAST_FOUND
        ", w.step + 1 FROM walk w WHERE w.n IS NOT NULL AND w.step < " LAST_STEPS ") "
        "SELECT ifnull(r.moment_ms, l.trigger_time) FROM walk CROSS JOIN xxl_job_log l "
        "ON l.id = walk.id LEFT JOIN peal_run r ON r.log_id = l.id "
        "WHERE ifnull(r.moment_ms, l.trigger_time) <= ?2 "
        "AND (l.trigger_msg IS NULL OR l.trigger_msg GLOB 'cron: *') LIMIT 1",
        &q, w->why);
    if (err)
        return err;
    bind_i64(q, 1, r->id);
    bind_i64(q, 2, w->now_ms);
    return sql_number(w->s, q, 0, &r->last_ms, w->why);
}

static bool jobs_row(sqlite3_stmt *q, void *fn, void *ctx)
{
    (void)fn;
    struct jobs_walk *w = ctx;
    struct job_record r;
    int next = sqlite_job_read(w->s, q, &r);
    int64_t planned_ms = col_i64(q, next, NEVER_MS);
    if (planned_ms < r.next_ms)
        r.next_ms = planned_ms;
    w->err = last_fired(w, &r);
    bool more = !w->err && w->fn(w->ctx, &r);
    job_record_done(&r);
    return more;
}

/* What is planned already and has not fired comes before what comes next. */
#define PLANNED_MS                                                                                 \
    "(SELECT moment_ms FROM peal_run WHERE job_id = j.id AND kind = 0 AND moment_ms > %lld "       \
    "AND phase = 1 ORDER BY moment_ms LIMIT 1)"
#define NEVER "9223372036854775807"

static int64_t planned_from(const struct jobs_filter *f)
{
    return f->now_ms > 0 ? f->now_ms : -INT64_MAX;
}

/* Each word anywhere. */
static void query_words(struct query *p, const char *words)
{
    struct slice rest = slice_trim(slice_text(words)), word;
    while (p->ntexts < JOBS_WORDS_MAX && slice_cut(&rest, ' ', &word)) {
        int64_t id = -1;
        bool hash = word.n > 1 && word.p[0] == '#';
        if (word.n == 0)
            continue;
        if (!parse_i64(hash ? slice_of(word.p + 1, word.n - 1) : word, &id))
            id = -1;
        char *text = mem_dupn(word.p, word.n);
        p->texts[p->ntexts++] = text;
        p->params[p->n++] = (struct param){ text, 0 };
        p->params[p->n++] = (struct param){ NULL, id };
        query_add(p, "(");
        buf_printf(&p->where,
                   "instr(lower(j.job_desc), lower(?%d)) > 0 OR "
                   "instr(lower(j.executor_handler), lower(?%d)) > 0 OR "
                   "instr(lower(j.author), lower(?%d)) > 0 OR j.id = ?%d)",
                   p->n - 1, p->n - 1, p->n - 1, p->n);
    }
}

static void query_is(struct query *p, const char *column, const char *text)
{
    if (!text)
        return;
    p->params[p->n++] = (struct param){ text, 0 };
    query_add(p, column);
    buf_printf(&p->where, " = ?%d", p->n);
}

/* The order as SQL: its key (empty: the id alone) and its direction. */
static const char *jobs_key_of(const struct jobs_filter *f, struct buf *text)
{
    if (f->order == JOBS_NAME)
        buf_text(text, "substr(j.job_desc, 1, " TEXT_OF(JOBS_NAME_KEY) ")");
    else if (f->order == JOBS_NEXT)
        buf_printf(text, "min(ifnull(d.next_ms, " NEVER "), ifnull(" PLANNED_MS ", " NEVER "))",
                   (long long)planned_from(f));
    return f->order == JOBS_NEWEST ? "DESC" : "ASC";
}

/* Behind the last row of the page before. */
static void query_after(struct query *p, const struct jobs_filter *f, const char *key)
{
    if (!f->after)
        return;
    buf_text(&p->key, p->where.len ? " AND " : " WHERE ");
    if (key[0]) {
        const char *name = f->order == JOBS_NAME ? f->after->name : NULL;
        p->params[p->n++] = (struct param){ name, f->after->next_ms };
        p->params[p->n++] = (struct param){ NULL, f->after->id };
        p->nkey = 2;
        buf_printf(&p->key,
                   name ? "(%s, j.id) > (substr(?%d, 1, " TEXT_OF(JOBS_NAME_KEY) "), ?%d)"
                        : "(%s, j.id) > (?%d, ?%d)",
                   key, p->n - 1, p->n);
        return;
    }
    p->params[p->n++] = (struct param){ NULL, f->after->id };
    p->nkey = 1;
    buf_printf(&p->key, "j.id %c ?%d", f->order == JOBS_NEWEST ? '<' : '>', p->n);
}

static void query_jobs(struct query *p, const struct jobs_filter *f)
{
    if (f->id > 0)
        query_number(p, "j.id = ", f->id);
    if (f->group_id > 0)
        query_number(p, "j.job_group = ", f->group_id);
    query_scope(p, "j.job_group", f->scope, f->group_id);
    if (f->status == 0)
        query_add(p, "j.trigger_status IS NOT 1");
    else if (f->status > 0)
        query_number(p, "j.trigger_status = ", f->status == 1 ? 1 : INT64_MIN);
    query_has(p, "j.job_desc", f->description);
    query_has(p, "j.executor_handler", f->handler);
    query_has(p, "j.author", f->author);
    query_is(p, "j.schedule_type", f->type);
    query_is(p, "j.author", f->owner);
    query_words(p, f->words);
}

/* The ids of the page come first, so that what costs is read for its rows only. */
static void compose_jobs(const struct jobs_filter *f, const char *key, const char *way,
                         struct buf *order, struct buf *rest)
{
    buf_printf(order, " ORDER BY %s%sj.id %s", key, key[0] ? ", " : "", way);
    buf_text(rest, ") SELECT ");
    sqlite_job_columns(rest);
    buf_printf(rest, ", " PLANNED_MS SQLITE_JOB_TABLES, (long long)planned_from(f));
    buf_printf(rest, "WHERE j.id IN (SELECT id FROM picked)%s", buf_str(order));
}

enum err sqlite_jobs_page(struct store *store, const struct jobs_filter *f, job_row_fn *fn,
                          void *ctx, int64_t *ret_total, struct why *why)
{
    struct jobs_walk walk = { sqlite_of(store), fn, ctx, f->now_ms, OK, why };
    struct buf key = BUF_INIT(1024), order = BUF_INIT(4096), rest = BUF_INIT(8192);
    struct query p;
    query_init(&p);
    query_jobs(&p, f);
    const char *way = jobs_key_of(f, &key);
    query_after(&p, f, buf_str(&key));
    compose_jobs(f, buf_str(&key), way, &order, &rest);
    const struct page page = {
        .select = "WITH picked(id) AS MATERIALIZED (SELECT j.id FROM xxl_job_info j "
                  "LEFT JOIN peal_due d ON d.job_id = j.id",
        .order = buf_str(&order),
        .rest = buf_str(&rest),
        .count = "SELECT j.id AS id FROM xxl_job_info j",
        .count_order = "",
        .count_max = f->count_max ? f->count_max : COUNT_MAX,
        .offset = f->offset,
        .limit = f->limit,
        .row = jobs_row,
        .ctx = &walk,
    };
    enum err err = page_run(walk.s, &page, &p, ret_total, why);
    buf_done(&key);
    buf_done(&order);
    buf_done(&rest);
    return err ? err : walk.err;
}

/* ---- logs ------------------------------------------------------------------------------------ */

#define LOG_SELECT SQLITE_LOG_COLUMNS "FROM xxl_job_log l" SQLITE_LOG_LIVE

/* One job's rows, newest first, found one after the other: the next smaller id of the job in its
 * chunk of INDEX, or else the next chunk that has rows at all. Rows leave in the order in which
 * they are found, and nothing is read beyond the page, or beyond the chunk of the smallest id. ?1
 * the job, ?2 the largest id, ?3 the smallest. AND: a further condition on x, or nothing; WHERE:
 * the same, alone. */
#define JOB_LOG_FOUND(index, and)                                                                  \
    "(SELECT max(x.id) FROM xxl_job_log x INDEXED BY " index " WHERE x.id >> 12 = w.n AND "        \
    "x.job_id = ?1 AND x.id < ifnull(w.id, ?2 + 1)" and                                            \
        ")"
#define JOB_LOG_SELECT(index, and)                                                                 \
    "WITH RECURSIVE walk(n, id) AS ("                                                              \
    "SELECT max(x.id) >> 12, NULL FROM xxl_job_log x WHERE x.id <= ?2" and                         \
        " UNION ALL "                                                                              \
        "SELECT iif(" JOB_LOG_FOUND(index,                                                         \
                                    and) " IS NULL, (SELECT max(x.id) FROM xxl_job_log x WHERE "   \
                                         "x.id < w.n << 12 AND x.id >= ?3" and                     \
        ") >> 12, w.n), " JOB_LOG_FOUND(                                                           \
            index, and) " FROM walk w WHERE w.n IS NOT NULL) " SQLITE_LOG_COLUMNS                  \
                        "FROM walk CROSS JOIN xxl_job_log l ON l.id = walk.id" SQLITE_LOG_LIVE
#define JOB_LOG_COUNT(index, and)                                                                  \
    "WITH RECURSIVE chunk(n) AS (SELECT max(x.id) >> 12 FROM xxl_job_log x WHERE x.id <= ?2" and   \
        " UNION ALL SELECT (SELECT max(x.id) FROM xxl_job_log x WHERE x.id < chunk.n << 12 AND "   \
        "x.id >= ?3" and                                                                           \
        ") >> 12 FROM chunk WHERE chunk.n IS NOT NULL) SELECT l.id AS id FROM chunk CROSS JOIN "   \
        "xxl_job_log l INDEXED BY " index                                                          \
        " ON l.id >> 12 = chunk.n AND l.job_id = ?1" SQLITE_LOG_LIVE

/* Word for word the condition of the indexes over failures. */
#define FAILED(t) "(" t ".trigger_code NOT IN (0, 200) OR " t ".handle_code NOT IN (0, 200))"
#define FAILED_INDEX "i_log_job_failed"
#define JOB_INDEX "i_log_jobid"

/* What a page of the log reads, by its filter. */
static const struct log_walk {
    const char *select, *order, *count;
} log_walks[] = {
    { LOG_SELECT, " ORDER BY l.id DESC", "SELECT l.id AS id FROM xxl_job_log l" SQLITE_LOG_LIVE },
    { JOB_LOG_SELECT(JOB_INDEX, ""), "", JOB_LOG_COUNT(JOB_INDEX, "") },
    { JOB_LOG_SELECT(FAILED_INDEX, " AND " FAILED("x")), "",
      JOB_LOG_COUNT(FAILED_INDEX, " AND " FAILED("x")) },
};

static const struct log_walk *log_walk(const struct logs_filter *f)
{
    if (f->job_id <= 0 || f->status == 3) /* what runs is found by peal_run */
        return &log_walks[0];
    return f->status == 2 ? &log_walks[2] : &log_walks[1];
}

static enum kind trigger_read(struct log_record *r)
{
    char *text = r->trigger_msg;
    const char *msg;
    enum kind kind = store_trigger_kind(text, &msg);
    if (msg != text) {
        r->trigger_msg = mem_dup(msg);
        free(text);
    }
    return kind;
}

void sqlite_log_read(sqlite3_stmt *q, struct log_record *r)
{
    int i = 0;
    memset(r, 0, sizeof(*r));
    r->id = col_i64(q, i++, 0);
    r->group_id = col_i64(q, i++, 0);
    r->job_id = col_i64(q, i++, 0);
    r->address = col_text(q, i++);
    r->handler = col_text(q, i++);
    r->param = col_text(q, i++);
    r->sharding = col_text(q, i++);
    r->retries = col_int(q, i++, 0);
    r->trigger_ms = col_i64(q, i++, -1);
    r->trigger_code = col_int(q, i++, 0);
    r->trigger_msg = col_text(q, i++);
    r->handle_ms = col_i64(q, i++, -1);
    r->handle_code = col_int(q, i++, 0);
    r->handle_msg = col_text(q, i++);
    r->alarm_status = col_int(q, i++, 0);
    int64_t phase = col_i64(q, i++, 0), kind = col_i64(q, i++, 0);
    r->phase = phase > 0 && phase < PHASE_COUNT ? (enum phase)phase : 0;
    enum kind said = trigger_read(r);
    r->kind = !r->phase ? said : kind >= 0 && kind < KIND_COUNT ? (enum kind)kind : KIND_MANUAL;
    r->scheduled_ms = col_i64(q, i++, 0);
    r->attempt = col_int(q, i++, 0);
}

static bool logs_row(sqlite3_stmt *q, void *fn, void *ctx)
{
    struct log_record r;
    sqlite_log_read(q, &r);
    bool more = (*(log_row_fn **)fn)(ctx, &r);
    log_record_done(&r);
    return more;
}

enum err sqlite_log_span(struct sqlite *s, int64_t from_ms, int64_t to_ms, int64_t *ret_low,
                         int64_t *ret_high, struct why *why)
{
    sqlite3_stmt *q;
    bool row, timed = from_ms >= 0 || to_ms >= 0;
    enum err err = timed ? sql_get(s,
                                   "SELECT min(first_id), max(last_id) FROM peal_log_span "
                                   "WHERE slot BETWEEN ?1 AND ?2",
                                   &q, why)
                         : sql_get(s,
                                   "SELECT (SELECT min(id) FROM xxl_job_log), "
                                   "(SELECT max(id) FROM xxl_job_log)",
                                   &q, why);
    if (err)
        return err;
    if (timed) {
        bind_i64(q, 1, from_ms >= 0 ? sqlite_span_slot(from_ms) : INT64_MIN);
        bind_i64(q, 2, to_ms >= 0 ? sqlite_span_slot(to_ms) : INT64_MAX);
    }
    err = sql_step(s, q, &row, why);
    if (err)
        return err;
    *ret_low = row ? col_i64(q, 0, 1) : 1;
    *ret_high = row ? col_i64(q, 1, 0) : 0;
    sqlite3_reset(q);
    return OK;
}

static void query_logs(struct query *p, const struct logs_filter *f, int64_t low, int64_t high)
{
    if (f->job_id > 0) { /* the first three parameters: JOB_LOG_SELECT names them */
        query_number(p, "l.job_id = ", f->job_id);
        query_number(p, "l.id <= ", high);
        query_number(p, "l.id >= ", low);
    }
    if (f->group_id > 0)
        query_number(p, "l.job_group = ", f->group_id);
    query_scope(p, "l.job_group", f->scope, f->group_id);
    if (f->status == 1)
        query_add(p, "l.handle_code = 200");
    else if (f->status == 2)
        query_add(p, FAILED("l"));
    else if (f->status == 3)
        query_add(p, "l.trigger_code = 200 AND l.handle_code = 0 AND "
                     "l.id IN (SELECT log_id FROM peal_run)");
    if (f->now_ms > 0 && (f->status < 1 || f->status > 3)) /* those have codes already */
        query_number(p, "iif(r.phase = 1, r.due_ms, 0) <= ", f->now_ms);
    if (f->from_ms >= 0)
        query_number(p, "l.trigger_time >= ", f->from_ms);
    if (f->to_ms >= 0)
        query_number(p, "l.trigger_time <= ", f->to_ms);
    if (f->from_ms >= 0 || f->to_ms >= 0) {
        query_number(p, "l.id >= ", low);
        query_number(p, "l.id <= ", high);
    }
}

enum err sqlite_logs_page(struct store *store, const struct logs_filter *f, log_row_fn *fn,
                          void *ctx, int64_t *ret_total, struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    int64_t low, high;
    enum err err = sqlite_log_span(s, f->from_ms, f->to_ms, &low, &high, why);
    if (err)
        return err;
    struct query p;
    query_init(&p);
    query_logs(&p, f, low, high);
    const struct log_walk *walk = log_walk(f);
    const struct page page = {
        .select = walk->select,
        .order = walk->order,
        .count = walk->count,
        .count_max = LOGS_COUNT_MAX,
        .low = low,
        .high = high >= low ? high : 0,
        .offset = f->offset,
        .limit = f->limit,
        .row = logs_row,
        .fn = &fn,
        .ctx = ctx,
    };
    return page_run(s, &page, &p, ret_total, why);
}

enum err sqlite_log_get(struct store *store, int64_t id, struct log_record *ret, struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_by_id(sqlite_of(store), LOG_SELECT " WHERE l.id = ?1", "log", id, &q, why);
    if (err)
        return err;
    sqlite_log_read(q, ret);
    sqlite3_reset(q);
    return OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

enum err sqlite_groups_page(struct store *store, const struct groups_filter *f, group_row_fn *fn,
                            void *ctx, int64_t *ret_total, struct why *why)
{
    struct query p;
    query_init(&p);
    query_scope(&p, "id", f->scope, 0);
    query_has(&p, "app_name", f->app);
    query_has(&p, "title", f->title);
    const struct page page = {
        .select = "SELECT " SQLITE_GROUP_COLUMNS " FROM xxl_job_group",
        .order = " ORDER BY id",
        .count = "SELECT id FROM xxl_job_group",
        .count_max = COUNT_MAX,
        .offset = f->offset,
        .limit = f->limit,
        .row = sqlite_group_row,
        .fn = &fn,
        .ctx = ctx,
    };
    return page_run(sqlite_of(store), &page, &p, ret_total, why);
}

enum err sqlite_group_get(struct store *store, int64_t id, struct group_record *ret,
                          struct why *why)
{
    sqlite3_stmt *q;
    enum err err = sql_by_id(sqlite_of(store),
                             "SELECT " SQLITE_GROUP_COLUMNS " FROM xxl_job_group WHERE id = ?1",
                             "group", id, &q, why);
    if (err)
        return err;
    sqlite_group_read(q, ret);
    sqlite3_reset(q);
    return OK;
}

enum err sqlite_groups_get(struct store *store, const int64_t *ids, int n, group_row_fn *fn,
                           void *ctx, struct why *why)
{
    bool more = true;
    for (int i = 0; more && i < n; i++) { /* as sqlite_jobs_get */
        struct why missing = { "" };
        struct group_record g = { 0 };
        enum err err = sqlite_group_get(store, ids[i], &g, &missing);
        if (err == ERR_NOTFOUND)
            continue;
        if (err) {
            why_set(why, "%s", missing.text);
            return err;
        }
        more = fn(ctx, &g);
        group_record_done(&g);
    }
    return OK;
}

enum err sqlite_group_jobs(struct store *store, int64_t group_id, int64_t *ret_count,
                           struct why *why)
{
    struct sqlite *s = sqlite_of(store);
    sqlite3_stmt *q;
    enum err err = sql_get(s, "SELECT count(*) FROM xxl_job_info WHERE job_group = ?1", &q, why);
    if (err)
        return err;
    bind_i64(q, 1, group_id);
    return sql_number(s, q, 0, ret_count, why);
}
