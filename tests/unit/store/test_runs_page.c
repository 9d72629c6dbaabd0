/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of runs by key, against every engine: each filter alone and together, from page to page,
 * while rows come and go, and where the bound of looks ends a page. */
#include "support_store.h"
#include "model/story.h"
#include "base/mem.h"
#include "model/log_outcome.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_MS INT64_C(1700000400000) /* a boundary of the spans of time */
#define ROWS 240

struct got {
    int n;
    int64_t ids[ROWS];
};

static bool note(void *ctx, const struct log_record *r)
{
    struct got *g = ctx;
    assert_true(g->n < ROWS);
    g->ids[g->n++] = r->id;
    return true;
}

/* Row i: job 1 + i % 3, group 1 + i % 2, one second after the other, of every outcome in turn. */
static const char *const trigger_msgs[LOG_OUTCOMES] = {
    [LOG_REJECTED] = "refused", [LOG_UNROUTABLE] = NO_EXECUTOR_TEXT
};
static const char *const handle_msgs[LOG_OUTCOMES] = {
    [LOG_KILLED] = "killed by a user: done", [LOG_LOST] = "lost: it is gone"
};

static enum log_outcome outcome_of(int i)
{
    return (enum log_outcome)(i / 3 % LOG_OUTCOMES);
}

static void end(struct store *s, int i, int64_t id)
{
    enum log_outcome o = outcome_of(i);
    bool refused = o == LOG_REJECTED || o == LOG_UNROUTABLE;
    struct run_change c = {
        .log_id = id,
        .what = CHANGE_ADDRESS | CHANGE_TRIGGER | CHANGE_CLOSE | (refused ? 0 : CHANGE_FINISH),
        .address = i % 5 ? "http://a/" : "http://b/",
        .trigger_code = refused ? 500 : 200,
        .trigger_msg = (char *)trigger_msgs[o],
        .kind = i % 7 ? KIND_CRON : KIND_MANUAL,
        .handle_code = o == LOG_SUCCEEDED   ? 200
                       : o == LOG_TIMED_OUT ? 502
                                            : 500,
        .handle_ms = BEGIN_MS + i * 1000 + (i % 4) * 500,
        .handle_msg = (char *)handle_msgs[o],
    };
    int64_t missed;
    if (o != LOG_OPEN)
        OP(s, runs->runs_change, &c, 1, &missed);
}

static int64_t ids[ROWS];

static void fill(struct store *s)
{
    OP(s, txn->begin);
    for (int i = 0; i < ROWS; i++) {
        struct run_row r = sample_run(1 + i % 3, BEGIN_MS + i * 1000);
        r.group_id = 1 + i % 2;
        r.kind = i % 7 ? KIND_CRON : KIND_MANUAL;
        r.due_ms = r.scheduled_ms;
        r.attempt = 0;
        r.cause = i;
        r.shard = 0;
        r.phase = i % 16 == 0 ? PHASE_UNKNOWN : PHASE_ACCEPTED;
        OP(s, runs->runs_add, &r, 1);
        ids[i] = r.log_id;
        end(s, i, r.log_id);
        if (i % 6 == 0) {
            const struct story story = { .due_ms = r.due_ms };
            OP(s, runs->story_put, r.log_id, &story);
        }
    }
    OP(s, txn->commit, NULL);
}

static struct runs_filter any(void)
{
    return (struct runs_filter){
        .from_ms = -1, .to_ms = -1, .below_id = INT64_MAX, .limit = 7, .count_max = 1000
    };
}

/* All rows of the filter, page by page. The first page's count is theirs. */
static struct got all(struct store *s, struct runs_filter f)
{
    struct got g = { 0 };
    struct runs_end e = { .more = true, .below_id = f.below_id };
    int64_t first = -1;
    for (int pages = 0; e.more; pages++) {
        assert_true(pages < ROWS);
        f.below_id = e.below_id;
        int before = g.n;
        OP(s, pages->runs_page, &f, note, &g, &e);
        assert_true(g.n - before <= f.limit);
        assert_int_equal(e.more, e.counted > f.limit);
        assert_true(e.exact);
        first = first < 0 ? e.counted : first;
    }
    assert_int_equal(first, g.n);
    return g;
}

/* Is row i what the filter names, by how fill made it? */
static bool named(const struct runs_filter *f, int i)
{
    bool job = f->njobs == 0;
    for (size_t k = 0; k < f->njobs; k++)
        job = job || f->jobs[k] == 1 + i % 3;
    enum kind kind = i % 7 ? KIND_CRON : KIND_MANUAL;
    enum log_outcome o = outcome_of(i);
    int64_t group = 1 + i % 2;
    bool at_a = o != LOG_OPEN && i % 5;
    bool ended = o != LOG_OPEN && o != LOG_REJECTED && o != LOG_UNROUTABLE;
    return job && (!f->scope || scope_has(f->scope, group)) &&
           (!f->groups || scope_has(f->groups, group)) &&
           (!f->outcomes || f->outcomes & LOG_OUTCOME_BIT(o)) &&
           (!f->kinds || f->kinds & 1u << kind) && (!f->address || at_a) &&
           (f->from_ms < 0 || BEGIN_MS + i * 1000 >= f->from_ms) &&
           (f->to_ms < 0 || BEGIN_MS + i * 1000 < f->to_ms) &&
           (f->min_ms <= 0 || (ended && (i % 4) * 500 >= f->min_ms)) &&
           (!f->unknown || (o == LOG_OPEN && i % 16 == 0)) && (!f->told || i % 6 == 0) &&
           (!f->also || ids[i] % 2 == 0);
}

static bool even(void *ctx, const struct log_record *r)
{
    assert_ptr_equal(ctx, ids);
    return r->id % 2 == 0;
}

static void every_filter_finds_its_rows_from_page_to_page(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    static const int64_t one[] = { 2 }, two[] = { 1, 3 }, none[] = { 9 };
    const struct scope first = { .ids = one, .n = 1 }, nothing = SCOPE_NONE;
    fill(s);
    for (int i = 0; i < 2000; i++) {
        struct runs_filter f = any();
        uint64_t dice = (uint64_t)i * 2654435761u;
        f.limit = 1 + (int64_t)(dice % 60);
        if (i % 3 == 1) {
            f.jobs = dice >> 8 & 1 ? one : dice >> 9 & 1 ? two : none;
            f.njobs = f.jobs == two ? 2 : 1;
        }
        if (i % 4 == 1)
            f.outcomes = dice >> 10 & 0xFF;
        if (i % 4 == 2)
            f.outcomes = LOG_OUTCOME_BIT(dice >> 10 & 7);
        f.scope = i % 5 == 1 ? &first : i % 25 == 2 ? &nothing : NULL;
        f.groups = i % 7 == 1 ? &first : NULL;
        f.kinds = i % 6 == 1 ? 1u << (dice >> 18 & 3) : 0;
        f.address = i % 9 == 1 ? "http://a/" : NULL;
        f.from_ms = i % 8 == 1 ? BEGIN_MS + (int64_t)(dice >> 20 & 255) * 1000 : -1;
        f.to_ms = i % 8 >= 6 ? BEGIN_MS + (int64_t)(dice >> 24 & 255) * 1000 : -1;
        f.min_ms = i % 10 == 3 ? 1000 : 0;
        f.unknown = i % 11 == 4;
        f.told = i % 13 == 5;
        f.also = i % 12 == 7 ? even : NULL;
        f.also_ctx = ids;
        struct got g = all(s, f);
        int at = 0;
        for (int row = ROWS - 1; row >= 0; row--) {
            if (!named(&f, row))
                continue;
            if (at >= g.n || g.ids[at++] != ids[row])
                fail_msg("filter %d: row %d is not where it belongs", i, row);
        }
        assert_int_equal(at, g.n);
    }
}

static void what_comes_or_goes_meanwhile_repeats_and_hides_nothing(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct runs_filter f = any();
    struct runs_end e;
    struct got g = { 0 };
    fill(s);
    f.limit = 10;
    OP(s, pages->runs_page, &f, note, &g, &e);
    assert_int_equal(e.below_id, ids[ROWS - 10]);
    OP(s, txn->begin);
    struct run_row r = sample_run(1, BEGIN_MS + 900000);
    OP(s, runs->runs_add, &r, 1);
    struct log_clean old = { .scope = SCOPE_ALL,
                             .before_ms = NEVER_MS,
                             .from_id = ids[ROWS - 20],
                             .below_id = ids[ROWS - 11] };
    bool over;
    OP(s, runs->log_clean, &old, 100, &over);
    assert_true(old.gone > 0);
    OP(s, txn->commit, NULL);
    f.below_id = e.below_id;
    OP(s, pages->runs_page, &f, note, &g, &e);
    assert_int_equal(g.ids[10], ids[ROWS - 11]);
    for (int i = 1; i < g.n; i++)
        assert_true(g.ids[i] < g.ids[i - 1]);
}

static void counting_stops_at_its_bound(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct runs_filter f = any();
    struct runs_end e;
    struct got g = { 0 };
    fill(s);
    f.count_max = 50;
    OP(s, pages->runs_page, &f, note, &g, &e);
    assert_int_equal(g.n, 7);
    assert_int_equal(e.counted, 50);
    assert_true(e.more && !e.exact);
    f.limit = 0;
    f.count_max = 100000;
    OP(s, pages->runs_page, &f, note, &g, &e);
    assert_int_equal(g.n, 7);
    assert_int_equal(e.counted, ROWS);
    assert_true(e.exact);
}

static void what_is_planned_ahead_is_not_shown(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct runs_filter f = any();
    struct got g = { 0 };
    struct runs_end e;
    OP(s, txn->begin);
    int64_t id[3];
    for (int i = 0; i < 3; i++) {
        struct run_row r = sample_run(1, BEGIN_MS + i * 1000);
        r.due_ms = r.scheduled_ms;
        r.phase = PHASE_PLANNED;
        OP(s, runs->runs_add, &r, 1);
        id[i] = r.log_id;
    }
    OP(s, txn->commit, NULL);
    f.now_ms = BEGIN_MS + 1000;
    OP(s, pages->runs_page, &f, note, &g, &e);
    assert_int_equal(g.n, 2);
    assert_int_equal(g.ids[0], id[1]);
    f.outcomes = LOG_OUTCOME_BIT(LOG_OPEN);
    g.n = 0;
    OP(s, pages->runs_page, &f, note, &g, &e);
    assert_int_equal(g.n, 2);
}

#define DIGITS                                                                                     \
    "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 "  \
    "UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL "       \
    "SELECT 9)"

/* Rows that no index finds: a page ends where the bound is, and the next one goes on there. */
static void the_bound_of_looks_ends_a_page_not_the_list(void **state)
{
    struct engine *e = *state;
    struct runs_filter f = any();
    struct runs_end end;
    struct got g = { 0 };
    int pages = 0;
    if (e->kind == ENGINE_MEMORY)
        return; /* its rows would take a minute */
    engine_sql(e, "INSERT INTO xxl_job_log (id, job_group, job_id, executor_address, "
                  "trigger_code, handle_code) SELECT i, 1, 1, CASE WHEN i IN (7, 250000) THEN 'x' "
                  "ELSE 'y' END, 200, 200 FROM (SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * "
                  "x.d + 10000 * y.d + 100000 * z.d AS i FROM " DIGITS " a, " DIGITS " b, " DIGITS
                  " c, " DIGITS " x, " DIGITS " y, " DIGITS " z WHERE z.d < 5) numbers");
    f.address = "x";
    do {
        OP(e->s, pages->runs_page, &f, note, &g, &end);
        assert_true(end.more || end.exact);
        assert_true(end.below_id < f.below_id);
        f.below_id = end.below_id;
        pages++;
    } while (end.more);
    assert_int_equal(g.n, 2);
    assert_int_equal(g.ids[0], 250000);
    assert_int_equal(g.ids[1], 7);
    assert_int_equal(pages, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(every_filter_finds_its_rows_from_page_to_page),
        BOTH(what_comes_or_goes_meanwhile_repeats_and_hides_nothing),
        BOTH(counting_stops_at_its_bound),
        BOTH(what_is_planned_ahead_is_not_shown),
        BOTH(the_bound_of_looks_ends_a_page_not_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
