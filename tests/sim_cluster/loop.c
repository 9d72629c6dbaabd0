/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler's thread of a center: it drives the core as src/server/center.c does, and gives the
 * writer one batch at a time. */
#include "world.h"

#define GAP_MS 16 /* as the server's, between two transactions */

static void wake(struct world *w, struct cnode *n);

/* ---- start ----------------------------------------------------------------------------------- */

static enum err zone_find(void *ctx, const char *name, struct zone **ret, struct why *why)
{
    (void)ctx;
    (void)name;
    (void)why;
    *ret = zone_ref(zone_utc());
    return OK;
}

static bool load_group(void *ctx, const struct group_record *g)
{
    sched_load_group(((struct cnode *)ctx)->sched, g);
    return true;
}

static bool load_registry(void *ctx, const struct registry_record *r)
{
    struct cnode *n = ctx;
    sched_load_registry(n->sched, now_of(n), r);
    return true;
}

/* One whose job is gone is loaded with an empty definition. */
static bool load_run(void *ctx, const struct run_row *row)
{
    struct cnode *n = ctx;
    struct job_record r;
    struct why why = { "" };
    job_record_init(&r);
    if (n->life->store->ops->catalog->job_get(n->life->store, row->job_id, &r, &why)) {
        r.id = row->job_id;
        r.group_id = row->group_id;
    }
    struct job *j = planner_keep(n->planner, &r);
    job_record_done(&r);
    sched_load_run(n->sched, now_of(n), row, j, FLIGHT_KNOWS_NOTHING);
    return true;
}

static void load(struct world *w, struct cnode *n)
{
    struct store *s = n->life->store;
    struct why why = { "" };
    struct watermark last;
    must(w, s->ops->txn->watermark_get(s, &last, &why), &why);
    sched_load_watermark(n->sched, last.until_ms, last.clean);
    must(w, s->ops->catalog->groups_each(s, load_group, n, &why), &why);
    must(w, s->ops->catalog->registry_each(s, load_registry, n, &why), &why);
    must(w, s->ops->runs->runs_each(s, load_run, n, &why), &why);
    sched_started(n->sched, now_of(n));
}

void loop_start(struct world *w, struct cnode *n)
{
    struct sched_config c;
    sched_config_default(&c);
    c.seed = dice_u64(&w->dice);
    c.batch_gap_ms = GAP_MS;
    c.lost_keep_ms = 20000;
    c.gone_after_ms = 20000; /* an executor that is away for longer does not come back */
    c.end_wait_ms = 15000;
    c.dead_after_ms = 30000; /* ours beat each 10 s */
    if (chance(w, 200000))
        c.lane_connections = (int)between(w, 1, 4);
    if (chance(w, 200000))
        c.plan_max_rows = (int)between(w, 3, 20);
    const struct planner_config p = { .zone_find = zone_find,
                                      .last_year = 2125,
                                      .misfire_threshold_ms = 5000,
                                      .seed = dice_u64(&w->dice) };
    list_init(&n->acks);
    list_init(&n->writes);
    list_init(&n->written_with);
    list_init(&n->kills);
    n->ncalls = 0;
    n->writing = NULL;
    n->pumping = false;
    n->wake_ms = -1;
    n->committed = 0;
    n->sched = sched_new(&c);
    n->planner = planner_new(&p);
    sched_lease(n->sched, now_of(n), INT64_MIN, INT64_MIN);
    sched_share(n->sched, &n->share);
    load(w, n);
    heard_step(w, n);
    loop_pump(w, n);
}

void loop_done(struct cnode *n)
{
    struct action a;
    while (sched_pop(n->sched, &a))
        if (a.kind == ACTION_EDITED)
            edit_free(a.edit);
    batch_free(n->writing);
    n->writing = NULL;
    sched_free(n->sched);
    n->sched = NULL;
    planner_free(n->planner);
    n->planner = NULL;
    ledger_entries_end(&n->writes, ERR_STOPPING);
    ledger_entries_end(&n->written_with, ERR_STOPPING);
    for (struct list_node *l; (l = list_pop(&n->acks));)
        free(container_of(l, struct cack, in_node));
    for (struct list_node *l; (l = list_pop(&n->kills));)
        free(l); /* its list node comes first */
}

/* ---- the writer ------------------------------------------------------------------------------ */

static void on_write(struct world *w, struct event *e);

static void on_ask(struct world *w, struct event *e);

static void on_heard(struct world *w, struct event *e)
{
    struct cnode *n = e->node;
    struct batch *b = n->writing;
    n->writing = NULL;
    if (b->adopt.epoch) {
        n->adopted = true;
        n->adopt_taken = b->nadopted;
        n->adopt_left = b->adopt_left;
        w->adopted += b->nadopted;
        if (b->nadopted)
            say(w, "%s has taken %d runs of epoch %lld over", n->name, b->nadopted,
                (long long)b->adopt.epoch);
    }
    if (b->homes.wanted) {
        n->swept = true;
        n->sweep = b->homes.next;
        n->sweep_left = b->homes.left;
    }
    w->passed_on += b->inbox_given;
    if (b->inbox_given || b->nedits)
        thread_nudge_others(w, n);
    sched_batch_done(n->sched, now_of(n), b);
    n->committed = sched_committed(n->sched);
    for (struct list_node *l; (l = list_pop(&n->written_with));) {
        struct ledger_entry *entry = container_of(l, struct ledger_entry, node);
        ledger_entry_end(entry, entry->err);
    }
    if (n->adopted || n->swept)
        thread_step(w, n);
    loop_pump(w, n);
}

/* What the transaction came to, as the writer's thread knows it ms later. */
static void written(struct world *w, struct cnode *n, int64_t ms)
{
    const struct batch *b = n->writing;
    if (b->err)
        say(w, "%s: batch: %s: %s", n->name, err_name(b->err), b->why.text);
    if (!b->err)
        after(w, ms, n, on_heard, NULL);
    else if (b->err == ERR_UNHEARD)
        after(w, ms + between(w, 20, 400), n, on_ask, NULL);
    else if (b->err == ERR_FENCED)
        node_lost(w, n, "its commit is refused");
    else
        after(w, b->err == ERR_CONFLICT ? between(w, 0, 50) : between(w, 25, 500), n, on_write,
              NULL);
}

static void on_ask(struct world *w, struct event *e)
{
    struct cnode *n = e->node;
    txn_settle(n->life->store, n->planner, NULL, n->writing);
    written(w, n, 0);
}

static void on_write(struct world *w, struct event *e)
{
    struct cnode *n = e->node;
    n->late_ms = 0;
    n->writing->waited_ms = now_of(n).boot_ms - n->writing->taken_boot_ms;
    txn_run(n->life->store, n->planner, NULL, n->writing, &n->written_with);
    written(w, n, n->late_ms + between(w, 0, 2));
}

void loop_write(struct cnode *n, const struct ledger_write *write, void *arg)
{
    list_push(&n->writes, &ledger_entry_new(write, arg)->node);
    sched_want_batch(n->sched);
}

static void give_batch(struct world *w, struct cnode *n)
{
    if (n->writing)
        return;
    n->writing = sched_take_batch(n->sched, now_of(n));
    if (!n->writing)
        return;
    n->writing->no_report = true;
    list_move(&n->written_with, &n->writes);
    after(w, 1 + db_ms(w) + db_ms(w), n, on_write, NULL);
}

/* ---- actions --------------------------------------------------------------------------------- */

static void act(struct world *w, struct cnode *n, struct action *a)
{
    switch (a->kind) {
    case ACTION_CALL:
        net_call(w, n, &a->call);
        break;
    case ACTION_ACK: {
        struct cack *ack = container_of(a->ack, struct cack, ack);
        list_remove(&ack->in_node);
        check_ack(w, ack);
        exec_acked(w, ack);
        free(ack);
        break;
    }
    case ACTION_EDITED:
        users_edited(w, n, a->edit);
        break;
    case ACTION_KILLED:
        users_killed(w, n, a);
        break;
    case ACTION_SPAWNED:
    case ACTION_WARM:
        break;
    }
}

static void pop_all(struct world *w, struct cnode *n)
{
    struct action a;
    n->pumping = true;
    while (w->t >= n->paused_ms && sched_pop(n->sched, &a))
        act(w, n, &a);
    n->pumping = false;
}

/* ---- a stop ---------------------------------------------------------------------------------- */

/* The process closes the database, which ends its life, if it can. */
static void leave(struct world *w, struct cnode *n)
{
    bool away = db_away(w, n);
    say(w, "%s has stopped%s", n->name, away ? ", without a word to the database" : "");
    if (!away) {
        n->life->store->ops = &store_memory_shared_ops;
        store_close(n->life->store);
        n->life->store = NULL;
    }
    node_kill(w, n);
    check_commit(w);
    node_back_in(w, n, w->calm ? 100 : between(w, 50, 5000));
}

static bool may_leave(const struct world *w, const struct cnode *n)
{
    if (w->t >= n->leave_ms)
        return true;
    return !n->writing && !n->ncalls && list_empty(&n->acks) && sched_drained(n->sched);
}

/* ---- the pump -------------------------------------------------------------------------------- */

static void on_wake(struct world *w, struct event *e)
{
    struct cnode *n = e->node;
    if (n->wake_ms != e->a)
        return;
    n->wake_ms = -1;
    sched_tick(n->sched, now_of(n));
    loop_pump(w, n);
}

/* In true time: a clock that is slow makes the wake come early, and another one follow. */
static void wake(struct world *w, struct cnode *n)
{
    struct now now = now_of(n);
    int64_t wall = sched_next_wall(n->sched), boot = sched_next_boot(n->sched);
    int64_t in_ms = boot - now.boot_ms;
    if (wall != NEVER_MS && wall - now.wall_ms < in_ms)
        in_ms = wall - now.wall_ms;
    if (n->leaving && n->leave_ms - w->t < in_ms)
        in_ms = n->leave_ms - w->t;
    if (in_ms > 60000)
        in_ms = 60000;
    int64_t at_ms = w->t + (in_ms < 1 ? 1 : in_ms);
    if (n->wake_ms >= 0 && n->wake_ms <= at_ms)
        return;
    n->wake_ms = at_ms;
    after(w, at_ms - w->t, n, on_wake, NULL)->a = at_ms;
}

static void on_resumed(struct world *w, struct event *e)
{
    loop_pump(w, e->node);
}

void loop_pump(struct world *w, struct cnode *n)
{
    uint32_t gen = n->gen;
    if (!n->sched || n->pumping)
        return;
    if (w->t < n->paused_ms) {
        after(w, n->paused_ms - w->t, n, on_resumed, NULL);
        return;
    }
    pop_all(w, n);
    if (w->t >= n->paused_ms)
        give_batch(w, n);
    pop_all(w, n);
    if (n->gen != gen)
        return;
    if (n->leaving && w->t >= n->paused_ms && may_leave(w, n)) {
        leave(w, n);
        return;
    }
    wake(w, n);
}
