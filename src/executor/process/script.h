/* SPDX-License-Identifier: Apache-2.0 */
/* script.h - jobs that bring a script along, by kind. A constant table; scripts run in a worker,
 * as process.h has it. Any thread unless said otherwise. */
#ifndef PEAL_EXECUTOR_PROCESS_SCRIPT_H
#define PEAL_EXECUTOR_PROCESS_SCRIPT_H

#include "executor/run/run.h"

struct script_kind {
    const char *glue_type;       /* "GLUE_SHELL" */
    const char *name;            /* in peal.executor.glue: "shell" */
    const char *interpreters[2]; /* the first that is in PATH; the second may be NULL */
    const char *suffix;
    bool is_python2; /* "python" will do only if it is of that version */
};

const struct script_kind *script_kind_find(struct slice glue_type);
/* What to answer to a kind that cannot run here by any configuration; NULL: nothing special. */
const char *script_kind_hint(struct slice glue_type);
/* Is it in the list of peal.executor.glue? */
bool script_kind_allowed(const struct script_kind *k, const char *list);
/* Is each name of the list a kind? Else why says which is not. */
MUST_CHECK enum err script_kinds_check(const char *list, struct why *why);
/* At start, on one thread: the folder of the scripts, made so that their user can read what is in
 * it and only the executor write. ERR_IO, ERR_INVALID with why. */
MUST_CHECK enum err script_folder(const struct run_context *context, struct why *why);
/* Handler of a run whose job is a script. */
void script_run(struct peal_run *r);

#endif
