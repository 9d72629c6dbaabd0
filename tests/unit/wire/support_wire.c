/* SPDX-License-Identifier: Apache-2.0 */
#include "support_wire.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void split(char *text, size_t n, struct line *line)
{
    line->n = 0;
    char *p = text, *end = text + n;
    while (line->n < MAX_FIELDS) {
        char *tab = memchr(p, '\t', (size_t)(end - p));
        line->field[line->n++] = slice_of(p, (size_t)((tab ? tab : end) - p));
        if (!tab)
            return;
        p = tab + 1;
    }
}

size_t each_line(const char *file, void (*each)(const struct line *line))
{
    char path[512];
    snprintf(path, sizeof(path), "%s/tests/unit/wire/data/%s", PEAL_SOURCE_DIR, file);
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    char *text = NULL;
    size_t cap = 0, count = 0;
    ssize_t n;
    while ((n = getline(&text, &cap, f)) > 0) {
        if (text[0] == '#')
            continue;
        struct line line;
        split(text, (size_t)n - (text[n - 1] == '\n'), &line);
        each(&line);
        count++;
    }
    free(text);
    fclose(f);
    return count;
}
