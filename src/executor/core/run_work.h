/* SPDX-License-Identifier: Apache-2.0 */
/* run_work.h - what a worker does with a run: its handler in a thread or a process, or its script.
 */
#ifndef PEAL_EXECUTOR_CORE_RUN_WORK_H
#define PEAL_EXECUTOR_CORE_RUN_WORK_H

#include "executor/run/run.h"

/* The task of a run: start line, handler, end line; afterwards the result stands, and the message
 * "over" goes to r->loop. */
void run_work(struct pool_task *t, const struct pool_worker *w);

#endif
