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
#define SCOPE_NONE ((struct scope){ .all = false })

/* NULL: the server looks itself, and sees everything. */
static inline bool scope_is_all(const struct scope *s)
{
    return !s || s->all;
}
bool scope_has(const struct scope *s, int64_t group_id);
/* Is each group of a in b? */
bool scope_within(const struct scope *a, const struct scope *b);
bool scope_same(const struct scope *a, const struct scope *b);

/* Sort ids and take out what is there twice; how many are left. */
size_t scope_sort(int64_t *ids, size_t n);
/* What is in both, into ids (room for the longer of the two lists). */
struct scope scope_and(const struct scope *a, const struct scope *b, int64_t *ids);

#endif
