/* SPDX-License-Identifier: Apache-2.0 */
/* minutes.h - the load that a schedule makes, by minutes and seconds. Pure; any thread. */
#ifndef PEAL_CRON_MINUTES_H
#define PEAL_CRON_MINUTES_H

#include "cron/schedule.h"

#define MINUTE_MS ((int64_t)60000)

/* Add sign (1 or -1) for each scheduled time from from_ms on, which is a whole minute, to the
 * counts of the n minutes that follow. first_ms: where a rate goes on, else not looked at.
 * FIX_DELAY counts as if its runs took no time. At most some 1,500 searches, however often it
 * fires. */
void schedule_minutes(const struct schedule *s, int64_t first_ms, int64_t from_ms, int sign,
                      int32_t *counts, int n);

/* The seconds of that minute in which it fires: bits 0-59. */
uint64_t schedule_seconds(const struct schedule *s, int64_t first_ms, int64_t minute_ms);

#endif
