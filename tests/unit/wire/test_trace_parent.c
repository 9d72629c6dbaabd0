/* SPDX-License-Identifier: Apache-2.0 */
/* traceparent: what is one, and that anything else is ignored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "wire/trace_parent.h"

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define GOOD "00-" TRACE "-b7ad6b7169203331-01"

static void reads(const char *value, const char *wanted)
{
    char to[WIRE_TRACE_PARENT_SIZE] = "?";
    assert_int_equal(wire_trace_parent(slice_text(value), to), wanted[0] != '\0');
    assert_string_equal(to, wanted);
}

static void what_is_one(void **state)
{
    (void)state;
    reads(GOOD, GOOD);
    reads(" " GOOD "\t", GOOD);
    reads("00-" TRACE "-b7ad6b7169203331-00", "00-" TRACE "-b7ad6b7169203331-00");
    reads("01-" TRACE "-b7ad6b7169203331-01-more", "01-" TRACE "-b7ad6b7169203331-01");
}

static void what_is_none(void **state)
{
    (void)state;
    static const char *const none[] = {
        "",
        "00",
        GOOD "-more",
        GOOD "0",
        "01" /* of a later version, but without a dash before the rest */
        "-" TRACE "-b7ad6b7169203331-01more",
        "ff-" TRACE "-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-" TRACE "-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00_" TRACE "-b7ad6b7169203331-01",
        "00-" TRACE "_b7ad6b7169203331-01",
        "00-" TRACE "-b7ad6b7169203331_01",
        "0x-" TRACE "-b7ad6b7169203331-01",
        "00-" TRACE "-b7ad6b716920333g-01",
        "00-" TRACE "-b7ad6b7169203331-0\n",
    };
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
        reads(none[i], "");
    char to[WIRE_TRACE_PARENT_SIZE] = "?";
    assert_false(wire_trace_parent(slice_of(NULL, 0), to));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_one),
        cmocka_unit_test(what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
