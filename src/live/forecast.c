/* SPDX-License-Identifier: Apache-2.0 */
/* A pass reads all scheduled jobs and adds up the minutes of each in a window of its own, by group;
 * at its end that window takes the place of the one that is shown. The first pass adds to the one
 * that is shown. An edit subtracts what the job had and adds what it has, in both windows if the
 * pass has met the job. Seconds are not kept: those of the fullest minutes are found by a walk over
 * the jobs when somebody asks, once for each schedule. */
#include "live/forecast.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/thread.h"
#include "cron/minutes.h"
#include "server/center.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_US 2000
#define AGAIN_MS 600000  /* from the end of a pass to the next */
#define BROKEN_MS 5000   /* the same after one that could not read */
#define ROWS 200         /* of one read */
#define CHANGED_MAX 1000 /* edits that wait; more of them ask for a new pass */
#define WINDOW (FORECAST_MINUTES + 30)
#define FULLEST 10 /* minutes whose seconds are looked at */

/* A schedule that jobs have. What an asker needs of it is computed once an answer. */
struct shared {
    struct schedule s;
    int uses;
    uint64_t masks[FULLEST]; /* seconds of each of the fullest minutes; or which times fire */
    bool any;
    char key[]; /* in forecast.schedules */
};

struct counted_job { /* a job that is scheduled */
    int64_t id, group_id, first_ms;
    struct shared *shared;
    uint32_t pass; /* the last that has met it */
};

struct window {
    int64_t base_ms;
    struct map groups; /* id -> int32_t[WINDOW] */
};

struct forecast {
    struct center *center;
    pthread_t thread;
    pthread_mutex_t news; /* the next four; held for a moment: the web loop takes it */
    pthread_cond_t wake;  /* one of them has changed */
    bool stopping, again;
    int64_t changed[CHANGED_MAX];
    int nchanged;
    pthread_mutex_t lock;     /* what follows; held for walks */
    struct map jobs;          /* id -> struct counted_job */
    struct textmap schedules; /* key -> struct shared */
    struct window shown, next;
    bool first; /* the first pass goes on: it adds to what is shown */
    int64_t computed_ms;
    uint32_t pass;
    int64_t last_id;            /* the pass has met the jobs up to here */
    uint64_t changes;           /* of what is shown */
    struct forecast_view *kept; /* the last answer about everything; NULL: none yet */
    uint64_t kept_changes;
    int kept_minutes;
    /* the thread's own */
    struct store *db;
};

/* ---- windows -----------------------------------------------------------------------------------
 */

static void window_begin(struct window *w, int64_t now_ms)
{
    w->base_ms = now_ms - now_ms % MINUTE_MS;
    map_init(&w->groups);
}

static void window_done(struct window *w)
{
    void *counts;
    for (size_t i = 0; map_next(&w->groups, &i, &counts);)
        free(counts);
    map_done(&w->groups);
}

static void window_add(struct window *w, const struct counted_job *p, int sign)
{
    int32_t *counts = map_find(&w->groups, (uint64_t)p->group_id);
    if (!counts) {
        counts = mem_new(WINDOW * sizeof(*counts));
        map_set(&w->groups, (uint64_t)p->group_id, counts);
    }
    schedule_minutes(&p->shared->s, p->first_ms, w->base_ms, sign, counts, WINDOW);
}

/* ---- jobs; locked ------------------------------------------------------------------------------
 */

static void shared_let_go(struct forecast *f, struct shared *s)
{
    if (--s->uses > 0)
        return;
    textmap_take(&f->schedules, slice_text(s->key));
    schedule_done(&s->s);
    free(s);
}

static bool in_next(const struct forecast *f, const struct counted_job *p)
{
    return !f->first && p->pass == f->pass;
}

static void add_everywhere(struct forecast *f, const struct counted_job *p, int sign)
{
    window_add(&f->shown, p, sign);
    if (in_next(f, p))
        window_add(&f->next, p, sign);
}

static void forget(struct forecast *f, struct counted_job *p)
{
    map_take(&f->jobs, (uint64_t)p->id);
    shared_let_go(f, p->shared);
    free(p);
}

static bool is_rate(const struct schedule *s)
{
    return s->type == SCHEDULE_FIX_RATE || s->type == SCHEDULE_FIX_DELAY;
}

static bool same(const struct counted_job *a, const struct counted_job *b)
{
    return a->shared == b->shared && a->group_id == b->group_id &&
           (!is_rate(&a->shared->s) || a->first_ms == b->first_ms);
}

/* The job as it is now; its schedule is taken, NULL: it is not scheduled. */
static void put(struct forecast *f, const struct counted_job *now, bool in_pass)
{
    struct counted_job *p = map_find(&f->jobs, (uint64_t)now->id);
    bool met = in_pass || now->id <= f->last_id;
    if (p && now->shared && same(p, now)) {
        shared_let_go(f, now->shared); /* p has it too */
        if (met && !f->first && p->pass != f->pass)
            window_add(&f->next, p, 1);
        if (met)
            p->pass = f->pass;
        return;
    }
    if (p) {
        add_everywhere(f, p, -1);
        forget(f, p);
        f->changes++;
    }
    if (!now->shared)
        return;
    p = mem_new(sizeof(*p));
    *p = *now;
    p->pass = met ? f->pass : 0;
    map_set(&f->jobs, (uint64_t)p->id, p);
    add_everywhere(f, p, 1);
    f->changes++;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

struct rows {
    struct forecast *f;
    struct counted_job items[ROWS];
    int n;
    int64_t last_id; /* of all rows, those that are not kept too */
};

static struct zone *zone_of(struct forecast *f, const struct job_record *r)
{
    struct zone *zone = NULL;
    const char *name = r->zone && r->zone[0] ? r->zone : center_zone_name(f->center);
    return zones_get(center_zones(f->center), name, &zone, NULL) ? NULL : zone;
}

static struct shared *shared_new(struct forecast *f, const struct job_record *r, struct zone *zone,
                                 const char *key)
{
    struct schedule s;
    enum dst_policy dst = DST_XXL;
    size_t n = strlen(key) + 1;
    (void)dst_policy_find(slice_text(r->dst), &dst);
    if (schedule_parse(slice_text(r->schedule_type), slice_text(r->schedule_conf), zone, dst,
                       center_last_year(f->center), &s, NULL))
        return NULL;
    struct shared *x = mem_new(sizeof(*x) + n);
    x->s = s;
    memcpy(x->key, key, n);
    textmap_set(&f->schedules, slice_text(x->key), x);
    return x;
}

/* The schedule of a job, counted; NULL: there is none. A zone that was read anew makes another. */
static struct shared *shared_of(struct forecast *f, const struct job_record *r)
{
    char key[SCHEDULE_CONF_MAX + 128];
    struct zone *zone = r->enabled ? zone_of(f, r) : NULL;
    if (!zone)
        return NULL;
    snprintf(key, sizeof(key), "%s %s %p %s", r->schedule_type ? r->schedule_type : "",
             r->dst ? r->dst : "", (void *)zone, r->schedule_conf ? r->schedule_conf : "");
    pthread_mutex_lock(&f->lock);
    struct shared *x = textmap_find(&f->schedules, slice_text(key));
    if (!x)
        x = shared_new(f, r, zone, key);
    if (x)
        x->uses++;
    pthread_mutex_unlock(&f->lock);
    zone_unref(zone);
    return x;
}

static struct counted_job counted_job_of(struct forecast *f, const struct job_record *r)
{
    struct counted_job p = { .id = r->id, .group_id = r->group_id, .shared = shared_of(f, r) };
    bool told = r->next_ms > 0 && r->next_ms != NEVER_MS;
    if (p.shared && is_rate(&p.shared->s)) /* while a run with a fixed delay is out, from now on */
        p.first_ms = told ? r->next_ms : clock_wall_ms() + p.shared->s.interval_ms;
    return p;
}

static bool take_row(void *ctx, const struct job_record *r)
{
    struct rows *rows = ctx;
    rows->last_id = r->id;
    rows->items[rows->n++] = counted_job_of(rows->f, r);
    return rows->n < ROWS;
}

/* ---- the thread --------------------------------------------------------------------------------
 */

static void rest(struct forecast *f, int64_t ms)
{
    struct timespec until = clock_after_ms(ms);
    pthread_mutex_lock(&f->news);
    if (!f->stopping)
        pthread_cond_timedwait(&f->wake, &f->news, &until);
    pthread_mutex_unlock(&f->news);
}

static void put_one(struct forecast *f, const struct counted_job *p, bool in_pass)
{
    pthread_mutex_lock(&f->lock);
    put(f, p, in_pass);
    pthread_mutex_unlock(&f->lock);
}

/* What was edited since the last look. */
static void follow_edits(struct forecast *f)
{
    int64_t ids[CHANGED_MAX];
    pthread_mutex_lock(&f->news);
    int n = f->nchanged;
    memcpy(ids, f->changed, (size_t)n * sizeof(ids[0]));
    f->nchanged = 0;
    pthread_mutex_unlock(&f->news);
    for (int i = 0; i < n; i++) {
        struct job_record r;
        struct counted_job p = { .id = ids[i] };
        enum err err = f->db->ops->catalog->job_get(f->db, ids[i], &r, NULL);
        if (!err) {
            p = counted_job_of(f, &r);
            job_record_done(&r);
        }
        if (!err || err == ERR_NOTFOUND)
            put_one(f, &p, false);
    }
}

static enum err read_rows(struct forecast *f, int64_t after_id, struct rows *ret)
{
    struct jobs_key after = { .id = after_id };
    const struct jobs_filter filter = {
        .status = 1, .order = JOBS_OLDEST, .after = &after, .limit = ROWS, .count_max = 1
    };
    int64_t total;
    ret->f = f;
    ret->n = 0;
    return f->db->ops->pages->jobs_page(f->db, &filter, take_row, ret, &total, NULL);
}

static bool is_stopping(struct forecast *f)
{
    pthread_mutex_lock(&f->news);
    bool stopping = f->stopping;
    pthread_mutex_unlock(&f->news);
    return stopping;
}

/* One read, put in by slices. *ret_more: rows may follow. */
static enum err pass_step(struct forecast *f, bool *ret_more)
{
    struct rows rows;
    int64_t begun_us = clock_boot_us();
    follow_edits(f);
    enum err err = read_rows(f, f->last_id, &rows);
    for (int i = 0; i < rows.n; i++) {
        put_one(f, &rows.items[i], true);
        int64_t took_us = clock_boot_us() - begun_us;
        if (took_us < SLICE_US && i + 1 < rows.n)
            continue;
        rest(f, took_us / 1000 + 1);
        begun_us = clock_boot_us();
    }
    pthread_mutex_lock(&f->lock);
    if (rows.n)
        f->last_id = rows.last_id;
    pthread_mutex_unlock(&f->lock);
    if (is_stopping(f))
        err = ERR_STOPPING;
    *ret_more = rows.n == ROWS;
    return err;
}

static void pass_begin(struct forecast *f)
{
    pthread_mutex_lock(&f->news);
    f->again = false;
    pthread_mutex_unlock(&f->news);
    pthread_mutex_lock(&f->lock);
    f->pass++;
    f->last_id = 0;
    if (!f->first)
        window_begin(&f->next, clock_wall_ms());
    pthread_mutex_unlock(&f->lock);
}

/* Jobs that the pass has not met are gone. */
static void drop_unmet(struct forecast *f)
{
    size_t n = 0;
    void *value;
    struct counted_job **gone = mem_new((f->jobs.len + 1) * sizeof(struct counted_job *));
    for (size_t i = 0; map_next(&f->jobs, &i, &value);)
        if (((struct counted_job *)value)->pass != f->pass)
            gone[n++] = value;
    for (size_t i = 0; i < n; i++)
        forget(f, gone[i]);
    free(gone);
}

static void show_next(struct forecast *f)
{
    drop_unmet(f);
    if (!f->first) {
        window_done(&f->shown);
        f->shown = f->next;
    }
    f->first = false;
    f->computed_ms = clock_wall_ms();
    f->changes++;
}

/* Of a pass that was broken off nothing is shown, unless it was the first. */
static void pass_end(struct forecast *f, enum err err)
{
    pthread_mutex_lock(&f->lock);
    if (!err)
        show_next(f);
    else if (!f->first)
        window_done(&f->next);
    f->last_id = 0; /* no pass goes on: only what is shown follows edits */
    f->pass++;
    pthread_mutex_unlock(&f->lock);
}

static enum err pass(struct forecast *f)
{
    bool more = true;
    enum err err = OK;
    pass_begin(f);
    while (!err && more)
        err = pass_step(f, &more);
    pass_end(f, err);
    return err;
}

/* Until the next pass is due or asked for. False: the center stops. */
static bool wait_for_pass(struct forecast *f, int64_t wait_ms)
{
    int64_t end_ms = clock_boot_ms() + wait_ms, left_ms;
    pthread_mutex_lock(&f->news);
    while (!f->stopping && !f->again && (left_ms = end_ms - clock_boot_ms()) > 0) {
        struct timespec until = clock_after_ms(left_ms);
        if (!f->nchanged) {
            pthread_cond_timedwait(&f->wake, &f->news, &until);
            continue;
        }
        pthread_mutex_unlock(&f->news);
        follow_edits(f);
        pthread_mutex_lock(&f->news);
    }
    bool goes_on = !f->stopping;
    pthread_mutex_unlock(&f->news);
    return goes_on;
}

static void *forecast_main(void *arg)
{
    struct forecast *f = arg;
    while (wait_for_pass(f, pass(f) ? BROKEN_MS : AGAIN_MS))
        ;
    return NULL;
}

/* ---- whole -------------------------------------------------------------------------------------
 */

enum err forecast_new(struct center *c, struct forecast **ret, struct why *why)
{
    struct forecast *f = mem_new(sizeof(*f));
    enum err err = center_reader(c, &f->db, why);
    if (err) {
        free(f);
        return err;
    }
    f->center = c;
    f->first = true;
    f->computed_ms = clock_wall_ms();
    map_init(&f->jobs);
    textmap_init(&f->schedules);
    window_begin(&f->shown, f->computed_ms);
    pthread_mutex_init(&f->news, NULL);
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&f->wake, &attr);
    pthread_condattr_destroy(&attr);
    if (thread_start(&f->thread, "peal-forecast", 0, forecast_main, f))
        abort(); /* at start, with nothing done yet */
    *ret = f;
    return OK;
}

void forecast_free(struct forecast *f)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->news);
    f->stopping = true;
    pthread_cond_broadcast(&f->wake);
    pthread_mutex_unlock(&f->news);
    pthread_join(f->thread, NULL);
    void *job;
    for (size_t i = 0; (job = map_any(&f->jobs, &i));)
        forget(f, job);
    map_done(&f->jobs);
    textmap_done(&f->schedules);
    window_done(&f->shown);
    free(f->kept);
    store_close(f->db);
    pthread_cond_destroy(&f->wake);
    pthread_mutex_destroy(&f->news);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

void forecast_changed(struct forecast *f, int64_t job_id)
{
    pthread_mutex_lock(&f->news);
    if (f->nchanged < CHANGED_MAX)
        f->changed[f->nchanged++] = job_id;
    else
        f->again = true;
    pthread_cond_broadcast(&f->wake);
    pthread_mutex_unlock(&f->news);
}

/* ---- answers; locked ---------------------------------------------------------------------------
 */

static void sum(const struct forecast *f, const struct scope *scope, const struct scope *only,
                int minutes, struct forecast_view *v)
{
    int64_t skip = (v->from_ms - f->shown.base_ms) / MINUTE_MS;
    const struct map *groups = &f->shown.groups;
    for (size_t g = 0; g < groups->cap; g++) {
        const int32_t *counts = groups->slots[g].value;
        int64_t id = (int64_t)groups->slots[g].key;
        if (!counts || !scope_has(scope, id) || !scope_has(only, id))
            continue;
        for (int i = 0; i < minutes && skip + i < WINDOW; i++)
            v->counts[i] += counts[skip + i];
    }
}

struct fullest { /* minutes */
    int64_t at_ms[FULLEST];
    int64_t counts[FULLEST][60]; /* of their seconds */
    int n;
};

static void find_fullest(const struct forecast_view *v, int minutes, struct fullest *ret)
{
    int best[FULLEST], n = 0;
    for (int i = 0; i < minutes; i++) {
        int at = n;
        if (v->counts[i] < 2)
            continue;
        while (at > 0 && v->counts[best[at - 1]] < v->counts[i])
            at--;
        if (at == FULLEST)
            continue;
        n += n < FULLEST;
        memmove(&best[at + 1], &best[at], (size_t)(n - at - 1) * sizeof(best[0]));
        best[at] = i;
    }
    ret->n = n;
    for (int k = 0; k < n; k++)
        ret->at_ms[k] = v->from_ms + best[k] * MINUTE_MS;
}

static void find_masks(struct forecast *f, const struct fullest *in)
{
    void *value;
    for (size_t i = 0; textmap_next(&f->schedules, &i, &value);) {
        struct shared *x = value;
        x->any = is_rate(&x->s);
        for (int k = 0; k < in->n && !is_rate(&x->s); k++) {
            x->masks[k] = schedule_seconds(&x->s, 0, in->at_ms[k]);
            x->any = x->any || x->masks[k];
        }
    }
}

static uint64_t mask_of(const struct counted_job *p, const struct fullest *in, int k)
{
    if (is_rate(&p->shared->s))
        return schedule_seconds(&p->shared->s, p->first_ms, in->at_ms[k]);
    return p->shared->masks[k];
}

typedef void second_fn(void *ctx, const struct counted_job *p, int k, int second);

/* Each job in both scopes with each second of the fullest minutes in which it fires. */
static void each_second(struct forecast *f, const struct scope *scope, const struct scope *only,
                        const struct fullest *in, second_fn *fn, void *ctx)
{
    void *value;
    for (size_t i = 0; map_next(&f->jobs, &i, &value);) {
        const struct counted_job *p = value;
        if (!p->shared->any || !scope_has(scope, p->group_id) || !scope_has(only, p->group_id))
            continue;
        for (int k = 0; k < in->n; k++)
            for (uint64_t bits = mask_of(p, in, k); bits; bits &= bits - 1)
                fn(ctx, p, k, __builtin_ctzll(bits));
    }
}

static void count_second(void *ctx, const struct counted_job *p, int k, int second)
{
    (void)p;
    ((struct fullest *)ctx)->counts[k][second]++;
}

static bool fuller(const struct forecast_peak *a, const struct forecast_peak *b)
{
    return a->count != b->count ? a->count > b->count : a->at_ms < b->at_ms;
}

static void find_peaks(const struct fullest *in, struct forecast_view *v)
{
    for (int k = 0; k < in->n; k++)
        for (int second = 0; second < 60; second++) {
            struct forecast_peak one = {
                in->at_ms[k] + second * 1000, in->counts[k][second], { 0 }, 0
            };
            int at = v->npeaks;
            while (at > 0 && fuller(&one, &v->peaks[at - 1]))
                at--;
            if (one.count < 2 || at == FORECAST_PEAKS)
                continue;
            v->npeaks += v->npeaks < FORECAST_PEAKS;
            memmove(&v->peaks[at + 1], &v->peaks[at],
                    (size_t)(v->npeaks - at - 1) * sizeof(v->peaks[0]));
            v->peaks[at] = one;
        }
}

struct naming {
    const struct fullest *in;
    struct forecast_view *v;
};

static void name_job(void *ctx, const struct counted_job *p, int k, int second)
{
    struct naming *n = ctx;
    int64_t at_ms = n->in->at_ms[k] + second * 1000;
    for (int i = 0; i < n->v->npeaks; i++) {
        struct forecast_peak *peak = &n->v->peaks[i];
        if (peak->at_ms != at_ms)
            continue;
        int at = peak->njobs;
        while (at > 0 && peak->jobs[at - 1] > p->id)
            at--;
        if (at == FORECAST_PEAK_JOBS)
            continue;
        peak->njobs += peak->njobs < FORECAST_PEAK_JOBS;
        memmove(&peak->jobs[at + 1], &peak->jobs[at],
                (size_t)(peak->njobs - at - 1) * sizeof(peak->jobs[0]));
        peak->jobs[at] = p->id;
    }
}

static void look(struct forecast *f, const struct scope *scope, const struct scope *only,
                 int64_t from_ms, int minutes, struct forecast_view *ret)
{
    struct fullest in = { .n = 0 };
    struct naming naming = { &in, ret };
    memset(ret, 0, sizeof(*ret));
    ret->from_ms = from_ms;
    ret->computed_ms = f->computed_ms;
    ret->partial = f->first;
    sum(f, scope, only, minutes, ret);
    find_fullest(ret, minutes, &in);
    find_masks(f, &in);
    each_second(f, scope, only, &in, count_second, &in);
    find_peaks(&in, ret);
    each_second(f, scope, only, &in, name_job, &naming);
}

/* Those who see everything ask for the same, most of the time. */
static void look_kept(struct forecast *f, const struct scope *all, int64_t from_ms, int minutes,
                      struct forecast_view *ret)
{
    if (!f->kept)
        f->kept = mem_new(sizeof(*f->kept));
    if (f->kept_changes != f->changes || f->kept->from_ms != from_ms || f->kept_minutes != minutes)
        look(f, all, all, from_ms, minutes, f->kept);
    f->kept_changes = f->changes;
    f->kept_minutes = minutes;
    *ret = *f->kept;
}

void forecast_look(struct forecast *f, const struct scope *scope, const struct scope *only,
                   int64_t now_ms, int minutes, struct forecast_view *ret)
{
    static const struct scope all = { .all = true };
    int64_t from_ms = now_ms - now_ms % MINUTE_MS;
    pthread_mutex_lock(&f->lock);
    if (from_ms < f->shown.base_ms)
        from_ms = f->shown.base_ms;
    if (scope_is_all(scope) && scope_is_all(only))
        look_kept(f, &all, from_ms, minutes, ret);
    else
        look(f, scope, only ? only : &all, from_ms, minutes, ret);
    pthread_mutex_unlock(&f->lock);
}

/* Bit i: it fires in the second of times_ms[i]. */
static uint64_t times_of(const struct shared *x, int64_t first_ms, const int64_t *times_ms, int n)
{
    uint64_t found = 0;
    for (int i = 0; i < n; i++) {
        int64_t minute_ms = times_ms[i] - times_ms[i] % MINUTE_MS;
        uint64_t seconds = schedule_seconds(&x->s, first_ms, minute_ms);
        found |= (seconds >> ((times_ms[i] - minute_ms) / 1000) & 1) << i;
    }
    return found;
}

bool forecast_crowd(struct forecast *f, const struct scope *scope, int64_t but_job,
                    const int64_t *times_ms, int n, int64_t *ret_counts)
{
    void *value;
    memset(ret_counts, 0, (size_t)n * sizeof(ret_counts[0]));
    pthread_mutex_lock(&f->lock);
    bool known = !f->first;
    for (size_t i = 0; known && textmap_next(&f->schedules, &i, &value);) {
        struct shared *x = value;
        x->masks[0] = is_rate(&x->s) ? 0 : times_of(x, 0, times_ms, n);
    }
    for (size_t i = 0; known && map_next(&f->jobs, &i, &value);) {
        const struct counted_job *p = value;
        if (p->id == but_job || !scope_has(scope, p->group_id))
            continue;
        uint64_t bits = is_rate(&p->shared->s) ? times_of(p->shared, p->first_ms, times_ms, n)
                                               : p->shared->masks[0];
        for (; bits; bits &= bits - 1)
            ret_counts[__builtin_ctzll(bits)]++;
    }
    pthread_mutex_unlock(&f->lock);
    return known;
}
