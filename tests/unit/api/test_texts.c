/* SPDX-License-Identifier: Apache-2.0 */
/* Small rules of the web API: paths, escapes, time filters, groups, cookies and their sessions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "api/context.h"
#include "api/xxl/groups.h"
#include "api/gate.h"
#include "api/password.h"
#include "api/session.h"
#include "api/xxl/logs.h"
#include "api/xxl/reply.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/secret.h"

static void both_context_paths_and_doubled_slashes_are_one(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "/jobinfo/add", "/jobinfo/add" },
        { "//jobinfo/add", "/jobinfo/add" },
        { "/xxl-job-admin/jobinfo/add", "/jobinfo/add" },
        { "/xxl-job-admin//api/registry", "/api/registry" },
        { "///xxl-job-admin///x", "/x" },
        { "/xxl-job-admin", "/" },
        { "/xxl-job-admin/", "/" },
        { "/xxl-job-administrator/x", "/xxl-job-administrator/x" },
        { "/", "/" },
        { "//", "/" },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct slice got = context_cut(slice_text(rows[i][0]));
        if (!slice_eq(got, rows[i][1]))
            fail_msg("%s gave %.*s", rows[i][0], (int)got.n, got.p);
    }
}

static void an_origin_is_ours_when_its_host_and_port_are(void **state)
{
    (void)state;
    static const struct {
        const char *url, *host;
        bool same;
    } rows[] = {
        { "http://a:8080", "a:8080", true },
        { "http://a:8080/x?y=z", "a:8080", true },
        { "http://a", "a", true },
        { "http://a:80", "a", true },
        { "https://a", "a:443", true },
        { "https://a:443/", "a", true },
        { "HTTPS://A.example", "a.EXAMPLE", true },
        { "http://[::1]:8080", "[::1]:8080", true },
        { "https://a", "a:80", false },
        { "http://a", "a:443", false },
        { "http://a:8080", "a", false },
        { "http://a", "a:8080", false },
        { "http://a:80", "a:8080", false },
        { "http://b", "a", false },
        { "http://ab", "a", false },
        { "http://a@b", "a", false },
        { "http://b/http://a", "a", false },
        { "http://b?://a", "a", false },
        { "null", "a", false },
        { "", "a", false },
        { "http://", "", false },
        { "http://a", "", false },
        { "://a", "a", true }, /* no browser sends it */
    };
    for (size_t i = 0; i < countof(rows); i++)
        if (gate_same_host(slice_text(rows[i].url), slice_text(rows[i].host)) != rows[i].same)
            fail_msg("%s at %s", rows[i].url, rows[i].host);
}

static void a_type_is_taken_by_its_most_exact_range(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        bool takes;
    } rows[] = {
        { "", true },
        { "  ", true },
        { "*/*", true },
        { "application/json", true },
        { "Application/JSON; charset=utf-8", true },
        { "application/*", true },
        { "text/html, application/xhtml+xml, */*;q=0.8", true },
        { "application/json;q=0.001", true },
        { "text/html", false },
        { "application/xml, text/*", false },
        { "application/json;q=0", false },
        { "*/*, application/json; Q=0.0", false },
        { "application/*;q=0, */*", false },
        { "application/json, */*;q=0", true },
        { "application/jsonx", false },
        { "*/json", false },
        { ",;,", false },
    };
    assert_true(gate_accepts(slice_of(NULL, 0), "application/json"));
    for (size_t i = 0; i < countof(rows); i++)
        if (gate_accepts(slice_text(rows[i].accept), "application/json") != rows[i].takes)
            fail_msg("%s", rows[i].accept);
}

static void logs_keep_their_line_breaks_and_nothing_else(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1000);
    log_escape(&b, slice_text("<br>a<b>x</b>&<script>\"'</br><B>\n"));
    assert_string_equal(buf_str(&b),
                        "<br>a<b>x</b>&amp;&lt;script&gt;&quot;&#39;&lt;/br&gt;&lt;B&gt;\n");
    buf_reset(&b);
    log_escape(&b, slice_of("a\0<b", 4));
    assert_int_equal(b.len, 7);
    assert_memory_equal(b.data, "a\0&lt;b", 7);
    buf_done(&b);
}

static void time_filters_are_two_strict_dates(void **state)
{
    (void)state;
    int64_t from = 5, to = 5;
    struct why why = { "" };
    assert_int_equal(
        log_filter_time("1970-01-02 00:00:00 - 1970-01-02 00:00:01", zone_utc(), &from, &to, &why),
        OK);
    assert_int_equal(from, 86400000);
    assert_int_equal(to, 86401000);
    assert_int_equal(log_filter_time("", zone_utc(), &from, &to, &why), OK);
    assert_int_equal(from, -1);
    assert_int_equal(to, -1);
    static const char *const bad[] = { "1970-01-02 00:00:00", "x - y", "1970-01-02 00:00:00 - ",
                                       "1970-13-02 00:00:00 - 1970", "1970-01-02 - 1970-01-03" };
    for (size_t i = 0; i < countof(bad); i++)
        assert_int_equal(log_filter_time(bad[i], zone_utc(), &from, &to, NULL), ERR_INVALID);
}

static enum err read_group(const char *text, struct group_record *g, struct why *why)
{
    struct form f;
    why_clear(why);
    assert_int_equal(form_parse(slice_text(""), slice_text(text), &f, why), OK);
    enum err err = group_read(&f, g, why);
    form_done(&f);
    return err;
}

static void groups_have_names_titles_and_lists(void **state)
{
    (void)state;
    static const struct {
        const char *form, *reason; /* NULL: taken */
    } rows[] = {
        { "appname=demo&title=t", NULL },
        { "appName=demo&title=t", NULL },
        { "appname=abc&title=t", "appname: must have 4-64" },
        { "title=t", "appname: must have 4-64" },
        { "appname=de%3Cmo&title=t", "appname: must not contain" },
        { "appname=demo&title=+", "title: must not be empty" },
        { "appname=demo&title=%3Cb%3E", "title: must not contain" },
        { "appname=demo&title=t&addressType=2", "addressType: must be 0" },
        { "appname=demo&title=t&addressType=1", "addressList: addressType 1 needs" },
        { "appname=demo&title=t&addressType=1&addressList=http://a:1/,b:2", NULL },
        { "appname=demo&title=t&addressType=1&addressList=http://a:1/,", "addressList" },
        { "appname=demo&title=t&addressType=1&addressList=ftp://a/", "addressList" },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct group_record g = { 0 };
        struct why why;
        enum err err = read_group(rows[i].form, &g, &why);
        if ((err == OK) != (rows[i].reason == NULL) ||
            (err && strncmp(why.text, rows[i].reason, strlen(rows[i].reason))))
            fail_msg("%s: %s", rows[i].form, err ? why.text : "OK");
        group_record_done(&g);
    }
}

/* ---- sessions ----------------------------------------------------------------------------------
 */

static void put_session(struct store *s, const char *token, int64_t user, int64_t expires_ms)
{
    struct session_record r = { .user_id = user,
                                .expires_ms = expires_ms,
                                .used_ms = clock_wall_ms() };
    unsigned char digest[32];
    sha256(token, strlen(token), digest);
    hex_text(digest, sizeof(digest), r.digest);
    assert_int_equal(s->ops->txn->begin(s, NULL), OK);
    assert_int_equal(s->ops->users->session_put(s, &r, NULL), OK);
    assert_int_equal(s->ops->txn->commit(s, NULL, NULL), OK);
}

static enum err who(struct store *s, const char *cookie, int64_t *ret_user)
{
    const struct api_config config = { .session_idle_ms = 1000 };
    struct web_call call = { .db = s, .config = &config, .cookie = slice_text(cookie) };
    struct why why = { "" };
    enum err err = session_find(&call, &why);
    *ret_user = call.user.id;
    user_record_done(&call.user);
    return err;
}

#define GOOD "goodgoodgoodgoodgoodgoodgoodgoodgoodgoodgoo"
#define LATE "latelatelatelatelatelatelatelatelatelatelat"

static void a_cookie_of_either_name_is_a_session_until_it_ends(void **state)
{
    (void)state;
    struct store_options options = { .node = 1, .epoch = 1 };
    struct store *s = store_memory_new(&options);
    struct user_record u = { .username = "alice", .password = "", .role = 1 };
    assert_int_equal(s->ops->txn->begin(s, NULL), OK);
    assert_int_equal(s->ops->users->user_insert(s, &u, NULL), OK);
    assert_int_equal(s->ops->txn->commit(s, NULL, NULL), OK);
    put_session(s, GOOD, u.id, clock_wall_ms() + 60000);
    put_session(s, LATE, u.id, clock_wall_ms() - 1);
    static const struct {
        const char *cookie;
        enum err err;
    } rows[] = {
        { "XXL_JOB_LOGIN_IDENTITY=" GOOD, OK },
        { "peal_session=" GOOD, OK },
        { "peal_session=old; XXL_JOB_LOGIN_IDENTITY=" GOOD, OK },
        { "xxl_job_login_token=" GOOD, OK },
        { "a=b; xxl_job_login_token=\"" GOOD "\"", OK },
        { "XXL_JOB_LOGIN_IDENTITY=" GOOD "; Path=/; HttpOnly; SameSite=Lax", OK },
        { "xxl_job_login_token=old; XXL_JOB_LOGIN_IDENTITY=" GOOD, OK },
        { "xxl_job_login_token=old; xxl_job_login_token=" GOOD, OK },
        { "xxl_job_login_token=" LATE, ERR_NOTFOUND },
        { "xxl_job_login_token=" GOOD "x", ERR_NOTFOUND },
        { "xxl_job_login_toke=" GOOD, ERR_NOTFOUND },
        { "XXL_JOB_LOGIN_IDENTITY", ERR_NOTFOUND },
        { "xxl_job_login_token=", ERR_NOTFOUND },
        { ";;=;", ERR_NOTFOUND },
        { "", ERR_NOTFOUND },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        int64_t user;
        if (who(s, rows[i].cookie, &user) != rows[i].err || (user == u.id) != (rows[i].err == OK))
            fail_msg("%s", rows[i].cookie);
    }
    store_close(s);
}

/* What a wrong password leaves behind must not look like a user: the connection would count as one
 * that has proved itself. */
static void only_the_right_password_makes_a_user(void **state)
{
    (void)state;
    struct store_options options = { .node = 1, .epoch = 1 };
    struct store *s = store_memory_new(&options);
    char hash[PASSWORD_HASH_SIZE];
    assert_int_equal(password_hash(slice_text("secret"), hash), OK);
    struct user_record u = { .username = "alice", .password = "", .argon2 = hash, .role = 1 };
    assert_int_equal(s->ops->txn->begin(s, NULL), OK);
    assert_int_equal(s->ops->users->user_insert(s, &u, NULL), OK);
    assert_int_equal(s->ops->txn->commit(s, NULL, NULL), OK);
    static const struct {
        const char *name, *password;
        enum err err;
    } rows[] = {
        { "alice", "wrong", ERR_NOTFOUND },
        { "nobody", "secret", ERR_NOTFOUND },
        { "alice", "secret", OK },
        { "alice", "", ERR_NOTFOUND },
    };
    struct logins *logins = logins_new();
    struct api_config config;
    api_config_default(&config);
    for (size_t i = 0; i < countof(rows); i++) {
        struct web_call call = {
            .config = &config, .db = s, .logins = logins, .peer = "127.0.0.1"
        };
        struct why why = { "" };
        int64_t wait_ms;
        enum err err = session_login(&call, slice_text(rows[i].name), slice_text(rows[i].password),
                                     &wait_ms, &why);
        if (err != rows[i].err || call.user.id != (err ? 0 : u.id) || !why.text[0] != !err)
            fail_msg("%s, %s: %s", rows[i].name, rows[i].password, why.text);
        user_record_done(&call.user);
    }
    logins_free(logins);
    store_close(s);
}

static void the_shape_follows_paging_then_the_cookie(void **state)
{
    (void)state;
    static const struct {
        const char *form, *cookie;
        enum shape shape;
    } rows[] = {
        { "offset=0", "XXL_JOB_LOGIN_IDENTITY=x", SHAPE_3 },
        { "pagesize=5", "", SHAPE_3 },
        { "start=0", "xxl_job_login_token=x", SHAPE_2 },
        { "length=3", "", SHAPE_2 },
        { "", "xxl_job_login_token=x", SHAPE_3 },
        { "", "xxl_job_login_token=x; XXL_JOB_LOGIN_IDENTITY=y", SHAPE_2 },
        { "", "", SHAPE_2 },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct web_call call = { .cookie = slice_text(rows[i].cookie) };
        assert_int_equal(form_parse(slice_text(rows[i].form), slice_text(""), &call.form, NULL),
                         OK);
        assert_int_equal(call_shape(&call), rows[i].shape);
        form_done(&call.form);
    }
}

static void dates_are_written_by_shape(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1000);
    struct jsonw w = jsonw_on(&b);
    jsonw_object(&w, NULL);
    reply_date(&w, SHAPE_2, zone_utc(), "a", 86400123);
    reply_date(&w, SHAPE_3, zone_utc(), "b", 86400123);
    reply_date(&w, SHAPE_2, zone_utc(), "c", -1);
    jsonw_object_end(&w);
    assert_string_equal(buf_str(&b), "{\"a\":\"1970-01-02T00:00:00.123+00:00\","
                                     "\"b\":\"1970-01-02 00:00:00\",\"c\":null}");
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_context_paths_and_doubled_slashes_are_one),
        cmocka_unit_test(an_origin_is_ours_when_its_host_and_port_are),
        cmocka_unit_test(a_type_is_taken_by_its_most_exact_range),
        cmocka_unit_test(logs_keep_their_line_breaks_and_nothing_else),
        cmocka_unit_test(time_filters_are_two_strict_dates),
        cmocka_unit_test(groups_have_names_titles_and_lists),
        cmocka_unit_test(a_cookie_of_either_name_is_a_session_until_it_ends),
        cmocka_unit_test(only_the_right_password_makes_a_user),
        cmocka_unit_test(the_shape_follows_paging_then_the_cookie),
        cmocka_unit_test(dates_are_written_by_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
