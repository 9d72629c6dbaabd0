/* SPDX-License-Identifier: Apache-2.0 */
/* logs.h - /joblog: runs, their rolling logs, the kill, the deletion. Private to src/api. */
#ifndef PEAL_API_XXL_LOGS_H
#define PEAL_API_XXL_LOGS_H

#include "api/front.h"

void logs_list(struct web_call *call);
void logs_detail(struct web_call *call);
void logs_kill(struct web_call *call);
void logs_clear(struct web_call *call);

/* Text with HTML's five characters escaped, but for <br>, <b> and </b>. */
void log_escape(struct buf *out, struct slice text);
/* "yyyy-MM-dd HH:mm:ss - yyyy-MM-dd HH:mm:ss" in the zone; empty or NULL: both -1. */
MUST_CHECK enum err log_filter_time(const char *text, const struct zone *zone, int64_t *ret_from_ms,
                                    int64_t *ret_to_ms, struct why *why);

#endif
