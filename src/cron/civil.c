/* SPDX-License-Identifier: Apache-2.0 */
/* Days since 1970-01-01 as the one currency between dates and times. */
#include "cron/civil.h"

int64_t civil_to_days(int year, int month, int day)
{
    int y = month <= 2 ? year - 1 : year;
    int64_t era = floor_div(y, 400);
    int yoe = (int)(y - era * 400);
    int doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

struct civil civil_from_days(int64_t days)
{
    enum { ERAS = 82 }; /* of 400 years, so that everything is positive */
    uint32_t n = (uint32_t)(days + 719468 + 146097 * ERAS);
    uint32_t of_centuries = 4 * n + 3;
    uint32_t century = of_centuries / 146097;
    uint64_t of_years = (uint64_t)2939745 * (of_centuries % 146097 | 3);
    uint32_t year = 100 * century + (uint32_t)(of_years >> 32);
    uint32_t day_of_year = (uint32_t)of_years / 2939745 / 4; /* from the 1st of March */
    uint32_t of_months = 2141 * day_of_year + 197913;
    uint32_t next_year = day_of_year >= 306;
    struct civil c;
    c.year = (int)(year + next_year) - 400 * ERAS;
    c.month = (int)((of_months >> 16) - 12 * next_year);
    c.day = (int)((of_months & 0xffff) / 2141) + 1;
    return c;
}

int civil_month_days(int year, int month)
{
    if (month == 2)
        return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28;
    return 30 + ((month + (month >> 3)) & 1);
}

int civil_weekday(int64_t days)
{
    return (int)(days >= -4 ? (days + 4) % 7 : (days + 5) % 7 + 6);
}
