/* SPDX-License-Identifier: Apache-2.0 */
/* What an edit does to a job's runs: each kind of edit, in each state of a run, for each type of
 * schedule. What an edit takes and the new definition wants must be there again when the edit is
 * answered; what it leaves keeps its log id; nothing leaves twice. */
#include "support_core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "cron/rfc3339.h"

#define MOMENT_MS (CORE_NOW_MS + 10000) /* the firing that is looked at */
#define A "http://10.0.0.1:9999/"
#define B "http://10.0.0.2:9999/"

enum change { TOUCH, PARAM, GROUP, DENSER, OTHER, STOP, START, DELETE, CHANGES };
enum fate {
    KEPT, /* the same log id, which belongs to the new version */
    LEFT, /* the same log id, overtaken: if it never arrived, it goes */
    ANEW, /* another log id, and the scheduled time fires */
    GONE
};
enum when { PLANNED, OVERDUE, SENT, UNKNOWN, ACCEPTED, MISFIRE, RETRY, MANUAL };

struct fixture {
    struct core *c;
    int64_t job, group, blocker;
    enum when when;
};

/* ---- the job and its run --------------------------------------------------------------------- */

/* CORE_NOW_MS is a whole minute: "0/10" fires at MOMENT_MS, and so does every second. */
static struct job_record record_of(const char *type)
{
    char once[RFC3339_SIZE];
    const char *conf = strcmp(type, "CRON") == 0 ? "0/10 * * * * ?" : "9900ms";
    if (strcmp(type, "ONCE") == 0)
        conf = rfc3339_format(MOMENT_MS, zone_utc(), once);
    struct job_record r = core_record(type, conf);
    r.retries = 1;
    r.start_deadline_ms = 600000;
    core_text(&r.misfire, "FIRE_ALL");
    return r;
}

/* The only connection to the first address is taken, so what is due waits. */
static void block(struct fixture *f)
{
    assert_true(core_trigger(f->c, f->blocker, NULL) > 0);
    core_run(f->c, 100);
}

static void unblock(struct fixture *f)
{
    for (int i = 0; i < f->c->ncalls; i++)
        if (f->c->calls[i].job_id == f->blocker) {
            core_answer(f->c, &f->c->calls[i], 200, LOG_NONE);
            return;
        }
}

static void begin(struct fixture *f, const char *type)
{
    struct job_record r = record_of(type);
    f->c = core_new();
    f->group = core_group(f->c, "other", B);
    f->blocker = core_simple_job(f->c, "NONE", "");
    core_crash(f->c);
    f->c->config.lane_connections = 1;
    core_start(f->c);
    core_register(f->c, "app", A);
    core_run(f->c, CORE_NOW_MS + 100 - f->c->now.wall_ms);
    f->job = core_job(f->c, &r);
    job_record_done(&r);
}

static struct run_row *only_row(struct fixture *f)
{
    struct run_row *rows[32];
    int n = core_rows(f->c, f->job, rows, 32);
    struct run_row *of = NULL;
    for (int i = 0; i < n; i++)
        if (rows[i]->scheduled_ms <= MOMENT_MS)
            of = rows[i];
    return of;
}

static void send_it(struct fixture *f, int64_t *id)
{
    core_run(f->c, 4000);
    *id = only_row(f)->log_id;
    assert_non_null(core_call_of(f->c, CALL_RUN, *id));
}

/* A run of the job in the state; its log id. */
static int64_t bring_to(struct fixture *f, enum when when)
{
    struct core *c = f->c;
    int64_t id;
    f->when = when;
    if (when == MANUAL || when == MISFIRE)
        block(f);
    if (when == MANUAL)
        return core_trigger(c, f->job, NULL);
    if (when == MISFIRE) {
        core_stop(c);
        c->now.wall_ms += 17000; /* the center was away while the scheduled time came */
        c->now.boot_ms += 17000;
        core_start(c);
        block(f);
        core_run(c, 1000);
        assert_int_equal(only_row(f)->kind, KIND_MISFIRE);
        return only_row(f)->log_id;
    }
    core_run(c, 6000);
    id = only_row(f)->log_id;
    if (when == PLANNED)
        return id;
    if (when == OVERDUE) {
        block(f);
        core_run(c, 4500);
        assert_int_equal(core_times_sent(c, f->job, MOMENT_MS), 0);
        return id;
    }
    send_it(f, &id);
    if (when == UNKNOWN)
        core_fails(c, core_call_of(c, CALL_RUN, id), CALL_IN_DOUBT);
    if (when == ACCEPTED || when == RETRY)
        core_answer(c, core_call_of(c, CALL_RUN, id), 200, LOG_NONE);
    if (when != RETRY)
        return id;
    core_result(c, id, 500);
    assert_int_equal(only_row(f)->kind, KIND_RETRY);
    return only_row(f)->log_id;
}

/* ---- the edit -------------------------------------------------------------------------------- */

static enum err apply(struct fixture *f, enum change change)
{
    if (change >= STOP)
        return core_switch(f->c, f->job,
                           change == STOP    ? EDIT_JOB_STOP
                           : change == START ? EDIT_JOB_START
                                             : EDIT_JOB_DELETE);
    struct job_record r = core_job_row(f->c, f->job);
    if (change == TOUCH)
        core_text(&r.description, "touched");
    if (change == PARAM)
        core_text(&r.param, "other");
    if (change == GROUP)
        r.group_id = f->group;
    if (change == DENSER || change == OTHER) {
        core_text(&r.schedule_type, "CRON");
        core_text(&r.schedule_conf, change == DENSER ? "* * * * * ?" : "3 0 * * * ?");
    }
    return core_update(f->c, f->job, &r);
}

static int64_t version_of(struct fixture *f)
{
    struct job_record r = core_job_row(f->c, f->job);
    int64_t version = r.version;
    job_record_done(&r);
    return version;
}

/* Rows of the kind at that scheduled time that are open, other than the one that was there. */
static int others(struct fixture *f, int64_t id, enum kind kind, int64_t scheduled_ms)
{
    struct run_row *rows[32];
    int found = 0, n = core_rows(f->c, f->job, rows, 32);
    for (int i = 0; i < n; i++)
        found +=
            rows[i]->log_id != id && rows[i]->kind == kind && rows[i]->scheduled_ms == scheduled_ms;
    return found;
}

static void check(struct fixture *f, enum change change, enum fate fate, int64_t id)
{
    const struct run_row *r = core_row(f->c, id);
    enum kind kind = f->when == MANUAL    ? KIND_MANUAL
                     : f->when == RETRY   ? KIND_RETRY
                     : f->when == MISFIRE ? KIND_MISFIRE
                                          : KIND_CRON;
    int64_t scheduled_ms = f->when == MANUAL ? -1 : MOMENT_MS;
    assert_int_equal(r != NULL, fate == KEPT || fate == LEFT);
    if (fate == KEPT && kind != KIND_MANUAL)
        assert_int_equal(r->version, version_of(f));
    if (fate == LEFT && kind != KIND_MANUAL)
        assert_true(r->version < version_of(f));
    assert_int_equal(others(f, id, kind, scheduled_ms), fate == ANEW);
    if (change == DELETE)
        assert_int_equal(core_rows(f->c, f->job, NULL, 0), 0);
}

/* Time goes on, all is taken and nothing lost: how often did the scheduled time leave? */
static void play_on(struct fixture *f, enum fate fate)
{
    struct core *c = f->c;
    unblock(f);
    for (int i = 0; i < c->ncalls;)
        if (c->calls[i].kind == CALL_RUN)
            core_answer(c, &c->calls[i], 200, LOG_NONE), i = 0;
        else
            i++;
    c->executor = core_accepts;
    core_run(c, 9000);
    bool first = f->when <= ACCEPTED, sent = f->when >= SENT && f->when <= ACCEPTED;
    if (first)
        assert_int_equal(core_times_sent(c, f->job, MOMENT_MS), sent || fate != GONE);
    if (f->when == MISFIRE)
        assert_int_equal(core_times_sent(c, f->job, MOMENT_MS), fate != GONE);
    if (f->when == RETRY)
        assert_int_equal(core_times_sent(c, f->job, MOMENT_MS), fate == GONE ? 1 : 2);
}

/* What was said before the edit is what becomes of the rows. */
static void apply_as_told(struct fixture *f, enum change change)
{
    struct sched_withdrawn told;
    struct run_row *rows[64];
    int before = core_rows(f->c, f->job, rows, 64), out = f->when >= SENT && f->when <= ACCEPTED;
    sched_withdrawn(f->c->s, f->job, change == DELETE ? EDIT_JOB_DELETE : EDIT_JOB_STOP, &told);
    assert_int_equal(apply(f, change), OK);
    if (change != STOP && change != DELETE)
        return;
    assert_int_equal(told.open, out);
    assert_int_equal(told.retries, f->when == RETRY);
    assert_int_equal(told.firings + told.retries + (change == DELETE ? told.open : 0),
                     before - core_rows(f->c, f->job, rows, 64));
}

static const char *const change_names[CHANGES] = { "touch", "param", "group", "denser",
                                                   "other", "stop",  "start", "delete" };

struct row {
    const char *name;
    enum when when;
    enum fate fates[CHANGES];
};

static void play(const char *type, const struct row *rows, size_t n, enum change last)
{
    for (size_t i = 0; i < n; i++)
        for (int change = 0; change <= (int)last; change++) {
            struct fixture f = { 0 };
            enum fate fate = rows[i].fates[change];
            print_message("           %s, %s, %s\n", type, rows[i].name, change_names[change]);
            begin(&f, type);
            int64_t id = bring_to(&f, rows[i].when);
            apply_as_told(&f, (enum change)change);
            check(&f, (enum change)change, fate, id);
            play_on(&f, fate);
            core_free(f.c);
        }
}

static void edits_of_a_cron_job(void **state)
{
    (void)state;
    static const struct row rows[] = {
        /*                       touch param group denser other stop  start delete */
        { "planned", PLANNED, { KEPT, ANEW, ANEW, ANEW, GONE, GONE, ANEW, GONE } },
        { "overdue", OVERDUE, { KEPT, ANEW, ANEW, KEPT, GONE, GONE, KEPT, GONE } },
        { "sent", SENT, { KEPT, KEPT, LEFT, KEPT, LEFT, LEFT, KEPT, GONE } },
        { "unknown", UNKNOWN, { KEPT, KEPT, LEFT, KEPT, LEFT, LEFT, KEPT, GONE } },
        { "accepted", ACCEPTED, { KEPT, KEPT, LEFT, KEPT, LEFT, LEFT, KEPT, GONE } },
        { "misfire", MISFIRE, { KEPT, KEPT, KEPT, KEPT, KEPT, GONE, KEPT, GONE } },
        { "retry", RETRY, { KEPT, KEPT, KEPT, KEPT, KEPT, GONE, KEPT, GONE } },
        { "manual", MANUAL, { KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, GONE } },
    };
    play("CRON", rows, countof(rows), DELETE);
}

/* Its last scheduled time is planned, so the job has been stopped: that is no reason to lose the
 * scheduled time. */
static void edits_of_a_job_whose_last_scheduled_time_is_planned(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "planned", PLANNED, { KEPT, ANEW, ANEW, ANEW, GONE, GONE, ANEW, GONE } },
        { "overdue", OVERDUE, { KEPT, ANEW, ANEW, KEPT, GONE, GONE } },
        { "retry", RETRY, { KEPT, KEPT, KEPT, KEPT, KEPT, GONE } },
    };
    play("ONCE", rows, 1, DELETE);
    play("ONCE", &rows[1], 2, STOP); /* a start finds no scheduled time any more */
}

static void edits_of_a_rate_job(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "planned", PLANNED, { KEPT, ANEW, ANEW, ANEW, GONE, GONE, GONE, GONE } },
        { "overdue", OVERDUE, { KEPT, ANEW, ANEW, KEPT, GONE, GONE, GONE, GONE } },
        { "sent", SENT, { KEPT, KEPT, LEFT, KEPT, LEFT, LEFT, LEFT, GONE } },
        { "retry", RETRY, { KEPT, KEPT, KEPT, KEPT, KEPT, GONE, KEPT, GONE } },
    };
    play("FIX_RATE", rows, countof(rows), DELETE);
    play("FIX_DELAY", rows, countof(rows), DELETE);
}

/* ---- what the table cannot show -------------------------------------------------------------- */

/* ROUND over two executors, of which one takes nothing: later scheduled times leave before earlier
 * ones, and have ended when the job is changed. The center was restarted cleanly in between. */
static void nothing_leaves_twice_after_firings_out_of_order(void **state)
{
    (void)state;
    for (int change = TOUCH; change <= START; change++) {
        if (change == STOP)
            continue;
        struct fixture f = { 0 };
        begin(&f, "CRON");
        struct core *c = f.c;
        core_register(c, "app", B);
        block(&f);
        struct job_record r = core_record("CRON", "* * * * * ?");
        core_text(&r.route, "ROUND");
        core_text(&r.misfire, "FIRE_ALL");
        r.start_deadline_ms = 600000;
        f.job = core_job(c, &r);
        job_record_done(&r);
        for (int second = 0; second < 5; second++) {
            core_run(c, 1000);
            for (int i = 0; i < c->ncalls;)
                if (c->calls[i].kind == CALL_RUN && strcmp(c->calls[i].address, B) == 0) {
                    int64_t id = c->calls[i].log_id;
                    core_answer(c, &c->calls[i], 200, LOG_NONE);
                    core_result(c, id, 200);
                    i = 0;
                } else {
                    i++;
                }
        }
        int before = c->nsent;
        assert_true(before >= 3); /* the blocker, and at least two on the other address */
        sched_drain(c->s);
        unblock(&f); /* nothing takes its place any more */
        core_stop(c);
        core_start(c);
        core_register(c, "app", A);
        core_register(c, "app", B);
        assert_int_equal(apply(&f, (enum change)change), OK);
        c->executor = core_accepts;
        core_run(c, 8000);
        assert_true(c->nsent > before);
        for (int i = 0; i < c->nsent; i++)
            if (c->sent[i].job_id == f.job)
                assert_int_equal(core_times_sent(c, f.job, c->sent[i].scheduled_ms), 1);
        core_free(c);
    }
}

/* The rows are there in the transaction that takes the old ones: a crash before the center has
 * heard of it loses nothing. */
static void a_crash_after_the_commit_of_an_edit_loses_nothing(void **state)
{
    (void)state;
    for (int change = TOUCH; change <= DENSER; change++) {
        struct fixture f = { 0 };
        begin(&f, "ONCE");
        bring_to(&f, PLANNED);
        struct edit *e = edit_new(EDIT_JOB_UPDATE);
        e->id = f.job;
        job_record_done(&e->job);
        e->job = core_job_row(f.c, f.job);
        if (change == PARAM)
            core_text(&e->job.param, "other");
        if (change == DENSER)
            core_text(&e->job.schedule_type, "CRON"),
                core_text(&e->job.schedule_conf, "0/5 * * * * ?");
        sched_edit(f.c->s, f.c->now, e);
        core_take_next(f.c);
        core_write(f.c);
        core_crash(f.c);
        core_start(f.c);
        core_register(f.c, "app", A);
        f.c->executor = core_accepts;
        core_run(f.c, 6000);
        assert_int_equal(core_times_sent(f.c, f.job, MOMENT_MS), 1);
        core_free(f.c);
    }
}

/* What waits for another edit of one of its jobs waits as a whole, behind it. */
static void a_bundle_stays_together(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON");
    struct core *c = f.c;
    struct edit *stop = edit_new(EDIT_JOB_STOP), *start = edit_new(EDIT_JOB_START);
    struct edit *group = edit_new(EDIT_GROUP_INSERT);
    stop->id = start->id = f.job;
    core_text(&group->group.app, "other");
    core_text(&group->group.title, "other");
    group->bundle = 2;
    sched_edit(c->s, c->now, stop);
    sched_edit(c->s, c->now, group);
    sched_edit(c->s, c->now, start);
    core_take_next(c);
    assert_int_equal(c->batch->nedits, 1);
    assert_ptr_equal(c->batch->edits[0], stop);
    core_write(c);
    core_done(c);
    core_take_next(c);
    assert_int_equal(c->batch->nedits, 2);
    assert_ptr_equal(c->batch->edits[0], group);
    assert_ptr_equal(c->batch->edits[1], start);
    core_write(c);
    core_done(c);
    core_free(c);
}

static struct fixture broadcast(const char *address)
{
    struct fixture f = { 0 };
    begin(&f, "CRON");
    core_unregister(f.c, "app", A);
    if (address) {
        core_register(f.c, "app", A);
        core_register(f.c, "app", address);
    }
    struct job_record r = core_job_row(f.c, f.job);
    core_text(&r.route, "SHARDING_BROADCAST");
    assert_int_equal(core_update(f.c, f.job, &r), OK);
    return f;
}

/* One shard has left: the firing is not planned again, or that shard would run twice. */
static void a_broadcast_of_which_a_shard_has_left_stays(void **state)
{
    (void)state;
    for (int change = TOUCH; change <= DENSER; change++) {
        struct fixture f = broadcast(B);
        struct run_row *rows[8];
        struct core *c = f.c;
        block(&f); /* takes the first address */
        core_run(c, MOMENT_MS + 50 - c->now.wall_ms);
        assert_int_equal(core_rows(c, f.job, rows, 8), 2);
        int64_t waits = rows[0]->log_id;
        core_answer(c, core_call_of(c, CALL_RUN, rows[1]->log_id), 200, LOG_NONE);
        core_result(c, rows[1]->log_id, 200);
        assert_int_equal(apply(&f, (enum change)change), OK);
        assert_int_equal(core_row(c, waits) != NULL, change != GROUP);
        assert_int_equal(others(&f, waits, KIND_CRON, MOMENT_MS), 0);
        core_free(c);
    }
}

/* Nobody is there yet: one row without an address. */
static void a_broadcast_to_nobody_is_planned_again(void **state)
{
    (void)state;
    static const enum fate fates[] = { KEPT, ANEW, ANEW, ANEW, GONE, GONE };
    for (int change = TOUCH; change <= STOP; change++) {
        struct fixture f = broadcast(NULL);
        int64_t id = bring_to(&f, PLANNED);
        assert_null(core_row(f.c, id)->address);
        assert_int_equal(apply(&f, (enum change)change), OK);
        check(&f, (enum change)change, fates[change], id);
        core_free(f.c);
    }
}

/* The end of what is out sets the next scheduled time, whatever the interval has become. */
static void fix_delay_waits_for_what_is_out(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "FIX_DELAY");
    int64_t id = bring_to(&f, ACCEPTED);
    struct job_record r = core_job_row(f.c, f.job);
    core_text(&r.schedule_conf, "2");
    assert_int_equal(core_update(f.c, f.job, &r), OK);
    core_run(f.c, 9000);
    struct run_row *rows[8];
    assert_int_equal(core_rows(f.c, f.job, rows, 8), 1);
    core_result(f.c, id, 200);
    int64_t end_ms = f.c->now.wall_ms;
    core_run(f.c, 500);
    assert_int_equal(core_rows(f.c, f.job, rows, 8), 1);
    assert_in_range(rows[0]->scheduled_ms, end_ms + 1900, end_ms + 2100);
    core_free(f.c);
}

/* A retry that an executor has was the schedule's before the stop, which cannot take it along. It
 * stays so when its job is edited while it is off, however often the center starts. */
static void fix_delay_waits_for_a_retry_of_before_the_stop(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "FIX_DELAY");
    struct core *c = f.c;
    int64_t id = bring_to(&f, RETRY);
    core_run(c, 8000);
    core_answer(c, core_call_of(c, CALL_RUN, id), 200, LOG_NONE);
    core_run(c, 2000);
    assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
    static const enum change changes[] = { STOP, TOUCH };
    for (size_t i = 0; i < countof(changes); i++) {
        assert_int_equal(apply(&f, changes[i]), OK);
        core_stop(c);
        core_start(c);
    }
    assert_int_equal(apply(&f, START), OK);
    core_run(c, 9000);
    struct run_row *rows[8];
    assert_int_equal(core_rows(c, f.job, rows, 8), 1);
    assert_int_equal(rows[0]->log_id, id);
    core_free(c);
}

/* ---- what leaves after the answer leaves by the job as it is then -----------------------------
 */

enum found { KNOWS_NOTHING, RUNS, UNREADABLE, BUSY };

static bool finds(struct core *c, const struct core_call *call, struct call_result *r)
{
    enum found found = *(const enum found *)c->ctx;
    if (call->kind == CALL_RUN || call->kind == CALL_BEAT)
        return core_accepts(c, call, r);
    r->outcome = CALL_ANSWERED;
    r->code = call->kind == CALL_IDLE && (found == RUNS || found == BUSY) ? 500 : 200;
    r->log = found == RUNS ? LOG_STARTED : found == UNREADABLE ? LOG_CANNOT_TELL : LOG_NONE;
    return true;
}

static enum err retask(struct fixture *f)
{
    struct job_record r = core_job_row(f->c, f->job);
    core_text(&r.param, "other");
    core_text(&r.handler, "new handler");
    core_text(&r.on_doubt, "resend");
    return core_update(f->c, f->job, &r);
}

/* It left once, and is known not to have come; it waits in its lane. */
static int64_t in_doubt_and_back(struct fixture *f)
{
    static enum found found = KNOWS_NOTHING;
    struct core *c = f->c;
    int64_t id = bring_to(f, UNKNOWN);
    block(f);
    c->ctx = &found;
    for (int i = 0; i < 40 && core_row(c, id)->phase != PHASE_PLANNED; i++) {
        core_run(c, 500);
        for (int k = 0; k < c->ncalls; k++) {
            struct call_result r = { .outcome = CALL_NOT_SENT };
            if (c->calls[k].kind != CALL_RUN && finds(c, &c->calls[k], &r))
                core_reply(c, &c->calls[k--], &r);
        }
    }
    assert_int_equal(core_row(c, id)->phase, PHASE_PLANNED);
    assert_true(core_row(c, id)->doubted);
    return id;
}

/* Its call waits for a connection. */
static int64_t before_the_gate(struct fixture *f)
{
    int64_t id;
    f->c->opening = true;
    core_run(f->c, 6000);
    send_it(f, &id);
    assert_false(core_call_of(f->c, CALL_RUN, id)->left);
    return id;
}

#define IN_DOUBT_AND_BACK (MANUAL + 1)
#define BEFORE_THE_GATE (MANUAL + 2)

static const struct leaving_row {
    const char *name;
    int when;
    enum found found; /* by who is asked about it */
    bool crash;       /* behind the edit */
    int sent;         /* how often it leaves after the edit */
    const char *param;
} leavings[] = {
    { "unknown, never came", UNKNOWN, KNOWS_NOTHING, false, 1, "other" },
    { "unknown, never came", UNKNOWN, KNOWS_NOTHING, true, 1, "other" },
    { "unknown, had come", UNKNOWN, RUNS, false, 0, "p" },
    { "unknown, had come", UNKNOWN, RUNS, true, 0, "p" },
    { "unknown, sent again", UNKNOWN, UNREADABLE, false, 1, "other" },
    { "unknown, sent again", UNKNOWN, UNREADABLE, true, 1, "other" },
    { "unknown, may be in a queue", UNKNOWN, BUSY, false, 0, "p" },
    { "in doubt and back", IN_DOUBT_AND_BACK, KNOWS_NOTHING, false, 1, "other" },
    { "before the gate", BEFORE_THE_GATE, KNOWS_NOTHING, false, 1, "other" },
    { "accepted", ACCEPTED, RUNS, false, 0, "p" },
    { "misfire", MISFIRE, RUNS, false, 1, "other" },
    { "retry", RETRY, RUNS, false, 1, "p" },
    { "manual", MANUAL, RUNS, false, 1, "p" },
};

static int64_t bring_to_leaving(struct fixture *f, int when)
{
    return when == IN_DOUBT_AND_BACK ? in_doubt_and_back(f)
           : when == BEFORE_THE_GATE ? before_the_gate(f)
                                     : bring_to(f, (enum when)when);
}

/* The connection of what waits for one stands now. */
static void opened(struct core *c, int64_t id)
{
    c->opening = false;
    struct core_call *call = core_call_of(c, CALL_RUN, id);
    if (call && !call->left)
        assert_false(core_leaves(c, call));
}

/* What leaves has what the log row says, and that is what the job says since the answer. */
static void what_leaves_after_the_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(leavings); i++) {
        const struct leaving_row *row = &leavings[i];
        enum found found = row->found;
        struct fixture f = { 0 };
        struct log_record l = { 0 };
        print_message("           %s%s\n", row->name, row->crash ? ", crash" : "");
        begin(&f, "CRON");
        struct core *c = f.c;
        int64_t id = bring_to_leaving(&f, row->when);
        assert_int_equal(retask(&f), OK);
        int before = c->nsent, n = 0;
        opened(c, id);
        if (row->crash) {
            core_crash(c);
            core_start(c);
        }
        unblock(&f);
        c->ctx = &found;
        c->executor = finds;
        core_run(c, 30000);
        assert_true(core_log(c, id, &l));
        for (int k = before; k < c->nsent; k++) {
            if (c->sent[k].log_id != id)
                continue;
            n++;
            assert_string_equal(c->sent[k].param, row->param);
            assert_string_equal(l.handler, "new handler");
        }
        assert_int_equal(n, row->sent);
        assert_string_equal(l.param, row->param);
        log_record_done(&l);
        core_free(c);
    }
}

static const struct core_call *sent_of(struct core *c, int64_t id)
{
    for (int i = c->nsent - 1; i >= 0; i--)
        if (c->sent[i].log_id == id)
            return &c->sent[i];
    return NULL;
}

static bool renews(const struct batch *b)
{
    for (int i = 0; i < b->nchanges; i++)
        if (b->changes[i].what & CHANGE_TASK)
            return true;
    return false;
}

/* Time goes on, and the database takes no batch that says what the run is called with. */
static bool run_without_renewal(struct core *c, int64_t ms)
{
    for (int64_t end = c->now.boot_ms + ms; c->now.boot_ms < end;) {
        bool stuck = c->batch && renews(c->batch);
        if (!stuck && (c->batch || core_take(c)) && !renews(c->batch)) {
            core_write(c);
            core_done(c);
            continue;
        }
        c->now.wall_ms += 10;
        c->now.boot_ms += 10;
        sched_tick(c->s, c->now);
        core_pump(c);
    }
    return c->batch && renews(c->batch);
}

/* The copy that may run beside the first leaves when the log row says what it is called with. */
static void a_second_copy_waits_for_its_log_row(void **state)
{
    (void)state;
    enum found found = UNREADABLE;
    struct fixture f = { 0 };
    begin(&f, "CRON");
    struct core *c = f.c;
    int64_t id = bring_to(&f, UNKNOWN);
    assert_int_equal(retask(&f), OK);
    int before = c->nsent;
    c->ctx = &found;
    c->executor = finds;
    assert_true(run_without_renewal(c, 60000));
    assert_int_equal(core_row(c, id)->phase, PHASE_UNKNOWN);
    for (int i = before; i < c->nsent; i++)
        assert_true(c->sent[i].log_id != id);
    core_write(c);
    core_done(c);
    core_run(c, 60000);
    assert_string_equal(sent_of(c, id)->param, "other");
    core_free(c);
}

/* What a user asked for has the parameter with which it was planned. */
static void a_run_that_stays_keeps_its_parameter(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON");
    int64_t id = bring_to(&f, MANUAL);
    assert_int_equal(apply(&f, PARAM), OK);
    unblock(&f);
    core_run(f.c, 100);
    assert_string_equal(core_call_of(f.c, CALL_RUN, id)->param, "p");
    core_free(f.c);
}

/* The clock goes back by a minute: a rate goes on from now, but the calendar that the job had
 * before, and gets again, has sent the scheduled times of that minute. */
static void a_calendar_after_a_rate_repeats_nothing(void **state)
{
    (void)state;
    for (int stopped = 0; stopped < 2; stopped++) {
        struct fixture f = { 0 };
        begin(&f, "CRON");
        struct core *c = f.c;
        c->executor = core_accepts;
        core_run(c, 65000);
        assert_int_equal(core_times_sent(c, f.job, CORE_NOW_MS + 60000), 1);
        for (int i = 0; i < c->nsent; i++)
            core_result(c, c->sent[i].log_id, 200);
        core_step_clock(c, -60000);
        core_run(c, 1000);
        struct job_record r = core_job_row(c, f.job);
        core_text(&r.schedule_type, "FIX_RATE");
        core_text(&r.schedule_conf, "3");
        assert_int_equal(core_update(c, f.job, &r), OK);
        core_run(c, 7000);
        if (stopped)
            assert_int_equal(core_switch(c, f.job, EDIT_JOB_STOP), OK);
        r = core_job_row(c, f.job);
        core_text(&r.schedule_type, "CRON");
        core_text(&r.schedule_conf, "0/10 * * * * ?");
        assert_int_equal(core_update(c, f.job, &r), OK);
        if (stopped)
            assert_int_equal(core_switch(c, f.job, EDIT_JOB_START), OK);
        core_register(c, "app", A);
        core_run(c, 65000);
        for (int i = 2; i <= 7; i++) /* the rate has the first one too */
            assert_int_equal(core_times_sent(c, f.job, CORE_NOW_MS + i * 10000), 1);
        core_free(c);
    }
}

/* The job as it is, by another schedule from now on. */
static void reschedule(struct fixture *f, const char *type, const char *conf)
{
    struct job_record r = core_job_row(f->c, f->job);
    core_text(&r.schedule_type, type);
    core_text(&r.schedule_conf, conf);
    assert_int_equal(core_update(f->c, f->job, &r), OK);
}

/* A job has run every ten seconds of a minute when the clock goes back by that minute. What it is
 * then, and the one scheduled time that it gets: behind the start of that minute. */
static const struct once_row {
    const char *type, *conf; /* NULL: as it was */
    int once_ms;
    bool stopped; /* and started again behind the edit */
} onces[] = {
    { NULL, NULL, 33000, false },       /* beyond the horizon */
    { NULL, NULL, 33250, false },       /* */
    { NULL, NULL, 12000, false },       /* within it */
    { NULL, NULL, 40000, false },       /* the job has had it */
    { NULL, NULL, 33000, true },        /* */
    { NULL, NULL, 40000, true },        /* */
    { "FIX_RATE", "3", 33000, false },  /* its bound went back with the clock */
    { "FIX_RATE", "3", 40000, false },  /* */
    { "FIX_RATE", "3", 33000, true },   /* */
    { "FIX_DELAY", "3", 33000, false }, /* */
};

static void one_scheduled_time_of_a_minute_that_comes_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(onces); i++) {
        const struct once_row *row = &onces[i];
        struct fixture f = { 0 };
        char once[RFC3339_SIZE];
        begin(&f, "CRON");
        struct core *c = f.c;
        c->executor = core_accepts;
        core_run(c, 65000);
        for (int k = 0; k < c->nsent; k++)
            core_result(c, c->sent[k].log_id, 200);
        core_step_clock(c, -60000);
        core_run(c, 1000);
        if (row->type)
            reschedule(&f, row->type, row->conf);
        core_run(c, 1000);
        int64_t scheduled_ms = CORE_NOW_MS + row->once_ms;
        int before = core_times_sent(c, f.job, scheduled_ms);
        if (row->stopped)
            assert_int_equal(core_switch(c, f.job, EDIT_JOB_STOP), OK);
        reschedule(&f, "ONCE", rfc3339_format(scheduled_ms, zone_utc(), once));
        if (row->stopped)
            assert_int_equal(core_switch(c, f.job, EDIT_JOB_START), OK);
        core_register(c, "app", A);
        core_run(c, scheduled_ms - 1 - c->now.wall_ms);
        assert_int_equal(core_times_sent(c, f.job, scheduled_ms), before);
        core_run(c, 30000);
        print_message("           row %d\n", (int)i);
        assert_int_equal(core_times_sent(c, f.job, scheduled_ms), 1);
        struct job_record r = core_job_row(c, f.job);
        assert_false(r.enabled);
        assert_string_equal(r.stop_reason, "its one scheduled time has been planned");
        job_record_done(&r);
        core_free(c);
    }
}

/* ---- what an update leaves goes where the job says now ----------------------------------------
 */

/* It waits in the old address's lane, or for its time; a retry's lies beyond the watermark, so that
 * a restart leaves no doubt whether it was sent. */
static void a_run_that_stays_goes_to_the_new_group(void **state)
{
    (void)state;
    static const enum when whens[] = { MISFIRE, RETRY, MANUAL };
    for (size_t i = 0; i < countof(whens); i++)
        for (int crash = 0; crash <= (whens[i] == RETRY); crash++) {
            struct fixture f = { 0 };
            begin(&f, "CRON");
            struct core *c = f.c;
            int64_t id = bring_to(&f, whens[i]);
            assert_string_equal(core_row(c, id)->address, A);
            assert_int_equal(apply(&f, GROUP), OK);
            if (crash) {
                core_crash(c);
                core_start(c);
            }
            c->executor = core_accepts;
            core_run(c, 8000);
            assert_string_equal(sent_of(c, id)->address, B);
            assert_string_equal(core_row(c, id)->address, B);
            core_free(c);
        }
}

/* Both groups have the address, but the new route takes another. */
static void a_run_that_stays_goes_by_the_new_route(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON");
    core_register(f.c, "app", B);
    int64_t id = bring_to(&f, MANUAL);
    struct job_record r = core_job_row(f.c, f.job);
    core_text(&r.route, "LAST");
    assert_int_equal(core_update(f.c, f.job, &r), OK);
    core_run(f.c, 100);
    assert_string_equal(core_call_of(f.c, CALL_RUN, id)->address, B);
    core_free(f.c);
}

/* Queued where no address was asked for a yes; and with a yes of the old group. */
static void a_run_that_stays_is_asked_for_anew(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON");
    struct core *c = f.c;
    int64_t id = bring_to(&f, MANUAL);
    struct job_record r = core_job_row(c, f.job);
    core_text(&r.route, "BUSYOVER");
    assert_int_equal(core_update(c, f.job, &r), OK);
    unblock(&f);
    core_run(c, 100);
    assert_null(sent_of(c, id));
    assert_int_equal(core_calls(c, CALL_IDLE), 1);
    assert_string_equal(core_call_of(c, CALL_IDLE, 0)->address, A);
    assert_int_equal(apply(&f, GROUP), OK);
    core_answer(c, core_call_of(c, CALL_IDLE, 0), 200, LOG_NONE); /* too late */
    core_run(c, 100);
    assert_null(sent_of(c, id));
    struct core_call *asked = core_call_of(c, CALL_IDLE, 0);
    assert_string_equal(asked->address, B);
    core_answer(c, asked, 200, LOG_NONE);
    core_run(c, 100);
    assert_string_equal(core_call_of(c, CALL_RUN, id)->address, B);
    core_free(c);
}

/* The yes was there, and its address is being written when the route changes. */
static void a_yes_for_the_old_route_is_none(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON");
    struct core *c = f.c;
    core_register(c, "app", B);
    struct job_record r = core_job_row(c, f.job);
    core_text(&r.route, "FAILOVER");
    assert_int_equal(core_update(c, f.job, &r), OK);
    int64_t id = bring_to(&f, MANUAL);
    core_answer(c, core_call_of(c, CALL_BEAT, 0), 500, LOG_NONE);
    assert_string_equal(core_call_of(c, CALL_BEAT, 0)->address, B);
    struct edit *e = edit_new(EDIT_JOB_UPDATE);
    e->id = f.job;
    e->job = core_job_row(c, f.job);
    core_text(&e->job.route, "BUSYOVER");
    sched_edit(c->s, c->now, e);
    core_take_next(c);
    core_answer(c, core_call_of(c, CALL_BEAT, 0), 200, LOG_NONE);
    core_write(c);
    core_done(c);
    core_run(c, 100);
    assert_null(sent_of(c, id));
    assert_int_equal(core_calls(c, CALL_IDLE), 1);
    core_free(c);
}

/* Asked for by a user, due in three seconds. */
static int64_t trigger_later(struct fixture *f, const char *choices)
{
    struct core *c = f->c;
    struct spawn spawn = { .job_id = f->job,
                           .kind = KIND_MANUAL,
                           .scheduled_ms = c->now.wall_ms,
                           .due_ms = c->now.wall_ms + 3000,
                           .retries_left = -1,
                           .choices = mem_dup(choices),
                           .reply = f };
    sched_trigger(c->s, c->now, &spawn);
    core_run(c, 100);
    return c->told[c->ntold - 1].id;
}

/* Nothing of the firing has left: it is planned for the new group. */
static void a_broadcast_by_hand_goes_to_the_new_group(void **state)
{
    (void)state;
    struct fixture f = broadcast(NULL);
    struct core *c = f.c;
    core_register(c, "app", A);
    core_register(c, "app", "http://10.0.0.3:9999/");
    int64_t id = trigger_later(&f, NULL);
    assert_int_equal(core_row(c, id)->shard_total, 2);
    assert_int_equal(apply(&f, GROUP), OK);
    c->executor = core_accepts;
    core_run(c, 5000);
    assert_int_equal(c->nsent, 1);
    assert_string_equal(c->sent[0].address, B);
    assert_int_equal(c->sent[0].shard_total, 1);
    core_free(c);
}

/* What the user said counts more than what the group has. */
static void an_address_by_hand_stays(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    begin(&f, "CRON");
    int64_t id = trigger_later(&f, "http://10.0.0.7:9999/");
    assert_int_equal(apply(&f, GROUP), OK);
    f.c->executor = core_accepts;
    core_run(f.c, 4000);
    assert_string_equal(sent_of(f.c, id)->address, "http://10.0.0.7:9999/");
    core_free(f.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_of_a_cron_job),
        cmocka_unit_test(edits_of_a_job_whose_last_scheduled_time_is_planned),
        cmocka_unit_test(edits_of_a_rate_job),
        cmocka_unit_test(nothing_leaves_twice_after_firings_out_of_order),
        cmocka_unit_test(a_crash_after_the_commit_of_an_edit_loses_nothing),
        cmocka_unit_test(a_bundle_stays_together),
        cmocka_unit_test(a_broadcast_of_which_a_shard_has_left_stays),
        cmocka_unit_test(a_broadcast_to_nobody_is_planned_again),
        cmocka_unit_test(fix_delay_waits_for_what_is_out),
        cmocka_unit_test(fix_delay_waits_for_a_retry_of_before_the_stop),
        cmocka_unit_test(what_leaves_after_the_answer),
        cmocka_unit_test(a_second_copy_waits_for_its_log_row),
        cmocka_unit_test(a_run_that_stays_keeps_its_parameter),
        cmocka_unit_test(a_calendar_after_a_rate_repeats_nothing),
        cmocka_unit_test(one_scheduled_time_of_a_minute_that_comes_again),
        cmocka_unit_test(a_run_that_stays_goes_to_the_new_group),
        cmocka_unit_test(a_run_that_stays_goes_by_the_new_route),
        cmocka_unit_test(a_run_that_stays_is_asked_for_anew),
        cmocka_unit_test(a_yes_for_the_old_route_is_none),
        cmocka_unit_test(a_broadcast_by_hand_goes_to_the_new_group),
        cmocka_unit_test(an_address_by_hand_stays),
    };
    return cmocka_run_group_tests_name("sched.edit", tests, NULL, NULL);
}
