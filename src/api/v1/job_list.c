/* SPDX-License-Identifier: Apache-2.0 */
/* The list of jobs, by key: one row more than the page has says whether another page comes. */
#include "api/v1/group_filter.h"
#include "api/v1/job_page.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include "ledger/figures.h"
#include "live/board.h"
#include <stdlib.h>

#define COUNT_MAX 10000

static const char *const states[] = { "stopped", "scheduled" };
static const char *const types[] = { "NONE", "CRON", "FIX_RATE", "FIX_DELAY", "ONCE" };
static const char *const sorts[] = {
    "-id", "id", "name", "next", "last", "-last", "streak"
}; /* as enum jobs_order */
static const char *const results[] = { "failing", "ok", "never" };

enum { ANY_RESULT = -1, FAILING, SUCCEEDING, NEVER_ENDED };

#define SORT_STREAK 6
#define CHUNK 100       /* failing jobs whose rows are read at once */
#define WALK_ROWS 500   /* rows of one read, while the list looks for some */
#define LOOK_ROWS 10000 /* that a page looks at in all */

struct job_list {
    struct jobs_filter f;
    struct scope scope; /* of the filter's groups */
    int64_t groups[QUERY_GROUPS_MAX], both[QUERY_GROUPS_MAX];
    struct cursor at;
    struct jobs_key after;
    uint64_t members;
    int result;     /* of the last run */
    bool streaks;   /* the longest streak of failures first, then the others, by id downwards */
    int64_t wanted; /* rows of a page */
    /* of the page */
    int64_t looked;
    bool more;
    struct job_writer writer;
    struct cursor last;
    int64_t n;
    enum err err;
    struct why why;
};

/* Only groups that both the filter and the asker's rights have. */
static void filter_groups(struct web_call *call, struct query *q, struct job_list *l)
{
    const struct scope *scope = actor_scope(call->actor, PERM_READ);
    l->f.scope = scope;
    if (!query_groups(q, "group", l->groups, &l->scope))
        return;
    if (!scope_is_all(scope))
        l->scope = scope_and(&l->scope, scope, l->both);
    l->f.scope = &l->scope;
}

static bool read_filter(struct web_call *call, struct job_list *l)
{
    struct query q;
    query_begin(&q, call);
    l->f = (struct jobs_filter){ .now_ms = clock_wall_ms(), .count_max = COUNT_MAX + 1 };
    l->f.limit = query_limit(&q) + 1; /* is there one behind the page? */
    l->f.words = query_text(&q, "q", 200);
    l->f.handler = query_text(&q, "handler", 255);
    l->f.owner = query_text(&q, "owner", 64);
    l->f.child = query_i64(&q, "child", 1, ROUTER_ID_MAX, 0);
    l->f.status = query_word(&q, "state", states, countof(states));
    int type = query_word(&q, "type", types, countof(types));
    l->f.type = type < 0 ? NULL : types[type];
    int sort = query_word(&q, "sort", sorts, countof(sorts));
    l->streaks = sort == SORT_STREAK;
    l->f.order = sort < 0 || l->streaks ? JOBS_NEWEST : (enum jobs_order)sort;
    l->result = query_word(&q, "result", results, countof(results));
    l->wanted = l->f.limit - 1;
    l->members = query_words(&q, "fields", job_members, JOB_MEMBERS);
    filter_groups(call, &q, l);
    if (query_cursor(&q, &l->at)) {
        l->after = (struct jobs_key){ l->at.id, l->at.number, l->at.text };
        l->f.after = &l->after;
    }
    return query_end(&q);
}

/* The row's place in the list. */
static struct cursor place(const struct job_record *r)
{
    struct cursor c = { .number = r->key_ms, .id = r->id };
    const char *name = r->description ? r->description : "";
    size_t n = 0, characters = 0;
    for (; name[n]; n++) {
        characters += ((unsigned char)name[n] & 0xC0) != 0x80;
        if (characters > JOBS_NAME_KEY)
            break;
    }
    text_copy(c.text, sizeof(c.text), slice_of(name, n));
    return c;
}

static bool add_row(void *ctx, const struct job_record *r)
{
    struct job_list *l = ctx;
    if (++l->n == l->f.limit) /* the one behind */
        return false;
    l->last = place(r);
    l->err = job_write(&l->writer, r, &l->why);
    return !l->err;
}

static void list(struct web_call *call, struct job_list *l)
{
    struct jsonw w = jsonw_on(&call->output);
    int64_t total = 0;
    job_writer_init(&l->writer, call, &w, l->members);
    v1_list_begin(&w);
    enum err err = call->db->ops->pages->jobs_page(call->db, &l->f, add_row, l, &total, &l->why);
    job_writer_done(&l->writer);
    if (!err)
        err = l->err;
    if (err)
        problem_err(call, err, &l->why);
    else
        v1_list_end(call, &w, l->n == l->f.limit ? &l->last : NULL,
                    total > COUNT_MAX ? COUNT_MAX : total, total <= COUNT_MAX);
}

/* ---- by what has become of runs ----------------------------------------------------------------
 *
 * The database does not know that: the board has the failing jobs, and the figures how each job is
 * doing. So either the rows of jobs are read that are known to fail, or rows are read in the list's
 * order and looked at one by one. */

/* False: the page is full, and this is the one behind. */
static bool offer(struct job_list *l, const struct job_record *r, int64_t number)
{
    if (l->n == l->wanted) {
        l->more = true;
        return false;
    }
    l->n++;
    l->last = place(r);
    if (l->streaks)
        l->last.number = number;
    l->err = job_write(&l->writer, r, &l->why);
    return !l->err;
}

static int result_of(struct job_list *l, int64_t job_id)
{
    struct job_stat stat;
    if (!figures_job(center_figures(l->writer.call->center), job_id, &stat) || !stat.nlast)
        return NEVER_ENDED;
    return stat.streak ? FAILING : SUCCEEDING;
}

static bool walk_row(void *ctx, const struct job_record *r)
{
    struct job_list *l = ctx;
    int result = result_of(l, r->id);
    bool fits = l->result == ANY_RESULT ? result != FAILING : result == l->result;
    l->looked++;
    if (fits && !offer(l, r, 0))
        return false;
    l->at = place(r);
    return true;
}

/* On from l->at. A page that has looked at too many rows ends where it is. */
static void walk(struct job_list *l, bool from_start)
{
    struct store *db = l->writer.call->db;
    struct jobs_filter f = l->f;
    f.limit = WALK_ROWS;
    f.count_max = 1;
    f.after = from_start ? NULL : &l->after;
    for (int64_t before = -1, total; !l->err && !l->more && before != l->looked;) {
        before = l->looked;
        const struct cursor from = l->at; /* which moves on */
        l->after = (struct jobs_key){ from.id, from.number, from.text };
        enum err err = db->ops->pages->jobs_page(db, &f, walk_row, l, &total, &l->why);
        l->err = l->err ? l->err : err;
        f.after = &l->after;
        if (l->looked - before < WALK_ROWS)
            return;
        if (!l->more && l->looked >= LOOK_ROWS) {
            l->more = true;
            l->last = l->at;
            if (l->streaks)
                l->last.number = 0;
        }
    }
}

struct rows {
    struct job_record rows[CHUNK];
    int n;
};

static bool keep_row(void *ctx, const struct job_record *r)
{
    struct rows *to = ctx;
    job_record_init(&to->rows[to->n]);
    job_record_copy(&to->rows[to->n++], r);
    return to->n < CHUNK;
}

/* Failing jobs from there on, in their order. */
static void offer_failing(struct job_list *l, const struct failing_streak *all, size_t n)
{
    struct store *db = l->writer.call->db;
    struct rows *rows = mem_new(sizeof(*rows));
    int64_t ids[CHUNK], total;
    for (size_t i = 0; i < n && !l->err && !l->more; i += CHUNK) {
        struct jobs_filter f = l->f;
        f.limit = CHUNK;
        f.count_max = 1;
        f.after = NULL;
        f.only = ids;
        f.order = JOBS_NEWEST;
        rows->n = 0;
        for (f.nonly = 0; f.nonly < CHUNK && i + f.nonly < n; f.nonly++)
            ids[f.nonly] = all[i + f.nonly].job_id;
        enum err err = db->ops->pages->jobs_page(db, &f, keep_row, rows, &total, &l->why);
        l->err = err;
        for (size_t k = 0; k < f.nonly && !l->err && !l->more; k++)
            for (int m = 0; m < rows->n; m++)
                if (rows->rows[m].id == ids[k])
                    (void)!offer(l, &rows->rows[m], all[i + k].streak);
        for (int m = 0; m < rows->n; m++)
            job_record_done(&rows->rows[m]);
    }
    free(rows);
}

static int by_streak(const void *a, const void *b)
{
    const struct failing_streak *x = a, *y = b;
    if (x->streak != y->streak)
        return x->streak > y->streak ? -1 : 1;
    return (x->job_id < y->job_id) - (x->job_id > y->job_id);
}

static int newest_first(const void *a, const void *b)
{
    const struct failing_streak *x = a, *y = b;
    return (x->job_id < y->job_id) - (x->job_id > y->job_id);
}

static bool is_behind(const struct job_list *l, const struct failing_streak *s)
{
    const struct failing_streak at = { l->at.id, (uint32_t)l->at.number };
    if (!l->f.after)
        return true;
    if (l->streaks)
        return by_streak(s, &at) > 0;
    return l->f.order == JOBS_OLDEST ? s->job_id > at.job_id : s->job_id < at.job_id;
}

static void list_failing(struct job_list *l)
{
    size_t n, from = 0;
    struct failing_streak *all = board_streaks(l->writer.call->board, l->f.scope, &n);
    if (l->streaks)
        qsort(all, n, sizeof(*all), by_streak);
    else if (l->f.order == JOBS_NEWEST)
        qsort(all, n, sizeof(*all), newest_first);
    while (from < n && !is_behind(l, &all[from]))
        from++;
    offer_failing(l, all + from, n - from);
    free(all);
}

static void list_by_result(struct web_call *call, struct job_list *l)
{
    struct jsonw w = jsonw_on(&call->output);
    bool by_id = l->f.order == JOBS_NEWEST || l->f.order == JOBS_OLDEST;
    bool failing = l->result == FAILING ? by_id : l->result == ANY_RESULT;
    bool rest = l->streaks ? l->result != FAILING : !failing;
    bool in_rest = rest && l->f.after && (!failing || !l->at.number);
    job_writer_init(&l->writer, call, &w, l->members);
    v1_list_begin(&w);
    if (failing && !in_rest)
        list_failing(l);
    if (rest && !l->err && !l->more)
        walk(l, !in_rest);
    job_writer_done(&l->writer);
    if (l->err)
        problem_err(call, l->err, &l->why);
    else
        v1_list_end(call, &w, l->more ? &l->last : NULL, l->n + l->more, !l->more && !l->f.after);
}

void v1_jobs_list(struct web_call *call)
{
    struct job_list *l = mem_new(sizeof(*l));
    if (!read_filter(call, l)) {
        free(l);
        return;
    }
    if (l->result != ANY_RESULT || l->streaks)
        list_by_result(call, l);
    else
        list(call, l);
    free(l);
}
