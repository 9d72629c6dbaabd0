/* SPDX-License-Identifier: Apache-2.0 */
/* quick.h - JSON of the usual shape, read in place: no tree, mostly no copy.
 *
 * For the bodies that come by the ten thousand a second. A false means "let jansson look", never
 * "wrong": what is unusual (a number in quotes, an unknown member, a bad escape) needs no decision
 * here, but where this says yes, jansson must say the same. Pure. */
#ifndef PEAL_WIRE_QUICK_H
#define PEAL_WIRE_QUICK_H

#include <string.h>
#include "base/str.h"
#include "wire/arena.h"

struct wire_quick { /* what is left to read; borrowed */
    const char *p, *end;
};

static inline void wire_quick_blanks(struct wire_quick *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\r' || *c->p == '\t'))
        c->p++;
}

static inline bool wire_quick_take(struct wire_quick *c, char want)
{
    wire_quick_blanks(c);
    if (c->p == c->end || *c->p != want)
        return false;
    c->p++;
    return true;
}

static inline bool wire_quick_word(struct wire_quick *c, const char *word, size_t n)
{
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n))
        return false;
    c->p += n;
    return true;
}

/* An integer of up to 18 digits, as RFC 8259 writes it; more could overflow. */
bool wire_quick_integer(struct wire_quick *c, int64_t *ret);
/* A text; borrowed from the input when nothing in it is escaped, else from the arena. */
bool wire_quick_text(struct wire_quick *c, struct wire_arena *arena, struct slice *ret);
/* A member's name, its colon, and the blanks behind it; only names of letters. */
bool wire_quick_name(struct wire_quick *c, struct slice *ret);

#endif
