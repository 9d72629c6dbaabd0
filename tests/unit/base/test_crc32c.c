/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crc32c.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* The check value of the catalogues, and the examples of RFC 3720, appendix B.4. */
static void it_is_the_one_of_the_rfc(void **state)
{
    (void)state;
    unsigned char b[32];
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(crc32c(0, NULL, 0), 0);
    memset(b, 0, sizeof(b));
    assert_int_equal(crc32c(0, b, sizeof(b)), 0x8a9136aa);
    memset(b, 0xff, sizeof(b));
    assert_int_equal(crc32c(0, b, sizeof(b)), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        b[i] = (unsigned char)i;
    assert_int_equal(crc32c(0, b, sizeof(b)), 0x46dd794e);
    for (int i = 0; i < 32; i++)
        b[i] = (unsigned char)(31 - i);
    assert_int_equal(crc32c(0, b, sizeof(b)), 0x113fdb5c);
}

static void it_can_be_taken_in_pieces(void **state)
{
    (void)state;
    static const char text[] = "the result of a run, kept until the database has it";
    uint32_t whole = crc32c(0, text, sizeof(text));
    for (size_t i = 0; i <= sizeof(text); i++)
        assert_int_equal(crc32c(crc32c(0, text, i), text + i, sizeof(text) - i), whole);
}

static void the_processor_counts_like_the_table(void **state)
{
    (void)state;
    unsigned char b[300];
    for (size_t i = 0; i < sizeof(b); i++)
        b[i] = (unsigned char)(i * i * 7 + i / 3);
    for (size_t from = 0; from < 9; from++)
        for (size_t n = 0; from + n <= sizeof(b); n++)
            assert_int_equal(crc32c((uint32_t)n, b + from, n),
                             crc32c_by_table((uint32_t)n, b + from, n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_one_of_the_rfc),
        cmocka_unit_test(it_can_be_taken_in_pieces),
        cmocka_unit_test(the_processor_counts_like_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
