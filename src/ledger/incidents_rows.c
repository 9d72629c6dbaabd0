/* SPDX-License-Identifier: Apache-2.0 */
/* incidents_rows.c - an alarm gathers the jobs of one cause. Those of one executor, or of a group
 * without executors, stay one alarm as long as it is open; failures that have only their group in
 * common are one if they come in one burst, that is, until the first message. */
#include "base/mem.h"
#include "ledger/incidents_internal.h"
#include <stdlib.h>

#define PAGE 200 /* alarms of a rule that goes, looked at in one transaction */

/* ---- into an alarm --------------------------------------------------------------------------- */

/* May another event be added to it? */
static bool takes(const struct incident_record *i)
{
    return i->told_ms < 0 || i->cause != CAUSE_GROUP || !rule_stays(i->kind);
}

enum err incident_for(struct txn *t, const struct incident_event *e, struct incident_record *ret)
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

static enum err job_add(struct txn *t, const struct incident_event *e, struct incident_record *i)
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

enum err incident_happened(struct txn *t, const struct incident_event *e)
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

enum err incidents_recovered(struct txn *t, int64_t rule_id, int64_t job_id)
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
