/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: ours, which remember log ids and results in a journal, and stock Java ones, which
 * forget an id once it starts, keep log files, and send a callback again each 30 s. One queue a
 * job, one run of it at a time. Any center is called, whichever answers. */
#include "world.h"
#include <stdio.h>

#define CALLBACK_TIMEOUT_MS 3000
#define BEAT_MS 10000

static void ids_grow(struct exec *x, int64_t log_id)
{
    if (log_id < x->nlog)
        return;
    int64_t n = x->nlog ? x->nlog * 2 : 1024;
    while (n <= log_id)
        n *= 2;
    x->log = mem_resize(x->log, (size_t)n);
    x->known = mem_resize(x->known, (size_t)n);
    memset(x->log + x->nlog, 0, (size_t)(n - x->nlog));
    memset(x->known + x->nlog, 0, (size_t)(n - x->nlog));
    x->nlog = n;
}

static struct exec_job *job_find(struct exec *x, int64_t id)
{
    for (int i = 0; i < x->njobs; i++)
        if (x->jobs[i].id == id)
            return &x->jobs[i];
    return NULL;
}

static struct exec_job *job_of(struct world *w, struct exec *x, int64_t id)
{
    struct exec_job *j = job_find(x, id);
    if (j)
        return j;
    if (x->njobs == JOBS)
        broken(w, "the simulation", "more jobs than an executor has room for");
    j = &x->jobs[x->njobs++];
    *j = (struct exec_job){ .id = id };
    return j;
}

static bool queued(const struct exec_job *j, int64_t log_id)
{
    for (int i = 0; i < j->nqueue; i++)
        if (j->queue[i] == log_id)
            return true;
    return false;
}

bool exec_has(const struct exec *x, int64_t log_id)
{
    for (int i = 0; i < x->njobs; i++)
        if (x->jobs[i].running == log_id || queued(&x->jobs[i], log_id))
            return true;
    return false;
}

/* Of an executor's process. */
static struct event *exec_after(struct world *w, struct exec *x, int64_t ms, event_fn *fn, void *p)
{
    struct event *e = elsewhere(w, ms, NULL, fn, p);
    e->a = x->index;
    e->b = x->life;
    return e;
}

static struct exec *exec_of(struct world *w, const struct event *e)
{
    struct exec *x = &w->execs[e->a & 255];
    return x->up && x->life == (uint32_t)e->b ? x : NULL;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

struct callback {
    int exec, n;
    uint32_t life;
    struct result r[RESULTS];
};

static int result_at(const struct exec *x, int64_t log_id, int code)
{
    for (int i = 0; i < x->nresults; i++)
        if (x->results[i].log_id == log_id && x->results[i].code == code)
            return i;
    return -1;
}

static void on_acked(struct world *w, struct event *e)
{
    const struct callback *cb = e->p;
    struct exec *x = &w->execs[cb->exec];
    for (int k = 0; x->life == cb->life && k < cb->n; k++) {
        int i = result_at(x, cb->r[k].log_id, cb->r[k].code);
        if (i >= 0)
            x->results[i] = x->results[--x->nresults];
    }
}

void exec_acked(struct world *w, const struct cack *a)
{
    if (chance(w, (uint32_t)w->loss_ppm))
        return;
    struct callback *cb = mem_new(sizeof(*cb));
    cb->exec = a->exec;
    cb->life = a->exec_life;
    cb->n = a->n;
    memcpy(cb->r, a->results, sizeof(cb->r));
    elsewhere(w, between(w, 0, 5), NULL, on_acked, cb);
}

/* The request is at a center. */
static void on_callback(struct world *w, struct event *e)
{
    struct cnode *n = e->node;
    const struct callback *cb = e->p;
    if (!n->sched)
        return;
    struct cack *a = mem_new(sizeof(*a));
    a->exec = cb->exec;
    a->exec_life = cb->life;
    a->n = cb->n;
    memcpy(a->results, cb->r, sizeof(a->results));
    for (int i = 0; i < cb->n; i++) {
        say(w, "%s hears that %lld ended with %d", n->name, (long long)cb->r[i].log_id,
            cb->r[i].code);
        sched_result(n->sched, now_of(n), cb->r[i].log_id, cb->r[i].code, slice_text("done"));
    }
    list_push(&n->acks, &a->in_node);
    sched_ack_after(n->sched, now_of(n), &a->ack);
    loop_pump(w, n);
}

static struct cnode *any_node(struct world *w)
{
    return &w->nodes[dice_below(&w->dice, (uint32_t)w->nnodes)];
}

/* The first that answers of a list that begins anywhere. */
static struct cnode *node_that_answers(struct world *w)
{
    struct cnode *n = any_node(w);
    for (int i = 0; i < w->nnodes && !n->sched; i++)
        n = &w->nodes[(n->place + 1) % w->nnodes];
    return n;
}

static void on_send(struct world *w, struct event *e);

static void send_soon(struct world *w, struct exec *x, int64_t ms)
{
    exec_after(w, x, ms, on_send, NULL);
}

static void on_no_answer(struct world *w, struct event *e)
{
    struct exec *x = exec_of(w, e);
    const struct callback *cb = e->p;
    for (int k = 0; x && k < cb->n; k++) {
        int i = result_at(x, cb->r[k].log_id, cb->r[k].code);
        if (i < 0)
            continue;
        int64_t ms = x->ours ? between(w, 500, 4000) : w->calm ? 5000 : 30000;
        x->results[i].on_way = false;
        x->results[i].next_ms = w->t + ms;
        send_soon(w, x, ms);
    }
}

static void callback_arrives(struct world *w, const struct callback *cb, int64_t ms)
{
    struct callback *copy = mem_new(sizeof(*copy));
    *copy = *cb;
    after(w, ms, node_that_answers(w), on_callback, copy);
}

static void on_send(struct world *w, struct event *e)
{
    struct exec *x = exec_of(w, e);
    if (!x)
        return;
    struct callback cb = { .exec = x->index, .life = x->life };
    for (int i = 0; i < x->nresults && cb.n < RESULTS; i++) {
        struct result *r = &x->results[i];
        if (r->on_way || r->next_ms > w->t)
            continue;
        r->on_way = true;
        cb.r[cb.n++] = *r;
    }
    if (!cb.n)
        return;
    if (cb.n == RESULTS)
        send_soon(w, x, 1);
    struct callback *copy = mem_new(sizeof(*copy));
    *copy = cb;
    exec_after(w, x, CALLBACK_TIMEOUT_MS, on_no_answer, copy);
    if (chance(w, (uint32_t)w->loss_ppm))
        return;
    int64_t ms = chance(w, (uint32_t)w->late_ppm) ? between(w, 5, 4000) : between(w, 0, 3);
    callback_arrives(w, &cb, ms);
    if (!w->calm && chance(w, 20000)) /* sent twice, maybe to two centers */
        callback_arrives(w, &cb, ms + between(w, 0, 2000));
}

static void result_add(struct world *w, struct exec *x, int64_t log_id, int code)
{
    if (code == 200)
        ghost_of(w, log_id)->ended_ok++;
    send_soon(w, x, between(w, 0, 2));
    if (result_at(x, log_id, code) >= 0)
        return;
    x->results = mem_resize(x->results, ((size_t)x->nresults + 1) * sizeof(*x->results));
    x->results[x->nresults++] = (struct result){ .log_id = log_id, .code = code };
}

/* ---- running --------------------------------------------------------------------------------- */

static void pick(struct world *w, struct exec *x, struct exec_job *j);

static void on_end(struct world *w, struct event *e)
{
    const int64_t *turn = e->p;
    struct exec *x = exec_of(w, e);
    struct exec_job *j = x ? &x->jobs[e->a >> 8] : NULL;
    if (!j || !j->running || j->turn != (uint32_t)*turn)
        return;
    int64_t id = j->running;
    j->running = 0;
    x->log[id] = 2;
    result_add(w, x, id, j->fate);
    pick(w, x, j);
}

static int64_t run_ms(struct world *w, int64_t job_id)
{
    static const int16_t usual[] = { 1, 10, 100, 500, 1500 };
    int64_t ms = usual[(uint64_t)job_id % countof(usual)];
    return chance(w, 10000) ? between(w, 3000, 9000) : between(w, ms / 2, ms * 3 / 2);
}

static void pick(struct world *w, struct exec *x, struct exec_job *j)
{
    if (j->running || !j->nqueue)
        return;
    j->running = j->queue[0];
    j->nqueue--;
    memmove(&j->queue[0], &j->queue[1], (size_t)j->nqueue * sizeof(j->queue[0]));
    j->turn++;
    x->log[j->running] = 1;
    say(w, "%s (%s) runs %lld of job %lld", x->address, x->ours ? "ours" : "java",
        (long long)j->running, (long long)j->id);
    check_begun(w, x, j->running);
    j->fate = chance(w, 60000) ? 500 : 200;
    int64_t *turn = mem_new(sizeof(*turn));
    *turn = j->turn;
    exec_after(w, x, run_ms(w, j->id), on_end, turn)->a |= (int64_t)(j - x->jobs) << 8;
}

/* The job's thread is torn down: what runs is interrupted, what waits never starts. */
static void tear_down(struct world *w, struct exec *x, struct exec_job *j)
{
    j->turn++;
    if (j->running) {
        x->log[j->running] = 2;
        result_add(w, x, j->running, 500);
    }
    for (int i = 0; i < j->nqueue; i++)
        result_add(w, x, j->queue[i], 500);
    j->running = 0;
    j->nqueue = 0;
}

static struct reply take_run(struct world *w, struct exec *x, const struct conn *c)
{
    struct exec_job *j = job_of(w, x, c->job_id);
    int64_t id = c->log_id;
    if (x->ours && x->known[id])
        return (struct reply){ .code = 500, .repeat = true };
    bool busy = j->running || j->nqueue;
    if (c->block == BLOCK_DISCARD && busy)
        return (struct reply){ .code = 500 };
    if (c->block == BLOCK_COVER && busy)
        tear_down(w, x, j);
    if (queued(j, id))
        return (struct reply){ .code = 500, .repeat = true };
    if (j->nqueue == (int)countof(j->queue))
        return (struct reply){ .code = 500 };
    x->known[id] = x->ours;
    j->queue[j->nqueue++] = id;
    pick(w, x, j);
    return (struct reply){ .code = 200 };
}

struct reply exec_take(struct world *w, struct exec *x, const struct conn *c)
{
    static const enum log_state states[] = { LOG_NONE, LOG_STARTED, LOG_ENDED };
    struct exec_job *j = job_find(x, c->job_id);
    ids_grow(x, c->log_id);
    switch (c->kind) {
    case CALL_RUN:
        return take_run(w, x, c);
    case CALL_KILL:
        if (j)
            tear_down(w, x, j);
        return (struct reply){ .code = 200 };
    case CALL_LOG:
        return (struct reply){ .code = 200, .log = states[x->log[c->log_id]] };
    case CALL_IDLE:
        return (struct reply){ .code = j && (j->running || j->nqueue) ? 500 : 200 };
    default:
        return (struct reply){ .code = 200 };
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static void on_beat_arrives(struct world *w, struct event *e)
{
    struct cnode *n = e->node;
    const struct exec *x = &w->execs[e->a];
    char app[16];
    if (!n->sched)
        return;
    snprintf(app, sizeof(app), "app-%d", x->app);
    sched_register(n->sched, now_of(n), slice_text(app), slice_text(x->address), x->ours);
    loop_pump(w, n);
}

static void on_beat(struct world *w, struct event *e)
{
    struct exec *x = exec_of(w, e);
    if (!x)
        return;
    if (!chance(w, (uint32_t)w->loss_ppm))
        after(w, between(w, 0, 3), node_that_answers(w), on_beat_arrives, NULL)->a = x->index;
    exec_after(w, x, BEAT_MS, on_beat, NULL);
}

void exec_up(struct world *w, struct exec *x)
{
    if (x->up)
        return;
    x->up = true;
    x->life++;
    say(w, "%s starts", x->address);
    for (int i = 0; i < x->nresults; i++) {
        x->results[i].on_way = false;
        x->results[i].next_ms = 0;
    }
    exec_after(w, x, between(w, 0, 200), on_beat, NULL);
    send_soon(w, x, between(w, 100, 1000));
    for (int i = 0; i < x->njobs; i++)
        pick(w, x, &x->jobs[i]); /* ours: what was queued stands in the journal */
}

static void on_up(struct world *w, struct event *e)
{
    exec_up(w, &w->execs[e->a]);
}

/* What a process takes along when it dies. */
static void forget(struct world *w, struct exec *x)
{
    if (!x->ours && chance(w, 500000))
        x->nresults = 0;
    for (int i = 0; i < x->njobs; i++) {
        struct exec_job *j = &x->jobs[i];
        j->turn++;
        if (x->ours && j->running) { /* accepted and not finished: reported as failed */
            x->log[j->running] = 2;
            result_add(w, x, j->running, 500);
        }
        if (!x->ours)
            j->nqueue = 0;
        j->running = 0;
    }
}

void exec_crash(struct world *w, struct exec *x)
{
    if (!x->up)
        return;
    say(w, "%s crashes", x->address);
    x->up = false;
    net_exec_gone(w, x->index);
    forget(w, x);
    elsewhere(w, between(w, 10, 6000), NULL, on_up, NULL)->a = x->index;
}

void execs_make(struct world *w)
{
    w->nexecs = (int)between(w, 2, EXECS);
    for (int i = 0; i < w->nexecs; i++) {
        struct exec *x = &w->execs[i];
        x->index = i;
        x->app = i % APPS;
        x->ours = chance(w, 600000);
        snprintf(x->address, sizeof(x->address), "http://10.0.0.%d:9999/", i + 1);
        elsewhere(w, between(w, 0, 2500), NULL, on_up, NULL)->a = i;
    }
}

void execs_done(struct world *w)
{
    for (int i = 0; i < w->nexecs; i++) {
        free(w->execs[i].results);
        free(w->execs[i].log);
        free(w->execs[i].known);
    }
}
