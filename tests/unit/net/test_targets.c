/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses executor.targets lets calls go to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/mem.h"
#include "net/addr.h"
#include "net/targets.h"

static bool takes(const struct targets *t, const char *text)
{
    struct sockaddr_storage a;
    socklen_t len;
    assert_true(addr_numeric(text, 0, &a, &len));
    return targets_take(t, &a);
}

static void the_default_leaves_out_what_answers_to_anybody(void **state)
{
    (void)state;
    static const char *const taken[] = { "127.0.0.1", "10.0.0.5", "192.168.1.1", "8.8.8.8",
                                         "::1",       "fd00::1",  "2001:db8::1", "100.64.0.1" };
    static const char *const left_out[] = {
        "169.254.169.254", "169.254.0.1", "::ffff:169.254.169.254", "0.0.0.0", "::",
        "224.0.0.1",       "239.1.2.3",   "255.255.255.255",        "ff02::1", "100.100.100.200",
        "fd00:ec2::254",   "fe80::1",
    };
    struct targets t;
    assert_int_equal(targets_parse(slice_text(" "), "executor.targets", &t, NULL), OK);
    for (size_t i = 0; i < countof(taken); i++)
        assert_true(takes(&t, taken[i]));
    for (size_t i = 0; i < countof(left_out); i++)
        assert_false(takes(&t, left_out[i]));
    assert_int_equal(targets_parse(slice_text("any"), "executor.targets", &t, NULL), OK);
    for (size_t i = 0; i < countof(left_out); i++)
        assert_true(takes(&t, left_out[i]));
}

static void named_networks_are_all(void **state)
{
    (void)state;
    struct targets t;
    struct why why = { "" };
    assert_int_equal(
        targets_parse(slice_text("10.0.0.0/8, 169.254.7.7"), "executor.targets", &t, NULL), OK);
    assert_true(takes(&t, "10.1.2.3"));
    assert_true(takes(&t, "169.254.7.7"));
    assert_false(takes(&t, "169.254.7.8"));
    assert_false(takes(&t, "127.0.0.1"));
    assert_false(takes(&t, "::1"));
    assert_int_equal(targets_parse(slice_text("10.0.0.0/8,all"), "executor.targets", &t, &why),
                     ERR_INVALID);
    assert_string_equal(why.text, "executor.targets: all is no address or network such as "
                                  "192.0.2.7, 10.0.0.0/8 or fd00::/8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_leaves_out_what_answers_to_anybody),
        cmocka_unit_test(named_networks_are_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
