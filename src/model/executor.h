/* SPDX-License-Identifier: Apache-2.0 */
/* executor.h - one executor address as pages show it: a picture of what the scheduler knows, and
 * which of them a page asks for. Pure. */
#ifndef PEAL_MODEL_EXECUTOR_H
#define PEAL_MODEL_EXECUTOR_H

#include "model/scope.h"

enum executor_state {
    EXECUTOR_UP,       /* nothing is known against it */
    EXECUTOR_REFUSING, /* the last connection was refused; it is beaten until it answers */
    EXECUTOR_SILENT,   /* registered, and has not beaten for EXECUTOR_SILENT_MS */
    EXECUTOR_DRAINING, /* it has unregistered, and works on runs still */
    EXECUTOR_STATES
};

#define EXECUTOR_SILENT_MS 60000
#define EXECUTOR_GROUPS_MAX 100 /* told of one address */
#define EXECUTOR_ERROR_MAX 500  /* bytes */

const char *executor_state_text(enum executor_state s); /* "up", as the API says it */

struct executor_view {
    char *address, *error; /* error: of the last call that failed; NULL: none has */
    enum executor_state state;
    bool registered;                            /* it beats by itself */
    bool listed;                                /* it stands in a list by hand */
    bool ours;                                  /* it remembers log ids */
    int waiting, in_flight, window, window_max; /* runs in its queue, calls, calls it may have */
    int64_t accepted, unknown;                  /* runs that are out */
    int64_t beat_age_ms;                        /* -1: it has not beaten */
    int64_t since_ms, error_ms; /* wall: in that state since, the error was then; -1: not known */
    int64_t answer_p95_us;      /* of /run, the last few hundred; -1: none yet */
    int64_t *groups;            /* ids, ascending: those that the reader may see */
    size_t ngroups;
};

struct executors_filter {
    const struct scope *scope;  /* groups that the reader may see */
    const struct scope *groups; /* and those that are asked for; NULL: any */
    unsigned states;            /* bits of enum executor_state; 0: any */
    const char *after;          /* by address; NULL: from the first */
    const char *only;           /* NULL: any */
    int limit;                  /* of those told */
};

void executor_view_done(struct executor_view *v);
void executor_view_copy(struct executor_view *to, const struct executor_view *from);

#endif
