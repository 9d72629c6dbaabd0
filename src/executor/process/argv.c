/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the line. The words are written behind the vector in the same allocation; they are
 * never longer than the line. */
#include "executor/process/argv.h"
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

struct splitter {
    struct slice line;
    size_t i;
    char *out;
    char **words;
    int n;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct splitter *s)
{
    while (s->i < s->line.n && is_blank(s->line.p[s->i]))
        s->i++;
}

/* One word, its quotes and backslashes taken away. False: a quote or backslash is open. */
static bool take_word(struct splitter *s)
{
    char quote = '\0';
    s->words[s->n++] = s->out;
    for (; s->i < s->line.n; s->i++) {
        char c = s->line.p[s->i];
        if (!quote && is_blank(c))
            break;
        if (c == quote) {
            quote = '\0';
        } else if (!quote && (c == '\'' || c == '"')) {
            quote = c;
        } else {
            if (c == '\\' && quote != '\'') {
                if (++s->i == s->line.n)
                    return false;
                c = s->line.p[s->i];
            }
            *s->out++ = c;
        }
    }
    *s->out++ = '\0';
    return !quote;
}

static enum err split(struct splitter *s, struct why *why)
{
    for (skip_blanks(s); s->i < s->line.n; skip_blanks(s)) {
        if (s->n == ARGV_MAX) {
            why_set(why, "command: at most %d words", ARGV_MAX);
            return ERR_TOOBIG;
        }
        if (!take_word(s)) {
            why_set(why, "command: a quote or backslash at its end is open");
            return ERR_INVALID;
        }
    }
    if (s->n > 0)
        return OK;
    why_set(why, "command: the parameter must name a program");
    return ERR_INVALID;
}

enum err argv_split(struct slice line, char ***ret, struct why *why)
{
    if (line.n && memchr(line.p, '\0', line.n)) {
        why_set(why, "command: must not contain a NUL");
        return ERR_INVALID;
    }
    size_t vector = (ARGV_MAX + 1) * sizeof(char *);
    char **words = try_alloc(vector + line.n + 1);
    if (!words)
        return ERR_NOMEM;
    struct splitter s = { .line = line, .out = (char *)words + vector, .words = words };
    enum err err = split(&s, why);
    if (err) {
        free(words);
        return err;
    }
    *ret = words;
    return OK;
}
