/* SPDX-License-Identifier: Apache-2.0 */
/* A center's process: it opens the database as the next life of its name, which may have to wait
 * until the last one is silent, and ends by a kill, by a refusal, or because it was asked to. */
#include "world.h"
#include "base/clock_step.h"
#include <stdio.h>

void life_unref(struct life *l)
{
    if (--l->refs)
        return;
    store_memory_drop(l->beats);
    free(l);
}

/* ---- the start ------------------------------------------------------------------------------- */

/* What src/store/sql/epoch.c asks before it opens: is the last life of this name over? */
static bool may_open(struct world *w, struct cnode *n)
{
    struct memory *m = memory_of(w->db);
    const struct mem_node *row = NULL;
    void *value;
    for (size_t i = 0; map_next(&m->tables[T_NODE], &i, &value);)
        if (strcmp(((struct mem_node *)value)->name, n->name) == 0)
            row = value;
    const struct mem_life *l = row ? mem_find(m, T_LIFE, row->epoch) : NULL;
    if (!l || l->ended || l->epoch == n->gone_epoch)
        return true;
    bool first = n->watch.epoch != l->epoch;
    enum life_sign sign = life_look(&n->watch, now_of(n).boot_ms, LIFE_LEASE_MS, l->epoch,
                                    row->beat, l->watermark.batch);
    if (sign == LIFE_MOVES && !first)
        n->watch.epoch = 0; /* its process would end here, and be started again */
    return sign == LIFE_OVER;
}

static void joined(struct world *w, struct cnode *n, struct store *s)
{
    struct why why = { "" };
    struct life *l = n->life = mem_new(sizeof(*l));
    n->agreed_ms = machine_ms(n) - now_of(n).boot_ms;
    l->store = s;
    l->refs = 1;
    s->ops->cluster->life(s, &l->node, &l->epoch);
    const struct store_options o = {
        .shared = true, .node = l->node, .epoch = l->epoch, .life = l->epoch
    };
    must(w, store_memory_open(w->db, &o, &l->beats, &why), &why);
    n->gone_epoch = l->epoch; /* its data folder has it */
    w->joins++;
    n->in_ms = w->t;
    say(w, "%s joins as node %lld, epoch %lld", n->name, (long long)l->node, (long long)l->epoch);
    db_writer(n);
    thread_start(w, n);
    loop_start(w, n);
    check_commit(w);
}

static void on_open(struct world *w, struct event *e)
{
    struct cnode *n = e->node;
    struct store *s = NULL;
    struct why why = { "" };
    const struct store_options o = { .shared = true, .node_name = n->name };
    int64_t apart_ms = machine_ms(n) - EPOCH_MS - w->t; /* db.clock-skew refuses the start */
    bool wrong = apart_ms > CLOCK_WRONG_MS || apart_ms < -CLOCK_WRONG_MS;
    if (wrong || db_away(w, n) || !may_open(w, n) || store_memory_open(w->db, &o, &s, &why)) {
        after(w, LIFE_LOOK_MS, n, on_open, NULL);
        return;
    }
    joined(w, n, s);
}

void node_start(struct world *w, struct cnode *n)
{
    if (n->up)
        return;
    n->up = true;
    n->gen++;
    n->paused_ms = 0;
    n->boot_off = between(w, 1000, 1000000); /* another machine, or the same one started anew */
    n->watch = (struct life_watch){ 0 };
    n->leaving = n->told_leaving = false;
    after(w, between(w, 1, 30), n, on_open, NULL);
}

/* ---- its end --------------------------------------------------------------------------------- */

static void gone(struct world *w, struct cnode *n)
{
    n->up = false;
    n->gen++;
    n->paused_ms = 0;
    net_node_gone(w, n);
    if (!n->life)
        return;
    loop_done(n);
    cluster_free(n->rules);
    n->rules = NULL;
    inbox_rows_done(&(struct inbox_rows){ NULL, 0 });
    if (n->life->store)
        store_memory_drop(n->life->store);
    life_unref(n->life);
    n->life = NULL;
}

static void on_back(struct world *w, struct event *e)
{
    if (!e->node->for_good)
        node_start(w, e->node);
}

void node_back_in(struct world *w, struct cnode *n, int64_t ms)
{
    elsewhere(w, ms, n, on_back, NULL);
}

void node_kill(struct world *w, struct cnode *n)
{
    gone(w, n);
}

void node_lost(struct world *w, struct cnode *n, const char *what)
{
    say(w, "%s ends: %s", n->name, what);
    w->fenced++;
    gone(w, n);
    node_back_in(w, n, w->calm ? between(w, 50, 500) : between(w, 50, 4000));
}

/* ---- a stop ---------------------------------------------------------------------------------- */

void node_stop(struct world *w, struct cnode *n)
{
    if (!n->sched || n->leaving)
        return;
    say(w, "%s is asked to stop", n->name);
    w->stops++;
    n->leaving = true;
    n->stop_ms = w->t;
    n->leave_ms = w->t + 5000;
    sched_drain(n->sched);
    thread_step(w, n);
    loop_pump(w, n);
}

/* ---- its clock ------------------------------------------------------------------------------- */

/* As src/server/center.c notices it: nothing leaves until the beat that begins now is taken. */
static void on_stepped(struct world *w, struct event *e)
{
    struct cnode *n = e->node;
    struct now now = now_of(n);
    if (!n->sched)
        return;
    sched_lease(n->sched, now, INT64_MIN, INT64_MIN);
    cluster_stepped(n->rules, now);
    thread_step(w, n);
}

static void on_followed(struct world *w, struct event *e)
{
    loop_pump(w, e->node);
}

void node_follow_clock(struct world *w, struct cnode *n)
{
    if (!n->sched || !cluster_follow(n->rules))
        return;
    int64_t before_ms = now_of(n).wall_ms;
    n->agreed_ms = machine_ms(n) - now_of(n).boot_ms;
    int64_t by = now_of(n).wall_ms - before_ms;
    say(w, "%s follows its clock by %lld ms", n->name, (long long)by);
    if (clock_step_of(by))
        sched_clock_stepped(n->sched, now_of(n), by);
    after(w, 0, n, on_followed, NULL);
}

void node_step_clock(struct world *w, struct cnode *n, int64_t wall_off)
{
    n->wall_off = wall_off;
    say(w, "the clock of %s is off by %lld ms", n->name, (long long)wall_off);
    if (n->up && machine_ms(n) != now_of(n).wall_ms)
        after(w, between(w, 0, 3), n, on_stepped, NULL);
    else if (n->up)
        loop_pump(w, n);
}
