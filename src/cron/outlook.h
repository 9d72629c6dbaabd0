/* SPDX-License-Identifier: Apache-2.0 */
/* outlook.h - what lies ahead of a schedule: how often it fires, what changes of the clock make of
 * its times, and what its author may not have expected. Pure; any thread. */
#ifndef PEAL_CRON_OUTLOOK_H
#define PEAL_CRON_OUTLOOK_H

#include "cron/schedule.h"

/* What a change of the clock makes of a scheduled time. */
enum fire_note {
    NOTE_NONE,
    NOTE_GAP_MOVED,      /* its own wall time does not exist on that day */
    NOTE_OVERLAP_FIRST,  /* its wall time comes again */
    NOTE_OVERLAP_SECOND, /* its wall time was there before */
};
enum fire_note schedule_note(const struct schedule *s, int64_t ms);

/* Scheduled times in [from_ms, until_ms), if first_ms is the first one at or after from_ms. Of
 * FIX_DELAY the first alone is known. */
int64_t schedule_count(const struct schedule *s, int64_t first_ms, int64_t from_ms,
                       int64_t until_ms);

enum remark_kind {
    REMARK_NEVER,    /* no scheduled time lies ahead */
    REMARK_LEAP_DAY, /* 29 February alone; at_ms: the next */
    REMARK_RARE,     /* less than once a year; at_ms: the next */
    REMARK_DENSE,    /* count: scheduled times in the next 24 hours */
    REMARK_GAP,      /* the clock leaves out its wall time wall_s */
    REMARK_OVERLAP,  /* the clock repeats its wall time wall_s */
};

struct remark {
    enum remark_kind kind;
    int64_t at_ms;   /* where it strikes; 0: nowhere in particular */
    int64_t wall_s;  /* seconds since 1970-01-01T00:00:00 on the wall */
    int64_t fires_s; /* gap: the wall time at which it fires instead; -1: it does not */
    bool first;      /* overlap: it fires in the first pass, else in the second */
    int64_t count;
};

typedef void remark_fn(void *ctx, const struct remark *remark);

/* Tell what is remarkable from from_ms up to until_ms: at most REMARKS_MAX. */
enum { REMARKS_MAX = 16 };
void schedule_remarks(const struct schedule *s, int64_t from_ms, int64_t until_ms, remark_fn *fn,
                      void *ctx);

#endif
