/* SPDX-License-Identifier: Apache-2.0 */
/* What is written with an edit: the rows that it is shown, what a refusal of either takes back, and
 * which caller hears of it. */
#include "base/mem.h"
#include "support_ledger.h"
#include <stdlib.h>
#include <string.h>

struct witness {
    const char *user; /* that it inserts */
    enum err then;
    int runs, dones;
    enum err err;
    /* of the rows that it was shown last; "" = none */
    char was[32], now[32];
    int64_t version_was, version;
};

static void copy(char to[32], const char *text)
{
    text_copy(to, 32, slice_text(text ? text : ""));
}

static enum err witness_run(struct store *s, void *arg, const struct edit_rows *rows,
                            struct why *why)
{
    struct witness *w = arg;
    struct user_record u = { .username = (char *)w->user, .password = "" };
    w->runs++;
    assert_false((rows->job_was || rows->job) && (rows->group_was || rows->group));
    copy(w->was, rows->job_was     ? rows->job_was->description
                 : rows->group_was ? rows->group_was->title
                                   : NULL);
    copy(w->now, rows->job ? rows->job->description : rows->group ? rows->group->title : NULL);
    w->version_was = rows->job_was ? rows->job_was->version : 0;
    w->version = rows->job ? rows->job->version : 0;
    enum err err = s->ops->users->user_insert(s, &u, why);
    if (!err && w->then)
        why_set(why, "the witness says no");
    return err ? err : w->then;
}

static void witness_done(void *arg, enum err err, const struct why *why)
{
    (void)why;
    struct witness *w = arg;
    w->dones++;
    w->err = err;
}

static struct edit *watched(struct edit *e, struct witness *w)
{
    static const struct edit_companion companion = { .run = witness_run, .done = witness_done };
    e->companion = &companion;
    e->companion_arg = w;
    return e;
}

static struct edit *group_edit(enum edit_kind kind, int64_t id, const char *title)
{
    struct edit *e = edit_new(kind);
    e->id = e->group.id = id;
    e->group.app = mem_dup("tests");
    e->group.title = mem_dup(title);
    return e;
}

static struct edit *job_edit(enum edit_kind kind, int64_t id, int64_t group, const char *says)
{
    struct edit *e = edit_new(kind);
    e->id = id;
    e->job.group_id = group;
    e->job.description = mem_dup(says);
    e->job.schedule_type = mem_dup("FIX_RATE");
    e->job.schedule_conf = mem_dup("1");
    e->job.glue_type = mem_dup("BEAN");
    e->sent_until_ms = BENCH_NOW_MS;
    e->plan_until_ms = BENCH_NOW_MS + 5000;
    return e;
}

/* Run the edit alone; what became of it. */
static enum err run_edit(struct bench *b, struct edit *e, int64_t *ret_id)
{
    struct batch *batch = bench_edit(e);
    assert_int_equal(bench_run(b, batch), OK);
    enum err err = e->err;
    if (ret_id)
        *ret_id = e->id;
    edit_end(e, err);
    batch_free(batch); /* the end is told once */
    assert_int_equal(bench_unaccounted(b), 0);
    return err;
}

static void it_sees_the_row_before_and_after(void **state)
{
    struct bench *b = *state;
    int64_t group, job;
    struct witness w = { .user = "1" };
    assert_int_equal(run_edit(b, watched(group_edit(EDIT_GROUP_INSERT, 0, "one"), &w), &group), OK);
    assert_string_equal(w.was, "");
    assert_string_equal(w.now, "one");
    w.user = "2";
    assert_int_equal(run_edit(b, watched(group_edit(EDIT_GROUP_UPDATE, group, "two"), &w), NULL),
                     OK);
    assert_string_equal(w.was, "one");
    assert_string_equal(w.now, "two");
    w.user = "3";
    assert_int_equal(run_edit(b, watched(job_edit(EDIT_JOB_INSERT, 0, group, "a"), &w), &job), OK);
    assert_string_equal(w.was, "");
    assert_string_equal(w.now, "a");
    assert_int_equal(w.version, 1);
    w.user = "4";
    assert_int_equal(run_edit(b, watched(job_edit(EDIT_JOB_UPDATE, job, group, "b"), &w), NULL),
                     OK);
    assert_string_equal(w.was, "a");
    assert_string_equal(w.now, "b");
    assert_int_equal(w.version_was, 1);
    assert_int_equal(w.version, 2);
    w.user = "5";
    assert_int_equal(run_edit(b, watched(job_edit(EDIT_JOB_START, job, 0, ""), &w), NULL), OK);
    assert_int_equal(w.version, 3);
    w.user = "6";
    assert_int_equal(run_edit(b, watched(job_edit(EDIT_JOB_STOP, job, 0, ""), &w), NULL), OK);
    w.user = "7";
    assert_int_equal(run_edit(b, watched(job_edit(EDIT_JOB_DELETE, job, 0, ""), &w), NULL), OK);
    assert_string_equal(w.was, "b");
    assert_string_equal(w.now, "");
    assert_int_equal(w.runs, 7);
    assert_int_equal(w.dones, 7);
    assert_int_equal(w.err, OK);
    for (char name[] = "1"; name[0] <= '7'; name[0]++)
        assert_true(bench_is_user(b, name));
}

static void what_it_refuses_takes_the_edit_back(void **state)
{
    struct bench *b = *state;
    int64_t group, job;
    assert_int_equal(run_edit(b, group_edit(EDIT_GROUP_INSERT, 0, "one"), &group), OK);
    assert_int_equal(run_edit(b, job_edit(EDIT_JOB_INSERT, 0, group, "a"), &job), OK);
    static const enum err refusals[] = { ERR_INVALID, ERR_NOTFOUND, ERR_EXISTS, ERR_OVERTAKEN };
    for (size_t i = 0; i < countof(refusals); i++) {
        struct witness w = { .user = "ann", .then = refusals[i] };
        /* a start plans what is due within the horizon: rows, totals */
        struct batch *batch = bench_edit(watched(job_edit(EDIT_JOB_START, job, 0, ""), &w));
        struct edit *e = batch->edits[0];
        assert_int_equal(bench_run(b, batch), OK);
        assert_int_equal(e->err, refusals[i]);
        assert_string_equal(e->why.text, "the witness says no");
        assert_null(e->now);
        assert_int_equal(batch->nplanned, 0);
        batch_free(batch);
        assert_int_equal(w.dones, 1);
        assert_false(bench_is_user(b, "ann"));
        assert_int_equal(bench_logs(b), 0);
        assert_int_equal(bench_unaccounted(b), 0);
        struct job_record r;
        assert_int_equal(b->s->ops->catalog->job_get(b->s, job, &r, NULL), OK);
        assert_false(r.enabled);
        assert_int_equal(r.version, 1);
        job_record_done(&r);
    }
    struct witness w = { .user = "bob" }; /* and the same edit is good when nothing refuses it */
    struct batch *batch = bench_edit(watched(job_edit(EDIT_JOB_START, job, 0, ""), &w));
    assert_int_equal(bench_run(b, batch), OK);
    assert_int_equal(batch->edits[0]->err, OK);
    assert_true(batch->nplanned > 0);
    batch_free(batch);
    assert_int_equal(bench_unaccounted(b), 0);
}

static void an_insert_that_is_refused_leaves_no_row(void **state)
{
    struct bench *b = *state;
    struct witness w = { .user = "ann", .then = ERR_INVALID };
    int64_t id = -1;
    assert_int_equal(run_edit(b, watched(group_edit(EDIT_GROUP_INSERT, 0, "one"), &w), &id),
                     ERR_INVALID);
    assert_int_equal(id, 0);
    assert_int_equal(bench_groups(b), 0);
    assert_int_equal(w.err, ERR_INVALID);
}

static void an_edit_that_is_refused_writes_nothing_along(void **state)
{
    struct bench *b = *state;
    struct witness w = { .user = "ann" };
    assert_int_equal(run_edit(b, watched(job_edit(EDIT_JOB_STOP, 77, 0, ""), &w), NULL),
                     ERR_NOTFOUND);
    assert_int_equal(w.runs, 0);
    assert_int_equal(w.dones, 1);
    assert_int_equal(w.err, ERR_NOTFOUND);
}

static void a_failing_batch_shows_it_the_same_rows_again(void **state)
{
    struct bench *b = *state;
    int64_t group;
    assert_int_equal(run_edit(b, group_edit(EDIT_GROUP_INSERT, 0, "one"), &group), OK);
    struct witness w = { .user = "ann" };
    struct batch *batch = bench_edit(watched(job_edit(EDIT_JOB_INSERT, 0, group, "a"), &w));
    bench_commits_fail(b, 2);
    assert_int_equal(bench_run(b, batch), ERR_FULL);
    assert_int_equal(bench_run(b, batch), ERR_FULL);
    assert_false(bench_is_user(b, "ann"));
    assert_int_equal(bench_run(b, batch), OK);
    assert_string_equal(w.was, "");
    assert_string_equal(w.now, "a");
    assert_int_equal(w.runs, 3);
    assert_int_equal(w.dones, 0);
    batch_free(batch); /* the caller has gone */
    assert_int_equal(w.dones, 1);
    assert_int_equal(w.err, ERR_STOPPING);
    assert_true(bench_is_user(b, "ann"));
}

static void a_database_error_in_it_fails_the_batch(void **state)
{
    struct bench *b = *state;
    struct witness w = { .user = "ann", .then = ERR_IO };
    struct batch *batch = bench_edit(watched(group_edit(EDIT_GROUP_INSERT, 0, "one"), &w));
    assert_int_equal(bench_run(b, batch), ERR_IO);
    assert_string_equal(batch->why.text, "the witness says no");
    assert_int_equal(bench_groups(b), 0);
    w.then = OK;
    assert_int_equal(bench_run(b, batch), OK);
    assert_int_equal(bench_groups(b), 1);
    batch_free(batch);
}

/* ---- bundles --------------------------------------------------------------------------------- */

static enum err in_group_before(void *arg, struct edit *e, struct why *why)
{
    const struct edit *group = arg;
    (void)why;
    e->job.group_id = group->id;
    return OK;
}

static void nothing_done(void *arg, enum err err, const struct why *why)
{
    (void)arg;
    (void)err;
    (void)why;
}

static enum err nothing_run(struct store *s, void *arg, const struct edit_rows *rows,
                            struct why *why)
{
    (void)s;
    (void)arg;
    (void)rows;
    (void)why;
    return OK;
}

/* A group, a job of it, and a job that starts: with its record. Owned by the batch. */
static struct batch *bundle_of_three(struct edit *last)
{
    static const struct edit_companion companion = { in_group_before, nothing_run, nothing_done };
    struct batch *batch = bench_edit(group_edit(EDIT_GROUP_INSERT, 0, "new"));
    struct edit *job = job_edit(EDIT_JOB_INSERT, 0, 0, "of it");
    job->companion = &companion;
    job->companion_arg = batch->edits[0];
    batch->edits[0]->bundle = 3;
    batch->edits = mem_resize(batch->edits, 3 * sizeof(struct edit *));
    batch->edits[1] = job;
    batch->edits[2] = last;
    batch->nedits = 3;
    return batch;
}

static void job_is(struct bench *b, int64_t id, const char *says, bool enabled, int64_t version)
{
    struct job_record r;
    assert_int_equal(b->s->ops->catalog->job_get(b->s, id, &r, NULL), OK);
    assert_string_equal(r.description, says);
    assert_int_equal(r.enabled, enabled);
    assert_int_equal(r.version, version);
    job_record_done(&r);
}

static void a_bundle_is_made_whole_and_learns_ids(void **state)
{
    struct bench *b = *state;
    int64_t group, job;
    assert_int_equal(run_edit(b, group_edit(EDIT_GROUP_INSERT, 0, "one"), &group), OK);
    assert_int_equal(run_edit(b, job_edit(EDIT_JOB_INSERT, 0, group, "a"), &job), OK);
    struct edit *start = job_edit(EDIT_JOB_START, job, group, "changed");
    start->whole = true;
    start->version = 1;
    struct batch *batch = bundle_of_three(start);
    bench_commits_fail(b, 1);
    assert_int_equal(bench_run(b, batch), ERR_FULL);
    assert_int_equal(batch->edits[0]->id, 0);
    assert_int_equal(bench_groups(b), 1);
    assert_int_equal(bench_run(b, batch), OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(batch->edits[i]->err, OK);
    assert_int_equal(batch->edits[1]->job.group_id, batch->edits[0]->id);
    assert_true(batch->nplanned > 0);
    job_is(b, job, "changed", true, 2);
    job_is(b, batch->edits[1]->id, "of it", false, 1);
    batch_free(batch);
    assert_int_equal(bench_unaccounted(b), 0);
}

static void one_that_is_refused_refuses_its_bundle(void **state)
{
    struct bench *b = *state;
    int64_t group, job;
    assert_int_equal(run_edit(b, group_edit(EDIT_GROUP_INSERT, 0, "one"), &group), OK);
    assert_int_equal(run_edit(b, job_edit(EDIT_JOB_INSERT, 0, group, "a"), &job), OK);
    for (int kind = EDIT_JOB_UPDATE; kind <= EDIT_JOB_STOP; kind++) {
        struct edit *last = job_edit((enum edit_kind)kind, job, group, "changed");
        last->whole = kind != EDIT_JOB_UPDATE;
        last->version = 7; /* it was made from another */
        struct batch *batch = bundle_of_three(last);
        assert_int_equal(bench_run(b, batch), OK);
        for (int i = 0; i < 3; i++)
            assert_int_equal(batch->edits[i]->err, ERR_OVERTAKEN);
        assert_string_equal(batch->edits[0]->why.text, "");
        assert_string_not_equal(batch->edits[2]->why.text, "");
        assert_int_equal(batch->edits[0]->id, 0);
        assert_int_equal(batch->edits[1]->id, 0);
        assert_int_equal(batch->nplanned, 0);
        batch_free(batch);
        assert_int_equal(bench_groups(b), 1);
        job_is(b, job, "a", false, 1);
        assert_int_equal(bench_unaccounted(b), 0);
    }
}

static void a_stop_with_a_record_writes_it(void **state)
{
    struct bench *b = *state;
    int64_t group, job;
    assert_int_equal(run_edit(b, group_edit(EDIT_GROUP_INSERT, 0, "one"), &group), OK);
    assert_int_equal(run_edit(b, job_edit(EDIT_JOB_INSERT, 0, group, "a"), &job), OK);
    assert_int_equal(run_edit(b, job_edit(EDIT_JOB_START, job, 0, ""), NULL), OK);
    struct edit *stop = job_edit(EDIT_JOB_STOP, job, group, "changed");
    stop->whole = true;
    assert_int_equal(run_edit(b, stop, NULL), OK);
    job_is(b, job, "changed", false, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(it_sees_the_row_before_and_after),
        BOTH(what_it_refuses_takes_the_edit_back),
        BOTH(an_insert_that_is_refused_leaves_no_row),
        BOTH(an_edit_that_is_refused_writes_nothing_along),
        BOTH(a_failing_batch_shows_it_the_same_rows_again),
        BOTH(a_database_error_in_it_fails_the_batch),
        BOTH(a_bundle_is_made_whole_and_learns_ids),
        BOTH(one_that_is_refused_refuses_its_bundle),
        BOTH(a_stop_with_a_record_writes_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
