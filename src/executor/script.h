/* SPDX-License-Identifier: Apache-2.0 */
/* script.h - jobs that bring a script along, by kind. A constant table; scripts run in a worker.
 * Any thread. */
#ifndef PEAL_EXECUTOR_SCRIPT_H
#define PEAL_EXECUTOR_SCRIPT_H

#include "executor/run.h"

struct executor_config;

struct script_kind {
    const char *glue_type;   /* "GLUE_SHELL" */
    const char *name;        /* in peal.executor.glue: "shell" */
    const char *interpreter; /* looked up in PATH */
    const char *suffix;
};

const struct script_kind *script_kind_find(struct slice glue_type);
bool script_kind_allowed(const struct script_kind *k, const struct executor_config *config);
/* Is each name of the list a kind? Else why says which is not. */
MUST_CHECK enum err script_kinds_check(const char *list, struct why *why);
/* Handler of a run whose job is a script. */
void script_run(struct peal_run *r);

#endif
