/* SPDX-License-Identifier: Apache-2.0 */
/* handlers.h - what an executor can run by name: copies of the handlers that were added to it.
 *
 * Names are unique, not blank, and at most HANDLER_NAME_MAX bytes of UTF-8. The order of adding is
 * kept: a handler's place in "all" is its number for the isolate.
 * Thread: one adds, before the executor starts; from then on any thread may read. */
#ifndef PEAL_EXECUTOR_CORE_HANDLERS_H
#define PEAL_EXECUTOR_CORE_HANDLERS_H

#include "base/err.h"
#include "base/map.h"
#include "base/why.h"
#include "peal/executor.h"

enum { HANDLER_NAME_MAX = 255 };

struct handlers { /* embed it; handlers_init fills it */
    struct textmap by_name;
    const struct peal_handler **all; /* owned, with what they name */
    size_t n;
};

void handlers_init(struct handlers *h);
void handlers_done(struct handlers *h);
/* Copies it, the name too. ERR_INVALID, ERR_EXISTS or ERR_NOMEM, with why. */
MUST_CHECK enum err handlers_add(struct handlers *h, const struct peal_handler *add,
                                 struct why *why);
const struct peal_handler *handlers_find(const struct handlers *h, struct slice name);
/* Place in "all" of a handler that handlers_find returned. */
size_t handlers_number(const struct peal_handler *of);

#endif
