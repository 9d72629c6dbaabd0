/* SPDX-License-Identifier: Apache-2.0 */
/* memory_cluster.c - the store in memory as a database that several servers can open: runs that get
 * another owner stand here, the rest in memory_nodes.c, memory_homes.c, memory_inbox.c and
 * memory_changes.c. Each function is written from what store.h says of it, not from the statements
 * of the SQL engines, so each of the two can show a mistake in the other. */
#include "store/memory/memory.h"
#include <stdlib.h>

/* It may have left in the life that had it. */
static bool may_have_left(const struct run_row *r, const struct adoption *a)
{
    if (r->phase == PHASE_SENT || r->phase == PHASE_UNKNOWN)
        return true;
    return r->phase == PHASE_PLANNED && !a->clean && r->address && r->due_ms <= a->watermark_ms;
}

static enum err runs_adopt(struct store *s, const struct adoption *a, run_row_fn *fn, void *ctx,
                           bool *ret_left, struct why *why)
{
    struct memory *m = memory_of(s);
    size_t n;
    int taken = 0;
    bool more = true;
    int64_t *keys = mem_keys(m, T_RUN, &n);
    for (size_t i = 0; i < n && taken < a->max; i++) {
        const struct mem_run *old = mem_find(m, T_RUN, keys[i]);
        if (old->epoch != a->epoch || mem_held(m, T_RUN, keys[i]))
            continue;
        struct mem_run *r = mem_run_copy(&old->row, m->at->node, m->at->epoch);
        r->told = old->told;
        if (may_have_left(&old->row, a)) {
            r->row.phase = PHASE_UNKNOWN;
            r->row.doubted = true;
        }
        mem_put(m, T_RUN, keys[i], r);
        if (more)
            more = mem_run_lend(m, r, fn, ctx);
        taken++;
    }
    free(keys);
    *ret_left = mem_owns_runs(m, a->epoch);
    return m->at->lost ? mem_busy(m, why) : OK;
}

static enum err runs_live(struct store *s, const int64_t *log_ids, int n, bool *live,
                          struct why *why)
{
    (void)why;
    const struct memory *m = memory_of(s);
    for (int i = 0; i < n; i++)
        live[i] = mem_find(m, T_RUN, log_ids[i]) != NULL;
    return OK;
}

const struct store_cluster memory_cluster = { .life = memory_life,
                                              .beat = memory_beat,
                                              .nodes_page = memory_nodes_page,
                                              .lives_each = memory_lives_each,
                                              .orphans_each = memory_orphans_each,
                                              .declare = memory_declare,
                                              .drain = memory_drain,
                                              .home = memory_home,
                                              .homes_put = memory_homes_put,
                                              .homes_take = memory_homes_take,
                                              .homes_next = memory_homes_next,
                                              .homes_count = memory_homes_count,
                                              .runs_adopt = runs_adopt,
                                              .runs_live = runs_live,
                                              .inbox_put = memory_inbox_put,
                                              .inbox_each = memory_inbox_each,
                                              .inbox_take = memory_inbox_take,
                                              .inbox_ask = memory_inbox_ask,
                                              .inbox_answer = memory_inbox_answer,
                                              .inbox_get = memory_inbox_get,
                                              .record_hold = memory_record_hold,
                                              .jobs_hold = memory_jobs_hold,
                                              .changes_put = memory_changes_put,
                                              .changes_each = memory_changes_each,
                                              .changes_anew = memory_changes_anew,
                                              .runs_told = memory_runs_told,
                                              .runs_untold = memory_runs_untold };
