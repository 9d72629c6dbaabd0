/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - rules of alarms as writes. A rule is what it says from the next transaction on: the
 * ledger reads its rules anew after each of these. */
#include "api/rules.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rule_act {
    ACT_ADD,
    ACT_CHANGE,
    ACT_REMOVE,
    ACT_ACKNOWLEDGE,
    ACT_CLOSE,
    ACT_SILENCE,
    ACT_SPEAK,
    ACT_RESEND
};

struct rule_edit { /* counted, because the asker reads the id after it */
    _Atomic int refs;
    enum rule_act act;
    struct incidents *incidents;
    struct rule_record rule; /* its id and version for the others */
    struct silence_record silence;
    char *by;
    struct audit *audit; /* owned; NULL: none */
};

static void edit_unref(struct rule_edit *e)
{
    if (atomic_fetch_sub(&e->refs, 1) != 1)
        return;
    rule_record_done(&e->rule);
    silence_record_done(&e->silence);
    audit_free(e->audit);
    free(e->by);
    free(e);
}

static void edit_over(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    edit_unref(arg);
}

/* ---- the audit ------------------------------------------------------------------------------- */

static void audit_number(struct audit *a, const char *field, int64_t before, int64_t after,
                         bool was, bool is)
{
    char texts[2][24];
    snprintf(texts[0], sizeof(texts[0]), "%lld", (long long)before);
    snprintf(texts[1], sizeof(texts[1]), "%lld", (long long)after);
    audit_json(a, field, was ? texts[0] : NULL, is ? texts[1] : NULL);
}

static void audit_words(struct audit *a, const struct rule_record *was,
                        const struct rule_record *now)
{
    audit_text(a, "/name", was ? was->name : NULL, now ? now->name : NULL);
    audit_text(a, "/kind", was ? rule_kind_text(was->kind) : NULL,
               now ? rule_kind_text(now->kind) : NULL);
    audit_text(a, "/level", was ? rule_level_text(was->level) : NULL,
               now ? rule_level_text(now->level) : NULL);
    audit_text(a, "/channels", was ? was->channels : NULL, now ? now->channels : NULL);
    audit_json(a, "/enabled",
               !was           ? NULL
               : was->enabled ? "true"
                              : "false",
               !now           ? NULL
               : now->enabled ? "true"
                              : "false");
}

/* was or now NULL: the rule is new, or goes. */
static void audit_rule(struct audit *a, const struct rule_record *was,
                       const struct rule_record *now)
{
    static const struct rule_record none = { .id = 0 };
    const struct rule_record *x = was ? was : &none, *y = now ? now : &none;
    if (!a)
        return;
    audit_thing(a, now ? y->id : x->id, now ? y->name : x->name);
    audit_words(a, was, now);
    audit_number(a, "/groupId", x->group_id, y->group_id, was, now);
    audit_number(a, "/jobId", x->job_id, y->job_id, was, now);
    audit_number(a, "/inARow", x->in_a_row, y->in_a_row, was, now);
    audit_number(a, "/longerMs", x->longer_ms, y->longer_ms, was, now);
    audit_number(a, "/repeatMs", x->repeat_ms, y->repeat_ms, was, now);
    audit_number(a, "/quiet/from", x->quiet_from, y->quiet_from, was, now);
    audit_number(a, "/quiet/to", x->quiet_to, y->quiet_to, was, now);
}

static enum err audit_end(const struct rule_edit *e, struct store *s, struct why *why)
{
    return e->audit ? audit_put(e->audit, s, why) : OK;
}

/* ---- in the transaction ---------------------------------------------------------------------- */

static bool count(void *ctx, const struct rule_record *r)
{
    (void)r;
    ++*(int *)ctx;
    return true;
}

/* Are its group and its job there? A rule of a job has the job's group. */
static enum err place_check(struct store *s, const struct rule_record *r, struct why *why)
{
    struct job_record job;
    struct group_record group;
    enum err err = OK;
    job_record_init(&job);
    if (r->job_id)
        err = s->ops->catalog->job_get(s, r->job_id, &job, why);
    else if (r->group_id && !(err = s->ops->catalog->group_get(s, r->group_id, &group, why)))
        group_record_done(&group);
    job_record_done(&job);
    return err == ERR_NOTFOUND ? ERR_INVALID : err;
}

static enum err run_add(struct store *s, struct rule_edit *e, struct why *why)
{
    int n = 0;
    enum err err = s->ops->rules->rules_each(s, count, &n, why);
    if (!err && n >= RULES_MAX) {
        why_set(why, "there are %d rules, and there can be no more: delete one first", n);
        err = ERR_EXISTS;
    }
    if (!err)
        err = place_check(s, &e->rule, why);
    if (!err)
        err = s->ops->rules->rule_insert(s, &e->rule, why);
    if (err)
        return err;
    audit_rule(e->audit, NULL, &e->rule);
    return audit_end(e, s, why);
}

/* The rule as it is, if the edit was made from that. */
static enum err take(struct store *s, const struct rule_edit *e, struct rule_record *ret,
                     struct why *why)
{
    enum err err = s->ops->rules->rule_lock(s, e->rule.id, why);
    if (!err)
        err = s->ops->rules->rule_get(s, e->rule.id, ret, why);
    if (err || ret->version == e->rule.version)
        return err;
    why_set(why, "the rule is at version %lld, the edit was made on %lld", (long long)ret->version,
            (long long)e->rule.version);
    rule_record_done(ret);
    return ERR_OVERTAKEN;
}

/* Is it about something else, so that what it has found is no longer its? */
static bool other(const struct rule_record *was, const struct rule_record *now)
{
    return was->kind != now->kind || was->group_id != now->group_id || was->job_id != now->job_id ||
           was->in_a_row != now->in_a_row || (was->enabled && !now->enabled);
}

static enum err run_change(struct store *s, struct rule_edit *e, struct why *why)
{
    struct rule_record was, now = e->rule;
    enum err err = take(s, e, &was, why);
    if (err)
        return err;
    now.version++;
    err = place_check(s, &now, why);
    if (!err)
        err = s->ops->rules->rule_update(s, &now, why);
    if (!err && other(&was, &now))
        err = incidents_drop_rule(s, now.id, now.updated_ms, why);
    audit_rule(e->audit, &was, &now);
    if (!err)
        err = audit_end(e, s, why);
    rule_record_done(&was);
    return err;
}

static enum err run_remove(struct store *s, struct rule_edit *e, struct why *why)
{
    struct rule_record was;
    enum err err = take(s, e, &was, why);
    if (err)
        return err;
    err = incidents_drop_rule(s, was.id, e->rule.updated_ms, why);
    if (!err)
        err = s->ops->rules->rule_delete(s, was.id, why);
    audit_rule(e->audit, &was, NULL);
    if (!err)
        err = audit_end(e, s, why);
    rule_record_done(&was);
    return err;
}

static enum err run_acknowledge(struct store *s, struct rule_edit *e, struct why *why)
{
    struct incident_record i;
    enum err err = incident_take(s, e->rule.id, &i, why);
    if (err)
        return err;
    if (i.closed_ms >= 0) {
        why_set(why, "alarm %lld is closed already", (long long)i.id);
        err = ERR_EXISTS;
    } else if (i.acknowledged_ms < 0) {
        i.acknowledged_ms = e->rule.updated_ms;
        i.acknowledged_by = mem_dup(e->by);
        err = s->ops->rules->incident_update(s, &i, why);
    }
    if (e->audit)
        audit_thing(e->audit, i.id, NULL);
    incident_record_done(&i);
    return err ? err : audit_end(e, s, why);
}

static enum err run_close(struct store *s, struct rule_edit *e, struct why *why)
{
    enum err err = incident_close(s, e->rule.id, e->by, e->rule.updated_ms, why);
    if (e->audit)
        audit_thing(e->audit, e->rule.id, NULL);
    return err ? err : audit_end(e, s, why);
}

static bool count_silence(void *ctx, const struct silence_record *r)
{
    (void)r;
    ++*(int *)ctx;
    return true;
}

static enum err run_silence(struct store *s, struct rule_edit *e, struct why *why)
{
    int n = 0;
    const struct store_rules *ops = s->ops->rules;
    enum err err = ops->silences_expire(s, e->silence.made_ms - SILENCES_KEPT_MS, why);
    if (!err)
        err = ops->silences_each(s, count_silence, &n, why);
    if (!err && n >= SILENCES_MAX) {
        why_set(why, "there are %d silences, and there can be no more: end one first", n);
        err = ERR_EXISTS;
    }
    if (!err)
        err = ops->silence_insert(s, &e->silence, why);
    if (err)
        return err;
    e->rule.id = e->silence.id;
    if (e->audit) {
        audit_thing(e->audit, e->silence.id, NULL);
        audit_number(e->audit, "/groupId", 0, e->silence.group_id, false, true);
        audit_number(e->audit, "/jobId", 0, e->silence.job_id, false, true);
        audit_number(e->audit, "/ruleId", 0, e->silence.rule_id, false, true);
        audit_number(e->audit, "/fromMs", 0, e->silence.from_ms, false, true);
        audit_number(e->audit, "/untilMs", 0, e->silence.until_ms, false, true);
        audit_text(e->audit, "/reason", NULL, e->silence.reason);
    }
    return audit_end(e, s, why);
}

static enum err run_speak(struct store *s, struct rule_edit *e, struct why *why)
{
    enum err err = s->ops->rules->silence_delete(s, e->rule.id, why);
    if (e->audit)
        audit_thing(e->audit, e->rule.id, NULL);
    return err ? err : audit_end(e, s, why);
}

static enum err run_resend(struct store *s, struct rule_edit *e, struct why *why)
{
    struct alarm_record r;
    enum err err = s->ops->alarms->alarm_get(s, e->rule.id, &r, why);
    if (err)
        return err;
    if (r.closed_ms < 0) {
        why_set(why, "delivery %lld is on its way", (long long)r.id);
        err = ERR_EXISTS;
    } else {
        err = s->ops->alarms->alarm_reopen(s, r.id, e->rule.updated_ms, why);
    }
    if (e->audit)
        audit_thing(e->audit, r.id, r.channel);
    alarm_record_done(&r);
    return err ? err : audit_end(e, s, why);
}

static enum err edit_take(struct store *s, void *arg, struct why *why)
{
    struct rule_edit *e = arg;
    incidents_stale(e->incidents);
    switch (e->act) {
    case ACT_ADD:
        return run_add(s, e, why);
    case ACT_CHANGE:
        return run_change(s, e, why);
    case ACT_REMOVE:
        return run_remove(s, e, why);
    case ACT_ACKNOWLEDGE:
        return run_acknowledge(s, e, why);
    case ACT_CLOSE:
        return run_close(s, e, why);
    case ACT_SILENCE:
        return run_silence(s, e, why);
    case ACT_SPEAK:
        return run_speak(s, e, why);
    case ACT_RESEND:
        return run_resend(s, e, why);
    }
    return ERR_INVALID;
}

static const struct ledger_write rule_write = { edit_take, edit_over };

/* ---- doors ----------------------------------------------------------------------------------- */

static struct rule_edit *edit_make(struct center *c, enum rule_act act, struct audit *audit)
{
    struct rule_edit *e = mem_new(sizeof(*e));
    atomic_init(&e->refs, 2);
    e->act = act;
    e->incidents = center_incidents(c);
    e->audit = audit;
    e->rule.updated_ms = clock_wall_ms();
    return e;
}

struct rule_edit *rule_edit_new(struct center *c, const struct rule_record *rule,
                                struct audit *audit)
{
    struct rule_edit *e = edit_make(c, rule->id ? ACT_CHANGE : ACT_ADD, audit);
    int64_t now_ms = e->rule.updated_ms;
    atomic_store(&e->refs, 1);
    rule_record_copy(&e->rule, rule);
    e->rule.updated_ms = now_ms;
    if (!rule->id)
        e->rule.created_ms = now_ms;
    return e;
}

void rule_edit_free(struct rule_edit *e)
{
    edit_unref(e);
}

void rule_edit_place(struct rule_edit *e, int64_t group_id, int64_t job_id)
{
    e->rule.group_id = group_id;
    e->rule.job_id = job_id;
}

enum err rule_edit_run(struct store *s, struct rule_edit *e, struct why *why)
{
    return edit_take(s, e, why);
}

static enum err edit_do(struct center *c, struct rule_edit *e, int64_t *ret_id, struct why *why)
{
    enum err err = center_write(c, &rule_write, e, why);
    if (!err && ret_id)
        *ret_id = e->rule.id;
    if (!err)
        center_alarms_changed(c);
    edit_unref(e);
    return err;
}

enum err rule_add(struct center *c, const struct rule_record *rule, struct audit *audit,
                  int64_t *ret_id, struct why *why)
{
    struct rule_edit *e = edit_make(c, ACT_ADD, audit);
    int64_t now_ms = e->rule.updated_ms;
    rule_record_copy(&e->rule, rule);
    e->rule.created_ms = e->rule.updated_ms = now_ms;
    return edit_do(c, e, ret_id, why);
}

enum err rule_change(struct center *c, const struct rule_record *rule, struct audit *audit,
                     struct why *why)
{
    struct rule_edit *e = edit_make(c, ACT_CHANGE, audit);
    int64_t now_ms = e->rule.updated_ms;
    rule_record_copy(&e->rule, rule);
    e->rule.updated_ms = now_ms;
    return edit_do(c, e, NULL, why);
}

enum err rule_remove(struct center *c, int64_t id, int64_t version, struct audit *audit,
                     struct why *why)
{
    struct rule_edit *e = edit_make(c, ACT_REMOVE, audit);
    e->rule.id = id;
    e->rule.version = version;
    return edit_do(c, e, NULL, why);
}

enum err alarm_acknowledge(struct center *c, int64_t id, const char *by, struct audit *audit,
                           struct why *why)
{
    struct rule_edit *e = edit_make(c, ACT_ACKNOWLEDGE, audit);
    e->rule.id = id;
    e->by = mem_dup(by);
    return edit_do(c, e, NULL, why);
}

enum err alarm_close(struct center *c, int64_t id, const char *by, struct audit *audit,
                     struct why *why)
{
    struct rule_edit *e = edit_make(c, ACT_CLOSE, audit);
    e->rule.id = id;
    e->by = mem_dup(by);
    return edit_do(c, e, NULL, why);
}

enum err silence_add(struct center *c, const struct silence_record *silence, struct audit *audit,
                     int64_t *ret_id, struct why *why)
{
    struct rule_edit *e = edit_make(c, ACT_SILENCE, audit);
    silence_record_copy(&e->silence, silence);
    return edit_do(c, e, ret_id, why);
}

enum err silence_end(struct center *c, int64_t id, struct audit *audit, struct why *why)
{
    struct rule_edit *e = edit_make(c, ACT_SPEAK, audit);
    e->rule.id = id;
    return edit_do(c, e, NULL, why);
}

enum err delivery_resend(struct center *c, int64_t id, struct audit *audit, struct why *why)
{
    struct rule_edit *e = edit_make(c, ACT_RESEND, audit);
    e->rule.id = id;
    return edit_do(c, e, NULL, why);
}
