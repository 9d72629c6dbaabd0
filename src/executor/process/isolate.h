/* SPDX-License-Identifier: Apache-2.0 */
/* isolate.h - processes of the executor's: handlers in children of their own, scripts, commands.
 *
 * A fork server is split off when the executor starts, before it has threads, so that children come
 * from a process with one thread and no lock held by a thread that is not there. It is the parent
 * of all of them: how they end is known whatever the host does about SIGCHLD, and what they leave
 * behind is waited for there. A process leads a group and is named by a number of ours, so no
 * signal can reach another's. If the executor dies, even by kill -9, the server ends all of them
 * and itself; if the server dies, its children go with it, and another one takes its place.
 *
 * A handler's child shares a socket with the executor: what the handler logs, its progress and its
 * result come up, the request to stop goes down. If the run has to end: the flag at once, SIGTERM
 * to the group after half of the grace, SIGKILL after the whole. isolate_new before any thread of
 * the executor; the others on workers, many at a time. */
#ifndef PEAL_EXECUTOR_PROCESS_ISOLATE_H
#define PEAL_EXECUTOR_PROCESS_ISOLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/why.h"
#include "executor/process/spawn.h"

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
/* Ends the server. Nothing may be under way. NULL is fine. */
void isolate_free(struct isolate *i);

/* --- a process of the server's, on one worker --- */

struct isolate_process {
    struct isolate *isolate;
    uint64_t number;
    int notes;              /* readable: isolate_hear. -1: the server died, or took no order */
    pid_t pid;              /* 0: not known yet */
    bool over;              /* it and its group have ended, or it was never there */
    bool lost;              /* it ended, and how is not known */
    int failed;             /* errno of what kept it from beginning; 0: nothing did */
    enum spawn_stage stage; /* of failed */
    int status;             /* as waitpid has it */
};

/* Have a program started. output stays the caller's; -1: nowhere. False with the reason; else call
 * isolate_hear whenever p->notes is readable, until p->over, then isolate_forget. */
bool isolate_spawn(struct isolate *i, const struct spawn *s, int output, struct isolate_process *p,
                   struct why *why);
void isolate_hear(struct isolate_process *p);
/* To its group: SIGTERM or SIGKILL. Nothing if it has ended. */
void isolate_signal(const struct isolate_process *p, int signo);
void isolate_forget(struct isolate_process *p);
/* Why it did not end by itself: the server died, or could not take the order. */
const char *isolate_lost_text(const struct isolate_process *p);

#endif
