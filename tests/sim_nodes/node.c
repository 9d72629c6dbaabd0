/* SPDX-License-Identifier: Apache-2.0 */
/* A node's process: the real cluster core, a list of runs, one batch at a time. The executor, which
 * remembers every run that it was sent, is here too: it is three lists long. */
#include "world.h"

#define TICK_MS 10

/* ---- the executor ---------------------------------------------------------------------------- */

static void executor_end(struct world *w, struct snode *none, void *arg)
{
    (void)none;
    struct run_line *r = arg;
    r->ended++;
    for (int i = 0; i < w->nnodes; i++) /* its result goes to every node; the owner takes it */
        node_result(w, &w->nodes[i], (int)(r - w->runs));
}

void executor_run(struct world *w, struct snode *none, void *arg)
{
    (void)none;
    struct run_line *r = arg;
    if (r->begun++)
        return; /* known: not run twice */
    r->begun_ms = w->t;
    elsewhere(w, between(w, 5, 900), NULL, executor_end, r);
}

static struct mine *mine_of(struct snode *n, int run)
{
    for (int i = 0; i < n->nmine; i++)
        if (n->mine[i].run == run)
            return &n->mine[i];
    return NULL;
}

void node_result(struct world *w, struct snode *n, int run)
{
    struct mine *m = n->up && w->t >= n->paused_ms ? mine_of(n, run) : NULL;
    if (m)
        m->over = true;
}

/* ---- sending --------------------------------------------------------------------------------- */

struct sending {
    struct snode *node;
    int run;
    int64_t looked_ms; /* true time */
    int64_t epoch;
};

/* The first byte. A pause between the look at the lease and this is what no look can help. */
static void leave(struct world *w, struct snode *n, void *arg)
{
    struct sending *s = arg;
    bool stale = w->t != s->looked_ms;
    struct mine *m = mine_of(n, s->run);
    if (cluster_epoch(n->c) != s->epoch || !m)
        return;
    w->sends++;
    w->stale += stale;
    check_send(w, n, s->run, stale);
    m->state = MINE_OUT;
    m->ask_ms = w->t + 1500; /* should the result be lost */
    elsewhere(w, between(w, 1, 40), NULL, executor_run, &w->runs[s->run]);
}

static void send_look(struct world *w, struct snode *n, struct mine *m)
{
    struct now now = now_of(w, n);
    if (w->runs[m->run].due_ms > now.wall_ms ||
        !cluster_may_send(n->c, now, w->runs[m->run].due_ms))
        return;
    struct sending *s = world_new(w, sizeof(*s));
    *s = (struct sending){ n, m->run, w->t, cluster_epoch(n->c) };
    m->state = MINE_OUT;
    m->ask_ms = INT64_MAX;
    if (!w->calm && dice_chance(&w->dice, 5000)) {
        n->paused_ms = w->t + between(w, 1, 9000);
        after(w, 1, n, leave, s);
    } else {
        leave(w, n, s);
    }
}

/* Nothing of an earlier owner is on the wire any more when this is asked, unless it was paused. */
static void ask(struct world *w, struct mine *m)
{
    const struct run_line *r = &w->runs[m->run];
    if (r->ended)
        m->over = true;
    else if (!r->begun)
        m->state = MINE_WAITS;
    m->ask_ms = w->t + 500;
}

static void runs_look(struct world *w, struct snode *n)
{
    for (int i = 0; i < n->nmine; i++) {
        struct mine *m = &n->mine[i];
        if (!m->over && m->state == MINE_WAITS)
            send_look(w, n, m);
        else if (!m->over && w->t >= m->ask_ms)
            ask(w, m);
        if (w->t < n->paused_ms)
            return;
    }
}

/* ---- batches --------------------------------------------------------------------------------- */

static void take(struct cluster_action *from, struct cluster_action *to)
{
    *to = *from;
    from->ticket = 0;
}

static void ends_take(struct snode *n, struct transaction *b)
{
    for (int i = 0; i < n->nmine; i++) {
        const struct mine *m = &n->mine[i];
        if (m->over)
            b->ended[b->nended++] = m->run;
        else if (n->last.ticket && m->state != MINE_WAITS)
            b->unknown[b->nunknown++] = m->run; /* it may have left */
    }
}

static bool has_work(const struct world *w, const struct snode *n)
{
    bool over = false;
    for (int i = 0; i < n->nmine; i++)
        over = over || n->mine[i].over;
    return over || n->adopt.ticket || n->claim.ticket || n->sweep.ticket || n->last.ticket ||
           (w->t >= n->plan_ms && cluster_may_plan(n->c));
}

static void batch_make(struct world *w, struct snode *n)
{
    if (n->batch || !cluster_epoch(n->c) || !has_work(w, n))
        return;
    struct transaction *b = world_new(w, sizeof(*b));
    ends_take(n, b);
    take(&n->adopt, &b->adopt);
    take(&n->claim, &b->claim);
    take(&n->sweep, &b->sweep);
    take(&n->last, &b->last);
    if (w->t >= n->plan_ms && cluster_may_plan(n->c)) {
        b->plan_ms = now_of(w, n).wall_ms + HORIZON;
        n->plan_ms = w->t + 200;
    }
    b->epoch = cluster_epoch(n->c);
    b->no = n->no + 1;
    n->batch = b;
    db_batch(w, n, b);
}

/* ---- actions --------------------------------------------------------------------------------- */

static void forget(struct snode *n)
{
    n->nmine = 0;
    n->batch = NULL;
    n->adopt.ticket = n->claim.ticket = n->sweep.ticket = n->last.ticket = 0;
}

static void restart(struct world *w, struct snode *n, void *arg)
{
    (void)arg;
    node_up(w, n);
}

static void action(struct world *w, struct snode *n, const struct cluster_action *a)
{
    switch (a->kind) {
    case CLUSTER_ADOPT:
        n->adopt = *a;
        return;
    case CLUSTER_CLAIM:
        n->claim = *a;
        return;
    case CLUSTER_SWEEP:
        n->sweep = *a;
        return;
    case CLUSTER_HANDOVER:
        n->last = *a;
        n->adopt.ticket = n->claim.ticket = n->sweep.ticket = 0;
        return;
    case CLUSTER_FORGET:
        w->forgotten++;
        say(w, "node %d is refused", n->place + 1);
        forget(n);
        return;
    case CLUSTER_LEFT:
        say(w, "node %d has left", n->place + 1);
        node_kill(w, n);
        if (!w->ending)
            elsewhere(w, w->calm ? 100 : between(w, 100, 5000), n, restart, NULL);
        return;
    case CLUSTER_REFUSED:
        broken(w, "node %d finds its name in use, and no other process has it", n->place + 1);
    default:
        db_action(w, n, a);
    }
}

void node_pump(struct world *w, struct snode *n)
{
    struct cluster_action a;
    uint32_t gen = n->gen;
    while (n->gen == gen && n->c && cluster_pop(n->c, &a))
        action(w, n, &a);
    if (n->gen == gen && !cluster_epoch(n->c) && n->nmine)
        forget(n); /* handed over, because the clock is wrong */
}

static void tick(struct world *w, struct snode *n, void *arg)
{
    (void)arg;
    struct now now = now_of(w, n);
    if (cluster_next(n->c) <= now.boot_ms)
        cluster_tick(n->c, now);
    cluster_load(n->c, now, n->nmine, MINE);
    uint32_t gen = n->gen;
    node_pump(w, n);
    if (gen != n->gen)
        return;
    runs_look(w, n);
    batch_make(w, n);
    after(w, TICK_MS, n, tick, NULL);
}

void node_up(struct world *w, struct snode *n)
{
    struct cluster_config config = { .gone_epoch = n->flock ? n->gone_epoch : 0 };
    if (n->up)
        return;
    n->up = true;
    n->gen++;
    n->boot_off = between(w, 1000, 1000000); /* another machine, or the same one started anew */
    forget(n);
    n->c = cluster_new(&config);
    after(w, 1, n, tick, NULL);
}

void node_kill(struct world *w, struct snode *n)
{
    (void)w;
    n->up = false;
    n->gen++;
    n->paused_ms = 0;
    cluster_free(n->c);
    n->c = NULL;
}
