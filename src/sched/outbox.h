/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.h - what leaves the core: actions, at once or when the batch that gathers is kept. */
#ifndef PEAL_SCHED_OUTBOX_H
#define PEAL_SCHED_OUTBOX_H

#include "sched/sched.h"

struct lane;

struct action *action_new(struct sched *s, enum action_kind kind);
/* Ask for a call to the lane's address, which it fills in; the action holds lane and job. */
void call_out(struct sched *s, struct lane *lane, struct call call);
/* The oldest action; false: there is none. What it holds is the caller's to let go. */
bool action_pop(struct sched *s, struct action *ret);

/* A request that waits for a kill: with its run while the executor or an edit decides, then in the
 * list of those to be told when the run's end is kept. */
struct kill {
    struct list_node node;
    void *reply;
    int64_t log_id;
    uint64_t seq;  /* the batch that keeps the end */
    bool answered; /* the executor says that it is done; an edit decides what becomes of the run */
    char text[200];
};

void killed(struct sched *s, void *reply, int64_t log_id, enum err err, const char *text);
void killed_after(struct sched *s, struct kill *k); /* takes k */
/* The batch is on disk: tell those whom it answers. */
void outbox_kept(struct sched *s, uint64_t seq);
void outbox_free(struct sched *s);

#endif
