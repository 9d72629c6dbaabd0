/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - one request of another thread to the scheduler: a message there, a condition back.
 * Private to src/server: requests_ask.c makes them and waits, on the askers' threads; requests.c
 * opens and answers them, on the scheduler's.
 *
 * An asker may give up (10 s, 2 s while the database takes no writes), the scheduler may still be
 * at it: the request is counted, the side that lets go last frees it. */
#ifndef PEAL_SERVER_REQUEST_H
#define PEAL_SERVER_REQUEST_H

#include "server/state.h"
#include <pthread.h>

enum request_kind {
    REQUEST_EDIT,
    REQUEST_EDITS,
    REQUEST_WRITE,
    REQUEST_TRIGGER,
    REQUEST_KILL,
    REQUEST_LOG,
    REQUEST_KNOWN,
    REQUEST_GROUP,
    REQUEST_WITHDRAWN,
    REQUEST_EXECUTORS,
    REQUEST_FORGET,
    REQUEST_PROBE,
    REQUEST_STORY,
    REQUEST_GROUPS,
    REQUEST_KEYS,
};

struct request {
    struct message message;
    struct list_node node; /* in center.asks while the scheduler is at it */
    enum request_kind kind;
    pthread_mutex_t lock; /* guards refs and done; the rest belongs to one side at a time */
    pthread_cond_t ready;
    int refs;
    bool done;
    int64_t begun_ms; /* the asker's */
    /* question */
    struct edit *edit;
    struct edit **edits; /* a bundle: those that no other side has; NULL in the place of others */
    int nedits, nback;
    int which;                                  /* of the edits was refused; -1: none */
    struct ledger_entry *entry;                 /* while no other side has it */
    void (*heard)(struct center *c, void *arg); /* of a write; NULL: no one */
    struct spawn spawn;
    int64_t id, trigger_ms; /* log id, group id or job id */
    int64_t inbox_id;       /* of a kill that another server has been asked for; 0: by a thread */
    struct trace_root trace;
    int64_t group_id;     /* of a call */
    struct key_sent sent; /* with the call */
    enum edit_kind edit_kind;
    int from_line;
    char *address;
    /* answer */
    enum err err;
    struct why why;
    int64_t log_id;
    char text[256];
    struct center_group group;
    struct sched_withdrawn withdrawn;
    struct center_keys keys;
    struct center_group *groups;
    size_t ngroups, cgroups;
    struct center_log log;
    struct asked_executors *executors;
    struct center_probe probe;
    struct story story;
    int64_t begun_us;           /* boot */
    struct transport_call call; /* REQUEST_LOG, REQUEST_PROBE */
    struct transport_page page;
};

struct asked_executors { /* a filter with all that it borrows, and what it finds */
    struct executors_filter f;
    struct scope scope, groups;
    int64_t *ids; /* of both */
    char *after, *only;
    struct center_executors found;
};

/* Held twice: by the asker, and by the message. */
struct request *request_new(enum request_kind kind);
/* One side lets go. */
void request_put(struct request *a);
/* A copy, with all that it borrows; owned by the request that it is given to. */
struct asked_executors *asked_executors_new(const struct executors_filter *f);

/* ---- the asker's thread ---------------------------------------------------------------------- */

void request_post(struct center *c, struct request *a);
/* Wait for the answer to what was posted: its error, ERR_TIMEOUT, or ERR_STOPPING. */
MUST_CHECK enum err request_wait_posted(struct center *c, struct request *a);
/* Post and wait. */
MUST_CHECK enum err request_wait(struct center *c, struct request *a);
/* Is what the request holds the asker's? Else it goes with the last that lets go of it. */
bool request_answered(struct request *a);
/* The asker lets go. Returns err; why: the reason, or that nothing was heard. */
enum err request_end(struct request *a, enum err err, struct why *why);

/* ---- the scheduler's thread ------------------------------------------------------------------ */

/* Everything that is an answer has been written: the asker goes on, the request may be gone. */
void request_answer(struct request *a, enum err err);

#endif
