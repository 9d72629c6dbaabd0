/* SPDX-License-Identifier: Apache-2.0 */
/* memory_homes.c - which node plans which job, in memory. */
#include "base/mem.h"
#include "store/memory/memory.h"
#include <stdlib.h>
#include <string.h>

void memory_home(struct store *s, int64_t node, int64_t claim_ms)
{
    struct memory *m = memory_of(s);
    m->at->homed = true;
    m->at->home = node;
    m->at->claim_ms = claim_ms;
}

enum err memory_homes_put(struct store *s, const int64_t *ids, const int64_t *homes, int n,
                          struct why *why)
{
    struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++) {
        const struct due_row *old = mem_find(m, T_DUE, ids[i]);
        if (!old)
            continue;
        if (!mem_lock(m, T_DUE, ids[i]))
            return mem_busy(m, why);
        struct due_row *d = mem_new(sizeof(*d));
        *d = *old;
        d->home = homes[i];
        mem_put(m, T_DUE, ids[i], d);
    }
    return OK;
}

static int by_place(const void *a, const void *b)
{
    const struct home_row *x = a, *y = b;
    if (x->next_ms != y->next_ms)
        return x->next_ms < y->next_ms ? -1 : 1;
    return (x->job_id > y->job_id) - (x->job_id < y->job_id);
}

enum err memory_homes_take(struct store *s, const struct home_row *after, int max,
                           struct home_row *rows, int *ret_n, struct why *why)
{
    (void)why;
    struct memory *m = memory_of(s);
    struct home_row *found = mem_new((m->tables[T_DUE].len + 1) * sizeof(*found));
    size_t n = 0;
    void *row;
    for (size_t i = 0; map_next(&m->tables[T_DUE], &i, &row);) {
        const struct due_row *d = row;
        const struct home_row r = { d->home, d->next_ms, d->job_id };
        if (r.home == after->home && r.next_ms != NEVER_MS && by_place(&r, after) > 0 &&
            !mem_held(m, T_DUE, r.job_id))
            found[n++] = r;
    }
    qsort(found, n, sizeof(*found), by_place);
    *ret_n = n < (size_t)max ? (int)n : max;
    for (int i = 0; i < *ret_n; i++) {
        rows[i] = found[i];
        (void)mem_lock(m, T_DUE, rows[i].job_id);
    }
    free(found);
    return OK;
}

enum err memory_homes_next(struct store *s, int64_t after, int64_t *ret, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    void *row;
    *ret = -1;
    for (size_t i = 0; map_next(&m->tables[T_DUE], &i, &row);) {
        const struct due_row *d = row;
        if (d->next_ms != NEVER_MS && d->home > after && (*ret < 0 || d->home < *ret))
            *ret = d->home;
    }
    return OK;
}

enum err memory_homes_count(struct store *s, int64_t of, int64_t *ret, struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    void *row;
    *ret = 0;
    for (size_t i = 0; map_next(&m->tables[T_DUE], &i, &row);) {
        const struct due_row *d = row;
        *ret += d->next_ms != NEVER_MS && d->home == of;
    }
    return OK;
}
