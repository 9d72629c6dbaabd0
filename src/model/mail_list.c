/* SPDX-License-Identifier: Apache-2.0 */
/* XXL-JOB knows the comma alone; people write what their mail program takes. */
#include "model/mail_list.h"
#include "base/mem.h"
#include <string.h>

/* How many bytes of a mark stand here; 0: none. */
static size_t mark_at(struct slice s)
{
    static const char *const marks[] = { ",", ";", "\r", "\n", "，", "；", "、" };
    for (size_t i = 0; i < countof(marks); i++) {
        size_t n = strlen(marks[i]);
        if (s.n >= n && memcmp(s.p, marks[i], n) == 0)
            return n;
    }
    return 0;
}

/* What stands before the next mark; *ret_used with the mark. */
static struct slice piece_of(struct slice s, size_t *ret_used)
{
    size_t i = 0, mark = 0;
    while (i < s.n && !(mark = mark_at(slice_of(s.p + i, s.n - i))))
        i++;
    *ret_used = i + mark;
    return slice_of(s.p, i);
}

static bool bracketed(struct slice piece, struct slice *ret)
{
    const char *open = memchr(piece.p, '<', piece.n);
    size_t left = open ? piece.n - (size_t)(open + 1 - piece.p) : 0;
    const char *close = left ? memchr(open + 1, '>', left) : NULL;
    if (close)
        *ret = slice_trim(slice_of(open + 1, (size_t)(close - open - 1)));
    return close && ret->n;
}

static size_t word(struct slice s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] != ' ' && s.p[n] != '\t')
        n++;
    return n;
}

/* Blanks separate addresses, and not the words of what is none. */
static bool only_addresses(struct slice piece)
{
    for (size_t n; piece.n; piece = slice_trim(slice_of(piece.p + n, piece.n - n))) {
        n = word(piece);
        if (!memchr(piece.p, '@', n))
            return false;
    }
    return true;
}

bool mail_list_next(struct slice *rest, struct slice *ret)
{
    while (rest->n) {
        size_t used;
        struct slice all = piece_of(*rest, &used), piece = slice_trim(all);
        if (piece.n && !bracketed(piece, ret)) {
            *ret = only_addresses(piece) ? slice_of(piece.p, word(piece)) : piece;
            used = ret->n < piece.n ? (size_t)(ret->p + ret->n - rest->p) : used;
        }
        *rest = slice_of(rest->p + used, rest->n - used);
        if (piece.n)
            return true;
    }
    return false;
}
