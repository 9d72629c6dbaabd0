/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "executor/process/limits.h"
#include "executor/process/spawn.h"

static struct limits *make(const char *env)
{
    struct limits_config c = { .env = env, .files = 7 };
    struct limits *l = NULL;
    assert_int_equal(limits_new(&c, 5, &l, NULL), OK);
    return l;
}

static void the_environment_is_what_is_named(void **state)
{
    (void)state;
    setenv("PATH", "/a:/b", 1);
    setenv("HOME", "/home/x", 1);
    setenv("LANG", "C", 1);
    setenv("SECRET", "s", 1);
    setenv("WANTED", "w", 1);
    unsetenv("TZ");
    struct limits *l = make(" WANTED,ABSENT,,HOME ");
    assert_string_equal(limits_env(l, "PATH"), "/a:/b");
    assert_string_equal(limits_env(l, "HOME"), "/home/x");
    assert_string_equal(limits_env(l, "WANTED"), "w");
    assert_null(limits_env(l, "SECRET"));
    assert_null(limits_env(l, "WANT"));
    assert_null(limits_env(l, "TZ"));
    assert_null(l->env[l->nenv]);
    assert_int_equal(l->nenv, 5); /* and USER */
    limits_free(l);
}

static void without_a_path_there_is_the_usual_one(void **state)
{
    char program[64];
    (void)state;
    unsetenv("PATH");
    struct limits *l = make("");
    assert_non_null(strstr(limits_env(l, "PATH"), ":/usr/bin:"));
    assert_true(spawn_find(l, "sh", program, sizeof(program)));
    assert_int_equal(program[0], '/');
    assert_false(spawn_find(l, "no-such-program-of-ours", program, sizeof(program)));
    assert_false(spawn_find(l, "bin", program, sizeof(program))); /* a folder, in /usr */
    limits_free(l);
}

static void values_and_unknown_users_are_refused(void **state)
{
    struct why why = { { 0 } };
    struct limits *l = NULL;
    struct limits_config c = { .env = "A,B=c" };
    (void)state;
    assert_int_equal(limits_new(&c, 0, &l, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "peal.executor.glue.env: B=c"));
    why_clear(&why);
    c = (struct limits_config){ .user = "nobody-of-ours" };
    assert_int_equal(limits_new(&c, 0, &l, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "there is no user nobody-of-ours"));
    assert_null(l);
}

static void every_folder_on_the_way_must_let_a_user_pass(void **state)
{
    char folder[] = "/tmp/peal-limits-XXXXXX", inner[64], which[64];
    struct limits l = { .change_user = true, .uid = 4711, .gid = 4712 };
    gid_t groups[] = { 4713 };
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(inner, sizeof(inner), "%s/inner", folder);
    assert_int_equal(mkdir(inner, 0755), 0);
    assert_false(limits_may_use(&l, inner, which, sizeof(which)));
    assert_string_equal(which, folder);
    assert_int_equal(chmod(folder, 0711), 0);
    assert_true(limits_may_use(&l, inner, which, sizeof(which)));
    assert_int_equal(chmod(inner, 0750), 0);
    assert_false(limits_may_use(&l, inner, which, sizeof(which)));
    assert_string_equal(which, inner);
    if (geteuid() == 0) {
        assert_int_equal(chown(inner, 0, 4713), 0);
        assert_false(limits_may_use(&l, inner, which, sizeof(which)));
        l.groups = groups;
        l.ngroups = 1;
        assert_true(limits_may_use(&l, inner, which, sizeof(which)));
    }
    rmdir(inner);
    assert_false(limits_may_use(&l, inner, which, sizeof(which)));
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_is_what_is_named),
        cmocka_unit_test(without_a_path_there_is_the_usual_one),
        cmocka_unit_test(values_and_unknown_users_are_refused),
        cmocka_unit_test(every_folder_on_the_way_must_let_a_user_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
