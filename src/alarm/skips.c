/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are compared by id and count with those of the look before. A row that was not among the
 * youngest then and is now has grown, so it is new as well. */
#include "alarm/skips.h"
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

static const struct skip_seen *find(const struct skips *k, int64_t id)
{
    for (int i = 0; i < k->n; i++)
        if (k->rows[i].id == id)
            return &k->rows[i];
    return NULL;
}

struct looking {
    const struct skips *before;
    struct skips *now;
    int64_t now_ms;
};

static bool add(void *ctx, int64_t id, const struct skip_row *r)
{
    struct looking *x = ctx;
    const struct skip_seen *old = find(x->before, id);
    bool same = old && old->count == r->count;
    if (x->now->n == SKIPS_MAX)
        return false;
    x->now->rows[x->now->n++] = (struct skip_seen){ .id = id,
                                                    .job_id = r->job_id,
                                                    .to_ms = r->to_ms,
                                                    .count = r->count,
                                                    .seen_ms = same               ? old->seen_ms
                                                               : x->before->begun ? x->now_ms
                                                                                  : 0 };
    return true;
}

enum err skips_look(struct skips *k, struct store *reader, int64_t now_ms, struct why *why)
{
    struct skips *now = mem_new(sizeof(*now));
    struct looking x = { k, now, now_ms };
    enum err err = reader->ops->rules->skips_newest(reader, SKIPS_MAX, add, &x, why);
    if (!err) {
        now->begun = true;
        *k = *now;
    }
    free(now);
    return err;
}

bool skips_late(const struct skip_seen *s, int64_t longer_ms, int64_t since_ms, int64_t now_ms)
{
    int64_t from_ms = s->to_ms + longer_ms; /* so long it might still have run in time */
    if (!s->seen_ms || s->seen_ms < since_ms)
        return false;
    if (from_ms < s->seen_ms)
        from_ms = s->seen_ms;
    return now_ms >= from_ms && now_ms < from_ms + SKIPS_HOLD_MS;
}
