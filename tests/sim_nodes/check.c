/* SPDX-License-Identifier: Apache-2.0 */
/* What holds, by the database's rows and what the executor saw; docs/internals/cluster.md has the
 * same numbers. */
#include "world.h"

/* I3, I2: a run leaves only while its sender's epoch lives and owns it; once, unless the executor
 * was asked in between. */
void check_send(struct world *w, const struct snode *n, int run, bool stale)
{
    struct run_line *r = &w->runs[run];
    int64_t epoch = cluster_epoch(n->c);
    if (stale)
        return;
    if (w->epochs[epoch].ended)
        broken(w, "I3: node %d sends run %d in epoch %lld, which has ended", n->place + 1, run,
               (long long)epoch);
    if (r->epoch != epoch)
        broken(w, "I2: node %d sends run %d of epoch %lld in epoch %lld", n->place + 1, run,
               (long long)r->epoch, (long long)epoch);
    r->left = true;
}

/* I2, I4, and that an heir adopts first. */
void check_adopt(struct world *w, const struct transaction *b, int run, bool waits)
{
    const struct epoch_row *e = &w->epochs[b->adopt.epoch];
    const struct run_line *r = &w->runs[run];
    if (!e->ended)
        broken(w, "I2: epoch %lld adopts run %d of epoch %lld, which lives", (long long)b->epoch,
               run, (long long)b->adopt.epoch);
    if (waits && r->left)
        broken(w, "I4: run %d counts as unsent, and it has left", run);
    if (e->heir && e->heir != b->epoch && !w->epochs[e->heir].ended &&
        w->t - e->ended_ms < HEIR_MS - 10)
        broken(w, "epoch %lld adopts run %d, whose heir %lld lives", (long long)b->epoch, run,
               (long long)e->heir);
}

/* I8: rows are laid down in order, each time once. */
void check_born(struct world *w, int job, int64_t due_ms)
{
    for (int i = w->first_live; i < w->nruns; i++)
        if (w->runs[i].job == job && w->runs[i].due_ms >= due_ms)
            broken(w, "I8: job %d is planned for %lld again", job, (long long)due_ms);
}

void check_taken_over(struct world *w, int64_t epoch, const char *what)
{
    for (int i = w->first_live; i < w->nruns; i++)
        if (w->runs[i].epoch == epoch && w->runs[i].phase != RUN_DONE)
            broken(w, "%s: run %d still belongs to epoch %lld", what, i, (long long)epoch);
    if (!w->epochs[epoch].ended)
        broken(w, "%s: epoch %lld has not ended", what, (long long)epoch);
}

static void check_run(struct world *w, int i)
{
    const struct run_line *r = &w->runs[i];
    if (r->phase != RUN_DONE)
        broken(w, "run %d of epoch %lld has not come to its end", i, (long long)r->epoch);
    if (!r->begun || r->ended != 1)
        broken(w, "run %d: begun %d, ended %d", i, r->begun, r->ended);
    if (r->due_ms > ROUGH_MS + 14000 && r->due_ms < ROUGH_MS + 19000 &&
        r->begun_ms - r->due_ms > 1000)
        broken(w, "run %d of a calm time is late by %lld ms", i,
               (long long)(r->begun_ms - r->due_ms));
}

void check_end(struct world *w)
{
    int in = 0;
    for (int i = 0; i < w->nruns; i++)
        check_run(w, i);
    for (int j = 0; j < w->njobs; j++)
        if (w->due[j].next_ms < PLANNED_UNTIL_MS)
            broken(w, "job %d has not been planned since %lld", j, (long long)w->due[j].next_ms);
    for (int i = 0; i < w->nnodes; i++) {
        struct snode *n = &w->nodes[i];
        if (n->up && cluster_state(n->c) != CLUSTER_IN)
            broken(w, "node %d is not in", i + 1);
        in += n->up;
    }
    if (!in)
        broken(w, "no node is left");
}
