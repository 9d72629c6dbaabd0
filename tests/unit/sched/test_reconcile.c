/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in doubt: every cell of the reconciliation table, whatever the job's strategy and onDoubt,
 * with the center away or not, with and without a younger run that has started. */
#include "support_core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

#define AT "http://10.0.0.1:9999/"
#define GRACE_MS 90000
#define SEEN_MS 400000 /* so long a case is looked at */

/* ---- an executor as a table says ------------------------------------------------------------- */

struct play {
    bool idle, mute; /* mute: asks get no answer */
    int64_t older;   /* the run in doubt */
    enum log_state log, log_others;
    bool deaf; /* a /run gets no answer */
};

static bool plays(struct core *c, const struct core_call *call, struct call_result *r)
{
    const struct play *p = c->ctx;
    r->outcome = CALL_ANSWERED;
    r->code = 200;
    switch (call->kind) {
    case CALL_RUN:
        return !p->deaf;
    case CALL_IDLE:
        r->code = p->idle ? 200 : 500;
        break;
    case CALL_LOG:
        r->log = call->log_id == p->older ? p->log : p->log_others;
        break;
    case CALL_KILL: /* refused, but not with silence */
        r->code = 500;
        return true;
    default:
        break;
    }
    if (p->mute && call->kind != CALL_BEAT)
        r->outcome = CALL_IN_DOUBT;
    return true;
}

static int64_t job_of(struct core *c, enum block block, bool resend)
{
    struct job_record j = core_record("NONE", "");
    core_text(&j.block, block_text(block));
    core_text(&j.on_doubt, resend ? "resend" : "wait");
    int64_t id = core_job(c, &j);
    job_record_done(&j);
    return id;
}

static int64_t total(struct core *c, enum total t)
{
    struct totals totals;
    struct why why = { "" };
    int64_t open;
    assert_int_equal(c->store->ops->txn->totals_get(c->store, &totals, &open, &why), OK);
    return totals.n[t];
}

static int times_sent(const struct core *c, int64_t log_id)
{
    int n = 0;
    for (int i = 0; i < c->nsent; i++)
        n += c->sent[i].log_id == log_id;
    return n;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum seen { STAYS, ACCEPTED, LOST, AGAIN, RESENT };
static const char *const seen_names[] = { "stays as it is", "is accepted", "is lost",
                                          "is sent again as one that never arrived",
                                          "is sent again, counted" };

struct one { /* a case */
    bool accepted, idle, resend, away, younger;
    enum log_state log;
    enum block block;
};

struct want {
    enum seen seen;
    bool grace; /* not within 90 s */
};

static bool cannot(const struct one *o)
{
    return o->log == LOG_CANNOT_TELL;
}

/* What a younger run that has started adds. Not read off the code: docs/architecture.md. */
static bool by_younger(const struct one *o, struct want *ret)
{
    bool covered = o->block == BLOCK_COVER;
    if (!o->younger || o->log == LOG_ENDED)
        return false;
    if (o->log == LOG_NONE && !o->accepted)
        *ret = (struct want){ AGAIN, false };
    else
        *ret = (struct want){ LOST, o->away || covered || cannot(o) };
    return true;
}

static struct want expected(const struct one *o)
{
    struct want by;
    bool proof = by_younger(o, &by);
    if (o->log == LOG_ENDED)
        return (struct want){ LOST, true };
    if (o->idle) {
        struct want w = { LOST, o->away };
        if (o->log == LOG_NONE && !o->accepted)
            w = (struct want){ AGAIN, false };
        if (cannot(o)) {
            bool again = o->resend && !o->accepted;
            w = (struct want){ again ? RESENT : LOST, !again };
        }
        /* the younger one is proof enough at once, without it the same follows later at most */
        return proof && !by.grace && w.seen == by.seen ? by : w;
    }
    if (proof && !(o->log == LOG_STARTED && !o->accepted && by.grace))
        return by;
    if (o->log == LOG_STARTED)
        return (struct want){ o->accepted ? STAYS : ACCEPTED, false };
    if (o->log == LOG_NONE && !o->accepted && o->block == BLOCK_SERIAL)
        return (struct want){ RESENT, false };
    return (struct want){ STAYS, false };
}

/* ---- playing a case -------------------------------------------------------------------------- */

static const char *told(const struct one *o)
{
    static char text[200];
    static const char *const logs[] = { "cannot be read", "none", "started", "ended" };
    snprintf(text, sizeof(text), "%s, %s, log %s, %s, onDoubt %s%s%s",
             o->accepted ? "accepted" : "in doubt", o->idle ? "idle" : "busy", logs[o->log],
             block_text(o->block), o->resend ? "resend" : "wait", o->away ? ", away" : "",
             o->younger ? ", a younger one has started" : "");
    return text;
}

/* A run that was accepted or is in doubt, and whose executor says nothing yet. */
static int64_t make_older(struct core *c, int64_t job, bool accepted)
{
    struct play *p = c->ctx;
    p->mute = true;
    p->deaf = !accepted;
    p->log_others = LOG_STARTED;
    c->executor = plays;
    p->older = core_trigger(c, job, NULL);
    assert_true(p->older > 0);
    core_run(c, 10);
    if (!accepted)
        core_fails(c, core_call_of(c, CALL_RUN, p->older), CALL_IN_DOUBT);
    p->deaf = false;
    return p->older;
}

static enum seen look(struct core *c, const struct one *o, int64_t id)
{
    struct log_record l;
    if (times_sent(c, id) > 1) {
        core_run(c, 1500); /* what is lazy is written */
        return total(c, TOTAL_RESENT) ? RESENT : AGAIN;
    }
    assert_true(core_log(c, id, &l));
    int code = l.handle_code;
    log_record_done(&l);
    if (code)
        return LOST;
    const struct run_row *row = core_row(c, id);
    assert_non_null(row);
    return row->phase == PHASE_ACCEPTED && !o->accepted ? ACCEPTED : STAYS;
}

static void play(const struct one *o)
{
    struct core *c = core_new();
    struct play p = { .idle = true };
    c->ctx = &p;
    core_register(c, "app", AT);
    int64_t job = job_of(c, o->block, o->resend);
    int64_t id = make_older(c, job, o->accepted);
    core_run(c, 2000); /* what is lazy is written */
    if (o->away) {
        core_crash(c);
        core_start(c);
    }
    core_run(c, 3500);
    if (o->younger) {
        int64_t younger = core_trigger(c, job, NULL);
        core_run(c, 10);
        assert_int_equal(times_sent(c, younger), 1);
        core_result(c, younger, 200);
    }
    assert_int_equal(look(c, o, id), STAYS);
    p.mute = false;
    p.idle = o->idle;
    p.log = o->log;
    struct want want = expected(o);
    enum seen seen = STAYS;
    int64_t ms = 0;
    for (; ms < SEEN_MS && seen == STAYS; ms += 1000) {
        if (ms % 30000 == 0) /* executors beat */
            core_register(c, "app", AT);
        core_run(c, 1000);
        seen = look(c, o, id);
    }
    if (seen != want.seen)
        fail_msg("%s: the run %s, not: %s", told(o), seen_names[seen], seen_names[want.seen]);
    if (seen != STAYS && (ms > GRACE_MS) != want.grace)
        fail_msg("%s: the run %s after %lld ms", told(o), seen_names[seen], (long long)ms);
    core_free(c);
}

static void each_cell(enum block block)
{
    for (unsigned i = 0; i < 128; i++) {
        struct one o = { .block = block,
                         .accepted = i & 1,
                         .idle = i & 2,
                         .resend = i & 4,
                         .away = i & 8,
                         .younger = i & 16,
                         .log = (enum log_state)(i >> 5) };
        play(&o);
    }
}

static void each_cell_of_serial_execution(void **state)
{
    (void)state;
    each_cell(BLOCK_SERIAL);
}

static void each_cell_of_discard_later(void **state)
{
    (void)state;
    each_cell(BLOCK_DISCARD);
}

static void each_cell_of_cover_early(void **state)
{
    (void)state;
    each_cell(BLOCK_COVER);
}

/* ---- single rules ---------------------------------------------------------------------------- */

static struct core_call *await(struct core *c, enum call_kind kind, int64_t id)
{
    for (int i = 0; i < 100000 && !core_call_of(c, kind, id); i++)
        core_run(c, 1);
    return core_call_of(c, kind, id);
}

/* /log of the older one is read; it begins, and after it the younger one, which is known at once.
 * Only then the center looks at what it read: another send may be a second run, and is counted. */
static void a_younger_start_says_nothing_about_a_log_read_before(void **state)
{
    struct core *c = *state;
    struct play p = { .log_others = LOG_STARTED, .log = LOG_NONE };
    c->ctx = &p;
    core_register(c, "app", AT);
    int64_t job = job_of(c, BLOCK_SERIAL, false);
    int64_t id = make_older(c, job, false);
    core_run(c, 3100);
    int64_t younger = core_trigger(c, job, NULL);
    c->executor = NULL;
    for (int round = 0; round < 2; round++) {
        core_answer(c, await(c, CALL_IDLE, id), 500, LOG_NONE);
        struct core_call *log = await(c, CALL_LOG, id);
        if (round == 1) {
            core_result(c, younger, 200);
            log = await(c, CALL_LOG, id);
        }
        core_answer(c, log, 200, LOG_NONE);
    }
    core_run(c, 1500);
    assert_int_equal(times_sent(c, id), 1 + total(c, TOTAL_RESENT));
}

/* A younger run that left while the older one could still be on its way proves nothing. */
static void a_younger_one_that_left_too_early_proves_nothing(void **state)
{
    struct core *c = *state;
    struct play p = { .log_others = LOG_STARTED, .log = LOG_NONE };
    c->ctx = &p;
    core_register(c, "app", AT);
    int64_t job = job_of(c, BLOCK_DISCARD, false);
    int64_t id = make_older(c, job, false);
    core_run(c, 2000);
    int64_t younger = core_trigger(c, job, NULL);
    core_run(c, 10);
    core_result(c, younger, 200);
    p.mute = false;
    core_run(c, 60000);
    assert_int_equal(times_sent(c, id), 1);
    assert_int_equal(core_row(c, id)->phase, PHASE_UNKNOWN);
}

/* One that failed may never have begun: executors refuse that way, too. */
static void a_younger_failure_proves_nothing(void **state)
{
    struct core *c = *state;
    struct play p = { .idle = false };
    c->ctx = &p;
    core_register(c, "app", AT);
    int64_t job = job_of(c, BLOCK_SERIAL, false);
    int64_t id = make_older(c, job, true);
    p.mute = false;
    for (int i = 0; i < 20; i++) {
        int64_t younger = core_trigger(c, job, NULL);
        core_run(c, 10);
        core_result(c, younger, 500);
        core_register(c, "app", AT);
        core_run(c, 20000);
    }
    assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
}

/* Each second a younger run, so that the latest start is always just known. */
static void a_job_that_is_always_busy_finds_its_dead_runs(void **state)
{
    struct core *c = *state;
    struct play p = { .log = LOG_STARTED, .log_others = LOG_STARTED };
    c->ctx = &p;
    core_register(c, "app", AT);
    for (enum block block = BLOCK_SERIAL; block < BLOCK_COUNT; block++) {
        int64_t job = job_of(c, block, false);
        int64_t id = make_older(c, job, true);
        core_run(c, 1500); /* what is lazy is written */
        assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
        p.mute = false;
        for (int i = 0; i < 300 && core_row(c, id)->phase == PHASE_ACCEPTED; i++) {
            int64_t younger = core_trigger(c, job, NULL);
            core_register(c, "app", AT);
            core_run(c, 990);
            core_result(c, younger, 200);
        }
        assert_int_equal(core_row(c, id)->phase, PHASE_LOST);
    }
}

/* The second copy is in doubt as the first was: from now on it is only asked about. */
static void a_run_is_sent_again_at_most_once(void **state)
{
    (void)state;
    for (int by_log = 0; by_log <= 1; by_log++) { /* by the cell, or by onDoubt=resend */
        struct core *c = core_new();
        struct play p = { .idle = by_log, .log = by_log ? LOG_CANNOT_TELL : LOG_NONE };
        c->ctx = &p;
        core_register(c, "app", AT);
        int64_t id = make_older(c, job_of(c, BLOCK_SERIAL, by_log), false);
        p.mute = false;
        p.deaf = true;
        struct core_call *again = await(c, CALL_RUN, id);
        assert_non_null(again);
        core_fails(c, again, CALL_IN_DOUBT);
        for (int i = 0; i < 20; i++) {
            core_register(c, "app", AT);
            core_run(c, 10000);
        }
        assert_int_equal(times_sent(c, id), 2);
        assert_int_equal(total(c, TOTAL_RESENT), 1);
        assert_int_equal(core_row(c, id)->phase, by_log ? PHASE_LOST : PHASE_UNKNOWN);
        core_free(c);
    }
}

/* Neither asks nor beats for twenty minutes: as long as the registry has the address, the run may
 * be there. */
static void a_run_of_a_registered_address_is_not_given_up(void **state)
{
    (void)state;
    struct core *c = core_new();
    core_stop(c);
    c->config.dead_after_ms = 3600000;
    core_start(c);
    struct play p = { .idle = false };
    c->ctx = &p;
    core_register(c, "app", AT);
    int64_t id = make_older(c, job_of(c, BLOCK_SERIAL, false), true);
    core_run(c, 1200000);
    assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
    core_unregister(c, "app", AT);
    core_run(c, 120000);
    assert_int_equal(core_row(c, id)->phase, PHASE_LOST);
    core_free(c);
}

/* Ten minutes of silence count from the last answer. */
static void an_answer_ends_the_silence(void **state)
{
    struct core *c = *state;
    struct play p = { .idle = false, .log = LOG_STARTED };
    c->ctx = &p;
    core_register(c, "app", AT);
    int64_t id = make_older(c, job_of(c, BLOCK_SERIAL, false), true);
    core_unregister(c, "app", AT);
    core_run(c, 400000);
    p.mute = false;
    core_run(c, 120000);
    p.mute = true;
    core_run(c, 400000);
    assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
    core_run(c, 400000);
    assert_int_equal(core_row(c, id)->phase, PHASE_LOST);
}

static void an_answer_to_a_kill_ends_the_silence(void **state)
{
    struct core *c = *state;
    struct play p = { .idle = false };
    c->ctx = &p;
    core_register(c, "app", AT);
    int64_t id = make_older(c, job_of(c, BLOCK_SERIAL, false), true);
    core_unregister(c, "app", AT);
    core_run(c, 400000);
    sched_kill(c->s, c->now, id, c);
    core_run(c, 400000);
    assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
    core_run(c, 400000);
    assert_int_equal(core_row(c, id)->phase, PHASE_LOST);
}

/* ---- rounds share what they can ---------------------------------------------------------------
 */

#define MANY 300

/* MANY runs of a job whose answers got lost. */
static void make_many(struct core *c, int64_t job, int64_t *ids)
{
    struct play *p = c->ctx;
    p->mute = p->deaf = true;
    c->executor = plays;
    for (int i = 0; i < MANY; i++) {
        ids[i] = core_trigger(c, job, NULL);
        core_run(c, 1);
        core_fails(c, core_call_of(c, CALL_RUN, ids[i]), CALL_IN_DOUBT);
    }
    p->deaf = false;
    core_run(c, 2000);
    core_crash(c);
    core_start(c);
    core_register(c, "app", AT);
}

static struct core_call *any_call(struct core *c, enum call_kind kind)
{
    for (int i = 0; i < c->ncalls; i++)
        if (c->calls[i].kind == kind)
            return &c->calls[i];
    return NULL;
}

/* A center that was away asks once per job and address, not once a run; /log is asked for each. */
static void runs_of_a_job_share_the_idle_beat(void **state)
{
    struct core *c = *state;
    struct play p = { .idle = true };
    static int64_t ids[MANY];
    c->ctx = &p;
    core_register(c, "app", AT);
    make_many(c, job_of(c, BLOCK_SERIAL, false), ids);
    c->executor = NULL;
    core_run(c, 10);
    int idles = core_calls(c, CALL_IDLE), logs = 0, most = idles;
    assert_in_range(idles, 1, 3);
    assert_int_equal(core_calls(c, CALL_LOG), 0);
    for (struct core_call *call; (call = any_call(c, CALL_IDLE));)
        core_answer(c, call, 200, LOG_NONE);
    for (struct core_call *call; (call = any_call(c, CALL_LOG)); logs++) {
        int now = core_calls(c, CALL_IDLE) + core_calls(c, CALL_LOG);
        most = now > most ? now : most;
        core_answer(c, call, 200, LOG_NONE);
    }
    assert_int_equal(logs, MANY);
    assert_in_range(most, 10, 39); /* the client keeps 40 places for what is no /run */
    p.mute = false;
    p.log_others = LOG_NONE;
    c->executor = plays;
    core_run(c, 20000);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(core_row(c, ids[i])->phase, PHASE_ACCEPTED);
    assert_int_equal(total(c, TOTAL_RESENT), 0);
}

/* An idleBeat that left before the doubt began says nothing about the run. */
static void an_idle_beat_serves_only_older_doubts(void **state)
{
    struct core *c = *state;
    struct play p = { .idle = true, .log = LOG_NONE };
    c->ctx = &p;
    core_register(c, "app", AT);
    int64_t job = job_of(c, BLOCK_SERIAL, false);
    p.deaf = true;
    c->executor = plays;
    int64_t older = core_trigger(c, job, NULL), younger = core_trigger(c, job, NULL);
    core_run(c, 10);
    c->executor = NULL;
    core_fails(c, core_call_of(c, CALL_RUN, older), CALL_IN_DOUBT);
    core_run(c, 10);
    assert_non_null(core_call_of(c, CALL_IDLE, older));
    core_fails(c, core_call_of(c, CALL_RUN, younger), CALL_IN_DOUBT);
    core_run(c, 10);
    core_answer(c, core_call_of(c, CALL_IDLE, older), 200, LOG_NONE);
    assert_non_null(core_call_of(c, CALL_LOG, older));
    assert_null(core_call_of(c, CALL_LOG, younger));
    assert_non_null(core_call_of(c, CALL_IDLE, younger));
}

/* The run ends while the answer is on its way: its place is free, the answer changes nothing. */
static void a_run_that_ends_during_its_round_leaves_it(void **state)
{
    struct core *c = *state;
    struct play p = { .idle = true };
    static int64_t ids[MANY];
    c->ctx = &p;
    core_register(c, "app", AT);
    make_many(c, job_of(c, BLOCK_DISCARD, false), ids);
    c->executor = NULL;
    core_run(c, 10);
    int64_t asked = any_call(c, CALL_IDLE)->log_id;
    core_result(c, asked, 200);
    core_run(c, 1500);
    core_answer(c, core_call_of(c, CALL_IDLE, asked), 200, LOG_NONE);
    assert_null(core_call_of(c, CALL_LOG, asked));
    int64_t reading = any_call(c, CALL_LOG)->log_id;
    core_result(c, reading, 200);
    core_run(c, 1500);
    core_answer(c, core_call_of(c, CALL_LOG, reading), 200, LOG_NONE);
    assert_null(core_row(c, reading));
    p.mute = false;
    p.log_others = LOG_ENDED;
    c->executor = plays;
    for (int i = 0; i < c->ncalls;) /* what is under way is answered, too */
        if (c->calls[i].kind == CALL_IDLE || c->calls[i].kind == CALL_LOG) {
            core_answer(c, &c->calls[i], 200, LOG_ENDED);
            i = 0;
        } else {
            i++;
        }
    for (int i = 0; i < 10; i++) {
        core_register(c, "app", AT);
        core_run(c, 30000);
    }
    for (int i = 0; i < MANY; i++)
        assert_true(!core_row(c, ids[i]) || core_row(c, ids[i])->phase == PHASE_LOST);
}

/* After a power cut: what is due or has been answered is looked at between two parts. */
static void a_tick_takes_up_a_part_of_the_waits(void **state)
{
    struct core *c = *state;
    struct play p = { .idle = true };
    c->ctx = &p;
    c->executor = plays;
    core_register(c, "app", AT);
    int64_t job = job_of(c, BLOCK_SERIAL, false);
    for (int i = 0; i < 1500; i++)
        core_trigger(c, job, NULL);
    core_run(c, 2000);
    core_crash(c);
    core_start(c);
    c->executor = NULL;
    while (core_commit(c))
        c->now.boot_ms += 4;
    sched_tick(c->s, c->now);
    assert_true(sched_next_boot(c->s) <= c->now.boot_ms);
    sched_tick(c->s, c->now);
    assert_true(sched_next_boot(c->s) > c->now.boot_ms);
    core_pump(c);
}

/* It is asked for its beat each second, which is question enough. */
static void a_dead_address_is_not_asked_until_it_lives(void **state)
{
    struct core *c = *state;
    struct play p = { .idle = true };
    c->ctx = &p;
    core_register(c, "app", AT);
    int64_t id = make_older(c, job_of(c, BLOCK_SERIAL, false), false);
    c->executor = NULL;
    core_fails(c, await(c, CALL_IDLE, id), CALL_NOT_SENT);
    core_run(c, 60000);
    assert_int_equal(core_calls(c, CALL_IDLE), 0);
    assert_int_equal(core_calls(c, CALL_BEAT), 1);
    core_answer(c, any_call(c, CALL_BEAT), 200, LOG_NONE);
    core_run(c, 10);
    assert_non_null(core_call_of(c, CALL_IDLE, id));
}

/* The clock is set back behind the scheduled time: another send would be early. */
static void a_run_is_not_sent_again_before_its_scheduled_time(void **state)
{
    struct core *c = *state;
    struct play p = { .idle = true, .log = LOG_CANNOT_TELL };
    c->ctx = &p;
    core_register(c, "app", AT);
    int64_t id = make_older(c, job_of(c, BLOCK_SERIAL, true), false);
    int64_t scheduled_ms = core_row(c, id)->scheduled_ms;
    core_step_clock(c, -60000);
    p.mute = false;
    for (int i = 0; c->now.wall_ms < scheduled_ms - 1000; i++) {
        if (i % 30 == 0)
            core_register(c, "app", AT);
        core_run(c, 1000);
        assert_int_equal(times_sent(c, id), 1);
    }
    for (int i = 0; i < 60 && times_sent(c, id) == 1; i++) {
        core_register(c, "app", AT);
        core_run(c, 1000);
    }
    assert_int_equal(times_sent(c, id), 2);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, core_setup, core_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cell_of_serial_execution),
        cmocka_unit_test(each_cell_of_discard_later),
        cmocka_unit_test(each_cell_of_cover_early),
        T(a_younger_start_says_nothing_about_a_log_read_before),
        T(a_younger_one_that_left_too_early_proves_nothing),
        T(a_younger_failure_proves_nothing),
        T(a_job_that_is_always_busy_finds_its_dead_runs),
        cmocka_unit_test(a_run_is_sent_again_at_most_once),
        cmocka_unit_test(a_run_of_a_registered_address_is_not_given_up),
        T(an_answer_ends_the_silence),
        T(an_answer_to_a_kill_ends_the_silence),
        T(runs_of_a_job_share_the_idle_beat),
        T(an_idle_beat_serves_only_older_doubts),
        T(a_run_that_ends_during_its_round_leaves_it),
        T(a_tick_takes_up_a_part_of_the_waits),
        T(a_dead_address_is_not_asked_until_it_lives),
        T(a_run_is_not_sent_again_before_its_scheduled_time),
    };
    return cmocka_run_group_tests_name("sched.ask", tests, NULL, NULL);
}
