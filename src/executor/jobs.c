/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/jobs.h"
#include <stdlib.h>
#include "base/mem.h"
#include "executor/pool.h"
#include "wire/texts.h"

#define TIMEOUT_MAX_S 100000000ll /* three years: more is as good as none */

struct job {
    struct jobs *jobs;
    int64_t id;
    struct peal_run *running; /* with the pool; NULL: none */
    struct list waiting;      /* struct peal_run, first come first */
    int nwaiting;
    struct loop_timer timeout; /* of running */
    /* what the youngest run is made of: another one means that the job was changed */
    const struct peal_handler *handler;
    const struct script_kind *script;
    int64_t glue_update_ms;
};

static void timed_out(struct loop_timer *t)
{
    struct job *job = container_of(t, struct job, timeout);
    run_ask_to_stop(job->running, RUN_TIMED_OUT);
}

static struct job *job_get(struct jobs *j, int64_t id)
{
    struct job *job = map_find(&j->by_id, (uint64_t)id);
    if (job)
        return job;
    job = mem_new(sizeof(*job));
    job->jobs = j;
    job->id = id;
    job->timeout.fire = timed_out;
    list_init(&job->waiting);
    map_set(&j->by_id, (uint64_t)id, job);
    return job;
}

static void job_free_if_idle(struct job *job)
{
    if (job->running || job->nwaiting)
        return;
    map_take(&job->jobs->by_id, (uint64_t)job->id);
    loop_timer_clear(job->jobs->loop, &job->timeout);
    free(job);
}

static void start_next(struct job *job)
{
    if (job->running || !job->nwaiting)
        return;
    job->running = container_of(list_pop(&job->waiting), struct peal_run, node);
    job->nwaiting--;
    pool_give(job->jobs->pool, job->running);
}

/* A run on its way out is not in the way of the next one. */
static bool in_the_way(const struct job *job)
{
    return job->nwaiting > 0 || (job->running && !run_stopping(job->running));
}

static bool changed(const struct job *job, const struct peal_run *r)
{
    return (job->running || job->nwaiting) &&
           (job->handler != r->handler || job->script != r->script ||
            (r->script && job->glue_update_ms != r->glue_update_ms));
}

static void leave(struct jobs *j, struct peal_run *r)
{
    known_finish(&j->known, r->log_id, loop_now_ms(j->loop));
    j->live--;
    j->ended(r, j->arg);
}

static void end_job(struct job *job, enum run_stop why)
{
    if (job->running)
        run_ask_to_stop(job->running, why);
    for (struct list_node *n; (n = list_pop(&job->waiting));) {
        struct peal_run *r = container_of(n, struct peal_run, node);
        job->nwaiting--;
        run_set_stopped(r, why, true);
        leave(job->jobs, r);
    }
}

void jobs_init(struct jobs *j, struct loop *l, struct pool *pool, int queue_max, int remember)
{
    *j = (struct jobs){ .loop = l, .pool = pool, .queue_max = queue_max };
    map_init(&j->by_id);
    known_init(&j->known, (size_t)remember);
}

void jobs_done(struct jobs *j)
{
    void *value;
    for (size_t i = 0; map_next(&j->by_id, &i, &value);) {
        struct job *job = value;
        loop_timer_clear(j->loop, &job->timeout);
        for (struct list_node *n; (n = list_pop(&job->waiting));)
            run_drop(container_of(n, struct peal_run, node));
        free(job);
    }
    map_done(&j->by_id);
    known_done(&j->known);
}

enum err jobs_offer(struct jobs *j, struct peal_run *r, enum wire_block block, struct why *why)
{
    struct job *job = job_get(j, r->job_id);
    if (changed(job, r)) {
        end_job(job, RUN_CHANGED);
    } else if (block == WIRE_BLOCK_DISCARD && in_the_way(job)) {
        why_set(why, "%s", WIRE_TEXT_DISCARD);
        return ERR_BUSY;
    } else if (block == WIRE_BLOCK_COVER && in_the_way(job)) {
        end_job(job, RUN_COVERED);
    }
    if (job->nwaiting >= j->queue_max) {
        why_set(why, "the job's queue is full: %d runs wait (peal.executor.queue)", job->nwaiting);
        return ERR_FULL;
    }
    job->handler = r->handler;
    job->script = r->script;
    job->glue_update_ms = r->glue_update_ms;
    known_begin(&j->known, r->log_id);
    j->live++;
    list_push(&job->waiting, &r->node);
    job->nwaiting++;
    start_next(job);
    return OK;
}

bool jobs_busy(const struct jobs *j, int64_t job_id)
{
    return map_find(&j->by_id, (uint64_t)job_id) != NULL;
}

struct peal_run *jobs_running(const struct jobs *j, int64_t log_id)
{
    void *value;
    if (known_find(&j->known, log_id) != KNOWN_LIVE)
        return NULL;
    for (size_t i = 0; map_next(&j->by_id, &i, &value);) {
        struct job *job = value;
        if (job->running && job->running->log_id == log_id)
            return job->running;
    }
    return NULL;
}

bool jobs_end(struct jobs *j, int64_t job_id, enum run_stop why)
{
    struct job *job = map_find(&j->by_id, (uint64_t)job_id);
    if (!job || !in_the_way(job))
        return false;
    end_job(job, why);
    return true;
}

void jobs_end_all(struct jobs *j, enum run_stop why)
{
    void *value;
    for (size_t i = 0; map_next(&j->by_id, &i, &value);)
        end_job(value,
                why); /* a job without a running run is not in the map: none goes away here */
}

void jobs_begun(struct jobs *j, struct peal_run *r)
{
    run_saw_begun(r);
    struct job *job = map_find(&j->by_id, (uint64_t)r->job_id);
    int64_t s = r->timeout_s < TIMEOUT_MAX_S ? r->timeout_s : TIMEOUT_MAX_S;
    if (s > 0)
        loop_timer_set(j->loop, &job->timeout, loop_now_ms(j->loop) + s * 1000);
}

void jobs_over(struct jobs *j, struct peal_run *r)
{
    struct job *job = map_find(&j->by_id, (uint64_t)r->job_id);
    job->running = NULL;
    loop_timer_clear(j->loop, &job->timeout);
    start_next(job);
    job_free_if_idle(job);
    leave(j, r);
}
