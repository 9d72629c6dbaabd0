/* SPDX-License-Identifier: Apache-2.0 */
/* handler.h - what can be run: the built-in handlers, and scripts by kind. Constant tables; both
 * kinds run in a worker and use run.h's second part. Any thread. */
#ifndef PEAL_EXECUTOR_HANDLER_H
#define PEAL_EXECUTOR_HANDLER_H

#include "executor/run.h"

struct executor_config;

struct handler {
    const char *name;
    void (*run)(struct peal_run *r);
    /* NULL: always allowed. Else: does the configuration allow it, and if not, how would it? */
    bool (*allowed)(const struct executor_config *config);
    const char *how_to_allow;
};

const struct handler *handler_find(struct slice name); /* also one that is not allowed */
const struct handler *handler_at(size_t i);            /* NULL after the last */
bool handler_allowed(const struct handler *h, const struct executor_config *config);

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
