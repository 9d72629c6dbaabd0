/* SPDX-License-Identifier: Apache-2.0 */
/* A claim is kept with each result that waits, and goes with the last of them. */
#include "model/claim.h"
#include "base/mem.h"
#include <stdlib.h>

struct claim *claim_new(bool others, int64_t *ids, size_t n)
{
    struct claim *c = mem_new(sizeof(*c));
    c->refs = 1;
    c->others = others;
    c->ids = ids;
    c->n = n;
    return c;
}

struct claim *claim_ref(struct claim *c)
{
    if (c)
        c->refs++;
    return c;
}

void claim_unref(struct claim *c)
{
    if (!c || --c->refs)
        return;
    free(c->ids);
    free(c);
}

bool claim_has(const struct claim *c, int64_t group_id)
{
    if (!c)
        return true;
    for (size_t i = 0; i < c->n; i++)
        if (c->ids[i] == group_id)
            return !c->others;
    return c->others;
}
