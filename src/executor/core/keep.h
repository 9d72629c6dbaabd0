/* SPDX-License-Identifier: Apache-2.0 */
/* keep.h - what a handler's init made for a job, until its destroy.
 *
 * Belongs to the job; borrowed by the run that is at work, whose worker alone touches it then. */
#ifndef PEAL_EXECUTOR_CORE_KEEP_H
#define PEAL_EXECUTOR_CORE_KEEP_H

#include "base/mailbox.h"
#include "executor/run/pool.h"
#include "peal/executor.h"

struct keep {
    const struct peal_handler *handler;
    void *state;
    bool ready; /* init was called, and destroy was not */
    /* to have it ended by a worker; the message says that it is, and the keep is gone */
    struct pool_task task;
    struct message *ended;
    struct mailbox *loop;
};

/* Does a handler have anything to keep in this process? */
static inline bool keep_wanted(const struct peal_handler *h)
{
    return h && !(h->flags & PEAL_PROCESS) && (h->init || h->destroy);
}
struct keep *keep_new(const struct peal_handler *h);
/* init, unless it is done; its status. Worker. */
int keep_begin(struct keep *k);
/* destroy, if there is anything to destroy, and free. Any thread that owns k; NULL is fine. */
void keep_end(struct keep *k);
/* The same on a worker; ended is sent to loop afterwards. */
void keep_end_later(struct keep *k, struct pool *p, struct mailbox *loop, struct message *ended);

#endif
