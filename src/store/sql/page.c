/* SPDX-License-Identifier: Apache-2.0 */
/* Pages: rows newest first, and how many there are.
 *
 * Filters become parts of a WHERE clause with numbered parameters; nothing that a user wrote
 * enters the text. A page has one second: the rows come first. A page that is not full says by
 * itself how many there are. Else rows are counted up to count_max, and below the last one that was
 * counted every id of the filter's span counts: a total may be too high then, and is never below
 * what can still be read. So a newest page costs the same however long the log is. */
#include "store/sql/page.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- composing ------------------------------------------------------------------------------- */

void where_init(struct sql_where *p, const struct sql *s)
{
    memset(p, 0, sizeof(*p));
    p->driver = s->driver;
    buf_init(&p->where, 16384);
    buf_init(&p->key, 4096);
}

int where_param(struct sql_where *p, const char *text, int64_t number)
{
    p->params[p->n++] = (struct param){ text, number };
    return p->n;
}

void where_add(struct sql_where *p, const char *condition)
{
    buf_text(&p->where, p->where.len ? " AND " : " WHERE ");
    buf_text(&p->where, condition);
}

void where_number(struct sql_where *p, const char *before, int64_t v)
{
    where_add(p, before);
    buf_printf(&p->where, "?%d", where_param(p, NULL, v));
}

void where_has(struct sql_where *p, const char *column, const char *part)
{
    if (!part || !*part)
        return;
    buf_text(&p->where, p->where.len ? " AND " : " WHERE ");
    buf_printf(&p->where, p->driver->contains, column, where_param(p, part, 0));
}

void where_scope(struct sql_where *p, const char *column, const struct scope *scope,
                 int64_t group_id)
{
    if (scope_is_all(scope))
        return;
    if (group_id > 0) {
        if (!scope_has(scope, group_id))
            where_add(p, "1 = 0");
        return;
    }
    struct buf ids = BUF_INIT(1 << 20);
    for (size_t i = 0; i < scope->n; i++)
        buf_printf(&ids, "%c%lld", i ? ',' : '[', (long long)scope->ids[i]);
    buf_text(&ids, scope->n ? "]" : "[]");
    p->scope = buf_take(&ids);
    buf_text(&p->where, p->where.len ? " AND " : " WHERE ");
    buf_printf(&p->where, p->driver->among, column, where_param(p, p->scope, 0));
}

static enum err where_prepare(struct sql *s, const struct sql_where *p, const char *before,
                              const char *after, bool keyed, struct sql_query **ret,
                              struct why *why)
{
    struct buf text = BUF_INIT(32768);
    buf_text(&text, before);
    buf_text(&text, buf_str(&p->where));
    if (keyed)
        buf_text(&text, buf_str(&p->key));
    buf_text(&text, after);
    enum err err = sql_query_once(s, buf_str(&text), ret, why);
    int n = keyed ? p->n : p->n - p->nkey;
    for (int i = 0; !err && i < n; i++) {
        if (p->params[i].text)
            sql_bind_text(*ret, i + 1, p->params[i].text);
        else
            sql_bind_i64(*ret, i + 1, p->params[i].number);
    }
    buf_done(&text);
    return err;
}

void where_all_words(struct sql_where *p, const char *const *columns, int n, const char *id_column,
                     const char *words)
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
        int at = where_param(p, text, 0);
        where_add(p, "(");
        for (int i = 0; i < n; i++) {
            buf_printf(&p->where, p->driver->contains, columns[i], at);
            buf_text(&p->where, " OR ");
        }
        buf_printf(&p->where, "%s = ?%d)", id_column, where_param(p, NULL, id));
    }
}

enum err where_query(const struct sql_where *p, struct sql *s, const char *before,
                     const char *after, struct sql_query **ret, struct why *why)
{
    return where_prepare(s, p, before, after, false, ret, why);
}

void where_done(struct sql_where *p)
{
    buf_done(&p->where);
    buf_done(&p->key);
    free(p->scope);
    while (p->ntexts > 0)
        free(p->texts[--p->ntexts]);
}

/* ---- walking --------------------------------------------------------------------------------- */

static int64_t page_offset(const struct sql_page *page)
{
    const int64_t max = INT64_MAX / 2; /* there is nothing behind it, and sums do not overflow */
    return page->offset > max ? max : page->offset > 0 ? page->offset : 0;
}

struct seen {
    int64_t n;
    bool all; /* there are no more rows behind them */
};

static enum err page_rows(struct sql *s, const struct sql_page *page, const struct sql_where *p,
                          struct seen *ret, struct why *why)
{
    struct buf after = BUF_INIT(16384);
    int64_t limit = page->limit > 0 ? page->limit : 0;
    buf_printf(&after, "%s LIMIT %lld OFFSET %lld%s", page->order, (long long)limit,
               (long long)page_offset(page), page->rest ? page->rest : "");
    struct sql_query *q = NULL;
    bool row = false;
    struct seen seen = { 0 };
    enum err err = where_prepare(s, p, page->select, buf_str(&after), true, &q, why);
    buf_done(&after);
    for (bool more = true; !err && more; seen.n += row) {
        err = sql_next(q, &row, why);
        more = row && page->lend(q, page->fn, page->ctx);
    }
    sql_query_end(q);
    seen.all = !row && seen.n < limit && (seen.n || page_offset(page) == 0) && !p->nkey;
    *ret = seen;
    return err;
}

/* All rows of a table, which SQLite knows without a look at each. */
static enum err count_all(struct sql *s, const struct sql_page *page, int64_t *ret, struct why *why)
{
    struct sql_query *q;
    bool row = false;
    enum err err = sql_query(s, page->count_all, &q, why);
    if (!err)
        err = sql_next(q, &row, why);
    if (!err && row)
        *ret = sql_i64(q, 0, 0);
    if (!err)
        sql_reset(q);
    return err;
}

/* How many rows were counted, and the smallest id of them. ERR_TIMEOUT. */
static enum err count_some(struct sql *s, const struct sql_page *page, const struct sql_where *p,
                           int64_t *ret_n, int64_t *ret_lowest, struct why *why)
{
    struct buf before = BUF_INIT(4096);
    char after[192];
    struct sql_query *q = NULL;
    bool row = false;
    buf_printf(&before, "SELECT count(*), min(id) FROM (%s", page->count);
    snprintf(after, sizeof(after), "%s LIMIT %lld) AS counted",
             page->count_order ? page->count_order : page->order, (long long)page->count_max);
    enum err err = where_prepare(s, p, buf_str(&before), after, false, &q, why);
    if (!err)
        err = sql_next(q, &row, why);
    if (!err && row) {
        *ret_n = sql_i64(q, 0, 0);
        *ret_lowest = sql_i64(q, 1, INT64_MAX);
    }
    sql_query_end(q);
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
static int64_t at_most(const struct sql_page *page, int64_t counted, int64_t lowest)
{
    int64_t span = ids_between(page->low, page->high);
    int64_t end = lowest | 4095; /* a chunk's rows are counted in any order, at least one of them */
    int64_t below = end > page->low ? ids_between(page->low, end) - 1 : 0;
    return counted < span - below ? counted + below : span;
}

static enum err page_count(struct sql *s, const struct sql_page *page, const struct sql_where *p,
                           const struct seen *seen, int64_t *ret_total, struct why *why)
{
    int64_t shown = page_offset(page) + seen->n, total = 0, lowest = INT64_MAX;
    if (seen->all) {
        *ret_total = shown;
        return OK;
    }
    if (page->count_all && s->driver->counts_tables && !p->where.len)
        return count_all(s, page, ret_total, why);
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

enum err sql_page_run(struct sql *s, const struct sql_page *page, struct sql_where *p,
                      int64_t *ret_total, struct why *why)
{
    bool own = false;
    struct seen seen;
    enum err err = s->driver->page_begin(s, &own, why);
    if (!err)
        err = page_rows(s, page, p, &seen, why);
    if (!err)
        err = page_count(s, page, p, &seen, ret_total, why);
    s->driver->page_end(s, own);
    where_done(p);
    return err;
}
