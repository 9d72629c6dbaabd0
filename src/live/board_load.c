/* SPDX-License-Identifier: Apache-2.0 */
/* board_load.c - what the figures have is loaded by a thread of its own, as of one commit. Ends
 * that were told meanwhile count then, if their commit lies behind that one. */
#include "live/board_internal.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define QUARTERS_MS                                                                                \
    (INT64_C(180) * 3600000) /* figures have quarters for 8 days, before that hours */
#define CAUSES_MAX 10000     /* failing jobs whose last run is read at the beginning */
#define RETRY_MS 200

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
    enum err err = figures_copy_slots(&x->copy, b->figures, b->reader, now_ms - 2 * BOARD_WEEK_MS,
                                      now_ms - QUARTERS_MS, fresh_slot, x, why);
    return err ? err : fresh_failing(b, x, why);
}

void board_others_drop(struct board *b)
{
    void *v;
    for (size_t i = 0; map_next(&b->others, &i, &v);)
        free(v);
    map_done(&b->others);
}

static void others_install(struct board *b, const struct fresh *x)
{
    board_others_drop(b);
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
            board_group_of(b, (int64_t)x->groups.slots[i].key)->slots =
                *(struct slots *)x->groups.slots[i].value;
    b->no = x->copy.no;
    others_install(b, x);
    for (size_t i = 0; i < b->nwaiting; i++) {
        const struct waiting_end *w = &b->waiting[i];
        if (board_is_behind(b, w->node, w->no))
            board_count_end(b, &w->end, w->ended_ms, &w->failure);
    }
    for (size_t i = 0; i < b->nedits; i++)
        board_edited(b, &b->edits[i]);
    board_waiting_drop(b);
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

void board_wait_ms(struct board *b, int64_t ms)
{
    struct timespec until = clock_after_ms(ms);
    pthread_cond_timedwait(&b->changed, &b->lock, &until);
}

void *board_load_main(void *arg)
{
    struct board *b = arg;
    pthread_mutex_lock(&b->lock);
    while (!b->stopping) {
        if (!b->wanted)
            pthread_cond_wait(&b->changed, &b->lock);
        else if (!load(b) && !b->stopping)
            board_wait_ms(b, RETRY_MS);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}
