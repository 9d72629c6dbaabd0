/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "server/log_page.h"

static void a_refusal_is_told_with_its_words_or_its_code(void **state)
{
    (void)state;
    const struct transport_call call = { .err = OK };
    const struct transport_page page = { .present = false };
    struct call_result r = { .outcome = CALL_ANSWERED, .code = 500 };
    struct center_log log = { .n = 0 };
    struct why why = { "" }, words = { "" };
    assert_int_equal(log_page_of(&call, &page, &r, "http://a/", 1, &log, &why), ERR_NET);
    assert_string_equal(why.text, "the executor answered: code 500 without a message");
    r.msg = slice_text("no such file");
    assert_int_equal(log_page_of(&call, &page, &r, "http://a/", 1, &log, &words), ERR_NET);
    assert_string_equal(words.text, "the executor answered: no such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refusal_is_told_with_its_words_or_its_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
