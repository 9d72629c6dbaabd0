/* SPDX-License-Identifier: Apache-2.0 */
/* From due to answered: where a run goes by its route, its kind and the state of its address, and
 * what the end of its call makes of it. */
#include "support_core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

#define A "http://10.0.0.1:9999/"
#define B "http://10.0.0.2:9999/"
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static int64_t job_of(struct core *c, const char *route, const char *type, const char *conf)
{
    struct job_record r = core_record(type, conf);
    core_text(&r.route, route);
    int64_t id = core_job(c, &r);
    job_record_done(&r);
    return id;
}

/* The /run that waits for its answer, of any run. */
static struct core_call *any_run(struct core *c)
{
    for (int i = 0; i < c->ncalls; i++)
        if (c->calls[i].kind == CALL_RUN)
            return &c->calls[i];
    return NULL;
}

static bool says_yes(struct core *c, const struct core_call *call, struct call_result *r)
{
    (void)c;
    r->outcome = CALL_ANSWERED;
    r->code = 200;
    return call->kind == CALL_BEAT || call->kind == CALL_IDLE;
}

static int dead(struct core *c)
{
    struct sched_stats st;
    sched_stats(c->s, &st);
    return st.dead;
}

static bool mentions(struct core *c, int64_t log_id, const char *text)
{
    struct log_record l;
    assert_true(core_log(c, log_id, &l));
    bool found = l.trigger_msg && strstr(l.trigger_msg, text);
    if (!found)
        print_message("log %lld: code %d %s\n", (long long)log_id, l.trigger_code, l.trigger_msg);
    log_record_done(&l);
    return found;
}

/* ---- the end of a call: route x origin x outcome ------------------------------------------ */

enum becomes { ACCEPTED, DOUBTED, REFUSED, ELSEWHERE, WAITS };

struct outcome_row {
    enum call_outcome outcome;
    int code;
    enum becomes becomes; /* with another address that it may take */
    enum becomes bound;   /* of a run that is bound to its address */
    int dead;
    const char *says;
};

static const struct outcome_row outcomes[] = {
    { CALL_ANSWERED, 200, ACCEPTED, ACCEPTED, 0, NULL },
    { CALL_ANSWERED, 500, REFUSED, REFUSED, 0, "the executor's words" },
    { CALL_NOT_SENT, 0, ELSEWHERE, REFUSED, 1, "cannot connect to " },
    { CALL_IN_DOUBT, 0, DOUBTED, DOUBTED, 0, NULL },
    { CALL_FOREIGN, 0, REFUSED, REFUSED, 0, "the executor's words" },
    { CALL_FULL, 0, WAITS, WAITS, 0, NULL },
    { CALL_UNFIT, 0, REFUSED, REFUSED, 0, "the executor's words" },
};

struct asker_row {
    const char *route;
    enum kind kind;
    const char *choices;
    bool bound;
};

static const struct asker_row askers[] = {
    { "FIRST", KIND_CRON, NULL, false },
    { "LAST", KIND_CRON, NULL, false },
    { "ROUND", KIND_CRON, NULL, false },
    { "CONSISTENT_HASH", KIND_CRON, NULL, false },
    { "LEAST_RECENTLY_USED", KIND_CRON, NULL, false },
    { "FAILOVER", KIND_CRON, NULL, false },
    { "BUSYOVER", KIND_CRON, NULL, false },
    { "SHARDING_BROADCAST", KIND_CRON, NULL, true },
    { "FIRST", KIND_MANUAL, NULL, false },
    { "FAILOVER", KIND_MANUAL, NULL, false },
    { "FIRST", KIND_MANUAL, A, true },
    { "SHARDING_BROADCAST", KIND_MANUAL, NULL, true },
};

static void expect(struct core *c, const struct outcome_row *o, enum becomes becomes, int64_t id,
                   const char *address)
{
    struct core_call *call;
    switch (becomes) {
    case ACCEPTED:
        core_run(c, 1500);
        assert_int_equal(core_row(c, id)->phase, PHASE_ACCEPTED);
        break;
    case DOUBTED:
        core_run(c, 1500);
        assert_int_equal(core_row(c, id)->phase, PHASE_UNKNOWN);
        assert_null(core_call_of(c, CALL_RUN, id));
        break;
    case REFUSED:
        core_settle(c);
        assert_null(core_row(c, id));
        assert_true(mentions(c, id, o->says));
        break;
    case ELSEWHERE:
        core_settle(c);
        call = core_call_of(c, CALL_RUN, id);
        assert_non_null(call);
        assert_string_not_equal(call->address, address);
        assert_string_equal(core_row(c, id)->address, call->address); /* on disk first */
        break;
    case WAITS:
        assert_null(core_call_of(c, CALL_RUN, id));
        core_run(c, 100);
        call = core_call_of(c, CALL_RUN, id);
        assert_non_null(call);
        assert_string_equal(call->address, address);
        break;
    }
}

static void one_end(const struct asker_row *a, const struct outcome_row *o)
{
    struct core *c = core_new();
    core_register(c, "app", A);
    core_register(c, "app", B);
    c->executor = says_yes;
    int64_t job = job_of(c, a->route, "CRON", "0 * * * * ?");
    if (a->kind == KIND_MANUAL)
        assert_int_not_equal(core_trigger(c, job, a->choices), 0);
    else
        core_run(c, 60000);
    core_settle(c);
    struct core_call *call = any_run(c);
    assert_non_null(call);
    int64_t id = call->log_id;
    char address[64];
    snprintf(address, sizeof(address), "%s", call->address);
    struct call_result r = { .outcome = o->outcome,
                             .code = o->code,
                             .msg = slice_text("the executor's words") };
    core_reply(c, call, &r);
    core_pump(c);
    assert_int_equal(dead(c), o->dead);
    expect(c, o, a->bound ? o->bound : o->becomes, id, address);
    core_free(c);
}

static void the_end_of_a_call_decides(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(askers); i++) {
        for (int k = 0; k < COUNT(outcomes); k++) {
            print_message("%s %s%s, outcome %d %d\n", askers[i].route, kind_text(askers[i].kind),
                          askers[i].choices ? " by hand" : "", outcomes[k].outcome,
                          outcomes[k].code);
            one_end(&askers[i], &outcomes[k]);
        }
    }
}

/* It has said yes and is gone: that it is alive, or idle, says nothing of the next one. */
static void after_a_refused_connection_the_others_are_asked(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    core_register(c, "app", B);
    int64_t id = core_trigger(c, job_of(c, "BUSYOVER", "NONE", ""), NULL);
    core_settle(c);
    core_answer(c, core_call_of(c, CALL_IDLE, 0), 200, LOG_NONE);
    core_settle(c);
    assert_string_equal(core_call_of(c, CALL_RUN, id)->address, A);
    core_fails(c, core_call_of(c, CALL_RUN, id), CALL_NOT_SENT);
    core_settle(c);
    assert_null(core_call_of(c, CALL_RUN, id));
    struct core_call *question = core_call_of(c, CALL_IDLE, 0);
    assert_non_null(question);
    assert_string_equal(question->address, B);
    core_answer(c, question, 200, LOG_NONE);
    core_settle(c);
    assert_string_equal(core_call_of(c, CALL_RUN, id)->address, B);
    core_fails(c, core_call_of(c, CALL_RUN, id), CALL_NOT_SENT);
    core_settle(c);
    assert_true(mentions(c, id, "cannot connect to " B));
}

/* ---- the address when it is due: route x origin x its lane -------------------------------- */

enum lane_state { DEAD, FULL, GONE };

struct lane_row {
    const char *route;
    enum kind kind;
    const char *choices;
    enum lane_state lane; /* of A, where it was planned */
    const char *to;       /* NULL: it waits */
};

static const struct lane_row lanes[] = {
    { "FIRST", KIND_CRON, NULL, DEAD, B },   { "FIRST", KIND_CRON, NULL, FULL, NULL },
    { "LAST", KIND_CRON, NULL, FULL, NULL }, { "CONSISTENT_HASH", KIND_CRON, NULL, FULL, NULL },
    { "FIRST", KIND_CRON, NULL, GONE, B },   { "ROUND", KIND_CRON, NULL, DEAD, B },
    { "ROUND", KIND_CRON, NULL, FULL, B },   { "ROUND", KIND_CRON, NULL, GONE, B },
    { "RANDOM", KIND_CRON, NULL, FULL, B },  { "FIRST", KIND_MANUAL, NULL, FULL, NULL },
    { "ROUND", KIND_MANUAL, NULL, FULL, B }, { "ROUND", KIND_MANUAL, A, FULL, NULL },
    { "ROUND", KIND_MANUAL, A, DEAD, A },    { "ROUND", KIND_MANUAL, A, GONE, A },
};

/* A has all calls that it may have, and no run waits for it: one more is one too many. */
static void fill(struct core *c, int64_t *ret_job)
{
    *ret_job = job_of(c, "FIRST", "NONE", "");
    for (int i = 0; i < 2; i++)
        core_trigger(c, *ret_job, A);
    core_settle(c);
}

static void one_lane(const struct lane_row *l)
{
    struct core *c = core_new();
    core_stop(c);
    c->config.lane_connections = 1;
    c->config.lane_queue = 1;
    core_start(c);
    core_register(c, "app", A);
    core_settle(c);
    int64_t job = job_of(c, l->route, l->kind == KIND_CRON ? "CRON" : "NONE", "0 * * * * ?");
    int64_t filler = 0;
    if (l->kind == KIND_CRON)
        core_run(c, 57000); /* planned, for the only address */
    core_register(c, "app", B);
    core_settle(c);
    if (l->lane == FULL)
        fill(c, &filler);
    if (l->lane == GONE)
        core_unregister(c, "app", A);
    if (l->lane == DEAD) {
        filler = job_of(c, "FIRST", "NONE", "");
        core_trigger(c, filler, A);
        core_settle(c);
        core_fails(c, any_run(c), CALL_NOT_SENT);
        assert_int_equal(dead(c), 1);
    }
    int before = c->nsent;
    if (l->kind == KIND_CRON)
        core_run(c, 3000);
    else
        for (int i = 0; i < 8 && c->nsent == before; i++) { /* ROUND may begin with B */
            core_trigger(c, job, l->choices);
            core_settle(c);
            if (l->to == NULL || c->nsent == before)
                break;
            if (strcmp(c->sent[c->nsent - 1].address, l->to) != 0)
                before = c->nsent;
        }
    if (l->to) {
        assert_int_equal(c->nsent, before + 1);
        assert_string_equal(c->sent[before].address, l->to);
    } else {
        for (int i = before; i < c->nsent; i++)
            assert_string_not_equal(c->sent[i].address, B);
    }
    core_free(c);
}

static void the_lane_decides_when_it_is_due(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(lanes); i++) {
        print_message("%s %s%s, lane %d\n", lanes[i].route, kind_text(lanes[i].kind),
                      lanes[i].choices ? " by hand" : "", lanes[i].lane);
        one_lane(&lanes[i]);
    }
}

/* ---- probes ---------------------------------------------------------------------------------- */

#define BURST 400

static void burst(struct core *c, const char *route, int n)
{
    for (int i = 0; i < n; i++)
        job_of(c, route, "ONCE", "2027-01-15T08:01:00Z"); /* a minute from the start */
    core_run(c, CORE_NOW_MS + 60000 - c->now.wall_ms);
}

/* Answers what is under way, some of each kind at a time, until nothing is asked any more. */
static void answer_all(struct core *c, int *ret_beats, int *ret_idles)
{
    *ret_beats = *ret_idles = 0;
    while (c->ncalls) {
        int beats = core_calls(c, CALL_BEAT), idles = core_calls(c, CALL_IDLE);
        assert_true(beats <= 1 && idles <= 8);
        *ret_beats += c->calls[0].kind == CALL_BEAT;
        *ret_idles += c->calls[0].kind == CALL_IDLE;
        core_answer(c, &c->calls[0], 200, LOG_NONE);
    }
}

static void one_beat_answers_for_a_burst(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    burst(c, "FAILOVER", BURST);
    assert_int_equal(c->nsent, 0);
    int beats, idles;
    answer_all(c, &beats, &idles);
    assert_int_equal(beats, 1);
    assert_int_equal(c->nsent, BURST);
    assert_int_equal(dead(c), 0);
}

static void idle_beats_take_few_places(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    burst(c, "BUSYOVER", BURST);
    int beats, idles;
    answer_all(c, &beats, &idles);
    assert_int_equal(idles, BURST); /* one a job */
    assert_int_equal(c->nsent, BURST);
}

static void one_idle_beat_answers_for_a_job(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    int64_t job = job_of(c, "BUSYOVER", "NONE", "");
    for (int i = 0; i < 50; i++)
        core_trigger(c, job, NULL);
    core_settle(c);
    assert_int_equal(core_calls(c, CALL_IDLE), 1);
    core_answer(c, &c->calls[0], 200, LOG_NONE);
    int beats, idles;
    answer_all(c, &beats, &idles);
    assert_int_equal(idles, 0);
    assert_int_equal(c->nsent, 50);
}

/* The burst's probe finds the client without room: no run is refused, and nothing is dead. */
static void a_full_client_is_no_answer(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    burst(c, "FAILOVER", 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(core_calls(c, CALL_BEAT), 1);
        core_fails(c, core_call_of(c, CALL_BEAT, 0), CALL_FULL);
        assert_int_equal(c->ncalls, 0);
        core_run(c, 100);
    }
    int beats, idles;
    answer_all(c, &beats, &idles);
    assert_int_equal(c->nsent, 3);
    burst(c, "BUSYOVER", 0);
    int64_t job = job_of(c, "BUSYOVER", "NONE", "");
    core_trigger(c, job, NULL);
    core_fails(c, core_call_of(c, CALL_IDLE, 0), CALL_FULL);
    core_run(c, 100);
    answer_all(c, &beats, &idles);
    assert_int_equal(idles, 1);
    assert_int_equal(c->nsent, 4);
    assert_int_equal(dead(c), 0);
}

/* Of many runs the client takes one at a time: all leave, each once accepted. */
static void runs_wait_while_the_client_is_full(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    burst(c, "FIRST", 30);
    for (int taken = 0; taken < 30;) {
        struct core_call *call = any_run(c);
        if (!call) {
            core_run(c, 20);
            continue;
        }
        while (core_calls(c, CALL_RUN) > 1)
            core_fails(c, any_run(c), CALL_FULL);
        core_answer(c, any_run(c), 200, LOG_NONE);
        taken++;
    }
    core_run(c, 1500);
    assert_int_equal(dead(c), 0);
    struct run_row *rows[30];
    assert_int_equal(core_rows(c, 0, rows, 30), 30);
    for (int i = 0; i < 30; i++)
        assert_int_equal(rows[i]->phase, PHASE_ACCEPTED);
}

static void first_yes_wins_in_the_order_of_the_list(void **state)
{
    struct core *c = *state;
    core_register(c, "app", B);
    core_register(c, "app", A);
    burst(c, "FAILOVER", 2);
    assert_int_equal(c->ncalls, 1);
    assert_string_equal(c->calls[0].address, A);
    core_answer(c, &c->calls[0], 500, LOG_NONE); /* alive, but it does not want */
    assert_int_equal(c->ncalls, 1);
    assert_string_equal(c->calls[0].address, B);
    core_answer(c, &c->calls[0], 200, LOG_NONE);
    core_settle(c);
    assert_int_equal(c->nsent, 2);
    assert_string_equal(c->sent[0].address, B);
    assert_string_equal(c->sent[1].address, B);
}

/* One that answers and says no is busy: the run goes on to the next, and nowhere if all are. */
static void a_busy_executor_is_passed_over(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    core_register(c, "app", B);
    int64_t job = job_of(c, "BUSYOVER", "NONE", "");
    core_trigger(c, job, NULL);
    assert_string_equal(core_call_of(c, CALL_IDLE, 0)->address, A);
    core_answer(c, core_call_of(c, CALL_IDLE, 0), 500, LOG_NONE);
    assert_string_equal(core_call_of(c, CALL_IDLE, 0)->address, B);
    core_answer(c, core_call_of(c, CALL_IDLE, 0), 200, LOG_NONE);
    core_settle(c);
    assert_int_equal(c->nsent, 1);
    assert_string_equal(c->sent[0].address, B);
    int64_t id = core_trigger(c, job, NULL);
    for (int i = 0; i < 2; i++)
        core_answer(c, core_call_of(c, CALL_IDLE, 0), 500, LOG_NONE);
    core_settle(c);
    assert_true(mentions(c, id, "BUSYOVER: no executor of the group is idle"));
    assert_int_equal(c->nsent, 1);
}

#define NAMED "http://10.0.0.7:9999/"
#define NAMED_TOO "http://10.0.0.8:9999/"

static void ask_is_of(struct core *c, enum call_kind kind, const char *address)
{
    assert_int_equal(core_calls(c, CALL_BEAT) + core_calls(c, CALL_IDLE), 1);
    assert_string_equal(core_call_of(c, kind, 0)->address, address);
}

/* In the order in which they were given. The group's other addresses are none of its business. */
static void addresses_that_a_user_named_are_asked_in_that_order(void **state)
{
    struct core *c = *state;
    static const struct {
        const char *route;
        enum call_kind kind;
        enum call_outcome no; /* of the first */
        const char *says;
    } rows[] = {
        { "FAILOVER", CALL_BEAT, CALL_NOT_SENT, "FAILOVER: none of the addresses given" },
        { "BUSYOVER", CALL_IDLE, CALL_ANSWERED, "BUSYOVER: none of the addresses given" },
    };
    core_register(c, "app", A);
    for (int i = 0; i < COUNT(rows); i++) {
        struct call_result no = { .outcome = rows[i].no, .code = 500 };
        int64_t job = job_of(c, rows[i].route, "NONE", "");
        for (int found = 1; found >= 0; found--) {
            int64_t id = core_trigger(c, job, NAMED ", " NAMED_TOO);
            core_settle(c);
            ask_is_of(c, rows[i].kind, NAMED);
            core_reply(c, core_call_of(c, rows[i].kind, 0), &no);
            core_settle(c);
            ask_is_of(c, rows[i].kind, NAMED_TOO);
            no.code = found ? 200 : 500;
            no.outcome = CALL_ANSWERED;
            core_reply(c, core_call_of(c, rows[i].kind, 0), &no);
            core_settle(c);
            struct core_call *run = core_call_of(c, CALL_RUN, id);
            assert_int_equal(run != NULL, found);
            if (run) {
                assert_string_equal(run->address, NAMED_TOO);
                assert_string_equal(core_row(c, id)->address, NAMED_TOO);
            } else {
                assert_true(mentions(c, id, rows[i].says));
            }
            no = (struct call_result){ .outcome = rows[i].no, .code = 500 };
        }
    }
}

/* What is known to be dead is asked last, and only if no other says yes. */
static void the_dead_come_last(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    core_register(c, "app", B);
    int64_t job = job_of(c, "FAILOVER", "NONE", "");
    core_trigger(c, job, NULL);
    core_fails(c, core_call_of(c, CALL_BEAT, 0), CALL_NOT_SENT);
    assert_int_equal(dead(c), 1);
    core_answer(c, core_call_of(c, CALL_BEAT, 0), 200, LOG_NONE);
    core_settle(c);
    assert_int_equal(c->nsent, 1);
    assert_string_equal(c->sent[0].address, B);
    core_trigger(c, job, NULL);
    assert_int_equal(core_calls(c, CALL_BEAT), 1);
    assert_string_equal(core_call_of(c, CALL_BEAT, 0)->address, B);
    core_answer(c, core_call_of(c, CALL_BEAT, 0), 500, LOG_NONE);
    assert_int_equal(core_calls(c, CALL_BEAT), 1);
    assert_string_equal(core_call_of(c, CALL_BEAT, 0)->address, A);
    core_answer(c, core_call_of(c, CALL_BEAT, 0), 200, LOG_NONE); /* it is back */
    core_settle(c);
    assert_int_equal(c->nsent, 2);
    assert_string_equal(c->sent[1].address, A);
    assert_int_equal(dead(c), 0);
}

static void no_address_answers(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    core_register(c, "app", B);
    int64_t job = job_of(c, "FAILOVER", "NONE", "");
    int64_t id = core_trigger(c, job, NULL);
    for (int i = 0; i < 2; i++)
        core_fails(c, core_call_of(c, CALL_BEAT, 0), CALL_NOT_SENT);
    core_settle(c);
    assert_true(mentions(c, id, "FAILOVER: no executor of the group answers"));
    id = core_trigger(c, job, NULL); /* the dead are asked once more */
    while (core_row(c, id)) {
        core_fails(c, core_call_of(c, CALL_BEAT, 0), CALL_NOT_SENT);
        core_settle(c);
    }
    assert_true(mentions(c, id, "FAILOVER: no executor of the group answers"));
}

/* A mute executor: what waits for a place there goes on with the one whose time ran out. */
static void a_mute_address_is_asked_once(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    core_register(c, "app", B);
    burst(c, "BUSYOVER", 100);
    assert_int_equal(core_calls(c, CALL_IDLE), 8);
    for (int i = 0; i < 8; i++) {
        assert_string_equal(c->calls[0].address, A);
        core_fails(c, &c->calls[0], CALL_IN_DOUBT);
    }
    for (int i = 0; i < c->ncalls; i++)
        assert_string_equal(c->calls[i].address, B);
    int beats, idles;
    answer_all(c, &beats, &idles);
    core_settle(c);
    answer_all(c, &beats, &idles);
    assert_int_equal(c->nsent, 100);
}

static void a_run_that_waits_for_a_probe_has_a_deadline(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    core_register(c, "app", B);
    int64_t job = job_of(c, "FAILOVER", "NONE", "");
    int64_t id = core_trigger(c, job, NULL);
    core_run(c, JOB_START_DEADLINE_S * 1000 - 1000); /* a call that never ends */
    assert_non_null(core_row(c, id));
    core_run(c, 3000);
    assert_null(core_row(c, id));
    assert_true(mentions(c, id, "start deadline"));
}

/* Taken away while it waits: its probe answers for no run. */
static void a_run_may_be_killed_while_it_is_probed(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    static const char *const routes[] = { "FAILOVER", "BUSYOVER" };
    for (int i = 0; i < 2; i++) {
        int64_t job = job_of(c, routes[i], "NONE", "");
        int64_t id = core_trigger(c, job, NULL);
        sched_kill(c->s, c->now, id, c);
        core_settle(c);
        assert_null(core_row(c, id));
        assert_int_equal(c->ncalls, 1);
        core_answer(c, &c->calls[0], 200, LOG_NONE);
        core_settle(c);
        assert_int_equal(c->nsent, 0);
    }
}

/* ---- the window ------------------------------------------------------------------------------ */

static void due_at_once(struct core *c, int n)
{
    int64_t job = job_of(c, "FIRST", "NONE", "");
    for (int i = 0; i < n; i++) {
        struct spawn spawn = { .job_id = job,
                               .kind = KIND_MANUAL,
                               .scheduled_ms = c->now.wall_ms,
                               .due_ms = c->now.wall_ms,
                               .retries_left = -1 };
        sched_trigger(c->s, c->now, &spawn);
    }
    core_settle(c);
}

static void a_slow_address_gets_more_calls(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    due_at_once(c, 400);
    core_run(c, 100);
    assert_int_equal(core_calls(c, CALL_RUN), 256);
}

/* 8,000 answers a second, each within 8 ms: more connections would not help. */
static void a_quick_address_keeps_to_its_64(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    due_at_once(c, 2000);
    int most = 0;
    while (core_calls(c, CALL_RUN)) {
        int open = core_calls(c, CALL_RUN);
        most = open > most ? open : most;
        for (int i = 0; i < 8 && any_run(c); i++)
            core_answer(c, any_run(c), 200, LOG_NONE);
        core_run(c, 1);
    }
    assert_int_equal(c->nsent, 2000);
    assert_true(most >= 8 && most <= 64);
}

static void what_the_center_can_spare_is_shared(void **state)
{
    (void)state;
    struct core *c = core_new();
    core_stop(c);
    c->config.spare_connections = 100;
    core_start(c);
    core_register(c, "app", A);
    int64_t job = job_of(c, "FIRST", "NONE", "");
    for (int i = 0; i < 400; i++)
        core_trigger(c, job, i % 2 ? A : B);
    core_run(c, 200);
    assert_int_equal(core_calls(c, CALL_RUN), 64 + 64 + 100);
    while (any_run(c)) /* A has used it, and is done */
        core_fails(c, any_run(c), CALL_FOREIGN);
    core_run(c, 5000);
    for (int i = 0; i < 400; i++)
        core_trigger(c, job, B);
    core_run(c, 200);
    assert_int_equal(core_calls(c, CALL_RUN), 164);
    core_free(c);
}

static void a_full_client_ends_what_was_spared(void **state)
{
    struct core *c = *state;
    core_register(c, "app", A);
    due_at_once(c, 600);
    core_run(c, 100);
    assert_int_equal(core_calls(c, CALL_RUN), 256);
    while (core_calls(c, CALL_RUN) > 10)
        core_fails(c, any_run(c), CALL_FULL);
    core_run(c, 21); /* it has rested */
    assert_true(core_calls(c, CALL_RUN) <= 128);
    assert_int_equal(dead(c), 0);
}

/* What one address gives back so, the next one gets. */
static void what_a_full_client_ended_goes_to_others(void **state)
{
    (void)state;
    struct core *c = core_new();
    core_stop(c);
    c->config.spare_connections = 100;
    core_start(c);
    core_register(c, "app", A);
    core_register(c, "app", B);
    int64_t job = job_of(c, "FIRST", "NONE", "");
    for (int i = 0; i < 164; i++)
        core_trigger(c, job, A);
    core_run(c, 100);
    assert_int_equal(core_calls(c, CALL_RUN), 164);
    while (any_run(c))
        core_fails(c, any_run(c), CALL_FULL);
    c->executor = core_accepts; /* there is room again */
    core_run(c, 300);
    assert_int_equal(core_calls(c, CALL_RUN), 0);
    c->executor = NULL;
    for (int i = 0; i < 400; i++)
        core_trigger(c, job, B);
    core_run(c, 200);
    assert_int_equal(core_calls(c, CALL_RUN), 164);
    core_free(c);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, core_setup, core_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_a_call_decides),
        T(after_a_refused_connection_the_others_are_asked),
        cmocka_unit_test(the_lane_decides_when_it_is_due),
        T(one_beat_answers_for_a_burst),
        T(idle_beats_take_few_places),
        T(one_idle_beat_answers_for_a_job),
        T(a_full_client_is_no_answer),
        T(runs_wait_while_the_client_is_full),
        T(first_yes_wins_in_the_order_of_the_list),
        T(addresses_that_a_user_named_are_asked_in_that_order),
        T(a_busy_executor_is_passed_over),
        T(the_dead_come_last),
        T(no_address_answers),
        T(a_mute_address_is_asked_once),
        T(a_run_that_waits_for_a_probe_has_a_deadline),
        T(a_run_may_be_killed_while_it_is_probed),
        T(a_slow_address_gets_more_calls),
        T(a_quick_address_keeps_to_its_64),
        cmocka_unit_test(what_the_center_can_spare_is_shared),
        T(a_full_client_ends_what_was_spared),
        cmocka_unit_test(what_a_full_client_ended_goes_to_others),
    };
    return cmocka_run_group_tests_name("sched.fire", tests, NULL, NULL);
}
