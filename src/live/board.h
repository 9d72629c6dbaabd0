/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - how things stand, in memory: which jobs fail and why, what has become of runs by
 * quarter hours, which runs are late, stuck or in doubt.
 *
 * It reads the feed on the web loop's thread, and the figures once, at its beginning, on a thread
 * of its own. What one job's last runs were is in the figures (figures_job). Any thread asks;
 * answers are as of the last commit that was heard. */
#ifndef PEAL_LIVE_BOARD_H
#define PEAL_LIVE_BOARD_H

#include "live/failing.h"
#include "live/feed.h"
#include "live/slots.h"
#include "store/store.h"

struct board;
struct figures;

/* Before either loop turns; reads with the feed's. Takes the reader; the rest is borrowed. */
struct board *board_new(struct feed *feed, struct loop *web, struct figures *figures,
                        struct store *reader);
/* The web loop turns no more. Before feed_free. NULL is fine. */
void board_free(struct board *b);

/* ---- any thread; scope NULL: all groups --------------------------------------------------------
 */

/* Has it begun? Waits at most so long. Until then all below is empty. */
bool board_wait(struct board *b, int64_t ms);

#define BOARD_BARS 168

struct board_bars {
    int64_t from_ms, step_ms;
    int n;
    int64_t succeeded[BOARD_BARS], failed[BOARD_BARS];
    int64_t previous[BOARD_BARS]; /* both, a week before */
};

struct board_now {
    struct failing_cause causes[FAILING_CAUSES];
    int ncauses;
    int64_t failing; /* jobs */
    int64_t late;    /* runs sent over BOARD_LATE_MS late in the last hour */
    int64_t stuck;   /* runs open for over three times as long as the job's usually are */
    int64_t unknown; /* runs in doubt */
};

#define BOARD_LATE_MS 1000

void board_now(struct board *b, const struct scope *scope, int64_t now_ms, struct board_now *ret);
/* What there is of late, stuck and unknown runs that are open here, for other servers: a line for
 * all of them, as group 0, and one for each group that has some: "GROUP LATE STUCK UNKNOWN". What
 * this server has sent late and has ended is known to the others. Nothing before it has begun. */
void board_attention(struct board *b, int64_t now_ms, struct buf *out);
/* The last n steps, the one that goes on included; n * step_ms of at most a week. */
void board_bars(struct board *b, const struct scope *scope, int64_t now_ms, int64_t step_ms, int n,
                struct board_bars *ret);
struct board_firing {
    int64_t at_ms, job_id;
    int shards;
};
/* Firings of schedules that are planned as rows, in the order of their scheduled times from then
 * on; how many, at most max. Planning runs some seconds ahead. */
size_t board_next(struct board *b, const struct scope *scope, int64_t from_ms, size_t max,
                  struct board_firing *ret);
/* As failing_streaks and failing_by_group. */
struct failing_streak *board_streaks(struct board *b, const struct scope *scope, size_t *ret_n);
void board_failing_by_group(struct board *b, const int64_t *groups, size_t n, int64_t *counts);

#endif
