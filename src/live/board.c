/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - one lock over all of it: the web loop's thread writes, a message at a time, and workers
 * read for a millisecond or so.
 *
 * It begins when the feed begins: open runs are known at once, and what the figures have is loaded
 * by a thread of its own, as of one commit. Ends that are told meanwhile wait, and count if their
 * commit lies behind that one. */
#include "live/board.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "ledger/figures.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WEEK_MS (INT64_C(7) * 86400000)
#define QUARTERS_MS                                                                                \
    (INT64_C(180) * 3600000) /* figures have quarters for 8 days, before that hours */
#define LOOK_MS 10000        /* between two looks at open runs */
#define CAUSES_MAX 10000     /* failing jobs whose last run is read at the beginning */
#define WAITING_MAX 500000   /* ends that wait for the figures */
#define RETRY_MS 200
#define MINUTES 60
#define SECONDS 64      /* more than planning runs ahead */
#define NEXT_LOOKS 2000 /* planned runs that one answer looks at */

struct open_run {
    struct list_node planned; /* while it is */
    int64_t job_id, group_id, scheduled_ms, sent_ms;
    int64_t stuck_ms; /* open for longer, it is stuck; 0: not looked at; -1: not known */
    int64_t late_ms;  /* when it was sent, if that was late; else 0 */
    uint8_t phase;
    bool stuck;
};

struct lates { /* runs that were sent late, by the minute; of an hour */
    struct {
        int64_t minute, n;
    } items[MINUTES + 1];
};

struct board_group {
    int64_t id; /* of the whole 0 */
    struct slots slots;
    struct lates late, late_open; /* all that are known; those that are open here */
    int64_t stuck, unknown;
};

struct waiting_end {
    struct run_end end;
    int64_t ended_ms, no, node; /* node 0: this server's */
    struct failure failure;     /* texts owned */
};

struct board {
    struct feed *feed;
    struct loop *web;
    struct figures *figures;
    struct feed_reader reading;
    struct loop_timer look;

    pthread_mutex_t lock; /* for all below */
    pthread_cond_t changed;
    bool loaded, wanted, stopping;
    int64_t no;          /* ends through that commit came from the figures */
    struct map others;   /* the same of other servers: struct figures_node by node */
    uint64_t beginnings; /* to tell an outdated load */
    struct failing failing;
    struct board_group whole;
    struct map groups; /* board_group by id */
    struct map open;   /* open_run by log id: planned, or out */
    struct list
        planned[SECONDS]; /* by the second of the scheduled time, what the schedule asked for */
    struct waiting_end *waiting;
    size_t nwaiting, cwaiting;
    struct feed_edit *edits; /* that wait, too */
    size_t nedits, cedits;

    /* the loader's own */
    struct store *reader;
    pthread_t loader;
    bool started;
};

/* ---- groups ---------------------------------------------------------------------------------- */

static struct board_group *group_of(struct board *b, int64_t id)
{
    struct board_group *g = map_find(&b->groups, (uint64_t)id);
    if (!g) {
        g = mem_new(sizeof(*g));
        g->id = id;
        map_set(&b->groups, (uint64_t)id, g);
    }
    return g;
}

/* The whole, and the group if there is one. */
static int counted_in(struct board *b, int64_t group_id, struct board_group *ret[2])
{
    ret[0] = &b->whole;
    if (group_id > 0)
        ret[1] = group_of(b, group_id);
    return group_id > 0 ? 2 : 1;
}

static void late_add(struct lates *l, int64_t at_ms)
{
    int64_t minute = at_ms / 60000;
    int i = (int)((uint64_t)minute % (MINUTES + 1));
    if (l->items[i].minute != minute) {
        l->items[i].minute = minute;
        l->items[i].n = 0;
    }
    l->items[i].n++;
}

/* One that was added with that time. */
static void late_take(struct lates *l, int64_t at_ms)
{
    int i = (int)((uint64_t)(at_ms / 60000) % (MINUTES + 1));
    if (l->items[i].minute == at_ms / 60000)
        l->items[i].n--;
}

static int64_t late_count(const struct lates *l, int64_t now_ms)
{
    int64_t n = 0;
    for (int i = 0; i <= MINUTES; i++)
        if (l->items[i].minute > now_ms / 60000 - MINUTES)
            n += l->items[i].n;
    return n;
}

/* ---- open runs ------------------------------------------------------------------------------- */

static void count_open(struct board *b, const struct open_run *r, int by)
{
    struct board_group *in[2];
    bool unknown = r->phase == PHASE_UNKNOWN;
    if (!unknown && !r->stuck)
        return;
    for (int i = counted_in(b, r->group_id, in) - 1; i >= 0; i--) {
        in[i]->unknown += unknown ? by : 0;
        in[i]->stuck += r->stuck ? by : 0;
    }
}

/* late_ms 0: not late, or not any more. */
static void open_late(struct board *b, struct open_run *r, int64_t late_ms)
{
    struct board_group *in[2];
    for (int i = counted_in(b, r->group_id, in) - 1; i >= 0; i--) {
        if (r->late_ms)
            late_take(&in[i]->late_open, r->late_ms);
        if (late_ms)
            late_add(&in[i]->late_open, late_ms);
    }
    r->late_ms = late_ms;
}

static void open_free(struct board *b, struct open_run *r)
{
    count_open(b, r, -1);
    if (r->late_ms)
        open_late(b, r, 0);
    list_remove(&r->planned);
    free(r);
}

static void open_drop(struct board *b, int64_t log_id)
{
    struct open_run *r = map_take(&b->open, (uint64_t)log_id);
    if (r)
        open_free(b, r);
}

static void open_drop_all(struct board *b)
{
    void *r;
    for (size_t i = 0; map_next(&b->open, &i, &r);)
        open_free(b, r);
    map_done(&b->open);
}

static void sent(struct board *b, struct open_run *r, const struct run_seen *s)
{
    struct board_group *in[2];
    if (s->at_ms - s->due_ms <= BOARD_LATE_MS)
        return;
    for (int i = counted_in(b, s->group_id, in) - 1; i >= 0; i--)
        late_add(&in[i]->late, s->at_ms);
    open_late(b, r, s->at_ms);
}

static void plan(struct board *b, struct open_run *r, const struct run_seen *s)
{
    bool of_schedule = s->kind == KIND_CRON || s->kind == KIND_MISFIRE;
    list_remove(&r->planned);
    if (s->phase == PHASE_PLANNED && of_schedule && s->scheduled_ms >= 0)
        list_push(&b->planned[s->scheduled_ms / 1000 % SECONDS], &r->planned);
}

static struct open_run *run_seen(struct board *b, const struct run_seen *s)
{
    struct open_run *r = map_find(&b->open, (uint64_t)s->log_id);
    if (!r) {
        r = mem_new(sizeof(*r));
        r->job_id = s->job_id;
        r->group_id = s->group_id;
        r->scheduled_ms = s->scheduled_ms;
        map_set(&b->open, (uint64_t)s->log_id, r);
    }
    count_open(b, r, -1);
    if (s->phase == PHASE_SENT || !r->sent_ms)
        r->sent_ms = s->at_ms;
    r->phase = s->phase;
    plan(b, r, s);
    count_open(b, r, 1);
    return r;
}

/* ---- ends ------------------------------------------------------------------------------------ */

static bool is_failure(enum outcome o)
{
    return o > OUTCOME_SUCCEEDED && !outcome_never_ran(o);
}

static void count_slots(struct board *b, const struct run_end *e)
{
    struct board_group *in[2];
    int64_t succeeded = e->now == OUTCOME_SUCCEEDED;
    int64_t failed = is_failure(e->now) - is_failure(e->was);
    for (int i = counted_in(b, e->group_id, in) - 1; i >= 0; i--)
        slots_add(&in[i]->slots, e->log_ms, succeeded, failed);
}

static void count_failing(struct board *b, const struct run_end *e, int64_t ended_ms,
                          const struct failure *failure)
{
    if (outcome_never_ran(e->now))
        return;
    if (!e->streak)
        failing_clear(&b->failing, e->job_id);
    if (!e->streak || e->was != OUTCOME_NONE || !is_failure(e->now)) /* older than the last one */
        return;
    const struct failing_now now = { .job_id = e->job_id,
                                     .group_id = e->group_id,
                                     .last_id = e->log_id,
                                     .since_ms = e->streak_was ? 0 : ended_ms,
                                     .streak = e->streak,
                                     .failure = failure };
    failing_set(&b->failing, &now, ended_ms);
}

static void count_end(struct board *b, const struct run_end *e, int64_t ended_ms,
                      const struct failure *failure)
{
    count_slots(b, e);
    count_failing(b, e, ended_ms, failure);
}

static void failure_keep(struct failure *to, const struct failure *f)
{
    *to = *f;
    to->trigger_msg = mem_dup(f->trigger_msg);
    to->handle_msg = mem_dup(f->handle_msg);
    to->address = mem_dup(f->address);
}

static void failure_drop(struct failure *f)
{
    free((char *)f->trigger_msg);
    free((char *)f->handle_msg);
    free((char *)f->address);
}

static void waiting_drop(struct board *b)
{
    for (size_t i = 0; i < b->nwaiting; i++)
        failure_drop(&b->waiting[i].failure);
    free(b->waiting);
    free(b->edits);
    b->waiting = NULL;
    b->edits = NULL;
    b->nwaiting = b->cwaiting = b->nedits = b->cedits = 0;
}

static void end_wait(struct board *b, int64_t node, const struct feed_end *e, int64_t no)
{
    if (b->nwaiting == b->cwaiting) {
        b->cwaiting = b->cwaiting ? 2 * b->cwaiting : 256;
        b->waiting = mem_resize(b->waiting, b->cwaiting * sizeof(*b->waiting));
    }
    struct waiting_end *w = &b->waiting[b->nwaiting++];
    *w = (struct waiting_end){ e->end, e->ended_ms, no, node, { 0 } };
    failure_keep(&w->failure, &e->failure);
}

/* ---- what the feed tells --------------------------------------------------------------------- */

static void on_begin(struct feed_reader *r, const struct run_seen *open, size_t n)
{
    struct board *b = container_of(r, struct board, reading);
    pthread_mutex_lock(&b->lock);
    open_drop_all(b);
    for (size_t i = 0; i < n; i++)
        (void)run_seen(b, &open[i]);
    waiting_drop(b);
    b->loaded = false;
    b->wanted = true;
    b->beginnings++;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static void on_runs(struct feed_reader *r, const struct run_seen *runs, size_t n)
{
    struct board *b = container_of(r, struct board, reading);
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < n; i++) {
        struct open_run *o = run_seen(b, &runs[i]);
        if (runs[i].phase == PHASE_SENT)
            sent(b, o, &runs[i]);
    }
    pthread_mutex_unlock(&b->lock);
}

/* Is the commit of that server (0: this one) behind those that came from the figures? */
static bool is_behind(const struct board *b, int64_t node, int64_t no)
{
    const struct figures_node *other = node ? map_find(&b->others, (uint64_t)node) : NULL;
    return no > (node ? other ? other->no : 0 : b->no);
}

/* What another server has sent late is known when it ends. */
static void late_elsewhere(struct board *b, const struct feed_end *e)
{
    struct board_group *in[2];
    if (e->end.was != OUTCOME_NONE || e->end.late_ms <= BOARD_LATE_MS)
        return;
    for (int i = counted_in(b, e->end.group_id, in) - 1; i >= 0; i--)
        late_add(&in[i]->late, e->ended_ms);
}

static void take_ends(struct board *b, int64_t node, const struct feed_end *ends, size_t n,
                      int64_t no)
{
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < n; i++) {
        open_drop(b, ends[i].end.log_id);
        if (node)
            late_elsewhere(b, &ends[i]);
        if (!b->loaded)
            end_wait(b, node, &ends[i], no);
        else if (is_behind(b, node, no))
            count_end(b, &ends[i].end, ends[i].ended_ms, &ends[i].failure);
    }
    bool many = b->nwaiting > WAITING_MAX;
    pthread_mutex_unlock(&b->lock);
    if (many)
        feed_again(b->feed);
}

static void on_ends(struct feed_reader *r, const struct feed_end *ends, size_t n, int64_t no)
{
    take_ends(container_of(r, struct board, reading), 0, ends, n, no);
}

static void on_others(struct feed_reader *r, int64_t node, const struct feed_end *ends, size_t n,
                      int64_t no)
{
    take_ends(container_of(r, struct board, reading), node, ends, n, no);
}

static void edited(struct board *b, const struct feed_edit *e)
{
    if (e->kind == EDIT_JOB_DELETE)
        failing_clear(&b->failing, e->id);
    else if (e->kind == EDIT_JOB_UPDATE)
        failing_move(&b->failing, e->id, e->group_id);
}

static void on_edits(struct feed_reader *r, const struct feed_edit *edits, size_t n)
{
    struct board *b = container_of(r, struct board, reading);
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < n; i++) {
        edited(b, &edits[i]);
        if (b->loaded)
            continue;
        if (b->nedits == b->cedits) {
            b->cedits = b->cedits ? 2 * b->cedits : 64;
            b->edits = mem_resize(b->edits, b->cedits * sizeof(*b->edits));
        }
        b->edits[b->nedits++] = edits[i];
    }
    pthread_mutex_unlock(&b->lock);
}

/* ---- runs that are open for long ------------------------------------------------------------- */

static int64_t stuck_ms(struct board *b, int64_t job_id)
{
    struct job_stat stat;
    return figures_job(b->figures, job_id, &stat) ? job_stat_stuck_ms(&stat) : -1;
}

static void look(struct board *b, struct open_run *r, int64_t now_ms)
{
    int64_t open_ms = now_ms - r->sent_ms;
    if (r->stuck || r->phase == PHASE_PLANNED || open_ms < STUCK_MIN_MS)
        return;
    if (!r->stuck_ms)
        r->stuck_ms = stuck_ms(b, r->job_id);
    if (r->stuck_ms < 0 || open_ms <= r->stuck_ms)
        return;
    count_open(b, r, -1);
    r->stuck = true;
    count_open(b, r, 1);
}

static void on_look(struct loop_timer *t)
{
    struct board *b = container_of(t, struct board, look);
    int64_t now_ms = clock_wall_ms();
    void *r;
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; map_next(&b->open, &i, &r);)
        look(b, r, now_ms);
    pthread_mutex_unlock(&b->lock);
    loop_timer_set(b->web, t, loop_now_ms(b->web) + LOOK_MS);
}

/* ---- the figures ----------------------------------------------------------------------------- */

struct fresh {
    struct failing failing;
    struct slots whole;
    struct map groups; /* slots by id */
    struct figures_copy copy;
    int64_t *ids; /* of failing jobs; one that is not there any more: 0 */
    int64_t *group_ids;
};

static bool fresh_slot(void *ctx, const struct figure_row *r)
{
    struct fresh *x = ctx;
    struct slots *to = &x->whole;
    if (r->group_id) {
        to = map_find(&x->groups, (uint64_t)r->group_id);
        if (!to) {
            to = mem_new(sizeof(*to));
            map_set(&x->groups, (uint64_t)r->group_id, to);
        }
    }
    slots_add(to, figure_slot_ms(r->slot), r->figure.counts[OUTCOME_SUCCEEDED],
              figure_failed(&r->figure));
    return true;
}

static bool fresh_job(void *ctx, const struct job_record *r)
{
    struct fresh *x = ctx;
    for (size_t low = 0, high = x->copy.nfailing; low < high;) {
        size_t middle = (low + high) / 2;
        if (x->ids[middle] == r->id)
            x->group_ids[middle] = r->group_id;
        if (x->ids[middle] < r->id)
            low = middle + 1;
        else
            high = middle;
    }
    return true;
}

static int by_job(const void *a, const void *b)
{
    int64_t x = ((const struct failing_job *)a)->job_id;
    int64_t y = ((const struct failing_job *)b)->job_id;
    return (x > y) - (x < y);
}

static void fresh_failing_job(struct board *b, struct fresh *x, size_t i)
{
    const struct failing_job *j = &x->copy.failing[i];
    struct log_record r = { .id = 0 };
    struct why why = { "" };
    bool known =
        i < CAUSES_MAX && b->reader->ops->pages->log_get(b->reader, j->last_id, &r, &why) == OK;
    const struct failure failure = { .trigger_code = r.trigger_code,
                                     .handle_code = r.handle_code,
                                     .trigger_msg = r.trigger_msg,
                                     .handle_msg = r.handle_msg,
                                     .address = r.address };
    const struct failing_now now = { .job_id = j->job_id,
                                     .group_id = x->group_ids[i],
                                     .last_id = j->last_id,
                                     .since_ms = j->since_ms,
                                     .streak = j->streak,
                                     .failure = known ? &failure : NULL };
    failing_set(&x->failing, &now, j->since_ms);
    log_record_done(&r);
}

static enum err fresh_failing(struct board *b, struct fresh *x, struct why *why)
{
    size_t n = x->copy.nfailing;
    if (n)
        qsort(x->copy.failing, n, sizeof(*x->copy.failing), by_job);
    x->ids = mem_new((n + 1) * sizeof(*x->ids));
    x->group_ids = mem_new((n + 1) * sizeof(*x->group_ids));
    for (size_t i = 0; i < n; i++)
        x->ids[i] = x->copy.failing[i].job_id;
    enum err err = OK;
    for (size_t i = 0; !err && i < n; i += 500) {
        size_t some = n - i < 500 ? n - i : 500;
        err =
            b->reader->ops->catalog->jobs_get(b->reader, x->ids + i, (int)some, fresh_job, x, why);
    }
    for (size_t i = 0; !err && i < n; i++)
        if (x->group_ids[i])
            fresh_failing_job(b, x, i);
    return err;
}

static void fresh_init(struct fresh *x)
{
    memset(x, 0, sizeof(*x));
    failing_init(&x->failing);
    map_init(&x->groups);
}

static void fresh_done(struct fresh *x)
{
    void *v;
    failing_done(&x->failing);
    for (size_t i = 0; map_next(&x->groups, &i, &v);)
        free(v);
    map_done(&x->groups);
    figures_copy_done(&x->copy);
    free(x->ids);
    free(x->group_ids);
}

static enum err fresh_load(struct board *b, struct fresh *x, struct why *why)
{
    int64_t now_ms = clock_wall_ms();
    figures_copy(b->figures, &x->copy);
    enum err err = figures_copy_slots(&x->copy, b->figures, b->reader, now_ms - 2 * WEEK_MS,
                                      now_ms - QUARTERS_MS, fresh_slot, x, why);
    return err ? err : fresh_failing(b, x, why);
}

static void others_drop(struct board *b)
{
    void *v;
    for (size_t i = 0; map_next(&b->others, &i, &v);)
        free(v);
    map_done(&b->others);
}

static void others_install(struct board *b, const struct fresh *x)
{
    others_drop(b);
    map_init(&b->others);
    for (size_t i = 0; i < x->copy.nothers; i++) {
        struct figures_node *n = mem_new(sizeof(*n));
        *n = x->copy.others[i];
        map_set(&b->others, (uint64_t)n->node, n);
    }
}

/* With the lock. */
static void install(struct board *b, struct fresh *x)
{
    void *v;
    const struct failing failing = b->failing;
    b->failing = x->failing;
    x->failing = failing;
    b->whole.slots = x->whole;
    for (size_t i = 0; map_next(&b->groups, &i, &v);)
        memset(&((struct board_group *)v)->slots, 0, sizeof(struct slots));
    for (size_t i = 0; i < x->groups.cap; i++)
        if (x->groups.slots[i].value)
            group_of(b, (int64_t)x->groups.slots[i].key)->slots =
                *(struct slots *)x->groups.slots[i].value;
    b->no = x->copy.no;
    others_install(b, x);
    for (size_t i = 0; i < b->nwaiting; i++) {
        const struct waiting_end *w = &b->waiting[i];
        if (is_behind(b, w->node, w->no))
            count_end(b, &w->end, w->ended_ms, &w->failure);
    }
    for (size_t i = 0; i < b->nedits; i++)
        edited(b, &b->edits[i]);
    waiting_drop(b);
    b->loaded = true;
    pthread_cond_broadcast(&b->changed);
}

/* Called with the lock, which it leaves meanwhile. False: to be tried again. */
static bool load(struct board *b)
{
    uint64_t beginning = b->beginnings;
    struct fresh *x = mem_new(sizeof(*x));
    struct why why = { "" };
    b->wanted = false;
    pthread_mutex_unlock(&b->lock);
    fresh_init(x);
    enum err err = fresh_load(b, x, &why);
    if (err && err != ERR_OVERTAKEN)
        log_warn("board", "what has become of runs cannot be read: %s",
                 why.text[0] ? why.text : err_text(err));
    pthread_mutex_lock(&b->lock);
    bool outdated = beginning != b->beginnings;
    if (!err && !outdated)
        install(b, x);
    b->wanted |= err != OK;
    fresh_done(x);
    free(x);
    return !err;
}

static void wait_ms(struct board *b, int64_t ms)
{
    struct timespec until = clock_after_ms(ms);
    pthread_cond_timedwait(&b->changed, &b->lock, &until);
}

static void *load_main(void *arg)
{
    struct board *b = arg;
    pthread_mutex_lock(&b->lock);
    while (!b->stopping) {
        if (!b->wanted)
            pthread_cond_wait(&b->changed, &b->lock);
        else if (!load(b) && !b->stopping)
            wait_ms(b, RETRY_MS);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* ---- start, stop ----------------------------------------------------------------------------- */

struct board *board_new(struct feed *feed, struct loop *web, struct figures *figures,
                        struct store *reader)
{
    struct board *b = mem_new(sizeof(*b));
    b->feed = feed;
    b->web = web;
    b->figures = figures;
    b->reader = reader;
    pthread_mutex_init(&b->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&b->changed, &attr);
    pthread_condattr_destroy(&attr);
    failing_init(&b->failing);
    map_init(&b->groups);
    map_init(&b->open);
    map_init(&b->others);
    for (int i = 0; i < SECONDS; i++)
        list_init(&b->planned[i]);
    b->look.fire = on_look;
    loop_timer_set(web, &b->look, loop_now_ms(web) + LOOK_MS);
    b->reading = (struct feed_reader){
        .begin = on_begin, .runs = on_runs, .ends = on_ends, .others = on_others, .edits = on_edits
    };
    feed_add(feed, &b->reading);
    int rc = thread_start(&b->loader, "peal-board", 0, load_main, b);
    b->started = rc == 0;
    if (rc)
        log_error("board", "cannot start a thread, the overview stays empty: %s", strerror(rc));
    return b;
}

void board_free(struct board *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->stopping = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    if (b->started)
        pthread_join(b->loader, NULL);
    feed_remove(b->feed, &b->reading);
    loop_timer_clear(b->web, &b->look);
    waiting_drop(b);
    open_drop_all(b);
    others_drop(b);
    failing_done(&b->failing);
    void *g;
    for (size_t i = 0; map_next(&b->groups, &i, &g);)
        free(g);
    map_done(&b->groups);
    store_close(b->reader);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

/* ---- looks ----------------------------------------------------------------------------------- */

bool board_wait(struct board *b, int64_t ms)
{
    int64_t until_ms = clock_boot_ms() + ms, left;
    pthread_mutex_lock(&b->lock);
    while (!b->loaded && (left = until_ms - clock_boot_ms()) > 0)
        wait_ms(b, left);
    bool loaded = b->loaded;
    pthread_mutex_unlock(&b->lock);
    return loaded;
}

/* The n-th group that is asked for; NULL: there are no more. */
static const struct board_group *asked(const struct board *b, const struct scope *scope, size_t *i)
{
    if (scope_is_all(scope))
        return (*i)++ ? NULL : &b->whole;
    while (*i < scope->n) {
        const struct board_group *g = map_find(&b->groups, (uint64_t)scope->ids[(*i)++]);
        if (g)
            return g;
    }
    return NULL;
}

void board_now(struct board *b, const struct scope *scope, int64_t now_ms, struct board_now *ret)
{
    const struct board_group *g;
    memset(ret, 0, sizeof(*ret));
    pthread_mutex_lock(&b->lock);
    ret->ncauses = failing_top(&b->failing, scope, ret->causes);
    ret->failing = failing_count(&b->failing, scope);
    for (size_t i = 0; (g = asked(b, scope, &i));) {
        ret->late += late_count(&g->late, now_ms);
        ret->stuck += g->stuck;
        ret->unknown += g->unknown;
    }
    pthread_mutex_unlock(&b->lock);
}

static void attention_line(struct buf *out, const struct board_group *g, int64_t now_ms)
{
    int64_t late = late_count(&g->late_open, now_ms);
    if (!g->id || late || g->stuck || g->unknown)
        buf_printf(out, "%lld %lld %lld %lld\n", (long long)g->id, (long long)late,
                   (long long)g->stuck, (long long)g->unknown);
}

void board_attention(struct board *b, int64_t now_ms, struct buf *out)
{
    void *g;
    pthread_mutex_lock(&b->lock);
    if (b->loaded)
        attention_line(out, &b->whole, now_ms);
    for (size_t i = 0; b->loaded && map_next(&b->groups, &i, &g);)
        attention_line(out, g, now_ms);
    pthread_mutex_unlock(&b->lock);
}

void board_bars(struct board *b, const struct scope *scope, int64_t now_ms, int64_t step_ms, int n,
                struct board_bars *ret)
{
    int64_t from_ms = (now_ms / step_ms - (n - 1)) * step_ms;
    const struct board_group *g;
    *ret = (struct board_bars){ .from_ms = from_ms, .step_ms = step_ms, .n = n };
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; (g = asked(b, scope, &i));) {
        slots_sum(&g->slots, from_ms, step_ms, n, ret->succeeded, ret->failed);
        slots_sum(&g->slots, from_ms - WEEK_MS, step_ms, n, ret->previous, ret->previous);
    }
    pthread_mutex_unlock(&b->lock);
}

struct failing_streak *board_streaks(struct board *b, const struct scope *scope, size_t *ret_n)
{
    pthread_mutex_lock(&b->lock);
    struct failing_streak *all = failing_streaks(&b->failing, scope, ret_n);
    pthread_mutex_unlock(&b->lock);
    return all;
}

void board_failing_by_group(struct board *b, const int64_t *groups, size_t n, int64_t *counts)
{
    pthread_mutex_lock(&b->lock);
    failing_by_group(&b->failing, groups, n, counts);
    pthread_mutex_unlock(&b->lock);
}

/* ---- what fires next ------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct board_firing *x = a, *y = b;
    if (x->at_ms != y->at_ms)
        return x->at_ms < y->at_ms ? -1 : 1;
    return (x->job_id > y->job_id) - (x->job_id < y->job_id);
}

/* The shards of a broadcast are one firing. */
static size_t merge(struct board_firing *all, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct board_firing *last = kept ? &all[kept - 1] : NULL;
        if (last && last->at_ms == all[i].at_ms && last->job_id == all[i].job_id)
            last->shards++;
        else
            all[kept++] = all[i];
    }
    return kept;
}

/* Of one second; how many are in all then. */
static size_t collect(const struct board *b, const struct scope *scope, int64_t second,
                      struct board_firing *all, size_t n)
{
    list_each(&b->planned[second % SECONDS], node, tmp)
    {
        const struct open_run *r = container_of(node, struct open_run, planned);
        if (n == NEXT_LOOKS)
            break;
        if (r->scheduled_ms / 1000 == second &&
            (scope_is_all(scope) || scope_has(scope, r->group_id)))
            all[n++] = (struct board_firing){ r->scheduled_ms, r->job_id, 1 };
    }
    return n;
}

size_t board_next(struct board *b, const struct scope *scope, int64_t from_ms, size_t max,
                  struct board_firing *ret)
{
    struct board_firing *all = mem_new(NEXT_LOOKS * sizeof(*all));
    size_t n = 0;
    int64_t first = from_ms / 1000;
    pthread_mutex_lock(&b->lock);
    for (int64_t s = first; s < first + SECONDS && n < max; s++) {
        size_t found = collect(b, scope, s, all, n);
        qsort(all + n, found - n, sizeof(*all), by_time);
        n += merge(all + n, found - n);
    }
    pthread_mutex_unlock(&b->lock);
    n = n < max ? n : max;
    memcpy(ret, all, n * sizeof(*ret));
    free(all);
    return n;
}
