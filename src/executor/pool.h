/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - the worker threads: at most so many, started when there is work for them.
 *
 * A run given to the pool belongs to it until its letter "over" arrives. Each worker has a bell (an
 * eventfd) that wakes its run from a wait. The one lock of the executor is in here. */
#ifndef PEAL_EXECUTOR_POOL_H
#define PEAL_EXECUTOR_POOL_H

#include "base/mailbox.h"
#include "executor/run.h"

struct pool; /* opaque */

/* loop: where the letters of the runs go. Borrowed. */
struct pool *pool_new(int workers, struct mailbox *loop);
/* Any thread. */
void pool_give(struct pool *p, struct peal_run *r);
/* Waits for the runs at work; those still queued in the pool are thrown away. */
void pool_free(struct pool *p);

#endif
