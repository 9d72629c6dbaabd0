/* SPDX-License-Identifier: Apache-2.0 */
/* phrases.h - the words of explain.h: a table a language. In a phrase $1, $2 and $3 stand for its
 * parts, and $s for the s of English plurals. Not for others than src/cron. */
#ifndef PEAL_CRON_PHRASES_H
#define PEAL_CRON_PHRASES_H

#include "cron/explain.h"

enum phrase {
    /* lists */
    P_COMMA, /* between members */
    P_AND,   /* before the last */
    P_AND_NUMBER,
    P_AND_DATE,
    P_TO, /* $1 first, $2 last */
    /* the time of a day: English begins with it, Chinese ends with it */
    P_AT_TIMES,
    P_EVERY_SECOND,
    P_N_SECONDS,
    P_N_SECONDS_FROM, /* $2: the first second of each minute */
    P_AT_SECONDS,     /* of every minute */
    P_AT_SECONDS_OF,  /* of minutes that are said elsewhere */
    P_EVERY_MINUTE,
    P_N_MINUTES,
    P_N_MINUTES_FROM,
    P_AT_MINUTES,    /* of every hour */
    P_AT_MINUTES_OF, /* $2: hours */
    P_ON_THE_HOUR,
    P_HOURLY_AT,
    P_HOURLY_BETWEEN, /* $2 the first, $3 the last time */
    P_HOURLY_NIGHT,
    P_N_HOURS_BETWEEN,
    P_SECOND,        /* behind minutes, the second that is not 0 */
    P_BETWEEN,       /* $1 the first, $2 the last time of some hours */
    P_OVERNIGHT,     /* the same, past midnight */
    P_DURING,        /* $1: such stretches, $2: what */
    P_HOURS,         /* $1: hours */
    P_IN_HOURS,      /* $1: P_HOURS, $2: what */
    P_IN_MINUTES,    /* $1: minutes, $2: what */
    P_IN_MINUTES_OF, /* $3: P_HOURS */
    /* days */
    P_EVERY_DAY,
    P_EXCEPT,        /* $1: a weekday */
    P_WEEKDAY_RANGE, /* $1 to $2 */
    P_WEEKDAYS,      /* $1: a list */
    P_LAST_WEEKDAY,
    P_NTH_WEEKDAY,
    P_DAYS,      /* $1: days of a month */
    P_DAY_RANGE, /* $1 to $2 */
    P_DAY_STEP,  /* every $1 days from $2 to $3 */
    P_LAST_DAY,
    P_BEFORE_LAST, /* $1 days before it */
    P_NEAR,
    P_LAST_WORKDAY,
    P_NEAR_BEFORE_LAST,
    P_EACH_MONTH, /* before or behind days */
    P_EACH_YEAR,  /* Chinese: before months */
    P_OF,         /* between months and days */
    P_OF_RANGE,   /* English: days of months $1 to $2 */
    /* months and years */
    P_MONTHS,
    P_MONTH_RANGE,
    P_YEARS,
    P_YEARS_MORE, /* $1: some, $2 more, $3 in all */
    P_YEAR_RANGE,
    P_YEARS_ON,  /* from $1 on */
    P_YEAR_STEP, /* every $1 years from $2 */
    /* sentences */
    P_STOP,
    P_PAUSE, /* between clauses */
    P_ZONE,
    P_NONE,
    P_RATE,
    P_DELAY,
    P_ONCE, /* $1: date, $2: time */
    /* a field alone */
    P_F_EVERY_SECOND,
    P_F_EVERY_MINUTE,
    P_F_EVERY_HOUR,
    P_F_EVERY_MONTH,
    P_F_EVERY_YEAR,
    P_F_SECONDS,
    P_F_MINUTES,
    P_F_HOURS,
    P_F_STEP, /* every $1 from $2 to $3 */
    P_F_DAY_FREE,
    P_F_WEEKDAY_FREE,
    /* spans */
    P_SPAN_DAYS,
    P_SPAN_HOURS,
    P_SPAN_MINUTES,
    P_SPAN_SECONDS,
    P_SPAN_MS,
    PHRASES,
};

struct parts {
    const char *a, *b, *c; /* $1, $2, $3 */
    bool one;              /* $s is nothing */
};
void phrase_put(struct buf *out, enum language lang, enum phrase p, struct parts parts);
/* Cut what stands in out from start on to so many characters. */
void phrase_limit(struct buf *out, size_t start, size_t units);

const char *weekday_word(enum language lang, int weekday);     /* 0 is Sunday */
const char *weekdays_word(enum language lang, int weekday);    /* in lists: "Mondays" */
const char *weekday_of_month(enum language lang, int weekday); /* in "the last Friday" */
const char *month_word(enum language lang, int month);         /* 1-12 */
const char *nth_word(enum language lang, int nth);             /* 1-5 */

#endif
