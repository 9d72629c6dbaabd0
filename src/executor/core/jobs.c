/* SPDX-License-Identifier: Apache-2.0 */
/* The queues. A job's state is what its members say: running (STARTING or later), the list of those
 * that wait, and at most one place in a list of the executor: ready (its first run needs a worker
 * and nothing else) or idle (it has a handler's state and nothing to do).
 *
 * Every entry changes one job and ends with look_at, which puts the job where it belongs and starts
 * what can start; look_at may free the job. Workers are counted twice: at_work counts those that
 * are promised, from before the START is written; busy those that have a task. A run that is
 * STARTED and finds no worker free waits in `started`, ahead of all that are not. */
#include "executor/core/jobs.h"
#include <stdlib.h>
#include "base/mem.h"
#include "executor/core/keep.h"
#include "executor/core/run_work.h"
#include "executor/run/pool.h"
#include "wire/texts.h"

enum {
    START_AGAIN_MS = 1000,
    SOON_MAX = 4,   /* times the workers: as many runs may be STARTED ahead of them */
    KILL_MS = 5000, /* more time for processes: they are killed after the grace, and that works */
};

struct job {
    struct jobs *jobs;
    int64_t id;
    struct peal_run *running; /* STARTING or later; NULL: none */
    struct list waiting;      /* struct peal_run, first come first; WRITING or WAITING */
    int nwaiting;
    struct list_node node;   /* in jobs.ready or jobs.idle */
    struct loop_timer timer; /* of running: its timeout, then its grace; idle: the state's end */
    struct keep *keep;       /* owned, except while it is ending */
    bool ending;             /* a worker ends the keep */
    struct message kept;
    /* what the youngest run is made of: another one means that the job was changed */
    const struct peal_handler *handler;
    const struct script_kind *script;
    int64_t glue_update_ms;
};

static void timer_fired(struct loop_timer *t);

static struct job *job_get(struct jobs *j, int64_t id)
{
    struct job *job = map_find(&j->by_id, (uint64_t)id);
    if (job)
        return job;
    job = mem_new(sizeof(*job));
    job->jobs = j;
    job->id = id;
    job->timer.fire = timer_fired;
    job->kept.kind = JOBS_MESSAGE_KEPT;
    list_init(&job->waiting);
    map_set(&j->by_id, (uint64_t)id, job);
    return job;
}

static void job_free(struct job *job)
{
    map_take(&job->jobs->by_id, (uint64_t)job->id);
    loop_timer_clear(job->jobs->loop, &job->timer);
    list_remove(&job->node);
    free(job);
}

/* --- the end of a run --- */

static void forget(struct jobs *j, const struct peal_run *r)
{
    j->live--;
    j->bytes -= (int64_t)r->size;
}

/* With the result that r has. */
static void leave(struct jobs *j, struct peal_run *r)
{
    dedup_finish(&j->dedup, r->log_id, r->log_date_ms, loop_now_ms(j->loop));
    forget(j, r);
    j->hooks->ended(r, r->code, buf_take(&r->msg), j->arg);
}

static void leave_unstarted(struct jobs *j, struct peal_run *r)
{
    run_set_stopped(r, (enum run_stop)atomic_load(&r->stop), true);
    leave(j, r);
}

static void take_from_queue(struct job *job, struct peal_run *r)
{
    list_remove(&r->node);
    job->nwaiting--;
    job->jobs->waiting--;
}

/* --- starting --- */

/* It is over, or it was STARTING and did not come to it. */
static void put_down(struct job *job)
{
    job->running = NULL;
    loop_timer_clear(job->jobs->loop, &job->timer);
    job->jobs->at_work--;
}

/* The state belongs to the handler that made it: another one's goes before this run begins. */
static void give(struct job *job, struct peal_run *r)
{
    struct jobs *j = job->jobs;
    if (job->keep && job->keep->handler != r->handler) {
        r->retired = job->keep;
        job->keep = NULL;
    }
    if (!job->keep && keep_wanted(r->handler))
        job->keep = keep_new(r->handler);
    r->keep = job->keep;
    r->stage = RUN_AT_WORK;
    r->loop = j->incoming;
    r->task.work = run_work;
    j->busy++;
    pool_give(j->pool, &r->task);
}

/* The journal is done with it: on to a worker, or to those that wait for one. */
static void enter(struct job *job, struct peal_run *r)
{
    struct jobs *j = job->jobs;
    if (j->busy < j->limits.workers)
        give(job, r);
    else
        list_push(&j->started, &r->node);
}

static void worker_came_free(struct jobs *j)
{
    j->busy--;
    if (list_empty(&j->started))
        return;
    struct peal_run *r = container_of(list_pop(&j->started), struct peal_run, node);
    give(map_find(&j->by_id, (uint64_t)r->job_id), r);
}

/* --- how soon workers come free --- */

static void count_ended(struct jobs *j)
{
    struct turnover *t = &j->turnover;
    int64_t slice = j->limits.soon_ms ? loop_now_ms(j->loop) / j->limits.soon_ms : 0;
    if (slice != t->slice)
        *t = (struct turnover){ .slice = slice, .before = slice == t->slice + 1 ? t->now : 0 };
    t->now++;
}

/* Workers that will be free by the time a START is on disk, as far as the last slices
 * tell. */
static int soon_free(const struct jobs *j)
{
    const struct turnover *t = &j->turnover;
    if (!j->limits.soon_ms)
        return 0;
    int64_t age = loop_now_ms(j->loop) / j->limits.soon_ms - t->slice;
    int n = age > 1 ? 0 : age == 1 || t->now > t->before ? t->now : t->before;
    return n < SOON_MAX * j->limits.workers ? n : SOON_MAX * j->limits.workers;
}

/* Must the journal have STARTED before the handler is entered? Not for one that may run twice. */
static bool needs_start(const struct peal_run *r)
{
    return !r->in_started && !(r->handler && (r->handler->flags & PEAL_IDEMPOTENT));
}

static void start(struct job *job)
{
    struct jobs *j = job->jobs;
    struct peal_run *r = container_of(list_first(&job->waiting), struct peal_run, node);
    take_from_queue(job, r);
    job->running = r;
    j->at_work++;
    r->stage = RUN_STARTING;
    if (needs_start(r))
        j->hooks->start(r, j->arg);
    else
        enter(job, r);
}

static bool startable(const struct job *job)
{
    if (job->running || job->ending || list_empty(&job->waiting))
        return false;
    return container_of(list_first(&job->waiting), struct peal_run, node)->stage == RUN_WAITING;
}

static bool worker_free(const struct jobs *j)
{
    return j->at_work < j->limits.workers + soon_free(j);
}

static void dispatch(struct jobs *j)
{
    while (!j->closing && worker_free(j) && !loop_timer_is_set(&j->again) && !list_empty(&j->ready))
        start(container_of(list_pop(&j->ready), struct job, node));
}

/* --- idle jobs --- */

static void end_state(struct job *job)
{
    struct jobs *j = job->jobs;
    if (j->closing)
        return; /* jobs_done will end it */
    if (j->at_work >= j->limits.workers) {
        loop_timer_set(j->loop, &job->timer, loop_now_ms(j->loop) + 1000);
        return;
    }
    list_remove(&job->node);
    j->nidle--;
    j->at_work++;
    j->busy++;
    job->ending = true;
    keep_end_later(job->keep, j->pool, j->incoming, &job->kept);
    job->keep = NULL;
}

static void rest(struct job *job)
{
    struct jobs *j = job->jobs;
    if (!job->keep) {
        job_free(job);
        return;
    }
    list_push(&j->idle, &job->node);
    loop_timer_set(j->loop, &job->timer, loop_now_ms(j->loop) + j->limits.idle_ms);
    if (++j->nidle > JOBS_IDLE_MAX)
        end_state(container_of(list_first(&j->idle), struct job, node));
}

static bool is_idle(const struct job *job)
{
    return !job->running && !job->ending && job->nwaiting == 0 && list_linked(&job->node);
}

/* After each change of a job: can its next run start, has it nothing to do? May free it. */
static void look_at(struct job *job)
{
    struct jobs *j = job->jobs;
    if (is_idle(job))
        return;
    if (startable(job) && !list_linked(&job->node))
        list_push(&j->ready, &job->node);
    else if (!startable(job) && list_linked(&job->node))
        list_remove(&job->node);
    if (!job->running && !job->ending && job->nwaiting == 0)
        rest(job);
    dispatch(j);
}

static void wake_up(struct job *job)
{
    if (!is_idle(job))
        return;
    list_remove(&job->node);
    job->jobs->nidle--;
    loop_timer_clear(job->jobs->loop, &job->timer);
}

void jobs_kept(struct jobs *j, struct message *l)
{
    struct job *job = container_of(l, struct job, kept);
    job->ending = false;
    j->at_work--;
    worker_came_free(j);
    look_at(job);
}

/* --- stopping --- */

/* A run on its way out is not in the way of the next one. */
static bool in_the_way(const struct job *job)
{
    return job->nwaiting > 0 || (job->running && !run_stopping(job->running));
}

static bool has_process(const struct peal_run *r)
{
    return r->script || (r->handler->flags & PEAL_PROCESS);
}

static void stop_running(struct job *job, enum run_stop why)
{
    struct peal_run *r = job->running;
    struct jobs *j = job->jobs;
    if (run_stopping(r))
        return;
    run_ask_to_stop(r, why);
    if (list_linked(&r->node)) { /* STARTED on paper only */
        list_remove(&r->node);
        put_down(job);
        leave_unstarted(j, r);
        return;
    }
    int ms = j->limits.grace_ms + (has_process(r) ? KILL_MS : 0);
    loop_timer_set(j->loop, &job->timer, loop_now_ms(j->loop) + ms);
}

/* Its handler goes on and keeps job and worker; the center need not wait for it. */
static void would_not_stop(struct job *job)
{
    struct peal_run *r = job->running;
    struct jobs *j = job->jobs;
    struct buf text = BUF_INIT(4096);
    int code;
    if (r->stage == RUN_AT_WORK && run_would_not_stop(r, &code, &text)) {
        r->stage = RUN_REPORTED;
        j->stuck++;
        dedup_finish(&j->dedup, r->log_id, r->log_date_ms, loop_now_ms(j->loop));
        forget(j, r);
        j->hooks->ended(r, code, buf_take(&text), j->arg);
    }
    buf_done(&text);
}

static void timer_fired(struct loop_timer *t)
{
    struct job *job = container_of(t, struct job, timer);
    if (!job->running)
        end_state(job);
    else if (run_stopping(job->running))
        would_not_stop(job);
    else
        stop_running(job, RUN_TIMED_OUT);
}

/* A run that is still being written ends when that is done: its answer is still due. */
static void end_waiting(struct job *job, enum run_stop why)
{
    if (job->nwaiting)
        list_remove(&job->node); /* it may have been ready */
    for (struct list_node *n; (n = list_first(&job->waiting));) {
        struct peal_run *r = container_of(n, struct peal_run, node);
        take_from_queue(job, r);
        run_ask_to_stop(r, why);
        if (r->stage == RUN_WAITING)
            leave_unstarted(job->jobs, r);
    }
}

static void end_job(struct job *job, enum run_stop why)
{
    if (job->running)
        stop_running(job, why);
    end_waiting(job, why);
}

/* --- taking --- */

static bool changed(const struct job *job, const struct peal_run *r)
{
    return (job->running || job->nwaiting) &&
           (job->handler != r->handler || job->script != r->script ||
            (r->script && job->glue_update_ms != r->glue_update_ms));
}

static enum err refuse(const struct jobs *j, const struct job *job, const struct peal_run *r,
                       struct why *why)
{
    if (job && job->nwaiting >= j->limits.queue)
        why_set(why, "the job's queue is full: %d runs wait (peal.executor.queue)", job->nwaiting);
    else if (j->bytes + j->other_bytes + (int64_t)r->size > j->limits.memory)
        why_set(why, "the executor is full: its runs and results take %lld MiB (%s)",
                (long long)((j->bytes + j->other_bytes) >> 20), "peal.executor.memory");
    else
        return OK;
    return ERR_FULL;
}

static void take(struct job *job, struct peal_run *r)
{
    struct jobs *j = job->jobs;
    job->handler = r->handler;
    job->script = r->script;
    job->glue_update_ms = r->glue_update_ms;
    dedup_begin(&j->dedup, r->log_id, r->log_date_ms);
    j->live++;
    j->bytes += (int64_t)r->size;
}

static void queue(struct job *job, struct peal_run *r)
{
    list_push(&job->waiting, &r->node);
    job->nwaiting++;
    job->jobs->waiting++;
}

enum err jobs_offer(struct jobs *j, struct peal_run *r, enum wire_block block, struct why *why)
{
    struct job *job = map_find(&j->by_id, (uint64_t)r->job_id);
    bool new_one = job && changed(job, r);
    bool busy = job && !new_one && in_the_way(job);
    if (busy && block == WIRE_BLOCK_DISCARD) {
        why_set(why, "%s", WIRE_TEXT_DISCARD);
        return ERR_BUSY;
    }
    bool ends_others = new_one || (busy && block == WIRE_BLOCK_COVER);
    enum err err = refuse(j, ends_others ? NULL : job, r, why);
    if (err)
        return err;
    job = job_get(j, r->job_id);
    if (ends_others)
        end_job(job, new_one ? RUN_CHANGED : RUN_COVERED);
    else
        wake_up(job);
    take(job, r);
    bool at_once = !j->closing && !job->running && !job->ending && job->nwaiting == 0 &&
                   worker_free(j) && list_empty(&j->ready);
    if (at_once) {
        job->running = r;
        j->at_work++;
        r->stage = RUN_STARTING;
    } else {
        r->stage = RUN_WRITING;
        queue(job, r);
    }
    if (r->log_id)
        map_set(&j->writing, dedup_key(r->log_id, r->log_date_ms), r);
    j->hooks->accept(r, at_once && needs_start(r), j->arg);
    return OK;
}

void jobs_restore(struct jobs *j, struct peal_run *r)
{
    struct job *job = job_get(j, r->job_id);
    wake_up(job);
    take(job, r);
    r->stage = RUN_WAITING;
    queue(job, r);
    look_at(job);
}

static void not_accepted(struct jobs *j, struct peal_run *r)
{
    struct job *job = map_find(&j->by_id, (uint64_t)r->job_id);
    dedup_drop(&j->dedup, r->log_id, r->log_date_ms);
    forget(j, r);
    if (r->stage == RUN_STARTING)
        put_down(job);
    else if (list_linked(&r->node))
        take_from_queue(job, r);
    else
        return; /* it was ended meanwhile, and has left its job */
    look_at(job);
}

void jobs_accepted(struct jobs *j, struct peal_run *r, enum err err)
{
    if (r->log_id)
        map_take(&j->writing, dedup_key(r->log_id, r->log_date_ms));
    j->bytes -= (int64_t)r->asked;
    r->size -= r->asked;
    if (err) {
        not_accepted(j, r);
    } else if (r->stage == RUN_STARTING) {
        jobs_started(j, r, OK);
    } else if (run_stopping(r)) { /* and is in no queue any more */
        leave_unstarted(j, r);
    } else {
        r->stage = RUN_WAITING;
        look_at(map_find(&j->by_id, (uint64_t)r->job_id));
    }
}

static void start_again(struct loop_timer *t)
{
    dispatch(container_of(t, struct jobs, again));
}

void jobs_started(struct jobs *j, struct peal_run *r, enum err err)
{
    struct job *job = map_find(&j->by_id, (uint64_t)r->job_id);
    if (run_stopping(r)) {
        put_down(job);
        leave_unstarted(j, r);
        look_at(job);
    } else if (err) { /* back to the head of the queue, and all wait a little */
        put_down(job);
        r->stage = RUN_WAITING;
        list_push_front(&job->waiting, &r->node);
        job->nwaiting++;
        j->waiting++;
        loop_timer_set(j->loop, &j->again, loop_now_ms(j->loop) + START_AGAIN_MS);
        look_at(job);
    } else {
        enter(job, r);
    }
}

void jobs_begun(struct jobs *j, struct peal_run *r)
{
    struct job *job = map_find(&j->by_id, (uint64_t)r->job_id);
    int64_t s = r->timeout_s < RUN_TIMEOUT_MAX_S ? r->timeout_s : RUN_TIMEOUT_MAX_S;
    if (!run_stopping(r)) /* else the timer is the grace's */
        loop_timer_set(j->loop, &job->timer, loop_now_ms(j->loop) + s * 1000);
}

void jobs_over(struct jobs *j, struct peal_run *r)
{
    struct job *job = map_find(&j->by_id, (uint64_t)r->job_id);
    put_down(job);
    count_ended(j);
    worker_came_free(j);
    if (r->stage == RUN_REPORTED) {
        j->stuck--;
        j->hooks->returned(r, j->arg);
    } else {
        leave(j, r);
    }
    look_at(job);
}

/* --- the rest --- */

void jobs_init(struct jobs *j, struct loop *l, const struct jobs_limits *limits,
               const struct jobs_hooks *hooks, void *arg)
{
    *j = (struct jobs){ .loop = l, .limits = *limits, .hooks = hooks, .arg = arg };
    j->again.fire = start_again;
    map_init(&j->by_id);
    map_init(&j->writing);
    dedup_init(&j->dedup, (size_t)limits->remember);
    list_init(&j->ready);
    list_init(&j->started);
    list_init(&j->idle);
}

void jobs_begin(struct jobs *j, struct pool *pool, struct mailbox *incoming)
{
    j->pool = pool;
    j->incoming = incoming;
}

void jobs_done(struct jobs *j)
{
    void *value;
    loop_timer_clear(j->loop, &j->again);
    for (size_t i = 0; map_next(&j->by_id, &i, &value);) {
        struct job *job = value;
        loop_timer_clear(j->loop, &job->timer);
        for (struct list_node *n; (n = list_pop(&job->waiting));)
            run_drop(container_of(n, struct peal_run, node));
        keep_end(job->keep);
        free(job);
    }
    map_done(&j->by_id);
    map_done(&j->writing);
    dedup_done(&j->dedup);
}

bool jobs_busy(const struct jobs *j, int64_t job_id)
{
    const struct job *job = map_find(&j->by_id, (uint64_t)job_id);
    return job && (job->running || job->nwaiting);
}

struct peal_run *jobs_writing(const struct jobs *j, int64_t log_id, int64_t log_date_ms)
{
    return map_find(&j->writing, dedup_key(log_id, log_date_ms));
}

struct peal_run *jobs_at_work(const struct jobs *j, size_t *i)
{
    void *value;
    while (map_next(&j->by_id, i, &value)) {
        struct peal_run *r = ((struct job *)value)->running;
        if (r && r->stage >= RUN_AT_WORK)
            return r;
    }
    return NULL;
}

struct peal_run *jobs_running(const struct jobs *j, int64_t log_id)
{
    size_t i = 0;
    struct peal_run *r;
    do
        r = jobs_at_work(j, &i);
    while (r && r->log_id != log_id);
    return r;
}

bool jobs_end(struct jobs *j, int64_t job_id, enum run_stop why)
{
    struct job *job = map_find(&j->by_id, (uint64_t)job_id);
    if (!job || !in_the_way(job))
        return false;
    end_job(job, why);
    look_at(job);
    return true;
}

/* The jobs as they are now, so that the map may change; j->by_id.len of them. */
static struct job **all_jobs(const struct jobs *j)
{
    struct job **all = mem_new(j->by_id.len * sizeof(struct job *));
    size_t n = 0;
    void *value;
    for (size_t i = 0; map_next(&j->by_id, &i, &value);)
        all[n++] = value;
    return all;
}

void jobs_end_all(struct jobs *j, enum run_stop why)
{
    size_t n = j->by_id.len;
    struct job **all = all_jobs(j);
    for (size_t i = 0; i < n; i++)
        end_job(all[i], why);
    for (size_t i = 0; i < n; i++) /* frees no job but its own */
        look_at(all[i]);
    free(all);
}

void jobs_close(struct jobs *j)
{
    void *value;
    j->closing = true;
    for (size_t i = 0; map_next(&j->by_id, &i, &value);)
        if (((struct job *)value)->running)
            stop_running(value, RUN_SHUTDOWN);
}
