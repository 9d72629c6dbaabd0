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

/* What its log row and its call hold stays as it was when the row was made. */
static void keep_old(struct run *r, const struct job *old, bool param, bool group)
{
    param &= !r->text || !r->text->param;
    group &= !r->text || !r->text->group_id;
    if (!param && !group)
        return;
    if (!r->text)
        r->text = mem_new(sizeof(*r->text));
    if (param)
        r->text->param = mem_dup(old->param);
    if (group)
        r->text->group_id = old->group_id;
}

void job_define(struct live_job *j, struct job *def)
{
    bool param = strcmp(def->param, j->def->param) != 0, group = def->group_id != j->def->group_id;
    list_each(&j->runs, n, tmp) keep_old(container_of(n, struct run, of_job), j->def, param, group);
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
    s->wanted = true;
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
