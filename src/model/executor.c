/* SPDX-License-Identifier: Apache-2.0 */
/* A view that crosses threads is copied whole. */
#include "model/executor.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

const char *executor_state_text(enum executor_state s)
{
    static const char *const texts[EXECUTOR_STATES] = { "up", "refusing", "silent", "draining" };
    return texts[s];
}

void executor_view_done(struct executor_view *v)
{
    free(v->address);
    free(v->error);
    free(v->groups);
    memset(v, 0, sizeof(*v));
}

void executor_view_copy(struct executor_view *to, const struct executor_view *from)
{
    *to = *from;
    to->address = mem_dup(from->address);
    to->error = mem_dup(from->error);
    to->groups = NULL;
    if (!from->ngroups)
        return;
    to->groups = mem_new(from->ngroups * sizeof(*to->groups));
    memcpy(to->groups, from->groups, from->ngroups * sizeof(*to->groups));
}
