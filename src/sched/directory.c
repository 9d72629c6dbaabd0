/* SPDX-License-Identifier: Apache-2.0 */
/* directory.c - who is there: apps and their registered addresses, groups and their lists.
 *
 * Who is there is known at once (group_size, group_lane, group_place). The group's list, what
 * XXL-JOB's readers see, and its view, what routes look at, follow with the next batch: thousands
 * of addresses that come, go or die within one are one list and one view. A refused connection
 * takes an address out of the views until a beat brings it back. */
#include "sched/state.h"
#include <stdlib.h>
#include <string.h>

#define TOUCH_MS 20000      /* update_time in the database is written that often */
#define ADDRESSES_MAX 10000 /* of one app */
#define APPS_MAX 100000
#define CHEAP_VIEW 64  /* addresses: such a view is made whenever somebody looks */
#define RELAY_MS 1000  /* broadcasts of a larger group are planned again once in so long */
#define RELAY_ROW_MS 1 /* and later by this for each row */

static bool is_large(const struct group *g)
{
    return group_size(g) > CHEAP_VIEW;
}

/* ---- apps ----------------------------------------------------------------------------------- */

static struct app *app_get(struct sched *s, struct slice name)
{
    struct app *app = textmap_find(&s->apps, name);
    if (!app) {
        app = mem_new(sizeof(*app));
        app->name = mem_dupn(name.p, name.n);
        list_init(&app->groups);
        textmap_set(&s->apps, name, app);
    }
    return app;
}

/* Whoever has the token may make names up: there is a bound, and one that nobody uses is forgotten.
 */
static struct app *app_of_executor(struct sched *s, struct slice name)
{
    bool full = s->apps.len >= APPS_MAX;
    return full ? textmap_find(&s->apps, name) : app_get(s, name);
}

static void app_forget(struct sched *s, struct app *app)
{
    if (app->n || !list_empty(&app->groups))
        return;
    textmap_take(&s->apps, slice_text(app->name));
    free(app->addresses);
    free(app->name);
    free(app);
}

static int address_order(struct slice a, const char *b)
{
    size_t n = strlen(b);
    int order = memcmp(a.p, b, a.n < n ? a.n : n);
    return order ? order : a.n < n ? -1 : a.n > n;
}

/* Where the address stands or would stand in the sorted list. */
static int place_of(const struct app *app, struct slice address, bool *ret_there)
{
    int low = 0, high = app->n;
    while (low < high) {
        int middle = (low + high) / 2;
        int order = address_order(address, app->addresses[middle].lane->address);
        if (order == 0) {
            *ret_there = true;
            return middle;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    *ret_there = false;
    return low;
}

static void app_changed(struct sched *s, struct app *app)
{
    app->list_no++;
    list_each(&app->groups, n, tmp) directory_stale(s, container_of(n, struct group, of_app));
}

static struct registered *app_add(struct sched *s, struct app *app, struct slice address)
{
    bool there;
    int i = place_of(app, address, &there);
    if (there)
        return &app->addresses[i];
    if (app->n >= ADDRESSES_MAX)
        return NULL;
    app->addresses = mem_resize(app->addresses, ((size_t)app->n + 1) * sizeof(*app->addresses));
    memmove(&app->addresses[i + 1], &app->addresses[i],
            (size_t)(app->n - i) * sizeof(*app->addresses));
    app->n++;
    app->addresses[i] = (struct registered){ .lane = lane_get(s, address), .stored_ms = -1 };
    app->addresses[i].lane->registered++;
    app_changed(s, app);
    return &app->addresses[i];
}

static void app_remove(struct sched *s, struct app *app, int i)
{
    struct lane *lane = app->addresses[i].lane;
    lane->registered--;
    app->n--;
    memmove(&app->addresses[i], &app->addresses[i + 1],
            (size_t)(app->n - i) * sizeof(*app->addresses));
    app_changed(s, app);
    lane_put(s, lane);
}

static void note_registry(struct sched *s, struct now now, const struct app *app,
                          const char *address, bool gone)
{
    struct registry_change c = { .gone = gone };
    c.row = (struct registry_record){ mem_dup("EXECUTOR"), mem_dup(app->name), mem_dup(address),
                                      now.wall_ms };
    array_push(s->next->registry, s->next->nregistry, c);
    s->wanted = true;
}

bool sched_register(struct sched *s, struct now now, struct slice app_name, struct slice address,
                    bool ours)
{
    struct app *app = app_of_executor(s, app_name);
    struct registered *r = app ? app_add(s, app, address) : NULL;
    if (!r)
        return false;
    r->beat_ms = now.boot_ms;
    r->ours = ours;
    struct lane *lane = r->lane;
    if (r->stored_ms < 0 || now.boot_ms - r->stored_ms >= TOUCH_MS) {
        note_registry(s, now, app, lane->address, false);
        r->stored_ms = now.boot_ms;
    }
    lane_alive(s, now, lane);
    return true;
}

static void forget_address(struct sched *s, struct now now, struct app *app, int i)
{
    note_registry(s, now, app, app->addresses[i].lane->address, true);
    app_remove(s, app, i);
}

void sched_unregister(struct sched *s, struct now now, struct slice app_name, struct slice address)
{
    struct app *app = textmap_find(&s->apps, app_name);
    if (!app)
        return;
    bool there;
    int i = place_of(app, address, &there);
    if (there)
        forget_address(s, now, app, i);
    app_forget(s, app);
}

void sched_load_registry(struct sched *s, struct now now, const struct registry_record *r)
{
    if (!r->group || strcmp(r->group, "EXECUTOR") != 0 || !r->key || !r->value || !r->value[0])
        return;
    struct app *app = app_of_executor(s, slice_text(r->key));
    struct registered *a = app ? app_add(s, app, slice_text(r->value)) : NULL;
    if (a) { /* while the center was away nobody could beat: all get the full time */
        a->beat_ms = now.boot_ms;
        a->stored_ms = now.boot_ms;
    }
}

/* The process stood still: no beat can have come in that time. */
void directory_paused(struct sched *s, struct now now, int64_t ms)
{
    void *value;
    for (size_t i = 0; textmap_next(&s->apps, &i, &value);) {
        struct app *app = value;
        for (int k = 0; k < app->n; k++) {
            int64_t beat_ms = app->addresses[k].beat_ms + ms;
            app->addresses[k].beat_ms = beat_ms < now.boot_ms ? beat_ms : now.boot_ms;
        }
    }
}

void directory_sweep(struct sched *s, struct now now)
{
    struct app **unused = NULL;
    int nunused = 0;
    void *value;
    for (size_t i = 0; textmap_next(&s->apps, &i, &value);) {
        struct app *app = value;
        for (int k = app->n; k-- > 0;)
            if (now.boot_ms - app->addresses[k].beat_ms > s->config.dead_after_ms)
                forget_address(s, now, app, k);
        if (app->n == 0 && list_empty(&app->groups))
            array_push(unused, nunused, app);
    }
    for (int i = 0; i < nunused; i++)
        app_forget(s, unused[i]);
    free(unused);
    list_each(&s->unlaid, n, tmp)
    {
        struct group *g = container_of(n, struct group, unlaid);
        if (!is_large(g) || now.boot_ms >= g->relay_from_ms)
            directory_now(s, now, g);
    }
}

/* ---- groups --------------------------------------------------------------------------------- */

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
        int i = place_of(g->app, slice_text(lane->address), &there);
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
    s->wanted = true;
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
    s->wanted = true;
    if (g->view_seq == s->seq) {
        group_view_unref(s->next->views[g->view_at]);
        s->next->views[g->view_at] = group_view_ref(g->view);
        return;
    }
    g->view_seq = s->seq;
    g->view_at = s->next->nviews;
    array_push(s->next->views, s->next->nviews, group_view_ref(g->view));
}

/* ---- broadcasts: laid out anew when the list changes before a shard has left ------------------
 */

static bool unsent_broadcast(const struct run *r)
{
    return r->flags & RUN_BROADCAST && r->kind != KIND_RETRY && !(r->flags & RUN_LEFT) &&
           !(r->text && r->text->choices);
}

/* Shards that are gone from memory have left and ended. */
static bool any_shard_left(const struct run *like)
{
    int there = 0;
    list_each(&like->job->runs, n, tmp)
    {
        const struct run *r = container_of(n, struct run, of_job);
        if (r->scheduled_ms != like->scheduled_ms || r->kind != like->kind ||
            r->cause != like->cause || r->flags & RUN_CLOSED)
            continue;
        if (r->phase != PHASE_PLANNED || r->flags & (RUN_LEFT | RUN_DOUBTED | RUN_HELD))
            return true;
        there++;
    }
    return there < like->shard_total;
}

static void replan(struct sched *s, struct now now, struct run *like)
{
    struct spawn spawn = {
        .job_id = like->job->id,
        .kind = like->kind,
        .scheduled_ms = like->scheduled_ms,
        .due_ms = like->due_ms,
        .cause = like->cause,
        .version = like->version,
        .attempt = like->attempt,
        .retries_left = like->retries_left,
        .param = mem_dup(run_param(like)),
        .hops = like->hops,
    };
    struct live_job *j = like->job;
    struct group *g = group_of(s, j->def->group_id);
    g->relay_from_ms += (int64_t)like->shard_total * RELAY_ROW_MS;
    j->nruns++; /* keeps it while its runs go */
    list_each(&j->runs, n, tmp)
    {
        struct run *r = container_of(n, struct run, of_job);
        if (r->phase == PHASE_PLANNED && r->scheduled_ms == spawn.scheduled_ms &&
            r->kind == spawn.kind && r->cause == spawn.cause)
            run_forget(s, now, r, PHASE_WITHDRAWN, "the group's addresses changed");
    }
    j->nruns--;
    if (spawn.kind == KIND_CRON || spawn.kind == KIND_MISFIRE)
        j->anew_seq = s->seq;
    spawn_add(s, &spawn);
}

/* Is the firing of this unsent shard laid out as the group's list stands now? */
static bool as_listed(const struct group_view *v, const struct run *like)
{
    if (like->shard_total != (v->n ? v->n : 1))
        return false;
    list_each(&like->job->runs, n, tmp)
    {
        const struct run *r = container_of(n, struct run, of_job);
        if (r->scheduled_ms != like->scheduled_ms || r->kind != like->kind ||
            r->cause != like->cause || r->flags & RUN_CLOSED)
            continue;
        if (v->n == 0 && !r->lane)
            continue;
        if (r->shard >= v->n || !r->lane || strcmp(r->lane->address, v->addresses[r->shard]) != 0)
            return false;
    }
    return true;
}

void broadcast_check(struct sched *s, struct now now, struct run *r)
{
    const struct group *g = group_of(s, r->job->def->group_id);
    if (g && g->view && r->shard == 0 && r->phase == PHASE_PLANNED && !(r->flags & RUN_CLOSED) &&
        unsent_broadcast(r) && !any_shard_left(r) && !as_listed(g->view, r))
        replan(s, now, r);
}

/* A firing has a row for each address. While thousands of them come, go or die one after another,
 * laying it anew with each would write millions of rows: the broadcasts of a large group wait, and
 * the sweep looks at them. True: not now. */
static bool put_off(struct sched *s, struct now now, struct group *g)
{
    bool later = is_large(g) && now.boot_ms < g->relay_from_ms;
    if (later && !list_linked(&g->unlaid))
        list_push(&s->unlaid, &g->unlaid);
    return later;
}

/* They are looked at now. */
static void relay_begins(struct now now, struct group *g)
{
    list_remove(&g->unlaid);
    g->relay = true;
    g->relay_from_ms = now.boot_ms + RELAY_MS;
}

void broadcast_entered(struct sched *s, struct now now, struct run *r)
{
    struct group *g = group_of(s, r->job->def->group_id);
    bool first = r->flags & RUN_BROADCAST && r->shard == 0;
    if (g && first && !put_off(s, now, g))
        broadcast_check(s, now, r);
}

/* Lays the unsent broadcasts anew of all groups that are marked so. */
static void relay(struct sched *s, struct now now)
{
    struct run **runs = NULL;
    int n = 0;
    list_each(&s->broadcasts, node, tmp)
    {
        struct live_job *j = container_of(node, struct live_job, broadcast);
        const struct group *g = group_of(s, j->def->group_id);
        if (!g || !g->relay)
            continue;
        list_each(&j->runs, m, tmp2)
        {
            struct run *r = container_of(m, struct run, of_job);
            if (r->phase == PHASE_PLANNED && r->shard == 0 && unsent_broadcast(r))
                array_push(runs, n, r);
        }
    }
    for (int i = 0; i < n; i++)
        broadcast_check(s, now, runs[i]);
    free(runs);
}

static void make_anew(struct sched *s, struct group *g)
{
    list_remove(&g->stale);
    if (g->address_type == 0 && (!same_lanes(g) || g->unsure)) {
        lanes_by_registry(s, g);
        write_list(s, g);
        g->unsure = false;
    }
    make_view(s, g);
}

void directory_stale(struct sched *s, struct group *g)
{
    if (!list_linked(&g->stale))
        list_push(&s->stale, &g->stale);
    s->wanted = true;
}

void directory_now(struct sched *s, struct now now, struct group *g)
{
    if (list_linked(&g->stale))
        make_anew(s, g);
    if (!s->started || put_off(s, now, g))
        return;
    relay_begins(now, g);
    relay(s, now);
    g->relay = false;
}

void directory_freshen(struct sched *s, struct now now, struct group *g)
{
    if (list_linked(&g->stale) && (group_size(g) <= CHEAP_VIEW || g->view_seq != s->seq))
        directory_now(s, now, g);
}

void directory_refresh(struct sched *s, struct now now)
{
    struct list made;
    list_init(&made);
    for (struct list_node *n; (n = list_first(&s->stale));) {
        struct group *g = container_of(n, struct group, stale);
        make_anew(s, g);
        if (s->started && !put_off(s, now, g))
            relay_begins(now, g);
        list_push(&made, n);
    }
    if (list_empty(&made))
        return;
    if (s->started)
        relay(s, now);
    for (struct list_node *n; (n = list_pop(&made));)
        container_of(n, struct group, stale)->relay = false;
}

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

void directory_group(struct sched *s, const struct group_record *r)
{
    struct group *g = group_of(s, r->id);
    if (!g) {
        g = mem_new(sizeof(*g));
        g->id = r->id;
        map_set(&s->groups, (uint64_t)g->id, g);
    }
    app_set(s, g, app_get(s, slice_text(r->app ? r->app : "")));
    g->address_type = r->address_type;
    g->unsure = r->address_list && r->address_list[0]; /* one by hand perhaps, before a crash */
    if (r->address_type != 0)
        lanes_by_hand(s, g, r->address_list);
    g->relay_from_ms = 0; /* what a user sets counts at once */
    directory_stale(s, g);
}

void directory_group_gone(struct sched *s, int64_t id)
{
    struct group *g = map_take(&s->groups, (uint64_t)id);
    if (!g)
        return;
    lanes_set(s, g, NULL, 0);
    list_remove(&g->stale);
    list_remove(&g->unlaid);
    app_set(s, g, NULL);
    group_view_unref(g->view);
    free(g);
}

void sched_load_group(struct sched *s, const struct group_record *g)
{
    directory_group(s, g);
}

bool sched_address_known(const struct sched *s, int64_t group_id, struct slice address)
{
    const struct group *g = group_of(s, group_id);
    const struct lane *lane = g ? textmap_find(&s->lanes, address) : NULL;
    return lane && group_place(g, lane) >= 0;
}

void sched_addresses(const struct sched *s, int64_t group_id, sched_address_fn *fn, void *ctx)
{
    const struct group *g = group_of(s, group_id);
    for (int i = 0, n = g ? group_size(g) : 0; i < n; i++)
        fn(ctx, group_lane(g, i)->address, group_lane(g, i)->dead);
}
