/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <cmocka.h>
#include "base/address.h"
#include "base/mem.h"
#include "executor/agent/builtin_http.h"

static void check(const char *text, const char *url, const char *method, const char *data,
                  int64_t timeout_ms, const char *headers)
{
    struct why why = { { 0 } };
    struct http_param p;
    struct buf all = BUF_INIT(65536);
    enum err err = http_param_parse(slice_text(text), &p, &why);
    assert_string_equal(why.text, "");
    assert_int_equal(err, OK);
    assert_string_equal(p.url, url);
    assert_string_equal(p.method, method);
    assert_string_equal(buf_str(&p.data), data);
    assert_int_equal(p.timeout_ms, timeout_ms);
    for (int i = 0; i < p.nheaders; i++)
        buf_printf(&all, "%s\n", p.headers[i]);
    assert_string_equal(buf_str(&all), headers);
    buf_done(&all);
    http_param_done(&p);
}

static void the_json_form(void **state)
{
    (void)state;
    check("{\"url\":\" http://a/b?c \"}", "http://a/b?c", "GET", "", HTTP_TIMEOUT_MS, "");
    check("{\"url\":\"http://"
          "a\",\"method\":\"post\",\"data\":\"x\",\"timeout\":5,\"auth\":\"Bearer t\","
          "\"headers\":{\"X-A\":\"1\"},\"cookies\":{\"k\":\"v\",\"l\":\"w\"},\"contentType\":"
          "\"text/plain\"}",
          "http://a", "POST", "x", 5,
          "Content-Type: text/plain\nX-A: 1\nCookie: k=v; l=w\nAuthorization: Bearer t\n");
    check("{\"url\":\"http://a\",\"method\":\"PUT\",\"form\":{\"a b\":\"\xC3\xA9&=\",\"c\":\"\"}}",
          "http://a", "PUT", "a+b=%C3%A9%26%3D&c=", HTTP_TIMEOUT_MS,
          "Content-Type: application/x-www-form-urlencoded\n");
    check("{\"url\":\"http://a\",\"data\":\"{}\",\"headers\":{\"content-type\":\"x/"
          "y\"},\"method\":null}",
          "http://a", "GET", "{}", HTTP_TIMEOUT_MS, "content-type: x/y\n");
}

static void the_form_of_lines(void **state)
{
    (void)state;
    check("url: http://www.example.com\nmethod: get\ndata: content\n", "http://www.example.com",
          "GET", "content", HTTP_TIMEOUT_MS, "Content-Type: application/json;charset=UTF-8\n");
    check("\r\n method:POST\r\nurl:http://a:1/\r\n", "http://a:1/", "POST", "", HTTP_TIMEOUT_MS,
          "");
}

static void what_is_not_understood_is_noted(void **state)
{
    struct http_param p;
    (void)state;
    assert_int_equal(http_param_parse(slice_text("{\"url\":\"http://a\",\"retries\":3}"), &p, NULL),
                     OK);
    assert_string_equal(p.note.text, "retries is no setting of httpJobHandler and is left alone");
    http_param_done(&p);
    assert_int_equal(http_param_parse(slice_text("url: http://a\nbody: x"), &p, NULL), OK);
    assert_non_null(strstr(p.note.text, "left alone"));
    http_param_done(&p);
}

static void check_bad(const char *text, const char *part)
{
    struct why why = { { 0 } };
    struct http_param p;
    assert_int_equal(http_param_parse(slice_text(text), &p, &why), ERR_INVALID);
    if (!strstr(why.text, part))
        fail_msg("%s: \"%s\" lacks \"%s\"", text, why.text, part);
}

static void bad_parameters_name_the_field(void **state)
{
    (void)state;
    check_bad("", "url: must be given");
    check_bad("http://a", "url: must be given");
    check_bad("{", "no JSON object");
    check_bad("{\"url\":\"http://a\",\"url\":\"http://b\"}", "no JSON object");
    check_bad("{\"url\":1}", "url: must be a text");
    check_bad("{\"url\":\"http://a b\"}", "url: must not contain blanks");
    check_bad("{\"url\":\"http://a\\r\\nX: y\"}", "url: must not contain blanks");
    check_bad("{\"url\":\"http://a\",\"method\":\"TRACE\"}", "method: must be");
    check_bad("{\"url\":\"http://a\",\"headers\":[]}", "headers: must be an object");
    check_bad("{\"url\":\"http://a\",\"headers\":{\"A\":1}}",
              "headers: must be an object of texts");
    check_bad("{\"url\":\"http://a\",\"headers\":{\"A\":\"b\\r\\nC: d\"}}",
              "headers: names and values");
    check_bad("{\"url\":\"http://a\",\"headers\":{\"A B\":\"c\"}}", "headers: names and values");
    check_bad("{\"url\":\"http://a\",\"headers\":{\"\":\"c\"}}", "headers: names and values");
    check_bad("{\"url\":\"http://a\",\"cookies\":{\"a\":\"b; c=d\"}}", "cookies:");
    check_bad("{\"url\":\"http://a\",\"auth\":\"x\\ny\"}", "auth: names and values");
    check_bad("{\"url\":\"http://a\",\"timeout\":0}", "timeout: must be 1-");
    check_bad("{\"url\":\"http://a\",\"timeout\":\"3\"}", "timeout: must be 1-");
    check_bad("{\"url\":\"http://a\",\"data\":\"x\",\"form\":{}}", "form: not together");
    check_bad("{\"url\":\"http://a\",\"data\":\"\\u0000\"}", "no JSON object");
}

static void many_headers_are_refused(void **state)
{
    struct buf text = BUF_INIT(1 << 20);
    (void)state;
    buf_text(&text, "{\"url\":\"http://a\",\"headers\":{\"H\":\"\"");
    for (int i = 0; i < HTTP_HEADERS_MAX; i++)
        buf_printf(&text, ",\"H%d\":\"v\"", i);
    buf_text(&text, "}}");
    check_bad(buf_str(&text), "headers: at most 100");
    buf_done(&text);
}

static void hosts_are_those_of_the_list(void **state)
{
    static const char list[] =
        " example.com, *.example.org ,api.test:8443,10.0.0.1,[::1]:80,fe80::1";
    (void)state;
    assert_true(http_host_allowed(list, "example.com", 1));
    assert_true(http_host_allowed(list, "EXAMPLE.com.", 1));
    assert_false(http_host_allowed(list, "www.example.com", 1));
    assert_false(http_host_allowed(list, "example.com.evil.test", 1));
    assert_false(http_host_allowed(list, "xexample.com", 1));
    assert_true(http_host_allowed(list, "a.b.example.org", 1));
    assert_false(http_host_allowed(list, "example.org", 1));
    assert_false(http_host_allowed(list, "badexample.org", 1));
    assert_true(http_host_allowed(list, "api.test", 8443));
    assert_false(http_host_allowed(list, "api.test", 443));
    assert_true(http_host_allowed(list, "10.0.0.1", 1));
    assert_true(http_host_allowed(list, "[::1]", 80));
    assert_false(http_host_allowed(list, "[::1]", 81));
    assert_true(http_host_allowed(list, "[fe80::1]", 81));
    assert_false(http_host_allowed("", "a", 1));
    assert_false(http_host_allowed(NULL, "a", 1));
    assert_false(http_host_allowed("a:x", "a", 1));
    assert_false(http_host_allowed("*", "", 1));
    assert_true(http_host_allowed("*", "a", 1));
    assert_false(http_host_allowed("*:443", "a", 80));
}

static bool private_text(const char *text)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return address_private((struct sockaddr *)(void *)&v4);
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return address_private((struct sockaddr *)(void *)&v6);
}

static void addresses_that_are_not_public(void **state)
{
    static const char *const inside[] = {
        "0.0.0.0",
        "10.255.0.1",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.168.0.1",
        "198.19.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::",
        "2001::1",
        "2001:db8::1",
        "::127.0.0.1",
        "64:ff9b:1::1",
    };
    static const char *const outside[] = {
        "1.1.1.1",        "8.8.8.8",          "100.63.255.255",  "100.128.0.0",     "172.15.0.1",
        "172.32.0.1",     "192.167.0.1",      "223.255.255.255", "2606:4700::1111", "2a00::1",
        "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::",
    };
    struct sockaddr_un other = { .sun_family = AF_UNIX };
    (void)state;
    for (size_t i = 0; i < countof(inside); i++)
        if (!private_text(inside[i]))
            fail_msg("%s is taken for public", inside[i]);
    for (size_t i = 0; i < countof(outside); i++)
        if (private_text(outside[i]))
            fail_msg("%s is taken for private", outside[i]);
    assert_true(address_private((struct sockaddr *)(void *)&other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_json_form),
        cmocka_unit_test(the_form_of_lines),
        cmocka_unit_test(what_is_not_understood_is_noted),
        cmocka_unit_test(bad_parameters_name_the_field),
        cmocka_unit_test(many_headers_are_refused),
        cmocka_unit_test(hosts_are_those_of_the_list),
        cmocka_unit_test(addresses_that_are_not_public),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
