/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - what has registered: apps and their addresses.
 *
 * What executors say is known at once; the groups by registry are marked stale and follow with the
 * next batch. What they say to others (centers on the same database, Java admins) is known by the
 * rows that these write. */
#include "sched/registry.h"
#include "sched/beat.h"
#include "sched/group.h"
#include "sched/lane.h"
#include "sched/state.h"
#include <stdlib.h>
#include <string.h>

#define TOUCH_MS 20000 /* update_time in the database is written that often */
#define APPS_MAX 100000
#define ROUND_MS 1000 /* update_time has whole seconds */

/* ---- apps ------------------------------------------------------------------------------------ */

struct app *app_get(struct sched *s, struct slice name)
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

/* A bound for what a database may hold. */
static struct app *app_of_row(struct sched *s, struct slice name)
{
    bool full = s->apps.len >= APPS_MAX;
    return full ? textmap_find(&s->apps, name) : app_get(s, name);
}

static int names_without_group(const struct sched *s)
{
    int n = 0;
    void *value;
    for (size_t i = 0; textmap_next(&s->apps, &i, &value);)
        n += list_empty(&((struct app *)value)->groups);
    return n;
}

/* Any holder of the token may make names up: there is a bound, and an unused name is forgotten. */
static struct app *app_of_executor(struct sched *s, struct slice name)
{
    struct app *app = textmap_find(&s->apps, name);
    return app ? app : names_without_group(s) < NAMES_MAX ? app_get(s, name) : NULL;
}

void app_forget(struct sched *s, struct app *app)
{
    if (app->n || !list_empty(&app->groups))
        return;
    textmap_take(&s->apps, slice_text(app->name));
    free(app->addresses);
    free(app->name);
    free(app);
}

void registry_free(struct sched *s)
{
    void *value;
    for (size_t i = 0; textmap_next(&s->apps, &i, &value);) {
        struct app *app = value;
        for (int k = 0; k < app->n; k++)
            lane_put(s, app->addresses[k].lane);
        free(app->addresses);
        free(app->name);
        free(app);
    }
    textmap_done(&s->apps);
}

static int address_order(struct slice a, const char *b)
{
    size_t n = strlen(b);
    int order = memcmp(a.p, b, a.n < n ? a.n : n);
    return order ? order : a.n < n ? -1 : a.n > n;
}

int app_place(const struct app *app, struct slice address, bool *ret_there)
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
    list_each(&app->groups, n, tmp) group_stale(s, container_of(n, struct group, of_app));
}

static struct registered *app_add(struct sched *s, struct app *app, struct slice address)
{
    bool there;
    int i = app_place(app, address, &there);
    if (there)
        return &app->addresses[i];
    if (app->n >= ADDRESSES_MAX)
        return NULL;
    app->addresses = mem_resize(app->addresses, ((size_t)app->n + 1) * sizeof(*app->addresses));
    memmove(&app->addresses[i + 1], &app->addresses[i],
            (size_t)(app->n - i) * sizeof(*app->addresses));
    app->n++;
    s->registered++;
    app->addresses[i] = (struct registered){ .lane = lane_get(s, address), .stored_ms = -1 };
    app->addresses[i].lane->registered++;
    app_changed(s, app);
    return &app->addresses[i];
}

static void app_remove(struct sched *s, struct app *app, int i)
{
    struct lane *lane = app->addresses[i].lane;
    lane->registered--;
    lane_left(s, lane);
    app->n--;
    s->registered--;
    memmove(&app->addresses[i], &app->addresses[i + 1],
            (size_t)(app->n - i) * sizeof(*app->addresses));
    app_changed(s, app);
    lane_put(s, lane);
}

/* ---- what executors say ---------------------------------------------------------------------- */

/* gone: updated_ms is the latest time of a row that may go, 0: any. */
static void note_registry(struct sched *s, const struct app *app, const char *address,
                          int64_t updated_ms, bool gone)
{
    struct registry_change c = { .gone = gone };
    c.row = (struct registry_record){ mem_dup("EXECUTOR"), mem_dup(app->name), mem_dup(address),
                                      updated_ms };
    if (gone)
        s->gone_seq = s->seq;
    array_push(s->next->registry, s->next->nregistry, c);
    want_batch_soon(s); /* of what changes lists, those tell at once */
}

bool registry_add(struct sched *s, struct now now, struct slice app_name, struct slice address,
                  bool ours)
{
    struct app *app = app_of_executor(s, app_name);
    bool there = false;
    if (app)
        (void)app_place(app, address, &there);
    bool room = there || s->registered < REGISTERED_MAX;
    struct registered *r = app && room ? app_add(s, app, address) : NULL;
    if (!r) {
        if (app)
            app_forget(s, app);
        return false;
    }
    r->beat_ms = now.boot_ms;
    struct lane *lane = r->lane;
    lane->beat_ms = now.boot_ms;
    lane->ours = ours;
    if (r->stored_ms < 0 || now.boot_ms - r->stored_ms >= TOUCH_MS) {
        note_registry(s, app, lane->address, now.wall_ms, false);
        r->stored_ms = now.boot_ms;
        r->noted = s->seq;
    }
    lane_alive(s, now, lane);
    return true;
}

static void drop_address(struct sched *s, struct now now, struct app *app, int i)
{
    app->addresses[i].lane->left_ms = now.boot_ms;
    app_remove(s, app, i);
}

/* until_ms: as of note_registry. */
static void forget_address(struct sched *s, struct now now, struct app *app, int i,
                           int64_t until_ms)
{
    note_registry(s, app, app->addresses[i].lane->address, until_ms, true);
    drop_address(s, now, app, i);
}

void registry_remove(struct sched *s, struct now now, struct slice app_name, struct slice address)
{
    struct app *app = textmap_find(&s->apps, app_name);
    if (!app)
        return;
    bool there;
    int i = app_place(app, address, &there);
    if (there)
        forget_address(s, now, app, i, 0);
    app_forget(s, app);
}

bool registry_forget(struct sched *s, struct now now, struct slice address)
{
    bool found = false;
    void *value;
    for (size_t i = 0; textmap_next(&s->apps, &i, &value);) {
        bool there;
        int place = app_place(value, address, &there);
        if (there)
            forget_address(s, now, value, place, 0);
        found |= there;
    }
    return found; /* an app without addresses or groups goes with the next sweep */
}

void registry_load(struct sched *s, struct now now, const struct registry_record *r)
{
    if (!r->group || strcmp(r->group, "EXECUTOR") != 0 || !r->key || !r->value || !r->value[0])
        return;
    struct app *app = app_of_row(s, slice_text(r->key));
    struct registered *a = app ? app_add(s, app, slice_text(r->value)) : NULL;
    if (a) { /* while the center was away no beat could arrive: all get the full time */
        a->beat_ms = now.boot_ms;
        a->lane->beat_ms = now.boot_ms;
        if (a->stored_ms < 0)
            a->stored_ms = now.boot_ms;
    }
}

/* ---- what they say to others ----------------------------------------------------------------- */

/* The time of its row counts as a beat's, if it is one at all. */
static void heard_row(struct sched *s, struct now now, const struct registry_record *r)
{
    int64_t age_ms = now.wall_ms - r->updated_ms, dead_ms = s->config.dead_after_ms;
    struct app *app = textmap_find(&s->apps, slice_text(r->key));
    bool there = false;
    int i = app ? app_place(app, slice_text(r->value), &there) : 0;
    struct registered *a = there ? &app->addresses[i] : NULL;
    if (age_ms < dead_ms && age_ms > -dead_ms) {
        if (!a && (app = app_of_executor(s, slice_text(r->key))))
            a = app_add(s, app, slice_text(r->value));
        int64_t beat_ms = now.boot_ms - (age_ms > 0 ? age_ms : 0);
        if (a && !there)
            lane_alive(s, now, a->lane);
        if (a && (!there || beat_ms > a->beat_ms))
            a->beat_ms = beat_ms;
        if (a && beat_ms > a->stored_ms)
            a->stored_ms = beat_ms;
        if (a && beat_ms > a->lane->beat_ms)
            a->lane->beat_ms = beat_ms;
    }
    if (a)
        a->look = s->registry_looks;
}

/* What this center has written itself may be younger than the look. */
static void forget_unseen(struct sched *s, struct now now, uint64_t seq)
{
    void *value;
    for (size_t i = 0; textmap_next(&s->apps, &i, &value);) {
        struct app *app = value;
        for (int k = app->n; k-- > 0;)
            if (app->addresses[k].look != s->registry_looks && app->addresses[k].noted <= seq)
                drop_address(s, now, app, k);
    }
}

bool registry_heard(struct sched *s, struct now now, const struct registry_record *rows, int n,
                    uint64_t seq)
{
    if (s->gone_seq > seq)
        return false;
    s->registry_looks++;
    for (int i = 0; i < n; i++)
        if (rows[i].group && strcmp(rows[i].group, "EXECUTOR") == 0 && rows[i].key &&
            rows[i].value && rows[i].value[0])
            heard_row(s, now, &rows[i]);
    forget_unseen(s, now, seq);
    return true;
}

void registry_paused(struct sched *s, struct now now, int64_t ms)
{
    void *value;
    for (size_t i = 0; textmap_next(&s->apps, &i, &value);) {
        struct app *app = value;
        for (int k = 0; k < app->n; k++) {
            int64_t beat_ms = app->addresses[k].beat_ms + ms;
            app->addresses[k].beat_ms = beat_ms < now.boot_ms ? beat_ms : now.boot_ms;
            app->addresses[k].lane->beat_ms = app->addresses[k].beat_ms;
        }
    }
}

void registry_sweep(struct sched *s, struct now now)
{
    struct app **unused = NULL;
    int nunused = 0;
    void *value;
    for (size_t i = 0; textmap_next(&s->apps, &i, &value);) {
        struct app *app = value;
        for (int k = app->n; k-- > 0;)
            if (now.boot_ms - app->addresses[k].beat_ms > s->config.dead_after_ms)
                forget_address(s, now, app, k, now.wall_ms - s->config.dead_after_ms + ROUND_MS);
        if (app->n == 0 && list_empty(&app->groups))
            array_push(unused, nunused, app);
    }
    for (int i = 0; i < nunused; i++)
        app_forget(s, unused[i]);
    free(unused);
}
