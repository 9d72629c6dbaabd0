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
    int64_t beside; /* the row that begin_beside is about */
};

static int live(struct fixture *f)
{
    struct run_row *rows[64];
    return core_rows(f->c, f->job, rows, 64);
}

static void begin_job(struct fixture *f, const char *type, const char *conf)
{
    struct job_record r = core_record(type, conf);
    core_text(&r.misfire, "FIRE_ALL");
    f->c = core_new();
    f->c->executor = core_accepts;
    sched_share(f->c->s, &core_alone);
    sched_lease(f->c->s, f->c->now, INT64_MAX, INT64_MAX);
    core_register(f->c, "app", A);
    core_run(f->c, 100);
    f->job = core_job(f->c, &r);
    job_record_done(&r);
    core_run(f->c, 2500);
}

static void begin(struct fixture *f, const char *type, const char *conf)
{
    begin_job(f, type, conf);
    assert_true(f->c->nsent > 0);
    assert_true(live(f) > 0);
}

/* The job has no run in memory: it is due in half a minute. */
static void begin_far(struct fixture *f)
{
    begin_job(f, "CRON", "30 * * * * ?");
    assert_int_equal(live(f), 0);
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

static int64_t add_row(struct fixture *f, enum kind kind, int64_t scheduled_ms, int64_t version,
                       int32_t shard)
{
    struct commit one = { .totals.n[TOTAL_PLANNED] = 1 };
    struct why why = { "" };
    struct run_row r = { .job_id = f->job,
                         .kind = kind,
                         .phase = PHASE_PLANNED,
                         .scheduled_ms = scheduled_ms,
                         .due_ms = scheduled_ms,
                         .version = version,
                         .shard = shard,
                         .log_ms = -1,
                         .shard_total = 1,
                         .group_id = 1 };
    assert_int_equal(f->c->store->ops->txn->begin(f->c->store, &why), OK);
    assert_int_equal(f->c->store->ops->runs->runs_add(f->c->store, &r, 1, &why), OK);
    assert_int_equal(f->c->store->ops->txn->commit(f->c->store, &one, &why), OK);
    return r.log_id;
}

/* The batch that is written has taken over a run of the job as it was at first. */
static void adopt(struct fixture *f, int64_t id, int64_t scheduled_ms)
{
    struct batch *b = f->c->batch;
    struct job_record r = core_record("CRON", "* * * * * ?");
    r.id = f->job;
    b->adopted = mem_new(sizeof(*b->adopted));
    b->adopted[b->nadopted++] = (struct planned){
        .row = { .log_id = id,
                 .job_id = f->job,
                 .kind = KIND_CRON,
                 .phase = PHASE_PLANNED,
                 .version = 1,
                 .scheduled_ms = scheduled_ms,
                 .due_ms = scheduled_ms,
                 .log_ms = -1,
                 .shard_total = 1,
                 .group_id = 1 },
        .job = job_ref(planner_keep(f->c->planner, &r)),
    };
    planner_forget(f->c->planner, f->job);
    job_record_done(&r);
}

static void edit_begins(struct fixture *f, enum edit_kind kind)
{
    struct edit *e = edit_new(kind);
    e->id = f->job;
    e->version = -1;
    sched_edit(f->c->s, f->c->now, e);
    core_take_next(f->c);
    core_write(f->c);
}

static void nothing_more_leaves(struct fixture *f, int before)
{
    core_run(f->c, 8000);
    assert_int_equal(sent(f), before);
    assert_int_equal(planned(f), 0);
    assert_int_equal(core_unaccounted(f->c), 0);
}

static void an_edit_does_not_know_of_a_run_that_is_taken_over_with_it(void **state)
{
    (void)state;
    static const enum edit_kind kinds[] = { EDIT_JOB_STOP, EDIT_JOB_DELETE };
    for (size_t i = 0; i < countof(kinds); i++) {
        struct fixture f = { 0 };
        begin(&f, "CRON", "* * * * * ?");
        int64_t scheduled_ms = f.c->now.wall_ms / 1000 * 1000 + 1500;
        int64_t id = add_row(&f, KIND_CRON, scheduled_ms, 1, 0);
        edit_begins(&f, kinds[i]);
        adopt(&f, id, scheduled_ms);
        int before = sent(&f);
        core_done(f.c);
        nothing_more_leaves(&f, before);
        core_free(f.c);
    }
}

/* The job was deleted here, and is in memory for a run of it whose connection is being opened. */
static void a_run_of_a_deleted_job_that_is_taken_over_ends(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON", "* * * * * ?");
    f.c->executor = NULL;
    f.c->opening = true;
    while (!core_calls(f.c, CALL_RUN))
        core_run(f.c, 100);
    int64_t scheduled_ms = f.c->now.wall_ms / 1000 * 1000 + 4500;
    int64_t id = add_row(&f, KIND_CRON, scheduled_ms, 1, 0);
    edit_begins(&f, EDIT_JOB_DELETE);
    core_done(f.c);
    sched_want_batch(f.c->s);
    core_take_next(f.c);
    core_write(f.c);
    adopt(&f, id, scheduled_ms);
    core_done(f.c);
    f.c->opening = false;
    int before = sent(&f);
    assert_false(core_leaves(f.c, &f.c->calls[0]));
    nothing_more_leaves(&f, before);
    core_free(f.c);
}

/* A row of an older version, beside which the other server has made one. */
static void begin_beside(struct fixture *f, enum kind kind, int32_t shard, bool ended)
{
    begin(f, "CRON", "* * * * * ?");
    core_stop(f->c);
    int64_t scheduled_ms = f->c->now.wall_ms / 1000 * 1000 + 1000, missed;
    struct job_record r = core_job_row(f->c, f->job);
    struct commit one = { .totals.n[TOTAL_FINISHED] = 1 };
    struct why why = { "" };
    struct run_row *rows[64];
    for (int i = core_rows(f->c, f->job, rows, 64); i-- > 0;)
        f->beside = rows[i]->scheduled_ms == scheduled_ms ? rows[i]->log_id : f->beside;
    core_text(&r.param, "other");
    int64_t version = r.version + 1;
    elsewhere(f, &r);
    struct run_change c = { .log_id = add_row(f, kind, scheduled_ms, version, shard),
                            .what = CHANGE_FINISH | CHANGE_CLOSE,
                            .handle_code = 200 };
    const struct store_ops *ops = f->c->store->ops;
    assert_int_equal(ops->txn->begin(f->c->store, &why), OK);
    if (ended)
        assert_int_equal(ops->runs->runs_change(f->c->store, &c, 1, &missed, &why), OK);
    assert_int_equal(ops->txn->commit(f->c->store, ended ? &one : NULL, &why), OK);
    f->c->now.wall_ms += 3000;
    f->c->now.boot_ms += 3000;
    f->c->shared = true;
    core_start(f->c);
    core_run(f->c, 8000);
    assert_int_equal(core_unaccounted(f->c), 0);
}

/* The runs of that time which were sent; log_id 0: any. */
static int sent_beside(const struct fixture *f, int64_t log_id)
{
    int n = 0;
    int64_t scheduled_ms = CORE_NOW_MS / 1000 * 1000;
    while (scheduled_ms <= CORE_NOW_MS + 2600)
        scheduled_ms += 1000;
    for (int i = 0; i < f->c->nsent; i++)
        n += f->c->sent[i].scheduled_ms == scheduled_ms &&
             (!log_id || f->c->sent[i].log_id == log_id);
    return n;
}

/* It is a run of another kind, and the only one of that time. */
static void a_time_that_was_caught_up_on_elsewhere_is_not_planned_again(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin_beside(&f, KIND_MISFIRE, 0, false);
    assert_int_equal(sent_beside(&f, 0), 1);
    core_free(f.c);
}

/* The job has become a broadcast. Its shards are planned but for the one of this row, which is not
 * planned again: by then another shard may have ended. */
static void a_row_beside_other_shards_of_its_firing_is_left(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin_beside(&f, KIND_CRON, 1, true);
    assert_int_equal(sent_beside(&f, 0), 1);
    assert_int_equal(sent_beside(&f, f.beside), 1);
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

/* Rows of news are read several times, and not in their order. */
static void news_that_are_read_again_open_no_gate(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON", "* * * * * ?");
    struct job_record r = core_job_row(f.c, f.job);
    int64_t old = r.version;
    r.enabled = false;
    r.next_ms = NEVER_MS;
    elsewhere(&f, &r);
    hear_row(&f);
    hear_row(&f);
    hear(&f, old);
    int before = sent(&f);
    f.c->now.wall_ms += 1000;
    f.c->now.boot_ms += 1000;
    sched_tick(f.c->s, f.c->now);
    core_pump(f.c);
    assert_int_equal(sent(&f), before);
    core_take_next(f.c);
    assert_int_equal(f.c->batch->nedits, 1);
    core_write(f.c);
    core_done(f.c);
    core_take_next(f.c); /* and it is looked at once */
    assert_int_equal(f.c->batch->nedits, 0);
    core_write(f.c);
    core_done(f.c);
    core_run(f.c, 3000);
    assert_int_equal(sent(&f), before);
    core_free(f.c);
}

/* The first runs of the job are planned as it was, and not in memory yet. */
static void news_of_a_job_whose_runs_are_being_planned_wait_for_these(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin_far(&f);
    core_take_next(f.c);
    for (core_write(f.c); !f.c->batch->nplanned; core_write(f.c)) {
        core_done(f.c);
        core_take_next(f.c);
    }
    struct job_record r = core_job_row(f.c, f.job);
    r.enabled = false;
    r.next_ms = NEVER_MS;
    elsewhere(&f, &r);
    hear_row(&f);
    core_done(f.c);
    core_settle(f.c);
    assert_int_equal(live(&f), 0);
    core_run(f.c, 60000);
    assert_int_equal(sent(&f), 0);
    assert_int_equal(core_unaccounted(f.c), 0);
    core_free(f.c);
}

/* Whoever plans reads the job anew: the news of the edit may come later than that. */
static void rows_of_a_newer_version_are_news_of_those_before(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON", "* * * * * ?");
    struct job_record r = core_job_row(f.c, f.job);
    int64_t version = r.version + 1;
    core_text(&r.param, "other");
    elsewhere(&f, &r);
    bool is_read = false;
    while (!is_read) {
        core_take_next(f.c);
        core_write(f.c);
        for (int i = 0; i < f.c->batch->nplanned; i++)
            is_read |= f.c->batch->planned[i].row.version == version;
        core_done(f.c);
    }
    core_settle(f.c);
    struct run_row *rows[64];
    for (int i = core_rows(f.c, f.job, rows, 64); i-- > 0;)
        if (rows[i]->scheduled_ms > f.c->now.wall_ms)
            assert_int_equal(rows[i]->version, version);
    assert_true(planned(&f) > 1);
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
        cmocka_unit_test(an_edit_does_not_know_of_a_run_that_is_taken_over_with_it),
        cmocka_unit_test(a_run_of_a_deleted_job_that_is_taken_over_ends),
        cmocka_unit_test(a_time_that_was_caught_up_on_elsewhere_is_not_planned_again),
        cmocka_unit_test(a_row_beside_other_shards_of_its_firing_is_left),
        cmocka_unit_test(old_news_do_nothing),
        cmocka_unit_test(news_that_are_read_again_open_no_gate),
        cmocka_unit_test(news_of_a_job_whose_runs_are_being_planned_wait_for_these),
        cmocka_unit_test(rows_of_a_newer_version_are_news_of_those_before),
    };
    return cmocka_run_group_tests_name("sched.sync", tests, NULL, NULL);
}
