/* SPDX-License-Identifier: Apache-2.0 */
/* What an edit at another server does to the runs that are planned here: the row is changed behind
 * the core's back, and the core is told of it. */
#include "support_core.h"
#include "base/mem.h"
#include "store/store.h"
#include <string.h>

#define A "http://10.0.0.1:9999/"

struct fixture {
    struct core *c;
    int64_t job;
};

static int live(struct fixture *f)
{
    struct run_row *rows[64];
    return core_rows(f->c, f->job, rows, 64);
}

static void begin(struct fixture *f, const char *type, const char *conf)
{
    static const struct share share = { .nodes = 1 };
    struct job_record r = core_record(type, conf);
    core_text(&r.misfire, "FIRE_ALL");
    f->c = core_new();
    f->c->executor = core_accepts;
    sched_share(f->c->s, &share);
    sched_lease(f->c->s, f->c->now, INT64_MAX, INT64_MAX);
    core_register(f->c, "app", A);
    core_run(f->c, 100);
    f->job = core_job(f->c, &r);
    job_record_done(&r);
    core_run(f->c, 2500);
    assert_true(f->c->nsent > 0);
    assert_true(live(f) > 0);
}

/* As the other server leaves the row. */
static void elsewhere(struct fixture *f, struct job_record *r)
{
    struct why why = { "" };
    const struct store_ops *ops = f->c->store->ops;
    r->version++;
    assert_int_equal(ops->txn->begin(f->c->store, &why), OK);
    assert_int_equal(ops->catalog->job_update(f->c->store, r, &why), OK);
    assert_int_equal(ops->txn->commit(f->c->store, NULL, &why), OK);
    job_record_done(r);
}

static void gone_elsewhere(struct fixture *f)
{
    struct why why = { "" };
    const struct store_ops *ops = f->c->store->ops;
    assert_int_equal(ops->txn->begin(f->c->store, &why), OK);
    assert_int_equal(ops->catalog->job_delete(f->c->store, f->job, &why), OK);
    assert_int_equal(ops->txn->commit(f->c->store, NULL, &why), OK);
}

static void hear(struct fixture *f, int64_t version)
{
    const struct job_news news = { .id = 1, .job_id = f->job, .version = version, .anew = true };
    sched_job_changed(f->c->s, f->c->now, &news);
}

static void hear_row(struct fixture *f)
{
    struct job_record r = core_job_row(f->c, f->job);
    hear(f, r.version);
    job_record_done(&r);
}

static int planned(struct fixture *f)
{
    struct run_row *rows[64];
    int n = core_rows(f->c, f->job, rows, 64), found = 0;
    for (int i = 0; i < n; i++)
        found += rows[i]->scheduled_ms > f->c->now.wall_ms; /* that is what has not left */
    return found;
}

static int sent(const struct fixture *f)
{
    int n = 0;
    for (int i = 0; i < f->c->nsent; i++)
        n += f->c->sent[i].job_id == f->job;
    return n;
}

static void a_stop_elsewhere_takes_what_is_planned(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON", "* * * * * ?");
    struct job_record r = core_job_row(f.c, f.job);
    r.enabled = false;
    r.next_ms = NEVER_MS;
    elsewhere(&f, &r);
    assert_true(planned(&f) > 0);
    hear_row(&f);
    core_settle(f.c);
    assert_int_equal(planned(&f), 0);
    int before = sent(&f);
    core_run(f.c, 8000);
    assert_int_equal(sent(&f), before);
    assert_int_equal(core_unaccounted(f.c), 0);
    core_free(f.c);
}

static void a_deletion_elsewhere_ends_all(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON", "* * * * * ?");
    gone_elsewhere(&f);
    hear(&f, VERSION_DELETED);
    core_settle(f.c);
    assert_int_equal(live(&f), 0);
    int before = sent(&f);
    core_run(f.c, 8000);
    assert_int_equal(sent(&f), before);
    assert_int_equal(core_unaccounted(f.c), 0);
    core_free(f.c);
}

/* The other server found rows in their place and planned none: they stay wanted, by the new
 * version, once each. What the new schedule has not goes. */
static void a_change_elsewhere_keeps_the_times_that_both_have(void **state)
{
    (void)state;
    static const struct {
        const char *conf;
        int every;
    } rows[] = { { "* * * * * ?", 1 }, { "0/2 * * * * ?", 2 }, { "3 0 1 1 * ? 2099", 0 } };
    for (size_t i = 0; i < countof(rows); i++) {
        struct fixture f = { 0 };
        begin(&f, "CRON", "* * * * * ?");
        struct run_row *before[64], *after[64];
        int n = core_rows(f.c, f.job, before, 64);
        int64_t times[64];
        int ntimes = 0;
        for (int k = 0; k < n; k++)
            if (before[k]->scheduled_ms > f.c->now.wall_ms)
                times[ntimes++] = before[k]->scheduled_ms;
        struct job_record r = core_job_row(f.c, f.job);
        core_text(&r.schedule_conf, rows[i].conf);
        core_text(&r.param, "other");
        int64_t version = r.version + 1;
        elsewhere(&f, &r);
        hear_row(&f);
        core_settle(f.c);
        for (int k = 0; k < ntimes; k++) {
            int found = 0, m = core_rows(f.c, f.job, after, 64);
            for (int x = 0; x < m; x++) {
                found += after[x]->scheduled_ms == times[k];
                if (after[x]->scheduled_ms > f.c->now.wall_ms)
                    assert_int_equal(after[x]->version, version);
            }
            bool wanted = rows[i].every && times[k] / 1000 % rows[i].every == 0;
            assert_int_equal(found, wanted);
        }
        assert_int_equal(core_unaccounted(f.c), 0);
        core_free(f.c);
    }
}

/* From when the edit is heard of until it is decided here. */
static void nothing_leaves_while_the_edit_is_with_the_writer(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON", "* * * * * ?");
    struct job_record r = core_job_row(f.c, f.job);
    r.enabled = false;
    r.next_ms = NEVER_MS;
    elsewhere(&f, &r);
    hear_row(&f);
    int before = sent(&f);
    core_take_next(f.c);
    assert_int_equal(f.c->batch->nedits, 1);
    assert_int_equal(f.c->batch->edits[0]->kind, EDIT_JOB_SYNC);
    core_write(f.c);
    f.c->now.wall_ms += 3000;
    f.c->now.boot_ms += 1000;
    sched_tick(f.c->s, f.c->now);
    core_pump(f.c);
    assert_int_equal(sent(&f), before);
    core_done(f.c);
    core_run(f.c, 4000);
    assert_int_equal(sent(&f), before);
    core_free(f.c);
}

/* A run that was out when the edit came, and of which nothing has arrived after all. */
static void a_run_whose_connection_is_refused_meanwhile_does_not_leave_again(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON", "* * * * * ?");
    f.c->executor = NULL;
    core_run(f.c, 1000);
    struct core_call *call = NULL;
    for (int i = 0; i < f.c->ncalls; i++)
        if (f.c->calls[i].kind == CALL_RUN)
            call = &f.c->calls[i];
    assert_non_null(call);
    struct job_record r = core_job_row(f.c, f.job);
    r.enabled = false;
    r.next_ms = NEVER_MS;
    elsewhere(&f, &r);
    hear_row(&f);
    core_take_next(f.c);
    core_write(f.c);
    int before = sent(&f);
    core_fails(f.c, call, CALL_AGAIN);
    sched_tick(f.c->s, f.c->now);
    core_pump(f.c);
    assert_int_equal(sent(&f), before);
    core_done(f.c);
    core_run(f.c, 8000);
    assert_int_equal(sent(&f), before);
    assert_int_equal(core_unaccounted(f.c), 0);
    core_free(f.c);
}

/* Rows of a life that did not know of the edit: as a start finds them, and as adoption brings them.
 * The server that made the edit has found them in their place and planned none. */
static void rows_of_an_older_version_are_held_against_the_job_as_it_is(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON", "* * * * * ?");
    core_stop(f.c);
    struct job_record r = core_job_row(f.c, f.job);
    core_text(&r.param, "other");
    core_text(&r.schedule_conf, "0/1 * * * * ?");
    elsewhere(&f, &r);
    f.c->shared = true;
    core_start(f.c);
    core_settle(f.c);
    core_run(f.c, 8000);
    int64_t last_ms = 0;
    for (int i = 0; i < f.c->nsent; i++) {
        int64_t ms = f.c->sent[i].scheduled_ms;
        if (last_ms && ms > last_ms)
            assert_int_equal(ms - last_ms, 1000);
        last_ms = ms;
    }
    assert_true(last_ms >= f.c->now.wall_ms - 1000);
    assert_string_equal(f.c->sent[f.c->nsent - 1].param, "other");
    assert_int_equal(core_unaccounted(f.c), 0);
    core_free(f.c);
}

/* What the core made itself, and what it has heard before. */
static void old_news_do_nothing(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON", "* * * * * ?");
    hear_row(&f);
    hear(&f, 0);
    assert_false(core_take(f.c) && f.c->batch->nedits);
    core_free(f.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_elsewhere_takes_what_is_planned),
        cmocka_unit_test(a_deletion_elsewhere_ends_all),
        cmocka_unit_test(a_change_elsewhere_keeps_the_times_that_both_have),
        cmocka_unit_test(nothing_leaves_while_the_edit_is_with_the_writer),
        cmocka_unit_test(a_run_whose_connection_is_refused_meanwhile_does_not_leave_again),
        cmocka_unit_test(rows_of_an_older_version_are_held_against_the_job_as_it_is),
        cmocka_unit_test(old_news_do_nothing),
    };
    return cmocka_run_group_tests_name("sched.sync", tests, NULL, NULL);
}
