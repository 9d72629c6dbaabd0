/* SPDX-License-Identifier: Apache-2.0 */
/* board_internal.h - how things stand, shared by the files board*.c only.
 *
 * From the ground up: board_count.c (runs and ends are counted), board_load.c (what the figures
 * have), board_looks.c (what readers ask), board.c (the feed). */
#ifndef PEAL_LIVE_BOARD_INTERNAL_H
#define PEAL_LIVE_BOARD_INTERNAL_H

#include "base/list.h"
#include "base/map.h"
#include "ledger/figures.h"
#include "live/board.h"
#include "live/failing.h"
#include "live/feed.h"
#include "live/slots.h"
#include "net/loop.h"
#include <pthread.h>

#define BOARD_WEEK_MS (INT64_C(7) * 86400000)
#define BOARD_MINUTES 60
#define BOARD_SECONDS 64 /* more than planning runs ahead */

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
    } items[BOARD_MINUTES + 1];
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
    struct map groups;                  /* board_group by id */
    struct map open;                    /* open_run by log id: planned, or out */
    struct list planned[BOARD_SECONDS]; /* by the second of the scheduled time, what the schedule
                                           asked for */
    struct waiting_end *waiting;
    size_t nwaiting, cwaiting;
    struct feed_edit *edits; /* that wait, too */
    size_t nedits, cedits;

    /* the loader's own */
    struct store *reader;
    pthread_t loader;
    bool started;
};

/* All of these are called with the lock. */

/* ---- board_count.c --------------------------------------------------------------------------- */

struct board_group *board_group_of(struct board *b, int64_t id); /* found, or made */
/* How many were sent late in the last hour. */
int64_t board_late_count(const struct lates *l, int64_t now_ms);
/* A run was seen in a phase: found, or made. */
struct open_run *board_run_seen(struct board *b, const struct run_seen *s);
void board_run_sent(struct board *b, struct open_run *r, const struct run_seen *s); /* just now */
void board_run_gone(struct board *b, int64_t log_id);
void board_runs_gone(struct board *b); /* all */
/* Is it open for longer than its job's runs are? */
void board_run_look(struct board *b, struct open_run *r, int64_t now_ms);
/* What another server has sent late is known when it ends. */
void board_late_elsewhere(struct board *b, const struct feed_end *e);
/* Is the commit of that server (0: this one) behind those that came from the figures? */
bool board_is_behind(const struct board *b, int64_t node, int64_t no);
void board_count_end(struct board *b, const struct run_end *e, int64_t ended_ms,
                     const struct failure *failure);
void board_edited(struct board *b, const struct feed_edit *e);
/* While the figures are not loaded. */
void board_end_wait(struct board *b, int64_t node, const struct feed_end *e, int64_t no);
void board_edit_wait(struct board *b, const struct feed_edit *e);
void board_waiting_drop(struct board *b);

/* ---- board_load.c ---------------------------------------------------------------------------- */

/* Wait for a change, at most so long; the lock is let go meanwhile. */
void board_wait_ms(struct board *b, int64_t ms);
/* The loader's thread; arg: the board. Called without the lock; returns when it is stopping. */
void *board_load_main(void *arg);
void board_others_drop(struct board *b);

#endif
