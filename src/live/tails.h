/* SPDX-License-Identifier: Apache-2.0 */
/* tails.h - logs that are followed while they are written.
 *
 * However many watch a run's log, its executor is asked once: every 500 ms while lines come, up to
 * every 3 s while none do, and never more often than ten times the time that it takes to answer.
 * Nothing waits: an ask is a message, and so is its answer. Web loop's thread. */
#ifndef PEAL_LIVE_TAILS_H
#define PEAL_LIVE_TAILS_H

#include "live/viewers.h"
#include "server/center.h"

#define TAILS_MAX 200
#define TAILS_OF_ADDRESS 4  /* asks under way to one executor */
#define TAIL_RING (1 << 20) /* bytes of events that are kept for those who come later */

struct tails;

struct tails_config {
    struct loop *loop;
    struct viewers *viewers;
    /* Ask for a page; the answer is given to tails_answered. */
    void (*ask)(void *arg, struct center_log_ask *a);
    /* Where other servers own runs as well: has the run ended? The scheduler knows its own. It
     * takes the ask, and gives it to tails_looked. NULL: it knows all. */
    void (*look)(void *arg, struct center_log_ask *a);
    void *arg;
};

struct tail_wish {
    int64_t group_id, log_id, trigger_ms; /* of the log row */
    const char *address;                  /* "" or NULL: it has none yet */
    int from_line;                        /* the first line that is wanted */
    bool ended;                           /* the run, by its row */
};

struct tails *tails_new(const struct tails_config *config);
/* After viewers_free; asks under way come back no more. */
void tails_free(struct tails *ts);

/* Follow that log; q and who are taken. ERR_FULL: TAILS_MAX logs are followed, neither is. */
MUST_CHECK enum err tails_watch(struct tails *ts, struct httpd_request *q, struct slice headers,
                                const struct tail_wish *wish, struct viewer_who *who);
/* The answer to an ask, which is taken. */
void tails_answered(struct tails *ts, struct center_log_ask *a);
/* The answer to a look; a is taken. */
void tails_looked(struct tails *ts, struct center_log_ask *a, bool ended);
int tails_count(const struct tails *ts);

/* How long to wait before the next ask: after the last pause, by whether lines came and how long
 * the executor took. All in ms. */
int64_t tail_pause(int64_t last_ms, bool lines, int64_t took_ms);

#endif
