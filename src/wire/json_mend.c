/* SPDX-License-Identifier: Apache-2.0 */
/* json_mend.c - literal by literal, each byte once. A reader runs over it only after it has refused
 * the text, so what is well-formed costs nothing. */
#include "wire/json_mend.h"
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

struct mend {
    const char *p, *end;
    struct buf *out;
    size_t n;
};

static bool hex4(const char *p, const char *end, unsigned *ret)
{
    *ret = 0;
    if (end - p < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return false;
        *ret = *ret << 4 | (unsigned)digit;
    }
    return true;
}

static bool is_high(unsigned u)
{
    return u >= 0xD800 && u <= 0xDBFF;
}

static bool is_low(unsigned u)
{
    return u >= 0xDC00 && u <= 0xDFFF;
}

static void replace(struct mend *m, size_t bytes)
{
    buf_text(m->out, REPLACEMENT);
    m->p += bytes;
    m->n++;
}

static void keep(struct mend *m, size_t bytes)
{
    buf_add(m->out, m->p, bytes);
    m->p += bytes;
}

/* m->p is at a backslash. */
static void escape(struct mend *m)
{
    unsigned u, low;
    const char *p = m->p;
    if (m->end - p < 2) {
        keep(m, 1);
    } else if (strchr("\"\\/bfnrt", p[1]) && p[1]) {
        keep(m, 2);
    } else if (p[1] != 'u' || !hex4(p + 2, m->end, &u)) {
        buf_text(m->out, "\\\\");
        m->p++;
        m->n++;
    } else if (is_high(u) && m->end - p >= 12 && p[6] == '\\' && p[7] == 'u' &&
               hex4(p + 8, m->end, &low) && is_low(low)) {
        keep(m, 12);
    } else if (is_high(u) || is_low(u) || u == 0) {
        replace(m, 6);
    } else {
        keep(m, 6);
    }
}

/* A half of a surrogate pair as if it were a character of UTF-8; 0: there is none. */
static unsigned half_at(const char *p, const char *end)
{
    const unsigned char *u = (const unsigned char *)p;
    if (end - p < 3 || u[0] != 0xED || u[1] < 0xA0 || u[1] > 0xBF || (u[2] & 0xC0) != 0x80)
        return 0;
    return 0xD000u | (u[1] & 0x3Fu) << 6 | (u[2] & 0x3Fu);
}

/* A byte of more than one that is no UTF-8. */
static void foreign(struct mend *m)
{
    unsigned high = half_at(m->p, m->end), low;
    if (!high) {
        replace(m, 1);
        return;
    }
    low = half_at(m->p + 3, m->end);
    if (!is_high(high) || !is_low(low)) {
        replace(m, 3);
        return;
    }
    char to[4];
    buf_add(m->out, to, utf8_put(to, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)));
    m->p += 6;
    m->n++;
}

/* Behind the quotation mark that begins a literal, to behind the one that ends it. */
static void literal(struct mend *m)
{
    while (m->p < m->end && *m->p != '"') {
        unsigned char c = (unsigned char)*m->p;
        size_t whole;
        if (c == '\\') {
            escape(m);
        } else if (c == 0) {
            replace(m, 1);
        } else if (c < 0x20) {
            buf_printf(m->out, "\\u%04x", c);
            m->p++;
            m->n++;
        } else if (c < 0x80) {
            keep(m, 1);
        } else if ((whole = utf8_char(m->p, (size_t)(m->end - m->p)))) {
            keep(m, whole);
        } else {
            foreign(m);
        }
    }
    if (m->p < m->end)
        keep(m, 1);
}

size_t json_mend(struct slice text, struct buf *out)
{
    struct mend m = { text.p, text.n ? text.p + text.n : text.p, out, 0 };
    while (m.p < m.end && !out->failed) {
        char c = *m.p;
        keep(&m, 1);
        if (c == '"')
            literal(&m);
    }
    return m.n;
}
