/* SPDX-License-Identifier: Apache-2.0 */
/* What refusals say, the forms they offer, and expressions in words. */
#include "base/mem.h"
#include "cron/cron.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static enum err parse(const char *text, struct cron *ret, struct why *why)
{
    return cron_parse(slice_text(text), 2126, ret, why);
}

struct refusal {
    const char *text, *part; /* what the reason must contain */
};

static const struct refusal refusals[] = {
    { "", "0 fields" },
    { "0 0 0 1 1", "5 fields, but 6 or 7 are wanted: second minute hour" },
    { "0 0 0 1 1 ? 2030 *", "8 fields" },
    { "60 * * * * ?", "second, column 1: 60 is not within 0-59" },
    { "0 0 24 * * ?", "hour, column 5: 24 is not within 0-23" },
    { "0 0 0 32 * ?", "day-of-month, column 7: 32 is not within 1-31" },
    { "0 0 0 0 * ?", "day-of-month, column 7: 0 is not within 1-31" },
    { "0 0 0 * 13 ?", "month, column 9: 13 is not within 1-12" },
    { "0 0 0 ? * 8", "day-of-week, column 11: 8 is not within 1-7" },
    { "0 0 0 ? * 0", "day-of-week, column 11: 0 is not within 1-7" },
    { "0 0 0 1 1 ? 1969", "year, column 13: 1969 is not within 1970-2299" },
    { "0 0 0 1 1 ? 2300", "year, column 13: 2300 is not within 1970-2299" },
    { "0 0 0 1 1 ? 2030-2020", "must not run backwards (2030 is after 2020)" },
    { "0 0 0 1 1 ? 2000-2147483646", "2147483646 is not within 1970-2299" },
    { "0 0 0 1 1 ? 2200/2", "2200 starts after the last year, 2126" },
    { "0/60 * * * * ?", "second, column 3: a step must not exceed 59" },
    { "* * * */32 * ?", "day-of-month, column 9: a step must not exceed 31" },
    { "0/5x * * * * ?", "second, column 4: nothing may follow the step" },
    { "*/ * * * * ?", "second, column 3: a number is missing here" },
    { "5- * * * * ?", "a number is missing here" },
    { "5-x * * * * ?", "column 3: a number is wanted here" },
    { "99999999999 * * * * ?", "the number is too large" },
    { "x * * * * ?", "second, column 1: letters are not allowed here" },
    { "0 0 0 1 JNA ?", "month, column 9: a name of a month is wanted" },
    { "0 0 0 ? * MON-FX", "day-of-week, column 15: a name of a weekday is wanted" },
    { "0 0 0 ? * MO", "a name of a weekday is wanted" },
    { "0 0 0 ? * 6#6", "column 13: after # stands which one of the month, 1-5" },
    { "0 0 0 ? * MON#", "column 15: a number is missing here" },
    { "0 0 0 ? * 6#3,2#1", "column 16: only one # is allowed" },
    { "0 0 0 ? * MON,6L", "column 16: L must stand alone, not in a list" },
    { "0 0 0 L-31 * ?", "L-n goes back at most 30 days" },
    { "0 0 0 32W * ?", "32 is not within 1-31" },
    { "0 0 0 0W * ?", "0 is not within 1-31" },
    { "0 0 0 1 1W ?", "W is allowed in day-of-month only" },
    { "0 0 0 1 L ?", "month, column 9: L is allowed in day-of-month and day-of-week only" },
    { "0 0 0 1 1 ? L", "year, column 13: L is allowed" },
    { "L 0 0 1 1 ?", "second, column 1: L is allowed" },
    { "0 0 0 5L * ?", "L after a number is allowed in day-of-week only" },
    { "0 0 0 5#1 * ?", "# is allowed in day-of-week only" },
    { "? 0 0 1 * ?", "? may stand for day-of-month or day-of-week only" },
    { "0 0 0 ?abc * 1", "column 8: nothing may follow ?" },
    { "0 0 0 , * ?", "day-of-month, column 7: the field names no value" },
    { "0 0 ,, * * ?", "hour, column 5: the field names no value" },
    { "99 * * * * ?", "99 is not within" },
    { "0 0 0 98 * 1", "98 is not within" },
    { "0 0 0 ? * 0#1", "0 is not within 1-7" },
    { "$ * * * * ?", "unexpected character $" },
    { "1,\x01\x02 * * * * ?", "names" /* trimmed away */ },
    { "1,\x01,2 * * * * ?", "column 3: unexpected character of code 1" },
    { "0 0 0 \xef\xbc\x8a * ?", "column 7: only ASCII characters are allowed" },
    { "0 0 0 1 * 2", "exactly one of them must be ?" },
    { "0 0 0 ? * ?", "day-of-month (column 7) and day-of-week (column 11): exactly one" },
};

static void refusals_name_field_column_and_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(refusals); i++) {
        struct cron c;
        struct why why = { { 0 } };
        enum err err = parse(refusals[i].text, &c, &why);
        if (strcmp(refusals[i].part, "names") == 0) {
            assert_int_equal(err, OK);
            continue;
        }
        if (err != ERR_INVALID || !strstr(why.text, refusals[i].part))
            fail_msg("%s: %s", refusals[i].text, why.text);
        assert_int_equal(parse(refusals[i].text, &c, NULL), ERR_INVALID);
    }
}

static const struct refusal hints[] = {
    { "* * * * * *", "write: * * * * * ?" },
    { "0 0 0 * * MON", "write: 0 0 0 ? * MON" },
    { "0 0 0 1 * *", "write: 0 0 0 1 * ?" },
    { "0 0 0 ? * ?", "write: 0 0 0 * * ?" },
    { "0 0 0 1 * * 2030", "write: 0 0 0 1 * ? 2030" },
    { "0 0 0 1 * MON", "use two jobs" },
    { "*/5 * * * *", "for this Unix line of 5 fields write: 0 */5 * * * ?" },
    { "30 9 * * 1-5", "write: 0 30 9 ? * 2-6" },
    { "0 0 * * 0,6", "write: 0 0 0 ? * 1,7" },
    { "0 0 * * 7", "write: 0 0 0 ? * 1" },
    { "0 0 * * */2", "write: 0 0 0 ? * */2" },
    { "0 0 * * mon", "write: 0 0 0 ? * mon" },
    { "0 0 1 * *", "write: 0 0 0 1 * ?" },
    { "0 0 1 * 1", "use two jobs" },
    { "61 0 1 * *", "lack the second in front" },
    { "@daily", "for @daily write: 0 0 0 * * ?" },
    { " @Hourly ", "for @hourly write: 0 0 * * * ?" },
    { "@weekly", "write: 0 0 0 ? * SUN" },
    { "@every 5s", "FIX_RATE" },
    { "@reboot", "@names are not part of the language" },
};

static void refusals_offer_the_form_that_works(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(hints); i++) {
        struct cron c;
        struct why why = { { 0 } };
        assert_int_equal(parse(hints[i].text, &c, &why), ERR_INVALID);
        if (!strstr(why.text, hints[i].part))
            fail_msg("%s: %s", hints[i].text, why.text);
        const char *form = strstr(why.text, "write: ");
        if (form && parse(form + 7, &c, NULL))
            fail_msg("%s offers %s, which does not parse", hints[i].text, form + 7);
    }
}

static void results_stay_untouched_and_lengths_are_limited(void **state)
{
    (void)state;
    struct cron c, before;
    memset(&c, 0x5a, sizeof(c));
    memcpy(&before, &c, sizeof(c));
    struct why why = { { 0 } };
    assert_int_equal(parse("0 0 0 1 1 1", &c, &why), ERR_INVALID);
    assert_memory_equal(&c, &before, sizeof(c));
    char text[CRON_TEXT_MAX + 2];
    memset(text, ' ', sizeof(text));
    memcpy(text, "0 0 0 * * ?", 11);
    assert_int_equal(cron_parse(slice_of(text, CRON_TEXT_MAX), 2126, &c, NULL), OK);
    why_clear(&why);
    assert_int_equal(cron_parse(slice_of(text, CRON_TEXT_MAX + 1), 2126, &c, &why), ERR_TOOBIG);
    assert_non_null(strstr(why.text, "512 bytes"));
}

static void case_blanks_and_zeros_do_not_matter(void **state)
{
    (void)state;
    static const char *const same[][2] = {
        { "0 0 9 ? jan-mar mon#2", "0 0 9 ? JAN-MAR MON#2" },
        { " \t0  0\t9 * * ? ", "0 0 9 * * ?" },
        { "00 000 0000009 01 001 ?", "0 0 9 1 1 ?" },
        { "/5 * * l-0w * ?", "*/5 * * LW * ?" },
        { "0 0 0 ? * L", "0 0 0 ? * 7" },
        { "0 0 22-2 * NOV-FEB ?", "0 0 22,23,0,1,2 * 11,12,1,2 ?" },
        { "0 0 0 29-2/2 * ?", "0 0 0 29,31,2 * ?" },
        { "0/15x 1-5/2! 5x,,*, ? JULY MONDAY", "0/15 1-5/2 * ? 7 MON" },
        { "*x 5/0 1-5/0 5-0 JAN-MAR/2 ?5", "* 5 1 5-31 1-3 ?" },
        { "*/-5 */+5 0-9/100 1,? 3-0 MON#2\r", "* */5 0 ? 3-12 MON#2" },
        { "0 0 22-3/2 ? * FRI-MON", "0 0 22,0,2 ? * 6,7,1,2" },
    };
    for (size_t i = 0; i < countof(same); i++) {
        struct cron a, b;
        assert_int_equal(parse(same[i][0], &a, NULL), OK);
        assert_int_equal(parse(same[i][1], &b, NULL), OK);
        if (a.seconds != b.seconds || a.minutes != b.minutes || a.hours != b.hours ||
            a.days != b.days || a.months != b.months || a.weekdays != b.weekdays ||
            a.kind != b.kind || a.nth != b.nth || a.near_last != b.near_last)
            fail_msg("%s is not %s", same[i][0], same[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_name_field_column_and_rule),
        cmocka_unit_test(refusals_offer_the_form_that_works),
        cmocka_unit_test(results_stay_untouched_and_lengths_are_limited),
        cmocka_unit_test(case_blanks_and_zeros_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
