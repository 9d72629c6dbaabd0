/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - the board follows the feed. One lock is over all of it: the web loop's thread writes, a
 * message at a time, and workers read for a millisecond or so.
 *
 * It begins when the feed begins: open runs are known at once, what the figures have is loaded
 * (board_load.c). */
#include "live/board_internal.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 10000      /* between two looks at open runs */
#define WAITING_MAX 500000 /* ends that wait for the figures */

/* ---- what the feed tells --------------------------------------------------------------------- */

static void on_begin(struct feed_reader *r, const struct run_seen *open, size_t n)
{
    struct board *b = container_of(r, struct board, reading);
    pthread_mutex_lock(&b->lock);
    board_runs_gone(b);
    for (size_t i = 0; i < n; i++)
        (void)board_run_seen(b, &open[i]);
    board_waiting_drop(b);
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
        struct open_run *o = board_run_seen(b, &runs[i]);
        if (runs[i].phase == PHASE_SENT)
            board_run_sent(b, o, &runs[i]);
    }
    pthread_mutex_unlock(&b->lock);
}

static void take_ends(struct board *b, int64_t node, const struct feed_end *ends, size_t n,
                      int64_t no)
{
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < n; i++) {
        board_run_gone(b, ends[i].end.log_id);
        if (node)
            board_late_elsewhere(b, &ends[i]);
        if (!b->loaded)
            board_end_wait(b, node, &ends[i], no);
        else if (board_is_behind(b, node, no))
            board_count_end(b, &ends[i].end, ends[i].ended_ms, &ends[i].failure);
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

static void on_edits(struct feed_reader *r, const struct feed_edit *edits, size_t n)
{
    struct board *b = container_of(r, struct board, reading);
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < n; i++) {
        board_edited(b, &edits[i]);
        if (!b->loaded)
            board_edit_wait(b, &edits[i]);
    }
    pthread_mutex_unlock(&b->lock);
}

/* ---- runs that are open for long ------------------------------------------------------------- */

static void on_look(struct loop_timer *t)
{
    struct board *b = container_of(t, struct board, look);
    int64_t now_ms = clock_wall_ms();
    void *r;
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; map_next(&b->open, &i, &r);)
        board_run_look(b, r, now_ms);
    pthread_mutex_unlock(&b->lock);
    loop_timer_set(b->web, t, loop_now_ms(b->web) + LOOK_MS);
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
    for (int i = 0; i < BOARD_SECONDS; i++)
        list_init(&b->planned[i]);
    b->look.fire = on_look;
    loop_timer_set(web, &b->look, loop_now_ms(web) + LOOK_MS);
    b->reading = (struct feed_reader){
        .begin = on_begin, .runs = on_runs, .ends = on_ends, .others = on_others, .edits = on_edits
    };
    feed_add(feed, &b->reading);
    int rc = thread_start(&b->loader, "peal-board", 0, board_load_main, b);
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
    board_waiting_drop(b);
    board_runs_gone(b);
    board_others_drop(b);
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
