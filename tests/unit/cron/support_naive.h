/* SPDX-License-Identifier: Apache-2.0 */
/* support_naive.h - the meaning of an expression, written a second time and as simply as possible:
 * libc's calendar, one instant after the other, nothing shared with src/cron but the bitmaps and
 * zone_offset_at (which test_zone compares with libc's own reading of the files). */
#ifndef PEAL_TESTS_SUPPORT_NAIVE_H
#define PEAL_TESTS_SUPPORT_NAIVE_H

#include "cron/cron.h"

/* Does this wall time match every field? */
bool naive_matches(const struct cron *c, int64_t wall_s);
/* Does something fire at this instant? searched_from_s: where the search began (rule 3 of the
 * vectors' README: under xxl nothing before that wall time fires). */
bool naive_fires(const struct cron *c, const struct zone *z, enum dst_policy dst, int64_t utc_s,
                 int64_t searched_from_s);
/* The first instant > after_s at which it fires, within days_max days; ERR_NEVER if none. */
enum err naive_next(const struct cron *c, const struct zone *z, enum dst_policy dst,
                    int64_t after_s, int days_max, int64_t *ret_s);

/* A random expression of the documented language into text. */
void random_expression(uint64_t *seed, char *text, size_t size);
uint64_t random_u64(uint64_t *seed); /* splitmix64 */
int random_below(uint64_t *seed, int n);

#endif
