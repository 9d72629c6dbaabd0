/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor over the text that gives up at the first thing it does not expect. Giving up costs
 * little: the full parser reads the text again. */
#include "wire/quick.h"
#include <string.h>

bool wire_quick_integer(struct wire_quick *c, int64_t *ret)
{
    const char *p = c->p;
    bool minus = p < c->end && *p == '-';
    if (minus)
        p++;
    const char *first = p;
    int64_t v = 0;
    while (p < c->end && *p >= '0' && *p <= '9' && p - first < 18)
        v = v * 10 + (*p++ - '0');
    size_t n = (size_t)(p - first);
    if (n == 0 || (n > 1 && *first == '0'))
        return false;
    if (p < c->end && (*p == '.' || *p == 'e' || *p == 'E' || (*p >= '0' && *p <= '9')))
        return false;
    *ret = minus ? -v : v;
    c->p = p;
    return true;
}

static bool hex4(const char *p, unsigned *ret)
{
    unsigned v = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return false;
        v = v * 16 + (unsigned)digit;
    }
    *ret = v;
    return true;
}

/* The character of "uXXXX" (with its second half) at *p; moves *p behind it. Lone halves: no. */
static bool unicode(const char **p, const char *end, unsigned *ret)
{
    unsigned hi, lo;
    if (end - *p < 5 || !hex4(*p + 1, &hi))
        return false;
    *p += 5;
    if (hi < 0xD800 || hi > 0xDFFF) {
        *ret = hi;
        return hi != 0; /* a NUL is mended */
    }
    if (hi > 0xDBFF || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u' || !hex4(*p + 2, &lo) ||
        lo < 0xDC00 || lo > 0xDFFF)
        return false;
    *p += 6;
    *ret = 0x10000 + ((hi - 0xD800) << 10) + (lo - 0xDC00);
    return true;
}

/* Undo the escapes of raw (which is never shorter than the result). */
static bool unescape(struct slice raw, struct wire_arena *arena, struct slice *ret)
{
    char *to = wire_arena_room(arena, raw.n), *start = to;
    if (!to)
        return false;
    const char *p = raw.p, *end = raw.p + raw.n;
    while (p < end) {
        if (*p != '\\') {
            *to++ = *p++;
            continue;
        }
        static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
        const char *known = ++p < end && *p ? strchr(from, *p) : NULL;
        unsigned u;
        if (known) {
            *to++ = into[known - from];
            p++;
        } else if (p < end && *p == 'u' && unicode(&p, end, &u)) {
            to += utf8_put(to, u);
        } else {
            wire_arena_shrink(arena, raw.n);
            return false;
        }
    }
    *ret = slice_of(start, (size_t)(to - start));
    wire_arena_shrink(arena, raw.n - ret->n);
    return true;
}

bool wire_quick_text(struct wire_quick *c, struct wire_arena *arena, struct slice *ret)
{
    if (c->p == c->end || *c->p != '"')
        return false;
    const char *start = ++c->p, *p = start;
    unsigned char all = 0;
    bool escaped = false;
    while (p < c->end && *p != '"') {
        unsigned char ch = (unsigned char)*p;
        if (ch < 0x20)
            return false;
        all |= ch;
        if (ch == '\\') {
            escaped = true;
            if (++p == c->end)
                return false;
        }
        p++;
    }
    if (p >= c->end)
        return false;
    struct slice raw = slice_of(start, (size_t)(p - start));
    if (all >= 0x80 && !utf8_valid(raw.p, raw.n))
        return false;
    c->p = p + 1;
    *ret = raw;
    return !escaped || unescape(raw, arena, ret);
}

bool wire_quick_name(struct wire_quick *c, struct slice *ret)
{
    if (!wire_quick_take(c, '"'))
        return false;
    const char *start = c->p;
    while (c->p < c->end && ((*c->p >= 'a' && *c->p <= 'z') || (*c->p >= 'A' && *c->p <= 'Z')))
        c->p++;
    *ret = slice_of(start, (size_t)(c->p - start));
    if (c->p == c->end || *c->p++ != '"' || !wire_quick_take(c, ':'))
        return false;
    wire_quick_blanks(c);
    return true;
}
