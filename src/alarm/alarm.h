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
#include "model/alarm.h"
#include "model/channel.h"
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
/* Before center_run, after alarms_open; the API that has it comes before. */
MUST_CHECK enum err alarms_start(struct alarms *a, struct center *c, enum wire_lang lang,
                                 struct why *why);
/* After center_run has returned and api_free, before center_free. NULL is fine. */
void alarms_free(struct alarms *a);

/* ---- channels of the table peal_channel, any thread while the center runs -------------------- */

#define ALARMS_TRY_MS 10000 /* a test takes at most */

/* Tests under way end soon; others are not begun. */
void alarms_stop(struct alarms *a);
/* A write to the table was committed. */
void alarms_changed(struct alarms *a);
/* Delivery id was committed as open again: it is sent. */
void alarms_resent(struct alarms *a, int64_t id);
/* Messages that the limit of the channel has kept back since the last one that was sent. */
int64_t alarms_held(const struct alarms *a, int64_t channel_id);
/* Row i of the channels of the settings; *ret_name NULL: it is not set up. False: there is none. */
bool alarms_set_up(const struct alarms *a, int i, const char **ret_name, bool *ret_by_job);
/* Send a message of event ALARM_TEST, whether the channel is on or off. Blocks. */
enum delivery_outcome alarms_try(const struct alarms *a, const struct channel_record *r,
                                 int64_t *ret_took_ms, struct why *said);

#endif
