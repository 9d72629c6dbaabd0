/* SPDX-License-Identifier: Apache-2.0 */
/* Figures at a server that has ended no run: what it says of another one's runs is what that one
 * says, whatever stands in rows already, and whenever it reads. Both work on one store here, which
 * is told to be shared. */
#include "base/mem.h"
#include "support_ledger.h"
#include <stdlib.h>
#include <string.h>

#define MINUTE_MS 60000
#define OWNER 0 /* as the rows of the engine say */
#define VIEWER 2

static const struct commit nothing;

struct scene {
    struct bench *b;
    struct figures *owner, *viewer;
    int64_t job_id, group_id, now_ms, minute;
};

/* ---- a store that is shared ------------------------------------------------------------------ */

static enum err lives_each(struct store *s, int64_t limit, life_row_fn *fn, void *ctx,
                           struct why *why)
{
    const struct life_record lives[] = { { .node = OWNER, .epoch = 1 },
                                         { .node = VIEWER, .epoch = 2 } };
    (void)s;
    (void)limit;
    (void)why;
    (void)(fn(ctx, &lives[0]) && fn(ctx, &lives[1]));
    return OK;
}

struct behind {
    int64_t after;
    delta_row_fn *fn;
    void *ctx;
};

static bool lend_behind(void *ctx, int64_t n, struct slice bytes)
{
    struct behind *x = ctx;
    return n <= x->after || x->fn(x->ctx, n, bytes);
}

static enum err deltas_of(struct store *s, int64_t node, int64_t after, int64_t below,
                          int64_t limit, delta_row_fn *fn, void *ctx, struct why *why)
{
    struct behind x = { after, fn, ctx };
    (void)below;
    (void)limit;
    return node == OWNER ? s->ops->figures->deltas_each(s, lend_behind, &x, why) : OK;
}

static enum err figure_nodes(struct store *s, int64_t slot, int64_t group_id, int64_t job_id,
                             figure_row_fn *fn, void *ctx, struct why *why)
{
    uint32_t durations[DURATION_BUCKETS];
    struct figure_row r;
    enum err err = s->ops->figures->figure_get(s, slot, group_id, job_id, &r, durations, why);
    r.node = OWNER;
    r.durations = durations;
    if (!err)
        (void)!fn(ctx, &r);
    return err == ERR_NOTFOUND ? OK : err;
}

static const struct store_cluster cluster = { .lives_each = lives_each,
                                              .deltas_of = deltas_of,
                                              .figure_nodes = figure_nodes };

/* ---- scenes ---------------------------------------------------------------------------------- */

static struct figures *figures_of(struct scene *c, int64_t node)
{
    struct figures *f = figures_new(zone_utc());
    struct why why = { "" };
    figures_share(f, node);
    if (node == OWNER)
        assert_int_equal(figures_load(f, c->b->s, &why), OK);
    else /* the engine takes all bytes for those of its one server */
        assert_int_equal(figures_others_load(f, c->b->s, &why), OK);
    return f;
}

static void scene_begin(struct scene *c, void **state)
{
    struct job_record job;
    *c = (struct scene){ .b = *state, .group_id = 4 };
    c->now_ms = BENCH_NOW_MS / 86400000 * 86400000;
    job_record_init(&job);
    job.group_id = c->group_id;
    assert_int_equal(c->b->engine->txn->begin(c->b->s, NULL), OK);
    assert_int_equal(c->b->engine->catalog->job_insert(c->b->s, &job, NULL), OK);
    assert_int_equal(c->b->engine->txn->commit(c->b->s, &nothing, NULL), OK);
    c->job_id = job.id;
    job_record_done(&job);
    c->b->ops.cluster = &cluster;
    c->b->s->ops = &c->b->ops;
    c->owner = figures_of(c, OWNER);
    c->viewer = figures_of(c, VIEWER);
}

static void scene_end(struct scene *c)
{
    figures_free(c->owner);
    figures_free(c->viewer);
    c->b->s->ops = c->b->engine;
}

static void run(struct scene *c, struct batch *b)
{
    txn_run(c->b->s, c->b->planner, c->owner, b, &c->b->writes);
    assert_int_equal(b->err, OK);
    batch_free(b);
}

/* The owner ends a run. */
static int64_t end(struct scene *c, enum outcome o)
{
    struct run_row r = { .job_id = c->job_id,
                         .group_id = c->group_id,
                         .scheduled_ms = c->now_ms + c->minute++ * MINUTE_MS,
                         .shard_total = 1,
                         .phase = PHASE_ACCEPTED };
    r.due_ms = r.scheduled_ms;
    assert_int_equal(c->b->engine->txn->begin(c->b->s, NULL), OK);
    assert_int_equal(c->b->engine->runs->runs_add(c->b->s, &r, 1, NULL), OK);
    assert_int_equal(c->b->engine->txn->commit(c->b->s, &nothing, NULL), OK);
    struct run_change change = { .log_id = r.log_id,
                                 .what = CHANGE_PHASE | CHANGE_CLOSE,
                                 .phase = PHASE_SUCCEEDED,
                                 .end = { .log_id = r.log_id,
                                          .job_id = c->job_id,
                                          .group_id = c->group_id,
                                          .log_ms = c->now_ms + (c->minute - 1) * MINUTE_MS,
                                          .took_ms = 100,
                                          .late_ms = 3,
                                          .now = o } };
    struct batch *b = bench_batch();
    b->now_ms = c->now_ms + 1000;
    b->changes = mem_new(sizeof(change));
    *b->changes = change;
    b->nchanges = 1;
    run(c, b);
    return r.log_id;
}

/* The owner writes all that it has counted as rows. */
static void fold(struct scene *c, int64_t after_ms)
{
    struct batch *b = bench_batch();
    b->now_ms = c->now_ms + after_ms;
    run(c, b);
}

struct told {
    struct scene *c;
    struct run_end last;
    size_t n;
};

static bool take(void *ctx, int64_t n, struct slice bytes)
{
    struct told *t = ctx;
    size_t count;
    int64_t at_ms;
    struct run_end *ends = figures_others_take(t->c->viewer, OWNER, n, bytes, &count, &at_ms);
    t->n += count;
    if (count)
        t->last = ends[count - 1];
    free(ends);
    return true;
}

/* The viewer reads what has been committed. */
static struct told look(struct scene *c)
{
    struct told t = { .c = c };
    assert_int_equal(deltas_of(c->b->s, OWNER, figures_others_read(c->viewer, OWNER), INT64_MAX,
                               1000, take, &t, NULL),
                     OK);
    return t;
}

static const struct {
    enum figure_level level;
    bool of_group, of_job;
} slots[] = {
    { FIGURE_QUARTER, false, false }, { FIGURE_HOUR, false, false },
    { FIGURE_DAY, false, false },     { FIGURE_QUARTER, true, false },
    { FIGURE_DAY, true, false },      { FIGURE_JOB_HOUR, false, true },
    { FIGURE_JOB_DAY, false, true },
};

static struct figure read_slot(struct scene *c, struct figures *f, size_t i, uint32_t *durations)
{
    struct figure ret;
    struct why why = { "" };
    assert_int_equal(figures_read(f, c->b->s, slots[i].level, slots[i].of_group ? c->group_id : 0,
                                  slots[i].of_job ? c->job_id : 0, c->now_ms, &ret, durations,
                                  &why),
                     OK);
    return ret;
}

static void assert_reads(struct scene *c, struct figures *f, enum outcome o, int n)
{
    uint32_t durations[DURATION_BUCKETS];
    for (size_t i = 0; i < countof(slots); i++) {
        struct figure f1 = read_slot(c, f, i, durations);
        assert_int_equal(f1.counts[o], n);
        assert_int_equal(f1.took_ms, 100 * n);
        if (!slots[i].of_job)
            assert_int_equal(durations[duration_bucket(100)], n);
    }
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void what_one_counts_the_other_says(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    int n = 0;
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < 3; i++) {
            end(&c, OUTCOME_FAILED);
            assert_int_equal(look(&c).n, 1);
            assert_reads(&c, c.owner, OUTCOME_FAILED, ++n);
            assert_reads(&c, c.viewer, OUTCOME_FAILED, n);
        }
        fold(&c, (2 * round - 1) * 400000); /* of all that the viewer has read, */
        assert_reads(&c, c.viewer, OUTCOME_FAILED, n);
        look(&c);
        assert_reads(&c, c.viewer, OUTCOME_FAILED, n);
        end(&c, OUTCOME_FAILED); /* and of what it reads late: */
        fold(&c, 2 * round * 400000);
        assert_reads(&c, c.owner, OUTCOME_FAILED, ++n);
        assert_reads(&c, c.viewer, OUTCOME_FAILED, n); /* the rows have it, */
        look(&c);
        assert_reads(&c, c.viewer, OUTCOME_FAILED, n); /* and count alone */
    }
    scene_end(&c);
}

static void a_load_finds_the_same_in_rows_and_bytes(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    for (int n = 1; n <= 6; n++) {
        end(&c, OUTCOME_TIMED_OUT);
        if (n == 3)
            fold(&c, 400000);
        figures_free(c.viewer);
        c.viewer = figures_of(&c, VIEWER);
        assert_reads(&c, c.viewer, OUTCOME_TIMED_OUT, n);
        assert_int_equal(look(&c).n, 0);
        struct job_stat stat;
        assert_true(figures_job(c.viewer, c.job_id, &stat));
        assert_int_equal(stat.streak, n);
        assert_int_equal(stat.ends[OUTCOME_TIMED_OUT], n);
        assert_false(figures_job_here(c.viewer, c.job_id, &stat));
    }
    struct why why = { "" };
    assert_int_equal(figures_others_load(c.viewer, c.b->s, &why), OK);
    assert_reads(&c, c.viewer, OUTCOME_TIMED_OUT, 6);
    scene_end(&c);
}

static void failures_in_a_row_are_those_of_all(void **state)
{
    struct scene c;
    struct job_stat stat;
    scene_begin(&c, state);
    end(&c, OUTCOME_FAILED);
    end(&c, OUTCOME_FAILED);
    struct told t = look(&c);
    assert_int_equal(t.last.streak_was, 1);
    assert_int_equal(t.last.streak, 2);
    size_t n;
    int64_t *ids = figures_job_ids(c.viewer, true, 10, &n);
    assert_int_equal(n, 1);
    assert_int_equal(ids[0], c.job_id);
    free(ids);
    int64_t last = end(&c, OUTCOME_SUCCEEDED);
    assert_int_equal(look(&c).last.streak, 0);
    assert_true(figures_job(c.viewer, c.job_id, &stat));
    assert_int_equal(stat.streak, 0);
    assert_int_equal(job_stat_last(&stat, 0).log_id, last);
    assert_int_equal(stat.nlast, 3);
    scene_end(&c);
}

struct counted {
    int64_t whole, group;
};

static bool count(void *ctx, const struct figure_row *r)
{
    struct counted *x = ctx;
    *(r->group_id ? &x->group : &x->whole) += r->figure.counts[OUTCOME_FAILED];
    return true;
}

/* What the board begins with. */
static void assert_copied(struct scene *c, int n)
{
    struct figures_copy copy;
    struct counted x = { 0, 0 };
    figures_copy(c->viewer, &copy);
    assert_int_equal(figures_copy_slots(&copy, c->viewer, c->b->s, c->now_ms - 86400000,
                                        c->now_ms - 3600000, count, &x, NULL),
                     OK);
    assert_int_equal(x.whole, n);
    assert_int_equal(x.group, n);
    assert_int_equal(copy.nfailing, 1);
    assert_int_equal(copy.failing[0].streak, n);
    assert_true(figures_copy_no(&copy, OWNER) >= figures_others_read(c->viewer, OWNER));
    figures_copy_done(&copy);
}

static void a_second_reader_begins_with_all_of_it(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    for (int n = 1; n <= 4; n++) {
        end(&c, OUTCOME_FAILED);
        look(&c);
        assert_copied(&c, n);
        if (n == 2) {
            fold(&c, 400000);
            assert_copied(&c, n); /* the viewer has not read of it */
            look(&c);
            assert_copied(&c, n);
        }
    }
    scene_end(&c);
}

#define TESTS(new)                                                                                 \
    cmocka_unit_test_setup_teardown(what_one_counts_the_other_says, new, bench_free),              \
        cmocka_unit_test_setup_teardown(a_load_finds_the_same_in_rows_and_bytes, new, bench_free), \
        cmocka_unit_test_setup_teardown(failures_in_a_row_are_those_of_all, new, bench_free),      \
        cmocka_unit_test_setup_teardown(a_second_reader_begins_with_all_of_it, new, bench_free)

int main(void)
{
    const struct CMUnitTest tests[] = { TESTS(sqlite_new) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
