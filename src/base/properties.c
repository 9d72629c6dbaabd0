/* SPDX-License-Identifier: Apache-2.0 */
/* Unescaping never lengthens a text by more than its UTF-8 form of a \uXXXX (6 bytes to 3), so one
 * scratch buffer as long as the input holds every key and value. */
#include "base/properties.h"
#include "base/buf.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *p, *end;
    int line;        /* of p */
    struct buf text; /* the entry's key, then its value */
    struct why *why;
};

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f';
}

static bool newline(char c)
{
    return c == '\n' || c == '\r';
}

/* Step over the end of a line: LF, CR, or CR LF. */
static void next_line(struct reader *r)
{
    if (r->p < r->end && *r->p == '\r')
        r->p++;
    if (r->p < r->end && *r->p == '\n')
        r->p++;
    r->line++;
}

static void skip_blanks(struct reader *r)
{
    while (r->p < r->end && blank(*r->p))
        r->p++;
}

/* The four digits behind \u; -1 if they are none. */
static int code_unit(struct reader *r)
{
    if (r->end - r->p < 4)
        return -1;
    int code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(r->p[i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    r->p += 4;
    return code;
}

static enum err bad_unicode(struct reader *r)
{
    why_set(r->why,
            "line %d: \\u wants four hexadecimal digits of a character (of a pair, "
            "if it takes two), and not 0000",
            r->line);
    return ERR_INVALID;
}

static enum err unicode(struct reader *r)
{
    int code = code_unit(r);
    if (code <= 0 || (code >= 0xDC00 && code <= 0xDFFF))
        return bad_unicode(r);
    if (code >= 0xD800 && code <= 0xDBFF) {
        if (r->end - r->p < 2 || r->p[0] != '\\' || r->p[1] != 'u')
            return bad_unicode(r);
        r->p += 2;
        int low = code_unit(r);
        if (low < 0xDC00 || low > 0xDFFF)
            return bad_unicode(r);
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    char bytes[4];
    buf_add(&r->text, bytes, utf8_put(bytes, (unsigned)code));
    return OK;
}

/* What follows a backslash. */
static enum err escape(struct reader *r)
{
    if (r->p == r->end)
        return OK;
    char c = *r->p;
    if (newline(c)) {
        next_line(r);
        skip_blanks(r);
        return OK;
    }
    r->p++;
    switch (c) {
    case 'u':
        return unicode(r);
    case 't':
        c = '\t';
        break;
    case 'n':
        c = '\n';
        break;
    case 'r':
        c = '\r';
        break;
    case 'f':
        c = '\f';
        break;
    default:
        break;
    }
    buf_char(&r->text, c);
    return OK;
}

/* Append to text until the end of the line, or in a key until what ends a key. */
static enum err piece(struct reader *r, bool key)
{
    while (r->p < r->end && !newline(*r->p)) {
        char c = *r->p;
        if (key && (blank(c) || c == '=' || c == ':'))
            return OK;
        r->p++;
        if (c == '\\') {
            enum err err = escape(r);
            if (err)
                return err;
        } else {
            buf_char(&r->text, c);
        }
    }
    return OK;
}

static void separator(struct reader *r)
{
    skip_blanks(r);
    if (r->p < r->end && (*r->p == '=' || *r->p == ':'))
        r->p++;
    skip_blanks(r);
}

static enum err entry(struct reader *r, properties_fn *fn, void *ctx)
{
    int line = r->line;
    buf_reset(&r->text);
    enum err err = piece(r, true);
    size_t key = r->text.len;
    if (!err) {
        separator(r);
        err = piece(r, false);
    }
    if (err)
        return err;
    if (r->text.failed)
        return ERR_NOMEM;
    const char *text = buf_str(&r->text);
    return fn(ctx, slice_of(text, key), slice_of(text + key, r->text.len - key), line, r->why);
}

enum err properties_read(struct slice text, properties_fn *fn, void *ctx, struct why *why)
{
    if (text.n > PROPERTIES_MAX) {
        why_set(why, "the file has more than %u bytes", PROPERTIES_MAX);
        return ERR_TOOBIG;
    }
    if (text.n == 0)
        return OK;
    if (!utf8_valid(text.p, text.n) || memchr(text.p, '\0', text.n)) {
        why_set(why, "the file must be UTF-8 text without NUL");
        return ERR_INVALID;
    }
    struct reader r = { text.p, text.p + text.n, 1, BUF_INIT(PROPERTIES_MAX), why };
    enum err err = OK;
    while (!err && r.p < r.end) {
        skip_blanks(&r);
        if (r.p == r.end)
            break;
        if (*r.p == '#' || *r.p == '!')
            while (r.p < r.end && !newline(*r.p))
                r.p++;
        else if (!newline(*r.p))
            err = entry(&r, fn, ctx);
        if (!err && r.p < r.end && newline(*r.p))
            next_line(&r);
    }
    buf_done(&r.text);
    return err;
}
