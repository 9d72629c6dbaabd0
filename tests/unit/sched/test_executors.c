/* SPDX-License-Identifier: Apache-2.0 */
/* What pages see of addresses: their state over time, what is out at them, how fast they answer,
 * and who may see which. */
#include "support_core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

#define A "http://10.0.0.1:9999/"
#define B "http://10.0.0.2:9999/"

struct found {
    struct executor_view list[8];
    int n, total;
};

static void take(void *ctx, const struct executor_view *v)
{
    struct found *f = ctx;
    executor_view_copy(&f->list[f->n++], v);
}

static void done(struct found *f)
{
    for (int i = 0; i < f->n; i++)
        executor_view_done(&f->list[i]);
}

static struct found look(struct core *c, const struct executors_filter *filter)
{
    struct found f = { .n = 0 };
    f.total = sched_executors(c->s, c->now, filter, take, &f);
    return f;
}

/* The picture of one address; its texts are gone. */
static struct executor_view view(struct core *c, const char *address)
{
    struct found f = look(c, &(struct executors_filter){ .only = address, .limit = 1 });
    struct executor_view v = f.n ? f.list[0] : (struct executor_view){ .accepted = -1 };
    v.error = v.error && v.error[0] ? "said" : NULL;
    done(&f);
    v.address = NULL;
    v.groups = NULL;
    return v;
}

static void test_states_follow_one_another(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    int64_t heard_ms = c->now.wall_ms;
    core_settle(c);
    struct executor_view v = view(c, A);
    assert_int_equal(v.state, EXECUTOR_UP);
    assert_true(v.registered && !v.listed);
    assert_int_equal(v.since_ms, heard_ms);
    assert_int_equal(v.beat_age_ms, c->now.wall_ms - heard_ms);
    assert_int_equal(v.ngroups, 1);
    core_run(c, heard_ms + EXECUTOR_SILENT_MS - 1 - c->now.wall_ms);
    assert_int_equal(view(c, A).state, EXECUTOR_UP);
    core_run(c, 1001);
    v = view(c, A);
    assert_int_equal(v.state, EXECUTOR_SILENT);
    assert_int_equal(v.since_ms, heard_ms + EXECUTOR_SILENT_MS);
    assert_int_equal(v.beat_age_ms, EXECUTOR_SILENT_MS + 1000);
    core_register(c, "app", A);
    v = view(c, A);
    assert_int_equal(v.state, EXECUTOR_UP);
    assert_int_equal(v.since_ms, heard_ms); /* it was never down */
    core_unregister(c, "app", A);
    assert_int_equal(view(c, A).accepted, -1);
}

static void test_one_that_refuses_and_comes_back(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    int64_t job = core_simple_job(c, "NONE", "");
    int64_t run = core_trigger(c, job, NULL);
    core_settle(c);
    assert_int_equal(view(c, A).in_flight, 1);
    core_run(c, 500);
    core_reply(c, core_call_of(c, CALL_RUN, run),
               &(struct call_result){ .outcome = CALL_NOT_SENT, .msg = slice_text("refused") });
    struct executor_view v = view(c, A);
    assert_int_equal(v.state, EXECUTOR_REFUSING);
    assert_int_equal(v.since_ms, c->now.wall_ms);
    assert_int_equal(v.error_ms, c->now.wall_ms);
    assert_non_null(v.error);
    core_run(c, 250);
    sched_probed(
        c->s, c->now,
        &(struct call_result){ .kind = CALL_BEAT, .address = A, .outcome = CALL_ANSWERED });
    v = view(c, A);
    assert_int_equal(v.state, EXECUTOR_UP);
    assert_int_equal(v.since_ms, c->now.wall_ms);
    assert_non_null(v.error); /* it is the last one still */
}

static void test_what_is_out_is_counted_and_drains(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    int64_t job = core_simple_job(c, "NONE", "");
    int64_t first = core_trigger(c, job, NULL), second = core_trigger(c, job, NULL);
    core_settle(c);
    core_reply(c, core_call_of(c, CALL_RUN, first),
               &(struct call_result){ .outcome = CALL_ANSWERED, .code = 200, .took_us = 1500 });
    core_fails(c, core_call_of(c, CALL_RUN, second), CALL_IN_DOUBT);
    core_settle(c);
    struct executor_view v = view(c, A);
    assert_int_equal(v.accepted, 1);
    assert_int_equal(v.unknown, 1);
    assert_in_range(v.answer_p95_us, 1000, 2000);
    core_unregister(c, "app", A);
    v = view(c, A);
    assert_int_equal(v.state, EXECUTOR_DRAINING);
    assert_int_equal(v.ngroups, 1); /* of the runs */
    assert_int_equal(v.beat_age_ms, -1);
    core_result(c, first, 200);
    core_result(c, second, 200);
    core_settle(c);
    assert_int_equal(view(c, A).accepted, -1);
}

static void test_it_is_forgotten_by_every_app(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    core_register(c, "another", A);
    core_register(c, "app", B);
    int64_t by_hand = core_group(c, "by-hand", A);
    core_settle(c);
    assert_true(view(c, A).registered && view(c, A).listed);
    assert_true(sched_forget(c->s, c->now, slice_text(A)));
    assert_true(!view(c, A).registered && view(c, A).listed);
    assert_false(sched_forget(c->s, c->now, slice_text(A)));
    core_settle(c);
    struct scope mine = { false, &by_hand, 1 };
    struct found f = look(c, &(struct executors_filter){ .scope = &mine, .limit = 8 });
    assert_int_equal(f.n, 1);
    assert_string_equal(f.list[0].address, A);
    done(&f);
    assert_false(sched_forget(c->s, c->now, slice_text("http://nobody/")));
}

static void test_a_page_begins_behind_an_address(void **state)
{
    struct core *c = *state;
    char address[32];
    for (int i = 9; i >= 0; i--) { /* not in their order */
        snprintf(address, sizeof(address), "http://10.0.1.%d/", i * 7 % 10);
        core_register(c, "app", address);
    }
    core_settle(c);
    struct executors_filter filter = { .limit = 4, .after = "http://10.0.1.3/" };
    struct found f = look(c, &filter);
    assert_int_equal(f.total, 10);
    assert_int_equal(f.n, 4);
    for (int i = 0; i < 4; i++) {
        snprintf(address, sizeof(address), "http://10.0.1.%d/", 4 + i);
        assert_string_equal(f.list[i].address, address);
    }
    done(&f);
    filter.states = 1u << EXECUTOR_REFUSING;
    f = look(c, &filter);
    assert_int_equal(f.total, 0);
    done(&f);
    f = look(c, &(struct executors_filter){ .limit = 8, .scope = &SCOPE_NONE });
    assert_int_equal(f.total, 0);
    done(&f);
}

struct told {
    char text[400];
};

static void hear(void *ctx, const struct executor_seen *e)
{
    struct told *t = ctx;
    size_t n = strlen(t->text);
    snprintf(t->text + n, sizeof(t->text) - n, "%s %s %zu;", e->address,
             e->state == EXECUTOR_STATES ? "gone" : executor_state_text(e->state), e->ngroups);
}

static void heard(struct core *c, const char *wanted)
{
    struct told t = { "" };
    sched_executors_seen(c->s, c->now, false, hear, &t);
    assert_string_equal(t.text, wanted);
}

static void test_changes_are_told_once(void **state)
{
    struct core *c = *state;
    core_register(c, "app", B);
    core_settle(c);
    struct told none = { "" };
    sched_executors_seen(c->s, c->now, true, hear, &none);
    assert_string_equal(none.text, "");
    heard(c, ""); /* what was there is told already */
    core_register(c, "app", A);
    heard(c, A " up 0;"); /* its group follows with a batch */
    core_settle(c);
    heard(c, A " up 1;");
    heard(c, "");
    int64_t job = core_simple_job(c, "NONE", "");
    int64_t run = core_trigger(c, job, NULL);
    core_settle(c);
    core_reply(c, core_call_of(c, CALL_RUN, run),
               &(struct call_result){ .outcome = CALL_NOT_SENT, .msg = slice_text("refused") });
    heard(c, A " refusing 1;");
    core_unregister(c, "app", A);
    core_unregister(c, "app", B);
    core_settle(c);
    core_run(c, 1000);
    struct told t = { "" };
    sched_executors_seen(c->s, c->now, false, hear, &t);
    assert_non_null(strstr(t.text, A " gone 1;"));
    assert_non_null(strstr(t.text, B " gone 1;"));
    heard(c, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_states_follow_one_another, core_setup, core_teardown),
        cmocka_unit_test_setup_teardown(test_one_that_refuses_and_comes_back, core_setup,
                                        core_teardown),
        cmocka_unit_test_setup_teardown(test_what_is_out_is_counted_and_drains, core_setup,
                                        core_teardown),
        cmocka_unit_test_setup_teardown(test_it_is_forgotten_by_every_app, core_setup,
                                        core_teardown),
        cmocka_unit_test_setup_teardown(test_changes_are_told_once, core_setup, core_teardown),
        cmocka_unit_test_setup_teardown(test_a_page_begins_behind_an_address, core_setup,
                                        core_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
