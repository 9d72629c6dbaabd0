/* SPDX-License-Identifier: Apache-2.0 */
/* Where a database server is: every way to write it, and what is refused without a word of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "store/store.h"
#include "store/url.h"

static void parse(const char *text, struct db_url *ret)
{
    struct why why = { "" };
    if (db_url_parse(text, ret, &why))
        fail_msg("%s: %s", text, why.text);
}

static const struct form {
    const char *text, *shown, *user, *password;
    enum db_tls tls;
    int timeout_s;
    const char *zone, *ignored;
} forms[] = {
    { "mysql://u:p@db/xxl_job", "mysql://db:3306/xxl_job", "u", "p", DB_TLS_OFF, 3, "", "" },
    { "mariadb://db:3307/j", "mysql://db:3307/j", "", NULL, DB_TLS_OFF, 3, "", "" },
    { "postgres://u@a,b:6000/j", "postgres://a:5432,b:6000/j", "u", NULL, DB_TLS_OFF, 3, "", "" },
    { "postgresql://[::1]:1,[fe80::1]/j", "postgres://[::1]:1,[fe80::1]:5432/j", "", NULL,
      DB_TLS_OFF, 3, "", "" },
    { "mysql://%40%3a:%2f%3F@a/%E4%B8%AD", "mysql://a:3306/\xe4\xb8\xad", "@:", "/?", DB_TLS_OFF, 3,
      "", "" },
    { "mysql://u:@a/j", "mysql://a:3306/j", "u", "", DB_TLS_OFF, 3, "", "" },
    { "mysql://u:p@p@a/j", "mysql://a:3306/j", "u", "p@p", DB_TLS_OFF, 3, "", "" },
    { "mysql://a/j?tls=verify&tls-ca=/ca.pem&connect-timeout=9&zone=Asia/Shanghai",
      "mysql://a:3306/j", "", NULL, DB_TLS_VERIFY, 9, "Asia/Shanghai", "" },
    { "mysql://a/j?zone=%2B08:00&&", "mysql://a:3306/j", "", NULL, DB_TLS_OFF, 3, "+08:00", "" },
    { "mysql://a/j?socket=/run/mysqld/mysqld.sock", "mysql:///run/mysqld/mysqld.sock/j", "", NULL,
      DB_TLS_OFF, 3, "", "" },
    { "jdbc:mysql://127.0.0.1:3306/xxl_job?useUnicode=true&characterEncoding=UTF-8&autoReconnect="
      "true&serverTimezone=Asia/Shanghai",
      "mysql://127.0.0.1:3306/xxl_job", "", NULL, DB_TLS_OFF, 3, "Asia/Shanghai",
      "useUnicode, characterEncoding, autoReconnect" },
    { "jdbc:mysql://a/j?user=u&password=a%26b&useSSL=true&connectTimeout=2500", "mysql://a:3306/j",
      "u", "a&b", DB_TLS_ON, 3, "", "" },
    { "jdbc:mysql://a/j?sslMode=VERIFY_IDENTITY&connectTimeout=0", "mysql://a:3306/j", "", NULL,
      DB_TLS_VERIFY, 60, "", "" },
    { "jdbc:mariadb://a/j?sslMode=trust", "mysql://a:3306/j", "", NULL, DB_TLS_ON, 3, "", "" },
    { "jdbc:postgresql://a/j?sslmode=verify-full&connectTimeout=4&ApplicationName=x",
      "postgres://a:5432/j", "", NULL, DB_TLS_VERIFY, 4, "", "ApplicationName" },
};

static void every_way_to_write_it_is_understood(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(forms); i++) {
        const struct form *f = &forms[i];
        struct db_url u;
        char shown[256];
        parse(f->text, &u);
        db_url_text(&u, shown, sizeof(shown));
        assert_string_equal(shown, f->shown);
        assert_string_equal(u.user, f->user);
        assert_int_equal(u.has_password, f->password != NULL);
        assert_string_equal(u.password, f->password ? f->password : "");
        assert_int_equal(u.tls, f->tls);
        assert_int_equal(u.connect_timeout_s, f->timeout_s);
        assert_string_equal(u.zone, f->zone);
        assert_string_equal(u.ignored, f->ignored);
    }
}

static const char *const bad[][2] = {
    { "", "scheme" },
    { "sqlite:x", "scheme" },
    { "oracle://u:hunter@a/j", "scheme" },
    { "mysql:a/j", "scheme" },
    { "mysql://u:hunter@a", "database" },
    { "mysql://u:hunter@a/", "database" },
    { "mysql://u:hunter@/j", "host is missing" },
    { "mysql://u:hunter@a,/j", "host is missing" },
    { "mysql://u:hunter@a:0/j", "port" },
    { "mysql://u:hunter@a:65536/j", "port" },
    { "mysql://u:hunter@a:/j", "port" },
    { "mysql://u:hun/ter@a/j", "port" },
    { "mysql://u:hun#ter@a/j", "database" },
    { "mysql://u:hunter@a b/j", "no host has" },
    { "mysql://u:hunter@[::1/j", "[ without ]" },
    { "mysql://u:hunter@[::1]x/j", "between ] and" },
    { "mysql://u:hunter%4@a/j", "two hexadecimal digits" },
    { "mysql://u:hunter%0a@a/j", "control character" },
    { "mysql://u:hunter%ff@a/j", "UTF-8" },
    { "mysql://u:hunter@a,b,c,d,e,f,g,h,i/j", "at most 8" },
    { "mysql://u:hunter@a/j?hunter=2", "none of tls" },
    { "mysql://u:hunter@a/j?tls=hunter", "off, on or verify" },
    { "mysql://u:hunter@a/j?tls-ca=hunter", "whole path" },
    { "mysql://u:hunter@a/j?tls-cert=/hunter", "go together" },
    { "mysql://u:hunter@a/j?connect-timeout=61", "1 to 60" },
    { "mysql://u:hunter@a/j?zone=hun%20ter", "zone" },
    { "mysql://u:hunter@a/j?password-file=/hunter", "not in both" },
    { "jdbc:mysql://a/j?password=hunter%zz", "two hexadecimal digits" },
    { "jdbc:mysql://a/j?useSSL=hunter", "true or false" },
    { "mysql://u:hunter@a/j/k", "one word" },
    { "mysql://u:hunter@a/j#x", "%23" },
};

static void what_is_wrong_is_told_without_the_password(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(bad); i++) {
        struct db_url u = { .nhosts = 77 };
        struct why why = { "" };
        assert_int_equal(db_url_parse(bad[i][0], &u, &why), ERR_INVALID);
        if (!strstr(why.text, bad[i][1]))
            fail_msg("%s: %s", bad[i][0], why.text);
        assert_null(strstr(why.text, "hun"));
        assert_int_equal(u.nhosts, 77);
    }
}

static void a_long_text_is_refused(void **state)
{
    (void)state;
    static char text[DB_URL_MAX + 100];
    struct db_url u;
    memset(text, 'a', sizeof(text) - 1);
    memcpy(text, "mysql://", 8);
    struct why why = { "" };
    assert_int_equal(db_url_parse(text, &u, &why), ERR_TOOBIG);
    assert_string_equal(why.text,
                        "the database's URL has 4195 bytes, and at most 4096 are allowed");
    text[DB_URL_MAX] = '\0';
    memcpy(text + DB_URL_MAX - 2, "/j", 2);
    assert_int_equal(db_url_parse(text, &u, NULL), ERR_INVALID);
}

static void the_password_comes_from_the_first_place_that_has_one(void **state)
{
    (void)state;
    char path[] = "/tmp/peal-password-XXXXXX", text[256];
    struct db_url u;
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "secret\r\nsecond line\n", 20), 20);
    close(fd);
    parse("mysql://u:own@a/j", &u);
    assert_int_equal(db_url_password(&u, "other", NULL), OK);
    assert_string_equal(u.password, "own");
    parse("mysql://u@a/j", &u);
    assert_int_equal(db_url_password(&u, "other", NULL), OK);
    assert_string_equal(u.password, "other");
    parse("mysql://u@a/j", &u);
    assert_int_equal(db_url_password(&u, NULL, NULL), OK);
    assert_false(u.has_password);
    snprintf(text, sizeof(text), "mysql://u@a/j?password-file=%s", path);
    parse(text, &u);
    assert_int_equal(db_url_password(&u, "other", NULL), OK);
    assert_string_equal(u.password, "secret");
    unlink(path);
    parse(text, &u);
    struct why why = { "" };
    assert_int_equal(db_url_password(&u, "other", &why), ERR_INVALID);
    assert_non_null(strstr(why.text, path));
    db_url_wipe(&u);
    assert_string_equal(u.password, "");
}

static void what_only_a_file_has_is_refused_with_the_tool_that_does_it(void **state)
{
    (void)state;
    struct why why = { "" };
    struct store_compacted c;
    assert_int_equal(store_compact("mysql://u:hunter@a/j", NULL, NULL, &c, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "mariadb-backup"));
    assert_null(strstr(why.text, "hunter"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_write_it_is_understood),
        cmocka_unit_test(what_is_wrong_is_told_without_the_password),
        cmocka_unit_test(a_long_text_is_refused),
        cmocka_unit_test(the_password_comes_from_the_first_place_that_has_one),
        cmocka_unit_test(what_only_a_file_has_is_refused_with_the_tool_that_does_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
