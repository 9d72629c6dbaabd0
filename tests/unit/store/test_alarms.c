/* SPDX-License-Identifier: Apache-2.0 */
/* What store.h promises of alarms and deliveries, against every engine. */
#include "support_store.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct alarm_record sample(int64_t log_id, const char *channel)
{
    return (struct alarm_record){ .log_id = log_id,
                                  .job_id = 5,
                                  .group_id = 2,
                                  .made_ms = 1700000000000,
                                  .phase = PHASE_TIMED_OUT,
                                  .code = 502,
                                  .fingerprint = 0xfedcba9876543210u,
                                  .cause = "order # not found",
                                  .channel = (char *)channel,
                                  .targets = "a@b,c@d" };
}

/* In a transaction: the alarm's id; 0: there is one. */
static int64_t add(struct store *s, int64_t log_id, const char *channel)
{
    struct alarm_record r = sample(log_id, channel);
    OP(s, alarms->alarms_add, &r, 1);
    return r.id;
}

static bool list_id(void *ctx, const struct alarm_record *r)
{
    struct buf *b = ctx;
    buf_printf(b, "%lld ", (long long)r->id);
    return true;
}

static const char *open_ids(struct store *s, const char *channel, int64_t after, int max)
{
    static char text[200];
    struct buf b = BUF_INIT(sizeof(text) - 1);
    OP(s, alarms->alarms_open, channel, after, max, list_id, &b);
    text_copy(text, sizeof(text), slice_of(b.data, b.len));
    buf_done(&b);
    return text;
}

static bool compare(void *ctx, const struct alarm_record *r)
{
    const struct alarm_record *want = ctx;
    assert_int_equal(r->id, want->id);
    assert_int_equal(r->log_id, want->log_id);
    assert_int_equal(r->job_id, want->job_id);
    assert_int_equal(r->group_id, want->group_id);
    assert_int_equal(r->made_ms, want->made_ms);
    assert_int_equal(r->phase, want->phase);
    assert_int_equal(r->code, want->code);
    assert_true(r->fingerprint == want->fingerprint);
    assert_string_equal(r->cause, want->cause);
    assert_string_equal(r->channel, want->channel);
    assert_string_equal(r->targets, want->targets);
    assert_int_equal(r->closed_ms, -1);
    assert_int_equal(r->status, ALARM_CLAIMED);
    return true;
}

static void an_alarm_comes_back_whole(void **state)
{
    struct engine *e = *state;
    struct alarm_record r = sample(7, "mail");
    OP(e->s, txn->begin);
    OP(e->s, alarms->alarms_add, &r, 1);
    OP(e->s, txn->commit, NULL);
    assert_true(r.id > 0);
    engine_reopen(e);
    OP(e->s, alarms->alarms_open, "mail", 0, 10, compare, &r);
}

static void a_log_row_has_one_alarm_a_channel(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    int64_t first = add(s, 7, "mail");
    assert_true(first > 0);
    assert_int_equal(add(s, 7, "mail"), 0);
    assert_true(add(s, 7, "webhook") > first);
    assert_true(add(s, 8, "mail") > first);
    OP(s, txn->commit, NULL);
}

static void open_alarms_are_read_in_pages(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    for (int i = 1; i <= 5; i++)
        assert_int_equal(add(s, 100 + i, "mail"), i);
    assert_int_equal(add(s, 100, "webhook"), 6);
    OP(s, alarms->alarm_close, 2, ALARM_SENT, 9);
    OP(s, txn->commit, NULL);
    assert_string_equal(open_ids(s, "mail", 0, 10), "1 3 4 5 ");
    assert_string_equal(open_ids(s, "mail", 0, 2), "1 3 ");
    assert_string_equal(open_ids(s, "mail", 3, 2), "4 5 ");
    assert_string_equal(open_ids(s, "webhook", 0, 2), "6 ");
    assert_string_equal(open_ids(s, "pager", 0, 2), "");
}

static bool list_delivery(void *ctx, const struct delivery_record *r)
{
    struct buf *b = ctx;
    buf_printf(b, "%s/%d %d %lld+%lld %s\n", r->target, r->n, (int)r->outcome, (long long)r->at_ms,
               (long long)r->took_ms, r->said ? r->said : "NULL");
    return true;
}

static void a_delivery_is_logged_once(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    const struct delivery_record rows[] = {
        { 1, "c@d", 1, 100, 5, DELIVERY_SENT, "250 ok" },
        { 1, "a@b", 2, 200, 6, DELIVERY_NEVER, "550 no" },
        { 1, "a@b", 1, 90, 4, DELIVERY_AGAIN, NULL },
        { 1, "a@b", 1, 91, 7, DELIVERY_SENT, "another" },
        { 2, "a@b", 1, 92, 8, DELIVERY_SENT, "of another alarm" },
    };
    OP(s, txn->begin);
    for (size_t i = 0; i < countof(rows); i++)
        OP(s, alarms->delivery_add, &rows[i]);
    OP(s, txn->commit, NULL);
    struct buf b = BUF_INIT(4096);
    OP(s, alarms->deliveries_each, 1, list_delivery, &b);
    assert_string_equal(buf_str(&b), "a@b/1 1 90+4 NULL\n"
                                     "a@b/2 2 200+6 550 no\n"
                                     "c@d/1 0 100+5 250 ok\n");
    buf_done(&b);
}

/* A failed run's id, whose log row is claimed (quiet: needs no alarm). */
static int64_t failed_run(struct store *s, int64_t scheduled_ms, bool quiet)
{
    struct run_row r = sample_run(5, scheduled_ms);
    OP(s, runs->runs_add, &r, 1);
    struct run_change c = { .log_id = r.log_id,
                            .what = CHANGE_FINISH | CHANGE_CLOSE | CHANGE_ALARM,
                            .handle_code = 500,
                            .quiet = quiet };
    int64_t missed;
    OP(s, runs->runs_change, &c, 1, &missed);
    return r.log_id;
}

static int status_of(struct store *s, int64_t log_id)
{
    struct log_record l;
    OP(s, pages->log_get, log_id, &l);
    int status = l.alarm_status;
    log_record_done(&l);
    return status;
}

static void the_log_row_says_what_its_alarms_came_to(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    int64_t sent = failed_run(s, 1000, false), mixed = failed_run(s, 2000, false);
    int64_t quiet = failed_run(s, 3000, true);
    int64_t a = add(s, sent, "mail"), b = add(s, mixed, "mail"), c = add(s, mixed, "webhook");
    assert_int_equal(status_of(s, quiet), ALARM_NOT_NEEDED);
    assert_int_equal(status_of(s, sent), ALARM_CLAIMED);
    OP(s, alarms->alarm_close, a, ALARM_SENT, 1);
    assert_int_equal(status_of(s, sent), ALARM_SENT);
    OP(s, alarms->alarm_close, a, ALARM_FAILED, 2); /* it is closed */
    assert_int_equal(status_of(s, sent), ALARM_SENT);
    OP(s, alarms->alarm_close, b, ALARM_FAILED, 3);
    assert_int_equal(status_of(s, mixed), ALARM_CLAIMED); /* the other one is open */
    OP(s, alarms->alarm_close, c, ALARM_SENT, 4);
    assert_int_equal(status_of(s, mixed), ALARM_FAILED);
    OP(s, alarms->alarm_close, 99, ALARM_SENT, 5); /* there is none */
    OP(s, txn->commit, NULL);
}

/* A lost run of which nobody wanted to hear; then its late result says that it failed. */
static void an_alarm_that_was_not_needed_may_be_later(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    int64_t missed;
    OP(s, txn->begin);
    for (int quiet = 1; quiet >= 0; quiet--) {
        struct run_row r = sample_run(5, 1000 + quiet);
        OP(s, runs->runs_add, &r, 1);
        struct run_change lost = { .log_id = r.log_id,
                                   .what = CHANGE_PHASE | CHANGE_FINISH | CHANGE_ALARM,
                                   .phase = PHASE_LOST,
                                   .handle_code = 500,
                                   .quiet = true };
        OP(s, runs->runs_change, &lost, 1, &missed);
        assert_int_equal(status_of(s, r.log_id), ALARM_NOT_NEEDED);
        struct run_change failed = { .log_id = r.log_id,
                                     .what = CHANGE_FINISH | CHANGE_CLOSE | CHANGE_ALARM,
                                     .handle_code = 500,
                                     .quiet = quiet };
        OP(s, runs->runs_change, &failed, 1, &missed);
        assert_int_equal(status_of(s, r.log_id), quiet ? ALARM_NOT_NEEDED : ALARM_CLAIMED);
    }
    OP(s, txn->commit, NULL);
}

/* The alarm of a loss has been sent when its late result says that the run failed, and another
 * channel wants to hear of that. */
static void a_later_alarm_is_under_way_again(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    int64_t run = failed_run(s, 1000, false), a = add(s, run, "webhook");
    OP(s, alarms->alarm_close, a, ALARM_SENT, 1);
    assert_int_equal(add(s, run, "webhook"), 0); /* it is there */
    assert_int_equal(status_of(s, run), ALARM_SENT);
    int64_t b = add(s, run, "mail");
    assert_int_equal(status_of(s, run), ALARM_CLAIMED);
    OP(s, alarms->alarm_close, b, ALARM_FAILED, 2);
    assert_int_equal(status_of(s, run), ALARM_FAILED);
    int64_t c = add(s, run, "chat");
    assert_int_equal(status_of(s, run), ALARM_CLAIMED);
    OP(s, alarms->alarm_close, c, ALARM_SENT, 3);
    assert_int_equal(status_of(s, run), ALARM_FAILED); /* the worst of them */
    OP(s, txn->commit, NULL);
}

static void old_alarms_go_with_their_deliveries(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    bool more = false;
    OP(s, txn->begin);
    for (int i = 1; i <= 4; i++) {
        int64_t id = add(s, i, "mail");
        const struct delivery_record d = { .alarm_id = id, .target = "a@b", .n = 1 };
        OP(s, alarms->delivery_add, &d);
        if (i < 4)
            OP(s, alarms->alarm_close, id, ALARM_SENT, 100 * i);
    }
    OP(s, alarms->alarms_purge, 300, 1, &more); /* one of 1 and 2; 3 is young, 4 open */
    assert_true(more);
    OP(s, alarms->alarms_purge, 300, 10, &more);
    assert_false(more);
    OP(s, txn->commit, NULL);
    struct buf b = BUF_INIT(4096);
    OP(s, alarms->deliveries_each, 2, list_delivery, &b);
    assert_int_equal(b.len, 0);
    OP(s, alarms->deliveries_each, 3, list_delivery, &b);
    assert_true(b.len > 0);
    buf_done(&b);
    assert_string_equal(open_ids(s, "mail", 0, 9), "4 ");
    OP(s, txn->begin);
    assert_int_equal(add(s, 1, "mail"), 5); /* an id comes once */
    s->ops->txn->rollback(s);
}

/* ---- channels -------------------------------------------------------------------------------- */

static bool list_channel(void *ctx, const struct channel_record *r)
{
    buf_printf(ctx, "%lld %s %d %s;", (long long)r->id, r->name, r->enabled, r->settings);
    return true;
}

static const char *channels(struct store *s)
{
    static char text[400];
    struct buf b = BUF_INIT(sizeof(text) - 1);
    OP(s, alarms->channels_each, list_channel, &b);
    text_copy(text, sizeof(text), slice_of(b.data, b.len));
    buf_done(&b);
    return text;
}

static void is_gone(struct store *s, int64_t id)
{
    struct channel_record got;
    struct why why = { "" };
    assert_int_equal(s->ops->alarms->channel_delete(s, id, &why), ERR_NOTFOUND);
    assert_int_equal(s->ops->alarms->channel_get(s, id, &got, &why), ERR_NOTFOUND);
}

static void channels_are_rows(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct channel_record got, r = { .version = 1,
                                     .name = "夜班",
                                     .kind = "slack",
                                     .settings = "{\"url\":\"x\"}",
                                     .enabled = true,
                                     .created_ms = 5,
                                     .updated_ms = 6 };
    OP(s, txn->begin);
    OP(s, alarms->channel_insert, &r);
    int64_t first = r.id;
    OP(s, txn->commit, NULL);
    OP(s, txn->begin);
    r.name = "b";
    OP(s, alarms->channel_insert, &r);
    r.enabled = false;
    r.version = 2;
    r.settings = "{}";
    OP(s, alarms->channel_update, &r);
    assert_string_equal(channels(s), "1 夜班 1 {\"url\":\"x\"};2 b 0 {};");
    OP(s, alarms->channel_delete, first);
    is_gone(s, first);
    OP(s, alarms->channel_get, r.id, &got);
    assert_int_equal(got.version, 2);
    assert_int_equal(got.created_ms, 5);
    assert_int_equal(got.updated_ms, 6);
    assert_string_equal(got.kind, "slack");
    channel_record_done(&got);
    OP(s, txn->commit, NULL);
    assert_string_equal(channels(s), "2 b 0 {};");
}

static void open_alarms_of_any_channel_are_listed(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    OP(s, txn->begin);
    int64_t a = add(s, 7, "mail"), b = add(s, 7, "x"), c = add(s, 8, "y");
    OP(s, alarms->alarm_close, b, ALARM_SENT, 1);
    OP(s, txn->commit, NULL);
    char want[80];
    snprintf(want, sizeof(want), "%lld %lld ", (long long)a, (long long)c);
    assert_string_equal(open_ids(s, NULL, 0, 10), want);
    snprintf(want, sizeof(want), "%lld ", (long long)c);
    assert_string_equal(open_ids(s, NULL, a, 10), want);
}

static const char *page_ids(struct store *s, struct alarms_filter f, int64_t *total)
{
    static char text[200];
    struct buf b = BUF_INIT(sizeof(text) - 1);
    f.below_id = f.below_id ? f.below_id : INT64_MAX;
    f.limit = 2;
    OP(s, alarms->alarms_page, &f, list_id, &b, total);
    text_copy(text, sizeof(text), slice_of(b.data, b.len));
    buf_done(&b);
    return text;
}

static void a_page_has_what_the_filter_says(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct tell_record t = { .incident_id = 40, .state = TELL_OPENED, .at_ms = 9 };
    int64_t total = 0;
    OP(s, txn->begin);
    OP(s, rules->tell_insert, &t);
    assert_int_equal(add(s, 7, "mail"), 1);
    assert_int_equal(add(s, 7, "webhook"), 2);
    assert_int_equal(add(s, -t.id, "night"), 3);
    OP(s, alarms->alarm_close, 1, ALARM_FAILED, 9);
    OP(s, alarms->alarm_close, 3, ALARM_HELD, 9);
    OP(s, txn->commit, NULL);
    assert_string_equal(page_ids(s, (struct alarms_filter){ 0 }, &total), "3 2 ");
    assert_int_equal(total, 3);
    assert_string_equal(page_ids(s, (struct alarms_filter){ .below_id = 2 }, &total), "1 ");
    assert_int_equal(total, 3);
    assert_string_equal(page_ids(s, (struct alarms_filter){ .incident_id = 40 }, &total), "3 ");
    assert_string_equal(page_ids(s, (struct alarms_filter){ .incident_id = 41 }, &total), "");
    assert_string_equal(page_ids(s, (struct alarms_filter){ .log_id = 7 }, &total), "2 1 ");
    assert_string_equal(page_ids(s, (struct alarms_filter){ .channel = "mail" }, &total), "1 ");
    assert_string_equal(page_ids(s, (struct alarms_filter){ .status = ALARM_CLAIMED }, &total),
                        "2 ");
    assert_string_equal(page_ids(s, (struct alarms_filter){ .status = ALARM_FAILED }, &total),
                        "1 ");
    assert_string_equal(page_ids(s, (struct alarms_filter){ .status = ALARM_HELD }, &total), "3 ");
    assert_int_equal(total, 1);
    OP(s, txn->begin);
    OP(s, alarms->alarm_close, 2, ALARM_FAILED, 20);
    assert_int_equal(add(s, 8, "mail"), 4);
    OP(s, txn->commit, NULL);
    assert_string_equal(page_ids(s, (struct alarms_filter){ .since_ms = 10 }, &total), "4 2 ");
    assert_int_equal(total, 2);
    assert_string_equal(page_ids(s, (struct alarms_filter){ .since_ms = 9 }, &total), "4 3 ");
    assert_int_equal(total, 4);
    assert_string_equal(
        page_ids(s, (struct alarms_filter){ .since_ms = 10, .status = ALARM_FAILED }, &total),
        "2 ");
    assert_string_equal(
        page_ids(s, (struct alarms_filter){ .since_ms = 21, .status = ALARM_FAILED }, &total), "");
    assert_string_equal(
        page_ids(s, (struct alarms_filter){ .since_ms = 21, .status = ALARM_CLAIMED }, &total),
        "4 ");
}

static void a_closed_alarm_is_opened_again(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct alarm_record r;
    struct why said = { "" };
    OP(s, txn->begin);
    int64_t a = add(s, 7, "mail"), b = add(s, 8, "mail");
    assert_int_equal(s->ops->alarms->alarm_reopen(s, a, 50, &said), ERR_NOTFOUND); /* it is open */
    OP(s, alarms->alarm_close, a, ALARM_FAILED, 9);
    OP(s, alarms->alarm_close, b, ALARM_SENT, 9);
    OP(s, alarms->alarm_reopen, a, 50);
    OP(s, txn->commit, NULL);
    assert_string_equal(open_ids(s, "mail", 0, 10), "1 ");
    OP(s, alarms->alarm_get, a, &r);
    assert_int_equal(r.resent_ms, 50);
    assert_int_equal(r.closed_ms, -1);
    assert_int_equal(r.status, ALARM_CLAIMED);
    alarm_record_done(&r);
    OP(s, alarms->alarm_get, b, &r);
    assert_int_equal(r.resent_ms, -1);
    assert_int_equal(r.status, ALARM_SENT);
    alarm_record_done(&r);
    assert_int_equal(s->ops->alarms->alarm_get(s, 99, &r, &said), ERR_NOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(an_alarm_comes_back_whole),
        BOTH(a_log_row_has_one_alarm_a_channel),
        BOTH(open_alarms_are_read_in_pages),
        BOTH(a_delivery_is_logged_once),
        BOTH(the_log_row_says_what_its_alarms_came_to),
        BOTH(an_alarm_that_was_not_needed_may_be_later),
        BOTH(a_later_alarm_is_under_way_again),
        BOTH(old_alarms_go_with_their_deliveries),
        BOTH(channels_are_rows),
        BOTH(open_alarms_of_any_channel_are_listed),
        BOTH(a_page_has_what_the_filter_says),
        BOTH(a_closed_alarm_is_opened_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
