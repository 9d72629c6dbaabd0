/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are refused with a reason, or make a zone whose readings agree with each other and on
 * which searches end. */
#include "fuzz.h"
#include "cron/cron.h"
#include "cron/zone.h"
#include <stdbool.h>

static void check_local(const struct zone *z, int64_t wall)
{
    struct zone_local l = zone_from_local(z, wall);
    CHECK(l.first_s <= l.last_s && l.until_s > wall);
    if (l.count) {
        CHECK(l.first_s + zone_offset_at(z, l.first_s) == wall);
        CHECK(l.last_s + zone_offset_at(z, l.last_s) == wall);
    } else {
        CHECK(l.first_s - 1 + zone_offset_at(z, l.first_s - 1) < wall);
        CHECK(l.first_s + zone_offset_at(z, l.first_s) > wall);
    }
}

static void check_search(const struct zone *z, const char *text, int64_t from_s)
{
    struct cron c;
    CHECK(!cron_parse(slice_text(text), 2126, &c, NULL));
    for (int dst = DST_XXL; dst <= DST_SMART; dst++) {
        int64_t ms = from_s * 1000;
        for (int i = 0; i < 4; i++) {
            int64_t next;
            if (cron_next(&c, z, (enum dst_policy)dst, ms, &next))
                break;
            CHECK(next > ms);
            ms = next;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zone *z;
    struct why why = { { 0 } };
    if (zone_parse(data, size, "fuzz", &z, &why)) {
        CHECK(why.text[0]);
        return 0;
    }
    struct zone_span span = zone_span_at(z, -3000000000);
    for (int i = 0; i < 200 && span.end_s != INT64_MAX; i++) {
        int64_t at = span.end_s;
        CHECK(zone_offset_at(z, at - 1) == span.offset);
        struct zone_span next = zone_span_at(z, at);
        CHECK(next.begin_s == at && next.end_s > at && next.offset != span.offset);
        for (int64_t d = -7200; d <= 7200; d += 1800) {
            check_local(z, at + span.offset + d);
            check_local(z, at + next.offset + d);
        }
        span = next;
    }
    int64_t from =
        span.begin_s > 0 && span.begin_s < 4000000000 ? span.begin_s - 90000 : 1700000000;
    check_search(z, "0 30 2 * * ?", from);
    check_search(z, "0/15 0/30 * * * ?", from);
    check_search(z, "0 0 0 29 2 ?", from);
    zone_unref(zone_ref(z));
    zone_unref(z);
    return 0;
}
