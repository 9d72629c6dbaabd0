/* SPDX-License-Identifier: Apache-2.0 */
#include "support_vectors.h"
#include "base/map.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include "server/zones.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static size_t put_utf8(char *to, unsigned code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    to[0] = (char)(0xE0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 0x3F));
    to[2] = (char)(0x80 | (code & 0x3F));
    return 3;
}

static void unescape(struct vector *v)
{
    struct slice s = v->column[0];
    size_t n = 0;
    assert_true(s.n < sizeof(v->text) - 4);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '\\' || i + 1 == s.n) {
            v->text[n++] = s.p[i];
            continue;
        }
        char c = s.p[++i];
        if (c == 'u' && i + 4 < s.n + 0 + 1) {
            char hex[5] = { s.p[i + 1], s.p[i + 2], s.p[i + 3], s.p[i + 4], '\0' };
            n += put_utf8(v->text + n, (unsigned)strtoul(hex, NULL, 16));
            i += 4;
        } else {
            v->text[n++] = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
        }
    }
    v->text_len = n;
}

static void split(struct vector *v, char *line, size_t n)
{
    v->n = 0;
    char *end = line + n;
    for (char *p = line; p <= end && v->n < VECTOR_COLUMNS;) {
        char *tab = memchr(p, '\t', (size_t)(end - p));
        char *stop = tab ? tab : end;
        v->column[v->n++] = slice_of(p, (size_t)(stop - p));
        p = stop + 1;
    }
    unescape(v);
}

void vectors_each(const char *file, int lines, void (*each)(struct vector *v))
{
    char path[512];
    snprintf(path, sizeof(path), "%s/tests/vectors/%s", PEAL_SOURCE_DIR, file);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    static struct vector v;
    for (v.line = 1; (n = getline(&line, &cap, f)) > 0; v.line++) {
        split(&v, line, (size_t)(line[n - 1] == '\n' ? n - 1 : n));
        each(&v);
    }
    assert_int_equal(v.line - 1, lines);
    free(line);
    fclose(f);
}

struct zone *vector_zone(struct slice name)
{
    static struct zones *zones; /* reachable to the end: no leak */
    if (!zones)
        zones = zones_new(NULL);
    char text[ZONES_NAME_MAX + 1];
    text_copy(text, sizeof(text), name);
    struct zone *z = NULL;
    struct why why = { { 0 } };
    if (zones_get(zones, text, &z, &why))
        fail_msg("%s", why.text);
    zone_unref(z); /* the table keeps it */
    return z;
}

int64_t vector_ms(struct slice rfc3339)
{
    int64_t ms = 0;
    assert_int_equal(rfc3339_parse(rfc3339, &ms, NULL), OK);
    return ms;
}

void times_text(const struct cron *c, const struct zone *z, enum dst_policy dst, int64_t from_ms,
                int count, char *to, size_t size)
{
    size_t used = 0;
    to[0] = '\0';
    for (int i = 0; i < count && !cron_next(c, z, dst, from_ms, &from_ms); i++)
        used += (size_t)snprintf(to + used, size - used, "%s%" PRId64, i ? "," : "", from_ms);
    if (!used)
        snprintf(to, size, "-");
}
