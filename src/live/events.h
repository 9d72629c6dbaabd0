/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - what changes, for those who look on: runs, jobs, alarms, vitals.
 *
 * The last EVENTS_KEPT events are kept, each rendered once; a viewer is a place among them. One who
 * comes back with the id of the last event that it has goes on behind it; one who is too far
 * behind, or has an id of another process, is told `reset` and goes on with what comes next. Web
 * loop's thread. */
#ifndef PEAL_LIVE_EVENTS_H
#define PEAL_LIVE_EVENTS_H

#include "base/jsonw.h"
#include "live/feed.h"
#include "live/viewers.h"

#define EVENTS_KEPT 4096
#define EVENTS_BYTES (16u << 20) /* of them, what they hold in memory */
#define EVENTS_BEHIND 1024       /* a viewer so far behind is set to the end, */
#define EVENTS_BEHIND_BYTES (256u << 10)
#define EVENTS_SINGLE 50      /* changes of runs within */
#define EVENTS_WINDOW_MS 250  /* this time; more are told as one event */
#define EVENTS_VITALS_MS 2000 /* between two */
#define EVENTS_JOBS_MAX 200   /* that a viewer may choose, and that an event names */

enum event_topic {
    EVENT_RUN = 1,
    EVENT_EXECUTOR = 2,
    EVENT_JOB = 4,
    EVENT_VITALS = 8,
    EVENT_ALARM = 16
};
#define EVENTS_ALL 31u

struct events;

struct events_config {
    struct loop *loop;
    struct viewers *viewers;
    struct feed *feed;
    /* The members of `vitals`. */
    void (*vitals)(void *arg, struct jsonw *w);
    void *arg;
};

struct events_wish {
    unsigned topics;    /* bits of enum event_topic */
    struct scope scope; /* the groups whose events are wanted and may be seen; borrowed */
    const int64_t *jobs;
    size_t njobs;      /* ascending; 0: of all jobs */
    const char *after; /* id of the last event that the client has; "": none */
};

struct events *events_new(const struct events_config *config);
/* What it reads the feed with, for tests that play the feed; config.feed is NULL then. */
struct feed_reader *events_reader(struct events *e);
void events_free(struct events *e); /* after viewers_free, before feed_free */

/* Tell them; q and who are taken. */
void events_watch(struct events *e, struct httpd_request *q, struct slice headers,
                  const struct events_wish *wish, struct viewer_who *who);

/* Does a viewer want events of that topic? */
bool events_wanted(const struct events *e, enum event_topic topic);
/* An alarm of a rule was opened or has changed; state: what it is now. group_id 0: the center's,
 * for those who see all groups. */
void events_alarm(struct events *e, int64_t id, int64_t group_id, const char *state);

#endif
