/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_internal.h - the built-in handlers themselves, for the table in builtin.c. */
#ifndef PEAL_EXECUTOR_AGENT_BUILTIN_INTERNAL_H
#define PEAL_EXECUTOR_AGENT_BUILTIN_INTERNAL_H

#include "peal/executor.h"

/* samples */
int builtin_demo(struct peal_run *run);
int builtin_sharding(struct peal_run *run);
int builtin_fail(struct peal_run *run);
int builtin_sleep(struct peal_run *run);
int builtin_lifecycle(struct peal_run *run);
int builtin_lifecycle_init(void *arg, void **state);
void builtin_lifecycle_destroy(void *arg, void *state);

int builtin_command(struct peal_run *run); /* its arg is a struct builtin_config */

#endif
