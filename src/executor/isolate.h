/* SPDX-License-Identifier: Apache-2.0 */
/* isolate.h - handlers in child processes of their own.
 *
 * A fork server is split off when the executor starts, before it has threads, so that children come
 * from a process with one thread and no lock held by somebody who is not there. The server forks a
 * child for each run; parent and child share one socket: what the handler logs, its progress and
 * its result come up, the request to stop goes down. The child leads a process group. If the run
 * shall end: the flag at once, SIGTERM to the group after half of the grace, SIGKILL after the
 * whole. If the executor dies, even by kill -9, the server ends all children and itself.
 * isolate_new before any thread of the executor; isolate_run on a worker, many at a time. */
#ifndef PEAL_EXECUTOR_ISOLATE_H
#define PEAL_EXECUTOR_ISOLATE_H

#include <stddef.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/why.h"

struct isolate; /* opaque */
struct peal_handler;
struct peal_run;

/* Fork the server; it knows these handlers by their index. ERR_NOMEM, ERR_IO with why. */
MUST_CHECK enum err isolate_new(const struct peal_handler *const *handlers, size_t n, int grace_ms,
                                struct isolate **ret, struct why *why);
/* Run handler number index for r in a child; returns when it and all of its group have ended. Its
 * log lines go to r->io, its result to run_result; a crash is code 500 with the signal's name. If
 * the server is gone, it is code 500 with that reason. */
void isolate_run(struct isolate *i, struct peal_run *r, size_t index);
/* The server shall kill this process group too if the executor dies: a script's, which is a child
 * of the executor. Release it before its leader is waited for. Any thread; NULL is fine. */
void isolate_hold(struct isolate *i, pid_t group);
void isolate_release(struct isolate *i, pid_t group);
/* Ends the server. No isolate_run may be under way. NULL is fine. */
void isolate_free(struct isolate *i);

#endif
