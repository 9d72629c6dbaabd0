/* SPDX-License-Identifier: Apache-2.0 */
/* The transaction's own decisions, which no engine makes: over the store in memory. */
#include "base/mem.h"
#include "store/turn.h"
#include "support_store.h"
#include <stdlib.h>
#include <string.h>

struct bench {
    struct engine *engine;
    struct planner *planner;
    int64_t group_id;
};

static enum err only_utc(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    (void)ctx;
    (void)name;
    (void)why;
    *ret = zone_ref(zone_utc());
    return OK;
}

/* One edit as a batch of its own. */
static struct batch *edit_alone(struct bench *b, struct edit *e)
{
    struct batch *batch = batch_new();
    batch->now_ms = 1700000000000;
    batch->edits = mem_new(sizeof(struct edit *));
    batch->edits[batch->nedits++] = e;
    turn_run(b->engine->s, b->planner, batch);
    assert_int_equal(batch->err, OK);
    return batch;
}

static int set_up(void **state)
{
    struct bench *b = mem_new(sizeof(*b));
    struct planner_config c = { .zone_find = only_utc, .last_year = 2125, .seed = 1 };
    b->engine = engine_new(ENGINE_MEMORY);
    b->planner = planner_new(&c);
    struct edit *e = edit_new(EDIT_GROUP_INSERT);
    e->group.app = mem_dup("tests");
    e->group.title = mem_dup("tests");
    struct batch *batch = edit_alone(b, e);
    assert_int_equal(e->err, OK);
    b->group_id = e->id;
    batch_free(batch);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    planner_free(b->planner);
    engine_free(b->engine);
    free(b);
    return 0;
}

static struct edit *job_edit(enum edit_kind kind, int64_t id, int64_t group_id)
{
    struct edit *e = edit_new(kind);
    e->id = id;
    e->job.group_id = group_id;
    e->job.description = mem_dup("d");
    e->job.schedule_type = mem_dup("NONE");
    e->job.glue_type = mem_dup("BEAN");
    return e;
}

static int64_t jobs_of(const struct bench *b, int64_t group_id)
{
    int64_t n = -1;
    OP(b->engine->s, group_jobs, group_id, &n);
    return n;
}

static void a_job_needs_a_group_that_is_there_when_it_is_written(void **state)
{
    struct bench *b = *state;
    struct edit *e = job_edit(EDIT_JOB_INSERT, 0, b->group_id + 1);
    struct batch *batch = edit_alone(b, e);
    assert_int_equal(e->err, ERR_INVALID);
    assert_non_null(strstr(e->why.text, "jobGroup: there is no group"));
    batch_free(batch);
    assert_int_equal(jobs_of(b, b->group_id + 1), 0);
    e = job_edit(EDIT_JOB_INSERT, 0, b->group_id);
    batch = edit_alone(b, e);
    assert_int_equal(e->err, OK);
    assert_int_equal(jobs_of(b, b->group_id), 1);
    batch_free(batch);
}

static void a_job_does_not_move_to_a_group_that_is_not_there(void **state)
{
    struct bench *b = *state;
    struct edit *e = job_edit(EDIT_JOB_INSERT, 0, b->group_id);
    struct batch *batch = edit_alone(b, e);
    int64_t id = e->id;
    batch_free(batch);
    e = job_edit(EDIT_JOB_UPDATE, id, b->group_id + 1);
    batch = edit_alone(b, e);
    assert_int_equal(e->err, ERR_INVALID);
    assert_non_null(strstr(e->why.text, "jobGroup: there is no group"));
    batch_free(batch);
    assert_int_equal(jobs_of(b, b->group_id), 1);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_job_needs_a_group_that_is_there_when_it_is_written),
        T(a_job_does_not_move_to_a_group_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
