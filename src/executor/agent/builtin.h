/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.h - the handlers that come with `peal executor`; programs with libpeal have their own.
 *
 * They are ordinary handlers, made of what peal/executor.h offers; only the one for commands uses
 * the executor's process.h. Which of them there are is the configuration's choice. */
#ifndef PEAL_EXECUTOR_AGENT_BUILTIN_H
#define PEAL_EXECUTOR_AGENT_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"
#include "base/why.h"
#include "peal/executor.h"

struct builtin_config {     /* borrowed as long as the handlers are used; NULL is as "" */
    const char *samples;    /* demo, sharding, fail, sleep, lifecycle, comma separated; "*": all */
    const char *commands;   /* programs that commandJobHandler may run, comma separated; "*": any */
    const char *http_hosts; /* that httpJobHandler may ask, as builtin_http.h has it */
    bool http_private;      /* also at addresses that are not public */
};

/* Is each name in samples one? Else ERR_INVALID, and why says which is not. */
MUST_CHECK enum err builtin_check(const struct builtin_config *c, struct why *why);
/* Those that the configuration allows; valid until the next call. One thread. */
const struct peal_handler *const *builtin_handlers(const struct builtin_config *c, size_t *n);
/* How the configuration would allow a built-in handler of that name; NULL if there is none. */
const char *builtin_hint(struct slice name);

#endif
