/* SPDX-License-Identifier: Apache-2.0 */
/* ends.c - the ends that a transaction has written, in the order in which it wrote them. */
#include "base/mem.h"
#include "ledger/internal.h"

#define ID_MAX (INT64_C(1) << 53)

static bool is_id(int64_t id)
{
    return id > 0 && id <= ID_MAX;
}

/* One of a job that nobody can name is not counted; one of such a group only in the whole. */
void txn_end(struct txn *t, const struct run_change *c)
{
    struct batch *b = t->b;
    if (c->missing || c->end.now == OUTCOME_NONE || !is_id(c->end.job_id))
        return;
    if (b->nends == t->cends) {
        t->cends = t->cends ? t->cends * 2 : 64;
        b->ends = mem_resize(b->ends, (size_t)t->cends * sizeof(*b->ends));
    }
    b->ends[b->nends] = c->end;
    if (!is_id(c->end.group_id))
        b->ends[b->nends].group_id = 0;
    b->nends++;
}

void txn_ends(struct txn *t)
{
    for (int i = 0; i < t->b->nchanges; i++)
        txn_end(t, &t->b->changes[i]);
}
