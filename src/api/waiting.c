/* SPDX-License-Identifier: Apache-2.0 */
/* A share is looked for along the list: there are at most as many as calls, and that is bounded. */
#include "api/waiting.h"
#include "base/mem.h"
#include <stdlib.h>

struct share { /* of one source; there while it waits */
    struct list_node node;
    struct list calls; /* oldest first */
    uint64_t source;
    int n;
};

void waiting_init(struct waiting *w, int max)
{
    *w = (struct waiting){ .max = max };
    list_init(&w->shares);
}

static void leave(struct waiting *w, struct share *s, struct waiting_call *call)
{
    list_remove(&call->node);
    w->n--;
    if (--s->n)
        return;
    list_remove(&s->node);
    free(s);
}

static struct waiting_call *first_of(const struct share *s)
{
    return container_of(list_first(&s->calls), struct waiting_call, node);
}

struct waiting_call *waiting_take(struct waiting *w)
{
    if (list_empty(&w->shares))
        return NULL;
    struct share *s = container_of(list_first(&w->shares), struct share, node);
    struct waiting_call *call = first_of(s);
    list_remove(&s->node);
    list_push(&w->shares, &s->node); /* its next iteration comes after the others' */
    leave(w, s, call);
    return call;
}

static struct share *share_of(const struct waiting *w, uint64_t source)
{
    list_each(&w->shares, n, tmp)
    {
        struct share *s = container_of(n, struct share, node);
        if (s->source == source)
            return s;
    }
    return NULL;
}

static struct share *largest(const struct waiting *w)
{
    struct share *most = NULL;
    list_each(&w->shares, n, tmp)
    {
        struct share *s = container_of(n, struct share, node);
        if (!most || s->n > most->n)
            most = s;
    }
    return most;
}

struct waiting_call *waiting_put(struct waiting *w, struct waiting_call *call)
{
    struct share *s = share_of(w, call->source);
    struct waiting_call *out = NULL;
    if (w->n >= w->max) {
        struct share *most = largest(w);
        if (!most || most->n <= (s ? s->n : 0) + 1)
            return call;
        out = container_of(most->calls.head.prev, struct waiting_call, node);
        leave(w, most, out);
    }
    if (!s) {
        s = mem_new(sizeof(*s));
        s->source = call->source;
        list_init(&s->calls);
        list_push(&w->shares, &s->node);
    }
    list_push(&s->calls, &call->node);
    s->n++;
    w->n++;
    return out;
}
