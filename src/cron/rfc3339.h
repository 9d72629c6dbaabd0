/* SPDX-License-Identifier: Apache-2.0 */
/* rfc3339.h - times as text: RFC 3339 with an offset, and `yyyy-MM-dd HH:mm:ss` in a zone.
 * Pure; any thread. */
#ifndef PEAL_CRON_RFC3339_H
#define PEAL_CRON_RFC3339_H

#include "base/err.h"
#include "base/str.h"
#include "base/why.h"
#include "cron/zone.h"

enum { RFC3339_SIZE = 40 }; /* bytes that hold any text below, terminated */

/* `2024-02-29T23:59:59.123+08:00`: date, `T`, `t` or a blank, time, optional fraction (1-9 digits,
 * cut to ms), `Z`, `z` or an offset within +-23:59. A second of 60 counts as the next minute's
 * first. Nothing may follow. */
MUST_CHECK enum err rfc3339_parse(struct slice text, int64_t *ret_ms, struct why *why);
/* With z's offset at that time (`Z` only for UTC itself); the fraction (3 digits) is left out
 * when it is 0. Offsets with seconds are rounded down to the minute, and the time with them, so
 * that the text always means the same time. Returns text. */
char *rfc3339_format(int64_t ms, const struct zone *z, char text[RFC3339_SIZE]);

/* `yyyy-MM-dd HH:mm:ss` on z's wall. Parsing: a time in a gap means the first instant after it, one
 * that exists twice its first pass. */
MUST_CHECK enum err walltime_parse(struct slice text, const struct zone *z, int64_t *ret_ms,
                                   struct why *why);
char *walltime_format(int64_t ms, const struct zone *z, char text[RFC3339_SIZE]);

/* Year of a time on z's wall (for "the year of now + 100"). */
int wall_year(int64_t ms, const struct zone *z);

#endif
