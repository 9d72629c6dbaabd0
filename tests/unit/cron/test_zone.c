/* SPDX-License-Identifier: Apache-2.0 */
/* Zones against libc's reading of the same files, and damaged files. */
#include "cron/civil.h"
#include "cron/zone.h"
#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <cmocka.h>

enum { FILE_MAX = 64 * 1024 };
static const char zoneinfo[] = "/usr/share/zoneinfo";

static size_t read_file(const char *name, unsigned char *to)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", zoneinfo, name);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    size_t n = fread(to, 1, FILE_MAX, f);
    fclose(f);
    return n;
}

static struct zone *load(const char *name)
{
    static unsigned char bytes[FILE_MAX];
    struct zone *z = NULL;
    struct why why = { { 0 } };
    size_t n = read_file(name, bytes);
    if (zone_parse(bytes, n, name, &z, &why))
        fail_msg("%s", why.text);
    return z;
}

static long libc_offset(int64_t s)
{
    time_t t = (time_t)s;
    struct tm tm;
    assert_non_null(localtime_r(&t, &tm));
    return tm.tm_gmtoff;
}

static void compare_at(const char *name, const struct zone *z, int64_t s)
{
    if (zone_offset_at(z, s) != libc_offset(s))
        fail_msg("%s at %lld: libc %ld, ours %d", name, (long long)s, libc_offset(s),
                 zone_offset_at(z, s));
}

static int compared;

static void compare(const char *name)
{
    char tz[300];
    snprintf(tz, sizeof(tz), ":%s", name);
    setenv("TZ", tz, 1);
    tzset();
    struct zone *z = load(name);
    const int64_t end = civil_to_days(2200, 1, 1) * 86400;
    struct zone_span span = zone_span_at(z, civil_to_days(1900, 1, 1) * 86400);
    for (;;) {
        for (int64_t s = -1; s <= 1; s++) {
            if (span.begin_s != INT64_MIN)
                compare_at(name, z, span.begin_s + s);
            if (span.end_s != INT64_MAX)
                compare_at(name, z, span.end_s + s);
        }
        if (span.end_s >= end)
            break;
        span = zone_span_at(z, span.end_s);
    }
    /* and where we see no change, for the changes that we may have missed */
    for (int64_t s = -2208988800; s < end; s += 86400 * 13 + 3600)
        compare_at(name, z, s);
    zone_unref(z);
    compared++;
}

static void walk(const char *folder)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", zoneinfo, folder);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char name[300], full[900];
        struct stat st;
        snprintf(name, sizeof(name), "%s%s%s", folder, *folder ? "/" : "", e->d_name);
        snprintf(full, sizeof(full), "%s/%s", zoneinfo, name);
        if (e->d_name[0] == '.' || strchr(e->d_name, '.') || stat(full, &st) != 0 ||
            !strcmp(name, "right") || !strcmp(name, "posix"))
            continue;
        char magic[5] = "";
        FILE *f = S_ISREG(st.st_mode) ? fopen(full, "re") : NULL;
        bool zone = f && fread(magic, 1, 4, f) == 4 && memcmp(magic, "TZif", 4) == 0;
        if (f)
            fclose(f);
        if (S_ISDIR(st.st_mode))
            walk(name);
        else if (zone)
            compare(name);
    }
    closedir(d);
}

static void every_system_zone_reads_as_libc_reads_it(void **state)
{
    (void)state;
    walk("");
    print_message("%d zones\n", compared);
    assert_true(compared > 300);
}

/* --- files made by hand --------------------------------------------------------------------- */

struct made {
    unsigned char bytes[512];
    size_t n;
};

static void put(struct made *m, const void *p, size_t n)
{
    memcpy(m->bytes + m->n, p, n);
    m->n += n;
}

static void put_be(struct made *m, int64_t v, int size)
{
    for (int i = size - 1; i >= 0; i--)
        m->bytes[m->n++] = (unsigned char)((uint64_t)v >> (8 * i));
}

static void put_header(struct made *m, int times, int types)
{
    static const char zero[15];
    put(m, "TZif3", 5);
    put(m, zero, 15);
    put_be(m, 0, 4);
    put_be(m, 0, 4);
    put_be(m, 0, 4);
    put_be(m, times, 4);
    put_be(m, types, 4);
    put_be(m, 4, 4);
}

/* Types 0: +0, 1: `offset`; transitions go to types 1, 0, 1, ... */
static struct made make(const int64_t *times, int ntimes, int32_t offset, const char *footer)
{
    struct made m = { .n = 0 };
    put_header(&m, 0, 1);
    put(&m, "\0\0\0\0\0\0", 6);
    put(&m, "ABC", 4);
    put_header(&m, ntimes, 2);
    for (int i = 0; i < ntimes; i++)
        put_be(&m, times[i], 8);
    for (int i = 0; i < ntimes; i++)
        put_be(&m, (i + 1) % 2, 1);
    put(&m, "\0\0\0\0\0\0", 6);
    put_be(&m, offset, 4);
    put(&m, "\1\0", 2);
    put(&m, "ABC", 4);
    put(&m, footer, strlen(footer));
    return m;
}

static enum err parse_made(const struct made *m, struct zone **ret, struct why *why)
{
    unsigned char *exact = malloc(m->n); /* so that the sanitizer sees reads behind the end */
    memcpy(exact, m->bytes, m->n);
    enum err err = zone_parse(exact, m->n, "Made/Up", ret, why);
    free(exact);
    return err;
}

static void check_footer(const char *footer, const int64_t *s, const int *offsets, int n)
{
    struct made m = make(NULL, 0, 3600, footer);
    struct zone *z;
    struct why why = { { 0 } };
    if (parse_made(&m, &z, &why))
        fail_msg("%s: %s", footer, why.text);
    for (int i = 0; i < n; i++)
        if (zone_offset_at(z, s[i]) != offsets[i])
            fail_msg("%s at %lld: %d", footer, (long long)s[i], zone_offset_at(z, s[i]));
    zone_unref(z);
}

static int64_t at(int year, int month, int day, int hour)
{
    return civil_to_days(year, month, day) * 86400 + hour * 3600;
}

static void footers_of_every_form_are_read(void **state)
{
    (void)state;
    int64_t s[] = { at(2100, 1, 15, 0), at(2100, 7, 15, 0) };
    check_footer("\nEST5EDT,M3.2.0,M11.1.0\n", s, (int[]){ -18000, -14400 }, 2);
    check_footer("\nAEST-10AEDT,M10.1.0,M4.1.0/3\n", s, (int[]){ 39600, 36000 }, 2);
    check_footer("\n<+1030>-10:30<+11>-11,M10.1.0,M4.1.0\n", s, (int[]){ 39600, 37800 }, 2);
    check_footer("\nIST-1GMT0,M10.5.0,M3.5.0/1\n", s, (int[]){ 0, 3600 }, 2);
    check_footer("\n<-03>3<-02>,M3.5.0/-2,M10.5.0/-1\n", s, (int[]){ -10800, -7200 }, 2);
    check_footer("\nABC-5:30:15\n", s, (int[]){ 19815, 19815 }, 2);
    check_footer("\n\n", s, (int[]){ 0, 0 }, 2);
    /* all-year saving (RFC 9636 section 3.3.1), and its like in Julian days */
    check_footer("\nXXX3EDT4,0/0,J365/23\n", s, (int[]){ -14400, -14400 }, 2);
    /* the 60th day without leap days is the 1st of March; counted from 0 with them, in a leap year
     * it is the same */
    int64_t leap[] = { at(2096, 2, 29, 12), at(2096, 3, 1, 12) };
    check_footer("\nAAA0BBB-1,J60/0,J300/0\n", leap, (int[]){ 0, 3600 }, 2);
    check_footer("\nAAA0BBB-1,60/0,300/0\n", leap, (int[]){ 0, 3600 }, 2);
    /* hours far beyond the day: Thursday's 26th hour is Friday 02:00 */
    int64_t long_day[] = { at(2050, 3, 25, 1), at(2050, 3, 25, 3) };
    check_footer("\nAAA0BBB-1,M3.4.4/26,M10.4.4/50\n", long_day, (int[]){ 0, 3600 }, 2);
}

static void expect_refusal(struct made m, const char *part)
{
    struct zone *z = NULL;
    struct why why = { { 0 } };
    assert_int_equal(parse_made(&m, &z, &why), ERR_INVALID);
    assert_null(z);
    if (!strstr(why.text, part))
        fail_msg("%s does not say %s", why.text, part);
}

static void damaged_files_are_refused_with_the_reason(void **state)
{
    (void)state;
    int64_t up[] = { 1000, 2000 }, down[] = { 2000, 1000 }, far[] = { 0, INT64_MAX };
    static const char *const footers[] = {
        "\nAB5\n",
        "\nABC\n",
        "\nABC25\n",
        "\nABC5DEF\n",
        "\nABC5DEF,M13.1.0,M1.1.0\n",
        "\nABC5DEF,M3.6.0,M1.1.0\n",
        "\nABC5DEF,J0,J1\n",
        "\nABC5DEF,J1,J2,\n",
        "\nABC5DEF,1/168,2\n",
        "\n<AB\n",
    };
    for (size_t i = 0; i < sizeof(footers) / sizeof(*footers); i++)
        expect_refusal(make(up, 2, 3600, footers[i]), "footer");
    expect_refusal(make(up, 2, 3600, "\nABC0"), "footer is cut short");
    expect_refusal(make(up, 2, 3600, ""), "footer is cut short");
    expect_refusal(make(down, 2, 3600, "\n\n"), "out of order");
    expect_refusal(make(far, 2, 3600, "\n\n"), "beyond the year");
    expect_refusal(make(up, 2, 26 * 3600, "\n\n"), "offset");
    struct made m = make(up, 2, 3600, "\n\n");
    m.bytes[4] = '\0';
    expect_refusal(m, "version 1");
    m = make(up, 2, 3600, "\n\n");
    m.bytes[0] = 'X';
    expect_refusal(m, "no TZif file");
}

/* A file cut anywhere, or with any byte changed, is refused or read: never worse. */
static void no_cut_and_no_flipped_byte_does_harm(void **state)
{
    (void)state;
    static unsigned char bytes[FILE_MAX];
    size_t n = read_file("Europe/London", bytes);
    for (size_t cut = 0; cut < n; cut++) {
        unsigned char *part = malloc(cut ? cut : 1);
        memcpy(part, bytes, cut);
        struct zone *z;
        assert_int_equal(zone_parse(part, cut, "cut", &z, NULL), ERR_INVALID);
        free(part);
    }
    for (size_t i = 0; i < n; i++) {
        unsigned char kept = bytes[i];
        bytes[i] ^= 0x81;
        struct zone *z;
        if (!zone_parse(bytes, n, "flip", &z, NULL)) {
            for (int64_t s = -4000000000; s < 12000000000; s += 777777777)
                zone_from_local(z, s);
            zone_unref(z);
        }
        bytes[i] = kept;
    }
}

static void local_times_map_back(void **state)
{
    (void)state;
    struct zone *z = load("America/New_York");
    struct zone_local l = zone_from_local(z, at(2024, 3, 10, 2) + 1800);
    assert_int_equal(l.count, 0);
    assert_int_equal(l.first_s, at(2024, 3, 10, 7));
    assert_int_equal(l.last_s, l.first_s);
    assert_int_equal(l.until_s, at(2024, 3, 10, 3));
    l = zone_from_local(z, at(2024, 11, 3, 1) + 1800);
    assert_int_equal(l.count, 2);
    assert_int_equal(l.first_s, at(2024, 11, 3, 5) + 1800);
    assert_int_equal(l.last_s, at(2024, 11, 3, 6) + 1800);
    assert_int_equal(l.until_s, at(2024, 11, 3, 2));
    l = zone_from_local(z, at(2024, 11, 3, 2));
    assert_int_equal(l.count, 1);
    assert_int_equal(l.first_s, at(2024, 11, 3, 7));
    zone_unref(z);
    l = zone_from_local(zone_utc(), 5);
    assert_int_equal(l.count, 1);
    assert_int_equal(l.first_s, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_system_zone_reads_as_libc_reads_it),
        cmocka_unit_test(footers_of_every_form_are_read),
        cmocka_unit_test(damaged_files_are_refused_with_the_reason),
        cmocka_unit_test(no_cut_and_no_flipped_byte_does_harm),
        cmocka_unit_test(local_times_map_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
