/* SPDX-License-Identifier: Apache-2.0 */
/* A firing is judged when the grace has passed since its scheduled time. Then every row that can be
 * its own is known, and so is every firing beside it; so no row is given away that another firing
 * has a better claim to:
 *
 *   1. a row of the same second;
 *   2. a row of the next second, the second before, then of later ones up to the grace, if there
 * are more rows in that second than firings that wait for one;
 *   3. a row that makes up for misfires.
 *
 * Firings and rows are judged in the order of time, a row after each firing that could have been
 * its own. What was judged is forgotten. */
#include "shadow/match.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "plan/route.h"
#include <stdlib.h>
#include <string.h>

enum { DOUBLED_S = 5, ROW_SLACK_S = 2 }; /* the admins' window of reading ahead */

struct firing {
    struct list_node node; /* by scheduled time */
    int64_t scheduled_ms, second;
    bool optional;
    enum route route;
    struct group_view *views[2]; /* counted */
};

struct row {
    struct list_node node; /* by second */
    int64_t log_id, second;
    enum match_kind kind;
    bool told, taken, loose;
    int shard, shards;
    char *address;
};

struct job_seen {
    int64_t id, loose_from_ms, loose_until_ms;
    int64_t last_s[2]; /* of the newest firings that were judged and had a row, newest first */
    struct list firings, rows;
};

struct matcher {
    int64_t grace_ms;
    int64_t closed_s; /* rows of up to this second have been judged */
    finding_fn *fn;
    void *ctx;
    struct map jobs; /* id -> struct job_seen, owned */
    struct router *router;
    struct match_counts counts;
};

const char *difference_text(enum difference d)
{
    static const char *const texts[] = {
        [DIFFERENCE_MISSING] = "missing",   [DIFFERENCE_DOUBLED] = "doubled",
        [DIFFERENCE_LATE] = "late",         [DIFFERENCE_EARLY] = "early",
        [DIFFERENCE_EXECUTOR] = "executor", [DIFFERENCE_UNEXPECTED] = "unexpected",
        [DIFFERENCE_NEXT] = "next",         [DIFFERENCE_REFUSED] = "refused",
    };
    return texts[d];
}

static int64_t second_of(int64_t ms)
{
    return ms >= 0 ? ms / 1000 : -((999 - ms) / 1000);
}

/* ---- what is known ----------------------------------------------------------------------------
 */

struct matcher *matcher_new(int64_t start_ms, int64_t grace_ms, finding_fn *fn, void *ctx)
{
    struct matcher *m = mem_new(sizeof(*m));
    m->grace_ms = grace_ms;
    m->closed_s = second_of(start_ms) - 1;
    m->fn = fn;
    m->ctx = ctx;
    m->router = router_new(0);
    map_init(&m->jobs);
    return m;
}

static void firing_free(struct firing *f)
{
    group_view_unref(f->views[0]);
    group_view_unref(f->views[1]);
    free(f);
}

static void row_free(struct row *r)
{
    free(r->address);
    free(r);
}

static void job_seen_free(struct job_seen *j)
{
    for (struct list_node *n; (n = list_pop(&j->firings));)
        firing_free(container_of(n, struct firing, node));
    for (struct list_node *n; (n = list_pop(&j->rows));)
        row_free(container_of(n, struct row, node));
    free(j);
}

void matcher_free(struct matcher *m)
{
    if (!m)
        return;
    void *value;
    for (size_t i = 0; map_next(&m->jobs, &i, &value);)
        job_seen_free(value);
    map_done(&m->jobs);
    router_free(m->router);
    free(m);
}

static struct job_seen *seen(struct matcher *m, int64_t id)
{
    struct job_seen *j = map_find(&m->jobs, (uint64_t)id);
    if (!j) {
        j = mem_new(sizeof(*j));
        j->id = id;
        j->last_s[0] = j->last_s[1] = INT64_MIN;
        list_init(&j->firings);
        list_init(&j->rows);
        map_set(&m->jobs, (uint64_t)id, j);
    }
    return j;
}

static bool is_loose(const struct job_seen *j, int64_t second)
{
    return second >= second_of(j->loose_from_ms) && second <= second_of(j->loose_until_ms);
}

void matcher_loosen(struct matcher *m, int64_t job_id, int64_t from_ms, int64_t until_ms)
{
    struct job_seen *j = seen(m, job_id);
    j->loose_from_ms = from_ms;
    j->loose_until_ms = until_ms;
    list_each(&j->firings, n, tmp)
    {
        struct firing *f = container_of(n, struct firing, node);
        f->optional |= is_loose(j, f->second);
    }
    list_each(&j->rows, n, tmp)
    {
        struct row *r = container_of(n, struct row, node);
        r->loose |= is_loose(j, r->second);
    }
}

void matcher_firing(struct matcher *m, const struct match_firing *from)
{
    struct job_seen *j = seen(m, from->job_id);
    struct list_node *at = &j->firings.head;
    while (at->prev != &j->firings.head) {
        struct firing *before = container_of(at->prev, struct firing, node);
        if (before->scheduled_ms == from->scheduled_ms)
            return; /* planned by the definition before an edit, too */
        if (before->scheduled_ms < from->scheduled_ms)
            break;
        at = at->prev;
    }
    struct firing *f = mem_new(sizeof(*f));
    f->scheduled_ms = from->scheduled_ms;
    f->second = second_of(from->scheduled_ms);
    f->optional = from->optional || is_loose(j, f->second);
    f->route = from->route;
    for (int i = 0; i < 2; i++)
        f->views[i] = from->views[i] ? group_view_ref(from->views[i]) : NULL;
    list_insert_before(at, &f->node);
}

static void row_set(struct row *r, const struct match_row *from)
{
    r->kind = from->kind;
    r->told = from->told;
    r->shard = from->shard;
    r->shards = from->shards;
    free(r->address);
    r->address = mem_dup(from->address);
}

void matcher_row(struct matcher *m, const struct match_row *from)
{
    if (from->fired_s <= m->closed_s)
        return;
    struct job_seen *j = seen(m, from->job_id);
    struct list_node *at = &j->rows.head;
    for (struct list_node *n = at->prev; n != &j->rows.head; n = n->prev) {
        struct row *known = container_of(n, struct row, node);
        if (known->log_id == from->log_id) {
            row_set(known, from);
            return;
        }
        if (known->second > from->fired_s)
            at = n;
        else if (known->second < from->fired_s)
            break;
    }
    struct row *r = mem_new(sizeof(*r));
    r->log_id = from->log_id;
    r->second = from->fired_s;
    r->loose = is_loose(j, r->second);
    row_set(r, from);
    list_insert_before(at, &r->node);
}

/* ---- which row --------------------------------------------------------------------------------
 */

/* Could the row be of a scheduled firing, of that shard? shard -1: of any. */
static bool fits(const struct row *r, int shard)
{
    return !r->taken && (r->kind == MATCH_SCHEDULE || r->kind == MATCH_UNKNOWN) &&
           (shard < 0 || (r->shards > 0 && r->shard == shard));
}

/* A row of that second, one whose reason is known before one whose is not. */
static struct row *row_in(const struct job_seen *j, int64_t second, int shard)
{
    struct row *found = NULL;
    list_each(&j->rows, n, tmp)
    {
        struct row *r = container_of(n, struct row, node);
        if (r->second > second)
            break;
        if (r->second == second && fits(r, shard) &&
            (!found || (found->kind == MATCH_UNKNOWN && r->kind == MATCH_SCHEDULE)))
            found = r;
    }
    return found;
}

/* Does that second have more rows than firings that wait for one? */
static bool spare_in(const struct job_seen *j, int64_t second, int shard)
{
    int spare = 0;
    list_each(&j->rows, n, tmp)
    {
        struct row *r = container_of(n, struct row, node);
        spare += r->second == second && fits(r, shard);
    }
    list_each(&j->firings, n, tmp)
    {
        struct firing *f = container_of(n, struct firing, node);
        spare -= f->second == second;
    }
    return spare > 0;
}

static struct row *spare_row(const struct job_seen *j, int64_t second, int shard)
{
    return spare_in(j, second, shard) ? row_in(j, second, shard) : NULL;
}

/* The first spare row behind the next second, up to until_s. */
static struct row *late_row(const struct job_seen *j, int64_t second, int64_t until_s, int shard)
{
    list_each(&j->rows, n, tmp)
    {
        struct row *r = container_of(n, struct row, node);
        if (r->second > until_s)
            break;
        if (r->second > second + 1 && fits(r, shard) && spare_in(j, r->second, shard))
            return row_in(j, r->second, shard);
    }
    return NULL;
}

/* A misfire's row is for the newest firing that was missed before it. */
static struct row *misfire_row(const struct job_seen *j, const struct firing *f, int64_t until_s)
{
    list_each(&j->rows, n, tmp)
    {
        struct row *r = container_of(n, struct row, node);
        if (r->taken || r->kind != MATCH_MISFIRE || r->second <= f->second)
            continue;
        if (r->second > until_s)
            break;
        struct firing *next = f->node.next == &j->firings.head
                                  ? NULL
                                  : container_of(f->node.next, struct firing, node);
        if (!next || next->second + DOUBLED_S >= r->second || row_in(j, next->second, -1))
            return r;
    }
    return NULL;
}

static struct row *row_for(const struct matcher *m, const struct job_seen *j,
                           const struct firing *f, int shard)
{
    int64_t until_s = second_of(f->scheduled_ms + m->grace_ms);
    struct row *r = row_in(j, f->second, shard);
    r = r ? r : spare_row(j, f->second + 1, shard);
    r = r ? r : spare_row(j, f->second - 1, shard);
    if (r || f->optional) /* which need no row, and take none from others */
        return r;
    r = late_row(j, f->second, until_s, shard);
    return r ? r : misfire_row(j, f, until_s);
}

/* ---- judgement --------------------------------------------------------------------------------
 */

static void find(struct matcher *m, enum difference what, int64_t job_id, const struct firing *f,
                 const struct row *r, int shard, const char *wanted)
{
    struct finding x = {
        .what = what,
        .job_id = job_id,
        .scheduled_ms = f ? f->scheduled_ms : 0,
        .fired_ms = r ? r->second * 1000 : 0,
        .log_id = r ? r->log_id : 0,
        .shard = shard,
        .wanted = wanted,
        .found = r ? r->address : NULL,
    };
    m->fn(m->ctx, &x);
}

static bool in_view(const struct group_view *v, const char *address)
{
    for (int i = 0; v && i < v->n; i++)
        if (strcmp(v->addresses[i], address) == 0)
            return true;
    return false;
}

/* The one address that the route allows; NULL with *ret_any: any of the view. */
static const char *only_address(struct matcher *m, const struct job_seen *j, const struct firing *f,
                                const struct group_view *v, int shard, bool *ret_any)
{
    int i = -1;
    switch (f->route) {
    case ROUTE_FIRST:
    case ROUTE_LAST:
    case ROUTE_CONSISTENT_HASH:
        i = router_pick(m->router, f->route, j->id, v, 0);
        break;
    case ROUTE_BROADCAST:
        i = v && shard >= 0 && shard < v->n ? shard : v && v->n ? 0 : -1;
        break;
    default:
        *ret_any = true;
        return NULL;
    }
    return i >= 0 ? v->addresses[i] : NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void judge_address(struct matcher *m, const struct job_seen *j, const struct firing *f,
                          const struct row *r, int shard)
{
    const char *wanted = NULL;
    for (int i = 0; i < 2; i++) {
        bool any = false;
        wanted = only_address(m, j, f, f->views[i], shard, &any);
        if (any ? !r->address || in_view(f->views[i], r->address) : same_text(wanted, r->address))
            return;
    }
    find(m, DIFFERENCE_EXECUTOR, j->id, f, r, shard, wanted);
}

static void take(struct matcher *m, struct job_seen *j, const struct firing *f, struct row *r,
                 int shard)
{
    r->taken = true;
    if (r->kind == MATCH_MISFIRE)
        m->counts.misfires++;
    if (f->second > j->last_s[0]) {
        j->last_s[1] = j->last_s[0];
        j->last_s[0] = f->second;
    }
    if (f->optional)
        return;
    if (r->second > f->second + 1)
        find(m, DIFFERENCE_LATE, j->id, f, r, shard, NULL);
    else if (r->second < f->second)
        find(m, DIFFERENCE_EARLY, j->id, f, r, shard, NULL);
    if (r->told && r->second <= f->second + 1)
        judge_address(m, j, f, r, shard);
}

/* Any row of a broadcast's firing. */
static struct row *row_of_broadcast(const struct matcher *m, const struct job_seen *j,
                                    const struct firing *f)
{
    bool empty = (!f->views[0] || !f->views[0]->n) && (!f->views[1] || !f->views[1]->n);
    struct row *r = row_in(j, f->second, -1);
    return r ? r : row_for(m, j, f, empty ? -1 : 0);
}

/* The rows of a broadcast: as many as one of them says. */
static void judge_shards(struct matcher *m, struct job_seen *j, const struct firing *f, int shards)
{
    for (int i = 0; i < shards; i++) {
        struct row *r = row_for(m, j, f, i);
        if (r)
            take(m, j, f, r, i);
        else if (!f->optional)
            find(m, DIFFERENCE_MISSING, j->id, f, NULL, i, NULL);
    }
}

static void judge_firing(struct matcher *m, struct job_seen *j, struct firing *f)
{
    bool broadcast = f->route == ROUTE_BROADCAST;
    struct row *r = broadcast ? row_of_broadcast(m, j, f) : row_for(m, j, f, -1);
    if (r && broadcast && r->shards > 0)
        judge_shards(m, j, f, r->shards);
    else if (r)
        take(m, j, f, r, -1);
    else if (!f->optional)
        find(m, DIFFERENCE_MISSING, j->id, f, NULL, -1, NULL);
    m->counts.firings += !f->optional;
    m->counts.matched += !f->optional && r;
    m->counts.optional += f->optional;
}

/* Is it so soon after a firing with a row that it is a second one for it? */
static bool doubles(const struct job_seen *j, const struct row *r)
{
    int64_t of = j->last_s[0] > r->second ? j->last_s[1] : j->last_s[0];
    return of != INT64_MIN && of <= r->second && r->second - of <= DOUBLED_S;
}

static void judge_row(struct matcher *m, const struct job_seen *j, const struct row *r)
{
    int shard = r->shards > 0 ? r->shard : -1;
    if (r->taken)
        return;
    if (r->kind == MATCH_OTHER)
        m->counts.others++;
    else if (r->loose)
        m->counts.loose++;
    else if (r->kind == MATCH_MISFIRE)
        m->counts.misfires++;
    else if (r->kind == MATCH_UNKNOWN)
        m->counts.unread++;
    else
        find(m, doubles(j, r) ? DIFFERENCE_DOUBLED : DIFFERENCE_UNEXPECTED, j->id, NULL, r, shard,
             NULL);
}

static void judge_rows(struct matcher *m, struct job_seen *j, int64_t until_s)
{
    list_each(&j->rows, n, tmp)
    {
        struct row *r = container_of(n, struct row, node);
        if (r->second > until_s)
            break;
        judge_row(m, j, r);
        list_remove(&r->node);
        row_free(r);
    }
}

static void close_job(struct matcher *m, struct job_seen *j, int64_t until_ms)
{
    list_each(&j->firings, n, tmp)
    {
        struct firing *f = container_of(n, struct firing, node);
        if (f->scheduled_ms > until_ms)
            break;
        judge_rows(m, j, f->second - ROW_SLACK_S);
        judge_firing(m, j, f);
        list_remove(&f->node);
        firing_free(f);
    }
    judge_rows(m, j, m->closed_s);
}

void matcher_close(struct matcher *m, int64_t now_ms)
{
    int64_t until_ms = now_ms - m->grace_ms;
    if (second_of(until_ms) - ROW_SLACK_S > m->closed_s)
        m->closed_s = second_of(until_ms) - ROW_SLACK_S;
    void *value;
    for (size_t i = 0; map_next(&m->jobs, &i, &value);)
        close_job(m, value, until_ms);
}

const struct match_counts *matcher_counts(const struct matcher *m)
{
    return &m->counts;
}
