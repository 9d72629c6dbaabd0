/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses are there: what happens to the addresses of a group, by registry and by hand, and
 * where the next run goes then. */
#include "support_core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/mem.h"

#define A "http://10.0.0.1:9999/"
#define B "http://10.0.0.2:9999/"
#define C "http://10.0.0.3:9999/"
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- what happens x whose list --------------------------------------------------------------- */

enum event { NOTHING, COMES, LEAVES, DIES, REVIVES, FALLS_SILENT };

struct row {
    const char *by_hand; /* NULL: by registry */
    const char *there;   /* registered before */
    enum event event;
    const char *address;
    const char *listed; /* then: "-" in front of what is dead */
    const char *to;     /* where the next run of FIRST goes; NULL: no address */
};

static const struct row rows[] = {
    { NULL, "", NOTHING, NULL, "", NULL },
    { NULL, "", COMES, A, A " ", A },
    { NULL, B, COMES, A, A " " B " ", A }, /* sorted */
    { NULL, A, COMES, A, A " ", A },
    { NULL, A, LEAVES, A, "", NULL },
    { NULL, A, LEAVES, B, A " ", A },
    { NULL, A B, LEAVES, A, B " ", B },
    { NULL, A, DIES, A, "-" A " ", A }, /* no other: the attempt says why */
    { NULL, A B, DIES, A, "-" A " " B " ", B },
    { NULL, A B, REVIVES, A, A " " B " ", A },
    { NULL, A B, FALLS_SILENT, A, B " ", B },
    { NULL, A, FALLS_SILENT, A, "", NULL },
    { A, "", NOTHING, NULL, A " ", A },
    { B "," A, "", NOTHING, NULL, B " " A " ", B }, /* as written */
    { A, "", COMES, B, A " ", A },
    { A, A, LEAVES, A, A " ", A }, /* what a user has listed stays */
    { A "," B, "", DIES, A, "-" A " " B " ", B },
    { A, "", DIES, A, "-" A " ", A },
    { A "," B, "", REVIVES, A, A " " B " ", A },
    { "", A, NOTHING, NULL, "", NULL },
};

static void note(void *ctx, const char *address, bool dead)
{
    buf_printf(ctx, "%s%s ", dead ? "-" : "", address);
}

static void check_list(struct core *c, int64_t group, const char *want)
{
    struct buf b = BUF_INIT(1 << 20);
    buf_text(&b, "");
    sched_addresses(c->s, group, note, &b);
    assert_string_equal(buf_str(&b), want);
    buf_done(&b);
}

static int64_t job_in(struct core *c, int64_t group, const char *route)
{
    struct job_record r = core_record("NONE", "");
    r.group_id = group;
    core_text(&r.route, route);
    int64_t id = core_job(c, &r);
    job_record_done(&r);
    return id;
}

static void kill_address(struct core *c, int64_t job, const char *address)
{
    core_trigger(c, job, address);
    core_settle(c);
    for (int i = 0; i < c->ncalls; i++)
        if (c->calls[i].kind == CALL_RUN) {
            core_fails(c, &c->calls[i], CALL_NOT_SENT);
            break;
        }
    core_settle(c);
}

static bool silent(struct core *c, const struct core_call *call, struct call_result *r)
{
    (void)c;
    r->outcome = CALL_NOT_SENT;
    return call->kind == CALL_BEAT;
}

static void happen(struct core *c, const struct row *r, int64_t job)
{
    switch (r->event) {
    case NOTHING:
        break;
    case COMES:
        core_register(c, "beta", r->address);
        break;
    case LEAVES:
        core_unregister(c, "beta", r->address);
        break;
    case DIES:
        c->executor = silent;
        kill_address(c, job, r->address);
        break;
    case REVIVES:
        kill_address(c, job, r->address);
        core_run(c, 1000);
        core_answer(c, core_call_of(c, CALL_BEAT, 0), 200, LOG_NONE);
        break;
    case FALLS_SILENT:
        for (int i = 0; i < 4; i++) {
            core_run(c, 25000);
            if (strstr(r->there, B))
                core_register(c, "beta", B);
        }
    }
}

static void one_event(const struct row *r)
{
    struct core *c = core_new();
    if (strstr(r->there, A))
        core_register(c, "beta", A);
    if (strstr(r->there, B))
        core_register(c, "beta", B);
    int64_t group = core_group(c, "beta", r->by_hand), job = job_in(c, group, "FIRST");
    happen(c, r, job);
    check_list(c, group, r->listed); /* at once */
    int before = c->nsent;
    int64_t id = core_trigger(c, job, NULL);
    core_settle(c);
    check_list(c, group, r->listed);
    if (r->to) {
        assert_int_equal(c->nsent, before + 1);
        assert_string_equal(c->sent[before].address, r->to);
    } else {
        assert_int_equal(c->nsent, before);
        struct log_record l;
        assert_true(core_log(c, id, &l));
        assert_int_equal(l.trigger_code, 500);
        assert_non_null(strstr(l.trigger_msg, "no executor is registered"));
        log_record_done(&l);
    }
    core_free(c);
}

static void what_happens_to_an_address(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(rows); i++) {
        print_message("%s, there %s, event %d %s\n", rows[i].by_hand ? rows[i].by_hand : "registry",
                      rows[i].there, rows[i].event, rows[i].address ? rows[i].address : "");
        one_event(&rows[i]);
    }
}

/* ---- runs that were planned for an address that left ----------------------------------------- */

struct left_row {
    const char *route, *choices;
    bool retry;
    const char *stays; /* another address of the group */
    const char *to;    /* NULL: no address */
};

static const struct left_row left[] = {
    { "FIRST", NULL, false, NULL, NULL },
    { "ROUND", NULL, false, NULL, NULL },
    { "FAILOVER", NULL, false, NULL, NULL },
    { "BUSYOVER", NULL, false, NULL, NULL },
    { "SHARDING_BROADCAST", NULL, false, NULL, NULL },
    { "FIRST", NULL, false, B, B },
    { "LEAST_FREQUENTLY_USED", NULL, false, B, B },
    { "SHARDING_BROADCAST", NULL, false, B, B },
    { "FIRST", NULL, true, NULL, NULL },
    { "FIRST", NULL, true, B, B },
    { "FIRST", A, false, NULL, A }, /* a user gave it for this run */
    { "FIRST", A, false, B, A },
};

static bool yes_to_probes(struct core *c, const struct core_call *call, struct call_result *r)
{
    (void)c;
    r->outcome = CALL_ANSWERED;
    r->code = 200;
    return call->kind == CALL_BEAT || call->kind == CALL_IDLE;
}

static bool yes_to_all(struct core *c, const struct core_call *call, struct call_result *r)
{
    (void)c;
    (void)call;
    r->outcome = CALL_ANSWERED;
    r->code = 200;
    return true;
}

static int64_t due_in_a_minute(struct core *c, const struct left_row *l)
{
    struct job_record r = core_record(l->choices || l->retry ? "NONE" : "CRON", "0 * * * * ?");
    core_text(&r.route, l->route);
    r.retries = l->retry;
    r.retry_delay_ms = 10000;
    int64_t job = core_job(c, &r);
    job_record_done(&r);
    return job;
}

static void one_that_left(const struct left_row *l)
{
    struct core *c = core_new();
    c->executor = yes_to_probes;
    core_register(c, "app", A);
    int64_t job = due_in_a_minute(c, l);
    if (l->retry) {
        core_trigger(c, job, NULL);
        core_settle(c);
        core_answer(c, core_call_of(c, CALL_RUN, c->sent[0].log_id), 500, LOG_NONE);
        core_run(c, 1000); /* the retry is planned, for A */
    } else {
        core_run(c, 57000);
    }
    core_unregister(c, "app", A);
    if (l->stays)
        core_register(c, "app", l->stays);
    int before = c->nsent;
    if (l->choices)
        core_trigger(c, job, l->choices);
    core_run(c, 20000);
    assert_int_equal(c->nsent, l->to ? before + 1 : before);
    if (l->to)
        assert_string_equal(c->sent[before].address, l->to);
    core_free(c);
}

static void what_left_gets_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(left); i++) {
        print_message("%s%s%s, %s stays\n", left[i].route, left[i].choices ? " by hand" : "",
                      left[i].retry ? " retry" : "", left[i].stays ? left[i].stays : "none");
        one_that_left(&left[i]);
    }
}

/* ---- runs that waited for a connection to an address that left ------------------------------
 */

struct queue_row {
    const char *route, *choices;
    bool by_hand;
    bool full;         /* the second run does not wait in the queue: its call is under way */
    const char *stays; /* another address of the group */
    const char *to;    /* NULL: no address */
};

static const struct queue_row queues[] = {
    { "FIRST", NULL, false, false, NULL, NULL },
    { "FIRST", NULL, false, false, B, B },
    { "ROUND", NULL, false, false, B, B },
    { "FAILOVER", NULL, false, false, NULL, NULL },
    { "FAILOVER", NULL, false, false, B, B },
    { "BUSYOVER", NULL, false, false, B, B },
    { "SHARDING_BROADCAST", NULL, false, false, B, B },
    { "FIRST", NULL, true, false, B, B },
    { "FIRST", NULL, true, false, NULL, NULL },
    { "FIRST", NULL, false, true, B, B },
    { "FIRST", NULL, true, true, B, B },
    { "FIRST", A, false, false, B, A }, /* a user gave it for this run */
    { "FIRST", A, false, true, B, A },
};

static void list_by_hand(struct core *c, const char *list)
{
    struct edit *e = edit_new(EDIT_GROUP_UPDATE);
    e->id = e->group.id = 1;
    e->group.app = mem_dup("app");
    e->group.title = mem_dup("app");
    e->group.address_type = 1;
    e->group.address_list = mem_dup(list);
    assert_int_equal(core_edit(c, e), OK);
}

static struct core *core_of_one_connection(const struct queue_row *q)
{
    struct core *c = core_new();
    core_stop(c);
    c->config.lane_connections = q->full ? 2 : 1;
    core_start(c);
    c->executor = yes_to_probes;
    if (q->by_hand)
        list_by_hand(c, A);
    else
        core_register(c, "app", A);
    core_settle(c);
    return c;
}

static void a_leaves(struct core *c, const struct queue_row *q)
{
    if (q->by_hand) {
        list_by_hand(c, q->stays ? q->stays : "");
        return;
    }
    if (q->stays)
        core_register(c, "app", q->stays);
    core_unregister(c, "app", A);
}

static void one_queue(const struct queue_row *q)
{
    struct core *c = core_of_one_connection(q);
    struct job_record r = core_record("NONE", "");
    core_text(&r.route, q->route);
    int64_t job = core_job(c, &r), first = core_trigger(c, job, q->choices);
    job_record_done(&r);
    core_settle(c);
    int64_t second = core_trigger(c, job, q->choices);
    core_settle(c);
    int before = q->full ? 2 : 1;
    assert_int_equal(c->nsent, before);
    a_leaves(c, q);
    if (q->full)
        core_fails(c, core_call_of(c, CALL_RUN, second), CALL_FULL);
    core_run(c, 100);
    core_answer(c, core_call_of(c, CALL_RUN, first), 200, LOG_NONE); /* a connection is free */
    core_run(c, 1000);
    assert_int_equal(c->nsent, q->to ? before + 1 : before);
    if (q->to)
        assert_string_equal(c->sent[before].address, q->to);
    core_free(c);
}

static void what_left_gets_nothing_of_its_queue(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(queues); i++) {
        const struct queue_row *q = &queues[i];
        print_message("%s%s%s%s, %s stays\n", q->route, q->choices ? " by hand" : "",
                      q->by_hand ? " of a list by hand" : "", q->full ? " full" : "",
                      q->stays ? q->stays : "none");
        one_queue(q);
    }
}

/* An address that another group lists is not this group's. */
static void an_address_that_moved_serves_its_new_group_only(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    int64_t job = core_simple_job(c, "CRON", "0 * * * * ?");
    core_run(c, 57000);
    core_register(c, "beta", A);
    core_group(c, "beta", NULL);
    core_unregister(c, "app", A);
    core_run(c, 20000);
    assert_int_equal(c->nsent, 0);
    (void)job;
}

/* ---- many at once ---------------------------------------------------------------------------- */

#define MANY 6000

static char *list_of(int n)
{
    struct buf b = BUF_INIT(1 << 20);
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%shttp://10.1.%d.%d:9999/", i ? "," : "", i / 250, i % 250);
    char *text = mem_dup(buf_str(&b));
    buf_done(&b);
    return text;
}

static bool all_dead_but_c(struct core *c, const struct core_call *call, struct call_result *r)
{
    (void)c;
    bool lives = strcmp(call->address, C) == 0;
    r->outcome = lives ? CALL_ANSWERED : CALL_NOT_SENT;
    r->code = 200;
    return true;
}

/* Batches of the next ms milliseconds: none has two views of a group, or two texts of its list. */
static void run_and_look_at_views(struct core *c, int64_t ms)
{
    for (int64_t end = c->now.boot_ms + ms; c->now.boot_ms < end;) {
        while (core_take(c)) {
            for (int i = 0; i < c->batch->nviews; i++)
                for (int k = 0; k < i; k++)
                    assert_int_not_equal(c->batch->views[i]->group_id,
                                         c->batch->views[k]->group_id);
            assert_true(c->batch->nlists <= 2);
            core_write(c);
            core_done(c);
        }
        c->now.wall_ms++;
        c->now.boot_ms++;
        sched_tick(c->s, c->now);
        core_pump(c);
    }
}

/* Thousands of dead addresses cost a view a batch, and few beats; another group's job does not
 * notice. */
static void dead_addresses_hurt_their_own_group_only(void **state)
{
    struct core *c = *state;
    core_register(c, "app", C);
    char *list = list_of(MANY);
    int64_t group = core_group(c, "beta", list);
    free(list);
    struct job_record r = core_record("FIX_RATE", "100ms");
    int64_t fresh = core_job(c, &r);
    r.group_id = group;
    core_text(&r.route, "ROUND");
    for (int i = 0; i < 20; i++)
        core_job(c, &r);
    job_record_done(&r);
    c->executor = all_dead_but_c;
    struct sched_stats st;
    int64_t from = c->now.wall_ms;
    for (int i = 0; i < 20; i++) {
        run_and_look_at_views(c, 1000);
        core_register(c, "app", C);
    }
    sched_stats(c->s, &st);
    assert_int_equal(st.dead, MANY);
    int sent = 0;
    for (int i = 0; i < c->nsent; i++) {
        if (c->sent[i].job_id != fresh || c->sent[i].scheduled_ms < from + 1000)
            continue;
        sent++;
        assert_int_equal(c->sent[i].sent_wall_ms, c->sent[i].scheduled_ms);
    }
    assert_true(sent >= 189);
}

/* The whole process stands still, longer than an address may be silent. Whatever comes first then,
 * every address that was there still is, and has the rest of its time. */
static void a_pause_is_no_silence(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    int64_t job = core_simple_job(c, "FIX_RATE", "1000ms");
    c->executor = yes_to_all;
    core_run(c, 5000);
    c->now.wall_ms += 95000;
    c->now.boot_ms += 95000;
    core_run(c, 50);
    check_list(c, 1, A " ");
    int before = c->nsent;
    core_run(c, 80000);
    check_list(c, 1, A " ");
    assert_true(c->nsent >= before + 79);
    struct run_row *live[100];
    for (int i = 0, n = core_rows(c, job, live, 100); i < n; i++)
        assert_int_not_equal(live[i]->phase, PHASE_UNROUTABLE);
    core_run(c, 11000); /* and now it has been silent for 90 s that count */
    check_list(c, 1, "");
}

/* Nor does it prove that a result will not come. */
static void a_pause_ends_no_run(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    int64_t job = core_simple_job(c, "NONE", "");
    int64_t id = core_trigger(c, job, NULL);
    core_settle(c);
    core_answer(c, core_call_of(c, CALL_RUN, id), 200, LOG_NONE);
    for (int i = 0; i < 12000 && !core_calls(c, CALL_IDLE); i++)
        core_run(c, 1);
    core_answer(c, core_call_of(c, CALL_IDLE, id), 200, LOG_NONE);
    core_answer(c, core_call_of(c, CALL_LOG, id), 200,
                LOG_ENDED); /* it has ended: its result comes */
    c->now.wall_ms += 95000;
    c->now.boot_ms += 95000;
    core_settle(c);
    for (int i = 0; i < 20; i++) {
        core_run(c, 3000);
        if (core_call_of(c, CALL_IDLE, id))
            core_answer(c, core_call_of(c, CALL_IDLE, id), 200, LOG_NONE);
        if (core_call_of(c, CALL_LOG, id))
            core_answer(c, core_call_of(c, CALL_LOG, id), 200, LOG_ENDED);
    }
    assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
    core_result(c, id, 200); /* the executor repeats it, half a minute later */
    struct log_record l;
    assert_true(core_log(c, id, &l));
    assert_int_equal(l.handle_code, 200);
    log_record_done(&l);
}

/* ---- the list in the group's row --------------------------------------------------------------
 */

static void check_written(struct core *c, int64_t id, const char *want)
{
    struct group_record g = { 0 };
    struct why why = { "" };
    assert_int_equal(c->store->ops->catalog->group_get(c->store, id, &g, &why), OK);
    assert_string_equal(g.address_list ? g.address_list : "", want);
    group_record_done(&g);
}

/* A list by hand becomes the registry's with the batch after the edit's: a crash may come between.
 */
static void the_list_by_hand_goes_whenever_the_center_dies(void **state)
{
    struct core *c = *state;
    for (int crash = 0; crash < 2; crash++)
        for (int there = 0; there < 2; there++) {
            char app[32];
            snprintf(app, sizeof(app), "x%d%d", crash, there);
            int64_t id = core_group(c, app, A);
            if (there)
                core_register(c, app, B);
            core_settle(c);
            struct edit *e = edit_new(EDIT_GROUP_UPDATE);
            e->id = id;
            e->group.id = id;
            e->group.app = mem_dup(app);
            e->group.title = mem_dup(app);
            assert_int_equal(core_edit(c, e), OK);
            check_written(c, id, A);
            if (crash) {
                core_crash(c);
                core_start(c);
            }
            core_run(c, 100);
            check_written(c, id, there ? B : "");
        }
}

/* App names are whatever a holder of the token writes: unused ones take no place. */
static void apps_are_forgotten(void **state)
{
    struct core *c = *state;
    char name[32];
    for (int i = 0; i <= 100000; i++) {
        snprintf(name, sizeof(name), "app-%d", i);
        core_register(c, name, A);
        core_unregister(c, name, A);
    }
    core_register(c, "one-more", A);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, core_setup, core_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_happens_to_an_address),
        cmocka_unit_test(what_left_gets_nothing),
        cmocka_unit_test(what_left_gets_nothing_of_its_queue),
        T(an_address_that_moved_serves_its_new_group_only),
        T(a_pause_is_no_silence),
        T(a_pause_ends_no_run),
        T(the_list_by_hand_goes_whenever_the_center_dies),
        T(apps_are_forgotten),
        T(dead_addresses_hurt_their_own_group_only),
    };
    return cmocka_run_group_tests_name("sched.directory", tests, NULL, NULL);
}
