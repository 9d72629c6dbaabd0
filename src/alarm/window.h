/* SPDX-License-Identifier: Apache-2.0 */
/* window.h - the open alarms that a sender has in mind: who has been told, whom to try next.
 *
 * Back-off belongs to the target, not to the alarm: a target that failed is tried again with its
 * oldest alarm, and the others for it wait along. An alarm is tried for an hour. Pure but for
 * memory: the time comes as an argument (boot ms). One thread. */
#ifndef PEAL_ALARM_WINDOW_H
#define PEAL_ALARM_WINDOW_H

#include "base/list.h"
#include "base/map.h"
#include "model/alarm.h"

#define WINDOW_MAX 10000 /* alarms in mind; the others stay in the table */
#define WINDOW_HOUR_MS INT64_C(3600000)
#define WINDOW_WAIT_MS 2000 /* after a target's first failure; then twice as long */
#define WINDOW_WAIT_MAX_MS 300000
#define WINDOW_TARGETS 64 /* of one alarm; more do not fit into alarm_email */

struct window_target { /* of one alarm */
    char *name;
    int tries; /* that stand in the log of deliveries, or are on their way */
    bool busy; /* a try is under way */
    bool done; /* told, or given up */
};

struct window_alarm {
    struct list_node node;
    struct alarm_record row; /* owned */
    int64_t since_ms;        /* boot: its hour counts from here */
    int n, left;             /* targets; of these not done */
    bool failed;             /* one was given up */
    bool held;               /* the limit of the channel kept one back */
    struct window_target targets[];
};

struct window {
    struct list alarms; /* as they were added */
    struct map ids;     /* id -> the alarm */
    int n;
    struct textmap trouble; /* target -> when it is tried again */
    struct textmap busy;    /* targets of tries under way */
};

void window_init(struct window *w);
void window_done(struct window *w);

/* Copies the row. since_ms: boot. Targets are those of the row, each once, or "" where it names
 * none. */
struct window_alarm *window_add(struct window *w, const struct alarm_record *row, int64_t since_ms);
/* What an earlier life has logged, before the first try. */
void window_logged(struct window_alarm *a, const struct delivery_record *d);
void window_drop(struct window *w, struct window_alarm *a);

/* Is the alarm among them? */
bool window_has(const struct window *w, int64_t id);

/* The next target to try; false: none now. It is busy from here on. */
bool window_take(struct window *w, int64_t now_ms, struct window_alarm **ret_alarm, int *ret_i);
/* The next time at which a target can be tried that cannot now; INT64_MAX: there is none. */
int64_t window_next_ms(const struct window *w, int64_t now_ms);

/* A try has ended. *ret_first: a target's first failure, or its first success after one. Returns
 * the outcome that counts: DELIVERY_NEVER where DELIVERY_AGAIN comes at the end of the hour. */
enum delivery_outcome window_tried(struct window *w, struct window_alarm *a, int i,
                                   enum delivery_outcome outcome, int64_t now_ms, bool *ret_first);
/* Another alarm whose hour is over and that waits for a target which has just failed: it is given
 * up with it. NULL: there is none. *ret_i: which of its targets. */
struct window_alarm *window_overdue(struct window *w, const char *target, int64_t now_ms,
                                    int *ret_i);

#endif
