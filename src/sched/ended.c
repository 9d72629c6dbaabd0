/* SPDX-License-Identifier: Apache-2.0 */
/* An heir's right ends with its life, so a second death during an adoption needs no rule. */
#include "sched/ended.h"
#include <stddef.h>

struct ended *ended_find(struct ended_list *l, int64_t epoch)
{
    for (int i = 0; i < l->n; i++)
        if (l->all[i].epoch == epoch)
            return &l->all[i];
    return NULL;
}

/* A place for one more: a new one, or that of one that is done. */
static struct ended *room(struct ended_list *l)
{
    if (l->n < ENDED_MAX)
        return &l->all[l->n++];
    for (int i = 0; i < l->n; i++)
        if (l->all[i].done)
            return &l->all[i];
    return NULL;
}

void ended_note(struct ended_list *l, const struct ended *e, bool again)
{
    struct ended *there = ended_find(l, e->epoch);
    if (there && again)
        there->done = false;
    if (there)
        return;
    there = room(l);
    if (there)
        *there = *e;
}

/* When the asker may adopt; INT64_MAX: there is nothing left. */
static int64_t open_at(const struct ended *e, const struct ended_asker *by)
{
    bool waits = e->heir && e->heir != by->epoch && by->lives(by->ctx, e->heir);
    int64_t at_ms = waits ? e->since_ms + HEIR_MS : e->again_ms;
    if (e->done)
        return INT64_MAX;
    return at_ms > e->again_ms ? at_ms : e->again_ms;
}

const struct ended *ended_open(const struct ended_list *l, const struct ended_asker *by,
                               int64_t boot_ms)
{
    for (int i = 0; i < l->n; i++)
        if (open_at(&l->all[i], by) <= boot_ms)
            return &l->all[i];
    return NULL;
}

int64_t ended_next(const struct ended_list *l, const struct ended_asker *by)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < l->n; i++) {
        int64_t at_ms = open_at(&l->all[i], by);
        next = at_ms < next ? at_ms : next;
    }
    return next;
}
