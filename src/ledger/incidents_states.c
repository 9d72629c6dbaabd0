/* SPDX-License-Identifier: Apache-2.0 */
/* incidents_states.c - states that last: the rules that look for them have found one, or that it is
 * over. */
#include "base/mem.h"
#include "ledger/incidents_internal.h"
#include <stdlib.h>

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
    const struct incident_event e = {
        .rule = r, .group_id = c->group_id, .job_id = c->job_id, .cause = c->cause, .text = c->text
    };
    enum err err = job_is_in(t, r, c->job_id, &there);
    return err || there ? err : incident_happened(t, &e);
}

/* A state that is of no job: the alarm is it. */
static enum err state_begins(struct txn *t, const struct rule_record *r, const struct condition *c)
{
    struct incident_event e = {
        .rule = r, .group_id = c->group_id, .cause = c->cause, .text = c->text
    };
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
        return c->job_id ? incidents_recovered(t, c->rule_id, c->job_id) : state_ends(t, c);
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
