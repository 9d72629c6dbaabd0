/* SPDX-License-Identifier: Apache-2.0 */
/* What store.h promises of rules and of what they have found, against every engine. */
#include "support_store.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rule_record rule(const char *name)
{
    return (struct rule_record){ .version = 3,
                                 .name = (char *)name,
                                 .kind = RULE_SLOW,
                                 .level = RULE_CRITICAL,
                                 .group_id = 4,
                                 .in_a_row = 2,
                                 .longer_ms = 5000,
                                 .channels = "mail,on call",
                                 .quiet_from = 60,
                                 .quiet_to = -1,
                                 .repeat_ms = 60000,
                                 .enabled = true,
                                 .created_ms = 10,
                                 .updated_ms = 20 };
}

static struct incident_record incident(int64_t rule_id, int64_t group_id, const char *address)
{
    return (struct incident_record){ .rule_id = rule_id,
                                     .group_id = group_id,
                                     .kind = RULE_FAILED,
                                     .level = RULE_INFO,
                                     .cause = CAUSE_EXECUTOR,
                                     .address = (char *)address,
                                     .since_ms = 100,
                                     .log_id = 7,
                                     .text = "boom #",
                                     .last_ms = 100,
                                     .told_ms = -1,
                                     .closed_ms = -1,
                                     .acknowledged_ms = -1 };
}

static bool list_rule(void *ctx, const struct rule_record *r)
{
    buf_printf(ctx, "%lld:%s ", (long long)r->id, r->name);
    return true;
}

static bool list_incident(void *ctx, const struct incident_record *i)
{
    buf_printf(ctx, "%lld ", (long long)i->id);
    return true;
}

static bool list_job(void *ctx, const struct incident_job *j)
{
    buf_printf(ctx, "%lld/%lld ", (long long)j->incident_id, (long long)j->job_id);
    return true;
}

/* What a list wrote; the buffer is empty afterwards. */
static void wrote(struct buf *b, const char *want)
{
    assert_string_equal(buf_str(b), want);
    buf_reset(b);
}

static void a_rule_comes_back_whole(void **state)
{
    struct engine *e = *state;
    struct rule_record r = rule("Payments fail"), got;
    struct buf b = BUF_INIT(1000);
    struct why said = { "" };
    OP(e->s, txn->begin);
    OP(e->s, rules->rule_insert, &r);
    struct rule_record other = rule("other");
    OP(e->s, rules->rule_insert, &other);
    OP(e->s, txn->commit, NULL);
    assert_true(other.id > r.id);
    engine_reopen(e);
    OP(e->s, rules->rule_get, r.id, &got);
    assert_string_equal(got.name, r.name);
    assert_string_equal(got.channels, r.channels);
    assert_int_equal(got.version, 3);
    assert_int_equal(got.kind, RULE_SLOW);
    assert_int_equal(got.level, RULE_CRITICAL);
    assert_int_equal(got.group_id, 4);
    assert_int_equal(got.job_id, 0);
    assert_int_equal(got.in_a_row, 2);
    assert_int_equal(got.longer_ms, 5000);
    assert_int_equal(got.quiet_from, 60);
    assert_int_equal(got.quiet_to, -1);
    assert_int_equal(got.repeat_ms, 60000);
    assert_true(got.enabled);
    assert_int_equal(got.created_ms + got.updated_ms, 30);
    rule_record_done(&got);
    OP(e->s, txn->begin);
    r.name = "new name";
    r.enabled = false;
    OP(e->s, rules->rule_update, &r);
    OP(e->s, rules->rule_delete, other.id);
    assert_int_equal(e->s->ops->rules->rule_delete(e->s, 99, &said), ERR_NOTFOUND);
    assert_int_equal(e->s->ops->rules->rule_update(e->s, &other, &said), ERR_NOTFOUND);
    OP(e->s, txn->commit, NULL);
    OP(e->s, rules->rules_each, list_rule, &b);
    wrote(&b, "1:new name ");
    assert_int_equal(e->s->ops->rules->rule_get(e->s, other.id, &got, &said), ERR_NOTFOUND);
    buf_done(&b);
}

static void an_alarm_is_found_by_its_cause_while_it_is_open(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct incident_record a = incident(1, 2, "http://a/"), b = incident(1, 2, "http://a/"), got;
    struct why said = { "" };
    OP(s, txn->begin);
    OP(s, rules->incident_insert, &a);
    OP(s, rules->incident_insert, &b);
    OP(s, rules->incident_find, 1, 2, CAUSE_EXECUTOR, "http://a/", &got);
    assert_int_equal(got.id, b.id);
    assert_string_equal(got.text, "boom #");
    assert_string_equal(got.address, "http://a/");
    assert_int_equal(got.told_ms, -1);
    assert_int_equal(got.closed_ms, -1);
    assert_int_equal(got.log_id, 7);
    got.closed_ms = 200;
    got.closed_by = mem_dup("admin");
    got.told_ms = 150;
    got.told = 2;
    got.untold = 3;
    got.jobs = 4;
    got.acknowledged_ms = 160;
    got.settled = true;
    OP(s, rules->incident_update, &got);
    incident_record_done(&got);
    OP(s, rules->incident_find, 1, 2, CAUSE_EXECUTOR, "http://a/", &got);
    assert_int_equal(got.id, a.id);
    incident_record_done(&got);
    static const struct {
        int64_t rule_id, group_id;
        enum incident_cause cause;
        const char *address;
    } others[] = { { 2, 2, CAUSE_EXECUTOR, "http://a/" },
                   { 1, 3, CAUSE_EXECUTOR, "http://a/" },
                   { 1, 2, CAUSE_GROUP, "http://a/" },
                   { 1, 2, CAUSE_EXECUTOR, "http://b/" } };
    for (size_t i = 0; i < countof(others); i++)
        assert_int_equal(s->ops->rules->incident_find(s, others[i].rule_id, others[i].group_id,
                                                      others[i].cause, others[i].address, &got,
                                                      &said),
                         ERR_NOTFOUND);
    OP(s, rules->incident_get, b.id, &got);
    assert_int_equal(got.closed_ms, 200);
    assert_string_equal(got.closed_by, "admin");
    assert_int_equal(got.told_ms + got.told + got.untold + got.jobs + got.acknowledged_ms,
                     150 + 2 + 3 + 4 + 160);
    assert_true(got.settled);
    incident_record_done(&got);
    OP(s, txn->commit, NULL);
}

static void alarms_are_listed_by_state_and_scope_and_go_when_old(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct buf b = BUF_INIT(1000);
    const int64_t mine[] = { 2 };
    const struct scope scope = { .ids = mine, .n = 1 };
    struct incidents_filter f = { .open = -1, .below_id = INT64_MAX, .limit = 2 };
    int64_t total = 0;
    bool more;
    OP(s, txn->begin);
    for (int i = 1; i <= 4; i++) {
        struct incident_record r = incident(i, i == 4 ? 3 : 2, "");
        OP(s, rules->incident_insert, &r);
        r.closed_ms = i < 3 ? 100 * i : -1;
        r.settled = i < 3;
        OP(s, rules->incident_update, &r);
    }
    OP(s, txn->commit, NULL);
    OP(s, rules->incidents_page, &f, list_incident, &b, &total);
    wrote(&b, "4 3 ");
    assert_int_equal(total, 4);
    f.below_id = 3;
    f.open = 0;
    f.scope = &scope;
    OP(s, rules->incidents_page, &f, list_incident, &b, &total);
    wrote(&b, "2 1 ");
    f = (struct incidents_filter){ .open = 1, .scope = &scope, .below_id = INT64_MAX, .limit = 9 };
    OP(s, rules->incidents_page, &f, list_incident, &b, &total);
    wrote(&b, "3 ");
    assert_int_equal(total, 1);
    f = (struct incidents_filter){ .open = -1, .rule_id = 2, .below_id = INT64_MAX, .limit = 9 };
    OP(s, rules->incidents_page, &f, list_incident, &b, &total);
    wrote(&b, "2 ");
    OP(s, rules->incidents_unsettled, 0, 9, list_incident, &b);
    wrote(&b, "3 4 ");
    OP(s, rules->incidents_unsettled, 3, 9, list_incident, &b);
    wrote(&b, "4 ");
    OP(s, txn->begin);
    OP(s, rules->incidents_purge, 200, 9, &more);
    OP(s, txn->commit, NULL);
    assert_false(more);
    f.rule_id = 0;
    OP(s, rules->incidents_page, &f, list_incident, &b, &total);
    wrote(&b, "4 3 2 ");
    buf_done(&b);
}

static void jobs_of_an_alarm(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct buf b = BUF_INIT(1000);
    struct incident_job got;
    struct why said = { "" };
    OP(s, txn->begin);
    for (int i = 1; i <= 3; i++) {
        struct incident_job j = { .incident_id = 5,
                                  .rule_id = 1,
                                  .job_id = i,
                                  .log_id = 70 + i,
                                  .since_ms = 9,
                                  .events = 2,
                                  .took_ms = 8,
                                  .closed_ms = i == 1 ? 50 : -1,
                                  .text = "boom #" };
        OP(s, rules->incident_job_put, &j);
        OP(s, rules->incident_job_put, &j); /* the same row */
    }
    struct incident_job other = { .incident_id = 4, .rule_id = 2, .job_id = 2, .closed_ms = -1 };
    OP(s, rules->incident_job_put, &other);
    OP(s, txn->commit, NULL);
    OP(s, rules->incident_jobs_each, 5, 9, list_job, &b);
    wrote(&b, "5/2 5/3 5/1 ");
    OP(s, rules->incident_jobs_each, 5, 2, list_job, &b);
    wrote(&b, "5/2 5/3 ");
    OP(s, rules->incident_jobs_open, 2, list_job, &b);
    wrote(&b, "4/2 5/2 ");
    OP(s, rules->incident_jobs_open, 1, list_job, &b);
    wrote(&b, "");
    OP(s, rules->incident_job_get, 5, 3, &got);
    assert_int_equal(got.log_id + got.since_ms + got.events + got.took_ms, 73 + 9 + 2 + 8);
    assert_string_equal(got.text, "boom #");
    incident_job_done(&got);
    assert_int_equal(s->ops->rules->incident_job_get(s, 4, 3, &got, &said), ERR_NOTFOUND);
    buf_done(&b);
}

static void a_message_comes_back(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct tell_record t = { .incident_id = 5, .state = TELL_CLOSED, .at_ms = 77 }, got;
    struct why said = { "" };
    OP(s, txn->begin);
    OP(s, rules->tell_insert, &t);
    OP(s, txn->commit, NULL);
    OP(s, rules->tell_get, t.id, &got);
    assert_int_equal(got.incident_id, 5);
    assert_int_equal(got.state, TELL_CLOSED);
    assert_int_equal(got.at_ms, 77);
    assert_int_equal(s->ops->rules->tell_get(s, t.id + 1, &got, &said), ERR_NOTFOUND);
}

static bool list_silence(void *ctx, const struct silence_record *r)
{
    buf_printf(ctx, "%lld:%lld/%lld %lld-%lld@%lld %s by %s\n", (long long)r->id,
               (long long)r->group_id, (long long)r->rule_id, (long long)r->from_ms,
               (long long)r->until_ms, (long long)r->made_ms, r->reason, r->by);
    return true;
}

static void silences_come_back_and_go(void **state)
{
    struct engine *e = *state;
    struct buf b = BUF_INIT(1000);
    struct why said = { "" };
    OP(e->s, txn->begin);
    for (int i = 1; i <= 3; i++) {
        struct silence_record r = { .group_id = i,
                                    .rule_id = 9,
                                    .from_ms = 10,
                                    .until_ms = 100 * i,
                                    .made_ms = 5,
                                    .reason = "they move",
                                    .by = "admin" };
        OP(e->s, rules->silence_insert, &r);
        assert_int_equal(r.id, i);
    }
    OP(e->s, rules->silences_expire, 200);
    OP(e->s, rules->silence_delete, 2);
    assert_int_equal(e->s->ops->rules->silence_delete(e->s, 1, &said), ERR_NOTFOUND);
    OP(e->s, txn->commit, NULL);
    engine_reopen(e);
    OP(e->s, rules->silences_each, list_silence, &b);
    wrote(&b, "3:3/9 10-300@5 they move by admin\n");
    buf_done(&b);
}

static bool list_late(void *ctx, int64_t job_id, int64_t scheduled_ms)
{
    buf_printf(ctx, "%lld@%lld ", (long long)job_id, (long long)scheduled_ms);
    return true;
}

static int64_t late_job(struct store *s, bool enabled, int64_t next_ms)
{
    struct job_record job;
    job_record_init(&job);
    job.group_id = enabled ? 2 : 3;
    job.enabled = enabled;
    job.next_ms = next_ms;
    OP(s, catalog->job_insert, &job);
    int64_t id = job.id;
    job_record_done(&job);
    return id;
}

static void what_was_not_sent_or_not_planned_is_late(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct buf b = BUF_INIT(1000);
    bool enabled;
    OP(s, txn->begin);
    int64_t ids[] = { late_job(s, true, 9000), late_job(s, true, 500),
                      late_job(s, false, NEVER_MS) };
    struct run_row rows[] = {
        { .job_id = ids[0], .scheduled_ms = 700, .due_ms = 700, .phase = PHASE_PLANNED },
        { .job_id = ids[0], .scheduled_ms = 600, .due_ms = 600, .phase = PHASE_PLANNED },
        { .job_id = ids[1], .scheduled_ms = 300, .due_ms = 300, .phase = PHASE_SENT },
        { .job_id = ids[2], .scheduled_ms = 10, .due_ms = 10, .kind = KIND_MANUAL },
        { .job_id = ids[2], .scheduled_ms = 1001, .due_ms = 1001, .phase = PHASE_PLANNED },
    };
    rows[3].phase = PHASE_PLANNED;
    for (size_t i = 0; i < countof(rows); i++)
        rows[i].shard_total = 1;
    OP(s, runs->runs_add, rows, (int)countof(rows));
    OP(s, txn->commit, NULL);
    char want[100];
    OP(s, rules->jobs_late, 1000, 10, list_late, &b);
    snprintf(want, sizeof(want), "%lld@600 %lld@500 ", (long long)ids[0], (long long)ids[1]);
    wrote(&b, want);
    OP(s, rules->jobs_late, 1000, 1, list_late, &b);
    snprintf(want, sizeof(want), "%lld@600 ", (long long)ids[0]);
    wrote(&b, want);
    OP(s, rules->jobs_late, 499, 10, list_late, &b);
    wrote(&b, "");
    OP(s, rules->group_enabled, 2, &enabled);
    assert_true(enabled);
    OP(s, rules->group_enabled, 3, &enabled);
    assert_false(enabled);
    buf_done(&b);
}

static bool list_skip(void *ctx, int64_t id, const struct skip_row *r)
{
    buf_printf(ctx, "%s%lld:%lld-%lld*%lld ", id > 0 ? "" : "?", (long long)r->job_id,
               (long long)r->from_ms, (long long)r->to_ms, (long long)r->count);
    return true;
}

static void the_youngest_skips_come_first(void **state)
{
    struct store *s = ((struct engine *)*state)->s;
    struct buf b = BUF_INIT(1000);
    struct skip_row rows[] = { { 1, 100, 200, 2, MISFIRE_DO_NOTHING, false },
                               { 2, 300, 300, 1, MISFIRE_DO_NOTHING, false },
                               { 3, 50, 60, 2, MISFIRE_DO_NOTHING, false } };
    struct skip_row more = { 1, 400, 500, 3, MISFIRE_DO_NOTHING, true };
    OP(s, rules->skips_newest, 10, list_skip, &b);
    wrote(&b, "");
    OP(s, txn->begin);
    OP(s, runs->skips_add, rows, 3);
    OP(s, txn->commit, NULL);
    OP(s, rules->skips_newest, 10, list_skip, &b);
    wrote(&b, "2:300-300*1 1:100-200*2 3:50-60*2 ");
    OP(s, txn->begin);
    OP(s, runs->skips_add, &more, 1); /* nothing has fired in between: the row grows */
    OP(s, txn->commit, NULL);
    OP(s, rules->skips_newest, 2, list_skip, &b);
    wrote(&b, "1:100-500*5 2:300-300*1 ");
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_rule_comes_back_whole),
        BOTH(an_alarm_is_found_by_its_cause_while_it_is_open),
        BOTH(alarms_are_listed_by_state_and_scope_and_go_when_old),
        BOTH(jobs_of_an_alarm),
        BOTH(a_message_comes_back),
        BOTH(silences_come_back_and_go),
        BOTH(what_was_not_sent_or_not_planned_is_late),
        BOTH(the_youngest_skips_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
