/* SPDX-License-Identifier: Apache-2.0 */
/* front_internal.h - the web loop, its calls and its workers, shared by the files front*.c only.
 *
 * From the ground up: front_queue.c (workers), front_limits.c (limits of requests),
 * front_call.c (a call is made, answered, freed), front_live.c (streams), front.c. */
#ifndef PEAL_API_FRONT_INTERNAL_H
#define PEAL_API_FRONT_INTERNAL_H

#include "api/front.h"
#include "live/feed.h"
#include "net/loop.h"
#include <pthread.h>

struct alarm_look;
struct end_look;
struct attention;

#define WEB_WORKERS 4

enum message_kind { MESSAGE_MOVED, MESSAGE_ANSWER, MESSAGE_STOP, MESSAGE_LOG };

struct web {
    struct center *center;
    const struct api_config *config;
    struct logins *logins;
    struct router_match (*find)(struct slice method, struct slice path);
    void (*serve)(struct web_call *call);
    bool (*stays)(struct slice path);
    bool (*page)(struct httpd_request *q, struct slice path, const char *context);
    /* web loop's thread */
    struct loop *loop;
    struct rate_table rates;
    struct httpd *front;
    struct feed *feed;
    struct feed_reader edits; /* what the forecast follows */
    struct forecast *forecast;
    struct web_live live;
    bool checking; /* whether viewers may still see what they see */
    struct end_look *ends;
    bool ending; /* a look at them is under way */
    struct alarm_look *alarms;
    struct loop_timer alarms_timer;
    bool looking; /* at alarms */
    struct board *board;
    struct attention *attention;
    struct vitals *vitals;
    struct answers *answers;
    struct loop_timer patience;
    struct mailbox *mailbox; /* into it: moved connections, answers, the stop */
    struct loop_mailbox incoming;
    struct message stop;
    pthread_t thread;
    /* scheduler's thread */
    struct mailbox *back; /* connections that turned to what executors call */
    struct loop_mailbox back_incoming;
    /* workers */
    pthread_t workers[WEB_WORKERS];
    int nworkers;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t ready;
    struct waiting queues[WEB_CLASSES];
    int running[WEB_CLASSES];
    bool stopping;
};

/* Of the row that has the path, whatever the method. */
static inline enum web_class web_class_of(const struct router_match *m)
{
    return m->near ? m->near->class : WEB_PAGE;
}

/* ---- front_queue.c --------------------------------------------------------------------------- */

void web_queues_init(struct web *w);
/* Any thread. The call that has no place then, which may be another one, or NULL. */
MUST_CHECK struct web_call *web_queue(struct web *w, struct web_call *call);
/* A worker's thread; arg: the web. Returns when w->stopping is set. */
void *web_work(void *arg);

/* ---- front_limits.c: the web loop's thread ----------------------------------------------------
 */

/* False: too often. */
MUST_CHECK bool web_rate_admit(struct web *w, struct web_call *call);
/* After the worker, which may have found the user: headers of the answer say what is left. */
void web_rate_answer(struct web *w, struct web_call *call);

/* ---- front_call.c: the web loop's thread ------------------------------------------------------
 */

struct web_call *web_call_new(struct web *w, struct httpd_request *q);
void web_call_free(struct web_call *call);
/* Send what a worker has made of it, and free it. */
void web_answer(struct web *w, struct web_call *call);
/* The same without a worker. */
void web_refuse(struct web *w, struct web_call *call, enum problem_kind kind, const char *text);
/* To a worker, or refused: it, or another one in its place. */
void web_queue_or_refuse(struct web *w, struct web_call *call);

/* ---- front_live.c: the web loop's thread, or before it ----------------------------------------
 */

void web_live_new(struct web *w);
void web_live_start(struct web *w); /* the feed and the forecast are there */
void web_live_undo(struct web *w);  /* of web_live_new alone */
void web_live_free(struct web *w);

#endif
