/* SPDX-License-Identifier: Apache-2.0 */
/* ${NAME:default}: what is put in, what is refused, and that nothing grows without a bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/placeholder.h"

static const char *value(void *ctx, const char *name)
{
    (void)ctx;
    return strcmp(name, "A") == 0         ? "a"
           : strcmp(name, "EMPTY") == 0   ? ""
           : strcmp(name, "LOOP") == 0    ? "${LOOP}"
           : strcmp(name, "db.host") == 0 ? "h"
                                          : NULL;
}

static void gives(const char *text, const char *wanted)
{
    struct why why = { "" };
    struct buf b = BUF_INIT(100);
    assert_int_equal(placeholder_fill(slice_text(text), value, NULL, &b, &why), OK);
    assert_string_equal(buf_str(&b), wanted);
    buf_done(&b);
}

static void refuses(const char *text, enum err wanted, const char *said)
{
    struct why why = { "" };
    struct buf b = BUF_INIT(100);
    assert_int_equal(placeholder_fill(slice_text(text), value, NULL, &b, &why), wanted);
    assert_non_null(strstr(why.text, said));
    buf_done(&b);
}

static void names_and_defaults_are_filled_in(void **state)
{
    (void)state;
    gives("", "");
    gives("plain $ { } text", "plain $ { } text");
    gives("${A}", "a");
    gives("x${A}y${A:z}", "xaya");
    gives("${NONE:d}", "d");
    gives("${NONE:}", "");
    gives("${EMPTY:d}", "");
    gives("${db.host:127.0.0.1}:${NONE:3306}", "h:3306");
    gives("${NONE:${A}}/${NONE:${NEITHER:x}}", "a/x");
    gives("${NONE:jdbc:x://h?a={1}}", "jdbc:x://h?a={1}");
    gives("\\${A}", "${A}");
    gives("a\\b", "a\\b");
}

static void a_value_is_not_looked_at_again(void **state)
{
    (void)state;
    gives("${LOOP}", "${LOOP}");
}

static void what_cannot_be_filled_in_is_refused(void **state)
{
    (void)state;
    refuses("${NONE}", ERR_INVALID, "${NONE}: there is no such variable, and no default");
    refuses("${A", ERR_INVALID, "has no }");
    refuses("${NONE:${A}", ERR_INVALID, "has no }");
    refuses("${}", ERR_INVALID, "a name has 1-64");
    refuses("${a b}", ERR_INVALID, "a name has 1-64");
    refuses("${:x}", ERR_INVALID, "a name has 1-64");
}

static void depth_and_size_have_bounds(void **state)
{
    (void)state;
    char deep[200] = "", wide[300] = "";
    for (int i = 0; i < 10; i++)
        strcat(deep, "${N:");
    strcat(deep, "x}}}}}}}}}}");
    refuses(deep, ERR_INVALID, "more than 8 within each other");
    memset(wide, 'x', 200);
    refuses(wide, ERR_TOOBIG, "more than 100 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_defaults_are_filled_in),
        cmocka_unit_test(a_value_is_not_looked_at_again),
        cmocka_unit_test(what_cannot_be_filled_in_is_refused),
        cmocka_unit_test(depth_and_size_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
