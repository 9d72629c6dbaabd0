/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is refused with a reason, or is a time that survives being written and read. The first
 * byte picks what the rest is read as: a time, a wall time, or schedule_conf of some type. */
#include "fuzz.h"
#include "cron/rfc3339.h"
#include "cron/schedule.h"
#include <string.h>

static void check_time(struct slice text)
{
    int64_t ms, back;
    char written[RFC3339_SIZE];
    struct why why = { { 0 } };
    if (rfc3339_parse(text, &ms, &why)) {
        CHECK(why.text[0]);
        return;
    }
    if (ms < -62167219200000 || ms > 253402300799999)
        return; /* the offset led out of the years 0-9999 */
    rfc3339_format(ms, zone_utc(), written);
    CHECK(!rfc3339_parse(slice_text(written), &back, NULL) && back == ms);
}

static void check_wall(struct slice text)
{
    int64_t ms, back;
    char written[RFC3339_SIZE];
    if (walltime_parse(text, zone_utc(), &ms, NULL))
        return;
    walltime_format(ms, zone_utc(), written);
    CHECK(text.n == strlen(written) && memcmp(text.p, written, text.n) == 0);
    CHECK(!walltime_parse(slice_text(written), zone_utc(), &back, NULL) && back == ms);
}

static void check_schedule(enum schedule_type type, struct slice conf)
{
    struct schedule s;
    struct why why = { { 0 } };
    if (schedule_parse(slice_text(schedule_type_name(type)), conf, NULL, DST_SMART, 2126, &s,
                       &why)) {
        CHECK(why.text[0]);
        return;
    }
    int64_t ms;
    for (int64_t base = -1000000; base < 4000000000000; base += 999999999999)
        if (!schedule_next(&s, base, &ms))
            CHECK(ms > base);
    schedule_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct slice text = slice_of((const char *)data + 1, size - 1);
    if (data[0] % 8 == 0)
        check_time(text);
    else if (data[0] % 8 == 1)
        check_wall(text);
    else
        check_schedule((enum schedule_type)(data[0] % 5), text);
    return 0;
}
