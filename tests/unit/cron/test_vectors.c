/* SPDX-License-Identifier: Apache-2.0 */
/* Every line of the vectors: what XXL-JOB 3.4 was observed to do, and what we decide where it was
 * observed to do nonsense (docs/cron.md lists the classes). */
#include "support_naive.h"
#include "support_vectors.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static int failures;

static void report(const struct vector *v, const char *got)
{
    if (failures++ < 20)
        print_error("line %d: %.*s\n  want %.*s\n  got  %s\n", v->line, (int)v->column[0].n,
                    v->column[0].p, (int)v->column[3].n, v->column[3].p, got);
}

static void check_next(struct vector *v, struct slice want, int last_year)
{
    struct cron c;
    struct why why = { { 0 } };
    if (cron_parse(slice_of(v->text, v->text_len), last_year, &c, &why)) {
        report(v, why.text);
        return;
    }
    char got[256];
    times_text(&c, vector_zone(v->column[1]), DST_XXL, vector_ms(v->column[2]), 8, got,
               sizeof(got));
    if (!slice_eq(want, got))
        report(v, got);
}

static void next_2126(struct vector *v)
{
    check_next(v, v->column[3], 2126);
}

static void next_2299(struct vector *v)
{
    check_next(v, v->column[3], 2160);
}

static void every_line_of_next_passes(void **state)
{
    (void)state;
    failures = 0;
    vectors_each("cron-next.tsv", 6000, next_2126);
    assert_int_equal(failures, 0);
    vectors_each("cron-next.tsv", 6000, next_2299);
    assert_int_equal(failures, 0);
}

static void valid(struct vector *v)
{
    struct cron c;
    struct why why = { { 0 } };
    enum err err = cron_parse(slice_of(v->text, v->text_len), 2126, &c, &why);
    bool want = slice_eq(v->column[1], "VALID");
    if ((err == OK) != want) {
        failures++;
        print_error("line %d: %.*s: want %s, got %s\n", v->line, (int)v->column[0].n,
                    v->column[0].p, want ? "valid" : "invalid", why.text);
    }
    if (err)
        assert_memory_equal(why.text, "cron: ", 6);
}

static void every_line_of_invalid_passes(void **state)
{
    (void)state;
    failures = 0;
    vectors_each("cron-invalid.tsv", 800, valid);
    assert_int_equal(failures, 0);
}

/* 3.4 loses scheduled times of W (docs/cron.md); those lines have to fit the naive reading instead.
 */
static void check_naive(struct vector *v)
{
    struct cron c;
    struct why why = { { 0 } };
    if (cron_parse(slice_of(v->text, v->text_len), 2126, &c, &why)) {
        report(v, why.text);
        return;
    }
    struct zone *z = vector_zone(v->column[1]);
    int64_t ms = vector_ms(v->column[2]), want = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(naive_next(&c, z, DST_XXL, ms / 1000, 400, &want), OK);
        assert_int_equal(cron_next(&c, z, DST_XXL, ms, &ms), OK);
        if (ms != want * 1000)
            report(v, "not what the rules say");
    }
}

static void expect_refused(struct vector *v)
{
    struct cron c;
    if (!cron_parse(slice_of(v->text, v->text_len), 2126, &c, NULL))
        report(v, "accepted");
}

static void version_diff(struct vector *v)
{
    if (slice_eq(v->column[0], "0 24 17 10W,L,L-1W,L * ?"))
        check_naive(v); /* 3.4 does not fire on L-1W, the 30th of January 2026 */
    else if (slice_eq(v->column[5], "INVALID"))
        expect_refused(v);
    else
        check_next(v, v->column[5], 2126);
}

static void the_column_of_3_4_passes_where_versions_differ(void **state)
{
    (void)state;
    failures = 0;
    vectors_each("cron-version-diff.tsv", 835, version_diff);
    assert_int_equal(failures, 0);
}

/* --- oddities ------------------------------------------------------------------------------ */

enum verdict { AS_34, AS_RULES, REFUSED, W_BY_RULES };

static bool contains(struct slice s, const char *part)
{
    return memmem(s.p, s.n, part, strlen(part)) != NULL;
}

static bool ascii(const struct vector *v)
{
    for (size_t i = 0; i < v->text_len; i++)
        if ((unsigned char)v->text[i] >= 0x80)
            return false;
    return true;
}

static bool uses_near(struct slice text)
{
    struct cron c;
    return !cron_parse(text, 2126, &c, NULL) && (c.near || c.near_last);
}

/* What docs/cron.md decides for a line, from the class that its comment names. */
static enum verdict decide(const struct vector *v)
{
    struct slice why = v->column[7];
    if (!slice_eq(v->column[6], "n/a"))
        return AS_RULES; /* defects of the search, and lines that depend on the year */
    if (!ascii(v))
        return REFUSED;
    if (contains(why, "year range is not bounded") || contains(why, "year: value out of range"))
        return REFUSED;
    if (contains(why, "throws NoSuchElementException") || contains(why, "W day out of range") ||
        contains(why, "second: value out of range") || contains(why, "year: bad token"))
        return REFUSED;
    struct slice text = slice_of(v->text, v->text_len);
    if (contains(why, "empty list element") && slice_eq(v->column[3], "-"))
        return REFUSED; /* nothing but commas */
    if (contains(why, "month:") && (contains(text, "1,L") || contains(text, "*,L")))
        return REFUSED; /* L as month */
    if (contains(text, " 0#1") || contains(text, " 8#1"))
        return REFUSED; /* no such weekday */
    return uses_near(text) ? W_BY_RULES : AS_34;
}

static int verdicts[4];

static void oddity(struct vector *v)
{
    enum verdict verdict = decide(v);
    verdicts[verdict]++;
    if (verdict == AS_RULES)
        check_next(v, v->column[6], 2126);
    else if (verdict == AS_34)
        check_next(v, v->column[3], 2126);
    else if (verdict == W_BY_RULES)
        check_naive(v);
    else
        expect_refused(v);
}

static void oddities_are_decided_by_class(void **state)
{
    (void)state;
    failures = 0;
    vectors_each("cron-oddities.tsv", 559, oddity);
    assert_int_equal(failures, 0);
    print_message("by the rules %d, as 3.4 %d, refused %d\n",
                  verdicts[AS_RULES] + verdicts[W_BY_RULES], verdicts[AS_34], verdicts[REFUSED]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_of_next_passes),
        cmocka_unit_test(every_line_of_invalid_passes),
        cmocka_unit_test(the_column_of_3_4_passes_where_versions_differ),
        cmocka_unit_test(oddities_are_decided_by_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
