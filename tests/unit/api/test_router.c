/* SPDX-License-Identifier: Apache-2.0 */
/* Which row a request is for, what its path's parameters are, and what the real tables say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "api/router.h"
#include "api/v1/v1.h"
#include "api/xxl/routes.h"
#include "base/buf.h"
#include "base/mem.h"

#define ROW(methods, path)                                                                         \
    {                                                                                              \
        methods, path, 0, 0, 0, 0, 0, NULL, NULL                                                   \
    }

static const struct web_route rows[] = {
    ROW(METHOD_GET, "/jobs/{id}"),         ROW(METHOD_PATCH | METHOD_DELETE, "/jobs/{id}"),
    ROW(METHOD_POST, "/jobs/batch"),       ROW(METHOD_GET | METHOD_POST, "/jobs"),
    ROW(METHOD_GET, "/jobs/{id}/log"),     ROW(METHOD_GET, "/jobs/{id}/{name}"),
    ROW(METHOD_GET, "/jobs/batch/{name}"), ROW(METHOD_PUT, "/executors/{key}"),
};

static const struct router_table table = { "/v9", rows, countof(rows), true, NULL };

static struct router_match find(const char *method, const char *path)
{
    return router_find(&table, slice_text(method), slice_text(path));
}

static void a_request_finds_its_row(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path;
        int row;           /* -1: none */
        const char *allow; /* "": no such path */
    } cases[] = {
        { "GET", "/v9/jobs", 3, "GET, HEAD, POST" },
        { "HEAD", "/v9/jobs", 3, "GET, HEAD, POST" },
        { "POST", "/v9/jobs", 3, "GET, HEAD, POST" },
        { "DELETE", "/v9/jobs", -1, "GET, HEAD, POST" },
        { "get", "/v9/jobs", -1, "GET, HEAD, POST" },
        { "OPTIONS", "/v9/jobs", -1, "GET, HEAD, POST" },
        { "", "/v9/jobs", -1, "GET, HEAD, POST" },
        { "GET", "/v9/jobs/7", 0, "GET, HEAD, PATCH, DELETE" },
        { "DELETE", "/v9/jobs/7", 1, "GET, HEAD, PATCH, DELETE" },
        { "PUT", "/v9/jobs/x", -1, "GET, HEAD, PATCH, DELETE" },
        { "POST", "/v9/jobs/batch", 2, "POST" },
        { "GET", "/v9/jobs/batch", -1, "POST" }, /* never a job of that name */
        { "GET", "/v9/jobs/%62atch", 0, "GET, HEAD, PATCH, DELETE" },
        { "GET", "/v9/jobs/7/log", 4, "GET, HEAD" },
        { "GET", "/v9/jobs/7/other", 5, "GET, HEAD" },
        { "GET", "/v9/jobs/batch/log", 6, "GET, HEAD" }, /* the first literal decides */
        { "PUT", "/v9/executors/a%2Fb", 7, "PUT" },
        { "GET", "/v9/jobs/", -1, "" },
        { "GET", "/v9/jobs//log", -1, "" },
        { "GET", "/v9//jobs", -1, "" },
        { "GET", "/v9/jobs/7/log/", -1, "" },
        { "GET", "/v9/Jobs", -1, "" },
        { "GET", "/v9/%6Aobs", -1, "" },
        { "GET", "/v9/jobs/7/log/more", -1, "" },
        { "GET", "/v9", -1, "" },
        { "GET", "/v9/", -1, "" },
        { "GET", "/v99/jobs", -1, "" },
        { "GET", "/jobs", -1, "" },
        { "GET", "jobs", -1, "" },
        { "GET", "", -1, "" },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct router_match m = find(cases[i].method, cases[i].path);
        char allow[48];
        router_allow(m.methods, allow, sizeof(allow));
        int row = m.row ? (int)(m.row - rows) : -1;
        if (row != cases[i].row || strcmp(allow, cases[i].allow) ||
            (m.near != NULL) != (allow[0] != '\0') || m.table != &table)
            fail_msg("%s %s: row %d, %s", cases[i].method, cases[i].path, row, allow);
    }
}

static enum err read_params(const char *path, struct router_params *p, struct why *why)
{
    struct router_match m = find("GET", path);
    if (!m.near)
        fail_msg("%s", path);
    why_clear(why);
    return router_params(&table, m.near, slice_text(path), p, why);
}

static void parameters_are_decoded_once(void **state)
{
    (void)state;
    struct router_params p;
    struct why why = { "" };
    assert_int_equal(read_params("/v9/jobs/42/a%20b%2Bc+%E4%B8%AD", &p, &why), OK);
    assert_int_equal(p.n, 2);
    assert_true(slice_eq(p.items[0].name, "id"));
    assert_int_equal(p.items[0].number, 42);
    assert_true(slice_eq(p.items[1].name, "name"));
    assert_string_equal(p.items[1].text, "a b+c+\xE4\xB8\xAD");
    assert_int_equal(read_params("/v9/jobs/9007199254740991/%2541%2f%2F..", &p, &why), OK);
    assert_int_equal(p.items[0].number, ROUTER_ID_MAX);
    assert_string_equal(p.items[1].text, "%41%2f%2F..");
    assert_int_equal(read_params("/v9/jobs/%34%32", &p, &why), OK);
    assert_int_equal(p.items[0].number, 42);
}

static void bad_parameters_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *path, *name, *rule;
    } cases[] = {
        { "/v9/jobs/0", "id", "number.range" },
        { "/v9/jobs/-1", "id", "number.range" },
        { "/v9/jobs/+1", "id", "number.range" },
        { "/v9/jobs/01", "id", "number.range" },
        { "/v9/jobs/1.0", "id", "number.range" },
        { "/v9/jobs/x", "id", "number.range" },
        { "/v9/jobs/%20", "id", "number.range" },
        { "/v9/jobs/9007199254740992", "id", "number.range" },
        { "/v9/jobs/99999999999999999999", "id", "number.range" },
        { "/v9/jobs/%", "id", "text.encoding" },
        { "/v9/jobs/1/%4", "name", "text.encoding" },
        { "/v9/jobs/1/%zz", "name", "text.encoding" },
        { "/v9/jobs/1/a%00", "name", "text.encoding" },
        { "/v9/jobs/1/%ff", "name", "text.encoding" },
        { "/v9/jobs/1/%ed%a0%80", "name", "text.encoding" },
        { "/v9/jobs/batch/\xff", "name", "text.encoding" },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct router_params p;
        struct why why = { "" };
        if (read_params(cases[i].path, &p, &why) != ERR_INVALID ||
            !slice_eq(p.bad_name, cases[i].name) || strcmp(p.bad_rule, cases[i].rule) ||
            strncmp(why.text, cases[i].name, strlen(cases[i].name)))
            fail_msg("%s: %s", cases[i].path, why.text);
    }
}

static void a_long_parameter_is_refused_and_the_longest_is_not(void **state)
{
    (void)state;
    static const int lengths[] = { 1, ROUTER_PARAM_BYTES - 1, ROUTER_PARAM_BYTES,
                                   ROUTER_PARAM_BYTES + 2, 10000 };
    for (size_t i = 0; i < countof(lengths); i++) {
        struct buf path = BUF_INIT(20000);
        struct router_params p;
        struct why why;
        buf_text(&path, "/v9/jobs/batch/");
        for (int k = 0; k < lengths[i]; k++)
            buf_char(&path, 'x');
        enum err err = read_params(buf_str(&path), &p, &why);
        if (err != (lengths[i] <= ROUTER_PARAM_BYTES ? OK : ERR_INVALID))
            fail_msg("%d: %s", lengths[i], why.text);
        if (!err)
            assert_int_equal(strlen(p.items[0].text), lengths[i]);
        buf_done(&path);
    }
}

/* ---- the real tables ----------------------------------------------------------------------------
 */

static int count(const char *text, char c)
{
    int n = 0;
    for (; *text; text++)
        n += *text == c;
    return n;
}

static void check_row(const struct router_table *t, const struct web_route *row)
{
    bool sane = row->path[0] == '/' && row->methods && row->run && !row->at_once &&
                row->class < WEB_CLASSES && row->permission != PERM_EXECUTOR &&
                count(row->path, '{') <= ROUTER_PARAMS &&
                (row->answer == ANSWER_TEXT || (row->answer == ANSWER_ENVELOPE) == !t->problems);
    if (!sane)
        fail_msg("%s%s", t->prefix, row->path);
    for (const struct web_route *other = t->rows; other < row; other++)
        if (strcmp(other->path, row->path) == 0 && other->methods & row->methods)
            fail_msg("%s%s stands twice", t->prefix, row->path);
}

static void every_row_of_the_tables_is_found_by_its_own_path(void **state)
{
    (void)state;
    static const struct router_table *const tables[] = { &xxl_routes, &v1_routes };
    for (size_t i = 0; i < countof(tables); i++) {
        const struct router_table *t = tables[i];
        assert_true(t->n > 0);
        for (const struct web_route *row = t->rows; row < t->rows + t->n; row++) {
            char path[200];
            char allow[48];
            check_row(t, row);
            snprintf(path, sizeof(path), "%s%s", t->prefix, row->path);
            router_allow(row->methods, allow, sizeof(allow));
            struct slice method = slice_of(allow, strcspn(allow, ","));
            if (router_find(t, method, slice_text(path)).row != row)
                fail_msg("%s", path);
        }
    }
}

/* What the form API lets in without a session is a short list. */
static void nothing_else_is_public(void **state)
{
    (void)state;
    static const char *const public[] = {
        "/",      "/toLogin",      "/auth/login", "/metrics",    "/actuator/prometheus",
        "/login", "/auth/doLogin", "/logout",     "/auth/logout"
    };
    for (size_t i = 0; i < xxl_routes.n; i++) {
        bool listed = false;
        for (size_t k = 0; k < countof(public); k++)
            listed |= strcmp(xxl_routes.rows[i].path, public[k]) == 0;
        if (listed != (xxl_routes.rows[i].permission == PERM_PUBLIC))
            fail_msg("%s", xxl_routes.rows[i].path);
    }
    for (size_t i = 0; i < v1_routes.n; i++)
        if (v1_routes.rows[i].permission == PERM_PUBLIC)
            assert_true(v1_routes.rows[i].run == v1_session_login ||
                        v1_routes.rows[i].run == v1_openapi_get);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_finds_its_row),
        cmocka_unit_test(parameters_are_decoded_once),
        cmocka_unit_test(bad_parameters_are_named),
        cmocka_unit_test(a_long_parameter_is_refused_and_the_longest_is_not),
        cmocka_unit_test(every_row_of_the_tables_is_found_by_its_own_path),
        cmocka_unit_test(nothing_else_is_public),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
