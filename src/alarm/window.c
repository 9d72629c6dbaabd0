/* SPDX-License-Identifier: Apache-2.0 */
/* window.c - a list in the order of the alarms, and what is known of targets beside it. A target
 * that does not answer costs one try at a time, however many alarms wait for it. */
#include "alarm/window.h"
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

struct trouble {
    int64_t until_ms;
    int failures;
};

void window_init(struct window *w)
{
    list_init(&w->alarms);
    map_init(&w->ids);
    w->n = 0;
    textmap_init(&w->trouble);
    textmap_init(&w->busy);
}

static void trouble_end(struct window *w, const char *target)
{
    free(textmap_take(&w->trouble, slice_text(target)));
}

void window_done(struct window *w)
{
    for (struct list_node *n; (n = list_first(&w->alarms));)
        window_drop(w, container_of(n, struct window_alarm, node));
    void *t;
    for (size_t i = 0; textmap_next(&w->trouble, &i, &t);)
        free(t);
    textmap_done(&w->trouble);
    textmap_done(&w->busy);
    map_done(&w->ids);
}

/* ---- alarms ---------------------------------------------------------------------------------- */

static void add_target(struct window_alarm *a, struct slice name)
{
    for (int i = 0; i < a->n; i++)
        if (slice_eq(name, a->targets[i].name))
            return;
    if (a->n < WINDOW_TARGETS)
        a->targets[a->n++].name = mem_dupn(name.n ? name.p : "", name.n);
}

static void copy_row(struct alarm_record *to, const struct alarm_record *from)
{
    *to = *from;
    to->cause = mem_dup(from->cause);
    to->channel = mem_dup(from->channel);
    to->targets = mem_dup(from->targets);
}

struct window_alarm *window_add(struct window *w, const struct alarm_record *row, int64_t since_ms)
{
    struct slice rest = slice_text(row->targets), one;
    int n = 0;
    while (slice_item(&rest, &one) && n < WINDOW_TARGETS)
        n++;
    struct window_alarm *a = mem_new(sizeof(*a) + (size_t)(n ? n : 1) * sizeof(a->targets[0]));
    copy_row(&a->row, row);
    a->since_ms = since_ms;
    rest = slice_text(row->targets);
    for (int i = 0; i < n && slice_item(&rest, &one); i++)
        add_target(a, one);
    if (!a->n)
        add_target(a, slice_text(""));
    a->left = a->n;
    list_push(&w->alarms, &a->node);
    map_set(&w->ids, (uint64_t)row->id, a);
    w->n++;
    return a;
}

static void target_done(struct window_alarm *a, int i, enum delivery_outcome outcome)
{
    if (a->targets[i].done)
        return;
    a->targets[i].done = true;
    a->left--;
    a->failed |= outcome == DELIVERY_NEVER;
    a->held |= outcome == DELIVERY_HELD;
}

void window_logged(struct window_alarm *a, const struct delivery_record *d)
{
    for (int i = 0; i < a->n; i++) {
        if (strcmp(a->targets[i].name, d->target ? d->target : "") != 0)
            continue;
        if (d->n > a->targets[i].tries)
            a->targets[i].tries = d->n;
        if (d->outcome != DELIVERY_AGAIN && d->at_ms >= a->row.resent_ms)
            target_done(a, i, d->outcome);
    }
}

bool window_has(const struct window *w, int64_t id)
{
    return map_find(&w->ids, (uint64_t)id) != NULL;
}

void window_drop(struct window *w, struct window_alarm *a)
{
    (void)!map_take(&w->ids, (uint64_t)a->row.id);
    for (int i = 0; i < a->n; i++)
        free(a->targets[i].name);
    alarm_record_done(&a->row);
    list_remove(&a->node);
    w->n--;
    free(a);
}

/* ---- whom to try ----------------------------------------------------------------------------- */

static bool waits(const struct window *w, const struct window_target *t, int64_t now_ms)
{
    struct slice name = slice_text(t->name);
    const struct trouble *trouble = textmap_find(&w->trouble, name);
    return (trouble && trouble->until_ms > now_ms) || textmap_find(&w->busy, name);
}

bool window_take(struct window *w, int64_t now_ms, struct window_alarm **ret_alarm, int *ret_i)
{
    list_each(&w->alarms, n, tmp)
    {
        struct window_alarm *a = container_of(n, struct window_alarm, node);
        for (int i = 0; i < a->n; i++) {
            struct window_target *t = &a->targets[i];
            if (t->done || t->busy || waits(w, t, now_ms))
                continue;
            t->busy = true;
            t->tries++;
            textmap_set(&w->busy, slice_text(t->name), w);
            *ret_alarm = a;
            *ret_i = i;
            return true;
        }
    }
    return false;
}

int64_t window_next_ms(const struct window *w, int64_t now_ms)
{
    int64_t next = INT64_MAX;
    void *value;
    for (size_t i = 0; textmap_next(&w->trouble, &i, &value);) {
        const struct trouble *t = value;
        if (t->until_ms > now_ms && t->until_ms < next)
            next = t->until_ms;
    }
    return next;
}

static void trouble_note(struct window *w, const char *target, int64_t now_ms, bool *ret_first)
{
    struct trouble *t = textmap_find(&w->trouble, slice_text(target));
    if (!t) {
        t = mem_new(sizeof(*t));
        textmap_set(&w->trouble, slice_text(target), t);
        *ret_first = true;
    }
    int64_t wait_ms = (int64_t)WINDOW_WAIT_MS << (t->failures < 10 ? t->failures : 10);
    t->until_ms = now_ms + (wait_ms < WINDOW_WAIT_MAX_MS ? wait_ms : WINDOW_WAIT_MAX_MS);
    t->failures++;
}

static bool hour_over(const struct window_alarm *a, int64_t now_ms)
{
    return now_ms - a->since_ms >= WINDOW_HOUR_MS;
}

enum delivery_outcome window_tried(struct window *w, struct window_alarm *a, int i,
                                   enum delivery_outcome outcome, int64_t now_ms, bool *ret_first)
{
    struct window_target *t = &a->targets[i];
    t->busy = false;
    textmap_take(&w->busy, slice_text(t->name));
    *ret_first = false;
    if (outcome == DELIVERY_AGAIN) {
        trouble_note(w, t->name, now_ms, ret_first);
        if (hour_over(a, now_ms))
            outcome = DELIVERY_NEVER;
    } else if (outcome != DELIVERY_HELD) {
        *ret_first = textmap_find(&w->trouble, slice_text(t->name));
        trouble_end(w, t->name);
    }
    if (outcome != DELIVERY_AGAIN)
        target_done(a, i, outcome);
    return outcome;
}

struct window_alarm *window_overdue(struct window *w, const char *target, int64_t now_ms,
                                    int *ret_i)
{
    list_each(&w->alarms, n, tmp)
    {
        struct window_alarm *a = container_of(n, struct window_alarm, node);
        if (!hour_over(a, now_ms))
            continue;
        for (int i = 0; i < a->n; i++) {
            struct window_target *t = &a->targets[i];
            if (t->done || t->busy || strcmp(t->name, target) != 0)
                continue;
            t->tries++;
            target_done(a, i, DELIVERY_NEVER);
            *ret_i = i;
            return a;
        }
    }
    return NULL;
}
