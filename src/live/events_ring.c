/* SPDX-License-Identifier: Apache-2.0 */
/* events_ring.c - the ring of what has happened, and the sets of groups for which an entry of many
 * changes is rendered. */
#include "live/events_internal.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

/* ---- views -------------------------------------------------------------------------------------
 */

struct view *events_view_get(struct events *e, const struct scope *scope)
{
    list_each(&e->views, n, tmp)
    {
        struct view *v = container_of(n, struct view, node);
        if (scope_same(&v->scope, scope)) {
            v->refs++;
            return v;
        }
    }
    struct view *v = mem_new(sizeof(*v));
    int64_t *ids = mem_new((scope->n + 1) * sizeof(*ids));
    if (scope->n)
        memcpy(ids, scope->ids, scope->n * sizeof(*ids));
    v->scope = (struct scope){ .all = scope->all, .ids = ids, .n = scope->n };
    v->refs = 1;
    list_push(&e->views, &v->node);
    return v;
}

void events_view_put(struct view *v)
{
    if (--v->refs)
        return;
    list_remove(&v->node);
    free((int64_t *)v->scope.ids);
    free(v);
}

/* ---- the ring ----------------------------------------------------------------------------------
 */

struct entry *events_entry(const struct events *e, uint64_t number)
{
    return &e->ring[number % EVENTS_KEPT];
}

static void drop_renderings(struct entry *x)
{
    for (struct rendering *r; (r = x->renderings);) {
        x->renderings = r->next;
        events_view_put(r->view);
        shared_buf_drop(r->event);
        free(r);
    }
    x->nrenderings = 0;
}

void events_drop_first(struct events *e)
{
    struct entry *x = events_entry(e, e->first++);
    e->held -= x->bytes;
    shared_buf_drop(x->event);
    crowd_free(x->crowd);
    drop_renderings(x);
    free(x->also);
    *x = (struct entry){ 0 };
}

static struct entry *add(struct events *e, size_t bytes)
{
    while (e->next > e->first &&
           (e->next - e->first == EVENTS_KEPT || e->held + bytes > EVENTS_BYTES))
        events_drop_first(e);
    struct entry *x = events_entry(e, e->next++);
    x->bytes = bytes;
    x->before = e->bytes;
    e->held += bytes;
    e->bytes += bytes;
    loop_defer(e->cf.loop, &e->pump);
    return x;
}

struct shared_buf *events_render(const struct events *e, uint64_t number, const char *name,
                                 struct slice json)
{
    struct buf b;
    buf_init(&b, SIZE_MAX / 4);
    if (number)
        buf_printf(&b, "id: %lld-%llu\n", (long long)e->epoch, (unsigned long long)number);
    buf_printf(&b, "event: %s\ndata: %.*s\n\n", name, (int)json.n, json.p);
    struct shared_buf *event = shared_buf_new(slice_of(b.data, b.len));
    buf_done(&b);
    return event;
}

struct entry *events_add(struct events *e, unsigned topic, int64_t group_id, int64_t job_id,
                         const char *name, struct slice json)
{
    struct shared_buf *event = events_render(e, e->next, name, json);
    struct entry *x = add(e, event->n);
    x->topic = topic;
    x->group_id = group_id;
    x->job_id = job_id;
    x->event = event;
    return x;
}

void events_also_in(struct entry *x, const int64_t *groups, size_t n)
{
    x->also = mem_new((n + 1) * sizeof(*x->also));
    x->nalso = n;
    if (n)
        memcpy(x->also, groups, n * sizeof(*groups));
}

void events_add_crowd(struct events *e, struct crowd *crowd)
{
    struct entry *x = add(e, crowd_bytes(crowd));
    x->topic = EVENT_RUN;
    x->crowd = crowd;
    if (e->crowds[e->crowd] >= e->first)
        drop_renderings(events_entry(e, e->crowds[e->crowd]));
    e->crowds[e->crowd] = e->next - 1;
    e->crowd = (e->crowd + 1) % CROWDS_KEPT;
}
