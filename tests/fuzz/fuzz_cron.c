/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is refused with a reason, or its scheduled times keep what the header promises: later
 * than the start, on the second, matching every field (or the end of a gap under smart), in order.
 * Input: 8 bytes of start, one that picks the zone, the expression. */
#include "fuzz.h"
#include "base/mem.h"
#include "cron/explain.h"
#include "cron/schedule.h"
#include <string.h>

/* Zones without files: New York's rule, Lord Howe's, and one with a day-long gap and back. */
static struct zone *make_zone(const char *footer, int64_t at, int32_t before, int32_t after)
{
    unsigned char b[256];
    size_t n = 0;
    for (int part = 0; part < 2; part++) {
        memset(b + n, 0, 44);
        memcpy(b + n, "TZif3", 5);
        b[n + 35] = (unsigned char)part;
        b[n + 39] = 2;
        b[n + 43] = 4;
        n += 44;
        if (part) {
            for (int i = 7; i >= 0; i--)
                b[n++] = (unsigned char)((uint64_t)at >> (8 * i));
            b[n++] = 1;
        }
        int32_t offsets[] = { before, after };
        for (int t = 0; t < 2; t++) {
            for (int i = 3; i >= 0; i--)
                b[n++] = (unsigned char)((uint32_t)offsets[t] >> (8 * i));
            b[n++] = 0;
            b[n++] = 0;
        }
        memcpy(b + n, "ABC", 4);
        n += 4;
    }
    memcpy(b + n, footer, strlen(footer));
    struct zone *z;
    CHECK(!zone_parse(b, n + strlen(footer), "fuzz", &z, NULL));
    return z;
}

static struct zone *zone_of(unsigned pick)
{
    static struct zone *zones[4];
    if (!zones[0]) {
        zones[0] = zone_utc();
        zones[1] = make_zone("\nEST5EDT,M3.2.0,M11.1.0\n", 0, -18000, -18000);
        zones[2] = make_zone("\n<+1030>-10:30<+11>-11,M10.1.0,M4.1.0\n", 0, 36000, 37800);
        zones[3] = make_zone("\n\n", 1325239200, -36000, 50400);
    }
    return zones[pick % 4];
}

static void check_schedule(const struct cron *c, const struct zone *z, enum dst_policy dst,
                           int64_t after_ms, int64_t ms)
{
    CHECK(ms > after_ms && ms % 1000 == 0);
    int64_t s = ms / 1000;
    if (cron_matches(c, s + zone_offset_at(z, s)))
        return;
    struct zone_span span = zone_span_at(z, s);
    CHECK(dst == DST_SMART && !cron_repeats(c) && span.begin_s == s &&
          zone_offset_at(z, s - 1) < span.offset);
}

static void check_chain(const struct cron *c, const struct zone *z, enum dst_policy dst,
                        int64_t start_ms)
{
    int64_t ms = start_ms;
    for (int i = 0; i < 16; i++) {
        int64_t next;
        if (cron_next(c, z, dst, ms, &next))
            break;
        check_schedule(c, z, dst, ms, next);
        if (next > 2000 && ms < next - 2000) { /* nothing was jumped over: asked from just before */
            int64_t again;
            CHECK(!cron_next(c, z, DST_SMART, next - 1, &again) || dst == DST_XXL);
            CHECK(dst == DST_XXL || again == next);
        }
        ms = next;
    }
}

/* Every language has words for it: whole characters, and no more of them than promised. */
static void check_words(const struct cron *c)
{
    for (int lang = 0; lang < LANGUAGES; lang++) {
        struct buf words = BUF_INIT(EXPLAIN_MAX);
        cron_explain(c, (enum language)lang, &words);
        CHECK(words.len && !words.failed && utf8_valid(words.data, words.len));
        CHECK(utf8_units(words.data, words.len) <= EXPLAIN_UNITS);
        for (int field = 0; field < CRON_FIELDS; field++) {
            buf_reset(&words);
            cron_explain_field(c, (enum cron_field)field, (enum language)lang, &words);
            CHECK(words.len && !words.failed && utf8_valid(words.data, words.len));
            CHECK(utf8_units(words.data, words.len) <= EXPLAIN_FIELD_UNITS);
        }
        buf_done(&words);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 9)
        return 0;
    int64_t start;
    memcpy(&start, data, 8);
    if (data[8] & 0x80)
        start %= 10000000000000; /* most starts should lie where calendars are */
    struct slice text = slice_of((const char *)data + 9, size - 9);
    struct cron c;
    struct why why = { { 0 } };
    if (cron_parse(text, 2126, &c, &why)) {
        CHECK(why.text[0]);
        return 0;
    }
    struct zone *z = zone_of(data[8]);
    check_chain(&c, z, DST_XXL, start);
    check_chain(&c, z, DST_SMART, start);
    check_words(&c);
    return 0;
}
