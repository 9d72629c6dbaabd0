/* SPDX-License-Identifier: Apache-2.0 */
/* civil.h - dates and days, in the proleptic Gregorian calendar.
 *
 * Date to days is Howard Hinnant's ("chrono-Compatible Low-Level Date Algorithms"); days to date is
 * Neri and Schneider's ("Euclidean affine functions and their application to calendar algorithms",
 * 2022), which needs no 64-bit division. Pure; any thread. */
#ifndef PEAL_CRON_CIVIL_H
#define PEAL_CRON_CIVIL_H

#include <stdint.h>

/* Dates and days since 1970-01-01. month 1-12, day 1-31; weekday 0 = Sunday. Days from a date are
 * right for every year, dates from days for the years -30000 to 30000. */
struct civil {
    int year, month, day;
};
int64_t civil_to_days(int year, int month, int day);
struct civil civil_from_days(int64_t days);
int civil_month_days(int year, int month);
int civil_weekday(int64_t days);

/* a / b rounded down; b > 0. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

#endif
