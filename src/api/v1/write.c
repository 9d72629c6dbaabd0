/* SPDX-License-Identifier: Apache-2.0 */
/* How answers of /api/v1 write what every resource has: an instant is a pair of members, so that a
 * program needs no parser of dates and a person no calculator. */
#include "api/v1/v1.h"
#include "cron/rfc3339.h"
#include <stdio.h>

void v1_instant(struct jsonw *w, const char *name, int64_t ms)
{
    char key[64], wall[RFC3339_SIZE], text[RFC3339_SIZE];
    walltime_format(ms, zone_utc(), wall); /* "yyyy-MM-dd HH:mm:ss" */
    snprintf(text, sizeof(text), "%.10sT%.8s.%03dZ", wall, wall + 11, (int)(ms % 1000));
    snprintf(key, sizeof(key), "%sAt", name);
    jsonw_text(w, key, text);
    snprintf(key, sizeof(key), "%sMs", name);
    jsonw_i64(w, key, ms);
}
