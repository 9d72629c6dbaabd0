/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - a job while it has runs in memory: its newest definition, and what its runs tell of each
 * other. */
#include "sched/job.h"
#include "sched/run.h"
#include "sched/state.h"
#include <stdlib.h>
#include <string.h>

struct live_job *job_live(struct sched *s, int64_t id)
{
    return map_find(&s->jobs, (uint64_t)id);
}

struct difference { /* of two definitions: in what log rows hold, */
    bool param, handler, group;
    bool call; /* and in what each call has, whatever its parameter */
};

static struct difference difference(const struct job *a, const struct job *b)
{
    struct difference d = { .param = strcmp(a->param, b->param) != 0,
                            .handler = strcmp(a->handler, b->handler) != 0,
                            .group = a->group_id != b->group_id };
    d.call = d.handler || a->block != b->block || a->timeout_s != b->timeout_s ||
             a->glue_updated_ms != b->glue_updated_ms || strcmp(a->glue_type, b->glue_type) != 0 ||
             strcmp(a->glue_source, b->glue_source) != 0;
    return d;
}

/* What its log row holds stays as it was when the row was made, until the run leaves by the job as
 * it is then (run_renew). A call that waits for its first byte was made of the job as it was. */
static void keep_old(struct run *r, const struct job *old, const struct difference *d)
{
    const struct run_text none = { 0 }, *t = r->text ? r->text : &none;
    bool param = d->param && !t->param, handler = d->handler && !t->handler;
    bool group = d->group && !t->group_id;
    if (r->wait == WAIT_CALL && (d->call || (d->param && kind_of_schedule((enum kind)r->kind))))
        r->flags |= RUN_STALE;
    if (!param && !handler && !group)
        return;
    if (!r->text)
        r->text = mem_new(sizeof(*r->text));
    if (param)
        r->text->param = mem_dup(old->param);
    if (handler)
        r->text->handler = mem_dup(old->handler);
    if (group)
        r->text->group_id = old->group_id;
}

void job_define(struct live_job *j, struct job *def)
{
    const struct difference d = difference(j->def, def);
    list_each(&j->runs, n, tmp) keep_old(container_of(n, struct run, of_job), j->def, &d);
    job_ref(def);
    job_unref(j->def);
    j->def = def;
}

struct live_job *job_enter(struct sched *s, struct job *def)
{
    struct live_job *j = job_live(s, def->id);
    if (!j) {
        j = mem_new(sizeof(*j));
        j->id = def->id;
        j->def = job_ref(def);
        j->told = def->version;
        list_init(&j->runs);
        list_init(&j->probes);
        map_set(&s->jobs, (uint64_t)j->id, j);
    } else if (def->version > j->def->version) {
        job_define(j, def);
    }
    return j;
}

void job_settle(struct sched *s, struct live_job *j)
{
    if (j->nruns)
        return;
    while (list_pop(&j->probes)) /* they end by themselves */
        ;
    list_remove(&j->broadcast);
    map_take(&s->jobs, (uint64_t)j->id);
    job_unref(j->def);
    free(j);
}

void job_started(struct run *r)
{
    struct live_job *j = r->job;
    if (r->sent_ms <= j->started_sent_ms || !r->lane)
        return; /* log ids are no order: a retry's is older than its send */
    j->started_sent_ms = r->sent_ms;
    j->started_lane = r->lane->id;
}

bool job_is_out(const struct sched *s, const struct live_job *j)
{
    if (j->anew_seq == s->seq)
        return true;
    list_each(&j->runs, n, tmp)
    {
        const struct run *r = container_of(n, struct run, of_job);
        if (run_retries(r) || (run_open(r) && r->flags & RUN_SCHEDULED))
            return true;
    }
    return false;
}

void job_delay(struct sched *s, struct now now, const struct live_job *j)
{
    if (j->def->schedule.type != SCHEDULE_FIX_DELAY || j->deleted || job_is_out(s, j))
        return;
    struct delay d = { j->id, now.wall_ms };
    array_push(s->next->delays, s->next->ndelays, d);
    want_batch_soon(s);
    if (j->def->schedule.interval_ms < NOT_SOON_MS)
        want_batch(s);
}

struct run *retry_of(const struct run *r)
{
    list_each(&r->job->runs, n, tmp)
    {
        struct run *other = container_of(n, struct run, of_job);
        if (other->kind == KIND_RETRY && other->cause == r->log_id)
            return other;
    }
    return NULL;
}
