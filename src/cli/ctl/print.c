/* SPDX-License-Identifier: Apache-2.0 */
/* Tables are made of the same JSON that -o json prints: a column is the path of a member. */
#include "cli/ctl/print.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/ctl/http.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_DEFAULT = 500, PAGE_ROWS = 500, TEXT_MAX = 4 << 20 };

/* As it came; a terminal gets no control characters, which JSON leaves in texts from U+007F on. */
static void print_json(const json_t *v)
{
    char *text = json_dumps(v, JSON_INDENT(2));
    struct buf b = BUF_INIT(SIZE_MAX / 2);
    if (text && isatty(STDOUT_FILENO))
        ctl_clean(&b, text, strlen(text), true);
    puts(b.len ? buf_str(&b) : text ? text : "null");
    buf_done(&b);
    free(text);
}

/* Columns that a character takes: East Asian wide ones two. */
static int columns_of(const char *p, size_t n)
{
    unsigned char a = (unsigned char)p[0], b = n > 1 ? (unsigned char)p[1] : 0;
    if (n == 4)
        return 2;
    if (n < 3)
        return 1;
    bool wide = (a == 0xe1 && b >= 0x84 && b <= 0x85) || (a == 0xe2 && b >= 0xba) ||
                (a >= 0xe3 && a <= 0xec) || (a == 0xed && b < 0xa0) ||
                (a == 0xef && (b == 0xa4 || b == 0xbc || b == 0xbd));
    return wide ? 2 : 1;
}

static int width_of(const char *text)
{
    int width = 0;
    for (size_t n = strlen(text), i = 0, size; i < n; i += size) {
        size = utf8_char(text + i, n - i);
        size = size ? size : 1;
        width += columns_of(text + i, size);
    }
    return width;
}

/* Cut to so many columns, with a mark at the end. */
static void cut(char *text, int max)
{
    int width = 0;
    size_t n = strlen(text), mark = 0;
    if (!max || width_of(text) <= max)
        return;
    for (size_t i = 0, size; i < n; i += size) {
        size = utf8_char(text + i, n - i);
        size = size ? size : 1;
        width += columns_of(text + i, size);
        if (width > max - 1)
            break;
        mark = i + size;
    }
    if (n - mark >= 3)
        memcpy(text + mark, "…", 4);
    else
        text[mark] = '\0';
}

/* A value in a cell; owned. */
static char *cell(const json_t *v)
{
    struct buf b = BUF_INIT(TEXT_MAX);
    if (json_is_string(v)) {
        ctl_clean(&b, json_string_value(v), json_string_length(v), false);
    } else if (v && !json_is_null(v)) {
        char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
        ctl_clean(&b, text ? text : "", text ? strlen(text) : 0, false);
        free(text);
    }
    if (!b.len)
        buf_char(&b, '-');
    return buf_take(&b);
}

/* ---- a table --------------------------------------------------------------------------------- */

static void print_rows(const struct ctl_list *l, char **cells, size_t rows, const int *widths)
{
    for (size_t r = 0; r < rows; r++) {
        for (int k = 0; k < l->ncolumns; k++) {
            const char *text = cells[r * (size_t)l->ncolumns + (size_t)k];
            bool last = k == l->ncolumns - 1;
            printf("%s%*s", text, last ? 0 : widths[k] - width_of(text) + 2, "");
        }
        putchar('\n');
    }
}

static void print_table(const struct ctl_list *l, const json_t *items)
{
    size_t rows = json_array_size(items) + 1, columns = (size_t)l->ncolumns;
    bool terminal = isatty(STDOUT_FILENO);
    int widths[16] = { 0 };
    char **cells = mem_new(rows * columns * sizeof(*cells));
    for (size_t i = 0; i < rows * columns; i++) {
        const struct ctl_column *column = &l->columns[i % columns];
        const json_t *item = i < columns ? NULL : json_array_get(items, i / columns - 1);
        cells[i] = item ? cell(ctl_member(item, column->path)) : mem_dup(column->title);
        if (terminal)
            cut(cells[i], column->max);
        int width = width_of(cells[i]);
        if (width > widths[i % columns])
            widths[i % columns] = width;
    }
    print_rows(l, cells, rows, widths);
    for (size_t i = 0; i < rows * columns; i++)
        free(cells[i]);
    free(cells);
}

/* ---- a list ---------------------------------------------------------------------------------- */

static void page_path(struct buf *path, const struct ctl *c, const struct ctl_list *l,
                      const char *cursor, int64_t rows)
{
    char limit[24];
    snprintf(limit, sizeof(limit), "%" PRId64, rows < PAGE_ROWS ? rows : PAGE_ROWS);
    buf_text(path, l->path);
    ctl_query(path, "limit", limit);
    ctl_query(path, "cursor", cursor);
    if (c->output != CTL_JSON)
        ctl_query(path, "fields", l->fields);
}

/* One page more into items. *ret_cursor: owned, NULL behind the last page. */
static enum ctl_exit add_page(struct ctl *c, const struct ctl_list *l, json_t *items, int64_t limit,
                              char **cursor)
{
    struct buf path = BUF_INIT(65536);
    json_t *page = NULL;
    page_path(&path, c, l, *cursor, limit - (int64_t)json_array_size(items));
    enum ctl_exit status = ctl_get(c, buf_str(&path), &page);
    json_t *more = json_object_get(page, "items");
    if (status == CTL_DONE && !json_is_array(more))
        status =
            ctl_say(c, CTL_FAILED, "the answer is not a list: is %.200s a center of Peal?", c->url);
    free(*cursor);
    *cursor = NULL;
    if (status == CTL_DONE) {
        json_array_extend(items, more);
        const char *next = json_string_value(ctl_member(page, "page.next"));
        *cursor = json_array_size(more) ? mem_dup(next) : NULL;
    }
    json_decref(page);
    buf_done(&path);
    return status;
}

static void print_items(const struct ctl *c, const struct ctl_list *l, const json_t *items)
{
    size_t i;
    const json_t *item;
    if (c->output == CTL_JSON) {
        print_json(items);
    } else if (c->output == CTL_NAME) {
        json_array_foreach(items, i, item)
        {
            char *text = cell(ctl_member(item, l->name));
            puts(text);
            free(text);
        }
    } else if (json_array_size(items)) {
        print_table(l, items);
    } else {
        fprintf(stderr, "%s\n", l->empty);
    }
}

enum ctl_exit ctl_print_list(struct ctl *c, const struct ctl_list *l)
{
    int64_t limit = LIMIT_DEFAULT;
    char *cursor = NULL;
    if (!ctl_number(c, "--limit", 1, CTL_ITEMS_MAX, &limit))
        return CTL_USAGE;
    json_t *items = json_array();
    enum ctl_exit status = CTL_DONE;
    do
        status = add_page(c, l, items, limit, &cursor);
    while (status == CTL_DONE && cursor && (int64_t)json_array_size(items) < limit);
    if (status == CTL_DONE)
        print_items(c, l, items);
    if (status == CTL_DONE && cursor)
        fprintf(stderr, "more follow: --limit says how many rows come\n");
    free(cursor);
    json_decref(items);
    return status;
}

/* ---- one object ------------------------------------------------------------------------------ */

/* The width of the names, "schedule.type"; instants in milliseconds are left out: their text is
 * there too. */
static bool shown(const char *key)
{
    size_t n = strlen(key);
    return strcmp(key, "ms") != 0 &&
           (n < 3 || strcmp(key + n - 2, "Ms") != 0 || strcmp(key, "tookMs") == 0 ||
            strcmp(key, "retryDelayMs") == 0 || strcmp(key, "startDeadlineMs") == 0);
}

static void print_members(const json_t *object, const char *before)
{
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)object, key, v)
    {
        char name[160];
        snprintf(name, sizeof(name), "%s%s%s", before, *before ? "." : "", key);
        if (json_is_object(v)) {
            print_members(v, name);
        } else if (shown(key)) {
            char *text = cell(v);
            struct buf b = BUF_INIT(1024);
            ctl_clean(&b, name, strlen(name), false);
            printf("%-24s %s\n", buf_str(&b), text);
            buf_done(&b);
            free(text);
        }
    }
}

void ctl_print_object(const struct ctl *c, const json_t *object, const char *name)
{
    if (c->output == CTL_JSON) {
        print_json(object);
    } else if (c->output == CTL_NAME) {
        char *text = cell(ctl_member(object, name));
        puts(text);
        free(text);
    } else {
        print_members(object, "");
    }
}
