/* SPDX-License-Identifier: Apache-2.0 */
/* cron.h - cron expressions: the language of XXL-JOB 3.4 (docs/cron.md), its next scheduled time.
 *
 * A parsed expression is a few bitmaps; finding the next scheduled time jumps from set bit to set
 * bit and computes with days since 1970, so its cost does not depend on how far away the scheduled
 * time is within a day, and is at most one step a month beyond. Nothing here allocates. Pure; any
 * thread. */
#ifndef PEAL_CRON_CRON_H
#define PEAL_CRON_CRON_H

#include "base/err.h"
#include "base/str.h"
#include "base/why.h"
#include "cron/zone.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    CRON_TEXT_MAX = 512, /* bytes of an expression */
    CRON_YEAR_MIN = 1970,
    CRON_YEAR_MAX = 2299,
    CRON_YEAR_WORDS = (CRON_YEAR_MAX - CRON_YEAR_MIN) / 64 + 1,
};

/* What becomes of local times that do not exist (gap) or exist twice (overlap). */
enum dst_policy {
    DST_XXL,   /* gap: skipped; overlap: the second pass only, as XXL-JOB does */
    DST_SMART, /* hour field full: ticks in real time; else once each, at the first valid instant */
};

/* How the day of a month is chosen. */
enum cron_days {
    CRON_DAYS_OF_MONTH,  /* days, last_minus, near, near_last; united */
    CRON_DAYS_OF_WEEK,   /* weekdays */
    CRON_DAYS_LAST_WEEK, /* the last `weekday` of the month */
    CRON_DAYS_NTH_WEEK,  /* the nth `weekday` of the month */
};

struct cron {                        /* by value; read-only for everyone but cron_parse */
    uint64_t seconds;                /* bits 0-59 */
    uint64_t minutes;                /* bits 0-59 */
    uint32_t hours;                  /* bits 0-23 */
    uint32_t days;                   /* bits 1-31 */
    uint32_t last_minus;             /* bit n: the n-th day before the last one, L and L-n */
    uint32_t near;                   /* bit d: the weekday nearest to day d, dW */
    uint32_t near_last;              /* bit n: the weekday nearest to L-n, LW and L-nW */
    uint16_t months;                 /* bits 1-12 */
    uint8_t weekdays;                /* bits 0 (Sunday) - 6 */
    uint8_t kind;                    /* enum cron_days */
    uint8_t weekday, nth;            /* 0 = Sunday; 1-5 */
    int16_t last_year;               /* nothing fires later */
    uint64_t years[CRON_YEAR_WORDS]; /* bit y - CRON_YEAR_MIN */
};

/* Read an expression (verbatim, not trimmed). No scheduled time will lie after last_year, which
 * callers set to the year of now + 100 as XXL-JOB does; it is cut to CRON_YEAR_MAX. On ERR_INVALID
 * or ERR_TOOBIG *ret is untouched and why names field, column and rule, and the form that works. */
MUST_CHECK enum err cron_parse(struct slice text, int last_year, struct cron *ret, struct why *why);

/* What the author of a refused expression probably meant, if it can be read: the six fields of a
 * Unix line or of an @name, or the day rule kept. */
bool cron_guess(struct slice text, int last_year, char to[CRON_TEXT_MAX + 1]);
/* Does it choose days of the month and weekdays at once, which no expression can? */
bool cron_both_days(struct slice text, int last_year);

/* The first scheduled time strictly after after_ms floored to the second (epoch ms; the result is a
 * whole second). ERR_NEVER if there is none. */
MUST_CHECK enum err cron_next(const struct cron *c, const struct zone *z, enum dst_policy dst,
                              int64_t after_ms, int64_t *ret_ms);

/* first_ms is a scheduled time: those of its whole wall day or hour from there on, if they all lie
 * before until_ms, are at least least, and the zone does not change near them. Their number, and
 * the last of them; 0: look at each. */
int cron_leap(const struct cron *c, const struct zone *z, int64_t first_ms, int64_t until_ms,
              int least, int64_t *ret_last_ms);

/* How many scheduled times lie in [from_ms, until_ms). */
int64_t cron_count(const struct cron *c, const struct zone *z, enum dst_policy dst, int64_t from_ms,
                   int64_t until_ms);

/* Does the job tick through every hour (smart treats it so), or has it fixed hours? */
bool cron_repeats(const struct cron *c);

/* Does this wall time (seconds since 1970-01-01T00:00:00 on the wall) match every field? */
bool cron_matches(const struct cron *c, int64_t local_s);

/* "xxl" and "smart". */
const char *dst_policy_name(enum dst_policy dst);
bool dst_policy_find(struct slice name, enum dst_policy *ret);

#endif
