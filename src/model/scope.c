/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of group ids as sorted lists: users have few groups, and lists go into SQL as they are. */
#include "model/scope.h"
#include <stdlib.h>
#include <string.h>

bool scope_has(const struct scope *s, int64_t group_id)
{
    if (scope_is_all(s))
        return true;
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->ids[middle] < group_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->n && s->ids[low] == group_id;
}

bool scope_same(const struct scope *a, const struct scope *b)
{
    if (a->all || b->all)
        return a->all && b->all;
    return a->n == b->n && (a->n == 0 || memcmp(a->ids, b->ids, a->n * sizeof(*a->ids)) == 0);
}

bool scope_within(const struct scope *a, const struct scope *b)
{
    if (a->all || b->all)
        return b->all;
    for (size_t i = 0; i < a->n; i++)
        if (!scope_has(b, a->ids[i]))
            return false;
    return true;
}

static int by_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

size_t scope_sort(int64_t *ids, size_t n)
{
    size_t kept = 0;
    if (n > 1)
        qsort(ids, n, sizeof(*ids), by_id);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || ids[kept - 1] != ids[i])
            ids[kept++] = ids[i];
    return kept;
}

struct scope scope_and(const struct scope *a, const struct scope *b, int64_t *ids)
{
    const struct scope *list = a->all ? b : a, *other = a->all ? a : b;
    struct scope both = { .all = a->all && b->all, .ids = ids };
    for (size_t i = 0; !both.all && i < list->n; i++)
        if (scope_has(other, list->ids[i]))
            ids[both.n++] = list->ids[i];
    return both;
}
