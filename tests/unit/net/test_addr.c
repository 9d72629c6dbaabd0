/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses: every form that executors register, and what is refused with which rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "net/addr.h"

struct url {
    const char *text, *host, *path;
    int port;
    bool tls, ipv6;
};

static const struct url urls[] = {
    { "http://10.0.0.1:9999/", "10.0.0.1", "/", 9999, false, false },
    { "http://10.0.0.1:9999", "10.0.0.1", "/", 9999, false, false },
    { "10.0.0.1:9999", "10.0.0.1", "/", 9999, false, false },
    { "10.0.0.1:9999/job", "10.0.0.1", "/job/", 9999, false, false },
    { " \thttp://host.example/job/ \n", "host.example", "/job/", 80, false, false },
    { "HTTPS://a_b-c.d", "a_b-c.d", "/", 443, true, false },
    { "https://a:1//x//y/%20", "a", "//x//y/%20/", 1, true, false },
    { "http://[::1]:9999/", "::1", "/", 9999, false, true },
    { "[fe80::1]", "fe80::1", "/", 80, false, true },
    { "localhost:65535", "localhost", "/", 65535, false, false },
};

static void every_form_of_an_executors_address_is_understood(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(urls); i++) {
        struct addr_url a;
        struct why why = { "" };
        if (addr_url_parse(slice_text(urls[i].text), &a, &why))
            fail_msg("%s: %s", urls[i].text, why.text);
        assert_string_equal(a.host, urls[i].host);
        assert_string_equal(a.path, urls[i].path);
        assert_int_equal(a.port, urls[i].port);
        assert_int_equal(a.tls, urls[i].tls);
        assert_int_equal(a.ipv6, urls[i].ipv6);
    }
}

static void a_bad_address_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        { "", "host is missing" },          { "http://", "host is missing" },
        { "http:///x", "host is missing" }, { ":9999", "host is missing" },
        { "ftp://a/", "http or https" },    { "http://a:0/", "port" },
        { "http://a:65536/", "port" },      { "http://a:99999999999999999999/", "port" },
        { "http://a:/", "port" },           { "http://a:x/", "port" },
        { "http://u@a/", "user names" },    { "http://u:p@a/", "port" },
        { "http://a/?q", "path" },          { "http://a/#f", "path" },
        { "http://a/b c", "path" },         { "http://a/\r\nX: y", "path" },
        { "http://a/\x80", "path" },        { "http://a?x", "unexpected" },
        { "http://a b/", "unexpected" },    { "http://[::1/", "without ]" },
        { "http://[::g]/", "IPv6" },        { "http://[]/", "IPv6" },
        { "::1:80", "host is missing" },
    };
    for (size_t i = 0; i < countof(bad); i++) {
        struct addr_url a = { .port = 7 };
        struct why why = { "" };
        assert_int_equal(addr_url_parse(slice_text(bad[i][0]), &a, &why), ERR_INVALID);
        assert_int_equal(a.port, 7); /* untouched */
        if (!strstr(why.text, bad[i][1]) && !strstr(why.text, "'[' without ']'"))
            fail_msg("%s: %s", bad[i][0], why.text);
    }
}

static void addresses_have_a_length(void **state)
{
    (void)state;
    char text[2000];
    struct addr_url a;
    struct why why = { "" };
    memset(text, 'a', sizeof(text));
    assert_int_equal(addr_url_parse(slice_of(text, ADDR_HOST_MAX), &a, &why), OK);
    assert_int_equal(addr_url_parse(slice_of(text, ADDR_HOST_MAX + 1), &a, &why), ERR_INVALID);
    assert_int_equal(addr_url_parse(slice_of(text, sizeof(text)), &a, &why), ERR_INVALID);
    text[1] = '/';
    assert_int_equal(addr_url_parse(slice_of(text, 1 + ADDR_PATH_MAX), &a, &why), OK);
    assert_int_equal(strlen(a.path), ADDR_PATH_MAX + 1);
    assert_int_equal(addr_url_parse(slice_of(text, 2 + ADDR_PATH_MAX), &a, &why), ERR_INVALID);
    text[0] = '\0';
    assert_int_equal(addr_url_parse(slice_of(text, 1), &a, &why), ERR_INVALID);
}

static void listen_addresses_name_a_host_and_a_port(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host;
        int port; /* -1: refused */
    } cases[] = {
        { "127.0.0.1:8080", "127.0.0.1", 8080 },
        { "[::1]:0", "::1", 0 },
        { ":8080", "", 8080 },
        { "*:8080", "", 8080 },
        { "localhost:1", "localhost", 1 },
        { "8080", "", -1 },
        { "localhost", "", -1 },
        { "localhost:", "", -1 },
        { "a:1x", "", -1 },
        { "a:1/", "", -1 },
        { "::1:80", "", -1 },
        { "", "", -1 },
        { "http://a:1", "", -1 },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct addr_listen a;
        struct why why = { "" };
        enum err err = addr_listen_parse(slice_text(cases[i].text), &a, &why);
        if ((err != OK) != (cases[i].port < 0))
            fail_msg("%s: %s", cases[i].text, why.text);
        if (err) {
            assert_true(why.text[0] != '\0');
            continue;
        }
        assert_string_equal(a.host, cases[i].host);
        assert_int_equal(a.port, cases[i].port);
    }
}

static void numeric_addresses_need_no_resolver(void **state)
{
    (void)state;
    struct sockaddr_storage a;
    socklen_t len;
    char text[64];
    assert_true(addr_numeric("1.2.3.4", 5, &a, &len));
    addr_text(&a, text, sizeof(text));
    assert_string_equal(text, "1.2.3.4");
    assert_true(addr_numeric("::ffff:1.2.3.4", 5, &a, &len));
    addr_text(&a, text, sizeof(text));
    assert_string_equal(text, "1.2.3.4");
    assert_true(addr_numeric("::1", 5, &a, &len));
    addr_text(&a, text, sizeof(text));
    assert_string_equal(text, "::1");
    assert_false(addr_numeric("localhost", 5, &a, &len));
    assert_false(addr_numeric("1.2.3", 5, &a, &len));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_an_executors_address_is_understood),
        cmocka_unit_test(a_bad_address_is_refused_by_name),
        cmocka_unit_test(addresses_have_a_length),
        cmocka_unit_test(listen_addresses_name_a_host_and_a_port),
        cmocka_unit_test(numeric_addresses_need_no_resolver),
    };
    return cmocka_run_group_tests_name("net.addr", tests, NULL, NULL);
}
