/* SPDX-License-Identifier: Apache-2.0 */
/* The words behind a verb: options in any order among the arguments. The same option twice is the
 * last one, unless it may be repeated. */
#include "cli/ctl/ctl.h"
#include "base/str.h"
#include "cli/ctl/value.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum ctl_exit ctl_say(const struct ctl *c, enum ctl_exit status, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "%s %s: ", c->program ? c->program : "peal ctl", c->verb->words);
    struct slice rest = slice_text(text), line;
    while (slice_cut(&rest, '\n', &line)) { /* a center's words, or a file's, are in it */
        struct buf b = BUF_INIT(3 * sizeof(text));
        ctl_clean(&b, line.p, line.n, false);
        fprintf(stderr, "%s\n", buf_str(&b));
        buf_done(&b);
    }
    return status;
}

static int index_of(const struct ctl *c, const char *name)
{
    for (int i = 0; i < c->noptions; i++)
        if (strcmp(c->options[i]->name, name) == 0)
            return i;
    return -1;
}

const struct ctl_values *ctl_options(const struct ctl *c, const char *name)
{
    return &c->values[index_of(c, name)];
}

const char *ctl_option(const struct ctl *c, const char *name)
{
    const struct ctl_values *v = ctl_options(c, name);
    return v->n ? v->items[v->n - 1] : NULL;
}

bool ctl_flag(const struct ctl *c, const char *name)
{
    return ctl_options(c, name)->n > 0;
}

static void gather(struct ctl *c)
{
    for (int i = 0; i < c->verb->noptions; i++)
        c->options[c->noptions++] = &c->verb->options[i];
    for (int i = 0; i < c->table->ncommon; i++)
        c->options[c->noptions++] = &c->table->common[i];
}

static bool is(const struct ctl_option *o, const char *arg, size_t n)
{
    bool whole = strlen(o->name) == n && memcmp(o->name, arg, n) == 0;
    return whole || (o->brief && strlen(o->brief) == n && memcmp(o->brief, arg, n) == 0);
}

static int find(const struct ctl *c, const char *arg, size_t n)
{
    for (int i = 0; i < c->noptions; i++)
        if (is(c->options[i], arg, n))
            return i;
    return -1;
}

/* The option of every command that a word names, with or without "=VALUE"; NULL: there is none. */
static const struct ctl_option *common_option(const struct ctl_table *t, const char *word)
{
    size_t n = word[1] == '-' ? strcspn(word, "=") : strlen(word);
    for (int i = 0; i < t->ncommon; i++)
        if (is(&t->common[i], word, n))
            return &t->common[i];
    return NULL;
}

int ctl_options_in_front(const struct ctl_table *t, int argc, char **argv)
{
    int n = 0;
    while (n < argc && argv[n][0] == '-' && argv[n][1]) {
        const struct ctl_option *o = common_option(t, argv[n]);
        if (!o)
            return -1 - n;
        n += o->value && !(argv[n][1] == '-' && strchr(argv[n], '=')) ? 2 : 1;
    }
    return n;
}

static enum ctl_exit wrong(const struct ctl *c, const char *problem, const char *arg, size_t n)
{
    return ctl_say(c, CTL_USAGE, "%s %.*s; %s %s --help explains", problem,
                   (int)(n < 200 ? n : 200), arg, c->program ? c->program : "peal ctl",
                   c->verb->words);
}

static enum ctl_exit keep(struct ctl *c, int at, const char *value)
{
    struct ctl_values *v = &c->values[at];
    if (!c->options[at]->repeats)
        v->n = 0;
    if (v->n == CTL_REPEAT_MAX)
        return ctl_say(c, CTL_USAGE, "%s comes more than %d times", c->options[at]->name,
                       CTL_REPEAT_MAX);
    v->items[v->n++] = value;
    return CTL_DONE;
}

/* The option argv[*i]; *i moves on when its value is the next word. */
static enum ctl_exit read_one(struct ctl *c, int argc, char **argv, int *i)
{
    const char *arg = argv[*i], *equals = arg[1] == '-' ? strchr(arg, '=') : NULL;
    size_t n = equals ? (size_t)(equals - arg) : strlen(arg);
    int at = find(c, arg, n);
    if (at < 0)
        return wrong(c, "there is no option", arg, n);
    if (!c->options[at]->value)
        return equals ? wrong(c, "no value belongs to", arg, n) : keep(c, at, "");
    if (equals)
        return keep(c, at, equals + 1);
    if (*i + 1 == argc)
        return wrong(c, "a value is missing after", arg, n);
    return keep(c, at, argv[++*i]);
}

static enum ctl_exit output_of(struct ctl *c)
{
    const char *text = ctl_option(c, "--output");
    if (!text || strcmp(text, "table") == 0)
        c->output = CTL_TABLE;
    else if (strcmp(text, "json") == 0)
        c->output = CTL_JSON;
    else if (strcmp(text, "name") == 0)
        c->output = CTL_NAME;
    else
        return ctl_say(c, CTL_USAGE, "--output is table, json or name, not %.40s", text);
    return CTL_DONE;
}

static enum ctl_exit count(const struct ctl *c)
{
    const struct ctl_verb *v = c->verb;
    if (c->nargs < v->least)
        return ctl_say(c, CTL_USAGE, "%s is missing; peal ctl %s --help explains", v->args,
                       v->words);
    if (v->most >= 0 && c->nargs > v->most)
        return wrong(c, "there is a word too many:", c->args[v->most], strlen(c->args[v->most]));
    return CTL_DONE;
}

enum ctl_exit ctl_args(struct ctl *c, int argc, char **argv)
{
    enum ctl_exit status = CTL_DONE;
    bool options = true;
    gather(c);
    c->args = argv;
    for (int i = 0; i < argc && status == CTL_DONE; i++) {
        if (options && strcmp(argv[i], "--") == 0)
            options = false;
        else if (options && argv[i][0] == '-' && argv[i][1])
            status = read_one(c, argc, argv, &i);
        else
            c->args[c->nargs++] = argv[i];
    }
    if (status != CTL_DONE || ctl_flag(c, "--help"))
        return status;
    status = output_of(c);
    return status == CTL_DONE ? count(c) : status;
}

bool ctl_number(const struct ctl *c, const char *name, int64_t min, int64_t max, int64_t *ret)
{
    const char *text = ctl_option(c, name);
    int64_t v;
    if (!text)
        return true;
    if (!parse_i64(slice_text(text), &v) || v < min || v > max) {
        ctl_say(c, CTL_USAGE, "%s must be a whole number from %lld to %lld", name, (long long)min,
                (long long)max);
        return false;
    }
    *ret = v;
    return true;
}

bool ctl_duration(const char *text, int64_t *ret_ms)
{
    static const struct {
        char unit;
        int64_t ms;
    } units[] = { { 's', 1000 }, { 'm', 60000 }, { 'h', 3600000 }, { 'd', 86400000 } };
    size_t n = strlen(text);
    int64_t scale = 1000, v;
    for (size_t i = 0; n && i < sizeof(units) / sizeof(*units); i++) {
        if (text[n - 1] == units[i].unit) {
            scale = units[i].ms;
            n--;
            break;
        }
    }
    if (!parse_i64(slice_of(text, n), &v) || v < 1 || v > 36500)
        return false;
    *ret_ms = v * scale;
    return true;
}

bool ctl_confirm(const struct ctl *c, const char *format, ...)
{
    char answer[16];
    va_list args;
    if (ctl_flag(c, "--yes"))
        return true;
    if (!isatty(STDIN_FILENO)) {
        ctl_say(c, CTL_USAGE, "this needs --yes where no terminal can be asked");
        return false;
    }
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs(" [y/N] ", stderr);
    if (fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
        return true;
    ctl_say(c, CTL_FAILED, "nothing was done");
    return false;
}
