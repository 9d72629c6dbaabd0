/* SPDX-License-Identifier: Apache-2.0 */
/* Slices are borrowed views. Numbers are read strictly: no blanks, no sign but one minus, no
 * overflow. */
#include "base/str.h"
#include <limits.h>
#include <string.h>
#include <strings.h>

struct slice slice_text(const char *text)
{
    return slice_of(text, text ? strlen(text) : 0);
}

bool slice_eq(struct slice s, const char *text)
{
    return s.n == strlen(text) && (s.n == 0 || memcmp(s.p, text, s.n) == 0);
}

bool slice_eq_nocase(struct slice s, const char *text)
{
    return s.n == strlen(text) && (s.n == 0 || strncasecmp(s.p, text, s.n) == 0);
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct slice slice_trim(struct slice s)
{
    while (s.n && blank(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n && blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool slice_cut(struct slice *rest, char mark, struct slice *ret)
{
    if (rest->n == 0)
        return false;
    const char *at = memchr(rest->p, mark, rest->n);
    *ret = slice_of(rest->p, at ? (size_t)(at - rest->p) : rest->n);
    size_t used = ret->n + (at ? 1 : 0);
    *rest = slice_of(rest->p + used, rest->n - used);
    return true;
}

bool slice_item(struct slice *rest, struct slice *ret)
{
    for (struct slice piece; slice_cut(rest, ',', &piece);) {
        piece = slice_trim(piece);
        if (piece.n) {
            *ret = piece;
            return true;
        }
    }
    return false;
}

bool slice_has_item(struct slice list, struct slice item)
{
    for (struct slice one; slice_item(&list, &one);)
        if (one.n == item.n && memcmp(one.p, item.p, item.n) == 0)
            return true;
    return false;
}

bool parse_i64(struct slice s, int64_t *ret)
{
    bool minus = s.n && s.p[0] == '-';
    size_t i = minus ? 1 : 0;
    if (i == s.n)
        return false;
    int64_t v = 0;
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        int digit = s.p[i] - '0';
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, digit, &v))
            return false; /* collected as a negative number: its range is the larger one */
    }
    if (!minus && v == INT64_MIN)
        return false;
    *ret = minus ? v : -v;
    return true;
}

bool parse_int(struct slice s, int *ret)
{
    int64_t v;
    if (!parse_i64(s, &v) || v < INT_MIN || v > INT_MAX)
        return false;
    *ret = (int)v;
    return true;
}

int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void hex_text(const unsigned char *p, size_t n, char *to)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        *to++ = digits[p[i] >> 4];
        *to++ = digits[p[i] & 15];
    }
    *to = '\0';
}

size_t utf8_char(const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    if (p[0] < 0x80)
        return 1;
    size_t len = p[0] >= 0xC2 && p[0] <= 0xDF ? 2 : (p[0] & 0xF0) == 0xE0 ? 3 : 0;
    if (p[0] >= 0xF0 && p[0] <= 0xF4)
        len = 4;
    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
        (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    return len;
}

size_t utf8_put(char *to, unsigned code)
{
    static const unsigned char heads[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3F));
    to[0] = (char)(heads[n] | code);
    return n;
}

bool utf8_valid(const char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t len = utf8_char(p + i, n - i);
        if (len == 0)
            return false;
        i += len;
    }
    return true;
}

size_t utf8_cut(const char *p, size_t n, size_t max)
{
    if (n < max)
        max = n;
    size_t start = max;
    for (int back = 0; start > 0 && back < 4; back++) {
        start--;
        unsigned char c = (unsigned char)p[start];
        if (c < 0x80)
            return max;
        if (c >= 0xC0) {
            size_t want = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
            return start + want <= max ? max : start;
        }
    }
    return max;
}

size_t utf8_units(const char *p, size_t n)
{
    size_t units = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        if ((c & 0xC0) != 0x80)
            units += c >= 0xF0 ? 2 : 1;
    }
    return units;
}

size_t utf8_cut_units(const char *p, size_t n, size_t max)
{
    if (n <= max)
        return n; /* a byte is never more than one unit */
    size_t units = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        if ((c & 0xC0) == 0x80)
            continue;
        units += c >= 0xF0 ? 2 : 1;
        if (units > max)
            return i;
    }
    return n;
}

size_t text_copy(char *to, size_t size, struct slice from)
{
    size_t n = utf8_cut(from.p, from.n, size - 1);
    if (n)
        memcpy(to, from.p, n);
    to[n] = '\0';
    return n;
}
