/* SPDX-License-Identifier: Apache-2.0 */
/* events_internal.h - the ring of events and its viewers, shared by the files events*.c only.
 *
 * From the ground up: events_ring.c (what has happened), events_feed.c (what the feed tells goes
 * into it), events.c (viewers write of it what they may see). */
#ifndef PEAL_LIVE_EVENTS_INTERNAL_H
#define PEAL_LIVE_EVENTS_INTERNAL_H

#include "base/list.h"
#include "live/crowd.h"
#include "live/events.h"
#include "live/feed.h"
#include "live/viewers.h"
#include "net/loop.h"
#include "net/shared_buf.h"

#define CROWDS_KEPT 8 /* whose renderings are kept: a viewer farther behind has its own made */

struct view { /* the groups that a viewer may see; several viewers share it */
    struct list_node node;
    int refs;
    struct scope scope; /* ids owned */
};

struct rendering {
    struct view *view; /* counted */
    struct shared_buf *event;
    struct rendering *next;
};

struct entry {
    unsigned topic;
    int64_t group_id, job_id;
    int64_t *also; /* further groups, ascending: a viewer of one of them sees it; owned */
    size_t nalso;
    struct shared_buf *event; /* or: */
    struct crowd *crowd;
    struct rendering *renderings;
    int nrenderings;
    size_t bytes;
    uint64_t before; /* bytes of all events before it */
};

struct watcher {
    struct viewer viewer;
    struct events *of;
    struct list_node node;
    uint64_t next; /* number of the entry that it looks at next */
    struct view *view;
    unsigned topics;
    int64_t *jobs;
    size_t njobs;
    bool reset; /* it is to be told */
};

struct events {
    struct events_config cf;
    struct feed_reader reader;
    bool begun;
    int64_t epoch;
    struct entry *ring;
    uint64_t first, next; /* numbers of the entries that are kept: first..next - 1 */
    size_t held;          /* bytes of them */
    uint64_t bytes;       /* of all that there ever were */
    struct list views, watchers;
    struct loop_task pump;
    uint64_t crowds[CROWDS_KEPT]; /* numbers of the last; 0: none */
    int crowd;                    /* the oldest of them */
    /* changes of runs in this window */
    struct loop_timer window, vitals;
    int in_window;
    int64_t window_ms; /* wall: its begin */
    bool busy;         /* the window before had too many for single events */
    struct crowd_change *changes;
    size_t nchanges, room;
};

/* ---- events_ring.c --------------------------------------------------------------------------- */

/* The view of that scope, found or made; counted. */
struct view *events_view_get(struct events *e, const struct scope *scope);
void events_view_put(struct view *v);
struct entry *events_entry(const struct events *e, uint64_t number); /* of one that is kept */
/* The oldest entry goes. */
void events_drop_first(struct events *e);
/* An event as it is sent; number 0: one without an id. Held once. */
struct shared_buf *events_render(const struct events *e, uint64_t number, const char *name,
                                 struct slice json);
/* An entry of one event; it drops what is too old. group_id 0: of no group; job_id 0: of no job. */
struct entry *events_add(struct events *e, unsigned topic, int64_t group_id, int64_t job_id,
                         const char *name, struct slice json);
/* Viewers of one of these groups see the entry, too. The groups are copied. */
void events_also_in(struct entry *x, const int64_t *groups, size_t n);
/* An entry of many changes of runs; the crowd is the ring's then. */
void events_add_crowd(struct events *e, struct crowd *crowd);

/* ---- events_feed.c --------------------------------------------------------------------------- */

void events_feed_init(struct events *e); /* the reader's callbacks, and the window's timer */

#endif
