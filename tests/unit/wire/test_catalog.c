/* SPDX-License-Identifier: Apache-2.0 */
/* Files of groups and jobs: their shape, and what is said of one that has another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "wire/catalog.h"
#include "wire/json.h"

static void a_whole_file_is_read(void **state)
{
    (void)state;
    struct json_t *doc = NULL;
    struct why why = { "" };
    static const char text[] =
        "{\"peal\":1,\"groups\":[{\"app\":\"a\",\"title\":\"t\",\"addresses\":[\"x\"]}],\"jobs\":["
        "{\"group\":\"a\",\"name\":\"n\",\"state\":\"stopped\",\"schedule\":{\"conf\":1},"
        "\"children\":[{\"group\":\"b\",\"name\":\"n\"}],\"script\":null},"
        "{\"group\":\"b\",\"name\":\"n\",\"script\":\"\",\"alarmEmails\":[]}],"
        "\"users\":[{\"name\":\"u\",\"grants\":[{\"role\":\"viewer\",\"groups\":null}]}],"
        "\"rules\":[{\"name\":\"r\",\"kind\":\"k\",\"channels\":[],\"job\":null,\"quiet\":{}},"
        "{\"name\":\"r\",\"kind\":\"k\",\"channels\":[\"c\"],\"repeatMs\":60000}],\"silences\":[]}";
    assert_int_equal(catalog_read(slice_text(text), &doc, &why), OK);
    assert_int_equal(json_array_size(json_object_get(doc, "jobs")), 2);
    wire_json_free(doc);
}

static void what_is_wrong_is_named_by_its_pointer(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "[]", "must be an object" },
        { "{\"peal\":1.0}", "/peal: must be 1" },
        { "{\"peal\":1,\"jobs\":null}", "/jobs: must be an array" },
        { "{\"peal\":1,\"tokens\":[]}", "/tokens: there is no such member" },
        { "{\"peal\":1,\"users\":[{\"name\":\"u\",\"hash\":\"p\"}]}",
          "/users/0/hash: there is no such member" },
        { "{\"peal\":1,\"users\":[{\"name\":null}]}", "/users/0/name: must be text" },
        { "{\"peal\":1,\"users\":[{\"name\":\"u\",\"grants\":[{\"role\":\"r\",\"groups\":[1]}]}]}",
          "/users/0/grants/0/groups: must be an array of texts" },
        { "{\"peal\":1,\"rules\":[{\"name\":\"r\",\"kind\":\"k\"}]}",
          "/rules/0/channels: is missing" },
        { "{\"peal\":1,\"silences\":[{\"untilMs\":null,\"reason\":\"r\"}]}",
          "/silences/0/untilMs: must be a whole number" },
        { "{\"peal\":1,\"groups\":[{\"app\":\"a\",\"title\":7}]}",
          "/groups/0/title: must be text" },
        { "{\"peal\":1,\"groups\":[{\"app\":\"a\",\"title\":\"t\",\"addresses\":[1]}]}",
          "/groups/0/addresses: must be an array of texts" },
        { "{\"peal\":1,\"groups\":[{\"app\":\"a\",\"title\":\"t\"},{\"app\":\"a\",\"title\":\"t\"}]"
          "}",
          "/groups/1/app: stands in this file twice" },
        { "{\"peal\":1,\"jobs\":[{\"group\":\"a\",\"name\":\"n\",\"task\":[]}]}",
          "/jobs/0/task: must be an object" },
        { "{\"peal\":1,\"jobs\":[{\"group\":\"a\",\"name\":\"n\",\"children\":[1]}]}",
          "/jobs/0/children/0: must be an object" },
        { "{\"peal\":1,\"jobs\":[{\"group\":\"a\",\"name\":\"n\",\"children\":{}}]}",
          "/jobs/0/children: must be an array" },
        { "{\"peal\":1,\"jobs\":[{\"group\":\"a\",\"name\":\"n\",\"script\":1}]}",
          "/jobs/0/script: must be text" },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct json_t *doc = NULL;
        struct why why = { "" };
        assert_int_equal(catalog_read(slice_text(cases[i][0]), &doc, &why), ERR_INVALID);
        assert_null(doc);
        assert_non_null(strstr(why.text, cases[i][1]));
    }
}

static void a_file_is_bounded(void **state)
{
    (void)state;
    struct json_t *doc = NULL;
    struct why why = { "" };
    char deep[64];
    memset(deep, '[', sizeof(deep));
    assert_int_equal(catalog_read(slice_of(deep, sizeof(deep)), &doc, &why), ERR_TOOBIG);
    char *large = mem_new(CATALOG_BYTES_MAX + 1);
    memset(large, ' ', CATALOG_BYTES_MAX + 1);
    why_clear(&why);
    assert_int_equal(catalog_read(slice_of(large, CATALOG_BYTES_MAX + 1), &doc, &why), ERR_TOOBIG);
    free(large);
    assert_null(doc);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file_is_read),
        cmocka_unit_test(what_is_wrong_is_named_by_its_pointer),
        cmocka_unit_test(a_file_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
