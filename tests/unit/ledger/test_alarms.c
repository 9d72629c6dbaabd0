/* SPDX-License-Identifier: Apache-2.0 */
/* Which failures leave an alarm in their transaction, and what reports of tries come to, on both
 * engines. */
#include "base/mem.h"
#include "ledger/alarms.h"
#include "support_ledger.h"
#include <stdlib.h>
#include <string.h>

static enum err no_zone(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    (void)ctx;
    (void)name;
    (void)why;
    *ret = zone_ref(zone_utc());
    return OK;
}

/* A job of this alarm_email, as the core has it. Counted. */
static struct job *job_of(const char *alarm_email)
{
    struct job_record r;
    job_record_init(&r);
    r.id = 5;
    r.group_id = 2;
    r.alarm_email = mem_dup(alarm_email);
    struct job *j = job_new(&r, no_zone, NULL, 2125);
    job_record_done(&r);
    return j;
}

/* A live run, in a transaction of its own. */
static int64_t live_run(struct bench *b, int64_t scheduled_ms)
{
    struct run_row r = { .job_id = 5,
                         .group_id = 2,
                         .scheduled_ms = scheduled_ms,
                         .due_ms = scheduled_ms,
                         .shard_total = 1,
                         .phase = PHASE_SENT };
    assert_int_equal(b->s->ops->txn->begin(b->s, NULL), OK);
    assert_int_equal(b->s->ops->runs->runs_add(b->s, &r, 1, NULL), OK);
    assert_int_equal(b->s->ops->txn->commit(b->s, NULL, NULL), OK);
    return r.log_id;
}

static struct run_change end_of(int64_t log_id, enum phase phase, struct job *j)
{
    bool refused = phase == PHASE_REJECTED || phase == PHASE_UNROUTABLE;
    return (struct run_change){ .log_id = log_id,
                                .what = CHANGE_PHASE | CHANGE_ALARM | CHANGE_TRIGGER |
                                        (refused ? 0u : CHANGE_FINISH) |
                                        (phase == PHASE_LOST ? 0u : CHANGE_CLOSE),
                                .phase = phase,
                                .trigger_code = refused ? 500 : 200,
                                .trigger_msg = refused ? mem_dup("refused 7") : NULL,
                                .handle_code = refused ? 0 : 500,
                                .handle_msg = refused ? NULL : mem_dup("boom 42\nat line 3"),
                                .job = j ? job_ref(j) : NULL };
}

/* Returns how many alarms the batch has made. */
static int end_run(struct bench *b, struct run_change c, const char *const *channels)
{
    struct batch *batch = bench_batch();
    batch->alarm_channels = channels;
    batch->changes = mem_new(sizeof(c));
    batch->changes[batch->nchanges++] = c;
    assert_int_equal(bench_run(b, batch), OK);
    int n = batch->nalarms;
    batch_free(batch);
    bench_heard(b);
    return n;
}

static int status_of(struct bench *b, int64_t log_id)
{
    struct log_record l;
    assert_int_equal(b->s->ops->pages->log_get(b->s, log_id, &l, NULL), OK);
    int status = l.alarm_status;
    log_record_done(&l);
    return status;
}

static void every_kind_of_failure_alarms_once(void **state)
{
    struct bench *b = *state;
    static const struct {
        enum phase phase;
        int alarms;
    } rows[] = {
        { PHASE_FAILED, 1 },  { PHASE_TIMED_OUT, 1 }, { PHASE_KILLED, 1 },
        { PHASE_LOST, 1 },    { PHASE_REJECTED, 1 },  { PHASE_UNROUTABLE, 1 },
        { PHASE_SKIPPED, 0 }, { PHASE_WITHDRAWN, 0 },
    };
    struct job *j = job_of("a@b");
    for (size_t i = 0; i < countof(rows); i++) {
        int64_t id = live_run(b, 1000 * (int64_t)i);
        assert_int_equal(end_run(b, end_of(id, rows[i].phase, j), NULL), rows[i].alarms);
        assert_int_equal(status_of(b, id), rows[i].alarms ? ALARM_CLAIMED : ALARM_NOT_NEEDED);
    }
    job_unref(j);
}

static void a_run_that_is_lost_and_then_fails_alarms_once(void **state)
{
    struct bench *b = *state;
    struct job *j = job_of("a@b");
    int64_t id = live_run(b, 1000);
    assert_int_equal(end_run(b, end_of(id, PHASE_LOST, j), NULL), 1);
    assert_int_equal(end_run(b, end_of(id, PHASE_FAILED, j), NULL), 0);
    job_unref(j);
}

static void without_an_address_no_alarm_is_needed(void **state)
{
    struct bench *b = *state;
    static const char *const none[] = { NULL, "", " , ," };
    for (size_t i = 0; i < countof(none); i++) {
        struct job *j = job_of(none[i]);
        int64_t id = live_run(b, 1000 * (int64_t)i);
        assert_int_equal(end_run(b, end_of(id, PHASE_FAILED, j), NULL), 0);
        assert_int_equal(status_of(b, id), ALARM_NOT_NEEDED);
        job_unref(j);
    }
    int64_t id = live_run(b, 9000); /* its job is deleted */
    assert_int_equal(end_run(b, end_of(id, PHASE_KILLED, NULL), NULL), 0);
    assert_int_equal(status_of(b, id), ALARM_NOT_NEEDED);
}

static void some_channels_are_told_of_every_failure(void **state)
{
    struct bench *b = *state;
    static const char *const channels[] = { "webhook", "pager", NULL };
    struct job *quiet = job_of(NULL), *j = job_of("a@b");
    int64_t id = live_run(b, 1000);
    assert_int_equal(end_run(b, end_of(id, PHASE_FAILED, quiet), channels), 2);
    assert_int_equal(status_of(b, id), ALARM_CLAIMED);
    assert_int_equal(end_run(b, end_of(live_run(b, 2000), PHASE_FAILED, j), channels), 3);
    job_unref(quiet);
    job_unref(j);
}

static void a_run_that_is_not_live_any_more_does_not_alarm(void **state)
{
    struct bench *b = *state;
    struct job *j = job_of("a@b");
    assert_int_equal(end_run(b, end_of(77, PHASE_FAILED, j), NULL), 0);
    job_unref(j);
}

static bool copy_alarm(void *ctx, const struct alarm_record *r)
{
    struct alarm_record *to = ctx;
    *to = *r;
    to->cause = mem_dup(r->cause);
    to->channel = mem_dup(r->channel);
    to->targets = mem_dup(r->targets);
    return false;
}

static struct alarm_record first_open(struct bench *b, const char *channel)
{
    struct alarm_record r = { 0 };
    assert_int_equal(b->s->ops->alarms->alarms_open(b->s, channel, 0, 1, copy_alarm, &r, NULL), OK);
    return r;
}

static void the_row_says_what_and_why(void **state)
{
    struct bench *b = *state;
    struct job *j = job_of("a@b, c@d");
    int64_t id = live_run(b, 1000);
    end_run(b, end_of(id, PHASE_REJECTED, j), NULL);
    struct alarm_record r = first_open(b, ALARM_BY_JOB);
    assert_int_equal(r.log_id, id);
    assert_int_equal(r.job_id, 5);
    assert_int_equal(r.group_id, 2);
    assert_int_equal(r.made_ms, BENCH_NOW_MS);
    assert_int_equal(r.phase, PHASE_REJECTED);
    assert_int_equal(r.code, 500);
    assert_string_equal(r.cause, "refused #");
    assert_string_equal(r.targets, "a@b,c@d");
    alarm_record_done(&r);
    job_unref(j);
}

/* ---- reports --------------------------------------------------------------------------------- */

static void report(struct bench *b, int64_t alarm_id, int n, enum delivery_outcome outcome,
                   enum alarm_status closes)
{
    struct alarm_reports *a = mem_new(sizeof(*a));
    a->now_ms = BENCH_NOW_MS + 5;
    a->reports = mem_new(sizeof(*a->reports));
    a->reports[a->n++] = (struct alarm_report){
        .tried = { .alarm_id = alarm_id, .target = mem_dup("a@b"), .n = n, .outcome = outcome },
        .closes = closes,
    };
    list_push(&b->writes, &ledger_entry_new(&alarm_reports_write, a)->node);
    struct batch *batch = bench_batch();
    assert_int_equal(bench_run(b, batch), OK);
    batch_free(batch);
    bench_heard(b);
}

static void reports_end_an_alarm_and_may_come_twice(void **state)
{
    struct bench *b = *state;
    struct job *j = job_of("a@b");
    int64_t id = live_run(b, 1000);
    end_run(b, end_of(id, PHASE_FAILED, j), NULL);
    struct alarm_record r = first_open(b, ALARM_BY_JOB);
    report(b, r.id, 1, DELIVERY_AGAIN, ALARM_CLAIMED);
    assert_int_equal(status_of(b, id), ALARM_CLAIMED);
    report(b, r.id, 2, DELIVERY_SENT, ALARM_SENT);
    report(b, r.id, 2, DELIVERY_SENT, ALARM_SENT);
    assert_int_equal(status_of(b, id), ALARM_SENT);
    alarm_record_done(&r);
    r = first_open(b, ALARM_BY_JOB);
    assert_int_equal(r.id, 0);
    job_unref(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(every_kind_of_failure_alarms_once),
        BOTH(a_run_that_is_lost_and_then_fails_alarms_once),
        BOTH(without_an_address_no_alarm_is_needed),
        BOTH(some_channels_are_told_of_every_failure),
        BOTH(a_run_that_is_not_live_any_more_does_not_alarm),
        BOTH(the_row_says_what_and_why),
        BOTH(reports_end_an_alarm_and_may_come_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
