/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - a run's child process: its output into the run's log, its whole group ended with it.
 *
 * The child lives as spawn.h says, under the limits of limits.h; standard output and error go into
 * one pipe, so lines keep their order. If the run has to end, the group gets SIGTERM, and after the
 * grace SIGKILL. When the child has ended, what it left behind in its group is killed too. Facts of
 * the run are in its environment: PEAL_JOB_ID, PEAL_LOG_ID, PEAL_SHARD_INDEX, PEAL_SHARD_TOTAL,
 * PEAL_ATTEMPT, PEAL_MOMENT_MS, PEAL_DEADLINE_MS.
 * The fork server is its parent (isolate.h): its end is known whatever the host does about SIGCHLD,
 * and its group ends with the executor, by kill -9 too. Thread: a worker; blocks until the end. */
#ifndef PEAL_EXECUTOR_PROCESS_PROCESS_H
#define PEAL_EXECUTOR_PROCESS_PROCESS_H

#include "executor/process/limits.h"
#include "executor/run/run.h"

/* argv ends in NULL; argv[0] is looked up in the child's PATH. Sets the run's result: 200 if it
 * exits with 0, 502 beyond limits->time_ms. */
void process_run(struct peal_run *r, const struct limits *limits, char *const argv[]);
/* The exit status of a program that says nothing, or -1: it cannot be started, was ended by a
 * signal, or took longer than ms. Under the limits that runs have. */
int process_ask(const struct run_context *context, char *const argv[], int ms);

#endif
