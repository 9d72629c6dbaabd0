/* SPDX-License-Identifier: Apache-2.0 */
/* slots.c - a ring of quarters: each place says which quarter stands in it. */
#include "live/slots.h"

static uint32_t moved(uint32_t count, int64_t by)
{
    int64_t sum = (int64_t)count + by;
    return sum < 0 ? 0 : sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

void slots_add(struct slots *s, int64_t at_ms, int64_t succeeded, int64_t failed)
{
    if (at_ms < 0 || at_ms / SLOT_MS > UINT32_MAX)
        return;
    uint32_t quarter = (uint32_t)(at_ms / SLOT_MS);
    struct slot *slot = &s->at[quarter % SLOTS];
    if (slot->quarter > quarter)
        return;
    if (slot->quarter < quarter)
        *slot = (struct slot){ .quarter = quarter };
    slot->succeeded = moved(slot->succeeded, succeeded);
    slot->failed = moved(slot->failed, failed);
}

void slots_sum(const struct slots *s, int64_t from_ms, int64_t step_ms, int n, int64_t *succeeded,
               int64_t *failed)
{
    int64_t quarter = from_ms / SLOT_MS, steps = step_ms / SLOT_MS;
    for (int64_t i = 0; i < n * steps; i++, quarter++) {
        const struct slot *slot = &s->at[(uint64_t)quarter % SLOTS];
        if (quarter < 0 || slot->quarter != quarter)
            continue;
        succeeded[i / steps] += slot->succeeded;
        failed[i / steps] += slot->failed;
    }
}
