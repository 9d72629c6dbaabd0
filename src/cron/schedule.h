/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - when a job is due: its schedule_type and schedule_conf, parsed.
 *
 * | type      | conf                       | next scheduled time after base |
 * |-----------|----------------------------|------------------------------------------------------|
 * | NONE      | ignored                    | never                                                |
 * | CRON      | a cron expression          | cron.h                                               |
 * | FIX_RATE  | `30` (seconds) or `250ms`  | base + interval; in seconds rounded up to the second |
 * | FIX_DELAY | the same                   | base + interval; base is the end of the run          |
 * | ONCE      | RFC 3339 with offset       | the moment itself while it is later than base        |
 *
 * Held by value; a struct counts its zone. Pure; any thread. */
#ifndef PEAL_CRON_SCHEDULE_H
#define PEAL_CRON_SCHEDULE_H

#include "cron/cron.h"

enum schedule_type {
    SCHEDULE_NONE,
    SCHEDULE_CRON,
    SCHEDULE_FIX_RATE,
    SCHEDULE_FIX_DELAY,
    SCHEDULE_ONCE
};

enum {
    SCHEDULE_CONF_MAX = CRON_TEXT_MAX, /* bytes of schedule_conf */
    SCHEDULE_INTERVAL_MIN_MS = 100,
};

struct schedule {
    enum schedule_type type;
    enum dst_policy dst;
    bool in_seconds;     /* FIX_RATE, FIX_DELAY: the conf was in seconds */
    int64_t interval_ms; /* FIX_RATE, FIX_DELAY */
    int64_t once_ms;     /* ONCE: epoch ms */
    struct cron cron;    /* CRON */
    struct zone *zone;   /* counted; never NULL after schedule_parse */
};

/* Read type and conf. zone NULL means UTC; it is counted, not taken. An unknown type is refused
 * here (callers that read foreign rows treat it as NONE). *ret needs schedule_done. */
MUST_CHECK enum err schedule_parse(struct slice type, struct slice conf, struct zone *zone,
                                   enum dst_policy dst, int last_year, struct schedule *ret,
                                   struct why *why);
void schedule_done(struct schedule *s); /* leaves type NONE; twice is fine, so is zeroed memory */
void schedule_copy(struct schedule *to, const struct schedule *from); /* counts the zone again */

/* The next scheduled time after base_ms (epoch ms), see the table; ERR_NEVER if there is none (also
 * where it would lie beyond the year 2299). */
MUST_CHECK enum err schedule_next(const struct schedule *s, int64_t base_ms, int64_t *ret_ms);

/* first_ms is a scheduled time. Many of those from there on that lie before until_ms, counted
 * without looking at each: their number, and the last of them; 0: look at each. What is not counted
 * holds least scheduled times, or what is counted does. */
int64_t schedule_leap(const struct schedule *s, int64_t first_ms, int64_t until_ms, int least,
                      int64_t *ret_last_ms);

/* "CRON", ...; static storage. */
const char *schedule_type_name(enum schedule_type type);
bool schedule_type_find(struct slice name, enum schedule_type *ret); /* exact, upper case */

#endif
