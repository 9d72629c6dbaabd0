/* SPDX-License-Identifier: Apache-2.0 */
/* clean.h - the nine rules by which users delete log rows, for both APIs. Private to src/api. */
#ifndef PEAL_API_CLEAN_H
#define PEAL_API_CLEAN_H

#include "api/front.h"
#include "cron/zone.h"

/* 1 to 4: rows older than one, three, six, twelve months. 5 to 8: all but the newest 1,000, 10,000,
 * 30,000, 100,000. 9: all. */
enum { CLEAN_RULE_MIN = 1, CLEAN_RULE_MAX = 9 };

extern const char *const clean_rule_names[CLEAN_RULE_MAX]; /* as /api/v1 has them, rule 1 first */

/* What the rule takes, of all groups and jobs. Months go back on the zone's calendar. */
struct log_clean clean_walk(int rule, int64_t now_ms, const struct zone *zone);

/* The same of now, on the server's calendar. */
struct log_clean clean_walk_now(const struct web_call *call, int rule);

/* Have it done: the request is on disk when this returns, the rows go in steps. */
MUST_CHECK enum err clean_ask(struct web_call *call, const struct log_clean *walk, struct why *why);

#endif
