/* SPDX-License-Identifier: Apache-2.0 */
/* The queues with a journal that the test plays: it says when a change is on disk, and whether. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "executor/core/jobs.h"
#include "executor/run/pool.h"

enum {
    MAX = 32,
    PATIENCE_MS = 20000, /* of a test, for what it waits for */
};

static struct {
    struct loop *loop;
    struct pool *pool;
    struct loop_mailbox incoming;
    struct jobs jobs;
    struct peal_run *accepts[MAX], *starts[MAX];
    bool as_started[MAX];
    int naccepts, nstarts, nended;
    int64_t ended[MAX];
    char said[MAX][128];
    int64_t patient_until_ms;
} w;

static sem_t may_go;
static _Atomic int begun, most_at_once, at_once, inits, ends;

static int work(struct peal_run *run)
{
    (void)run;
    int now = ++at_once;
    if (now > most_at_once)
        most_at_once = now;
    begun++;
    sem_wait(&may_go);
    at_once--;
    return 0;
}

static int make_state(void *arg, void **state)
{
    *state = arg;
    inits++;
    return 0;
}

static void end_state(void *arg, void *state)
{
    (void)state;
    (void)arg;
    ends++;
}

static const struct peal_handler plain = { .name = "plain", .run = work };
static const struct peal_handler again = { .name = "again", .run = work, .flags = PEAL_IDEMPOTENT };
static const struct peal_handler keeps = {
    .name = "keeps", .run = work, .init = make_state, .destroy = end_state
};
static const struct run_context context = { .logpath = "/nonexistent" };

/* --- the journal --- */

static void accept_run(struct peal_run *r, bool started, void *arg)
{
    (void)arg;
    w.as_started[w.naccepts] = started;
    w.accepts[w.naccepts++] = r;
}

static void start_run(struct peal_run *r, void *arg)
{
    (void)arg;
    w.starts[w.nstarts++] = r;
}

static void run_ended(struct peal_run *r, int code, char *msg, void *arg)
{
    (void)arg;
    (void)code;
    w.ended[w.nended] = r->log_id;
    text_copy(w.said[w.nended++], sizeof(w.said[0]), slice_text(msg));
    free(msg);
    if (r->stage != RUN_REPORTED)
        run_drop(r);
}

static void run_returned(struct peal_run *r, void *arg)
{
    (void)arg;
    run_drop(r);
}

static const struct jobs_hooks hooks = { accept_run, start_run, run_ended, run_returned };

/* --- the loop --- */

static void message(struct loop_mailbox *m, struct message *l)
{
    (void)m;
    if (l->kind == RUN_OVER)
        jobs_over(&w.jobs, container_of(l, struct peal_run, over));
    else if (l->kind == RUN_BEGUN)
        jobs_begun(&w.jobs, container_of(l, struct peal_run, begun));
    else
        jobs_kept(&w.jobs, l);
}

static void turn(void)
{
    if (loop_now_ms(w.loop) > w.patient_until_ms)
        fail_msg("what the test waits for does not come");
    pool_flush(w.pool);
    loop_iterate(w.loop, 10);
}

static void until_begun(int n)
{
    while (begun < n)
        turn();
}

static void until_ended(int n)
{
    while (w.nended < n)
        turn();
}

static int set_up(void **state)
{
    const struct jobs_limits limits = {
        .workers = 2, .queue = 2, .grace_ms = 10, .idle_ms = 10, .remember = 10, .memory = 100000
    };
    struct why why = { "" };
    (void)state;
    memset(&w, 0, sizeof(w));
    begun = most_at_once = at_once = inits = ends = 0;
    sem_init(&may_go, 0, 0);
    w.loop = loop_new();
    w.patient_until_ms = loop_now_ms(w.loop) + PATIENCE_MS;
    w.incoming = (struct loop_mailbox){ .mailbox = mailbox_new(), .message = message };
    if (loop_mailbox_add(w.loop, &w.incoming) || pool_new(limits.workers, 0, &w.pool, &why))
        return -1;
    jobs_init(&w.jobs, w.loop, &limits, &hooks, NULL);
    jobs_begin(&w.jobs, w.pool, w.incoming.mailbox);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < MAX; i++)
        sem_post(&may_go);
    jobs_close(&w.jobs);
    w.patient_until_ms = loop_now_ms(w.loop) + PATIENCE_MS;
    while (w.jobs.at_work)
        turn();
    pool_free(w.pool);
    jobs_done(&w.jobs);
    loop_mailbox_remove(w.loop, &w.incoming);
    mailbox_free(w.incoming.mailbox);
    loop_free(w.loop);
    return 0;
}

static enum err offer_as(int64_t job, int64_t log, const struct peal_handler *h,
                         enum wire_block block)
{
    const struct wire_run_request q = {
        .job_id = job, .log_id = log, .shard_total = 1, .params = slice_text("")
    };
    struct why why = { "" };
    struct peal_run *r = run_make(&q, &context, false);
    r->handler = h;
    enum err err = jobs_offer(&w.jobs, r, block, &why);
    if (err)
        run_drop(r);
    return err;
}

/* With a timeout, in seconds. */
static void offer_timed(int64_t job, int64_t log, int timeout_s)
{
    const struct wire_run_request q = { .job_id = job,
                                        .log_id = log,
                                        .shard_total = 1,
                                        .params = slice_text(""),
                                        .timeout_s = timeout_s };
    struct why why = { "" };
    struct peal_run *r = run_make(&q, &context, false);
    r->handler = &plain;
    assert_int_equal(jobs_offer(&w.jobs, r, WIRE_BLOCK_SERIAL, &why), OK);
}

static enum err offer(int64_t job, int64_t log)
{
    return offer_as(job, log, &plain, WIRE_BLOCK_SERIAL);
}

/* --- tests --- */

static void an_idle_job_needs_one_commit_and_the_next_run_two(void **state)
{
    (void)state;
    assert_int_equal(offer(1, 1), OK);
    assert_true(w.as_started[0]);
    turn();
    assert_int_equal(begun, 0); /* not before it is on disk */
    jobs_accepted(&w.jobs, w.accepts[0], OK);
    until_begun(1);
    assert_int_equal(offer(1, 2), OK);
    assert_false(w.as_started[1]);
    jobs_accepted(&w.jobs, w.accepts[1], OK);
    sem_post(&may_go);
    until_ended(1);
    assert_int_equal(w.nstarts, 1);
    turn();
    assert_int_equal(begun, 1);
    jobs_started(&w.jobs, w.starts[0], OK);
    until_begun(2);
    sem_post(&may_go);
    until_ended(2);
    assert_int_equal(w.jobs.live, 0);
    assert_int_equal(w.jobs.bytes, 0);
    assert_int_equal(w.jobs.by_id.len, 0);
    assert_int_equal(most_at_once, 1);
}

static void who_may_run_twice_needs_no_start(void **state)
{
    (void)state;
    assert_int_equal(offer_as(1, 1, &again, WIRE_BLOCK_SERIAL), OK);
    assert_int_equal(offer_as(1, 2, &again, WIRE_BLOCK_SERIAL), OK);
    assert_false(w.as_started[0]);
    jobs_accepted(&w.jobs, w.accepts[0], OK);
    jobs_accepted(&w.jobs, w.accepts[1], OK);
    sem_post(&may_go);
    sem_post(&may_go);
    until_ended(2);
    assert_int_equal(w.nstarts, 0);
}

static void what_was_not_written_was_never_here(void **state)
{
    (void)state;
    assert_int_equal(offer(1, 1), OK);
    assert_int_equal(offer(1, 2), OK);
    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(jobs_writing(&w.jobs, i + 1, 0), w.accepts[i]);
        jobs_accepted(&w.jobs, w.accepts[i], ERR_FULL);
        run_drop(w.accepts[i]);
        assert_null(jobs_writing(&w.jobs, i + 1, 0));
    }
    assert_int_equal(dedup_find(&w.jobs.dedup, 1, 0), DEDUP_NOT);
    assert_int_equal(w.jobs.live + w.jobs.at_work + w.jobs.waiting, 0);
    assert_int_equal(w.jobs.by_id.len, 0);
    assert_int_equal(w.nended, 0);
    assert_int_equal(offer(1, 1), OK);
    jobs_accepted(&w.jobs, w.accepts[2], OK);
    sem_post(&may_go);
    until_ended(1);
}

static void a_start_that_was_not_written_is_tried_again_in_order(void **state)
{
    (void)state;
    assert_int_equal(offer(1, 1), OK);
    jobs_accepted(&w.jobs, w.accepts[0], OK);
    assert_int_equal(offer(1, 2), OK);
    assert_int_equal(offer(1, 3), OK);
    jobs_accepted(&w.jobs, w.accepts[1], OK);
    jobs_accepted(&w.jobs, w.accepts[2], OK);
    sem_post(&may_go);
    until_ended(1);
    jobs_started(&w.jobs, w.starts[0], ERR_FULL);
    assert_int_equal(w.jobs.waiting, 2);
    while (w.nstarts < 2)
        turn();
    assert_ptr_equal(w.starts[1], w.starts[0]);
    jobs_started(&w.jobs, w.starts[1], OK);
    sem_post(&may_go);
    until_ended(2);
    assert_int_equal(w.ended[1], 2);
    jobs_started(&w.jobs, w.starts[2], OK);
    sem_post(&may_go);
    until_ended(3);
}

static void a_kill_ends_what_is_on_its_way_to_the_journal(void **state)
{
    (void)state;
    assert_int_equal(offer(1, 1), OK);
    assert_int_equal(offer(1, 2), OK);
    assert_true(jobs_end(&w.jobs, 1, RUN_KILLED));
    assert_int_equal(w.nended, 0);
    assert_false(jobs_end(&w.jobs, 1, RUN_KILLED));
    assert_int_equal(offer(1, 3), OK);
    for (int i = 0; i < 3; i++)
        jobs_accepted(&w.jobs, w.accepts[i], OK);
    assert_int_equal(w.nended, 2);
    assert_non_null(strstr(w.said[0], "not executed"));
    assert_non_null(strstr(w.said[1], "not executed"));
    assert_int_equal(w.nstarts, 1);
    jobs_started(&w.jobs, w.starts[0], OK);
    sem_post(&may_go);
    until_ended(3);
    assert_int_equal(w.ended[2], 3);
    assert_int_equal(begun, 1);
}

static void a_killed_run_that_cannot_be_written_leaves_no_trace(void **state)
{
    (void)state;
    assert_int_equal(offer(1, 1), OK);
    assert_int_equal(offer(1, 2), OK);
    assert_true(jobs_end(&w.jobs, 1, RUN_KILLED));
    for (int i = 1; i >= 0; i--) {
        jobs_accepted(&w.jobs, w.accepts[i], ERR_IO);
        run_drop(w.accepts[i]);
    }
    assert_int_equal(w.jobs.by_id.len, 0);
    assert_int_equal(w.jobs.live, 0);
}

static void bounds_are_refusals_and_a_cover_makes_room(void **state)
{
    (void)state;
    char large[90000];
    memset(large, 'x', sizeof(large));
    const struct wire_run_request q = {
        .job_id = 2, .log_id = 9, .shard_total = 1, .params = slice_of(large, sizeof(large))
    };
    struct why why = { "" };
    for (int64_t log = 1; log <= 3; log++)
        assert_int_equal(offer(1, log), OK);
    assert_int_equal(offer(1, 4), ERR_FULL);
    assert_int_equal(offer_as(1, 4, &plain, WIRE_BLOCK_DISCARD), ERR_BUSY);
    assert_int_equal(dedup_find(&w.jobs.dedup, 4, 0), DEDUP_NOT);
    assert_int_equal(offer_as(1, 4, &plain, WIRE_BLOCK_COVER), OK);
    for (int i = 0; i < w.naccepts; i++)
        jobs_accepted(&w.jobs, w.accepts[i], OK);
    assert_int_equal(w.nended, 3);
    w.jobs.other_bytes = 50000;
    struct peal_run *r = run_make(&q, &context, false);
    r->handler = &plain;
    assert_int_equal(jobs_offer(&w.jobs, r, WIRE_BLOCK_SERIAL, &why), ERR_FULL);
    assert_non_null(strstr(why.text, "peal.executor.memory"));
    run_drop(r);
    sem_post(&may_go);
    assert_int_equal(w.nstarts, 1);
    jobs_started(&w.jobs, w.starts[0], OK);
    until_ended(4);
}

static void no_more_runs_begin_than_there_are_workers(void **state)
{
    (void)state;
    for (int64_t job = 1; job <= 5; job++)
        assert_int_equal(offer(job, job), OK);
    for (int i = 0; i < 5; i++)
        jobs_accepted(&w.jobs, w.accepts[i], OK);
    assert_int_equal(w.nstarts, 0); /* two are STARTED, three wait for a worker */
    until_begun(2);
    for (int i = 0; i < 3; i++) {
        sem_post(&may_go);
        until_ended(i + 1);
        assert_int_equal(w.nstarts, i + 1);
        jobs_started(&w.jobs, w.starts[i], OK);
        until_begun(i + 3);
    }
    sem_post(&may_go);
    sem_post(&may_go);
    until_ended(5);
    assert_int_equal(most_at_once, 2);
}

/* Two runs have just ended, so two more than there are workers may be STARTED. */
static void promise_workers(void)
{
    w.jobs.limits.soon_ms = INT_MAX; /* "just": at any time in this test */
    sem_post(&may_go);
    sem_post(&may_go);
    for (int64_t job = 1; job <= 2; job++) {
        assert_int_equal(offer(job, job), OK);
        jobs_accepted(&w.jobs, w.accepts[job - 1], OK);
        until_ended((int)job);
    }
    for (int64_t job = 3; job <= 7; job++)
        assert_int_equal(offer(job, job), OK);
    for (int i = 2; i < 7; i++) {
        assert_int_equal(w.as_started[i], i < 6);
        jobs_accepted(&w.jobs, w.accepts[i], OK);
    }
    until_begun(4);
    assert_int_equal(w.jobs.busy, 2);
    assert_int_equal(w.jobs.at_work, 4);
    assert_int_equal(w.nstarts, 0);
}

static void who_was_started_too_soon_waits_in_front_of_the_others(void **state)
{
    (void)state;
    promise_workers();
    for (int i = 0; i < 2; i++) {
        sem_post(&may_go);
        until_ended(i + 3);
        until_begun(i + 5);
    }
    assert_ptr_equal(w.starts[0], w.accepts[6]);
    jobs_started(&w.jobs, w.starts[0], OK);
    assert_int_equal(w.jobs.at_work, 3);
    sem_post(&may_go);
    until_ended(5);
    until_begun(7);
    sem_post(&may_go);
    sem_post(&may_go);
    until_ended(7);
    assert_int_equal(most_at_once, 2);
    assert_int_equal(w.jobs.busy + w.jobs.at_work + w.jobs.live, 0);
}

static void who_was_started_too_soon_can_be_killed_at_once(void **state)
{
    (void)state;
    promise_workers();
    assert_true(jobs_end(&w.jobs, 5, RUN_KILLED));
    assert_int_equal(w.nended, 3);
    assert_int_equal(w.ended[2], 5);
    assert_non_null(strstr(w.said[2], "not executed"));
    assert_ptr_equal(w.starts[0], w.accepts[6]); /* its promise goes to the next one */
    jobs_close(&w.jobs);                         /* what never began needs no patience */
    assert_int_equal(w.nended, 4);
    assert_int_equal(w.ended[3], 6);
    jobs_started(&w.jobs, w.starts[0], OK);
    assert_int_equal(w.ended[4], 7);
}

static void an_idle_job_lets_go_of_its_state(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(offer_as(1, i + 1, &keeps, WIRE_BLOCK_SERIAL), OK);
        jobs_accepted(&w.jobs, w.accepts[i], OK);
        sem_post(&may_go);
        until_ended(i + 1);
        assert_int_equal(inits, i + 1);
        assert_false(jobs_busy(&w.jobs, 1));
        while (w.jobs.by_id.len)
            turn();
        assert_int_equal(ends, i + 1);
    }
    assert_int_equal(w.jobs.at_work, 0);
}

static void what_was_restored_waits_for_its_turn(void **state)
{
    (void)state;
    for (int64_t log = 1; log <= 3; log++) {
        const struct wire_run_request q = {
            .job_id = 1, .log_id = log, .shard_total = 1, .params = slice_text("")
        };
        struct peal_run *r = run_make(&q, &context, true);
        r->handler = &again;
        r->in_started = log == 1;
        jobs_restore(&w.jobs, r);
    }
    for (int i = 0; i < 3; i++) {
        sem_post(&may_go);
        until_ended(i + 1);
        assert_int_equal(w.ended[i], i + 1);
    }
    assert_int_equal(w.naccepts + w.nstarts, 0);
}

static bool rung;

static void ring(struct loop_timer *t)
{
    (void)t;
    rung = true;
}

static void a_timeout_ends_its_own_run_and_not_the_next(void **state)
{
    (void)state;
    struct loop_timer later = { .fire = ring };
    offer_timed(1, 1, 1);
    jobs_accepted(&w.jobs, w.accepts[0], OK);
    assert_int_equal(offer(1, 2), OK); /* it has no timeout */
    jobs_accepted(&w.jobs, w.accepts[1], OK);
    until_begun(1);
    turn(); /* the timer is set */
    rung = false;
    loop_timer_set(w.loop, &later, loop_now_ms(w.loop) + 1200);
    sem_post(&may_go);
    until_ended(1);
    jobs_started(&w.jobs, w.starts[0], OK);
    until_begun(2);
    while (!rung)
        turn();
    assert_int_equal(w.nended, 1);
    assert_false(run_stopping(w.accepts[1]));
    sem_post(&may_go);
    until_ended(2);
    assert_int_equal(w.ended[1], 2);
}

static void a_run_that_does_not_end_in_time_is_reported(void **state)
{
    (void)state;
    offer_timed(1, 1, 1);
    jobs_accepted(&w.jobs, w.accepts[0], OK);
    until_begun(1);
    until_ended(1); /* its timeout, then the grace */
    assert_int_equal(w.jobs.stuck, 1);
    sem_post(&may_go);
    while (w.jobs.stuck)
        turn();
    assert_int_equal(w.nended, 1);
}

static void who_is_asked_to_stop_as_it_begins_has_its_grace(void **state)
{
    (void)state;
    offer_timed(1, 1, 3600);
    jobs_accepted(&w.jobs, w.accepts[0], OK);
    pool_flush(w.pool);
    while (!begun) /* the message that it has begun waits */
        sched_yield();
    assert_true(jobs_end(&w.jobs, 1, RUN_KILLED));
    until_ended(1); /* after the grace, not after its timeout */
    assert_int_equal(w.jobs.stuck, 1);
}

#define WITH_JOBS(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_JOBS(an_idle_job_needs_one_commit_and_the_next_run_two),
        WITH_JOBS(who_may_run_twice_needs_no_start),
        WITH_JOBS(what_was_not_written_was_never_here),
        WITH_JOBS(a_start_that_was_not_written_is_tried_again_in_order),
        WITH_JOBS(a_kill_ends_what_is_on_its_way_to_the_journal),
        WITH_JOBS(a_killed_run_that_cannot_be_written_leaves_no_trace),
        WITH_JOBS(bounds_are_refusals_and_a_cover_makes_room),
        WITH_JOBS(no_more_runs_begin_than_there_are_workers),
        WITH_JOBS(who_was_started_too_soon_waits_in_front_of_the_others),
        WITH_JOBS(who_was_started_too_soon_can_be_killed_at_once),
        WITH_JOBS(an_idle_job_lets_go_of_its_state),
        WITH_JOBS(what_was_restored_waits_for_its_turn),
        WITH_JOBS(a_timeout_ends_its_own_run_and_not_the_next),
        WITH_JOBS(a_run_that_does_not_end_in_time_is_reported),
        WITH_JOBS(who_is_asked_to_stop_as_it_begins_has_its_grace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
