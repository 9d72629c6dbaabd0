/* SPDX-License-Identifier: Apache-2.0 */
/* exec.c - executors of three characters: ours (a journal of ids and results), stock Java (forgets
 * an id once it starts, keeps log files, resends callbacks every 30 s), and a mute one (as Java
 * without a readable log; sends a callback once). One queue per job, one run of it at a time. */
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLBACK_TIMEOUT_MS 3000
#define BEAT_MS 30000

static const char *const types[] = { "ours", "java", "mute" };

/* ---- what it remembers ----------------------------------------------------------------------- */

static void ids_grow(struct exec *x, int64_t log_id)
{
    if (log_id < x->nlog)
        return;
    int64_t n = x->nlog ? x->nlog * 2 : 4096;
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

static struct exec_job *job_of(struct sim *s, struct exec *x, int64_t id)
{
    struct exec_job *j = job_find(x, id);
    if (j)
        return j;
    if (x->njobs == (int)countof(x->jobs))
        sim_fail(s, "the simulation", "more jobs than an executor has room for");
    j = &x->jobs[x->njobs++];
    memset(j, 0, sizeof(*j));
    j->id = id;
    return j;
}

static bool queued(const struct exec_job *j, int64_t log_id)
{
    for (int i = 0; i < j->nqueue; i++)
        if (j->queue[i].log_id == log_id)
            return true;
    return false;
}

bool exec_has(const struct exec *x, int64_t log_id)
{
    for (int i = 0; i < x->njobs; i++) {
        const struct exec_job *j = &x->jobs[i];
        if (j->picked == log_id || j->running == log_id || queued(j, log_id))
            return true;
    }
    return false;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

struct results {
    int exec, n;
    uint32_t life;
    struct exec_result r[10];
};

static void send_results(struct sim *s, struct event *e);

static void results_soon(struct sim *s, struct exec *x, int64_t in_ms)
{
    sim_send(s, in_ms, send_results, x->index, 0, NULL)->life = x->life;
}

static int result_at(const struct exec *x, int64_t log_id, int code)
{
    for (int i = 0; i < x->nresults; i++)
        if (x->results[i].log_id == log_id && x->results[i].code == code)
            return i;
    return -1;
}

static void result_drop(struct exec *x, int i)
{
    x->results[i] = x->results[--x->nresults];
}

void exec_acked(struct sim *s, int exec, uint32_t life, const struct exec_result *results, int n)
{
    struct exec *x = &s->execs[exec];
    if (x->life != life)
        return;
    for (int k = 0; k < n; k++) {
        int i = result_at(x, results[k].log_id, results[k].code);
        if (i >= 0)
            result_drop(x, i);
    }
}

/* The request reaches the center. */
static void results_arrive(struct sim *s, struct event *e)
{
    const struct results *r = e->p;
    if (!s->sched || center_frozen(s, e))
        return;
    for (int i = 0; i < r->n; i++) {
        if (!center_step(s))
            return;
        sim_trace(s, "result %lld code %d", (long long)r->r[i].log_id, r->r[i].code);
        check_result(s, r->r[i].log_id, r->r[i].code);
        sched_result(s->sched, sim_now(s), r->r[i].log_id, r->r[i].code, slice_text("done"));
    }
    if (!center_step(s))
        return;
    struct sim_ack *a = mem_new(sizeof(*a));
    a->exec = r->exec;
    a->exec_lifecycle = r->life;
    a->n = r->n;
    memcpy(a->results, r->r, sizeof(a->results));
    list_push(&s->acks, &a->all);
    sched_ack_after(s->sched, sim_now(s), &a->ack);
    center_pump(s);
}

static int64_t retry_ms(const struct exec *x, int tries)
{
    if (x->type == EXEC_JAVA)
        return 30000;
    return tries < 5 ? 1000LL << tries : 30000;
}

static void results_timeout(struct sim *s, struct event *e)
{
    const struct results *r = e->p;
    struct exec *x = &s->execs[r->exec];
    if (!x->up || x->life != r->life)
        return;
    for (int k = 0; k < r->n; k++) {
        int i = result_at(x, r->r[k].log_id, r->r[k].code);
        if (i < 0)
            continue;
        if (x->type == EXEC_MUTE) {
            result_drop(x, i);
            continue;
        }
        int64_t in = retry_ms(x, x->results[i].tries);
        x->results[i].on_way = false;
        x->results[i].next_ms = s->boot_ms + in;
        results_soon(s, x, in);
    }
}

static void *results_copy(const struct results *r)
{
    struct results *copy = mem_new(sizeof(*copy));
    *copy = *r;
    return copy;
}

static void send_results(struct sim *s, struct event *e)
{
    struct exec *x = &s->execs[e->a];
    if (!x->up || x->life != e->life)
        return;
    struct results r = { .exec = x->index, .life = x->life };
    for (int i = 0; i < x->nresults && r.n < 10; i++) {
        struct exec_result *one = &x->results[i];
        if (one->on_way || one->next_ms > s->boot_ms)
            continue;
        one->on_way = true;
        one->tries++;
        r.r[r.n++] = *one;
    }
    if (!r.n)
        return;
    if (r.n == 10)
        results_soon(s, x, 1);
    sim_send(s, CALLBACK_TIMEOUT_MS, results_timeout, 0, 0, results_copy(&r));
    if (sim_chance(s, s->loss_ppm) || s->boot_ms < x->cut_until_ms)
        return;
    int64_t in = sim_chance(s, s->late_ppm) ? sim_between(s, 10, 4000) : sim_between(s, 0, 3);
    sim_send(s, in, results_arrive, 0, 0, results_copy(&r));
    if (sim_chance(s, s->double_ppm)) /* the client or a proxy in between sent it twice */
        sim_send(s, in + sim_between(s, 0, 2000), results_arrive, 0, 0, results_copy(&r));
}

static void result_add(struct sim *s, struct exec *x, int64_t log_id, int code)
{
    if (code == 200)
        ghost_of(s, log_id)->ends_ok++;
    results_soon(s, x, sim_between(s, 0, 2));
    if (result_at(x, log_id, code) >= 0)
        return; /* the same again: one callback says it */
    x->results = mem_resize(x->results, ((size_t)x->nresults + 1) * sizeof(*x->results));
    x->results[x->nresults++] = (struct exec_result){ .log_id = log_id, .code = code };
}

/* ---- running --------------------------------------------------------------------------------- */

static void pick(struct sim *s, struct exec *x, struct exec_job *j, bool fresh);

static void on_end(struct sim *s, struct event *e)
{
    struct exec *x = &s->execs[e->a >> 8];
    struct exec_job *j = &x->jobs[e->a & 255];
    if (!x->up || x->life != e->life || !j->running || j->turn != (uint32_t)e->b)
        return;
    int64_t id = j->running;
    j->running = 0;
    x->log[id] = 2;
    result_add(s, x, id, j->fate);
    pick(s, x, j, false);
}

static int64_t run_ms(struct sim *s, int64_t job_id)
{
    static const int16_t usual[] = { 1, 5, 20, 100, 300, 900, 2500, 8000 };
    int64_t ms = usual[(uint64_t)job_id % countof(usual)];
    if (s->choked)
        return sim_chance(s, 500000) ? sim_between(s, 50, 400) : sim_between(s, 2000, 4500);
    if (sim_chance(s, 8000))
        return sim_between(s, 4000, 25000);
    return sim_between(s, ms / 2, ms * 3 / 2);
}

static void begin(struct sim *s, struct event *e)
{
    struct exec *x = &s->execs[e->a >> 8];
    struct exec_job *j = &x->jobs[e->a & 255];
    if (!x->up || x->life != e->life || !j->picked || j->turn != (uint32_t)e->b)
        return;
    j->running = j->picked;
    j->picked = 0;
    x->log[j->running] = 1;
    sim_trace(s, "%s (%s) runs %lld of job %lld", x->address, types[x->type], (long long)j->running,
              (long long)j->id);
    check_started(s, x, j->running);
    j->fate = sim_chance(s, 60000) ? (sim_chance(s, 200000) ? 502 : 500) : 200;
    sim_send(s, run_ms(s, j->id), on_end, e->a, j->turn, NULL)->life = x->life;
}

/* Between queue and start line a stock executor says idle. That takes a while only for a run that
 * has just arrived: for one that waited it is what the protocol calls settled
 * (docs/internals/sim.md). */
static void pick(struct sim *s, struct exec *x, struct exec_job *j, bool fresh)
{
    if (j->running || j->picked || !j->nqueue)
        return;
    j->picked = j->queue[0].log_id;
    j->nqueue--;
    memmove(&j->queue[0], &j->queue[1], (size_t)j->nqueue * sizeof(j->queue[0]));
    j->turn++;
    int64_t in = fresh && sim_chance(s, 20000) ? sim_between(s, 1, 400) : 0;
    sim_send(s, in, begin, (int64_t)x->index << 8 | (j - x->jobs), j->turn, NULL)->life = x->life;
}

/* The job's thread is torn down: what runs is interrupted, what waits never starts. */
static void tear_down(struct sim *s, struct exec *x, struct exec_job *j)
{
    j->turn++;
    if (j->running) {
        x->log[j->running] = 2;
        result_add(s, x, j->running, 500);
    }
    if (j->picked)
        result_add(s, x, j->picked, 500);
    for (int i = 0; i < j->nqueue; i++)
        result_add(s, x, j->queue[i].log_id, 500);
    j->running = j->picked = 0;
    j->nqueue = 0;
}

static struct reply take_run(struct sim *s, struct exec *x, const struct conn *c)
{
    struct exec_job *j = job_of(s, x, c->call.job_id);
    int64_t id = c->call.log_id;
    ids_grow(x, id);
    if (x->type == EXEC_OURS && x->known[id])
        return (struct reply){ .code = 500, .repeat = true };
    bool busy = j->running || j->picked || j->nqueue;
    if (c->block == BLOCK_DISCARD && busy)
        return (struct reply){ .code = 500 };
    if (c->block == BLOCK_COVER && busy)
        tear_down(s, x, j);
    if (queued(j, id))
        return (struct reply){ .code = 500, .repeat = true };
    if (j->nqueue == (int)countof(j->queue))
        return (struct reply){ .code = 500 };
    x->known[id] = x->type == EXEC_OURS;
    ghost_of(s, id)->arrived = true;
    j->queue[j->nqueue++] = (struct exec_run){ id, c->call.shard, c->call.shard_total };
    pick(s, x, j, true);
    return (struct reply){ .code = 200 };
}

static struct reply take_kill(struct sim *s, struct exec *x, const struct conn *c)
{
    struct exec_job *j = job_find(x, c->call.job_id);
    if (j)
        tear_down(s, x, j);
    return (struct reply){ .code = 200 };
}

static struct reply take_log(struct exec *x, const struct conn *c)
{
    static const enum log_state states[] = { LOG_NONE, LOG_STARTED, LOG_ENDED };
    ids_grow(x, c->call.log_id);
    struct reply r = { .code = 200, .log = states[x->log[c->call.log_id]] };
    if (x->type == EXEC_MUTE)
        r.log = LOG_CANNOT_TELL;
    return r;
}

struct reply exec_take(struct sim *s, struct exec *x, const struct conn *c)
{
    const struct exec_job *j = job_find(x, c->call.job_id);
    switch (c->call.kind) {
    case CALL_RUN:
        return take_run(s, x, c);
    case CALL_KILL:
        return take_kill(s, x, c);
    case CALL_LOG:
        return take_log(x, c);
    case CALL_IDLE: /* between queue and start line it says idle, as the original */
        return (struct reply){ .code = j && (j->running || j->nqueue) ? 500 : 200 };
    default:
        return (struct reply){ .code = 200 };
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static void app_name(const struct exec *x, char name[16])
{
    snprintf(name, 16, "app-%d", x->app);
}

static void beat_arrives(struct sim *s, struct event *e)
{
    if (!s->sched || center_frozen(s, e) || !center_step(s))
        return;
    const struct exec *x = &s->execs[e->a];
    char app[16];
    app_name(x, app);
    check_beat(s, x->address, app, e->b);
    if (e->b)
        sched_register(s->sched, sim_now(s), slice_text(app), slice_text(x->address),
                       x->type == EXEC_OURS);
    else
        sched_unregister(s->sched, sim_now(s), slice_text(app), slice_text(x->address));
    center_pump(s);
}

static void beat(struct sim *s, struct event *e)
{
    const struct exec *x = &s->execs[e->a];
    if (!x->up || x->life != e->life)
        return;
    int64_t in = sim_chance(s, s->late_ppm) ? sim_between(s, 10, 3000) : sim_between(s, 0, 3);
    if (!sim_chance(s, s->loss_ppm))
        sim_send(s, in, beat_arrives, x->index, 1, NULL);
    if (sim_chance(s, s->double_ppm))
        sim_send(s, in + 1, beat_arrives, x->index, 1, NULL);
    sim_send(s, BEAT_MS, beat, x->index, 0, NULL)->life = x->life;
}

void exec_start(struct sim *s, struct event *e)
{
    struct exec *x = &s->execs[e->a];
    if (x->up || x->gone)
        return;
    x->up = true;
    x->life++;
    sim_trace(s, "%s (%s) starts", x->address, types[x->type]);
    for (int i = 0; i < x->nresults; i++) {
        x->results[i].on_way = false;
        x->results[i].next_ms = 0;
    }
    sim_send(s, sim_between(s, 0, 200), beat, x->index, 0, NULL)->life = x->life;
    results_soon(s, x, sim_between(s, 100, 1000));
    for (int i = 0; i < x->njobs; i++)
        pick(s, x, &x->jobs[i], false); /* ours: what was queued stands in the journal */
}

/* What a process takes along when it dies. */
static void forget(struct sim *s, struct exec *x)
{
    bool lost = x->type != EXEC_OURS && sim_chance(s, 500000);
    if (lost)
        x->nresults = 0;
    for (int i = 0; i < x->njobs; i++) {
        struct exec_job *j = &x->jobs[i];
        j->turn++;
        if (x->type == EXEC_OURS) {
            if (j->running || j->picked) { /* accepted and not finished: reported as failed */
                int64_t id = j->running ? j->running : j->picked;
                x->log[id] = 2;
                result_add(s, x, id, 500);
            }
        } else {
            j->nqueue = 0;
        }
        j->running = j->picked = 0;
    }
}

static void lose_disk(struct sim *s, struct exec *x)
{
    sim_trace(s, "%s comes back with an empty disk", x->address);
    for (int64_t id = 1; id < x->nlog; id++)
        if (x->log[id] || x->known[id])
            ghost_of(s, id)->disk_lost = true;
    for (int i = 0; i < x->njobs; i++)
        x->jobs[i].nqueue = 0;
    x->nresults = 0;
    if (x->nlog) {
        memset(x->log, 0, (size_t)x->nlog);
        memset(x->known, 0, (size_t)x->nlog);
    }
}

static void go_down(struct sim *s, struct exec *x, bool for_ever)
{
    x->up = false;
    x->gone = for_ever;
    s->exec_crashes++;
    net_reset_exec(s, x->index);
    forget(s, x);
    if (sim_chance(s, 100000))
        lose_disk(s, x);
    int64_t away = sim_chance(s, 700000) ? sim_between(s, 10, 5000) : sim_between(s, 5000, 200000);
    if (!for_ever)
        sim_send(s, away, exec_start, x->index, 0, NULL);
}

void exec_crash(struct sim *s, struct event *e)
{
    struct exec *x = &s->execs[e->a];
    if (!x->up || s->calm)
        return;
    sim_trace(s, "%s crashes%s", x->address, e->b ? " for ever" : "");
    go_down(s, x, e->b);
}

void exec_cut(struct sim *s, struct event *e)
{
    struct exec *x = &s->execs[e->a];
    if (s->calm)
        return;
    x->cut_until_ms = s->boot_ms + sim_between(s, 20000, 150000);
    sim_trace(s, "results of %s are lost until %.3f", x->address, (double)x->cut_until_ms / 1000);
}

void exec_dark(struct sim *s, struct event *e)
{
    struct exec *x = &s->execs[e->a];
    if (s->calm)
        return;
    bool long_one = sim_chance(s, 200000);
    x->dark_until_ms = s->boot_ms + (long_one ? 700000 : sim_between(s, 5000, 100000));
    sim_trace(s, "%s answers no call until %.3f", x->address, (double)x->dark_until_ms / 1000);
}

void exec_crowd(struct sim *s, struct event *e)
{
    if (!s->sched || center_frozen(s, e))
        return;
    for (int i = 0; i < e->b * 1000 && center_step(s); i++) {
        char address[64];
        snprintf(address, sizeof(address), "http://10.1.%d.%d:9999/", i / 250, i % 250);
        check_beat(s, address, "app-0", true);
        sched_register(s->sched, sim_now(s), slice_text("app-0"), slice_text(address), false);
        if (i % 100 == 99)
            center_pump(s);
    }
}

void exec_stop(struct sim *s, struct event *e)
{
    struct exec *x = &s->execs[e->a];
    if (!x->up || s->calm)
        return;
    sim_trace(s, "%s stops", x->address);
    sim_send(s, sim_between(s, 0, 3), beat_arrives, x->index, 0, NULL);
    go_down(s, x, false);
}

void exec_init(struct sim *s)
{
    s->nexecs = (int)sim_between(s, 2, EXECS);
    s->ngroups = (int)sim_between(s, 1, s->nexecs < GROUPS ? s->nexecs : GROUPS);
    for (int i = 0; i < s->nexecs; i++) {
        struct exec *x = &s->execs[i];
        x->index = i;
        x->type = (enum exec_type)dice_below(&s->dice, 3);
        x->app = i < s->ngroups ? i : (int)dice_below(&s->dice, (uint32_t)s->ngroups);
        x->slow = s->choked || sim_chance(s, 250000);
        if (s->choked)
            x->type = EXEC_JAVA;
        snprintf(x->address, sizeof(x->address), "http://10.0.0.%d:9999/", i + 1);
        sim_send(s, sim_between(s, 1, 300), exec_start, i, 0, NULL);
    }
}

void exec_free(struct sim *s)
{
    for (int i = 0; i < s->nexecs; i++) {
        free(s->execs[i].results);
        free(s->execs[i].log);
        free(s->execs[i].known);
    }
}
