/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: handles and their transactions.
 *
 * One handle is worked for at a time. When another one is used, the open transaction of the first
 * is lifted out: its changes are undone and kept, and put back later. So every other handle reads
 * what is committed, as under READ COMMITTED. Rows that a transaction has changed or locked stay
 * its own: another one that changes such a row is lost and ends with ERR_BUSY, as after a wait for
 * a lock that was too long; what skips locked rows skips it.
 *
 * A transaction may outlive its handle, as at a server whose client is gone. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include "store/shared.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- whose turn it is ------------------------------------------------------------------------ */

/* Its changes leave the tables. The last one was made last, so going back meets each row as the
 * transaction has left it. */
static void lift(struct memory *m)
{
    struct mem_handle *h = m->at;
    assert(m->shared && !m->saving);
    h->nlifted = m->nundo;
    h->lifted = mem_new((m->nundo + 1) * sizeof(*h->lifted));
    for (size_t i = m->nundo; i > 0; i--) {
        struct mem_undo *u = &m->undo[i - 1];
        void *row = mem_swap(m, u->table, u->key, u->old);
        h->lifted[i - 1] = (struct mem_changed){ u->table, (int64_t)u->key, row };
        u->old = NULL; /* the table has it */
    }
    m->nundo = 0;
    h->alarms_closed = m->now.alarms_closed;
    m->now.alarms_closed = m->before.alarms_closed;
    m->in_transaction = false;
}

static void put_back(struct memory *m, struct mem_handle *h)
{
    struct mem_changed *lifted = h->lifted;
    size_t n = h->nlifted;
    h->lifted = NULL;
    h->nlifted = 0;
    m->in_transaction = true;
    m->before = m->now;
    for (size_t i = 0; i < n; i++)
        mem_put(m, lifted[i].table, lifted[i].key, lifted[i].row);
    free(lifted);
    if (h->alarms_closed < m->now.alarms_closed) /* what is not known to be closed is open */
        m->now.alarms_closed = h->alarms_closed;
}

void mem_switch(struct mem_handle *h)
{
    struct memory *m = h->db;
    if (m->in_transaction)
        lift(m);
    m->at = h;
    if (h->in_transaction)
        put_back(m, h);
}

/* ---- transactions ---------------------------------------------------------------------------- */

static enum err memory_begin(struct store *s, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    assert(!m->in_transaction);
    m->in_transaction = m->at->in_transaction = true;
    m->at->lost = false;
    m->saving = false;
    m->before = m->now;
    return OK;
}

static void watermark_put(struct watermark *to, const struct watermark *from)
{
    int64_t until_ms = to->until_ms, batch = to->batch;
    *to = *from;
    to->batch = batch;
    if (until_ms > from->until_ms)
        to->until_ms = until_ms;
    to->clean = false;
}

static void commit_says(const struct commit *c, struct watermark *watermark, struct totals *totals)
{
    for (int i = 0; c && i < TOTAL_COUNT; i++)
        totals->n[i] += c->totals.n[i];
    if (c && c->watermark.until_ms)
        watermark_put(watermark, &c->watermark);
    if (c && c->clean)
        watermark->clean = true;
    watermark->batch++;
}

/* As the last statement before a commit: it counts only in its order, and not after the life has
 * ended. */
static enum err fence(struct memory *m, const struct commit *c, struct why *why)
{
    struct mem_handle *h = m->at;
    const struct mem_life *old = mem_find(m, T_LIFE, h->epoch);
    if (h->lost)
        return mem_busy(m, why);
    if (!old || old->ended || old->watermark.batch != h->batch) {
        why_set(why, "epoch %lld %s", (long long)h->epoch,
                !old || old->ended ? "has ended" : "is of an older copy of the database");
        return ERR_FENCED;
    }
    struct mem_life *l = mem_new(sizeof(*l));
    *l = *old;
    commit_says(c, &l->watermark, &l->totals);
    l->changes += h->changed;
    l->ended = h->leaving;
    mem_put(m, T_LIFE, l->epoch, l);
    return h->lost ? mem_busy(m, why) : OK;
}

/* The transaction of at is over. */
void mem_over(struct memory *m)
{
    m->in_transaction = m->at->in_transaction = m->saving = false;
    map_done(&m->at->locks);
    map_init(&m->at->locks);
}

static enum err memory_commit(struct store *s, const struct commit *c, struct why *why)
{
    struct memory *m = memory_of(s);
    assert(m->in_transaction);
    enum err err = m->shared ? fence(m, c, why) : OK;
    if (err)
        return err;
    if (m->shared) {
        m->at->batch++;
        m->at->changed = false;
    } else {
        commit_says(c, &m->now.watermark, &m->now.totals);
    }
    m->nkept = m->nundo;
    if (!m->keeping)
        mem_forget(m);
    mem_over(m);
    return OK;
}

/* Of several servers none gives an id again that another may have seen. */
static void scalars_restore(struct memory *m, const struct mem_scalars *to)
{
    struct mem_scalars now = m->now;
    m->now = *to;
    if (m->shared)
        memcpy(m->now.last_id, now.last_id, sizeof(now.last_id));
}

static void memory_rollback(struct store *s)
{
    struct memory *m = memory_of(s);
    if (!m->in_transaction)
        return;
    mem_undo(m, m->nkept);
    scalars_restore(m, &m->before);
    mem_over(m);
}

/* Of a commit whose answer was lost. A transaction that a lost handle has left holds the row. */
static enum err memory_outcome(struct store *s, bool *ret_done, struct why *why)
{
    struct memory *m = memory_of(s);
    struct mem_handle *h = m->at;
    if (!m->shared)
        return store_outcome_known(s, ret_done, why);
    const struct mem_life *l = mem_find(m, T_LIFE, h->epoch);
    if (mem_held(m, T_LIFE, h->epoch)) {
        why_set(why, "another transaction holds the row of epoch %lld", (long long)h->epoch);
        return ERR_BUSY;
    }
    if (l && l->watermark.batch == h->batch + 1) {
        h->batch++;
        *ret_done = true; /* also of a life that has ended since */
        return OK;
    }
    *ret_done = false;
    if (l && !l->ended && l->watermark.batch == h->batch)
        return OK;
    why_set(why, "epoch %lld has ended", (long long)h->epoch);
    return ERR_FENCED;
}

static enum err memory_savepoint(struct store *s, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    assert(m->in_transaction && !m->saving);
    m->saving = true;
    m->nsaved = m->nundo;
    m->saved = m->now;
    return OK;
}

static enum err memory_savepoint_keep(struct store *s, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    assert(m->saving);
    m->saving = false;
    return OK;
}

static enum err memory_savepoint_undo(struct store *s, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    assert(m->saving);
    m->saving = false;
    mem_undo(m, m->nsaved);
    scalars_restore(m, &m->saved);
    return OK;
}

bool mem_auto_begin(struct memory *m)
{
    if (m->in_transaction)
        return false;
    (void)!memory_begin(&m->at->store, NULL);
    return true;
}

enum err mem_auto_end(struct memory *m, bool began, struct why *why)
{
    if (!began)
        return m->at->lost ? mem_busy(m, why) : OK;
    if (m->at->lost) {
        memory_rollback(&m->at->store);
        return mem_busy(m, why);
    }
    mem_forget(m);
    mem_over(m);
    return OK;
}

/* ---- transactions without a handle ----------------------------------------------------------- */

struct mem_handle *mem_handle_new(struct memory *m, const struct store_ops *ops)
{
    struct mem_handle *h = mem_new(sizeof(*h));
    h->store.ops = ops;
    h->store.shared = m->shared;
    h->db = m;
    map_init(&h->locks);
    list_push(&m->sessions, &h->in_db);
    return h;
}

void mem_handle_free(struct mem_handle *h)
{
    list_remove(&h->in_db);
    map_done(&h->locks);
    free(h);
}

enum err store_memory_prepare(struct store *s, const struct commit *c, bool heard,
                              struct store **ret, struct why *why)
{
    struct memory *m = memory_of(s);
    struct mem_handle *h = m->at;
    assert(m->shared && m->in_transaction);
    enum err err = fence(m, c, why);
    if (err)
        return err;
    struct mem_handle *rest = mem_handle_new(m, s->ops);
    lift(m);
    rest->in_transaction = true;
    rest->lifted = h->lifted;
    rest->nlifted = h->nlifted;
    rest->alarms_closed = h->alarms_closed;
    struct map none = rest->locks;
    rest->locks = h->locks;
    h->locks = none;
    h->lifted = NULL;
    h->nlifted = 0;
    h->in_transaction = false;
    h->batch += heard;
    h->changed = false;
    *ret = &rest->store;
    return OK;
}

void store_memory_settle(struct store *s, bool committed)
{
    struct memory *m = memory_of(s);
    struct mem_handle *h = m->at;
    if (committed)
        mem_forget(m);
    else
        memory_rollback(s);
    mem_over(m);
    m->at = NULL;
    mem_handle_free(h);
}

/* ---- counters -------------------------------------------------------------------------------- */

static enum err memory_seq_next(struct store *s, const char *name, int n, int64_t *ret_first,
                                struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    struct mem_seq *next = mem_new(sizeof(*next));
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_SEQ], &i, &row);)
        if (strcmp(((struct mem_seq *)row)->name, name) == 0)
            *next = *(struct mem_seq *)row;
    if (!next->id)
        next->id = mem_next_id(m, T_SEQ);
    next->name = mem_dup(name);
    *ret_first = next->value + 1;
    next->value += n;
    mem_put(m, T_SEQ, next->id, next);
    return OK;
}

int64_t mem_commit_no(const struct memory *m)
{
    return (m->shared ? m->at->batch : m->now.watermark.batch) + 1;
}

static enum err memory_watermark_get(struct store *s, struct watermark *ret, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    const struct mem_life *l = m->shared ? mem_find(m, T_LIFE, m->at->epoch) : NULL;
    *ret = l ? l->watermark : m->now.watermark;
    ret->last_id = m->now.last_id[T_LOG];
    return OK;
}

static enum err memory_totals_get(struct store *s, struct totals *ret, int64_t *ret_open,
                                  struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    int64_t open = 0;
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_RUN], &i, &row);)
        open += phase_open(((struct mem_run *)row)->row.phase);
    *ret = m->now.totals;
    for (size_t i = 0; map_next(&m->tables[T_LIFE], &i, &row);)
        for (int k = 0; k < TOTAL_COUNT; k++)
            ret->n[k] += ((const struct mem_life *)row)->totals.n[k];
    *ret_open = open;
    return OK;
}

const struct store_txn memory_txn = {
    .begin = memory_begin,
    .commit = memory_commit,
    .rollback = memory_rollback,
    .outcome = memory_outcome,
    .savepoint = memory_savepoint,
    .savepoint_keep = memory_savepoint_keep,
    .savepoint_undo = memory_savepoint_undo,
    .seq_next = memory_seq_next,
    .watermark_get = memory_watermark_get,
    .totals_get = memory_totals_get,
};
