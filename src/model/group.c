/* SPDX-License-Identifier: Apache-2.0 */
/* A view is counted and never changes: the planner, the core and the web workers read the same list
 * of addresses without a lock, and the last to let go frees it. */
#include "base/mem.h"
#include "model/group.h"
#include <stdlib.h>
#include <string.h>

void group_record_done(struct group_record *r)
{
    free(r->app);
    free(r->title);
    free(r->address_list);
    memset(r, 0, sizeof(*r));
}

void group_record_copy(struct group_record *to, const struct group_record *from)
{
    *to = *from;
    to->app = mem_dup(from->app);
    to->title = mem_dup(from->title);
    to->address_list = mem_dup(from->address_list);
}

void group_token_done(struct group_token *t)
{
    free(t->token);
    free(t->next);
    memset(t, 0, sizeof(*t));
}

void group_token_copy(struct group_token *to, const struct group_token *from)
{
    *to = *from;
    to->token = mem_dup(from->token);
    to->next = mem_dup(from->next);
}

void registry_record_done(struct registry_record *r)
{
    free(r->group);
    free(r->key);
    free(r->value);
    memset(r, 0, sizeof(*r));
}

struct group_view *group_view_new(int64_t group_id, uint64_t version, const char *const *addresses,
                                  int n)
{
    struct group_view *v = mem_new(sizeof(*v));
    atomic_init(&v->refs, 1);
    v->group_id = group_id;
    v->version = version;
    v->n = n;
    v->addresses = mem_new((size_t)n * sizeof(*v->addresses));
    for (int i = 0; i < n; i++)
        v->addresses[i] = mem_dup(addresses[i]);
    return v;
}

struct group_view *group_view_ref(struct group_view *v)
{
    atomic_fetch_add_explicit(&v->refs, 1, memory_order_relaxed);
    return v;
}

void group_view_unref(struct group_view *v)
{
    if (!v || atomic_fetch_sub_explicit(&v->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (int i = 0; i < v->n; i++)
        free(v->addresses[i]);
    free(v->addresses);
    free(v);
}
