/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - groups: which addresses they have, their list and their view.
 *
 * Which addresses are there is known at once (group_size, group_lane, group_place). The group's
 * list, what XXL-JOB's readers see, and its view, what routes look at, follow with the next batch:
 * thousands of addresses that come, go or die within one are one list and one view. A refused
 * connection takes an address out of the views until a beat brings it back. */
#include "sched/group.h"
#include "sched/lane.h"
#include "sched/registry.h"
#include "sched/run.h"
#include "sched/state.h"
#include <stdlib.h>

struct group *group_of(const struct sched *s, int64_t id)
{
    return map_find(&s->groups, (uint64_t)id);
}

int group_size(const struct group *g)
{
    return g->address_type == 0 ? g->app->n : g->nlanes;
}

struct lane *group_lane(const struct group *g, int i)
{
    return g->address_type == 0 ? g->app->addresses[i].lane : g->lanes[i];
}

uint8_t group_list_no(const struct group *g)
{
    return g->address_type == 0 ? g->app->list_no : g->list_no;
}

int group_place(const struct group *g, const struct lane *lane)
{
    if (g->address_type == 0) {
        bool there;
        int i = app_place(g->app, slice_text(lane->address), &there);
        return there ? i : -1;
    }
    if (lane->listed > g->nlanes) {
        for (int i = 0; i < g->nlanes; i++)
            if (g->lanes[i] == lane)
                return i;
        return -1;
    }
    list_each(&lane->members, n, tmp)
    {
        const struct member *m = container_of(n, struct member, of_lane);
        if (m->group == g)
            return (int)(m - g->members);
    }
    return -1;
}

/* ---- who waits for an address ---------------------------------------------------------------- */

bool group_serves(const struct sched *s, const struct run *r)
{
    const struct group *g = group_of(s, r->job->def->group_id);
    return r->flags & RUN_BROADCAST || run_choices(r) || (g && group_place(g, r->lane) >= 0);
}

void groups_left(struct sched *s)
{
    for (struct list_node *n; (n = list_pop(&s->left));) {
        struct lane *lane = container_of(n, struct lane, left_node);
        list_each(&lane->queue, place, tmp)
        {
            struct run *r = container_of(place, struct run, place);
            if (group_serves(s, r))
                continue;
            run_leave(s, r);
            run_wait_due(s, r);
        }
    }
}

/* ---- lists and views ------------------------------------------------------------------------- */

static struct member *members_of(struct group *g, struct lane **lanes, int n)
{
    struct member *members = n ? mem_new((size_t)n * sizeof(*members)) : NULL;
    for (int i = 0; i < n; i++) {
        members[i].group = g;
        list_push(&lanes[i]->members, &members[i].of_lane);
        lanes[i]->listed++;
    }
    return members;
}

static void lanes_set(struct sched *s, struct group *g, struct lane **lanes, int n)
{
    struct member *members = members_of(g, lanes, n);
    for (int i = 0; i < g->nlanes; i++) {
        list_remove(&g->members[i].of_lane);
        g->lanes[i]->listed--;
        lane_put(s, g->lanes[i]);
    }
    free(g->lanes);
    free(g->members);
    g->lanes = lanes;
    g->members = members;
    g->nlanes = n;
    g->list_no++;
    g->ndead = 0;
    for (int i = 0; i < n; i++)
        g->ndead += lanes[i]->dead;
}

/* A list given by hand, split verbatim; blanks around an item are not part of it. */
static void lanes_by_hand(struct sched *s, struct group *g, const char *text)
{
    struct lane **lanes = NULL;
    int n = 0;
    struct slice rest = slice_text(text);
    for (struct slice one; n < ADDRESSES_MAX && slice_item(&rest, &one);)
        array_push(lanes, n, lane_get(s, one));
    lanes_set(s, g, lanes, n);
}

static void lanes_by_registry(struct sched *s, struct group *g)
{
    struct lane **lanes = g->app->n ? mem_new((size_t)g->app->n * sizeof(struct lane *)) : NULL;
    for (int i = 0; i < g->app->n; i++) {
        lanes[i] = g->app->addresses[i].lane;
        lanes[i]->refs++;
    }
    lanes_set(s, g, lanes, g->app->n);
}

static bool same_lanes(const struct group *g)
{
    if (g->nlanes != g->app->n)
        return false;
    for (int i = 0; i < g->nlanes; i++)
        if (g->lanes[i] != g->app->addresses[i].lane)
            return false;
    return true;
}

static void write_list(struct sched *s, struct group *g)
{
    struct buf b = BUF_INIT(1 << 20);
    for (int i = 0; i < g->nlanes; i++) {
        if (i)
            buf_char(&b, ',');
        buf_text(&b, g->lanes[i]->address);
    }
    struct group_list list = { g->id, g->nlanes ? buf_take(&b) : NULL };
    buf_done(&b);
    want_batch(s);
    if (g->list_seq == s->seq) { /* once more for the same batch */
        free(s->next->lists[g->list_at].addresses);
        s->next->lists[g->list_at] = list;
        return;
    }
    g->list_seq = s->seq;
    g->list_at = s->next->nlists;
    array_push(s->next->lists, s->next->nlists, list);
}

/* The list less the dead; all of it when all are dead, so that the attempt says why. */
static void make_view(struct sched *s, struct group *g)
{
    const char **addresses = mem_new(((size_t)g->nlanes + 1) * sizeof(*addresses));
    int n = 0;
    for (int i = 0; i < g->nlanes; i++)
        if (!g->lanes[i]->dead)
            addresses[n++] = g->lanes[i]->address;
    for (int i = 0; n == 0 && i < g->nlanes; i++)
        addresses[i] = g->lanes[i]->address;
    if (n == 0)
        n = g->nlanes;
    uint64_t version = g->view ? g->view->version + 1 : 1;
    group_view_unref(g->view);
    g->view = group_view_new(g->id, version, addresses, n);
    free(addresses);
    want_batch(s);
    if (g->view_seq == s->seq) {
        group_view_unref(s->next->views[g->view_at]);
        s->next->views[g->view_at] = group_view_ref(g->view);
        return;
    }
    g->view_seq = s->seq;
    g->view_at = s->next->nviews;
    array_push(s->next->views, s->next->nviews, group_view_ref(g->view));
}

void group_renew(struct sched *s, struct group *g)
{
    list_remove(&g->stale);
    if (g->address_type == 0 && (!same_lanes(g) || g->unsure)) {
        lanes_by_registry(s, g);
        write_list(s, g);
        g->unsure = false;
    }
    make_view(s, g);
}

/* ---- edits of a group ------------------------------------------------------------------------ */

static void app_set(struct sched *s, struct group *g, struct app *app)
{
    struct app *before = g->app;
    list_remove(&g->of_app);
    g->app = app;
    if (app)
        list_push(&app->groups, &g->of_app);
    if (before)
        app_forget(s, before);
}

void group_set(struct sched *s, const struct group_record *r)
{
    struct group *g = group_of(s, r->id);
    if (!g) {
        g = mem_new(sizeof(*g));
        g->id = r->id;
        map_set(&s->groups, (uint64_t)g->id, g);
    }
    for (int i = 0, n = g->app ? group_size(g) : 0; i < n; i++)
        lane_left(s, group_lane(g, i));
    app_set(s, g, app_get(s, slice_text(r->app ? r->app : "")));
    g->address_type = r->address_type;
    g->unsure = r->address_list && r->address_list[0]; /* one by hand perhaps, before a crash */
    if (r->address_type != 0)
        lanes_by_hand(s, g, r->address_list);
    g->relay_from_ms = 0; /* what a user sets counts at once */
    group_stale(s, g);
    groups_left(s);
}

void group_gone(struct sched *s, int64_t id)
{
    struct group *g = map_take(&s->groups, (uint64_t)id);
    if (!g)
        return;
    lanes_set(s, g, NULL, 0);
    list_remove(&g->stale);
    list_remove(&g->to_replan);
    app_set(s, g, NULL);
    group_view_unref(g->view);
    free(g);
}

void groups_free(struct sched *s)
{
    void *value;
    for (size_t i = 0; map_next(&s->groups, &i, &value);) {
        struct group *g = value;
        for (int k = 0; k < g->nlanes; k++)
            lane_put(s, g->lanes[k]);
        free(g->lanes);
        free(g->members);
        group_view_unref(g->view);
        free(g);
    }
    map_done(&s->groups);
}
