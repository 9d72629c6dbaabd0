/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - a run's child process: its output into the run's log, its whole group ended with it.
 *
 * The child leads a process group of its own, reads from /dev/null, and writes standard output and
 * error into one pipe, so lines keep their order. If the run shall end, the group gets SIGTERM,
 * and PROCESS_GRACE_MS later SIGKILL. When the child has ended, what it left behind in its group is
 * killed too. Thread: a worker; blocks until the end. */
#ifndef PEAL_EXECUTOR_PROCESS_H
#define PEAL_EXECUTOR_PROCESS_H

#include "executor/run.h"

enum { PROCESS_GRACE_MS = 3000 };

/* argv ends in NULL; argv[0] is looked up in PATH. Sets the run's result: 200 if it exits with 0.
 */
void process_run(struct peal_run *r, char *const argv[]);

#endif
