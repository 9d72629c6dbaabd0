/* SPDX-License-Identifier: Apache-2.0 */
/* scope.h - the groups whose rows a reader may see: all of them, or some. Every read that an API
 * asks for takes one, down to the statement. Pure; a scope is read by any thread. */
#ifndef PEAL_MODEL_SCOPE_H
#define PEAL_MODEL_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scope {
    bool all;           /* every group, also groups that come later */
    const int64_t *ids; /* else these, ascending and each once; borrowed */
    size_t n;
};

#define SCOPE_ALL ((struct scope){ .all = true })

static inline bool scope_has(const struct scope *s, int64_t group_id)
{
    size_t low = 0, high = s->all ? 0 : s->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->ids[middle] == group_id)
            return true;
        if (s->ids[middle] < group_id)
            low = middle + 1;
        else
            high = middle;
    }
    return s->all;
}

#endif
