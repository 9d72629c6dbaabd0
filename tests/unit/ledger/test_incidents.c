/* SPDX-License-Identifier: Apache-2.0 */
/* What rules find in the ends of runs, on both engines: transitions, causes, what a failing commit
 * takes back, and what becomes a message. */
#include "base/mem.h"
#include "ledger/incidents.h"
#include "support_ledger.h"
#include <stdlib.h>
#include <string.h>

struct scene {
    struct bench *b;
    struct figures *f;
    struct incidents *x;
    int64_t job_id[3], runs;
    int64_t now_ms;
};

static void scene_begin(struct scene *c, void **state)
{
    struct why why = { "" };
    *c = (struct scene){ .b = *state, .now_ms = BENCH_NOW_MS };
    const struct store_ops *ops = c->b->s->ops;
    assert_int_equal(ops->txn->begin(c->b->s, NULL), OK);
    for (int i = 0; i < 3; i++) {
        struct job_record job;
        job_record_init(&job);
        job.group_id = 2;
        assert_int_equal(ops->catalog->job_insert(c->b->s, &job, NULL), OK);
        c->job_id[i] = job.id;
        job_record_done(&job);
    }
    assert_int_equal(ops->txn->commit(c->b->s, NULL, NULL), OK);
    c->f = figures_new(zone_utc());
    assert_int_equal(figures_load(c->f, c->b->s, &why), OK);
    c->x = incidents_new();
}

static void scene_end(struct scene *c)
{
    incidents_free(c->x);
    figures_free(c->f);
}

static int64_t rule_new(struct scene *c, struct rule_record r)
{
    r.name = "r";
    r.channels = "webhook, pager";
    r.quiet_from = r.quiet_to = -1;
    r.enabled = true;
    if (r.kind == RULE_FAILED && !r.in_a_row)
        r.in_a_row = 1;
    assert_int_equal(c->b->s->ops->txn->begin(c->b->s, NULL), OK);
    assert_int_equal(c->b->s->ops->rules->rule_insert(c->b->s, &r, NULL), OK);
    assert_int_equal(c->b->s->ops->txn->commit(c->b->s, NULL, NULL), OK);
    incidents_stale(c->x);
    return r.id;
}

static int64_t run_new(struct scene *c, int job)
{
    struct run_row r = { .job_id = c->job_id[job],
                         .group_id = 2,
                         .scheduled_ms = 1000 * ++c->runs,
                         .due_ms = 1000 * c->runs,
                         .shard_total = 1,
                         .phase = PHASE_SENT };
    assert_int_equal(c->b->s->ops->txn->begin(c->b->s, NULL), OK);
    assert_int_equal(c->b->s->ops->runs->runs_add(c->b->s, &r, 1, NULL), OK);
    assert_int_equal(c->b->s->ops->txn->commit(c->b->s, NULL, NULL), OK);
    return r.log_id;
}

static struct run_change end_of(struct scene *c, int job, int64_t log_id, enum phase phase,
                                const char *text)
{
    bool refused = phase == PHASE_REJECTED || phase == PHASE_UNROUTABLE;
    bool good = phase == PHASE_SUCCEEDED;
    return (struct run_change){ .log_id = log_id,
                                .what = CHANGE_PHASE | CHANGE_TRIGGER |
                                        (refused ? 0u : CHANGE_FINISH) |
                                        (phase == PHASE_LOST ? 0u : CHANGE_CLOSE),
                                .phase = phase,
                                .trigger_code = refused ? 500 : 200,
                                .trigger_msg = refused ? mem_dup(text) : NULL,
                                .handle_code = refused ? 0
                                               : good  ? 200
                                                       : 500,
                                .handle_msg = refused ? NULL : mem_dup(text),
                                .end = { .log_id = log_id,
                                         .job_id = c->job_id[job],
                                         .group_id = 2,
                                         .log_ms = 1000,
                                         .took_ms = 3000,
                                         .now = phase_outcome(phase) } };
}

static struct batch *batch_of(struct scene *c, struct run_change change)
{
    struct batch *b = bench_batch();
    b->now_ms = c->now_ms++;
    b->incidents = c->x;
    b->changes = mem_new(sizeof(change));
    b->changes[b->nchanges++] = change;
    return b;
}

static enum err commit(struct scene *c, struct batch *b)
{
    txn_run(c->b->s, c->b->planner, c->f, b, &c->b->writes);
    return b->err;
}

static int64_t end(struct scene *c, int job, enum phase phase, const char *text)
{
    int64_t log_id = run_new(c, job);
    struct batch *b = batch_of(c, end_of(c, job, log_id, phase, text));
    assert_int_equal(commit(c, b), OK);
    batch_free(b);
    return log_id;
}

static bool last_one(void *ctx, const struct incident_record *i)
{
    struct incident_record *to = ctx;
    incident_record_copy(to, i);
    return false;
}

/* How many alarms the rule has; the newest, which the caller frees. */
static int64_t newest(struct scene *c, int64_t rule_id, struct incident_record *ret)
{
    const struct incidents_filter f = {
        .open = -1, .rule_id = rule_id, .below_id = INT64_MAX, .limit = 1
    };
    int64_t total = 0;
    *ret = (struct incident_record){ .id = 0 };
    assert_int_equal(c->b->s->ops->rules->incidents_page(c->b->s, &f, last_one, ret, &total, NULL),
                     OK);
    return total;
}

static void expect(struct scene *c, int64_t rule_id, int64_t alarms, int64_t jobs, int64_t open)
{
    struct incident_record i;
    assert_int_equal(newest(c, rule_id, &i), alarms);
    assert_int_equal(i.jobs, jobs);
    assert_int_equal(i.open, open);
    assert_int_equal(i.closed_ms<0, open> 0);
    incident_record_done(&i);
}

static void expect_none(struct scene *c, int64_t rule_id)
{
    struct incident_record i;
    assert_int_equal(newest(c, rule_id, &i), 0);
}

static void a_transition_opens_an_alarm_and_the_next_closes_it(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    int64_t first = rule_new(&c, (struct rule_record){ .kind = RULE_FAILED });
    int64_t third = rule_new(&c, (struct rule_record){ .kind = RULE_FAILED, .in_a_row = 3 });
    end(&c, 0, PHASE_SUCCEEDED, "");
    expect_none(&c, first);
    int64_t log_id = end(&c, 0, PHASE_FAILED, "order 17 not found");
    struct incident_record i;
    assert_int_equal(newest(&c, first, &i), 1);
    assert_int_equal(i.log_id, log_id);
    assert_int_equal(i.cause, CAUSE_GROUP);
    assert_string_equal(i.text, "order # not found");
    incident_record_done(&i);
    end(&c, 0, PHASE_TIMED_OUT, "");
    expect(&c, first, 1, 1, 1);
    expect_none(&c, third);
    end(&c, 1, PHASE_FAILED, ""); /* the same burst */
    expect(&c, first, 1, 2, 2);
    end(&c, 0, PHASE_KILLED, "");
    expect(&c, third, 1, 1, 1);
    end(&c, 0, PHASE_SUCCEEDED, "");
    expect(&c, first, 1, 2, 1);
    expect(&c, third, 1, 1, 0);
    end(&c, 1, PHASE_SUCCEEDED, "");
    expect(&c, first, 1, 2, 0);
    end(&c, 1, PHASE_FAILED, "");
    expect(&c, first, 2, 1, 1);
    scene_end(&c);
}

/* Only a transition opens one: a user who has closed it hears nothing of the next failures. */
static void stays_closed(void **state, bool shared)
{
    struct scene c;
    scene_begin(&c, state);
    if (shared)
        incidents_share(c.x);
    int64_t id = rule_new(&c, (struct rule_record){ .kind = RULE_FAILED });
    end(&c, 0, PHASE_FAILED, "");
    struct incident_record i;
    assert_int_equal(newest(&c, id, &i), 1);
    i.closed_ms = c.now_ms++;
    const struct store_ops *ops = c.b->s->ops;
    assert_int_equal(ops->txn->begin(c.b->s, NULL), OK);
    assert_int_equal(ops->rules->incident_update(c.b->s, &i, NULL), OK);
    assert_int_equal(ops->txn->commit(c.b->s, NULL, NULL), OK);
    incident_record_done(&i);
    end(&c, 0, PHASE_FAILED, "");
    assert_int_equal(newest(&c, id, &i), 1);
    assert_true(i.closed_ms >= 0);
    incident_record_done(&i);
    end(&c, 0, PHASE_SUCCEEDED, "");
    end(&c, 0, PHASE_FAILED, "");
    expect(&c, id, 2, 1, 1);
    scene_end(&c);
}

static void what_a_user_has_closed_stays_closed_while_the_job_fails(void **state)
{
    stays_closed(state, false);
}

static void and_so_it_does_among_several_servers(void **state)
{
    stays_closed(state, true);
}

/* Two servers that have counted different ends; *other: what the one that does not act has. */
struct server {
    struct figures *f;
    struct incidents *x;
};

static struct server server_new(const struct scene *c)
{
    struct why why = { "" };
    struct server s = { figures_new(zone_utc()), incidents_new() };
    assert_int_equal(figures_load(s.f, c->b->s, &why), OK);
    incidents_share(s.x);
    return s;
}

static void swap(struct scene *c, struct server *other)
{
    const struct server acts = { c->f, c->x };
    c->f = other->f;
    c->x = other->x;
    *other = acts;
}

static void of_several_servers_each_knows_what_the_others_have_found(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    incidents_share(c.x);
    struct server other = server_new(&c);
    int64_t id = rule_new(&c, (struct rule_record){ .kind = RULE_FAILED });
    end(&c, 0, PHASE_FAILED, "");
    end(&c, 1, PHASE_FAILED, "");
    expect(&c, id, 1, 2, 2);
    swap(&c, &other);
    end(&c, 0, PHASE_FAILED, ""); /* its first failure here */
    expect(&c, id, 1, 2, 2);
    struct incident_record i;
    assert_int_equal(newest(&c, id, &i), 1);
    assert_int_equal(i.events, 2);
    incident_record_done(&i);
    end(&c, 0, PHASE_SUCCEEDED, "");
    end(&c, 1, PHASE_SUCCEEDED, ""); /* nothing of it is known here */
    expect(&c, id, 1, 2, 0);
    swap(&c, &other);
    int64_t later =
        rule_new(&c, (struct rule_record){ .kind = RULE_FAILED, .updated_ms = c.now_ms });
    end(&c, 0, PHASE_FAILED, ""); /* on and on, for this one */
    expect(&c, id, 2, 1, 1);
    expect_none(&c, later); /* it fails since before that rule */
    end(&c, 0, PHASE_SUCCEEDED, "");
    end(&c, 0, PHASE_FAILED, "");
    expect(&c, later, 1, 1, 1);
    incidents_free(other.x);
    figures_free(other.f);
    scene_end(&c);
}

static void one_executor_is_one_alarm(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    int64_t id = rule_new(&c, (struct rule_record){ .kind = RULE_FAILED });
    struct incident_record i;
    for (int k = 0; k < 3; k++)
        end(&c, k, PHASE_REJECTED, "cannot connect to http://10.0.0.3:9999/: Connection refused");
    expect(&c, id, 1, 3, 3);
    assert_int_equal(newest(&c, id, &i), 1);
    assert_int_equal(i.cause, CAUSE_EXECUTOR);
    assert_string_equal(i.address, "http://10.0.0.3:9999/");
    incident_record_done(&i);
    end(&c, 0, PHASE_SUCCEEDED, "");
    end(&c, 0, PHASE_UNROUTABLE, "nobody");
    assert_int_equal(newest(&c, id, &i), 2);
    assert_int_equal(i.cause, CAUSE_NO_EXECUTOR);
    incident_record_done(&i);
    end(&c, 1, PHASE_SUCCEEDED, "");
    end(&c, 1, PHASE_REJECTED, "it said no");
    assert_int_equal(newest(&c, id, &i), 3);
    assert_int_equal(i.cause, CAUSE_GROUP);
    incident_record_done(&i);
    scene_end(&c);
}

static void a_commit_that_fails_leaves_nothing_and_comes_to_the_same(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    int64_t id = rule_new(&c, (struct rule_record){ .kind = RULE_FAILED });
    int64_t log_id = run_new(&c, 0);
    struct batch *b = batch_of(&c, end_of(&c, 0, log_id, PHASE_FAILED, "x"));
    bench_commits_fail(c.b, 2);
    for (int k = 0; k < 2; k++) {
        assert_int_not_equal(commit(&c, b), OK);
        expect_none(&c, id);
    }
    assert_int_equal(commit(&c, b), OK);
    batch_free(b);
    expect(&c, id, 1, 1, 1);
    scene_end(&c);
}

static void slow_and_recovered_and_places(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    int64_t slow = rule_new(&c, (struct rule_record){ .kind = RULE_SLOW, .longer_ms = 2999 });
    int64_t fast = rule_new(&c, (struct rule_record){ .kind = RULE_SLOW, .longer_ms = 3000 });
    int64_t back = rule_new(&c, (struct rule_record){ .kind = RULE_RECOVERED });
    int64_t other = rule_new(&c, (struct rule_record){ .kind = RULE_FAILED, .group_id = 3 });
    int64_t job = rule_new(&c, (struct rule_record){ .kind = RULE_FAILED, .job_id = c.job_id[1] });
    end(&c, 0, PHASE_SUCCEEDED, "");
    expect(&c, slow, 1, 1, 1);
    expect_none(&c, fast);
    expect_none(&c, back);
    end(&c, 0, PHASE_FAILED, "");
    expect_none(&c, other);
    expect_none(&c, job);
    end(&c, 0, PHASE_SUCCEEDED, "");
    expect(&c, back, 1, 1, 1);
    scene_end(&c);
}

static void a_job_that_is_deleted_is_out_of_all_alarms(void **state)
{
    struct scene c;
    scene_begin(&c, state);
    int64_t id = rule_new(&c, (struct rule_record){ .kind = RULE_FAILED });
    end(&c, 0, PHASE_FAILED, "");
    end(&c, 1, PHASE_FAILED, "");
    struct edit *e = edit_new(EDIT_JOB_DELETE);
    e->id = c.job_id[0];
    struct batch *b = bench_edit(e);
    b->incidents = c.x;
    assert_int_equal(commit(&c, b), OK);
    assert_int_equal(e->err, OK);
    batch_free(b);
    expect(&c, id, 1, 2, 1);
    scene_end(&c);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void tell(struct scene *c, int64_t incident_id, int64_t told, enum tell_state state)
{
    struct tells *t = mem_new(sizeof(*t));
    t->now_ms = c->now_ms++;
    t->tells[t->n++] = (struct tell){ incident_id, told, state };
    list_push(&c->b->writes, &ledger_entry_new(&tells_write, t)->node);
    struct batch *b = bench_batch();
    assert_int_equal(commit(c, b), OK);
    batch_free(b);
    bench_heard(c->b);
}

static bool count_alarm(void *ctx, const struct alarm_record *r)
{
    assert_true(r->log_id < 0);
    ++*(int *)ctx;
    return true;
}

static int messages(struct scene *c, const char *channel)
{
    int n = 0;
    assert_int_equal(
        c->b->s->ops->alarms->alarms_open(c->b->s, channel, 0, 100, count_alarm, &n, NULL), OK);
    return n;
}

static void each_message_is_told_once_to_each_channel(void **state)
{
    struct scene c;
    struct incident_record i;
    scene_begin(&c, state);
    int64_t id = rule_new(&c, (struct rule_record){ .kind = RULE_FAILED });
    end(&c, 0, PHASE_FAILED, "");
    assert_int_equal(newest(&c, id, &i), 1);
    tell(&c, i.id, 0, TELL_OPENED);
    tell(&c, i.id, 0, TELL_OPENED); /* the same write again */
    assert_int_equal(messages(&c, "webhook"), 1);
    assert_int_equal(messages(&c, "pager"), 1);
    end(&c, 1, PHASE_FAILED, ""); /* told is told: another burst, another alarm */
    expect(&c, id, 2, 1, 1);
    end(&c, 0, PHASE_SUCCEEDED, "");
    tell(&c, i.id, 1, TELL_CLOSED);
    tell(&c, i.id, 1, TELL_CLOSED);
    tell(&c, i.id, 2, TELL_AGAIN); /* it is settled */
    assert_int_equal(messages(&c, "pager"), 2);
    incident_record_done(&i);
    scene_end(&c);
}

static void a_rule_that_goes_tells_nothing(void **state)
{
    struct scene c;
    struct incident_record i;
    struct why why = { "" };
    scene_begin(&c, state);
    int64_t id = rule_new(&c, (struct rule_record){ .kind = RULE_FAILED });
    end(&c, 0, PHASE_FAILED, "");
    assert_int_equal(newest(&c, id, &i), 1);
    assert_int_equal(c.b->s->ops->txn->begin(c.b->s, NULL), OK);
    assert_int_equal(incidents_drop_rule(c.b->s, id, c.now_ms, &why), OK);
    assert_int_equal(c.b->s->ops->rules->rule_delete(c.b->s, id, &why), OK);
    assert_int_equal(c.b->s->ops->txn->commit(c.b->s, NULL, NULL), OK);
    incidents_stale(c.x);
    expect(&c, id, 1, 1, 0);
    tell(&c, i.id, 0, TELL_OPENED);
    assert_int_equal(messages(&c, "webhook"), 0);
    end(&c, 1, PHASE_FAILED, "");
    expect(&c, id, 1, 1, 0);
    incident_record_done(&i);
    scene_end(&c);
}

/* One write with these, as the center makes it. */
static void conditions(struct scene *c, const struct condition *items, int n)
{
    struct why why = { "" };
    struct conditions *a = mem_new(sizeof(*a));
    a->now_ms = c->now_ms++;
    a->n = n;
    memcpy(a->items, items, (size_t)n * sizeof(*items));
    assert_int_equal(c->b->s->ops->txn->begin(c->b->s, NULL), OK);
    assert_int_equal(conditions_write.run(c->b->s, a, &why), OK);
    assert_int_equal(c->b->s->ops->txn->commit(c->b->s, NULL, NULL), OK);
    conditions_write.done(a, OK, &why);
}

static void a_state_is_one_alarm_until_it_is_over(void **state)
{
    struct scene c;
    struct incident_record i;
    scene_begin(&c, state);
    int64_t id = rule_new(&c, (struct rule_record){ .kind = RULE_GONE });
    struct condition two[] = {
        { .rule_id = id, .group_id = 2, .cause = CAUSE_EXECUTOR, .address = "http://a/" },
        { .rule_id = id, .group_id = 2, .cause = CAUSE_EXECUTOR, .address = "http://b/" },
    };
    conditions(&c, two, 2);
    conditions(&c, two, 2); /* made again: nothing more */
    assert_int_equal(newest(&c, id, &i), 2);
    assert_string_equal(i.address, "http://b/");
    assert_true(i.closed_ms < 0 && i.untold == 1 && i.jobs == 0);
    incident_record_done(&i);
    two[0].over = true;
    two[1].over = false;
    conditions(&c, two, 2);
    assert_int_equal(newest(&c, id, &i), 2);
    assert_true(i.closed_ms < 0); /* the other one is closed */
    tell(&c, i.id, 0, TELL_OPENED);
    incident_record_done(&i);
    two[1].over = true;
    conditions(&c, two, 2);
    assert_int_equal(newest(&c, id, &i), 2);
    assert_true(i.closed_ms > 0 && !i.closed_by);
    incident_record_done(&i);
    two[1].over = false;
    conditions(&c, two + 1, 1);
    assert_int_equal(newest(&c, id, &i), 3);
    assert_true(i.closed_ms < 0);
    incident_record_done(&i);
    scene_end(&c);
}

static void late_jobs_of_a_group_are_one_alarm(void **state)
{
    struct scene c;
    struct incident_record i;
    struct why why = { "" };
    scene_begin(&c, state);
    int64_t id = rule_new(&c, (struct rule_record){ .kind = RULE_LATE, .longer_ms = 1000 });
    struct condition jobs[2] = { { .rule_id = id, .group_id = 2, .job_id = c.job_id[0] },
                                 { .rule_id = id, .group_id = 2, .job_id = c.job_id[1] } };
    conditions(&c, jobs, 2);
    conditions(&c, jobs, 2);
    expect(&c, id, 1, 2, 2);
    jobs[0].over = true;
    conditions(&c, jobs, 1);
    expect(&c, id, 1, 2, 1);
    /* a user closes it: what is late again comes into another one */
    assert_int_equal(newest(&c, id, &i), 1);
    assert_int_equal(c.b->s->ops->txn->begin(c.b->s, NULL), OK);
    assert_int_equal(incident_close(c.b->s, i.id, "admin", c.now_ms, &why), OK);
    assert_int_equal(c.b->s->ops->txn->commit(c.b->s, NULL, NULL), OK);
    incident_record_done(&i);
    conditions(&c, jobs + 1, 1);
    expect(&c, id, 2, 1, 1);
    jobs[1].over = true;
    conditions(&c, jobs + 1, 1);
    expect(&c, id, 2, 1, 0);
    jobs[1].over = false;
    conditions(&c, jobs + 1, 1);
    expect(&c, id, 3, 1, 1);
    scene_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_transition_opens_an_alarm_and_the_next_closes_it),
        BOTH(what_a_user_has_closed_stays_closed_while_the_job_fails),
        BOTH(and_so_it_does_among_several_servers),
        BOTH(of_several_servers_each_knows_what_the_others_have_found),
        BOTH(one_executor_is_one_alarm),
        BOTH(a_commit_that_fails_leaves_nothing_and_comes_to_the_same),
        BOTH(slow_and_recovered_and_places),
        BOTH(a_job_that_is_deleted_is_out_of_all_alarms),
        BOTH(each_message_is_told_once_to_each_channel),
        BOTH(a_rule_that_goes_tells_nothing),
        BOTH(a_state_is_one_alarm_until_it_is_over),
        BOTH(late_jobs_of_a_group_are_one_alarm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
