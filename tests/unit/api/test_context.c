/* SPDX-License-Identifier: Apache-2.0 */
/* What may stand before a path, and which prefixes can be set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "api/context.h"
#include "base/mem.h"

static const char *cut(const char *path)
{
    static char text[200];
    text_copy(text, sizeof(text), context_cut(slice_text(path)));
    return text;
}

static void prefixes_are_segments(void **state)
{
    (void)state;
    static const struct {
        const char *setting, *is; /* is NULL: refused */
    } cases[] = {
        { "", "" },
        { "/", "" },
        { " /peal/ ", "/peal" },
        { "/a/b-c_d.e~f", "/a/b-c_d.e~f" },
        { "/apis", "/apis" },
        { "peal", NULL },
        { "//", NULL },
        { "/a//b", NULL },
        { "/a/../b", NULL },
        { "/./a", NULL },
        { "/a b", NULL },
        { "/a%20b", NULL },
        { "/a?b", NULL },
        { "/\xc3\xa4", NULL },
        { "/a\"onload", NULL },
        { "/api", NULL },
        { "/api/x", NULL },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        char to[CONTEXT_MAX + 1];
        struct why why = { "" };
        enum err err = context_check(slice_text(cases[i].setting), to, &why);
        assert_int_equal(err, cases[i].is ? OK : ERR_INVALID);
        if (cases[i].is)
            assert_string_equal(to, cases[i].is);
        else
            assert_true(strstr(why.text, "http.prefix") == why.text);
    }
    char longest[CONTEXT_MAX + 3], to[CONTEXT_MAX + 1];
    struct why why = { "" };
    memset(longest, 'a', sizeof(longest));
    longest[0] = '/';
    longest[CONTEXT_MAX] = '\0';
    assert_int_equal(context_check(slice_text(longest), to, &why), OK);
    longest[CONTEXT_MAX] = 'a';
    longest[CONTEXT_MAX + 1] = '\0';
    assert_int_equal(context_check(slice_text(longest), to, &why), ERR_INVALID);
}

static void paths_lose_what_stands_before_them(void **state)
{
    (void)state;
    context_set("");
    assert_string_equal(cut("/jobinfo"), "/jobinfo");
    assert_string_equal(cut("//api/registry"), "/api/registry");
    assert_string_equal(cut("/xxl-job-admin"), "/");
    assert_string_equal(cut("//xxl-job-admin//api/registry"), "/api/registry");
    assert_string_equal(cut("/xxl-job-administrator"), "/xxl-job-administrator");
    assert_string_equal(context_of(slice_text("/x")), "");
    assert_string_equal(context_of(slice_text("/xxl-job-admin/x")), "/xxl-job-admin");
    assert_false(context_is_prefix(slice_text("/x")));
    context_set("/tools/peal");
    assert_string_equal(cut("/tools/peal"), "/");
    assert_string_equal(cut("/tools/peal/"), "/");
    assert_string_equal(cut("/tools/peal/api/v1/jobs"), "/api/v1/jobs");
    assert_string_equal(cut("/tools/pealx"), "/tools/pealx");
    assert_string_equal(cut("/tools/peal/xxl-job-admin/x"), "/xxl-job-admin/x"); /* not both */
    assert_string_equal(cut("/api/registry"), "/api/registry");
    assert_string_equal(cut("/xxl-job-admin/api/registry"), "/api/registry");
    assert_string_equal(context_of(slice_text("/tools/peal/x")), "/tools/peal");
    assert_string_equal(context_of(slice_text("/x")), "/tools/peal"); /* a proxy took it away */
    assert_string_equal(context_of(slice_text("/xxl-job-admin/x")), "/xxl-job-admin");
    assert_true(context_is_prefix(slice_text("//tools/peal/x")));
    assert_false(context_is_prefix(slice_text("/x")));
    context_set("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefixes_are_segments),
        cmocka_unit_test(paths_lose_what_stands_before_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
