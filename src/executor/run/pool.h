/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - the worker threads: at most so many, started when there is work for them.
 *
 * A task given to the pool belongs to it until its work function has let go of it. Each worker has
 * a bell (an eventfd) that wakes what it does from a wait. What is given in one iteration of the
 * loop is handed over together, and a worker that finds more wakes the next one: no thread is woken
 * for work that another has done before it got there. The one lock of the executor is in here. */
#ifndef PEAL_EXECUTOR_RUN_POOL_H
#define PEAL_EXECUTOR_RUN_POOL_H

#include "base/err.h"
#include "base/list.h"
#include "base/why.h"

struct pool; /* opaque */

struct pool_worker {
    int bell;   /* eventfd, not blocking */
    int number; /* from 1 */
};

struct pool_task { /* embed it */
    struct list_node node;
    void (*work)(struct pool_task *t, const struct pool_worker *w); /* on a worker */
};

/* ERR_IO with why: the system gives no thread at all. */
MUST_CHECK enum err pool_new(int workers, size_t stack, struct pool **ret, struct why *why);
/* Loop. Held back until pool_flush, which takes nothing if there is nothing. */
void pool_give(struct pool *p, struct pool_task *t);
void pool_flush(struct pool *p);
/* Waits for all tasks, those that have not begun too. NULL is fine. */
void pool_free(struct pool *p);

#endif
