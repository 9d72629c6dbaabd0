/* SPDX-License-Identifier: Apache-2.0 */
/* The database as a server of it sees it: it is away, or slow; commits take their time, their
 * answers are lost, sessions die. A transaction reads and writes at one instant and is committed at
 * another, with what it has changed locked in between. */
#include "world.h"

#define SESSION_MS 10000 /* the database ends a session whose client says nothing for so long */
#define TOLD_MS 1000
#define TOLD_LOOK_MS 20

static struct world *world; /* one at a time */

bool db_away(const struct world *w, const struct cnode *n)
{
    return w->t < w->db_down_ms || (n && w->t < n->cut_ms);
}

int64_t db_ms(struct world *w)
{
    if (!w->calm && (w->db_slow || chance(w, 10000)))
        return between(w, 5, 700);
    return between(w, 0, 3);
}

/* ---- commits --------------------------------------------------------------------------------- */

struct pending { /* a transaction that is held open behind its fence */
    struct store *rest;
    struct cnode *node;
    uint32_t gen;
    bool committed;
};

static struct cnode *node_of(const struct store *s)
{
    for (int i = 0; i < world->nnodes; i++)
        if (world->nodes[i].life && world->nodes[i].life->store == s)
            return &world->nodes[i];
    broken(world, "the simulation", "a handle is nobody's");
}

/* One whose client is gone before it ends is what the dice say. */
static void on_settle(struct world *w, struct event *e)
{
    const struct pending *p = e->p;
    bool gone = p->gen != p->node->gen || !p->node->up;
    store_memory_settle(p->rest, gone ? chance(w, 500000) : p->committed);
    check_commit(w);
}

static enum err hold(struct cnode *n, struct store *s, const struct commit *c, int64_t ms,
                     bool heard, bool committed, struct why *why)
{
    struct pending *p = mem_new(sizeof(*p));
    enum err err = store_memory_prepare(s, c, heard, &p->rest, why);
    if (err) {
        free(p);
        return err;
    }
    p->node = n;
    p->gen = n->gen;
    p->committed = committed;
    elsewhere(world, ms, NULL, on_settle, p);
    world->late_commits++;
    if (heard)
        return OK;
    world->unheard++;
    why_set(why, "the answer was lost");
    return ERR_UNHEARD;
}

/* The process is stopped between its fence and its commit. Its session dies if that is for long. */
static enum err stop_within(struct cnode *n, struct store *s, const struct commit *c,
                            struct why *why)
{
    int64_t ms = between(world, 500, 14000);
    bool dies = ms >= SESSION_MS;
    say(world, "%s is stopped within a transaction for %lld ms", n->name, (long long)ms);
    enum err err = hold(n, s, c, dies ? SESSION_MS : ms, !dies, !dies, why);
    n->late_ms = ms;
    n->paused_ms = world->t + ms;
    world->pauses++;
    return err;
}

static enum err late_commit(struct store *s, const struct commit *c, struct why *why)
{
    struct cnode *n = node_of(s);
    uint32_t dice = world->calm ? UINT32_MAX : dice_below(&world->dice, 1000000);
    n->late_ms = 0;
    if (dice < 8000) {
        n->late_ms = between(world, 5, dice < 3000 ? 6000 : 300);
        return hold(n, s, c, n->late_ms, true, true, why);
    }
    if (dice < 14000) {
        n->late_ms = between(world, 0, 300);
        return hold(n, s, c, between(world, 0, dice < 10000 ? 200 : 7000), false,
                    chance(world, 500000), why);
    }
    if (dice < 15000)
        return stop_within(n, s, c, why);
    if (dice < 18000) {
        world->conflicts++;
        why_set(why, "two transactions met");
        return ERR_CONFLICT;
    }
    enum err err = store_memory_shared_ops.txn->commit(s, c, why);
    if (!err)
        check_commit(world);
    return err;
}

static enum err late_begin(struct store *s, struct why *why)
{
    if (!db_away(world, node_of(s)))
        return store_memory_shared_ops.txn->begin(s, why);
    why_set(why, "the database is away");
    return ERR_STORE;
}

static enum err late_outcome(struct store *s, bool *ret_done, struct why *why)
{
    if (!db_away(world, node_of(s)))
        return store_memory_shared_ops.txn->outcome(s, ret_done, why);
    why_set(why, "the database is away");
    return ERR_STORE;
}

void db_writer(struct cnode *n)
{
    static struct store_ops ops;
    static struct store_txn txn;
    world = n->w;
    ops = store_memory_shared_ops;
    txn = *ops.txn;
    txn.begin = late_begin;
    txn.commit = late_commit;
    txn.outcome = late_outcome;
    ops.txn = &txn;
    n->life->store->ops = &ops;
}

/* ---- edits ----------------------------------------------------------------------------------- */

struct told {
    int64_t job_id, version, epoch, end_ms;
    enum edit_kind kind;
    bool settled;
};

static bool add(void *ctx, const struct untold *u)
{
    *(int64_t *)ctx += u->unsent;
    return true;
}

/* As src/api/edit_told.c does. */
static void on_told(struct world *w, struct event *e)
{
    const struct told *t = e->p;
    struct why why = { "" };
    int64_t left = 0;
    if (w->t >= t->end_ms) {
        if (t->settled)
            broken(w, "I6", "%lld ms of calm after edit %d of job %lld others do not know it",
                   (long long)TOLD_MS, t->kind, (long long)t->job_id);
        w->told_late++;
        return;
    }
    if (db_away(w, e->node))
        return; /* the answer says that it is not known */
    must(w,
         w->db->ops->cluster->runs_untold(w->db, t->job_id, t->version, t->epoch, add, &left, &why),
         &why);
    if (!left) {
        check_answered(w, t->job_id, t->kind, t->version);
        return;
    }
    after(w, TOLD_LOOK_MS, e->node, on_told, e->p);
    e->p = NULL;
}

void db_told(struct world *w, struct cnode *n, const struct edit *e)
{
    struct told *t = mem_new(sizeof(*t));
    *t = (struct told){ .job_id = e->id,
                        .version = e->now ? e->now->version : VERSION_DELETED,
                        .epoch = n->life->epoch,
                        .end_ms = w->t + TOLD_MS,
                        .kind = e->kind,
                        .settled = w->settled };
    after(w, db_ms(w), n, on_told, t);
}
