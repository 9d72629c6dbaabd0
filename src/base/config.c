/* SPDX-License-Identifier: Apache-2.0 */
/* One table drives all four sources. Each value is checked where it is read, so that an error names
 * the flag, variable or line of the file that it came from. A key that is not known is answered
 * with the nearest one that is. */
#include "base/config.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/placeholder.h"
#include "base/properties.h"
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define ENV_PREFIX "PEAL_"
#define NAME_MAX_BYTES 64
#define HINT_SIZE (NAME_MAX_BYTES + 32)
#define VALUE_MAX (64u << 10) /* with its placeholders filled in */

static int find(const struct config_table *t, struct slice name)
{
    for (int i = 0; i < t->n; i++)
        if (slice_eq(name, t->rows[i].key) || slice_has_item(slice_text(t->rows[i].alias), name))
            return i;
    return -1;
}

static int must_find(const struct config *c, const char *key)
{
    int i = find(c->table, slice_text(key));
    assert(i >= 0); /* a key that the table lacks is a bug of ours */
    return i < 0 ? 0 : i;
}

/* The k-th name of a row: its key, then its aliases. False after the last. */
static bool name_at(const struct config_row *row, int k, struct slice *ret)
{
    struct slice rest = slice_text(row->alias);
    *ret = slice_text(row->key);
    while (k-- > 0)
        if (!slice_item(&rest, ret))
            return false;
    return true;
}

/* ---- the nearest name ------------------------------------------------------------------------ */

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* How many letters to change, add, drop or swap with their neighbour make b of a (optimal string
 * alignment: Wagner and Fischer's table with Damerau's swap). Both shorter than NAME_MAX_BYTES. */
static int distance(struct slice a, struct slice b)
{
    int rows[3][NAME_MAX_BYTES + 1];
    int *two = rows[0], *one = rows[1], *now = rows[2];
    for (size_t j = 0; j <= b.n; j++)
        one[j] = (int)j;
    for (size_t i = 1; i <= a.n; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= b.n; j++) {
            int same = a.p[i - 1] == b.p[j - 1] ? 0 : 1;
            now[j] = least(one[j - 1] + same, least(one[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
                now[j] = least(now[j], two[j - 2] + 1);
        }
        int *free_row = two;
        two = one;
        one = now;
        now = free_row;
    }
    return one[b.n];
}

/* Is name the last part of a key: appname of xxl.job.executor.appname? */
static bool is_tail(struct slice key, struct slice name)
{
    return name.n && key.n > name.n && key.p[key.n - name.n - 1] == '.' &&
           memcmp(key.p + key.n - name.n, name.p, name.n) == 0;
}

/* "; did you mean --listen?" where a known name is near enough, else "". */
static const char *hint(const struct config_table *t, struct slice name, const char *dashes,
                        char to[HINT_SIZE])
{
    /* with as many mistakes it is another word */
    int limit = name.n < 3 ? 1 : least(2 + (int)(name.n / 6), 4);
    to[0] = '\0';
    for (int i = 0; i < t->n && name.n < NAME_MAX_BYTES; i++) {
        struct slice known;
        for (int k = 0; name_at(&t->rows[i], k, &known); k++) {
            int d = is_tail(known, name) ? 0 : distance(name, known);
            if (d >= limit)
                continue;
            limit = d;
            snprintf(to, HINT_SIZE, "; did you mean %s%.*s?", dashes, (int)known.n, known.p);
        }
    }
    return to;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool parse_ms(struct slice s, int64_t *ret)
{
    static const struct {
        const char *suffix;
        int64_t factor;
    } units[] = { { "ms", 1 },      { "s", 1000 },     { "m", 60000 },
                  { "h", 3600000 }, { "d", 86400000 }, { "", 1 } };
    for (size_t i = 0; i < countof(units); i++) {
        size_t n = strlen(units[i].suffix);
        int64_t v;
        if (s.n <= n || memcmp(s.p + s.n - n, units[i].suffix, n) ||
            !parse_i64(slice_of(s.p, s.n - n), &v))
            continue;
        return !__builtin_mul_overflow(v, units[i].factor, ret);
    }
    return false;
}

static bool parse_flag(struct slice s, bool *ret)
{
    static const char *const words[] = { "false", "true", "off", "on", "no", "yes", "0", "1" };
    for (size_t i = 0; i < countof(words); i++)
        if (slice_eq_nocase(s, words[i])) {
            *ret = i % 2;
            return true;
        }
    return false;
}

static int64_t number(const struct config_row *row, const char *text)
{
    int64_t v = 0;
    if (!text)
        return 0;
    struct slice s = slice_trim(slice_text(text));
    bool ok = row->type == CONFIG_MS ? parse_ms(s, &v) : parse_i64(s, &v);
    return ok ? v : 0;
}

static enum err check(const struct config_row *row, struct slice value, const char *where,
                      struct why *why)
{
    int64_t v = 0;
    bool flag;
    if (!utf8_valid(value.p ? value.p : "", value.n)) {
        why_set(why, "%s (%s) must be UTF-8", row->key, where);
        return ERR_INVALID;
    }
    switch (row->type) {
    case CONFIG_TEXT:
    case CONFIG_SECRET:
        return OK;
    case CONFIG_FLAG:
        if (parse_flag(value, &flag))
            return OK;
        why_set(why, "%s (%s) must be true or false", row->key, where);
        return ERR_INVALID;
    case CONFIG_INT:
        if (parse_i64(value, &v) && v >= row->min && v <= row->max)
            return OK;
        why_set(why, "%s (%s) must be a whole number from %lld to %lld", row->key, where,
                (long long)row->min, (long long)row->max);
        return ERR_INVALID;
    case CONFIG_MS:
        if (parse_ms(value, &v) && v >= row->min && v <= row->max)
            return OK;
        why_set(why, "%s (%s) must be a duration such as 500ms, 5s or 10m, from %lld to %lld ms",
                row->key, where, (long long)row->min, (long long)row->max);
        return ERR_INVALID;
    }
    return ERR_INVALID;
}

static enum err set(struct config *c, int i, struct slice value, enum config_origin origin,
                    const char *where, struct why *why)
{
    enum err err = check(&c->table->rows[i], value, where, why);
    if (err)
        return err;
    free(c->values[i]);
    c->values[i] = mem_dupn(value.n ? value.p : "", value.n);
    c->origin[i] = origin;
    free(c->places[i]);
    c->places[i] = origin == CONFIG_FILE ? mem_dup(where) : NULL;
    return OK;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* "db.host" -> "DB_HOST" */
static void upper_name(char *p)
{
    for (; *p; p++) {
        if (*p == '.' || *p == '-')
            *p = '_';
        else if (*p >= 'a' && *p <= 'z')
            *p = (char)(*p - 'a' + 'A');
    }
}

struct file {
    struct config *c;
    const char *name;
};

static const struct config_foreign *find_foreign(const struct config_table *t, struct slice key)
{
    for (int i = 0; i < t->nforeign; i++) {
        const char *name = t->foreign[i].name;
        size_t n = strlen(name);
        bool all = name[n - 1] == '.';
        if (key.n >= n && memcmp(key.p, name, n) == 0 && (all || key.n == n))
            return &t->foreign[i];
    }
    return NULL;
}

static void note_foreign(struct config *c, const struct config_foreign *foreign)
{
    c->foreign++;
    if (foreign->loud)
        c->loud = foreign;
}

static const char *env_value(char **list, const char *name)
{
    size_t n = strlen(name);
    for (; list && *list; list++)
        if (strncmp(*list, name, n) == 0 && (*list)[n] == '=')
            return *list + n + 1;
    return NULL;
}

/* DB_HOST for db.host and db-host too, as Spring looks them up. */
static const char *variable(void *ctx, const char *name)
{
    char upper[PLACEHOLDER_NAME_MAX + 1];
    const char *value = env_value(ctx, name);
    if (value)
        return value;
    text_copy(upper, sizeof(upper), slice_text(name));
    upper_name(upper);
    return env_value(ctx, upper);
}

/* The value of a line, filled in where the table wants that: into b, if it differs. */
static enum err filled(const struct config_table *t, int i, struct slice *value, struct buf *b,
                       const char *where, struct why *why)
{
    struct why inner = { "" };
    if (!t->environment || !value->n || !memmem(value->p, value->n, "${", 2))
        return OK;
    enum err err = placeholder_fill(*value, variable, t->environment, b, &inner);
    if (err)
        why_set(why, "%s (%s): %s", t->rows[i].key, where, inner.text);
    *value = slice_of(b->data, b->len);
    return err;
}

static enum err file_entry(void *ctx, struct slice key, struct slice value, int line,
                           struct why *why)
{
    struct file *f = ctx;
    const struct config_table *t = f->c->table;
    int i = find(t, key);
    if (i >= 0) { /* blanks at the end of a line are never meant */
        struct buf where = BUF_INIT(PATH_MAX + 16), b = BUF_INIT(VALUE_MAX);
        buf_printf(&where, "%s:%d", f->name, line);
        value = slice_trim(value);
        enum err err = filled(t, i, &value, &b, buf_str(&where), why);
        if (!err)
            err = set(f->c, i, value, CONFIG_FILE, buf_str(&where), why);
        buf_done(&where);
        buf_done(&b);
        return err;
    }
    if (t->shared_file && (key.n < 5 || memcmp(key.p, "peal.", 5) != 0))
        return OK;
    const struct config_foreign *foreign = find_foreign(t, key);
    if (foreign) {
        note_foreign(f->c, foreign);
        return OK;
    }
    char meant[HINT_SIZE];
    why_set(why, "%s, line %d: there is no setting %.*s%s", f->name, line,
            (int)utf8_cut(key.p, key.n, NAME_MAX_BYTES), key.p, hint(t, key, "", meant));
    return ERR_INVALID;
}

static enum err read_file(const char *name, struct buf *b, struct why *why)
{
    FILE *in = fopen(name, "rbe");
    if (!in) {
        why_set(why, "cannot read %s: %s", name, strerror(errno));
        return ERR_IO;
    }
    enum err err = OK;
    while (!err && !feof(in)) {
        char *room = buf_room(b, 4096);
        size_t n = room ? fread(room, 1, 4096, in) : 0;
        b->len += n;
        if (!room) {
            why_set(why, "%s has more than %u bytes", name, PROPERTIES_MAX);
            err = ERR_TOOBIG;
        } else if (ferror(in)) {
            why_set(why, "cannot read %s: %s", name, strerror(errno));
            err = ERR_IO;
        }
    }
    fclose(in);
    return err;
}

static enum err load_file(struct config *c, const char *name, struct why *why)
{
    struct buf b = BUF_INIT(PROPERTIES_MAX + 4096);
    struct file f = { c, name };
    struct why inner = { "" };
    enum err err = read_file(name, &b, why);
    if (!err)
        err = properties_read(slice_of(b.data, b.len), file_entry, &f, &inner);
    if (inner.text[0] && strncmp(inner.text, "line ", 5) == 0)
        why_set(why, "%s, %s", name, inner.text);
    else if (inner.text[0])
        why_set(why, "%s", inner.text);
    buf_done(&b);
    return err;
}

struct examination {
    const struct config_table *table;
    config_line_fn *fn;
    void *ctx;
};

static enum err examine_entry(void *ctx, struct slice key, struct slice value, int line,
                              struct why *why)
{
    struct examination *e = ctx;
    char meant[HINT_SIZE];
    struct why rule = { "" };
    struct config_line l = { .line = line, .key = key, .verdict = CONFIG_USED };
    int i = find(e->table, key);
    const struct config_foreign *foreign = i < 0 ? find_foreign(e->table, key) : NULL;
    struct buf b = BUF_INIT(VALUE_MAX);
    (void)why;
    value = slice_trim(value);
    if (i >= 0 && (filled(e->table, i, &value, &b, "here", &rule) ||
                   check(&e->table->rows[i], value, "here", &rule))) {
        l.verdict = CONFIG_BAD;
        l.text = rule.text;
    } else if (i >= 0) {
        l.text = e->table->rows[i].key;
    } else if (foreign) {
        l.verdict = CONFIG_FOREIGN;
        l.text = foreign->text;
    } else {
        l.verdict = CONFIG_UNKNOWN;
        l.text = hint(e->table, key, "", meant);
    }
    e->fn(e->ctx, &l);
    buf_done(&b);
    return OK;
}

enum err config_examine(const struct config_table *table, const char *path, config_line_fn *fn,
                        void *ctx, struct why *why)
{
    struct buf b = BUF_INIT(PROPERTIES_MAX + 4096);
    struct examination e = { table, fn, ctx };
    enum err err = read_file(path, &b, why);
    if (!err)
        err = properties_read(slice_of(b.data, b.len), examine_entry, &e, why);
    buf_done(&b);
    return err;
}

/* ---- the environment ------------------------------------------------------------------------- */

/* "lane.queue" -> "PEAL_LANE_QUEUE", "xxl.job.x" -> "XXL_JOB_X" */
static void env_name(struct slice key, char to[NAME_MAX_BYTES])
{
    bool whole = key.n > 5 && (memcmp(key.p, "xxl.", 4) == 0 || memcmp(key.p, "peal.", 5) == 0);
    snprintf(to, NAME_MAX_BYTES, "%s%.*s", whole ? "" : ENV_PREFIX, (int)key.n, key.p);
    upper_name(to);
}

static enum err load_env(struct config *c, char **list, struct why *why)
{
    for (int i = 0; i < c->table->n; i++) {
        char name[NAME_MAX_BYTES];
        const char *value = NULL;
        struct slice key;
        for (int k = 0; !value && name_at(&c->table->rows[i], k, &key); k++) {
            env_name(key, name);
            value = env_value(list, name);
        }
        enum err err = value ? set(c, i, slice_text(value), CONFIG_ENV, name, why) : OK;
        if (err)
            return err;
    }
    return OK;
}

/* ---- the command line ------------------------------------------------------------------------ */

struct argument { /* one option of the command line */
    struct slice key;
    struct slice value;
    bool has_value;
    bool file;                            /* -c */
    const struct config_foreign *foreign; /* of another program; NULL: one of ours */
};

static bool is(const char *arg, const char *text)
{
    return strcmp(arg, text) == 0;
}

/* Read argv[*i] (and its value, if that is the next one); *i ends on the last one used. */
static enum err argument(const struct config *c, int argc, char **argv, int *i,
                         struct argument *ret, struct why *why)
{
    const char *arg = argv[*i];
    if (arg[0] != '-' || (arg[1] != '-' && !is(arg, "-c"))) {
        why_set(why, "%.64s is no option; options begin with -- (--help lists them)", arg);
        return ERR_INVALID;
    }
    const char *equals = strchr(arg, '=');
    size_t n = equals ? (size_t)(equals - arg) : strlen(arg);
    ret->file = is(arg, "-c") || (n == 8 && memcmp(arg, "--config", 8) == 0);
    ret->key = slice_of(arg + 2, n - 2);
    int row = ret->file ? -1 : find(c->table, ret->key);
    if (!ret->file && row < 0 && equals)
        ret->foreign = find_foreign(c->table, ret->key);
    if (!ret->file && row < 0 && !ret->foreign) {
        char meant[HINT_SIZE];
        why_set(why, "there is no option %.*s (--help lists them)%s",
                (int)utf8_cut(arg, n, NAME_MAX_BYTES), arg, hint(c->table, ret->key, "--", meant));
        return ERR_INVALID;
    }
    ret->has_value = true;
    if (equals) {
        ret->value = slice_text(equals + 1);
    } else if (row >= 0 && c->table->rows[row].type == CONFIG_FLAG) {
        ret->value = slice_text("true");
    } else if (*i + 1 < argc) {
        ret->value = slice_text(argv[++*i]);
    } else {
        why_set(why, "a value is missing after %.64s", arg);
        return ERR_INVALID;
    }
    return OK;
}

/* files: only the -c options; else only the others. */
static enum err load_arguments(struct config *c, int argc, char **argv, bool files, struct why *why)
{
    for (int i = 1; i < argc; i++) {
        struct argument a = { 0 };
        enum err err = argument(c, argc, argv, &i, &a, why);
        if (!err && a.file && files) {
            char *name = mem_dupn(a.value.p, a.value.n);
            err = load_file(c, name, why);
            free(name);
        } else if (!err && a.foreign && !files) {
            note_foreign(c, a.foreign);
        } else if (!err && !a.file && !a.foreign && !files) {
            err = set(c, find(c->table, a.key), a.value, CONFIG_ARGUMENT, "command line", why);
        }
        if (err)
            return err;
    }
    return OK;
}

/* ---- secrets --------------------------------------------------------------------------------- */

bool config_is_secret(const struct config_row *row)
{
    static const char *const ends[] = { "password", "secret", "token", ".url" };
    size_t n = strlen(row->key);
    bool named = false;
    for (size_t i = 0; i < countof(ends); i++) {
        size_t end = strlen(ends[i]);
        named |= n >= end && memcmp(row->key + n - end, ends[i], end) == 0;
    }
    return row->type == CONFIG_SECRET || (named && row->type == CONFIG_TEXT);
}

/* user:password@, of whatever scheme */
static bool has_password(const char *value)
{
    const char *user = strstr(value, "://"), *at = user ? strchr(user, '@') : NULL;
    return at && memchr(user + 3, ':', (size_t)(at - user) - 3);
}

bool config_hides(const struct config_row *row, const char *value)
{
    return config_is_secret(row) || has_password(value) || strcasestr(value, "password=") ||
           strcasestr(value, "pwd=");
}

static void wipe(const char *p, size_t n)
{
    explicit_bzero((char *)p, n);
}

static bool is_of(const struct config_row *row, struct slice name, bool env)
{
    struct slice one;
    for (int k = 0; name_at(row, k, &one); k++) {
        char text[NAME_MAX_BYTES];
        env_name(one, text);
        if (env ? slice_eq(name, text) : name.n == one.n && !memcmp(name.p, one.p, one.n))
            return true;
    }
    return false;
}

/* In place, because the system shows what a process was started with from where it stood then. */
static void forget_env(const struct config_row *row, char **list)
{
    for (size_t i = 0; list[i]; i++) {
        char *value = strchr(list[i], '=');
        if (value && is_of(row, slice_of(list[i], (size_t)(value - list[i])), true))
            wipe(value + 1, strlen(value + 1));
    }
    struct slice one;
    for (int k = 0; name_at(row, k, &one); k++) {
        char name[NAME_MAX_BYTES];
        env_name(one, name);
        unsetenv(name);
    }
}

void config_forget(const struct config *c, const char *key, int argc, char **argv,
                   char **environ_list)
{
    const struct config_row *row = &c->table->rows[must_find(c, key)];
    for (int i = 1; i < argc; i++) {
        struct argument a = { 0 };
        struct why why;
        if (!argument(c, argc, argv, &i, &a, &why) && a.has_value && is_of(row, a.key, false))
            wipe(a.value.p, a.value.n);
    }
    forget_env(row, environ_list);
}

/* ---- all of it ------------------------------------------------------------------------------- */

void config_begin(const struct config_table *table, struct config *ret)
{
    size_t n = (size_t)table->n;
    *ret = (struct config){ .table = table,
                            .values = mem_new(n * sizeof(char *)),
                            .origin = mem_new(n * sizeof(*ret->origin)),
                            .places = mem_new(n * sizeof(char *)) };
    for (size_t i = 0; i < n; i++)
        ret->values[i] = mem_dup(table->rows[i].fallback);
}

enum err config_load(struct config *c, const char *path, struct why *why)
{
    return load_file(c, path, why);
}

enum err config_set(struct config *c, const char *key, const char *value, struct why *why)
{
    struct slice name = slice_text(key);
    int i = find(c->table, name);
    if (i >= 0)
        return set(c, i, slice_text(value), CONFIG_ARGUMENT, "set", why);
    char meant[HINT_SIZE];
    why_set(why, "there is no setting %.*s%s",
            (int)utf8_cut(name.n ? name.p : "", name.n, NAME_MAX_BYTES), name.n ? name.p : "",
            hint(c->table, name, "", meant));
    return ERR_INVALID;
}

enum err config_set_like(struct config *c, const char *key, const char *value, const char *from,
                         struct why *why)
{
    int i = must_find(c, key), like = must_find(c, from);
    return set(c, i, slice_text(value), c->origin[like], c->places[like] ? c->places[like] : from,
               why);
}

enum err config_read(const struct config_table *table, int argc, char **argv, char **environ_list,
                     struct config *ret, struct why *why)
{
    config_begin(table, ret);
    for (int i = 1; i < argc; i++)
        ret->help |= is(argv[i], "--help") || is(argv[i], "-h");
    if (ret->help)
        return OK;
    enum err err = load_arguments(ret, argc, argv, true, why);
    if (!err)
        err = load_env(ret, environ_list, why);
    if (!err)
        err = load_arguments(ret, argc, argv, false, why);
    return err;
}

void config_done(struct config *c)
{
    for (int i = 0; i < c->table->n; i++) {
        free(c->values[i]);
        free(c->places[i]);
    }
    free(c->values);
    free(c->places);
    free(c->origin);
}

const char *config_text(const struct config *c, const char *key)
{
    return c->values[must_find(c, key)];
}

int64_t config_int(const struct config *c, const char *key)
{
    int i = must_find(c, key);
    return number(&c->table->rows[i], c->values[i]);
}

bool config_flag(const struct config *c, const char *key)
{
    bool flag = false;
    const char *text = config_text(c, key);
    return text && parse_flag(slice_text(text), &flag) && flag;
}

enum config_origin config_origin(const struct config *c, const char *key)
{
    return c->origin[must_find(c, key)];
}

const char *config_place(const struct config *c, const char *key)
{
    static const char *const places[] = { [CONFIG_DEFAULT] = "default",
                                          [CONFIG_ENV] = "environment",
                                          [CONFIG_ARGUMENT] = "command line" };
    int i = must_find(c, key);
    return c->places[i] ? c->places[i] : places[c->origin[i]];
}

/* ---- help ------------------------------------------------------------------------------------ */

static void help_text(const char *text, FILE *to)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        fprintf(to, "        %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

/* All names of a row, as they are written on the command line or in the environment. */
static void help_names(const struct config_row *row, bool env, FILE *to)
{
    struct slice one;
    const char *between = env ? "" : "--";
    for (int k = 0; name_at(row, k, &one); k++) {
        char name[NAME_MAX_BYTES];
        if (env)
            env_name(one, name);
        else
            text_copy(name, sizeof(name), one);
        fprintf(to, "%s%s", between, name);
        between = env ? ", " : ", --";
    }
}

void config_help(const struct config_table *table, FILE *to)
{
    for (int i = 0; i < table->n; i++) {
        const struct config_row *row = &table->rows[i];
        fputs("  ", to);
        help_names(row, false, to);
        fprintf(to, "%s%s", row->what ? " " : "", row->what ? row->what : "");
        if (row->fallback && row->fallback[0])
            fprintf(to, "  (default %s)", row->fallback);
        fputc('\n', to);
        help_text(row->help, to);
        fputs("        environment: ", to);
        help_names(row, true, to);
        fputc('\n', to);
    }
    fputs("  -c FILE, --config FILE\n"
          "        read settings from a file in the grammar of Java's .properties: key=value\n"
          "  -h, --help\n"
          "        this text\n",
          to);
}
