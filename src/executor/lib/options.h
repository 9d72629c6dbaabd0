/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the settings of an executor, as one table: for programs with libpeal and for `peal
 * executor`, whose further rows stand at its end. base/config.h reads it. Any thread. */
#ifndef PEAL_EXECUTOR_LIB_OPTIONS_H
#define PEAL_EXECUTOR_LIB_OPTIONS_H

#include "base/config.h"
#include "executor/core/executor.h"

#define OPTION_TOKEN "xxl.job.accessToken"
#define OPTION_ENABLED "xxl.job.executor.enabled"
#define OPTION_LOG_FORMAT "peal.executor.log.format" /* of embed_print */

extern const struct config_table options_library; /* what every executor has */
extern const struct config_table options_agent;   /* the same and the built-in handlers' */

/* What the settings say; texts are borrowed from c. ERR_INVALID: a rule that takes two of them. */
MUST_CHECK enum err options_apply(const struct config *c, struct executor_config *cf,
                                  struct why *why);

#endif
