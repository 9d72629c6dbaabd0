/* SPDX-License-Identifier: Apache-2.0 */
/* embed.h - a struct peal_executor seen from inside: what programs of ours need beyond
 * peal/executor.h. The same threads as there; before its start only. */
#ifndef PEAL_EXECUTOR_LIB_EMBED_H
#define PEAL_EXECUTOR_LIB_EMBED_H

#include "base/config.h"
#include "base/str.h"
#include "executor/core/handlers.h"
#include "net/service.h"
#include "peal/executor.h"

/* One whose settings are those of a table; NULL without memory. */
struct peal_executor *embed_new(const struct config_table *table);
/* Its settings, to be read in another way. */
struct config *embed_config(struct peal_executor *e);
const struct handlers *embed_handlers(const struct peal_executor *e);
/* What /run says about a handler that is not there: executor.h. */
void embed_hint(struct peal_executor *e, const char *(*hint)(struct slice handler));
/* Print what it says on standard error, a line an event, in the format of its settings. */
void embed_print(struct peal_executor *e);
/* Watched over by a service manager: signs of life of its loop's thread. Borrowed until it has
 * stopped. */
void embed_service(struct peal_executor *e, struct service *s);
/* After it has stopped: handlers that did not. peal_executor_free would wait for them. */
int embed_stuck(const struct peal_executor *e);

#endif
