/* SPDX-License-Identifier: Apache-2.0 */
/* The database. A statement happens at one instant; a transaction takes its rows at one and commits
 * at a later one, where its number is compared and its epoch must not have ended. Either way may
 * take long or lose its message. */
#include "world.h"

struct op { /* a statement of its own on the beat's connection */
    struct cluster_action a;
    int64_t epoch; /* of the process that asks */
    enum cluster_answer answer;
    struct cluster_row rows[NODES * 4];
    int n;
    int64_t made, clock_ms;
    bool answered;
    uint32_t gen; /* of the process that asks */
};

static bool reached(struct world *w, const struct snode *n)
{
    return w->t >= n->cut_ms && w->t >= w->db_down_ms;
}

static int64_t trip(struct world *w)
{
    if (!w->calm && dice_chance(&w->dice, 10000))
        return between(w, 100, 3500);
    return between(w, 1, 12);
}

static bool has_runs(const struct world *w, int64_t epoch)
{
    for (int i = w->first_live; i < w->nruns; i++)
        if (w->runs[i].epoch == epoch && w->runs[i].phase != RUN_DONE)
            return true;
    return false;
}

static void row_of_epoch(struct world *w, struct op *o, const struct snode *n, int place,
                         int64_t epoch)
{
    const struct node_row *r = &w->rows[place];
    const struct epoch_row *e = &w->epochs[epoch];
    if (o->n == NODES * 4)
        return;
    o->rows[o->n++] = (struct cluster_row){ .node = place + 1,
                                            .epoch = epoch,
                                            .beat = r->beat,
                                            .watermark_ms = r->mark_ms,
                                            .heir = e->heir,
                                            .skew_ms = r->skew_ms,
                                            .weight = r->weight,
                                            .ended = epoch && e->ended,
                                            .clean = e->clean,
                                            .draining = r->draining,
                                            .asked = r->asked,
                                            .namesake = place == n->place };
}

/* Older epochs need the watermark they had: the row of their node has been written over since, with
 * a later one. */
static void read_rows(struct world *w, struct op *o, const struct snode *n, bool all)
{
    for (int p = 0; all && p < w->nnodes; p++)
        if (w->rows[p].epoch)
            row_of_epoch(w, o, n, p, w->rows[p].epoch);
    for (int64_t e = 1; e <= w->nepochs; e++)
        if (w->epochs[e].ended && has_runs(w, e) && (!all || w->rows[w->epochs[e].node].epoch != e))
            row_of_epoch(w, o, n, w->epochs[e].node, e);
}

static void finish(struct world *w, int64_t epoch, int64_t heir)
{
    w->epochs[epoch].ended = true;
    w->epochs[epoch].heir = heir;
    w->epochs[epoch].ended_ms = w->t;
}

static enum cluster_answer join(struct world *w, struct op *o, const struct snode *n)
{
    struct node_row *r = &w->rows[n->place];
    bool living = r->epoch && !w->epochs[r->epoch].ended;
    if (r->epoch != o->a.epoch || (living && !o->a.ends))
        return CLUSTER_NO;
    o->made = ++w->nepochs;
    if (o->made >= EPOCHS)
        broken(w, "too many epochs");
    if (living)
        finish(w, r->epoch, o->made);
    w->epochs[o->made] = (struct epoch_row){ .node = n->place };
    int64_t mark_ms = r->mark_ms; /* never back: rows of older epochs are judged by it */
    *r = (struct node_row){ .epoch = o->made, .mark_ms = mark_ms, .weight = HOMES_WEIGHT };
    w->joins++;
    say(w, "node %d joins as epoch %lld", n->place + 1, (long long)o->made);
    return CLUSTER_YES;
}

static enum cluster_answer beat(struct world *w, const struct op *o, const struct snode *n)
{
    struct node_row *r = &w->rows[n->place];
    const struct cluster_action *a = &o->a;
    if (r->epoch != a->epoch || w->epochs[r->epoch].ended || r->beat < a->last ||
        r->beat >= a->beat)
        return CLUSTER_NO;
    r->beat = a->beat;
    r->mark_ms = a->watermark_ms > r->mark_ms ? a->watermark_ms : r->mark_ms;
    r->skew_ms = a->skew_ms;
    r->weight = a->weight;
    r->draining = a->draining;
    return CLUSTER_YES;
}

static enum cluster_answer declare(struct world *w, const struct op *o)
{
    const struct cluster_action *a = &o->a;
    const struct node_row *r = &w->rows[a->node - 1];
    if (r->epoch != a->epoch || r->beat != a->beat || w->epochs[r->epoch].ended)
        return CLUSTER_NO;
    finish(w, a->epoch, o->epoch);
    w->declared++;
    say(w, "epoch %lld is declared dead by epoch %lld", (long long)a->epoch, (long long)o->epoch);
    return CLUSTER_YES;
}

static void op_answer(struct world *w, struct snode *n, void *arg)
{
    struct op *o = arg;
    struct now now = now_of(w, n);
    if (o->answered || o->gen != n->gen)
        return;
    o->answered = true;
    if (o->answer != CLUSTER_UNHEARD)
        cluster_clock(n->c, o->clock_ms - now.wall_ms);
    if (o->a.kind == CLUSTER_BEAT)
        cluster_beat(n->c, now, &o->a, o->answer);
    else if (o->a.kind == CLUSTER_DECLARE && o->answer != CLUSTER_UNHEARD)
        cluster_declared(n->c, now, &o->a, o->answer);
    else if (o->answer != CLUSTER_YES)
        cluster_failed(n->c, now, &o->a);
    else if (o->a.kind == CLUSTER_LOOK)
        cluster_rows(n->c, now, &o->a, o->rows, o->n);
    else if (o->a.kind == CLUSTER_ORPHANS)
        cluster_orphans(n->c, now, &o->a, o->rows, o->n);
    else {
        n->no = 0;
        n->gone_epoch = o->made;
        cluster_joined(n->c, now, &o->a, n->place + 1, o->made);
    }
    node_pump(w, n);
}

static void op_timeout(struct world *w, struct snode *n, void *arg)
{
    struct op *o = arg;
    if (!o->answered)
        o->answer = CLUSTER_UNHEARD;
    op_answer(w, n, o);
}

/* The statement happens, whatever the node has become since it sent it. */
static void op_arrive(struct world *w, struct snode *n, void *arg)
{
    struct op *o = arg;
    bool reads = o->a.kind == CLUSTER_LOOK || o->a.kind == CLUSTER_ORPHANS;
    if (!reached(w, n) || (!reads && w->t < w->no_beats_ms))
        return;
    enum cluster_answer answer = CLUSTER_YES;
    if (o->a.kind == CLUSTER_BEAT)
        answer = beat(w, o, n);
    else if (o->a.kind == CLUSTER_DECLARE)
        answer = declare(w, o);
    else if (o->a.kind == CLUSTER_JOIN)
        answer = join(w, o, n);
    else
        read_rows(w, o, n, o->a.kind == CLUSTER_LOOK);
    if (o->answered || o->gen != n->gen) /* nothing waits for the answer any more */
        return;
    if (!w->calm && dice_chance(&w->dice, 5000)) {
        w->lost_answers++;
        return;
    }
    o->answer = answer;
    o->clock_ms = w->t;
    after(w, trip(w), n, op_answer, o);
}

void db_action(struct world *w, struct snode *n, const struct cluster_action *a)
{
    struct op *o = world_new(w, sizeof(*o));
    o->a = *a;
    o->epoch = cluster_epoch(n->c);
    o->gen = n->gen;
    elsewhere(w, trip(w), n, op_arrive, o);
    after(w, 1500, n, op_timeout, o);
}

/* ---- a batch --------------------------------------------------------------------------------- */

static void due_take(struct world *w, struct transaction *b, int job)
{
    if (w->due[job].lock)
        return;
    w->due[job].lock = b;
    b->jobs[b->njobs++] = job;
}

static bool means(const struct transaction *b, const struct snode *n, const struct world *w,
                  int job)
{
    const struct due_line *d = &w->due[job];
    bool own = d->home == n->place + 1;
    if (own && b->plan_ms && d->next_ms <= b->plan_ms)
        return true;
    return !own && b->claim.ticket && d->next_ms <= b->claim.until_ms;
}

static bool dead_home(const struct world *w, int64_t home)
{
    return home == 0 || w->epochs[w->rows[home - 1].epoch].ended || w->rows[home - 1].draining;
}

static void adopt_take(struct world *w, struct transaction *b)
{
    for (int i = w->first_live; i < w->nruns; i++) {
        struct run_line *r = &w->runs[i];
        if (r->epoch != b->adopt.epoch || r->phase == RUN_DONE)
            continue;
        if (r->lock || b->nruns == SLICE) {
            b->left = true;
            continue;
        }
        r->lock = b;
        b->runs[b->nruns++] = i;
    }
}

static void batch_unlock(struct world *w, const struct transaction *b)
{
    for (int i = 0; i < b->njobs; i++)
        w->due[b->jobs[i]].lock = NULL;
    for (int i = 0; i < b->nruns; i++)
        w->runs[b->runs[i]].lock = NULL;
}

static void plan(struct world *w, struct transaction *b, int job)
{
    struct due_line *d = &w->due[job];
    int64_t until_ms = b->plan_ms > b->claim.until_ms ? b->plan_ms : b->claim.until_ms;
    for (; d->next_ms <= until_ms && d->next_ms < PLANNED_UNTIL_MS && b->nborn < 256;
         d->next_ms += d->period_ms) {
        check_born(w, job, d->next_ms);
        if (w->nruns == RUNS)
            broken(w, "too many runs");
        w->runs[w->nruns] =
            (struct run_line){ .job = job, .due_ms = d->next_ms, .epoch = b->epoch };
        b->born[b->nborn++] = w->nruns++;
    }
}

static void adopt(struct world *w, struct transaction *b, int run)
{
    struct run_line *r = &w->runs[run];
    bool waits = r->phase == RUN_PLANNED && (b->adopt.clean || r->due_ms > b->adopt.watermark_ms);
    check_adopt(w, b, run, waits);
    if (!waits)
        r->phase = RUN_UNKNOWN;
    r->epoch = b->epoch;
    w->adopted++;
}

static void apply(struct world *w, const struct snode *n, struct transaction *b)
{
    struct epoch_row *e = &w->epochs[b->epoch];
    e->batch = b->no;
    b->applied = true;
    for (int i = 0; i < b->nended; i++)
        if (w->runs[b->ended[i]].epoch == b->epoch)
            w->runs[b->ended[i]].phase = RUN_DONE;
    for (int i = 0; i < b->nunknown; i++)
        if (w->runs[b->unknown[i]].phase == RUN_PLANNED)
            w->runs[b->unknown[i]].phase = RUN_UNKNOWN;
    for (int i = 0; i < b->njobs; i++) {
        if (means(b, n, w, b->jobs[i]))
            plan(w, b, b->jobs[i]);
        if (b->sweep.ticket && n->c && cluster_epoch(n->c) == b->epoch)
            w->due[b->jobs[i]].home = cluster_home(n->c, b->jobs[i] + 1);
    }
    for (int i = 0; i < b->nruns; i++)
        adopt(w, b, b->runs[i]);
    if (b->last.ticket) {
        finish(w, b->epoch, 0);
        e->clean = true;
        w->handed++;
        say(w, "epoch %lld hands over", (long long)b->epoch);
    }
}

static void batch_heard(struct world *w, struct snode *n, void *arg);

static void batch_commit(struct world *w, struct snode *n, void *arg)
{
    struct transaction *b = arg;
    struct epoch_row *e = &w->epochs[b->epoch];
    bool killed = !w->calm && dice_chance(&w->dice, 5000);
    batch_unlock(w, b);
    if (killed || w->t < w->db_down_ms)
        return; /* rolled back; the node hears nothing */
    if (e->ended || e->batch != b->no - 1)
        b->fenced = true;
    else
        apply(w, n, b);
    if (w->t >= n->cut_ms && (w->calm || !dice_chance(&w->dice, 10000)))
        after(w, trip(w), n, batch_heard, b);
    else
        w->lost_answers++;
}

static void batch_arrive(struct world *w, struct snode *n, void *arg)
{
    struct transaction *b = arg;
    if (!reached(w, n))
        return;
    for (int j = 0; j < w->njobs; j++) {
        bool moves =
            b->sweep.ticket && (w->due[j].home == n->place + 1 || dead_home(w, w->due[j].home));
        if (means(b, n, w, j) || moves)
            due_take(w, b, j);
    }
    if (b->adopt.ticket)
        adopt_take(w, b);
    bool slow = !w->calm && dice_chance(&w->dice, 10000);
    elsewhere(w, slow ? between(w, 200, 8000) : between(w, 1, 8), n, batch_commit, b);
}

static void batch_again(struct world *w, struct snode *n, const struct transaction *b)
{
    struct transaction *copy = world_new(w, sizeof(*copy));
    *copy = *b;
    copy->njobs = copy->nruns = copy->nborn = 0;
    copy->left = copy->applied = copy->fenced = false;
    n->batch = copy;
    db_batch(w, n, copy);
}

/* No answer: ask the database whether it happened. */
static void batch_outcome(struct world *w, struct snode *n, void *arg)
{
    struct transaction *b = arg;
    if (n->batch != b || !n->c || cluster_epoch(n->c) != b->epoch)
        return;
    if (!reached(w, n)) {
        after(w, 300, n, batch_outcome, b);
        return;
    }
    if (b->applied || w->epochs[b->epoch].ended) {
        b->fenced = !b->applied;
        batch_heard(w, n, b);
        return;
    }
    batch_again(w, n, b);
}

static void batch_keep(struct world *w, struct snode *n, const struct transaction *b);

static void batch_heard(struct world *w, struct snode *n, void *arg)
{
    struct transaction *b = arg;
    if (n->batch != b || !n->c || cluster_epoch(n->c) != b->epoch)
        return;
    n->batch = NULL;
    if (b->fenced) {
        w->fenced++;
        cluster_fenced(n->c, now_of(w, n));
    } else {
        n->no = b->no;
        batch_keep(w, n, b);
    }
    node_pump(w, n);
}

static void mine_add(struct world *w, struct snode *n, int run, enum mine_state state)
{
    if (n->nmine == MINE)
        broken(w, "node %d has too many runs", n->place + 1);
    n->mine[n->nmine++] =
        (struct mine){ .run = run, .state = state, .ask_ms = w->t + between(w, 100, 400) };
}

/* What the batch came to goes into the node's memory. */
static void batch_keep(struct world *w, struct snode *n, const struct transaction *b)
{
    struct now now = now_of(w, n);
    for (int i = 0; i < b->nended; i++)
        for (int k = 0; k < n->nmine; k++)
            if (n->mine[k].run == b->ended[i])
                n->mine[k--] = n->mine[--n->nmine];
    for (int i = 0; i < b->nborn; i++)
        mine_add(w, n, b->born[i], MINE_WAITS);
    for (int i = 0; i < b->nruns; i++)
        mine_add(w, n, b->runs[i],
                 w->runs[b->runs[i]].phase == RUN_PLANNED ? MINE_WAITS : MINE_DOUBT);
    if (b->adopt.ticket)
        cluster_adopted(n->c, now, &b->adopt, b->nruns, b->left);
    if (b->claim.ticket)
        cluster_claimed(n->c, now, &b->claim);
    if (b->sweep.ticket)
        cluster_swept(n->c, now, &b->sweep, false);
    if (b->last.ticket)
        cluster_handed(n->c, now, &b->last);
}

static void batch_timeout(struct world *w, struct snode *n, void *arg)
{
    batch_outcome(w, n, arg);
}

void db_batch(struct world *w, struct snode *n, struct transaction *b)
{
    elsewhere(w, trip(w), n, batch_arrive, b);
    after(w, w->calm ? 2000 : 12000, n, batch_timeout, b);
}
