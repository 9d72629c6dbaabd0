/* SPDX-License-Identifier: Apache-2.0 */
/* zone.h - one time zone as a table of spans of constant offset from UTC.
 *
 * A zone is made from the bytes of a TZif file (RFC 8536 and RFC 9636, version 2 or later; the
 * footer's POSIX rule is unrolled to the end of 2301, so that a lookup is one step into a table).
 * Only offsets matter here: whether a span is called daylight saving is never asked, which is why
 * zones with "negative" saving (Europe/Dublin, Africa/Casablanca) need no special case.
 *
 * Immutable after parsing, counted with atomics: any thread may use, ref and unref. Pure. */
#ifndef PEAL_CRON_ZONE_H
#define PEAL_CRON_ZONE_H

#include "base/err.h"
#include "base/why.h"
#include <stddef.h>
#include <stdint.h>

struct zone; /* opaque */

enum { ZONE_FILE_MAX = 256 * 1024 }; /* bytes; the largest real file has fewer than 4,000 */

/* Make a zone of the n bytes of a TZif file; name is copied (cut at 127 bytes). The caller owns
 * one count of *ret. Refused with ERR_INVALID: version 1 files, files cut short, transitions out
 * of order, offsets beyond -25:59:59..+25:59:59, a footer that is no POSIX rule, ZONE_FILE_MAX
 * exceeded, more than 4,096 transitions. Leap seconds ("right/" files) are refused too. */
MUST_CHECK enum err zone_parse(const void *tzif, size_t n, const char *name, struct zone **ret,
                               struct why *why);
/* UTC; static storage, borrowed (ref and unref are harmless). */
struct zone *zone_utc(void);
struct zone *zone_ref(struct zone *z); /* returns z; NULL is fine */
void zone_unref(struct zone *z);       /* NULL is fine */
const char *zone_name(const struct zone *z);

/* Seconds to add to UTC for local time at the instant utc_s (epoch seconds). */
int zone_offset_at(const struct zone *z, int64_t utc_s);

/* The span of constant offset that contains an instant. */
struct zone_span {
    int64_t begin_s, end_s; /* epoch seconds, end exclusive; INT64_MIN, INT64_MAX at the edges */
    int offset;             /* seconds east of UTC */
};
struct zone_span zone_span_at(const struct zone *z, int64_t utc_s);

/* Where a local wall time (seconds since 1970-01-01T00:00:00 on the wall) lies in real time. */
struct zone_local {
    int count;       /* how often it exists: 0 in a gap, 1, or 2 (and more) in an overlap */
    int64_t first_s; /* epoch seconds of its first pass; in a gap: the first instant after it */
    int64_t last_s;  /* of its last pass; in a gap as first_s */
    int64_t until_s; /* count != 1: wall time at which this gap or overlap ends; else local_s + 1 */
};
struct zone_local zone_from_local(const struct zone *z, int64_t local_s);

#endif
