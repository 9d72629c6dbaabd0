/* SPDX-License-Identifier: Apache-2.0 */
/* check_routes.c - to which address: each route's choice, what has left.
 *
 * The checker keeps its own lists, from the registrations that reached the center, the groups'
 * rows, and which calls were answered. Where a connection was refused and nothing has been heard
 * since, it does not know whether the center takes the address for dead, and looks away. */
#include "check.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEATEN_MS 88000 /* for so long a beat keeps an address registered, certainly */
#define GONE_MS 92000   /* and for so long it may */

/* ---- lists ----------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void list_add(struct listing *v, struct sim *s, struct slice address)
{
    struct peer *p = textmap_find(&s->peers, address);
    if (v->n == (int)countof(v->addresses)) {
        v->sure = false;
        return;
    }
    v->sure &= p && !p->refused;
    v->addresses[v->n++] = p ? p->address : "";
}

static void list_registered(struct sim *s, struct listing *v, const char *app)
{
    void *value;
    for (size_t i = 0; v->n < (int)countof(v->addresses) && textmap_next(&s->peers, &i, &value);) {
        const struct peer *p = value;
        if (p->beat_ms < 0 || strcmp(p->app, app) != 0)
            continue;
        int64_t since = s->boot_ms - p->beat_ms;
        v->sure &= since < BEATEN_MS || since > GONE_MS;
        if (since < GONE_MS)
            list_add(v, s, slice_text(p->address));
    }
    v->sure &= v->n < (int)countof(v->addresses); /* a crowd */
    qsort(v->addresses, (size_t)v->n, sizeof(v->addresses[0]), by_text);
}

/* The group's list as the center must have it now. */
void listing_of(struct sim *s, int64_t group_id, struct listing *v)
{
    const struct group_record *g = mem_find(memory_of(s->store), T_GROUP, group_id);
    bool settled = s->boot_ms - s->frozen_until_ms > 100000 || !s->frozen_until_ms;
    settled &= s->group_edits == 0; /* else one that is on disk may not be known */
    *v = (struct listing){ .sure = g && settled, .group_id = group_id };
    if (!g)
        return;
    if (g->address_type == 0) {
        list_registered(s, v, g->app);
        return;
    }
    struct slice rest = slice_text(g->address_list ? g->address_list : "");
    for (struct slice one; slice_item(&rest, &one);) {
        char address[64];
        snprintf(address, sizeof(address), "%.*s", (int)one.n, one.p);
        peer_of(s, address);
        list_add(v, s, slice_text(address));
    }
}

static int place(const struct listing *v, const char *address)
{
    for (int i = 0; i < v->n; i++)
        if (strcmp(v->addresses[i], address) == 0)
            return i;
    return -1;
}

/* The writer is given a batch: it plans by the lists as they are now. */
void check_taken(struct sim *s)
{
    s->nlistings = 0;
    s->taken_ms = s->boot_ms;
    void *row;
    for (size_t i = 0; map_next(&memory_of(s->store)->tables[T_GROUP], &i, &row);)
        if (s->nlistings < (int)countof(s->listings))
            listing_of(s, ((struct group_record *)row)->id, &s->listings[s->nlistings++]);
}

const struct listing *listing_taken(const struct sim *s, int64_t group_id)
{
    for (int i = 0; i < s->nlistings; i++)
        if (s->listings[i].group_id == group_id)
            return &s->listings[i];
    return NULL;
}

/* ---- choices --------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct listing *v, uint32_t lists_no)
{
    uint64_t h = mix(5, v->group_id) + lists_no; /* each change: one may have come back as it was */
    for (int i = 0; i < v->n; i++)
        h = hash_text(slice_text(v->addresses[i])) ^ hash_u64(h);
    return h;
}

static struct choices *choices_of_job(struct sim *s, int64_t job_id)
{
    struct choices *c = map_find(&s->choices, (uint64_t)job_id);
    if (!c) {
        c = mem_new(sizeof(*c));
        map_set(&s->choices, (uint64_t)job_id, c);
    }
    return c;
}

/* What the job's route has chosen since list and route are as they are now. */
static struct choices *choices_of(struct sim *s, int64_t job_id, enum route route,
                                  const struct listing *v)
{
    struct choices *c = choices_of_job(s, job_id);
    uint64_t list = hash_of(v, s->lists_no);
    if (c->list != list || c->route != (int)route || c->planner != s->planner_no)
        *c = (struct choices){
            .list = list, .route = (int)route, .planner = s->planner_no, .aged = c->list != 0
        };
    return c;
}

void choices_forget(struct sim *s, int64_t job_id)
{
    choices_of_job(s, job_id)->list = 1; /* no list's */
}

static int spread(const struct choices *c, int n)
{
    int least = c->times[0], most = c->times[0];
    for (int i = 1; i < n; i++) {
        least = c->times[i] < least ? c->times[i] : least;
        most = c->times[i] > most ? c->times[i] : most;
    }
    return most - least;
}

/* counts: nothing was chosen that was not planned (scheduled times met again after a step back are
 * not).
 */
static const char *wrong_choice(struct choices *c, enum route route, int n, int at, bool counts)
{
    int before = c->last - 1;
    c->last = at + 1;
    c->times[at]++;
    if (!counts && (route == ROUTE_ROUND || route == ROUTE_LRU || route == ROUTE_LFU))
        return NULL;
    switch (route) {
    case ROUTE_FIRST:
    case ROUTE_FAILOVER:
    case ROUTE_BUSYOVER:
        return at != 0 ? "is not the first" : NULL;
    case ROUTE_LAST:
        return at != n - 1 ? "is not the last" : NULL;
    case ROUTE_CONSISTENT_HASH:
        return before >= 0 && before != at ? "is another than before" : NULL;
    case ROUTE_ROUND:
        return before >= 0 && at != (before + 1) % n ? "is not the next one" : NULL;
    case ROUTE_LRU:
        return spread(c, n) > 1 ? "was used after others" : NULL;
    case ROUTE_LFU: /* each begins with a number below n */
        return !c->aged && spread(c, n) > n + 1 ? "was used more often than others" : NULL;
    default:
        return NULL;
    }
}

static enum route route_by(struct sim *s, int64_t job_id)
{
    const struct job_record *r = mem_find(memory_of(s->store), T_JOB, job_id);
    enum route route = ROUTE_FIRST;
    if (r && r->route && !route_parse(slice_text(r->route), &route))
        return ROUTE_FIRST;
    return route;
}

/* The address of a row that planning has planned. */
void check_choice(struct sim *s, const struct planned *p)
{
    const struct run_row *r = &p->row;
    const struct listing *v = listing_taken(s, r->group_id);
    bool anew = p->spawn && (p->spawn->kind == KIND_CRON || p->spawn->kind == KIND_MISFIRE);
    /* Chosen from another list, or planned again, which may choose for a row that is there already:
     * the count begins anew. */
    if (r->choices || !v || !v->sure || anew)
        choices_forget(s, r->job_id);
    if (!v || !v->sure || v->n == 0 || r->broadcast || r->choices || anew)
        return;
    int at = r->address ? place(v, r->address) : -1;
    if (at < 0)
        sim_fail(s, "the routes", "run %lld is planned for %s, which is not in the group's list",
                 (long long)r->log_id, r->address ? r->address : "no address");
    enum route route = route_by(s, r->job_id);
    const char *wrong =
        wrong_choice(choices_of(s, r->job_id, route, v), route, v->n, at, !s->went_back);
    if (wrong)
        sim_fail(s, "the routes", "run %lld of job %lld (%s) is planned for %s, which %s",
                 (long long)r->log_id, (long long)r->job_id, route_text(route), r->address, wrong);
    if (r->kind ==
        KIND_PARENT) /* a child that is named twice is chosen for twice, and planned once */
        choices_forget(s, r->job_id);
}

/* ---- what leaves ----------------------------------------------------------------------------- */

/* When the run became due, on the clock that does not step, or the center started after that. */
static int64_t due_since(const struct sim *s, const struct run_row *r)
{
    int64_t due = s->boot_ms - (wall_ms(s) - r->due_ms);
    return due > s->up_since_ms ? due : s->up_since_ms;
}

/* Nothing has changed since then of what a dispatch looks at: list, job, group. */
static bool stands_since(const struct sim *s, const struct run_row *r, int64_t since)
{
    const struct shadow *j = &s->shadows[r->job_id];
    return s->lists_ms < since && s->group_heard_ms < since && j->heard_ms < since;
}

static bool queries(enum route route)
{
    return route == ROUTE_FAILOVER || route == ROUTE_BUSYOVER;
}

static int64_t yes_of(struct sim *s, const struct run_row *r, enum route route, struct peer *p)
{
    return route == ROUTE_BUSYOVER ? asked_of(s, r->job_id, p->number)->yes_ms : p->yes_ms;
}

static int64_t no_of(struct sim *s, const struct run_row *r, enum route route, struct peer *p)
{
    int64_t no = route == ROUTE_BUSYOVER ? asked_of(s, r->job_id, p->number)->no_ms : 0;
    return no > p->no_ms ? no : p->no_ms;
}

/* FAILOVER and BUSYOVER: an address said yes since the run was due, and since the connection to an
 * earlier one was refused. Those before it in the list did not. */
static void check_asked(struct sim *s, const struct run_row *r, enum route route,
                        const struct listing *v)
{
    int64_t since = due_since(s, r);
    const struct wire *w = &ghost_of(s, r->log_id)->wire;
    if (since < w->refused_ms)
        since = w->refused_ms;
    if (yes_of(s, r, route, peer_of(s, r->address)) < since)
        sim_fail(s, "the routes", "run %lld (%s) goes to %s, which has not said yes",
                 (long long)r->log_id, route_text(route), r->address);
    int at = v->sure && stands_since(s, r, since) ? place(v, r->address) : 0;
    for (int i = 0; i < at; i++)
        if (no_of(s, r, route, peer_of(s, v->addresses[i])) < since)
            sim_fail(s, "the routes", "run %lld (%s) goes to %s, and %s was not asked before",
                     (long long)r->log_id, route_text(route), r->address, v->addresses[i]);
}

/* What falls due after its address has left the group goes elsewhere. */
static void check_listed(struct sim *s, const struct run_row *r, const struct listing *v)
{
    const struct peer *p = peer_of(s, r->address);
    bool expired = p->beat_ms >= 0 && s->boot_ms - p->beat_ms >= BEATEN_MS;
    if (v->sure && !expired && stands_since(s, r, due_since(s, r)) && place(v, r->address) < 0)
        sim_fail(s, "the routes", "run %lld goes to %s, which is in no list of its group",
                 (long long)r->log_id, r->address);
}

static const struct peer *peer_by_number(struct sim *s, int number)
{
    void *value;
    for (size_t i = 0; textmap_next(&s->peers, &i, &value);)
        if (((struct peer *)value)->number == number)
            return value;
    return NULL;
}

/* Others may take the next address when as many wait for theirs as its lane holds. How many wait
 * is not known from outside, only how many there have been. */
static bool bound(const struct sim *s, enum route route, const struct peer *was)
{
    return route == ROUTE_FIRST || route == ROUTE_LAST || route == ROUTE_CONSISTENT_HASH ||
           was->laid < s->lane_queue;
}

/* A run that was planned for another address has left it for a reason: a connection to that was
 * refused, or it left, or job or group were edited. */
static void check_moved(struct sim *s, const struct run_row *r, enum route route,
                        const struct listing *v)
{
    const struct ghost *g = ghost_of(s, r->log_id);
    const struct peer *was = peer_by_number(s, g->laid_for);
    if (!was || strcmp(was->address, r->address) == 0 || !bound(s, route, was) || !v->sure)
        return;
    bool refused = was->dead_ms >= g->taken_ms || was->refused;
    if (!refused && stands_since(s, r, g->taken_ms) && place(v, was->address) >= 0)
        sim_fail(s, "the routes", "run %lld (%s) goes to %s, and nothing has happened to %s",
                 (long long)r->log_id, route_text(route), r->address, was->address);
}

/* It is not the first time that the run leaves for this address: what the reconciliation table
 * sends again is bound to it. */
static bool stays_there(const struct sim *s, const struct ghost *g, const struct peer *p)
{
    bool left = g->sends || (g->wire.away && g->due_ms <= s->start_watermark_ms);
    return left && g->wire.peer == p->number;
}

/* What memory and disk say of job and group is the same unless an edit is being answered. Once the
 * clock has stepped it is not known when a run was due. */
void check_address(struct sim *s, const struct call *c)
{
    const struct run_row *r = &live_row(s, c->log_id)->row;
    const struct ghost *g = ghost_of(s, c->log_id);
    if (r->choices || r->broadcast || stays_there(s, g, peer_of(s, c->address)) ||
        s->stepped_ms > g->born_ms || edit_open(s, c->job_id))
        return;
    const struct job_record *j = mem_find(memory_of(s->store), T_JOB, r->job_id);
    struct listing v;
    listing_of(s, j ? j->group_id : 0, &v);
    enum route route = route_by(s, r->job_id);
    check_listed(s, r, &v);
    if (queries(route))
        check_asked(s, r, route, &v);
    else if (route != ROUTE_BROADCAST && !g->wire.away)
        check_moved(s, r, route, &v);
}

void check_routes_free(struct sim *s)
{
    void *value;
    for (size_t i = 0; map_next(&s->choices, &i, &value);)
        free(value);
    for (size_t i = 0; map_next(&s->asked, &i, &value);)
        free(value);
    map_done(&s->choices);
    map_done(&s->asked);
}
