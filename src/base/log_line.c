/* SPDX-License-Identifier: Apache-2.0 */
/* Three encoders of the same five fields. logfmt and JSON are for programs, so their fields keep
 * their names and order; text is for people, and escapes only what could deceive them. */
#include "base/log_line.h"
#include <stdio.h>
#include <time.h>
#include "base/jsonw.h"

static const char *const levels[] = { "error", "warn", "info", "debug" };

#define TIME_SIZE 96 /* what the compiler cannot know to be shorter */

/* RFC 3339, UTC, milliseconds. */
static void time_text(char to[TIME_SIZE], int64_t ms)
{
    struct tm tm;
    time_t second = (time_t)(ms / 1000);
    gmtime_r(&second, &tm);
    snprintf(to, TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1,
             tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(ms % 1000));
}

/* False: c is no control character. */
static bool put_control(struct buf *b, unsigned char c)
{
    if (c == '\n')
        buf_text(b, "\\n");
    else if (c < 0x20 || c == 0x7f)
        buf_printf(b, "\\x%02x", c);
    else
        return false;
    return true;
}

static void quote(struct buf *b, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_char(b, '\\');
        if (!put_control(b, (unsigned char)*text))
            buf_char(b, *text);
    }
}

/* How many bytes at p are a character that a terminal may get: 0 for what is no UTF-8, and for the
 * control characters of ISO 6429 between U+0080 and U+009F. */
static size_t printable(const char *p, size_t n)
{
    size_t len = utf8_char(p, n);
    bool control = len == 2 && (unsigned char)p[0] == 0xc2 && (unsigned char)p[1] < 0xa0;
    return control ? 0 : len;
}

static void print(struct buf *b, struct slice s)
{
    for (size_t i = 0; i < s.n;) {
        unsigned char c = (unsigned char)s.p[i];
        size_t len = c < 0x80 ? 1 : printable(s.p + i, s.n - i);
        if (!len)
            buf_printf(b, "\\x%02x", c);
        else if (!put_control(b, c))
            buf_add(b, s.p + i, len);
        i += len ? len : 1;
    }
}

static void write_text(struct buf *out, const struct log_event *e, const char *at)
{
    buf_printf(out, "%s %-5s %s: ", at, levels[e->level], e->module);
    print(out, slice_text(e->text));
    if (e->repeated)
        buf_printf(out, " (and %d more)", e->repeated);
}

static void write_logfmt(struct buf *out, const struct log_event *e, const char *at)
{
    buf_printf(out, "ts=%s level=%s module=%s msg=\"", at, levels[e->level], e->module);
    quote(out, e->text);
    buf_char(out, '"');
    if (e->repeated)
        buf_printf(out, " repeated=%d", e->repeated);
}

static void write_json(struct buf *out, const struct log_event *e, const char *at)
{
    struct jsonw w = jsonw_on(out);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "ts", at);
    jsonw_text(&w, "level", levels[e->level]);
    jsonw_text(&w, "module", e->module);
    jsonw_text(&w, "msg", e->text);
    if (e->repeated)
        jsonw_i64(&w, "repeated", e->repeated);
    jsonw_object_end(&w);
}

void log_line_write(struct buf *out, enum log_format format, const struct log_event *e)
{
    char at[TIME_SIZE];
    time_text(at, e->at_ms);
    if (format == LOG_TEXT)
        write_text(out, e, at);
    else if (format == LOG_JSON)
        write_json(out, e, at);
    else
        write_logfmt(out, e, at);
    buf_char(out, '\n');
}
