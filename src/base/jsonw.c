/* SPDX-License-Identifier: Apache-2.0 */
/* The writer keeps one bit of state: whether a comma comes first. Keys and text are escaped while
 * they are copied, bytes that are not UTF-8 become U+FFFD. */
#include "base/jsonw.h"
#include <stdio.h>
#include <string.h>

static void lead(struct jsonw *w, const char *key)
{
    if (w->comma)
        buf_char(w->out, ',');
    w->comma = true;
    if (key) {
        jsonw_quote(w->out, slice_text(key));
        buf_char(w->out, ':');
    }
}

static void open_with(struct jsonw *w, const char *key, char c)
{
    lead(w, key);
    buf_char(w->out, c);
    w->comma = false;
}

static void close_with(struct jsonw *w, char c)
{
    buf_char(w->out, c);
    w->comma = true;
}

void jsonw_object(struct jsonw *w, const char *key)
{
    open_with(w, key, '{');
}

void jsonw_object_end(struct jsonw *w)
{
    close_with(w, '}');
}

void jsonw_array(struct jsonw *w, const char *key)
{
    open_with(w, key, '[');
}

void jsonw_array_end(struct jsonw *w)
{
    close_with(w, ']');
}

void jsonw_i64(struct jsonw *w, const char *key, int64_t v)
{
    lead(w, key);
    buf_i64(w->out, v);
}

void jsonw_real(struct jsonw *w, const char *key, double v)
{
    lead(w, key);
    buf_printf(w->out, "%.15g", v);
}

void jsonw_bool(struct jsonw *w, const char *key, bool v)
{
    lead(w, key);
    buf_text(w->out, v ? "true" : "false");
}

void jsonw_null(struct jsonw *w, const char *key)
{
    lead(w, key);
    buf_text(w->out, "null");
}

void jsonw_raw(struct jsonw *w, const char *key, struct slice json)
{
    lead(w, key);
    buf_slice(w->out, json);
}

void jsonw_slice(struct jsonw *w, const char *key, struct slice v)
{
    lead(w, key);
    jsonw_quote(w->out, v);
}

void jsonw_text(struct jsonw *w, const char *key, const char *v)
{
    if (v)
        jsonw_slice(w, key, slice_text(v));
    else
        jsonw_null(w, key);
}

static void escape(struct buf *out, unsigned char c)
{
    static const char letters[] = "btn\v"
                                  "fr"; /* by c - 8; \v has no short form */
    char text[8];
    if (c == '"' || c == '\\')
        snprintf(text, sizeof(text), "\\%c", c);
    else if (c >= 8 && c <= 13 && c != 11)
        snprintf(text, sizeof(text), "\\%c", letters[c - 8]);
    else
        snprintf(text, sizeof(text), "\\u%04x", c);
    buf_text(out, text);
}

void jsonw_quote(struct buf *out, struct slice v)
{
    buf_char(out, '"');
    size_t start = 0, i = 0;
    while (i < v.n) {
        unsigned char c = (unsigned char)v.p[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c < 0x7f) {
            i++;
            continue;
        }
        size_t len = c >= 0x80 ? utf8_char(v.p + i, v.n - i) : 0;
        if (len) {
            i += len;
            continue;
        }
        buf_add(out, v.p + start, i - start);
        if (c >= 0x80)
            buf_text(out, "\xEF\xBF\xBD");
        else
            escape(out, c);
        start = ++i;
    }
    if (v.n)
        buf_add(out, v.p + start, v.n - start);
    buf_char(out, '"');
}
