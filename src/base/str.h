/* SPDX-License-Identifier: Apache-2.0 */
/* str.h - text that came from outside: slices, strict numbers, UTF-8 boundaries. Pure. */
#ifndef PEAL_BASE_STR_H
#define PEAL_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text of a number that is a macro: "10000". */
#define TEXT_OF(macro) TEXT_OF_TOKEN(macro)
#define TEXT_OF_TOKEN(token) #token

struct slice { /* borrowed bytes, not terminated */
    const char *p;
    size_t n;
};

static inline struct slice slice_of(const char *p, size_t n)
{
    struct slice s = { p, n };
    return s;
}

struct slice slice_text(const char *text); /* NULL gives an empty slice */
bool slice_eq(struct slice s, const char *text);
bool slice_eq_nocase(struct slice s, const char *text); /* ASCII */
struct slice slice_trim(struct slice s);                /* blanks, tabs, CR, LF */

/* Cut what stands before the next mark off *rest, and the mark. False when nothing is left; after a
 * mark at the end comes nothing. */
bool slice_cut(struct slice *rest, char mark, struct slice *ret);
/* The next item of a comma separated list as people write them: blanks around an item do not count,
 * empty items do not exist. */
bool slice_item(struct slice *rest, struct slice *ret);
bool slice_has_item(struct slice list, struct slice item);

/* Decimal integers, whole text, optional '-'; false on anything else or overflow. */
bool parse_i64(struct slice s, int64_t *ret);
bool parse_int(struct slice s, int *ret);

/* The value of a hexadecimal digit of either case; -1 if it is none. */
int hex_digit(char c);
/* Lower-case digits of n bytes, terminated: 2 * n + 1 bytes. */
void hex_text(const unsigned char *p, size_t n, char *to);

/* Is it well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms)? */
bool utf8_valid(const char *p, size_t n);
/* Bytes of the well-formed character at p, of which n >= 1 bytes are there; 0 if there is none. */
size_t utf8_char(const char *p, size_t n);
/* Write a code point that is no surrogate, below 0x110000. Returns how many bytes, 4 at most. */
size_t utf8_put(char *to, unsigned code);
/* Largest m <= max (and <= n) such that p[0..m) does not end inside a character. */
size_t utf8_cut(const char *p, size_t n, size_t max);
/* Number of UTF-16 code units of a well-formed text: what Java and MySQL-era limits count. */
size_t utf8_units(const char *p, size_t n);
/* Largest m <= n such that p[0..m) has at most max code units and does not end inside a character.
 */
size_t utf8_cut_units(const char *p, size_t n, size_t max);

/* Copy with termination, cut on a character boundary. Returns bytes copied. */
size_t text_copy(char *to, size_t size, struct slice from);

#endif
