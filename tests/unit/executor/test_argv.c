/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "executor/process/argv.h"

static void command_lines_become_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *line, *words[6];
    } cases[] = {
        { "ls", { "ls" } },
        { "  ls\t-l \n x ", { "ls", "-l", "x" } },
        { "a 'b c' \"d e\"", { "a", "b c", "d e" } },
        { "a'b c'\"d\"e", { "ab cde" } },
        { "'' \"\" x", { "", "", "x" } },
        { "a\\ b \\\\ \\'", { "a b", "\\", "'" } },
        { "'a\\b' \"a\\\"b\"", { "a\\b", "a\"b" } },
        { "$HOME `x` ; | > *", { "$HOME", "`x`", ";", "|", ">", "*" } },
    };
    for (size_t i = 0; i < countof(cases); i++) {
        char **words;
        struct why why = { { 0 } };
        assert_int_equal(argv_split(slice_text(cases[i].line), &words, &why), OK);
        size_t n = 0;
        for (; words[n]; n++)
            assert_string_equal(words[n], cases[i].words[n]);
        assert_true(n == 6 || cases[i].words[n] == NULL);
        free(words);
    }
}

static void what_is_no_command_is_refused(void **state)
{
    (void)state;
    static const struct slice lines[] = {
        { "", 0 }, { " \t\n", 3 }, { "'a", 2 }, { "a \"b", 4 }, { "a\\", 2 }, { "a\0b", 3 },
    };
    for (size_t i = 0; i < countof(lines); i++) {
        char **words = NULL;
        struct why why = { { 0 } };
        assert_int_equal(argv_split(lines[i], &words, &why), ERR_INVALID);
        assert_null(words);
        assert_int_equal(strncmp(why.text, "command: ", 9), 0);
    }
}

static void words_are_counted(void **state)
{
    (void)state;
    char line[2 * (ARGV_MAX + 1)];
    char **words = NULL;
    for (size_t i = 0; i < sizeof(line); i++)
        line[i] = i % 2 ? ' ' : 'x';
    assert_int_equal(argv_split(slice_of(line, (size_t)ARGV_MAX * 2), &words, NULL), OK);
    assert_non_null(words[ARGV_MAX - 1]);
    assert_null(words[ARGV_MAX]);
    free(words);
    assert_int_equal(argv_split(slice_of(line, sizeof(line)), &words, NULL), ERR_TOOBIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command_lines_become_vectors),
        cmocka_unit_test(what_is_no_command_is_refused),
        cmocka_unit_test(words_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
