/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of a list, in the forms in which people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/buf.h"
#include "base/mem.h"
#include "model/mail_list.h"

static void each_form_gives_the_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *addresses;
    } cases[] = {
        { "", "" },
        { " ,;, ", "" },
        { "a@b", "a@b" },
        { "a@b,c@d", "a@b|c@d" },
        { " a@b ; c@d;", "a@b|c@d" },
        { "a@b，c@d；e@f、g@h", "a@b|c@d|e@f|g@h" },
        { "a@b\r\nc@d\n", "a@b|c@d" },
        { "a@b c@d\te@f", "a@b|c@d|e@f" },
        { "Ann <a@b>, 张三 < c@d >", "a@b|c@d" },
        { "<a@b>", "a@b" },
        { "Ann <>", "Ann <>" },
        { "Ann <a@b", "Ann <a@b" },
        { "no address, a@b", "no address|a@b" },
        { "root", "root" },
        { "，\xEF\xBC", "\xEF\xBC" }, /* half a mark is none */
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct slice rest = slice_text(cases[i].text), one;
        struct buf all = BUF_INIT(1024);
        while (mail_list_next(&rest, &one)) {
            buf_text(&all, all.len ? "|" : "");
            buf_slice(&all, one);
        }
        assert_string_equal(buf_str(&all), cases[i].addresses);
        assert_int_equal(rest.n, 0);
        buf_done(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_gives_the_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
