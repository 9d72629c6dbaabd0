/* SPDX-License-Identifier: Apache-2.0 */
/* Stories in both engines: one a run, found by what it retries, gone with its log row. And the
 * traces that runs belong to, which go the same way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "model/story.h"
#include "support_store.h"

#define AT 1800000000000

static int64_t missed;

static struct story told(int64_t cause)
{
    struct story s = { .due_ms = AT, .scheduled_ms = AT, .cause = cause, .attempt = cause != 0 };
    for (int i = 0; i < STORY_TIMES; i++)
        s.at_us[i] = STORY_UNKNOWN;
    s.at_us[STORY_SENT] = 1300;
    return s;
}

/* A run of the job; closed unless it is to stay open. Its log id. */
static int64_t add_run(struct store *s, int64_t job, int64_t number, int64_t cause, bool open)
{
    struct run_row r = sample_run(job, AT + number * 1000);
    r.kind = cause ? KIND_RETRY : KIND_CRON;
    r.cause = cause;
    OP(s, runs->runs_add, &r, 1);
    struct run_change c = { .log_id = r.log_id,
                            .what = CHANGE_FINISH | CHANGE_CLOSE,
                            .handle_code = 500,
                            .handle_ms = AT };
    if (!open)
        OP(s, runs->runs_change, &c, 1, &missed);
    return r.log_id;
}

static int64_t add_told(struct store *s, int64_t job, int64_t number, int64_t cause)
{
    int64_t id = add_run(s, job, number, cause, false);
    const struct story story = told(cause);
    OP(s, runs->story_put, id, &story);
    return id;
}

static void a_run_has_one_story(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct story got, story = told(0);
    OP(s, txn->begin);
    int64_t id = add_run(s, 5, 0, 0, false);
    OP_FAILS(ERR_NOTFOUND, s, pages->story_get, id, &got);
    OP(s, runs->story_put, id, &story);
    story.doubts = 2;
    story.at_us[STORY_ENDED] = 77;
    OP(s, runs->story_put, id, &story); /* it was found after all */
    OP(s, txn->commit, NULL);
    OP(s, pages->story_get, id, &got);
    assert_int_equal(got.due_ms, AT);
    assert_int_equal(got.doubts, 2);
    assert_memory_equal(got.at_us, story.at_us, sizeof(got.at_us));
    OP(s, txn->begin);
    story.doubts = 3;
    OP(s, runs->story_put, id, &story);
    s->ops->txn->rollback(s);
    OP(s, pages->story_get, id, &got);
    assert_int_equal(got.doubts, 2);
}

static void retries_are_found_by_what_they_retry(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    int64_t ids[3];
    int n;
    OP(s, txn->begin);
    int64_t first = add_told(s, 5, 0, 0), other = add_told(s, 5, 1, 0);
    int64_t closed = add_told(s, 5, 2, first);
    int64_t open = add_run(s, 5, 3, first, true);
    add_run(s, 5, 4, other, true);
    add_told(s, 6, 2, first); /* of another job: another program's row */
    OP(s, txn->commit, NULL);
    OP(s, pages->retries_of, 5, first, ids, 3, &n);
    assert_int_equal(n, 2);
    assert_int_equal(ids[0], closed);
    assert_int_equal(ids[1], open);
    OP(s, pages->retries_of, 5, first, ids, 1, &n);
    assert_int_equal(n, 1);
    OP(s, pages->retries_of, 5, closed, ids, 3, &n);
    assert_int_equal(n, 0);
    OP(s, pages->retries_of, 5, 0, ids, 3, &n); /* what retries nothing is no retry of nothing */
    assert_int_equal(n, 0);
}

static void children_are_found_by_what_has_started_them(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    int64_t ids[4];
    int n;
    OP(s, txn->begin);
    int64_t parent = add_told(s, 5, 0, 0);
    add_told(s, 5, 1, parent); /* a retry */
    int64_t closed = add_told(s, 6, 2, parent);
    struct run_row r = sample_run(7, AT);
    r.kind = KIND_PARENT;
    r.cause = parent;
    OP(s, runs->runs_add, &r, 1);
    struct run_row by_request = sample_run(8, AT); /* a request's number, which is no id */
    by_request.kind = KIND_API;
    by_request.cause = parent;
    OP(s, runs->runs_add, &by_request, 1);
    OP(s, txn->commit, NULL);
    OP(s, pages->children_of, NULL, 5, parent, ids, 4, &n);
    assert_int_equal(n, 2);
    assert_int_equal(ids[0], closed);
    assert_int_equal(ids[1], r.log_id);
    OP(s, pages->children_of, NULL, 5, parent, ids, 1, &n);
    assert_int_equal(n, 1);
    OP(s, pages->children_of, &SCOPE_NONE, 5, parent, ids, 4, &n);
    assert_int_equal(n, 0);
    OP(s, pages->children_of, NULL, 5, 0, ids, 4, &n);
    assert_int_equal(n, 0);
}

static void it_goes_with_its_row(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct story got;
    bool end = false;
    OP(s, txn->begin);
    int64_t old[3] = { add_told(s, 5, 0, 0), add_told(s, 5, 1, 0), add_told(s, 5, 2, 0) };
    int64_t other = add_told(s, 6, 3, 0);
    OP(s, txn->commit, NULL);
    struct log_clean walk = { .scope = SCOPE_ALL, .job_id = 5, .before_ms = INT64_MAX, .keep = 1 };
    walk.below_id = INT64_MAX;
    OP(s, txn->begin);
    while (!end)
        OP(s, runs->log_clean, &walk, 1, &end);
    OP(s, txn->commit, NULL);
    OP_FAILS(ERR_NOTFOUND, s, pages->story_get, old[0], &got);
    OP_FAILS(ERR_NOTFOUND, s, pages->story_get, old[1], &got);
    OP(s, pages->story_get, old[2], &got); /* it stays, as its row */
    OP(s, pages->story_get, other, &got);
}

static void it_goes_with_its_job(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct story got;
    bool more = true;
    OP(s, txn->begin);
    int64_t job = sample_job_add(s, "goes", 500), id = add_told(s, job, 0, 0);
    int64_t other = add_told(s, job + 1, 0, 0);
    OP(s, catalog->job_delete, job);
    OP(s, txn->commit, NULL);
    for (int i = 0; more && i < 100; i++) {
        OP(s, txn->begin);
        OP(s, runs->purge, 1, &more);
        OP(s, txn->commit, NULL);
    }
    OP_FAILS(ERR_NOTFOUND, s, pages->story_get, id, &got);
    OP(s, pages->story_get, other, &got);
}

static bool keep_trace(void *ctx, const struct run_row *r)
{
    struct run_trace *found = ctx;
    if (r->log_id == found->log_id)
        found->root = r->trace;
    return true;
}

static void a_trace_is_kept_of_live_and_ended_runs(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    bool end = false;
    struct trace_root got;
    OP(s, txn->begin);
    int64_t open = add_run(s, 5, 0, 0, true), old = add_run(s, 5, 1, 0, false);
    int64_t own = add_run(s, 5, 2, 0, false);
    struct run_trace traces[300] = { { open, { { UINT64_MAX, 1 }, TRACE_UNSAMPLED } },
                                     { old, { { 0, 9 }, TRACE_GIVEN } } };
    for (int i = 2; i < 300; i++)
        traces[i] = (struct run_trace){ own + i, { { 0, (uint64_t)i }, TRACE_OF_RUN } };
    OP(s, runs->traces_put, traces, 300);
    traces[1].root.kind = TRACE_OF_RUN;
    OP(s, runs->traces_put, traces + 1, 1); /* in place of that */
    OP(s, txn->commit, NULL);
    OP(s, pages->trace_get, open, &got);
    assert_true(got.kind == TRACE_UNSAMPLED && got.id[0] == UINT64_MAX && got.id[1] == 1);
    OP(s, pages->trace_get, old, &got);
    assert_true(got.kind == TRACE_OF_RUN && got.id[0] == 0 && got.id[1] == 9);
    OP(s, pages->trace_get, own + 299, &got);
    assert_true(got.kind == TRACE_OF_RUN && got.id[1] == 299);
    OP(s, pages->trace_get, own, &got);
    assert_int_equal(got.kind, TRACE_OWN);
    struct run_trace found = { .log_id = open };
    OP(s, runs->runs_each, keep_trace, &found);
    assert_true(found.root.kind == TRACE_UNSAMPLED && found.root.id[0] == UINT64_MAX);

    struct log_clean walk = { .scope = SCOPE_ALL, .job_id = 5, .before_ms = INT64_MAX, .keep = 0 };
    walk.below_id = INT64_MAX;
    OP(s, txn->begin);
    while (!end)
        OP(s, runs->log_clean, &walk, 1, &end);
    OP(s, txn->commit, NULL);
    OP(s, pages->trace_get, old, &got); /* it goes with its row */
    assert_int_equal(got.kind, TRACE_OWN);
    OP(s, pages->trace_get, open, &got);
    assert_int_equal(got.kind, TRACE_UNSAMPLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_run_has_one_story),
        BOTH(retries_are_found_by_what_they_retry),
        BOTH(children_are_found_by_what_has_started_them),
        BOTH(it_goes_with_its_row),
        BOTH(it_goes_with_its_job),
        BOTH(a_trace_is_kept_of_live_and_ended_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
