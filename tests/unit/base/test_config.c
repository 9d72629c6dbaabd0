/* SPDX-License-Identifier: Apache-2.0 */
/* Where a setting comes from, and what the properties grammar makes of a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/config.h"
#include "base/mem.h"
#include "base/properties.h"

static enum err list(void *ctx, struct slice key, struct slice value, int line, struct why *why)
{
    (void)why;
    buf_printf(ctx, "%d<%.*s=%.*s>", line, (int)key.n, key.p, (int)value.n, value.p);
    return OK;
}

static void the_grammar_of_properties(void **state)
{
    (void)state;
    static const struct {
        const char *text, *read;
    } rows[] = {
        { "a=b", "1<a=b>" },
        { "a = b c \n", "1<a=b c >" },
        { "a:b\rc d\r\n\ne", "1<a=b>2<c=d>4<e=>" },
        { "# x\n  ! y\n\n a=1", "4<a=1>" },
        { "a=x\\\n   y\nb=2", "1<a=xy>3<b=2>" },
        { "a\\=b\\ c=\\t\\q\\\\", "1<a=b c=\tq\\>" },
        { "a=\\u4e2d\\uD83D\\uDE00", "1<a=\xE4\xB8\xAD\xF0\x9F\x98\x80>" },
        { "a==b", "1<a==b>" },
        { "a=b\\", "1<a=b>" },
        { "=v", "1<=v>" },
        { "", "" },
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct buf b = BUF_INIT(1000);
        struct why why = { "" };
        assert_int_equal(properties_read(slice_text(rows[i].text), list, &b, &why), OK);
        assert_string_equal(buf_str(&b), rows[i].read);
        buf_done(&b);
    }
    static const char *const bad[] = { "ok=1\na=\\u12", "a=\\uD800x", "a=\\uDC00", "a=\\u0000" };
    for (size_t i = 0; i < countof(bad); i++) {
        struct buf b = BUF_INIT(1000);
        struct why why = { "" };
        assert_int_equal(properties_read(slice_text(bad[i]), list, &b, &why), ERR_INVALID);
        assert_non_null(strstr(why.text, i ? "line 1" : "line 2"));
        buf_done(&b);
    }
    assert_int_equal(properties_read(slice_text("a=\xff"), list, NULL, NULL), ERR_INVALID);
    assert_int_equal(properties_read(slice_of("a\0b", 3), list, NULL, NULL), ERR_INVALID);
}

static const struct config_row rows[] = {
    { "name", "other.name, xxl.job.name", CONFIG_TEXT, "none", "TEXT", "a text", 0, 0 },
    { "lane.queue", NULL, CONFIG_INT, "10", "N", "a number", 1, 100 },
    { "wait", NULL, CONFIG_MS, "5s", "TIME", "a duration", 10, 86400000 },
    { "loose-end", NULL, CONFIG_FLAG, "false", NULL, "a flag", 0, 0 },
};
static const struct config_foreign foreign[] = {
    { "lane.other", "not ours", false },
    { "spring.", "of another program", false },
};
static const struct config_table table = { .rows = rows, .n = countof(rows) };
static const struct config_table shared = { .rows = rows, .n = countof(rows), .shared_file = true };
static const struct config_table beside = {
    .rows = rows, .n = countof(rows), .foreign = foreign, .nforeign = countof(foreign)
};

/* One line of words; the environment's begin with "E:". */
static enum err read_with(const struct config_table *t, const char *words, struct config *c,
                          struct why *why)
{
    static char text[512];
    char *argv[16] = { "peal" }, *env[16] = { 0 };
    int argc = 1, nenv = 0;
    snprintf(text, sizeof(text), "%s", words);
    char *rest = text;
    for (char *w; (w = strsep(&rest, " "));) {
        if (strncmp(w, "E:", 2) == 0)
            env[nenv++] = w + 2;
        else if (*w)
            argv[argc++] = w;
    }
    why_clear(why);
    return config_read(t, argc, argv, env, c, why);
}

static enum err read_words(const char *words, struct config *c, struct why *why)
{
    return read_with(&table, words, c, why);
}

/* A file of that text; its name is a template for mkstemp. */
static void write_file(char *name, const char *text)
{
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void flag_beats_environment_beats_file_beats_default(void **state)
{
    (void)state;
    char path[] = "/tmp/peal-config-XXXXXX", words[256];
    write_file(path, "name=file\nlane.queue=20  \nwait: 1m\n");
    struct config c;
    struct why why;
    snprintf(words, sizeof(words), "-c %s E:PEAL_NAME=env E:PEAL_OTHER_NAME=x --lane.queue=30",
             path);
    assert_int_equal(read_words(words, &c, &why), OK);
    assert_string_equal(config_text(&c, "name"), "env");
    assert_int_equal(config_int(&c, "lane.queue"), 30);
    assert_int_equal(config_int(&c, "wait"), 60000);
    assert_false(config_flag(&c, "loose-end"));
    assert_int_equal(config_origin(&c, "wait"), CONFIG_FILE);
    assert_int_equal(config_origin(&c, "loose-end"), CONFIG_DEFAULT);
    snprintf(words, sizeof(words), "%s:3", path);
    assert_string_equal(config_place(&c, "wait"), words);
    assert_string_equal(config_place(&c, "name"), "environment");
    assert_string_equal(config_place(&c, "lane.queue"), "command line");
    assert_string_equal(config_place(&c, "loose-end"), "default");
    config_done(&c);
    assert_int_equal(read_words("E:PEAL_OTHER_NAME=x --wait 250ms --loose-end", &c, &why), OK);
    assert_string_equal(config_text(&c, "name"), "x");
    assert_int_equal(config_int(&c, "wait"), 250);
    assert_true(config_flag(&c, "loose-end"));
    config_done(&c);
    assert_int_equal(read_words("E:PEAL_LOOSE_END=true E:PEAL_LANE_QUEUE=7", &c, &why), OK);
    assert_true(config_flag(&c, "loose-end"));
    assert_int_equal(config_int(&c, "lane.queue"), 7);
    config_done(&c);
    unlink(path);
}

static void a_row_has_other_names(void **state)
{
    (void)state;
    struct config c;
    struct why why;
    assert_int_equal(read_words("--other.name option E:XXL_JOB_NAME=env", &c, &why), OK);
    assert_string_equal(config_text(&c, "name"), "option");
    config_done(&c);
    assert_int_equal(read_words("E:XXL_JOB_NAME=env", &c, &why), OK);
    assert_string_equal(config_text(&c, "name"), "env");
    setenv("XXL_JOB_NAME", "secret", 1);
    setenv("PEAL_NAME", "secret", 1);
    char one[] = "PEAL_NAME=secret", two[] = "XXL_JOB_NAME=", three[] = "PEAL_OTHER=public";
    char *list[] = { one, two, three, NULL };
    char name[] = "--name", value[] = "secret", both[] = "--other.name=secret";
    char *args[] = { name, name, value, both, NULL };
    config_forget(&c, "name", 4, args, list);
    assert_null(getenv("XXL_JOB_NAME"));
    assert_null(getenv("PEAL_NAME"));
    assert_memory_equal(one, "PEAL_NAME=\0\0\0\0\0\0", sizeof(one));
    assert_string_equal(three, "PEAL_OTHER=public");
    assert_string_equal(name, "--name");
    assert_memory_equal(value, "\0\0\0\0\0\0", sizeof(value));
    assert_memory_equal(both, "--other.name=\0\0\0\0\0\0", sizeof(both));
    config_done(&c);
}

static void a_shared_file_may_hold_the_keys_of_others(void **state)
{
    (void)state;
    struct config c;
    struct why why;
    char path[] = "/tmp/peal-config-XXXXXX", words[256];
    write_file(path, "server.port=1\nxxl.job.name = mine\npea=1\n");
    snprintf(words, sizeof(words), "-c %s", path);
    assert_int_equal(read_with(&shared, words, &c, &why), OK);
    assert_string_equal(config_text(&c, "name"), "mine");
    config_done(&c);
    assert_int_equal(read_words(words, &c, &why), ERR_INVALID);
    config_done(&c);
    unlink(path);
    char other[] = "/tmp/peal-config-XXXXXX";
    write_file(other, "server.port=1\npeal.lane.queue=1\n");
    snprintf(words, sizeof(words), "-c %s", other);
    assert_int_equal(read_with(&shared, words, &c, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "line 2: there is no setting peal.lane.queue"));
    config_done(&c);
    unlink(other);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        { "--lane.queue 0", "lane.queue (command line) must be a whole number from 1 to 100" },
        { "--lane.queue 5x", "lane.queue" },
        { "E:PEAL_WAIT=soon", "wait (PEAL_WAIT) must be a duration" },
        { "--wait 1ms", "from 10 to 86400000 ms" },
        { "--wait 99999999999999999d", "wait" },
        { "--loose-end=maybe", "loose-end (command line) must be true or false" },
        { "--colour", "there is no option --colour (--help lists them)" },
        { "--wiat 1s", "did you mean --wait?" },
        { "--nam=x", "did you mean --name?" },
        { "--queue 5", "did you mean --lane.queue?" },
        { "--xxl.job.mane x", "did you mean --xxl.job.name?" },
        { "name=x", "name=x is no option" },
        { "--name", "a value is missing after --name" },
        { "-c /nonexistent/peal.properties", "cannot read /nonexistent/peal.properties" },
        { "--name \xff", "must be UTF-8" },
    };
    for (size_t i = 0; i < countof(bad); i++) {
        struct config c;
        struct why why;
        assert_int_not_equal(read_words(bad[i][0], &c, &why), OK);
        if (!strstr(why.text, bad[i][1]))
            fail_msg("%s: %s", bad[i][0], why.text);
        config_done(&c);
    }
}

static void the_file_is_strict_and_names_its_line(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        { "name=1\nnme=2\n", "line 2: there is no setting nme; did you mean name?" },
        { "lane.queue=many", "lane.queue (" },
        { "name=\\u1", "line 1: \\u wants" },
    };
    for (size_t i = 0; i < countof(bad); i++) {
        char path[] = "/tmp/peal-config-XXXXXX", words[256];
        write_file(path, bad[i][0]);
        struct config c;
        struct why why;
        snprintf(words, sizeof(words), "--config=%s", path);
        assert_int_equal(read_words(words, &c, &why), ERR_INVALID);
        assert_non_null(strstr(why.text, bad[i][1]));
        assert_non_null(strstr(why.text, path));
        config_done(&c);
        unlink(path);
    }
}

static void help_is_the_table(void **state)
{
    (void)state;
    struct config c;
    struct why why;
    assert_int_equal(read_words("--colour --help", &c, &why), OK);
    assert_true(c.help);
    config_done(&c);
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    config_help(&table, to);
    fclose(to);
    assert_non_null(strstr(text, "--lane.queue N  (default 10)"));
    assert_non_null(strstr(text, "PEAL_NAME, PEAL_OTHER_NAME, XXL_JOB_NAME"));
    free(text);
}

static void add_line(void *ctx, const struct config_line *l)
{
    static const char *const verdicts[] = { "used", "foreign", "unknown", "bad" };
    buf_printf(ctx, "%d %.*s %s: %s\n", l->line, (int)l->key.n, l->key.p, verdicts[l->verdict],
               l->text);
}

static void every_line_of_a_file_is_judged(void **state)
{
    (void)state;
    char name[] = "/tmp/peal-config-XXXXXX";
    struct buf b = BUF_INIT(4096);
    struct why why = { "" };
    write_file(name, "nme=1\nxxl.job.name=x\nlane.queue=0\nspring.x.y=z\nlane.other=1\n"
                     "lane.others=1\nspring=1\nlane.queue=5\na=\\u12\nname=y\n");
    assert_int_equal(config_examine(&beside, name, add_line, &b, &why), ERR_INVALID);
    assert_string_equal(buf_str(&b),
                        "1 nme unknown: ; did you mean name?\n"
                        "2 xxl.job.name used: name\n"
                        "3 lane.queue bad: lane.queue (here) must be a whole number from 1 to 100\n"
                        "4 spring.x.y foreign: of another program\n"
                        "5 lane.other foreign: not ours\n"
                        "6 lane.others unknown: \n"
                        "7 spring unknown: \n"
                        "8 lane.queue used: lane.queue\n");
    assert_non_null(strstr(why.text, "line 9"));
    buf_done(&b);
    unlink(name);
}

static void keys_of_another_program_are_counted(void **state)
{
    (void)state;
    char name[] = "/tmp/peal-config-XXXXXX";
    struct config c;
    struct why why = { "" };
    write_file(name, "spring.x=1\nname=y\nlane.other=1\n");
    config_begin(&beside, &c);
    assert_int_equal(config_load(&c, name, &why), OK);
    assert_int_equal(c.foreign, 2);
    assert_string_equal(config_text(&c, "name"), "y");
    config_done(&c);
    config_begin(&table, &c);
    assert_int_equal(config_load(&c, name, &why), ERR_INVALID);
    config_done(&c);
    unlink(name);
}

static void a_program_sets_values_itself(void **state)
{
    (void)state;
    struct config c;
    struct why why = { "" };
    char name[] = "/tmp/peal-config-XXXXXX";
    write_file(name, "name = from the file\n");
    config_begin(&table, &c);
    assert_string_equal(config_text(&c, "lane.queue"), "10");
    assert_int_equal(config_load(&c, name, &why), OK);
    assert_string_equal(config_text(&c, "name"), "from the file");
    assert_int_equal(config_set(&c, "name", "set", &why), OK);
    assert_string_equal(config_text(&c, "name"), "set");
    assert_int_equal(config_set(&c, "lane.queu", "1", &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "lane.queue"));
    why_clear(&why);
    assert_int_equal(config_set(&c, "lane.queue", "many", &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "lane.queue (set) must be a whole number"));
    assert_int_equal(config_load(&c, "/nonexistent", &why), ERR_IO);
    config_done(&c);
    unlink(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grammar_of_properties),
        cmocka_unit_test(flag_beats_environment_beats_file_beats_default),
        cmocka_unit_test(a_row_has_other_names),
        cmocka_unit_test(a_shared_file_may_hold_the_keys_of_others),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(the_file_is_strict_and_names_its_line),
        cmocka_unit_test(help_is_the_table),
        cmocka_unit_test(a_program_sets_values_itself),
        cmocka_unit_test(every_line_of_a_file_is_judged),
        cmocka_unit_test(keys_of_another_program_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
