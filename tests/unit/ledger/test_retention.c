/* SPDX-License-Identifier: Apache-2.0 */
/* Log rows that go, on both engines: by age, by number, on request; what is live stays, and a
 * transaction that is lost loses nothing but time. */
#include "ledger/retention.h"
#include "base/mem.h"
#include "support_ledger.h"
#include <stdlib.h>

#define DAY_MS INT64_C(86400000)
#define SLOTS_MS INT64_C(600000)
/* A boundary of the spans of time, so that both engines find the same ids. */
#define NOW_MS (BENCH_NOW_MS / SLOTS_MS * SLOTS_MS)

#define OK_(call)                                                                                  \
    do {                                                                                           \
        struct why why = { "" };                                                                   \
        enum err err = (call);                                                                     \
        if (err)                                                                                   \
            fail_msg("%s", why.text);                                                              \
    } while (0)

/* ---- rows ------------------------------------------------------------------------------------ */

enum { GOOD, BAD, LIVE };

/* In a transaction: a run of the job; its log id. */
static int64_t put(struct store *s, int64_t group, int64_t job, int64_t at_ms, int how)
{
    struct run_row r = { .job_id = job,
                         .group_id = group,
                         .scheduled_ms = at_ms,
                         .due_ms = at_ms,
                         .shard_total = 1,
                         .kind = KIND_CRON,
                         .phase = PHASE_PLANNED,
                         .handler = "h" };
    OK_(s->ops->runs->runs_add(s, &r, 1, &why));
    assert_true(r.log_id > 0);
    struct run_change c = { .log_id = r.log_id,
                            .what = CHANGE_TRIGGER | CHANGE_FINISH | CHANGE_CLOSE,
                            .trigger_code = 200,
                            .handle_code = how == BAD ? 500 : 200,
                            .handle_ms = at_ms };
    if (how != LIVE)
        OK_(s->ops->runs->runs_change(s, &c, 1, &(int64_t){ 0 }, &why));
    return r.log_id;
}

static void begin(struct store *s)
{
    OK_(s->ops->txn->begin(s, &why));
}

static void commit(struct store *s)
{
    OK_(s->ops->txn->commit(s, NULL, &why));
}

/* Deletes until nothing is left to do; how many steps. */
static int work(struct retention *r, struct store *s, int64_t boot_ms)
{
    int n = 0;
    for (bool more = true; more || retention_due(r, s, boot_ms); n++) {
        begin(s);
        OK_(retention_step(r, s, NOW_MS, boot_ms, &more, &why));
        commit(s);
        retention_kept(r, boot_ms);
        assert_true(n < 100000);
    }
    return n;
}

static bool is_there(struct store *s, int64_t id)
{
    struct log_record l = { 0 };
    enum err err = s->ops->pages->log_get(s, id, &l, NULL);
    assert_true(!err || err == ERR_NOTFOUND);
    log_record_done(&l);
    return !err;
}

static bool count_row(void *ctx, const struct log_record *r)
{
    (void)r;
    ++*(int64_t *)ctx;
    return true;
}

static int64_t rows_of(struct store *s, int64_t job)
{
    struct logs_filter f = {
        .job_id = job, .status = -1, .from_ms = -1, .to_ms = -1, .limit = 1000000
    };
    int64_t n = 0, total;
    OK_(s->ops->pages->logs_page(s, &f, count_row, &n, &total, &why));
    return n;
}

static struct retention *rules(int64_t days, int64_t failed_days, int64_t rows)
{
    const struct retention_rules r = { days, failed_days, rows, 0 };
    return retention_new(&r);
}

/* ---- by age ---------------------------------------------------------------------------------- */

static void old_rows_go_and_live_ones_stay(void **state)
{
    struct store *s = ((struct bench *)*state)->s;
    int64_t id[12];
    begin(s);
    for (int i = 0; i < 12; i++)
        id[i] = put(s, 1, 7, NOW_MS - (12 - i) * 5 * DAY_MS, i == 2 ? LIVE : i % 2 ? BAD : GOOD);
    commit(s);
    struct retention *r = rules(30, 0, 0);
    work(r, s, 1);
    for (int i = 0; i < 12; i++)
        assert_int_equal(is_there(s, id[i]), i == 2 || i >= 6); /* 60 … 35 days | 30 … 5 */
    assert_int_equal(retention_count(r, GONE_AGE), 5);
    assert_int_equal(retention_count(r, GONE_ROWS) + retention_count(r, GONE_REQUEST), 0);
    assert_false(retention_due(r, s, 1000));
    assert_true(retention_due(r, s, 10000000));
    retention_free(r);
}

static void failures_may_stay_longer(void **state)
{
    struct store *s = ((struct bench *)*state)->s;
    int64_t id[24];
    begin(s);
    for (int i = 0; i < 24; i++)
        id[i] = put(s, 1, 7, NOW_MS - (24 - i) * 2 * DAY_MS, i % 2 ? BAD : GOOD);
    commit(s);
    struct retention *r = rules(10, 30, 0);
    work(r, s, 1);
    for (int i = 0; i < 24; i++) {
        int64_t days = (24 - i) * 2;
        assert_int_equal(is_there(s, id[i]), days <= (i % 2 ? 30 : 10));
    }
    work(r, s, 10000000); /* the next walk begins where this one did, and finds nothing */
    assert_int_equal(retention_count(r, GONE_AGE), 24 - 10);
    retention_free(r);
}

static void a_shorter_time_for_failures_is_none(void **state)
{
    struct store *s = ((struct bench *)*state)->s;
    begin(s);
    int64_t id = put(s, 1, 7, NOW_MS - 5 * DAY_MS, BAD);
    commit(s);
    struct retention *r = rules(10, 3, 0);
    work(r, s, 1);
    assert_true(is_there(s, id));
    retention_free(r);
}

/* ---- by number ------------------------------------------------------------------------------- */

static void of_each_job_the_newest_stay(void **state)
{
    struct store *s = ((struct bench *)*state)->s;
    int64_t busy[6000], rare[6], few[3], open = 0;
    begin(s);
    for (int i = 0; i < 6000; i++) {
        int64_t at = NOW_MS + i * 1000;
        busy[i] = put(s, 1, 1, at, GOOD);
        if (i % 1000 == 0)
            rare[i / 1000] = put(s, 1, 2, at, i ? GOOD : BAD);
        if (i % 2000 == 0)
            few[i / 2000] = put(s, 1, 3, at, GOOD);
        if (i == 10)
            open = put(s, 1, 1, at + 1, LIVE);
    }
    commit(s);
    struct retention *r = rules(0, 0, 4);
    assert_true(work(r, s, 1) > 60); /* not in one go */
    for (int i = 0; i < 6000; i++)
        assert_int_equal(is_there(s, busy[i]), i >= 5996);
    for (int i = 0; i < 6; i++)
        assert_int_equal(is_there(s, rare[i]), i >= 2);
    for (int i = 0; i < 3; i++)
        assert_true(is_there(s, few[i]));
    assert_true(is_there(s, open));
    assert_int_equal(retention_count(r, GONE_ROWS), 5996 + 2);
    retention_free(r);
}

/* ---- on request ------------------------------------------------------------------------------ */

static void ask(struct store *s, struct log_clean walk)
{
    struct clean_request q = { .made_ms = NOW_MS, .walk = walk };
    begin(s);
    OK_(retention_ask(s, &q, &why));
    commit(s);
    assert_true(q.id > 0);
}

static void a_request_takes_what_it_names(void **state)
{
    struct store *s = ((struct bench *)*state)->s;
    static const int64_t groups[] = { 2, 5 };
    const struct scope scope = { .ids = groups, .n = 2 };
    int64_t id[40];
    begin(s);
    for (int i = 0; i < 40; i++)
        id[i] = put(s, 1 + i % 5, 1 + i % 2, NOW_MS - (40 - i) * DAY_MS, i == 4 ? LIVE : GOOD);
    commit(s);
    struct retention *r = rules(0, 0, 0);
    ask(s, (struct log_clean){ .scope = scope, .before_ms = NOW_MS - 10 * DAY_MS });
    work(r, s, 1);
    for (int i = 0; i < 40; i++) {
        bool named = (i % 5 == 1 || i % 5 == 4) && 40 - i > 10 && i != 4;
        assert_int_equal(is_there(s, id[i]), !named);
    }
    assert_int_equal(retention_count(r, GONE_REQUEST), 11);
    ask(s, (struct log_clean){ .scope = SCOPE_ALL, .job_id = 2, .before_ms = NEVER_MS, .keep = 3 });
    ask(s, (struct log_clean){ .scope = SCOPE_ALL, .job_id = 9, .before_ms = NEVER_MS });
    work(r, s, 2);
    assert_int_equal(rows_of(s, 2), 3);
    assert_true(is_there(s, id[39]) && is_there(s, id[37]) && is_there(s, id[35]));
    assert_true(rows_of(s, 1) > 10);
    retention_free(r);
}

static void what_comes_after_a_request_stays(void **state)
{
    struct store *s = ((struct bench *)*state)->s;
    begin(s);
    for (int i = 0; i < 300; i++)
        put(s, 1, 1, NOW_MS + i * 1000, GOOD);
    commit(s);
    ask(s, (struct log_clean){ .scope = SCOPE_ALL, .before_ms = NEVER_MS });
    begin(s);
    int64_t later = put(s, 1, 1, NOW_MS + 900000, GOOD);
    commit(s);
    struct retention *r = rules(0, 0, 0);
    assert_true(work(r, s, 1) >= 3);
    assert_int_equal(rows_of(s, 1), 1);
    assert_true(is_there(s, later));
    retention_free(r);
}

static void a_request_goes_on_after_a_restart(void **state)
{
    struct store *s = ((struct bench *)*state)->s;
    bool more;
    begin(s);
    for (int i = 0; i < 300; i++)
        put(s, 1, 1, NOW_MS + i * 1000, GOOD);
    commit(s);
    ask(s, (struct log_clean){ .scope = SCOPE_ALL, .before_ms = NEVER_MS, .keep = 20 });
    struct retention *r = rules(0, 0, 0);
    begin(s);
    OK_(retention_step(r, s, NOW_MS, 1, &more, &why));
    commit(s);
    assert_true(more);
    assert_int_equal(rows_of(s, 1), 200);
    retention_free(r);
    r = rules(0, 0, 0);
    assert_true(retention_due(r, s, 1));
    work(r, s, 1);
    assert_int_equal(rows_of(s, 1), 20);
    assert_int_equal(retention_count(r, GONE_REQUEST), 180);
    retention_free(r);
}

/* ---- lost transactions ----------------------------------------------------------------------- */

static void a_lost_step_is_done_again(void **state)
{
    struct store *s = ((struct bench *)*state)->s;
    begin(s);
    for (int i = 0; i < 500; i++)
        put(s, 1, 1 + i % 2, NOW_MS - 40 * DAY_MS + i * 1000, GOOD);
    for (int i = 0; i < 500; i++)
        put(s, 1, 1 + i % 2, NOW_MS - DAY_MS + i * 1000, GOOD);
    commit(s);
    ask(s,
        (struct log_clean){ .scope = SCOPE_ALL, .job_id = 1, .before_ms = NEVER_MS, .keep = 490 });
    struct retention *r = rules(30, 0, 100);
    for (int n = 0; n < 60; n++) {
        bool more;
        begin(s);
        OK_(retention_step(r, s, NOW_MS, 1, &more, &why));
        if (n % 3) {
            commit(s);
            retention_kept(r, 1);
        } else {
            s->ops->txn->rollback(s);
            retention_lost(r);
        }
    }
    work(r, s, 1);
    assert_int_equal(rows_of(s, 1), 100);
    assert_int_equal(rows_of(s, 2), 100);
    assert_int_equal(retention_count(r, GONE_REQUEST) + retention_count(r, GONE_AGE) +
                         retention_count(r, GONE_ROWS),
                     800);
    retention_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(old_rows_go_and_live_ones_stay),      BOTH(failures_may_stay_longer),
        BOTH(a_shorter_time_for_failures_is_none), BOTH(of_each_job_the_newest_stay),
        BOTH(a_request_takes_what_it_names),       BOTH(what_comes_after_a_request_stays),
        BOTH(a_request_goes_on_after_a_restart),   BOTH(a_lost_step_is_done_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
