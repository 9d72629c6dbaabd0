/* SPDX-License-Identifier: Apache-2.0 */
/* The transaction's own decisions, which no engine makes: over the store in memory. */
#include "base/mem.h"
#include "ledger/txn.h"
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
    txn_run(b->engine->s, b->planner, NULL, batch, NULL);
    assert_int_equal(batch->err, OK);
    return batch;
}

static int64_t group_new(struct bench *b, const char *app)
{
    struct edit *e = edit_new(EDIT_GROUP_INSERT);
    e->group.app = mem_dup(app);
    e->group.title = mem_dup(app);
    struct batch *batch = edit_alone(b, e);
    assert_int_equal(e->err, OK);
    int64_t id = e->id;
    batch_free(batch);
    return id;
}

static int set_up(void **state)
{
    struct bench *b = mem_new(sizeof(*b));
    struct planner_config c = { .zone_find = only_utc, .last_year = 2125, .seed = 1 };
    b->engine = engine_new(ENGINE_MEMORY);
    b->planner = planner_new(&c);
    b->group_id = group_new(b, "tests");
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
    OP(b->engine->s, catalog->group_jobs, group_id, &n);
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

static void an_update_from_an_older_version_is_refused(void **state)
{
    struct bench *b = *state;
    struct edit *e = job_edit(EDIT_JOB_INSERT, 0, b->group_id);
    struct batch *batch = edit_alone(b, e);
    int64_t id = e->id, version = e->now ? e->now->version : 0;
    batch_free(batch);
    static const struct {
        int64_t from; /* behind the version that is there */
        enum err err;
    } rows[] = { { 0, OK }, { -1, ERR_OVERTAKEN }, { 0, OK }, { 1, ERR_OVERTAKEN } };
    struct job_record r;
    for (size_t i = 0; i < countof(rows); i++) {
        job_record_init(&r);
        OP(b->engine->s, catalog->job_get, id, &r);
        assert_true(i == 0 || r.version >= version);
        version = r.version;
        job_record_done(&r);
        e = job_edit(EDIT_JOB_UPDATE, id, b->group_id);
        e->version = version + rows[i].from;
        batch = edit_alone(b, e);
        assert_int_equal(e->err, rows[i].err);
        batch_free(batch);
    }
    job_record_init(&r);
    OP(b->engine->s, catalog->job_get, id, &r);
    assert_int_equal(r.version, version); /* the last one was refused */
    job_record_done(&r);
}

/* The form shows a list that executors change: for a group by registry that is no user's edit. */
static void a_group_that_somebody_else_has_changed_is_left_alone(void **state)
{
    struct bench *b = *state;
    static const struct {
        int type, was_type;
        const char *title, *list; /* as the form had them */
        enum err err;
    } rows[] = {
        { 0, 0, "tests", "http://10.0.0.9:1/", OK }, /* the registry's list */
        { 0, 0, "other", NULL, ERR_OVERTAKEN },
        { 1, 0, "tests", NULL, OK }, /* now by hand, with the list below */
        { 1, 1, "tests", "http://10.0.0.1:1/", OK },
        { 1, 1, "tests", "http://10.0.0.9:1/", ERR_OVERTAKEN },
        { 1, 0, "tests", "http://10.0.0.1:1/", ERR_OVERTAKEN },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct edit *e = edit_new(EDIT_GROUP_UPDATE);
        e->id = b->group_id;
        e->group.id = b->group_id;
        e->group.app = mem_dup("tests");
        e->group.title = mem_dup("tests");
        e->group.address_type = rows[i].type;
        e->group.address_list = rows[i].type ? mem_dup("http://10.0.0.1:1/") : NULL;
        e->was.app = mem_dup("tests");
        e->was.title = mem_dup(rows[i].title);
        e->was.address_type = rows[i].was_type;
        e->was.address_list = mem_dup(rows[i].list);
        struct batch *batch = edit_alone(b, e);
        assert_int_equal(e->err, rows[i].err);
        batch_free(batch);
    }
}

static enum err edit_id(struct bench *b, enum edit_kind kind, int64_t id, const char *says)
{
    struct edit *e = edit_new(kind);
    e->id = id;
    struct batch *batch = edit_alone(b, e);
    enum err err = e->err;
    if (says)
        assert_non_null(strstr(e->why.text, says));
    batch_free(batch);
    return err;
}

/* A CRON job, switched on, or off for that reason (NULL: by a user). */
static int64_t job_insert(struct bench *b, bool enabled, const char *stop_reason)
{
    struct edit *e = job_edit(EDIT_JOB_INSERT, 0, b->group_id);
    free(e->job.schedule_type);
    e->job.schedule_type = mem_dup("CRON");
    e->job.schedule_conf = mem_dup("0 0 3 * * ?");
    e->job.enabled = enabled;
    e->job.stop_reason = mem_dup(stop_reason);
    struct batch *batch = edit_alone(b, e);
    assert_int_equal(e->err, OK);
    int64_t id = e->id;
    batch_free(batch);
    return id;
}

static int64_t version_of(struct bench *b, int64_t job)
{
    struct job_record r;
    job_record_init(&r);
    OP(b->engine->s, catalog->job_get, job, &r);
    int64_t version = r.version;
    job_record_done(&r);
    return version;
}

/* An update that changes one thing, for a job with one planned row. */
struct change {
    const char *what;
    const char *handler, *param, *route;
    int retries;
    bool other_group;
    bool stays; /* the row, of a firing that can be planned again; if not, there is a new one */
    bool part_stays; /* the row of a firing of which a part has left */
};

static struct edit *update_of(struct bench *b, int64_t job, int64_t group, const struct change *c)
{
    struct edit *e = job_edit(EDIT_JOB_UPDATE, job, group);
    free(e->job.schedule_type);
    e->job.schedule_type = mem_dup("CRON");
    e->job.schedule_conf = mem_dup("0 0 3 * * ?");
    free(e->job.description);
    e->job.description = mem_dup(c->what);
    e->job.handler = mem_dup(c->handler);
    e->job.param = mem_dup(c->param);
    e->job.route = mem_dup(c->route);
    e->job.retries = c->retries;
    e->runs = mem_new(sizeof(*e->runs));
    e->runs[e->nruns++] = (struct edit_run){ .log_id = 1000,
                                             .scheduled_ms = 1700000004000,
                                             .version = version_of(b, job),
                                             .kind = KIND_CRON };
    return e;
}

static void what_was_planned_is_planned_again_if_it_differs(void **state)
{
    struct bench *b = *state;
    static const struct change rows[] = {
        { "nothing", "h", "p", "FIRST", 1, false, true, true },
        { "the handler", "other", "p", "FIRST", 1, false, false, true },
        { "the parameter", "h", "other", "FIRST", 1, false, false, true },
        { "no parameter", "h", NULL, "FIRST", 1, false, false, true },
        { "the retries", "h", "p", "FIRST", 2, false, false, true },
        { "the route", "h", "p", "LAST", 1, false, false, false },
        { "the group", "h", "p", "FIRST", 1, true, false, false },
    };
    int64_t other = group_new(b, "others");
    for (size_t i = 0; i < 2 * countof(rows); i++) {
        const struct change *c = &rows[i / 2];
        bool whole = i % 2 == 0, stays = whole ? c->stays : c->part_stays;
        int64_t job = job_insert(b, false, NULL);
        struct edit *e = update_of(b, job, b->group_id, &rows[0]);
        batch_free(edit_alone(b, e)); /* the job as it is before */
        e = update_of(b, job, c->other_group ? other : b->group_id, c);
        e->runs[0].whole = whole;
        struct batch *batch = edit_alone(b, e);
        assert_int_equal(e->err, OK);
        if (e->runs[0].stays != stays || batch->nplanned != (whole && !stays))
            fail_msg("%s, %s: stays %d, %d rows anew", c->what, whole ? "whole" : "a part",
                     e->runs[0].stays, batch->nplanned);
        if (batch->nplanned)
            assert_int_equal(batch->planned[0].row.scheduled_ms, e->runs[0].scheduled_ms);
        batch_free(batch);
    }
}

/* Asked for by the scheduler under an older version than the job has when it is written. */
static void a_stop_takes_back_what_the_schedule_asked_for(void **state)
{
    struct bench *b = *state;
    static const struct {
        enum kind kind;
        bool scheduled, enabled;
        const char *stop_reason; /* the schedule has come to its end */
        bool taken;
    } rows[] = {
        { KIND_MISFIRE, true, false, NULL, true },
        { KIND_MISFIRE, true, true, NULL, false },
        { KIND_MISFIRE, true, false, "no further scheduled time", false },
        { KIND_RETRY, true, false, NULL, true },
        { KIND_RETRY, true, true, NULL, false },
        { KIND_RETRY, true, false, "no further scheduled time", false },
        { KIND_RETRY, false, false, NULL, false }, /* of a run by hand */
        { KIND_MANUAL, false, false, NULL, false },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        int64_t job = job_insert(b, rows[i].enabled, rows[i].stop_reason);
        struct batch *batch = batch_new();
        batch->now_ms = 1700000000000;
        batch->spawns = mem_new(sizeof(*batch->spawns));
        batch->spawns[batch->nspawns++] = (struct spawn){
            .job_id = job,
            .kind = rows[i].kind,
            .scheduled_ms = batch->now_ms - 1000,
            .due_ms = batch->now_ms,
            .cause = rows[i].kind == KIND_RETRY ? 77 : 0,
            .version = version_of(b, job),
            .attempt = rows[i].kind == KIND_RETRY,
            .shard_total = rows[i].kind == KIND_RETRY,
            .scheduled = rows[i].scheduled,
        };
        batch_free(
            edit_alone(b, update_of(b, job, b->group_id, &(struct change){ .what = "newer" })));
        txn_run(b->engine->s, b->planner, NULL, batch, NULL);
        assert_int_equal(batch->err, OK);
        assert_int_equal(batch->spawns[0].err, rows[i].taken ? ERR_NOTFOUND : OK);
        assert_int_equal(batch->nplanned, rows[i].taken ? 0 : 1);
        batch_free(batch);
    }
}

static void a_group_with_jobs_stays_and_so_does_the_last(void **state)
{
    struct bench *b = *state;
    int64_t other = group_new(b, "others");
    struct edit *e = job_edit(EDIT_JOB_INSERT, 0, other);
    struct batch *batch = edit_alone(b, e);
    int64_t job = e->id;
    batch_free(batch);
    assert_int_equal(edit_id(b, EDIT_GROUP_DELETE, other, "has 1 jobs"), ERR_INVALID);
    assert_int_equal(jobs_of(b, other), 1);
    assert_int_equal(edit_id(b, EDIT_JOB_DELETE, job, NULL), OK);
    assert_int_equal(edit_id(b, EDIT_GROUP_DELETE, other, NULL), OK);
    assert_int_equal(edit_id(b, EDIT_GROUP_DELETE, other, NULL), ERR_NOTFOUND);
    assert_int_equal(edit_id(b, EDIT_GROUP_DELETE, b->group_id, "is the last one"), ERR_INVALID);
}

/* The clock has gone back an hour while the run was out: pages and forms show the next scheduled
 * time, and it is not one that has been served. */
static void the_next_delay_lies_behind_what_was_planned(void **state)
{
    struct bench *b = *state;
    struct edit *e = job_edit(EDIT_JOB_INSERT, 0, b->group_id);
    free(e->job.schedule_type);
    e->job.schedule_type = mem_dup("FIX_DELAY");
    e->job.schedule_conf = mem_dup("10");
    e->job.enabled = true;
    struct batch *batch = edit_alone(b, e);
    assert_int_equal(e->err, OK);
    int64_t job = e->id, scheduled_ms = batch->now_ms + 10000;
    batch_free(batch);
    batch = batch_new();
    batch->now_ms = scheduled_ms - 1000;
    batch->plan_until_ms = scheduled_ms;
    batch->plan_max_rows = 10;
    txn_run(b->engine->s, b->planner, NULL, batch, NULL);
    assert_int_equal(batch->err, OK);
    assert_int_equal(batch->nplanned, 1);
    batch_free(batch);
    batch = batch_new();
    batch->now_ms = scheduled_ms - 3600000;
    batch->delays = mem_new(sizeof(*batch->delays));
    batch->delays[batch->ndelays++] = (struct delay){ job, batch->now_ms };
    txn_run(b->engine->s, b->planner, NULL, batch, NULL);
    assert_int_equal(batch->err, OK);
    batch_free(batch);
    struct job_record r;
    job_record_init(&r);
    OP(b->engine->s, catalog->job_get, job, &r);
    assert_int_equal(r.planned_until_ms, scheduled_ms);
    assert_int_equal(r.next_ms, scheduled_ms + 1);
    job_record_done(&r);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_job_needs_a_group_that_is_there_when_it_is_written),
        T(a_job_does_not_move_to_a_group_that_is_not_there),
        T(an_update_from_an_older_version_is_refused),
        T(a_group_that_somebody_else_has_changed_is_left_alone),
        T(what_was_planned_is_planned_again_if_it_differs),
        T(a_stop_takes_back_what_the_schedule_asked_for),
        T(a_group_with_jobs_stays_and_so_does_the_last),
        T(the_next_delay_lies_behind_what_was_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
