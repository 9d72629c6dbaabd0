/* SPDX-License-Identifier: Apache-2.0 */
/* A node takes part with one draw a unit of weight, so weights need no logarithm and every machine
 * computes the same. */
#include "sched/homes.h"
#include "base/map.h"

static uint64_t draw(int64_t job_id, int64_t node, int k)
{
    return hash_u64(hash_u64((uint64_t)job_id) ^
                    hash_u64((uint64_t)node * HOMES_WEIGHT + (uint64_t)k + 1));
}

int64_t home_of(int64_t job_id, const struct home *homes, int n)
{
    int64_t home = 0;
    uint64_t best = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < homes[i].weight; k++) {
            uint64_t x = draw(job_id, homes[i].node, k);
            if (!home || x > best || (x == best && homes[i].node < home)) {
                best = x;
                home = homes[i].node;
            }
        }
    }
    return home;
}

int home_weight(int64_t live, int64_t live_max)
{
    int64_t taken = live_max > 0 ? live * HOMES_WEIGHT / live_max : 0;
    return taken >= HOMES_WEIGHT ? 1 : (int)(HOMES_WEIGHT - taken);
}

bool homes_have(const struct share *s, int64_t node)
{
    for (int i = 0; i < s->n; i++)
        if (s->homes[i].node == node)
            return true;
    return false;
}

bool homes_same(const struct home *a, int na, const struct home *b, int nb)
{
    bool same = na == nb;
    for (int i = 0; same && i < na; i++)
        same = a[i].node == b[i].node && a[i].weight == b[i].weight;
    return same;
}
