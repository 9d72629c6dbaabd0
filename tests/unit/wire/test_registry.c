/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations: every client's form of address gets in, what would spoil a list does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "support_wire.h"
#include "wire/open_api.h"

static void every_clients_address_is_taken_verbatim(void **state)
{
    (void)state;
    static const char *const values[] = {
        "http://127.0.0.1:19998/",
        "http://127.0.0.1:19999",
        "http://127.0.0.1:19998/job",
        "10.0.0.1:9999/job",
        "10.0.0.1:9999",
        "https://exec.example.com/a/b-c_d/",
        "http://[::1]:9999/",
        "http://host_name:80",
        "HTTP://h",
        "http://svc.ns.svc.cluster.local:9999/",
        "http://h:1/p;a=1/%20",
    };
    for (size_t i = 0; i < countof(values); i++) {
        struct buf b = BUF_INIT(4096);
        struct wire_registry r;
        struct why why = { "" };
        wire_registry_body(&b, slice_text("app"), slice_text(values[i]));
        if (wire_registry_parse(slice_of(b.data, b.len), wire_address_check, &r, &why))
            fail_msg("%s: %s", values[i], why.text);
        assert_true(slice_eq(r.group, "EXECUTOR"));
        assert_true(slice_eq(r.key, "app"));
        assert_true(slice_eq(r.value, values[i]));
        wire_registry_done(&r);
        buf_done(&b);
    }
}

static size_t captured;

static void check_capture(const struct line *line)
{
    if (!memmem(line->field[1].p, line->field[1].n, "/api/registry", 13))
        return;
    struct wire_registry r;
    captured++;
    assert_int_equal(wire_registry_parse(line->field[2], wire_address_check, &r, NULL), OK);
    assert_true(slice_eq(r.key, "xxl-job-executor-sample"));
    wire_registry_done(&r);
}

static void what_real_executors_sent_is_read(void **state)
{
    (void)state;
    each_line("exchanges.tsv", check_capture);
    assert_true(captured >= 5);
}

static void a_wrong_registration_names_field_and_rule(void **state)
{
    (void)state;
    static char long_key[600], long_value[600];
    snprintf(long_key, sizeof(long_key),
             "{\"registryGroup\":\"EXECUTOR\",\"registryKey\":\"%0256d\","
             "\"registryValue\":\"http://h/\"}",
             0);
    snprintf(long_value, sizeof(long_value),
             "{\"registryGroup\":\"EXECUTOR\",\"registryKey\":\"a\","
             "\"registryValue\":\"http://h/%0248d\"}",
             0);
#define BODY(group, key, value)                                                                    \
    "{\"registryGroup\":" group ",\"registryKey\":" key ",\"registryValue\":" value "}"
#define VALUE(value) BODY("\"EXECUTOR\"", "\"a\"", "\"" value "\"")
    static const struct {
        const char *body, *why;
    } cases[] = {
        { "", "registry body is empty" },
        { "[]", "registryGroup: must not be blank" },
        { "{\"registryGroup\":\"EXECUTOR\"", "not valid JSON" },
        { BODY("null", "\"a\"", "\"http://h\""), "registryGroup: must not be blank" },
        { BODY("\"ADMIN\"", "\"a\"", "\"http://h\""), "registryGroup: must be EXECUTOR" },
        { BODY("\"executor\"", "\"a\"", "\"http://h\""), "registryGroup: must be EXECUTOR" },
        { BODY("{}", "\"a\"", "\"http://h\""), "registryGroup: must be text" },
        { BODY("\"EXECUTORxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"", "\"a\"",
               "\"http://h\""),
          "registryGroup: must not be longer than 50" },
        { BODY("\"EXECUTOR\"", "\"  \"", "\"http://h\""), "registryKey: must not be blank" },
        { BODY("\"EXECUTOR\"", "\"a\\nb\"", "\"http://h\""),
          "registryKey: must not contain control" },
        { BODY("\"EXECUTOR\"", "\"a\\u0000b\"", "\"http://h\""),
          "registryKey: must not contain control" },
        { BODY("\"EXECUTOR\"", "\"a\\u0085b\"", "\"http://h\""),
          "registryKey: must not contain control" },
        { long_key, "registryKey: must not be longer than 255" },
        { long_value, "registryValue: must not be longer than 255" },
        { VALUE(""), "registryValue: must not be blank" },
        { VALUE("http://"), "registryValue: must be [http" },
        { VALUE("http://a,http://b"), "registryValue: must be [http" },
        { VALUE("http://a b/"), "registryValue: must be [http" },
        { VALUE(" http://a/"), "registryValue: must be [http" },
        { VALUE("ftp://a/"), "registryValue: " },
        { VALUE("http://u@a/"), "registryValue: must be [http" },
        { VALUE("http://a/?q=1"), "registryValue: must be [http" },
        { VALUE("http://a/<script>"), "registryValue: must be [http" },
        { VALUE("http://a\\r\\nHost: b/"), "registryValue: must be [http" },
        { VALUE("http://a:0/"), "registryValue: the port" },
        { VALUE("http://a:65536/"), "registryValue: the port" },
        { VALUE("http://a:/"), "registryValue: the port" },
        { VALUE("http://a:99999999999/"), "registryValue: the port" },
        { VALUE("http://[::1"), "registryValue: must be [http" },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct wire_registry r;
        struct why why = { "" };
        assert_int_equal(
            wire_registry_parse(slice_text(cases[i].body), wire_address_check, &r, &why),
            ERR_INVALID);
        if (!strstr(why.text, cases[i].why))
            fail_msg("%s: %s", cases[i].body, why.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_clients_address_is_taken_verbatim),
        cmocka_unit_test(what_real_executors_sent_is_read),
        cmocka_unit_test(a_wrong_registration_names_field_and_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
