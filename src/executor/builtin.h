/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.h - the handlers that come with `peal executor`; programs with libpeal have their own.
 *
 * They are ordinary handlers. Which of them there are is the configuration's choice. */
#ifndef PEAL_EXECUTOR_BUILTIN_H
#define PEAL_EXECUTOR_BUILTIN_H

#include <stddef.h>
#include "base/str.h"
#include "peal/executor.h"

struct builtin_config {   /* borrowed as long as the handlers are used */
    const char *commands; /* programs that commandJobHandler may run, comma separated; "*": any */
};

/* Those that the configuration allows; valid until the next call. One thread. */
const struct peal_handler *const *builtin_handlers(const struct builtin_config *c, size_t *n);
/* How the configuration would allow a built-in handler of that name; NULL if there is none. */
const char *builtin_hint(struct slice name);

#endif
