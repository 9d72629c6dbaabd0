/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding never lengthens a text and the number of parameters is bounded, so all names and values
 * lie one after the other in one block, allocated before the first is read. */
#include "api/form.h"
#include "api/percent.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

struct decoder {
    struct form *f;
    size_t cap;
    char *to; /* next free byte of the text */
    struct why *why;
};

/* Decode s to a terminated text; NULL if it is refused. what: for the reason. */
static const char *decode(struct decoder *d, struct slice s, const char *what, const char *name)
{
    char *start = d->to;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '+') {
            c = ' ';
        } else if (c == '%') {
            int byte = percent_byte(s, i);
            if (byte < 0) {
                why_set(d->why, "%s %s: %% must be followed by two hexadecimal digits", what, name);
                return NULL;
            }
            c = (char)byte;
            i += 2;
        }
        *d->to++ = c;
    }
    size_t n = (size_t)(d->to - start);
    *d->to++ = '\0';
    if (memchr(start, '\0', n) || !utf8_valid(start, n)) {
        why_set(d->why, "%s %s: must be UTF-8 text without NUL", what, name);
        return NULL;
    }
    return start;
}

static enum err add(struct decoder *d, struct slice pair)
{
    if (pair.n == 0)
        return OK;
    if (d->f->n == FORM_ITEMS_MAX) {
        why_set(d->why, "more than %d parameters", FORM_ITEMS_MAX);
        return ERR_TOOBIG;
    }
    if (d->f->n == d->cap) {
        d->cap = d->cap ? 2 * d->cap : 16;
        d->f->items = mem_resize(d->f->items, d->cap * sizeof(*d->f->items));
    }
    const char *equals = memchr(pair.p, '=', pair.n);
    size_t n = equals ? (size_t)(equals - pair.p) : pair.n;
    struct slice value =
        equals ? slice_of(equals + 1, pair.n - n - 1) : slice_of(pair.p + pair.n, 0);
    const char *name = decode(d, slice_of(pair.p, n), "parameter", "name");
    if (!name)
        return ERR_INVALID;
    if (strlen(name) > FORM_NAME_MAX) {
        why_set(d->why, "parameter name: at most %d bytes", FORM_NAME_MAX);
        return ERR_TOOBIG;
    }
    const char *text = decode(d, value, "parameter", name);
    if (!text)
        return ERR_INVALID;
    d->f->items[d->f->n++] = (struct form_item){ name, text };
    return OK;
}

static enum err add_all(struct decoder *d, struct slice s)
{
    while (s.n) {
        const char *amp = memchr(s.p, '&', s.n);
        size_t n = amp ? (size_t)(amp - s.p) : s.n;
        enum err err = add(d, slice_of(s.p, n));
        if (err)
            return err;
        n += amp ? 1 : 0;
        s = slice_of(s.p + n, s.n - n);
    }
    return OK;
}

enum err form_parse(struct slice query, struct slice body, struct form *ret, struct why *why)
{
    *ret = (struct form){ 0 };
    /* each parameter adds two terminators to what can only shrink */
    ret->text = try_alloc(query.n + body.n + 2 * FORM_ITEMS_MAX + 2);
    if (!ret->text) {
        why_set(why, "out of memory for the parameters");
        return ERR_NOMEM;
    }
    struct decoder d = { ret, 0, ret->text, why };
    enum err err = add_all(&d, query);
    if (!err)
        err = add_all(&d, body);
    if (err)
        form_done(ret);
    return err;
}

void form_done(struct form *f)
{
    free(f->items);
    free(f->text);
    *f = (struct form){ 0 };
}

const char *form_get(const struct form *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->items[i].name, name) == 0)
            return f->items[i].value;
    return NULL;
}

enum err form_i64(const struct form *f, const char *name, int64_t *ret, struct why *why)
{
    const char *text = form_get(f, name);
    struct slice s = slice_trim(slice_text(text));
    if (s.n == 0 || parse_i64(s, ret))
        return OK;
    why_set(why, "%s: must be a whole number", name);
    return ERR_INVALID;
}

enum err form_int(const struct form *f, const char *name, int *ret, struct why *why)
{
    int64_t v = *ret;
    enum err err = form_i64(f, name, &v, why);
    if (!err && (v < INT32_MIN || v > INT32_MAX)) {
        why_set(why, "%s: must be a whole number below 2^31", name);
        return ERR_INVALID;
    }
    if (!err)
        *ret = (int)v;
    return err;
}
