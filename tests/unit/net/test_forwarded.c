/* SPDX-License-Identifier: Apache-2.0 */
/* Which proxies are named, and which of the addresses that they tell is the client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/mem.h"
#include "net/addr.h"
#include "net/forwarded.h"

static struct sockaddr_storage address(const char *text)
{
    struct sockaddr_storage a;
    socklen_t len;
    assert_true(addr_numeric(text, 0, &a, &len));
    return a;
}

static void networks_are_named_by_their_bits(void **state)
{
    static const struct {
        const char *setting, *address;
        bool in;
    } rows[] = {
        { "", "127.0.0.1", false },
        { "127.0.0.1", "127.0.0.1", true },
        { "127.0.0.1", "127.0.0.2", false },
        { "10.0.0.0/8", "10.255.0.1", true },
        { "10.0.0.0/8", "11.0.0.0", false },
        { "192.168.16.0/20", "192.168.31.255", true },
        { "192.168.16.0/20", "192.168.32.0", false },
        { "0.0.0.0/0", "8.8.8.8", true },
        { "0.0.0.0/0", "2001:db8::1", false },
        { "::/0", "8.8.8.8", true },
        { " fd00::/8 ,10.0.0.1", "fdff::1", true },
        { "fd00::/8,10.0.0.1", "10.0.0.1", true },
        { "10.0.0.0/8", "::ffff:10.0.0.1", true },
    };
    (void)state;
    for (size_t i = 0; i < countof(rows); i++) {
        struct proxies p;
        struct sockaddr_storage a = address(rows[i].address);
        assert_int_equal(proxies_parse(slice_text(rows[i].setting), "http.proxies", &p, NULL), OK);
        if (proxies_has(&p, &a) != rows[i].in)
            fail_msg("%s in %s", rows[i].address, rows[i].setting);
    }
}

static void a_bad_network_is_named(void **state)
{
    static const char *const bad[] = {
        "proxy.example", "10.0.0.0/33",        "fd00::/129", "10.0.0.0/",
        "10.0.0.0/-1",   "10.0.0.1,,10.0.0.2", "/8",         "10.0.0.0/8/8"
    };
    (void)state;
    for (size_t i = 0; i < countof(bad); i++) {
        struct proxies p;
        struct why why = { "" };
        if (proxies_parse(slice_text(bad[i]), "http.proxies", &p, &why) != ERR_INVALID)
            fail_msg("%s is taken", bad[i]);
        assert_non_null(strstr(why.text, "http.proxies"));
    }
}

static void the_client_is_the_last_that_is_no_named_proxy(void **state)
{
    static const struct {
        const char *value, *client;
        bool more;
    } rows[] = {
        { "203.0.113.9", "203.0.113.9", false },
        { "1.1.1.1, 203.0.113.9", "203.0.113.9", false }, /* the first was sent by the client */
        { "203.0.113.9, 10.0.0.2, 10.0.0.3", "203.0.113.9", false },
        { "10.0.0.9 , 10.0.0.2", "10.0.0.9", true },
        { "203.0.113.9:4711,10.0.0.2:80", "203.0.113.9", false },
        { "[2001:db8::7]:4711", "2001:db8::7", false },
        { "2001:db8::7", "2001:db8::7", false },
        { "unknown", "10.0.0.1", false },
        { "203.0.113.9, unknown", "10.0.0.1", false },
        { "203.0.113.9, unknown, 10.0.0.2", "10.0.0.2", false },
        { "", "10.0.0.1", true },
        { ",", "10.0.0.1", false },
        { "[::1", "10.0.0.1", false },
        { "127.1", "10.0.0.1", false },
    };
    struct proxies p;
    (void)state;
    assert_int_equal(proxies_parse(slice_text("10.0.0.0/8"), "http.proxies", &p, NULL), OK);
    for (size_t i = 0; i < countof(rows); i++) {
        struct sockaddr_storage at = address("10.0.0.1");
        char text[46];
        bool more = forwarded_for(&p, slice_text(rows[i].value), &at);
        addr_text(&at, text, sizeof(text));
        if (strcmp(text, rows[i].client) != 0 || more != rows[i].more)
            fail_msg("%s: %s", rows[i].value, text);
    }
}

static void a_list_without_end_is_not_followed(void **state)
{
    char list[4096] = "203.0.113.9";
    struct proxies p;
    struct sockaddr_storage at = address("10.0.0.1");
    char text[46];
    (void)state;
    assert_int_equal(proxies_parse(slice_text("10.0.0.0/8"), "http.proxies", &p, NULL), OK);
    size_t n = strlen(list);
    for (int i = 0; i < 100; i++, n += 10)
        memcpy(list + n, ", 10.0.0.2", 10);
    assert_false(forwarded_for(&p, slice_of(list, n), &at));
    addr_text(&at, text, sizeof(text));
    assert_string_equal(text, "10.0.0.2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_are_named_by_their_bits),
        cmocka_unit_test(a_bad_network_is_named),
        cmocka_unit_test(the_client_is_the_last_that_is_no_named_proxy),
        cmocka_unit_test(a_list_without_end_is_not_followed),
    };
    return cmocka_run_group_tests_name("net.forwarded", tests, NULL, NULL);
}
