/* SPDX-License-Identifier: Apache-2.0 */
/* alarm.h - tells people of runs that have failed.
 *
 * A failed run that somebody wants to hear of leaves a row of peal_alarm in the transaction that
 * ends it (ledger/alarms.h). From there a thread a channel takes it: at least one message to each
 * target, tries with back-off for an hour, each try in peal_delivery, then alarm_status of the log
 * row. Nothing here is on the way of a firing. docs/alarms.md, docs/internals/alarm.md. */
#ifndef PEAL_ALARM_ALARM_H
#define PEAL_ALARM_ALARM_H

#include "base/config.h"
#include "server/center.h"
#include "wire/trigger_text.h"

struct alarms;

/* All settings of all channels: appended to the n rows of base. Freed by the caller. */
struct config_row *alarm_options(const struct config_row *base, int n, int *ret_n);

/* Before center_new. ERR_INVALID: a setting is wrong, why names it. */
MUST_CHECK enum err alarms_open(const struct config *config, struct alarms **ret, struct why *why);
/* Names of the channels that are told of every failure, for center_config; NULL-terminated,
 * borrowed from a. */
const char *const *alarms_for_all(const struct alarms *a);
/* Before center_run. */
MUST_CHECK enum err alarms_start(struct alarms *a, struct center *c, enum wire_lang lang,
                                 struct why *why);
/* After center_run has returned and api_free, before center_free. NULL is fine. */
void alarms_free(struct alarms *a);

#endif
