/* SPDX-License-Identifier: Apache-2.0 */
/* The list of tables is not kept by hand: it is read out of the texts that have made them, so a new
 * migration needs no second place. */
#include "store/sql/schema.h"
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 200 /* of table.column: names of servers have at most 64 characters */

/* ---- texts ----------------------------------------------------------------------------------- */

struct walk {
    struct slice table; /* whose columns the next lines have; empty: none */
    sql_schema_fn *fn;
    void *ctx;
};

static bool small(char c)
{
    return c >= 'a' && c <= 'z';
}

/* The name at the beginning; empty: there is none. */
static struct slice name_at(struct slice s)
{
    size_t n = 0;
    while (n < s.n && (small(s.p[n]) || s.p[n] == '_' || (n && s.p[n] >= '0' && s.p[n] <= '9')))
        n++;
    return slice_of(s.p, n);
}

/* Moves *s behind the next such words in it; false leaves it. */
static bool behind(struct slice *s, const char *words)
{
    size_t n = strlen(words);
    const char *at = s->n >= n ? memmem(s->p, s->n, words, n) : NULL;
    if (!at)
        return false;
    *s = slice_of(at + n, s->n - (size_t)(at - s->p) - n);
    return true;
}

static void create_table(struct walk *w, struct slice rest)
{
    behind(&rest, "IF NOT EXISTS ");
    w->table = name_at(rest);
}

static void alter_table(const struct walk *w, struct slice rest)
{
    struct slice table = name_at(rest);
    w->fn(w->ctx, table, slice_of("", 0), false);
    while (behind(&rest, "ADD COLUMN "))
        w->fn(w->ctx, table, name_at(rest), false);
}

static void column_line(struct walk *w, struct slice line)
{
    struct slice column = name_at(line);
    if (line.n && line.p[0] == ')')
        w->table = slice_of("", 0);
    else if (column.n) /* no key */
        w->fn(w->ctx, w->table, column, true);
}

static void line_walk(struct walk *w, struct slice line)
{
    const char *comment = line.n ? memmem(line.p, line.n, "--", 2) : NULL;
    line = slice_trim(comment ? slice_of(line.p, (size_t)(comment - line.p)) : line);
    if (w->table.n)
        column_line(w, line);
    else if (behind(&line, "CREATE TABLE "))
        create_table(w, line);
    else if (behind(&line, "ALTER TABLE "))
        alter_table(w, line);
    else if (behind(&line, " INDEX ") && behind(&line, " ON "))
        w->fn(w->ctx, name_at(line), slice_of("", 0), false);
}

void sql_schema_walk(const char *text, sql_schema_fn *fn, void *ctx)
{
    struct walk w = { .fn = fn, .ctx = ctx };
    struct slice rest = slice_text(text), line;
    while (slice_cut(&rest, '\n', &line))
        line_walk(&w, line);
}

/* ---- the database ---------------------------------------------------------------------------- */

struct whole {
    struct textmap there; /* "table" and "table.column" */
    const char *database;
    bool theirs;
    bool gone;
    struct why *why;
};

static struct slice key_of(char to[NAME_SIZE], struct slice table, struct slice column)
{
    snprintf(to, NAME_SIZE, "%.*s%s%.*s", (int)table.n, table.p, column.n ? "." : "", (int)column.n,
             column.p);
    return slice_text(to);
}

static void want(void *ctx, struct slice table, struct slice column, bool made)
{
    (void)made;
    struct whole *w = ctx;
    char name[NAME_SIZE];
    const char *what = "table";
    bool columns = !(w->theirs && table.n > 8 && memcmp(table.p, "xxl_job_", 8) == 0);
    if (w->gone)
        return;
    bool there = textmap_find(&w->there, key_of(name, table, slice_of("", 0))) != NULL;
    if (there && column.n && columns) {
        what = "column";
        there = textmap_find(&w->there, key_of(name, table, column)) != NULL;
    }
    w->gone = !there;
    if (!there)
        why_set(w->why, "database %s: the %s %s is gone: restore a backup", w->database, what,
                name);
}

static enum err columns_read(struct sql *s, const char *columns, struct textmap *there,
                             struct why *why)
{
    struct sql_query *q;
    bool row = true;
    enum err err = sql_query_once(s, columns, &q, why);
    if (err)
        return err;
    while (!(err = sql_next(q, &row, why)) && row) {
        char table[NAME_SIZE / 2], column[NAME_SIZE / 2], name[NAME_SIZE];
        sql_text_copy(q, 0, table, sizeof(table));
        sql_text_copy(q, 1, column, sizeof(column));
        textmap_set(there, slice_text(table), there);
        textmap_set(there, key_of(name, slice_text(table), slice_text(column)), there);
    }
    sql_query_end(q);
    return err;
}

enum err sql_schema_whole(struct sql *s, const struct sql_migrations *m, const char *columns,
                          bool theirs, struct why *why)
{
    struct whole w = { .database = m->database, .theirs = theirs, .why = why };
    textmap_init(&w.there);
    enum err err = columns_read(s, columns, &w.there, why);
    for (int64_t n = 0; !err && n < m->n; n++)
        sql_schema_walk(m->texts[n], want, &w);
    textmap_done(&w.there);
    return !err && w.gone ? ERR_INVALID : err;
}
