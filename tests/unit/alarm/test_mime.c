/* SPDX-License-Identifier: Apache-2.0 */
/* A mail's bytes: nothing that a user or an executor writes can become a header or a part. What
 * readers make of them is tests/blackbox/test_alarms.py's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "alarm/mime.h"

static bool address_ok(const char *text)
{
    struct why why = { "" };
    bool ok = !mime_address(slice_text(text), &why);
    assert_int_equal(ok, !why.text[0]);
    return ok;
}

static void addresses_are_plain_or_refused(void **state)
{
    (void)state;
    static const char *const good[] = { "a@b", "ops+night@mail.example.org", "o'neil@x-y.z",
                                        "a.b.c@1.example" };
    static const char *const bad[] = {
        "",      "a",      "@b",   "a@",   "a@@b",        "a b@c",  "a@b c",        ".a@b",
        "a.@b",  "a..b@c", "a@.b", "a@b.", "a@b..c",      "<a@b>",  "a@b>\r\nX: y", "\"a\"@b",
        "a@b\n", "a,b@c",  "用@b", "a@用", "a@[1.2.3.4]", "a(x)@b", "a@b;c"
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        assert_true(address_ok(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(address_ok(bad[i]));
    char longest[300];
    memset(longest, 'a', sizeof(longest));
    longest[64] = '@';
    longest[MIME_ADDRESS_MAX] = '\0';
    assert_true(address_ok(longest));
    longest[MIME_ADDRESS_MAX] = 'a';
    longest[MIME_ADDRESS_MAX + 1] = '\0';
    assert_false(address_ok(longest));
    longest[64] = 'a';
    longest[65] = '@';
    longest[100] = '\0';
    assert_false(address_ok(longest)); /* 65 characters before it */
}

static const char *words(const char *text)
{
    static char to[2000];
    struct buf b = BUF_INIT(sizeof(to) - 1);
    mime_words(&b, slice_text(text));
    text_copy(to, sizeof(to), slice_of(b.data, b.len));
    buf_done(&b);
    return to;
}

static void subjects_are_plain_or_encoded_words(void **state)
{
    (void)state;
    assert_string_equal(words("Job failed: x (1)"), "Job failed: x (1)");
    assert_string_equal(words("a\r\nBcc: x"), "=?UTF-8?B?YQ0KQmNjOiB4?=");
    assert_string_equal(words("=?UTF-8?Q?x?="), "=?UTF-8?B?PT9VVEYtOD9RP3g/PQ==?=");
    assert_string_equal(words("报"), "=?UTF-8?B?5oql?=");
    /* 16 characters of 3 bytes: 15 in the first word, on a character's boundary */
    assert_string_equal(words("报报报报报报报报报报报报报报报报"),
                        "=?UTF-8?B?5oql5oql5oql5oql5oql5oql5oql5oql5oql5oql5oql5oql5oql5oql5oql?="
                        "\r\n =?UTF-8?B?5oql?=");
}

static const struct alarm_message hostile = {
    .id = "alarm-1.2.3",
    .target = "a@b",
    .event = ALARM_RUN_FAILED,
    .title = "Job failed: x\r\nBcc: evil@example.org\r\n\r\n--=_peal_alarm\r\n.\r\n<script> (5)",
    .log_id = 7,
    .job_id = 5,
    .job = "x\r\nBcc: evil@example.org\r\n\r\n--=_peal_alarm\r\n.\r\n<script>",
    .handler = "h",
    .group = "g\r\n.\r\nQUIT",
    .app = "app",
    .outcome = "failed",
    .when = "",
    .address = "",
    .code = 500,
    .cause = "c",
    .trigger_msg = "",
    .handle_msg = "<b>&\r\n.\r\n--=_peal_alarm--\r\n",
};

static void stays_in_its_place(const struct alarm_message *m)
{
    struct buf b = BUF_INIT(1 << 20);
    mime_mail(&b, m, "peal@example.org", 1700000000000);
    const char *mail = buf_str(&b);
    assert_false(b.failed);
    assert_int_equal(strlen(mail), b.len);
    assert_null(strstr(mail, "Bcc"));
    assert_null(strstr(mail, "QUIT"));
    assert_null(strstr(mail, "\r\n.\r\n"));
    assert_non_null(strstr(mail, "\r\nMessage-ID: <alarm-1.2.3@example.org>\r\n"));
    assert_non_null(strstr(mail, "Date: Tue, 14 Nov 2023 22:13:20 +0000\r\n"));
    int boundaries = 0;
    for (const char *p = mail; (p = strstr(p, "\r\n--=_peal_alarm")); p++)
        boundaries++;
    assert_int_equal(boundaries, 3);
    for (const char *p = mail; *p;
         p = strchr(p, '\n') + 1) { /* lines end with CRLF, and are short */
        const char *end = strchr(p, '\n');
        assert_non_null(end);
        assert_true(end > mail && end[-1] == '\r' && end - p <= 200);
    }
    buf_done(&b);
}

static void no_text_gets_out_of_its_place(void **state)
{
    (void)state;
    stays_in_its_place(&hostile);
}

static void no_text_of_a_rule_does(void **state)
{
    (void)state;
    struct alarm_item item = { .job = hostile.job, .cause = hostile.handle_msg, .since = "" };
    struct alarm_message m = hostile;
    m.event = "job.streak";
    m.items = &item;
    m.nitems = 1;
    m.jobs = 3;
    stays_in_its_place(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_plain_or_refused),
        cmocka_unit_test(subjects_are_plain_or_encoded_words),
        cmocka_unit_test(no_text_gets_out_of_its_place),
        cmocka_unit_test(no_text_of_a_rule_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
