/* SPDX-License-Identifier: Apache-2.0 */
/* incidents.c - what rules find in the ends of runs, and in jobs that planning stops. */
#include "ledger/incidents.h"
#include "base/mem.h"
#include "ledger/incidents_internal.h"
#include "model/cause.h"
#include <stdatomic.h>
#include <stdlib.h>

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

static void address_of_row(struct txn *t, struct incident_event *e)
{
    struct log_record row = { 0 };
    struct why why = { "" };
    if (t->ops->pages->log_get(t->store, e->log_id, &row, &why))
        return; /* it is one of its group then */
    text_copy(e->address, sizeof(e->address), slice_text(row.address ? row.address : ""));
    log_record_done(&row);
}

static void find_cause(struct txn *t, struct incident_event *e, const struct run_change *c)
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

/* ---- ends of runs ---------------------------------------------------------------------------- */

static enum err tell_of(struct txn *t, const struct rule_record *r, const struct run_end *e,
                        const struct run_change *c)
{
    struct incident_event it = { .rule = r,
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
    return incident_happened(t, &it);
}

/* Whichever server saw its failures: is the job in an alarm? One that fails on where another server
 * has seen it succeed has a transition behind it that was not seen here. */
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
        return there.any ? incidents_recovered(t, r->id, e->job_id) : OK;
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
        return e->streak_was >= limit && e->streak < limit
                   ? incidents_recovered(t, r->id, e->job_id)
                   : OK;
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
            err = incidents_recovered(t, 0, b->edits[i]->id);
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
            const struct incident_event e = { .rule = &x->rules[k],
                                              .group_id = job.group_id,
                                              .job_id = job.id,
                                              .text = t->stops[i].reason };
            if (x->rules[k].kind == RULE_STOPPED && rule_is_of(e.rule, e.group_id, e.job_id))
                err = incident_happened(t, &e);
        }
        job_record_done(&job);
    }
    return err;
}
