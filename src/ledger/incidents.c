/* SPDX-License-Identifier: Apache-2.0 */
/* incidents.c - an alarm gathers the jobs of one cause. Those of one executor, or of a group
 * without executors, stay one alarm as long as it is open; failures that have only their group in
 * common are one if they come in one burst, that is, until the first message. */
#include "ledger/incidents.h"
#include "base/map.h"
#include "base/mem.h"
#include "ledger/internal.h"
#include "model/cause.h"
#include <stdatomic.h>
#include <stdlib.h>

#define PAGE 200 /* alarms of a rule that goes, looked at in one transaction */

struct incidents {
    _Atomic bool stale;
    struct rule_record *rules; /* that are enabled */
    int n, cap;
    int64_t slow_ms;         /* no run that took less concerns a rule */
    struct failing *failing; /* NULL: no other server ends runs */
};

/* ---- rules ----------------------------------------------------------------------------------- */

struct incidents *incidents_new(void)
{
    struct incidents *x = mem_new(sizeof(*x));
    atomic_init(&x->stale, true);
    return x;
}

static void forget(struct incidents *x)
{
    while (x->n > 0)
        rule_record_done(&x->rules[--x->n]);
}

void incidents_free(struct incidents *x)
{
    if (!x)
        return;
    forget(x);
    failing_free(x->failing);
    free(x->rules);
    free(x);
}

void incidents_share(struct incidents *x)
{
    x->failing = failing_new();
}

void incidents_stale(struct incidents *x)
{
    atomic_store(&x->stale, true);
}

static bool keep_rule(void *ctx, const struct rule_record *r)
{
    struct incidents *x = ctx;
    if (!r->enabled)
        return true;
    if (x->n == x->cap) {
        x->cap = x->cap ? x->cap * 2 : 8;
        x->rules = mem_resize(x->rules, (size_t)x->cap * sizeof(*x->rules));
    }
    rule_record_copy(&x->rules[x->n++], r);
    if (r->kind == RULE_SLOW && r->longer_ms < x->slow_ms)
        x->slow_ms = r->longer_ms;
    return true;
}

/* The rules as they were committed last. NULL: there are none that can concern this transaction. */
static enum err ready(struct txn *t, struct incidents **ret)
{
    struct incidents *x = t->b->incidents;
    enum err err = OK;
    *ret = NULL;
    if (x && atomic_exchange(&x->stale, false)) {
        forget(x);
        x->slow_ms = INT64_MAX;
        err = t->ops->rules->rules_each(t->store, keep_rule, x, &t->b->why);
        if (err)
            incidents_stale(x);
    }
    if (!err && x && x->n)
        *ret = x;
    return err;
}

/* ---- what happened --------------------------------------------------------------------------- */

struct event { /* of one job, for one rule */
    const struct rule_record *rule;
    int64_t group_id, job_id, log_id, took_ms;
    enum incident_cause cause;
    char address[256];
    const char *text;
};

static void address_of_row(struct txn *t, struct event *e)
{
    struct log_record row = { 0 };
    struct why why = { "" };
    if (t->ops->pages->log_get(t->store, e->log_id, &row, &why))
        return; /* it is one of its group then */
    text_copy(e->address, sizeof(e->address), slice_text(row.address ? row.address : ""));
    log_record_done(&row);
}

static void find_cause(struct txn *t, struct event *e, const struct run_change *c)
{
    e->cause = CAUSE_GROUP;
    if (c->phase == PHASE_UNROUTABLE) {
        e->cause = CAUSE_NO_EXECUTOR;
        return;
    }
    if (c->phase == PHASE_REJECTED && c->what & CHANGE_TRIGGER)
        text_copy(e->address, sizeof(e->address), cause_unreached(slice_text(c->trigger_msg)));
    else if (c->phase == PHASE_LOST && c->address)
        text_copy(e->address, sizeof(e->address), slice_text(c->address));
    else if (c->phase == PHASE_LOST)
        address_of_row(t, e);
    if (e->address[0])
        e->cause = CAUSE_EXECUTOR;
}

/* ---- into an alarm --------------------------------------------------------------------------- */

/* May another event be added to it? */
static bool takes(const struct incident_record *i)
{
    return i->told_ms < 0 || i->cause != CAUSE_GROUP || !rule_stays(i->kind);
}

static enum err incident_for(struct txn *t, const struct event *e, struct incident_record *ret)
{
    const struct store_rules *ops = t->ops->rules;
    enum err err = ops->rule_lock(t->store, e->rule->id, &t->b->why);
    if (!err)
        err = ops->incident_find(t->store, e->rule->id, e->group_id, e->cause, e->address, ret,
                                 &t->b->why);
    if (!err && takes(ret))
        return OK;
    if (!err)
        incident_record_done(ret);
    else if (err != ERR_NOTFOUND)
        return err;
    *ret = (struct incident_record){
        .rule_id = e->rule->id,
        .group_id = e->group_id,
        .kind = e->rule->kind,
        .level = e->rule->level,
        .cause = e->cause,
        .address = mem_dup(e->address),
        .since_ms = t->b->now_ms,
        .log_id = e->log_id,
        .text = mem_dup(e->text),
        .last_ms = t->b->now_ms,
        .told_ms = -1,
        .closed_ms = -1,
        .acknowledged_ms = -1,
    };
    return ops->incident_insert(t->store, ret, &t->b->why);
}

static enum err job_add(struct txn *t, const struct event *e, struct incident_record *i)
{
    const struct store_rules *ops = t->ops->rules;
    struct incident_job j;
    enum err err = ops->incident_job_get(t->store, i->id, e->job_id, &j, &t->b->why);
    if (err && err != ERR_NOTFOUND)
        return err;
    bool known = !err;
    if (!known)
        j = (struct incident_job){ .incident_id = i->id,
                                   .rule_id = i->rule_id,
                                   .job_id = e->job_id,
                                   .closed_ms = -1,
                                   .since_ms = t->b->now_ms };
    i->jobs += !known;
    i->open += !known || j.closed_ms >= 0;
    j.closed_ms = -1;
    j.events++;
    j.log_id = e->log_id;
    j.took_ms = e->took_ms > j.took_ms ? e->took_ms : j.took_ms;
    free(j.text);
    j.text = mem_dup(e->text);
    err = ops->incident_job_put(t->store, &j, &t->b->why);
    incident_job_done(&j);
    return err;
}

static enum err happened(struct txn *t, const struct event *e)
{
    struct incident_record i = { .id = 0 };
    enum err err = incident_for(t, e, &i);
    if (!err)
        err = job_add(t, e, &i);
    if (!err) {
        i.events++;
        i.untold++;
        i.last_ms = t->b->now_ms;
        err = t->ops->rules->incident_update(t->store, &i, &t->b->why);
    }
    t->b->nalarms += !err;
    incident_record_done(&i);
    return err;
}

/* ---- out of alarms --------------------------------------------------------------------------- */

struct found {       /* rows of a job, or alarms of a rule */
    int64_t rule_id; /* of jobs: 0: of any rule */
    struct incident_job *jobs;
    int64_t *ids;
    size_t n, cap;
};

static bool note_job(void *ctx, const struct incident_job *j)
{
    struct found *f = ctx;
    if (f->rule_id && f->rule_id != j->rule_id)
        return true;
    if (f->n == f->cap) {
        f->cap = f->cap ? f->cap * 2 : 8;
        f->jobs = mem_resize(f->jobs, f->cap * sizeof(*f->jobs));
    }
    incident_job_copy(&f->jobs[f->n++], j);
    return true;
}

static enum err job_out(struct txn *t, struct incident_job *j)
{
    const struct store_rules *ops = t->ops->rules;
    struct incident_record i;
    enum err err = incident_take(t->store, j->incident_id, &i, &t->b->why);
    if (err)
        return err == ERR_NOTFOUND ? OK : err;
    j->closed_ms = t->b->now_ms;
    err = ops->incident_job_put(t->store, j, &t->b->why);
    if (!err && i.closed_ms < 0) {
        i.open -= i.open > 0;
        i.last_ms = t->b->now_ms;
        i.closed_ms = i.open ? -1 : t->b->now_ms;
        err = ops->incident_update(t->store, &i, &t->b->why);
        t->b->nalarms += !err;
    }
    incident_record_done(&i);
    return err;
}

/* The job is well again, for that rule; 0: for all. */
static enum err recovered(struct txn *t, int64_t rule_id, int64_t job_id)
{
    struct found f = { .rule_id = rule_id };
    enum err err = t->ops->rules->incident_jobs_open(t->store, job_id, note_job, &f, &t->b->why);
    for (size_t i = 0; i < f.n; i++) {
        if (!err)
            err = job_out(t, &f.jobs[i]);
        incident_job_done(&f.jobs[i]);
    }
    free(f.jobs);
    return err;
}

/* ---- ends of runs ---------------------------------------------------------------------------- */

static enum err tell_of(struct txn *t, const struct rule_record *r, const struct run_end *e,
                        const struct run_change *c)
{
    struct event it = { .rule = r,
                        .group_id = e->group_id,
                        .job_id = e->job_id,
                        .log_id = e->log_id,
                        .took_ms = e->took_ms,
                        .text = "" };
    struct cause why; /* it.text points into it */
    if (c && r->kind == RULE_FAILED) {
        find_cause(t, &it, c);
        why = change_cause(c);
        it.text = why.text;
    }
    return happened(t, &it);
}

/* Whoever has seen its failures: is the job in an alarm? One that fails on where another server has
 * seen it succeed has a transition behind it that was not seen here. */
static enum err judge_shared(struct txn *t, const struct rule_record *r, const struct run_end *e,
                             const struct run_change *c)
{
    uint32_t limit = (uint32_t)r->in_a_row;
    struct failing_state there;
    struct job_stat stat;
    enum err err = failing_of(t, r->id, e->job_id, &there);
    if (err)
        return err;
    if (e->streak < limit)
        return there.any ? recovered(t, r->id, e->job_id) : OK;
    if (there.open)
        return OK;
    bool again = !there.any && figures_job_here(t->figures, e->job_id, &stat) &&
                 stat.failed_ms > r->updated_ms; /* not one that fails since before the rule */
    return e->streak_was < limit || again ? tell_of(t, r, e, c) : OK;
}

static enum err judge(struct txn *t, const struct rule_record *r, const struct run_end *e,
                      const struct run_change *c)
{
    uint32_t limit = (uint32_t)r->in_a_row;
    switch (r->kind) {
    case RULE_FAILED:
        if (e->streak_was < limit && e->streak >= limit)
            return tell_of(t, r, e, c);
        return e->streak_was >= limit && e->streak < limit ? recovered(t, r->id, e->job_id) : OK;
    case RULE_RECOVERED:
        return e->streak_was && !e->streak ? tell_of(t, r, e, c) : OK;
    case RULE_SLOW:
        return e->took_ms > r->longer_ms ? tell_of(t, r, e, c) : OK;
    default:
        return OK;
    }
}

/* The change that the end belongs to: ends stand in the order of the changes, and those of edits
 * behind them. NULL: it has none. */
static const struct run_change *change_of(const struct batch *b, const struct run_end *e, int *i)
{
    for (int k = *i; k < b->nchanges; k++)
        if (b->changes[k].log_id == e->log_id) {
            *i = k;
            return &b->changes[k];
        }
    return NULL;
}

/* No rule can be concerned. */
static bool quiet(const struct incidents *x, const struct run_end *e)
{
    if (e->streak != e->streak_was || e->took_ms > x->slow_ms)
        return false;
    return !x->failing || (!e->streak && !failing_has(x->failing, e->job_id));
}

static enum err ends(struct txn *t, const struct incidents *x)
{
    const struct batch *b = t->b;
    enum err err = OK;
    int at = 0;
    for (int i = 0; !err && i < b->nends; i++) {
        const struct run_end *e = &b->ends[i];
        if (quiet(x, e))
            continue;
        const struct run_change *c = change_of(b, e, &at);
        for (int k = 0; !err && k < x->n; k++)
            if (rule_is_of(&x->rules[k], e->group_id, e->job_id))
                err = x->failing && x->rules[k].kind == RULE_FAILED
                          ? judge_shared(t, &x->rules[k], e, c)
                          : judge(t, &x->rules[k], e, c);
    }
    return err;
}

enum err incidents_run(struct txn *t)
{
    struct incidents *x;
    const struct batch *b = t->b;
    enum err err = ready(t, &x);
    if (err || !x || !t->figures)
        return err;
    if (x->failing && b->nends)
        err = failing_look(x->failing, t);
    if (!err)
        err = ends(t, x);
    for (int i = 0; !err && i < b->nedits; i++)
        if (b->edits[i]->kind == EDIT_JOB_DELETE && !b->edits[i]->err)
            err = recovered(t, 0, b->edits[i]->id);
    return err;
}

enum err incidents_stopped(struct txn *t)
{
    struct incidents *x = NULL;
    enum err err = t->nstops ? ready(t, &x) : OK;
    for (int i = 0; !err && x && i < t->nstops; i++) {
        struct job_record job;
        struct why why = { "" };
        job_record_init(&job);
        if (t->ops->catalog->job_get(t->store, t->stops[i].job_id, &job, &why))
            continue;                                       /* it is not there any more */
        bool once = strcmp(job.schedule_type, "ONCE") == 0; /* it is over as it should be */
        for (int k = 0; !err && !once && k < x->n; k++) {
            const struct event e = { .rule = &x->rules[k],
                                     .group_id = job.group_id,
                                     .job_id = job.id,
                                     .text = t->stops[i].reason };
            if (x->rules[k].kind == RULE_STOPPED && rule_is_of(e.rule, e.group_id, e.job_id))
                err = happened(t, &e);
        }
        job_record_done(&job);
    }
    return err;
}

/* ---- closing by hand ------------------------------------------------------------------------- */

/* Its jobs are out of it as well: one that goes on failing comes into another alarm only after it
 * has recovered. */
static enum err close_it(struct store *s, struct incident_record *i, const char *by, bool settled,
                         int64_t now_ms, struct why *why)
{
    i->closed_ms = now_ms;
    i->open = 0;
    i->settled = settled;
    free(i->closed_by);
    i->closed_by = mem_dup(by);
    return s->ops->rules->incident_update(s, i, why);
}

enum err incident_take(struct store *s, int64_t id, struct incident_record *ret, struct why *why)
{
    const struct store_rules *ops = s->ops->rules;
    enum err err = ops->incident_get(s, id, ret, why);
    if (err)
        return err;
    int64_t rule_id = ret->rule_id;
    incident_record_done(ret);
    err = ops->rule_lock(s, rule_id, why);
    return err ? err : ops->incident_get(s, id, ret, why); /* it may have changed meanwhile */
}

enum err incident_close(struct store *s, int64_t id, const char *by, int64_t now_ms,
                        struct why *why)
{
    struct incident_record i;
    enum err err = incident_take(s, id, &i, why);
    if (err)
        return err;
    if (i.closed_ms >= 0) {
        why_set(why, "alarm %lld is closed already", (long long)id);
        err = ERR_EXISTS;
    } else {
        err = close_it(s, &i, by, i.told_ms < 0, now_ms, why);
    }
    incident_record_done(&i);
    return err;
}

static bool note_of_rule(void *ctx, const struct incident_record *i)
{
    struct found *f = ctx;
    if (i->rule_id == f->rule_id && f->n < f->cap)
        f->ids[f->n++] = i->id;
    return true;
}

enum err incidents_drop_rule(struct store *s, int64_t rule_id, int64_t now_ms, struct why *why)
{
    int64_t ids[PAGE], total;
    struct found f = { .rule_id = rule_id, .ids = ids, .cap = PAGE };
    const struct incidents_filter filter = {
        .open = 1, .rule_id = rule_id, .below_id = INT64_MAX, .limit = PAGE
    };
    enum err err = s->ops->rules->rule_lock(s, rule_id, why);
    if (!err)
        err = s->ops->rules->incidents_page(s, &filter, note_of_rule, &f, &total, why);
    for (size_t i = 0; !err && i < f.n; i++) {
        struct incident_record r;
        err = s->ops->rules->incident_get(s, ids[i], &r, why);
        if (err)
            return err;
        err = close_it(s, &r, NULL, true, now_ms, why);
        incident_record_done(&r);
    }
    return err;
}

/* ---- messages -------------------------------------------------------------------------------- */

static enum err message_add(struct store *s, const struct incident_record *i,
                            const struct tell_record *t, const struct tell_to *to, struct why *why)
{
    struct alarm_record a = {
        .log_id = -t->id,
        .group_id = i->group_id,
        .made_ms = t->at_ms,
        .phase = PHASE_FAILED,
        .fingerprint = hash_u64((uint64_t)i->id),
        .cause = i->text,
        .channel = to->channel, /* lent: the store copies */
        .targets = to->targets,
    };
    return s->ops->alarms->alarms_add(s, &a, 1, why);
}

static char *targets_of(const struct tells *a, const char *channel)
{
    for (int i = 0; i < a->nto; i++)
        if (strcmp(a->to[i].channel, channel) == 0)
            return a->to[i].targets;
    return NULL;
}

static enum err messages_add(struct store *s, const struct tells *a,
                             const struct incident_record *i, const struct rule_record *r,
                             enum tell_state state, struct why *why)
{
    struct tell_record t = { .incident_id = i->id, .state = state, .at_ms = a->now_ms };
    enum err err = s->ops->rules->tell_insert(s, &t, why);
    struct slice rest = slice_text(r->channels), one;
    while (!err && slice_item(&rest, &one)) {
        struct tell_to to = { .channel = mem_dupn(one.p, one.n) };
        to.targets = targets_of(a, to.channel);
        err = message_add(s, i, &t, &to, why);
        free(to.channel);
    }
    return err;
}

/* What the alarm is after that message. */
static void told(struct incident_record *i, const struct rule_record *r, enum tell_state state,
                 int64_t now_ms)
{
    bool over = state == TELL_CLOSED || state == TELL_NOTHING || i->closed_ms >= 0;
    if (state != TELL_NOTHING) {
        i->told++;
        i->told_ms = now_ms;
        i->untold = 0;
    }
    if (over || (!rule_stays(i->kind) && !r->repeat_ms)) {
        i->settled = true;
        i->closed_ms = i->closed_ms < 0 ? now_ms : i->closed_ms;
    }
}

static enum err tell_one(struct store *s, const struct tells *a, const struct tell *t,
                         struct why *why)
{
    struct incident_record i;
    struct rule_record r = { .id = 0 };
    enum err err = incident_take(s, t->incident_id, &i, why);
    if (err)
        return err == ERR_NOTFOUND ? OK : err;
    if (!i.settled && i.told == t->told) {
        err = s->ops->rules->rule_get(s, i.rule_id, &r, why);
        enum tell_state state = err || !r.enabled ? TELL_NOTHING : t->state;
        if (err == ERR_NOTFOUND)
            err = OK;
        if (!err && state != TELL_NOTHING)
            err = messages_add(s, a, &i, &r, state, why);
        if (!err) {
            told(&i, &r, state, a->now_ms);
            err = s->ops->rules->incident_update(s, &i, why);
        }
        rule_record_done(&r);
    }
    incident_record_done(&i);
    return err;
}

static enum err tells_run(struct store *s, void *arg, struct why *why)
{
    const struct tells *a = arg;
    enum err err = OK;
    for (int i = 0; !err && i < a->n; i++)
        err = tell_one(s, a, &a->tells[i], why);
    return err;
}

void tells_free(struct tells *t)
{
    for (int i = 0; t && i < t->nto; i++) {
        free(t->to[i].channel);
        free(t->to[i].targets);
    }
    if (t)
        free(t->to);
    free(t);
}

static void tells_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    tells_free(arg);
}

const struct ledger_write tells_write = { tells_run, tells_done };

/* ---- states that last ------------------------------------------------------------------------ */

static bool found_open(void *ctx, const struct incident_job *j)
{
    struct incident_job *wanted = ctx;
    if (j->rule_id == wanted->rule_id)
        wanted->incident_id = j->incident_id; /* they come by id: the newest */
    return true;
}

/* Is the job in an open alarm of the rule? One that a user has closed is none. */
static enum err job_is_in(struct txn *t, const struct rule_record *r, int64_t job_id, bool *ret)
{
    struct incident_job there = { .rule_id = r->id };
    struct incident_record i;
    enum err err =
        t->ops->rules->incident_jobs_open(t->store, job_id, found_open, &there, &t->b->why);
    *ret = false;
    if (err || !there.incident_id)
        return err;
    err = t->ops->rules->incident_get(t->store, there.incident_id, &i, &t->b->why);
    if (err)
        return err == ERR_NOTFOUND ? OK : err;
    *ret = i.closed_ms < 0;
    incident_record_done(&i);
    return OK;
}

static enum err job_late(struct txn *t, const struct rule_record *r, const struct condition *c)
{
    bool there;
    const struct event e = {
        .rule = r, .group_id = c->group_id, .job_id = c->job_id, .cause = c->cause, .text = c->text
    };
    enum err err = job_is_in(t, r, c->job_id, &there);
    return err || there ? err : happened(t, &e);
}

/* A state that is of no job: the alarm is it. */
static enum err state_begins(struct txn *t, const struct rule_record *r, const struct condition *c)
{
    struct event e = { .rule = r, .group_id = c->group_id, .cause = c->cause, .text = c->text };
    struct incident_record i = { .id = 0 };
    text_copy(e.address, sizeof(e.address), slice_text(c->address));
    enum err err = t->ops->rules->rule_lock(t->store, r->id, &t->b->why);
    if (!err)
        err = t->ops->rules->incident_find(t->store, r->id, c->group_id, c->cause, e.address, &i,
                                           &t->b->why);
    if (err == ERR_NOTFOUND) {
        err = incident_for(t, &e, &i);
        i.events = i.untold = 1;
        if (!err)
            err = t->ops->rules->incident_update(t->store, &i, &t->b->why);
    }
    incident_record_done(&i);
    return err;
}

static enum err state_ends(struct txn *t, const struct condition *c)
{
    struct incident_record i;
    enum err err = t->ops->rules->rule_lock(t->store, c->rule_id, &t->b->why);
    if (!err)
        err = t->ops->rules->incident_find(t->store, c->rule_id, c->group_id, c->cause, c->address,
                                           &i, &t->b->why);
    if (err)
        return err == ERR_NOTFOUND ? OK : err;
    i.closed_ms = i.last_ms = t->b->now_ms;
    err = t->ops->rules->incident_update(t->store, &i, &t->b->why);
    incident_record_done(&i);
    return err;
}

static enum err condition_run(struct txn *t, const struct condition *c)
{
    struct rule_record r;
    if (c->over)
        return c->job_id ? recovered(t, c->rule_id, c->job_id) : state_ends(t, c);
    enum err err = t->ops->rules->rule_get(t->store, c->rule_id, &r, &t->b->why);
    if (err)
        return err == ERR_NOTFOUND ? OK : err; /* it was deleted meanwhile */
    if (r.enabled && rule_watches(r.kind))
        err = c->job_id ? job_late(t, &r, c) : state_begins(t, &r, c);
    rule_record_done(&r);
    return err;
}

static enum err conditions_run(struct store *s, void *arg, struct why *why)
{
    const struct conditions *a = arg;
    struct batch *b = mem_new(sizeof(*b));
    struct txn t = { .store = s, .ops = s->ops, .b = b };
    enum err err = OK;
    b->now_ms = a->now_ms;
    for (int i = 0; !err && i < a->n; i++)
        err = condition_run(&t, &a->items[i]);
    if (err)
        *why = b->why;
    free(b);
    return err;
}

static void conditions_done(void *arg, enum err err, const struct why *why)
{
    (void)err;
    (void)why;
    free(arg);
}

const struct ledger_write conditions_write = { conditions_run, conditions_done };
