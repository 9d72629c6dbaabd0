/* SPDX-License-Identifier: Apache-2.0 */
/* A table of flags is read in one pass; what is left are the arguments, in their order. */
#include "cli/command.h"
#include <stdio.h>
#include <string.h>

static const struct option_row *find(const struct option_row *rows, int nrows, const char *arg,
                                     size_t n)
{
    for (int i = 0; i < nrows; i++)
        if (strlen(rows[i].name) == n && memcmp(rows[i].name, arg, n) == 0)
            return &rows[i];
    return NULL;
}

static bool complain(const char *what, const char *problem, const char *arg, size_t n)
{
    fprintf(stderr, "%s: %s %.*s (%s --help explains)\n", what, problem, (int)n, arg, what);
    return false;
}

/* The option argv[*i]; *i moves on when its value is the next argument. */
static bool read_one(const char *what, const struct option_row *rows, int nrows, int argc,
                     char **argv, int *i)
{
    const char *arg = argv[*i], *equals = strchr(arg, '=');
    size_t n = equals ? (size_t)(equals - arg) : strlen(arg);
    const struct option_row *row = find(rows, nrows, arg, n);
    if (!row)
        return complain(what, "there is no option", arg, n);
    if (row->flag)
        *row->flag = true;
    if (!row->value)
        return equals ? complain(what, "no value belongs to", arg, n) : true;
    if (equals) {
        *row->value = equals + 1;
    } else {
        if (*i + 1 == argc)
            return complain(what, "a value is missing after", arg, n);
        *row->value = argv[++*i];
    }
    return true;
}

int options_read(const char *what, const struct option_row *rows, int nrows, int argc, char **argv)
{
    int others = 0;
    bool ended = false;
    for (int i = 1; i < argc; i++) {
        if (!ended && strcmp(argv[i], "--") == 0)
            ended = true;
        else if (ended || argv[i][0] != '-' || argv[i][1] == '\0')
            argv[++others] = argv[i];
        else if (!read_one(what, rows, nrows, argc, argv, &i))
            return -1;
    }
    return others;
}

bool option_take(int *argc, char **argv, const char *option, const char **ret)
{
    size_t n = strlen(option);
    for (int i = 1; i < *argc; i++) {
        int words = strcmp(argv[i], option) == 0 ? 2 : 1;
        if (words == 1 && (strncmp(argv[i], option, n) != 0 || argv[i][n] != '='))
            continue;
        if (words == 2 && i + 1 >= *argc)
            return false;
        *ret = words == 2 ? argv[i + 1] : argv[i] + n + 1;
        memmove(&argv[i], &argv[i + words], (size_t)(*argc - i - words + 1) * sizeof(*argv));
        *argc -= words;
        i--;
    }
    return true;
}
