/* SPDX-License-Identifier: Apache-2.0 */
/* The thread peal-node of a center: it drives the rules of src/sched/node.c as src/server/node.c
 * does, one operation at the database after the other, and reads the inbox and the news. What an
 * operation finds is read when it arrives at the database; the answer comes later, or never. */
#include "world.h"

#define PATIENCE_MS 1500 /* so long an answer is waited for */

enum what { DO_ACTION, DO_INBOX, DO_NEWS };

struct op {
    struct cnode *node;
    uint32_t gen;
    struct life *life;
    enum what what;
    struct cluster_action a;
    bool failed, done;
    int64_t clock_ms; /* the database's, true time */
    struct cluster_row rows[CLUSTER_MAX];
    int n;
    uint64_t others;
    struct inbox_rows came;
    struct news_rows said;
    /* for the reads, which go on from where the last one was */
    struct inbox inbox;
    struct news news;
};

static void op_free(struct op *op)
{
    inbox_rows_done(&op->came);
    news_rows_done(&op->said);
    life_unref(op->life);
    free(op);
}

/* ---- at the database ------------------------------------------------------------------------- */

static bool take_life(void *ctx, const struct life_record *r)
{
    struct op *op = ctx;
    bool namesake = r->node == op->life->node;
    if (!namesake)
        op->others += ((uint64_t)r->epoch << 40) + (uint64_t)r->changes;
    op->rows[op->n++] = (struct cluster_row){ .node = r->node,
                                              .epoch = r->epoch,
                                              .beat = r->beat,
                                              .watermark_ms = r->watermark_ms,
                                              .heir = r->heir,
                                              .skew_ms = r->skew_ms,
                                              .weight = r->weight,
                                              .ended = r->ended,
                                              .clean = r->clean,
                                              .draining = r->draining,
                                              .asked = r->asked,
                                              .namesake = namesake };
    return op->n < CLUSTER_MAX;
}

static enum err beat(struct world *w, struct op *op, struct why *why)
{
    const struct node_beat b = { .n = op->a.beat,
                                 .last = op->a.last,
                                 .watermark_ms = op->a.watermark_ms,
                                 .skew_ms = op->a.skew_ms,
                                 .jobs = -1,
                                 .weight = op->a.weight,
                                 .draining = op->a.draining,
                                 .shared = true,
                                 .address = op->node->name };
    int64_t clock_ms;
    op->clock_ms = EPOCH_MS + w->t;
    return op->life->beats->ops->cluster->beat(op->life->beats, &b, &op->done, &clock_ms, why);
}

static enum err action(struct world *w, struct op *op, struct why *why)
{
    struct store *s = op->life->beats;
    const struct store_cluster *t = s->ops->cluster;
    switch (op->a.kind) {
    case CLUSTER_BEAT:
        return beat(w, op, why);
    case CLUSTER_LOOK:
        return t->lives_each(s, CLUSTER_MAX, take_life, op, why);
    case CLUSTER_ORPHANS:
        return t->orphans_each(s, CLUSTER_MAX, take_life, op, why);
    default:
        return t->declare(s, op->a.node, op->a.epoch, op->a.beat, &op->done, why);
    }
}

static enum err read_one(struct world *w, struct op *op, struct why *why)
{
    int64_t boot_ms = now_of(op->node).boot_ms;
    if (op->what == DO_INBOX)
        return inbox_read(&op->inbox, op->life->beats, boot_ms, &op->came, why);
    if (op->what == DO_NEWS)
        return news_read(&op->news, op->life->beats, boot_ms, &op->said, why);
    enum err err = action(w, op, why);
    if (!err && op->a.kind == CLUSTER_DECLARE && op->done) {
        w->declared++;
        say(w, "%s ends epoch %lld", op->node->name, (long long)op->a.epoch);
        check_commit(w);
    }
    return err;
}

static void on_answer(struct world *w, struct event *e);
static void go_on(struct world *w, struct cnode *n, enum what from);

static void on_arrive(struct world *w, struct event *e)
{
    struct op *op = e->p;
    struct why why = { "" };
    e->p = NULL;
    op->failed = db_away(w, op->node) || read_one(w, op, &why);
    bool lost = db_away(w, op->node) || (!w->calm && chance(w, 5000));
    int64_t ms = op->failed || lost ? PATIENCE_MS : db_ms(w);
    op->failed = op->failed || lost || ms > PATIENCE_MS;
    elsewhere(w, ms, op->node, on_answer, op);
}

static void op_send(struct world *w, struct cnode *n, enum what what,
                    const struct cluster_action *a)
{
    struct op *op = mem_new(sizeof(*op));
    op->node = n;
    op->gen = n->gen;
    op->life = n->life;
    op->life->refs++;
    op->what = what;
    op->inbox = n->inbox;
    op->news = n->news;
    if (a)
        op->a = *a;
    n->busy = true;
    elsewhere(w, db_ms(w), n, on_arrive, op);
}

/* ---- what came of it ------------------------------------------------------------------------- */

static void beaten(struct cnode *n, const struct op *op)
{
    enum cluster_answer answer = op->failed ? CLUSTER_UNHEARD : op->done ? CLUSTER_YES : CLUSTER_NO;
    if (answer == CLUSTER_YES)
        cluster_clock(n->rules, op->clock_ms - machine_ms(n));
    cluster_beat(n->rules, now_of(n), &op->a, answer);
}

static void acted(struct cnode *n, const struct op *op)
{
    struct now now = now_of(n);
    if (op->a.kind == CLUSTER_BEAT) {
        beaten(n, op);
    } else if (op->a.kind == CLUSTER_DECLARE) {
        cluster_declared(n->rules, now, &op->a,
                         op->failed ? CLUSTER_UNHEARD
                         : op->done ? CLUSTER_YES
                                    : CLUSTER_NO);
    } else if (op->failed) {
        cluster_failed(n->rules, now, &op->a);
    } else if (op->a.kind == CLUSTER_LOOK) {
        n->others = op->others;
        cluster_rows(n->rules, now, &op->a, op->rows, op->n);
    } else {
        cluster_orphans(n->rules, now, &op->a, op->rows, op->n);
    }
}

static void take_rows(struct cnode *n, const struct op *op)
{
    for (int i = 0; n->sched && i < op->said.n; i++)
        sched_job_changed(n->sched, now_of(n), &op->said.items[i]);
    for (int i = 0; n->sched && i < op->came.n; i++)
        if (op->came.items[i].what == INBOX_KILL)
            users_kill_row(n->w, n, &op->came.items[i]);
        else
            sched_inbox(n->sched, now_of(n), &op->came.items[i]);
}

/* A read that failed has moved nothing but the time of the next one. */
static void read_done(struct world *w, struct cnode *n, const struct op *op)
{
    int64_t boot_ms = now_of(n).boot_ms;
    if (op->failed && op->what == DO_INBOX)
        inbox_later(&n->inbox, boot_ms);
    else if (op->failed)
        news_later(&n->news, boot_ms);
    else if (op->what == DO_INBOX)
        n->inbox = op->inbox;
    else
        n->news = op->news;
    if (op->failed)
        return;
    take_rows(n, op);
    loop_pump(w, n);
}

static void on_answer(struct world *w, struct event *e)
{
    struct op *op = e->p;
    struct cnode *n = op->node;
    e->p = NULL;
    if (n->gen == op->gen && n->up && w->t < n->paused_ms) {
        elsewhere(w, n->paused_ms - w->t, n, on_answer, op);
        return;
    }
    if (n->gen == op->gen && n->up) {
        n->busy = false;
        if (op->what == DO_ACTION)
            acted(n, op);
        else
            read_done(w, n, op);
        if (n->gen == op->gen)
            go_on(w, n, op->what);
    }
    op_free(op);
}

/* ---- what the scheduler is told -------------------------------------------------------------- */

static void on_said(struct world *w, struct event *e)
{
    struct cnode *n = e->node;
    if (!n->sched)
        return;
    sched_lease(n->sched, now_of(n), n->lease_ms, n->mark_ms);
    sched_share(n->sched, &n->share);
    if (n->claim)
        sched_claim(n->sched);
    if (n->adopt.epoch)
        sched_adopt(n->sched, &(struct adoption){ n->adopt.epoch, n->adopt.watermark_ms,
                                                  n->adopt.clean, (int)between(w, 1, 20) });
    if (n->sweeps)
        sched_homes(n->sched, &n->sweep);
    n->claim = n->sweeps = false;
    n->adopt.epoch = 0;
    if (n->others != n->others_seen)
        heard_step(w, n);
    loop_pump(w, n);
}

static void publish(struct world *w, struct cnode *n)
{
    int64_t lease_ms = cluster_lease_ms(n->rules), mark_ms = cluster_watermark_ms(n->rules);
    bool same = lease_ms == n->lease_ms && mark_ms == n->mark_ms;
    n->lease_ms = lease_ms;
    n->mark_ms = mark_ms;
    cluster_share(n->rules, &n->share);
    if (!same || n->claim || n->sweeps || n->adopt.epoch || n->others != n->others_seen)
        after(w, between(w, 0, 2), n, on_said, NULL);
}

/* ---- the rules' actions ---------------------------------------------------------------------- */

/* False: the process is gone. */
static bool act(struct world *w, struct cnode *n, const struct cluster_action *a)
{
    switch (a->kind) {
    case CLUSTER_BEAT:
    case CLUSTER_LOOK:
    case CLUSTER_ORPHANS:
    case CLUSTER_DECLARE:
        op_send(w, n, DO_ACTION, a);
        return true;
    case CLUSTER_ADOPT:
        n->adopt = n->adopting = *a;
        return true;
    case CLUSTER_SWEEP:
        n->sweeping = *a;
        if (a->anew)
            n->sweep = (struct home_row){ 0, INT64_MIN, INT64_MIN };
        n->sweeps = true;
        return true;
    case CLUSTER_CLAIM:
        cluster_claimed(n->rules, now_of(n), a);
        n->claim = true;
        return true;
    case CLUSTER_HANDOVER:
        if (n->leaving)
            return true;
        node_lost(w, n, "its clock is wrong");
        return false;
    case CLUSTER_FORGET:
        if (n->leaving)
            return true;
        node_lost(w, n, "its life has been ended");
        return false;
    default:
        return true;
    }
}

static void take_messages(struct cnode *n)
{
    if (n->adopted) {
        n->adopted = false;
        cluster_adopted(n->rules, now_of(n), &n->adopting, n->adopt_taken, n->adopt_left);
        inbox_from_start(&n->inbox);
    }
    if (n->swept) {
        n->swept = false;
        cluster_swept(n->rules, now_of(n), &n->sweeping, n->sweep_left);
    }
    if (n->asked) {
        n->asked = false;
        cluster_look(n->rules, now_of(n));
        inbox_now(&n->inbox);
        news_now(&n->news);
    }
    if (n->leaving && !n->told_leaving) {
        n->told_leaving = true;
        cluster_stop(n->rules, now_of(n));
    }
}

static void on_thread(struct world *w, struct event *e)
{
    if (e->a == e->node->thread_ms)
        thread_step(w, e->node);
}

static void sleep_on(struct world *w, struct cnode *n)
{
    int64_t boot_ms = now_of(n).boot_ms, next_ms = cluster_next(n->rules);
    if (inbox_next(&n->inbox) < next_ms)
        next_ms = inbox_next(&n->inbox);
    if (n->news.next_ms < next_ms)
        next_ms = n->news.next_ms;
    int64_t in_ms = next_ms - boot_ms < 1 ? 1 : next_ms - boot_ms;
    n->thread_ms = w->t + (in_ms > 60000 ? 60000 : in_ms);
    after(w, n->thread_ms - w->t, n, on_thread, NULL)->a = n->thread_ms;
}

/* The rest of a round, from where its last operation was. */
static void go_on(struct world *w, struct cnode *n, enum what from)
{
    struct cluster_action a;
    int64_t boot_ms = now_of(n).boot_ms;
    while (from == DO_ACTION && !n->busy && cluster_pop(n->rules, &a))
        if (!act(w, n, &a))
            return;
    if (n->busy)
        return;
    if (from == DO_ACTION) {
        publish(w, n);
        node_follow_clock(w, n);
    }
    if (from < DO_INBOX && inbox_next(&n->inbox) <= boot_ms)
        op_send(w, n, DO_INBOX, NULL);
    else if (from < DO_NEWS && n->news.next_ms <= boot_ms)
        op_send(w, n, DO_NEWS, NULL);
    else
        sleep_on(w, n);
}

static int64_t live_of(const struct cnode *n)
{
    struct sched_stats st = { .live = 0 };
    if (n->sched)
        sched_stats(n->sched, &st);
    return st.live;
}

void thread_step(struct world *w, struct cnode *n)
{
    if (!n->rules || n->busy || w->t < n->paused_ms)
        return; /* the answer, or its waking, brings it back here */
    take_messages(n);
    cluster_load(n->rules, now_of(n), live_of(n), SCHED_LIVE_MAX);
    if (cluster_next(n->rules) <= now_of(n).boot_ms)
        cluster_tick(n->rules, now_of(n));
    go_on(w, n, DO_ACTION);
}

/* ---- between centers ------------------------------------------------------------------------- */

static void on_nudge(struct world *w, struct event *e)
{
    e->node->asked = true;
    thread_step(w, e->node);
}

void thread_nudge_others(struct world *w, struct cnode *n)
{
    for (int i = 0; i < w->nnodes; i++) {
        struct cnode *to = &w->nodes[i];
        if (to == n || !to->rules || w->apart[n->place][i] > w->t || chance(w, 50000))
            continue;
        after(w, chance(w, 50000) ? between(w, 5, 3000) : between(w, 0, 3), to, on_nudge, NULL);
        if (chance(w, 20000))
            after(w, between(w, 0, 500), to, on_nudge, NULL);
    }
}

void thread_start(struct world *w, struct cnode *n)
{
    const struct cluster_config c = { .single = false };
    (void)w;
    n->busy = n->claim = n->adopted = n->sweeps = n->swept = n->asked = false;
    n->adopt.epoch = 0;
    n->inbox = (struct inbox){ 0 };
    n->news = (struct news){ 0 };
    n->lease_ms = n->mark_ms = INT64_MIN;
    n->share = (struct share){ .n = 0 };
    n->others = n->others_seen = 0;
    n->rules = cluster_new(&c);
    cluster_joined(n->rules, now_of(n), NULL, n->life->node, n->life->epoch);
    thread_step(w, n);
}
