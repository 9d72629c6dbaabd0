/* SPDX-License-Identifier: Apache-2.0 */
/* One pass that copies up to the next placeholder and fills that in. A default is found by counting
 * braces, because it may hold placeholders; it is filled in by the same function, a bounded number
 * of levels deep. */
#include "base/placeholder.h"
#include <string.h>

struct filling {
    placeholder_fn *value;
    void *ctx;
    struct buf *out;
    struct why *why;
};

static bool opens(const char *p, size_t n)
{
    return n >= 2 && p[0] == '$' && p[1] == '{';
}

/* Bytes before the brace that closes what was opened before p; n: there is none. */
static size_t closing(const char *p, size_t n)
{
    int open = 1;
    for (size_t i = 0; i < n; i++) {
        if (opens(p + i, n - i))
            open++;
        else if (p[i] == '}' && --open == 0)
            return i;
    }
    return n;
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

static bool is_name(struct slice s)
{
    size_t i = 0;
    while (i < s.n && is_name_byte(s.p[i]))
        i++;
    return s.n > 0 && s.n <= PLACEHOLDER_NAME_MAX && i == s.n;
}

static enum err fill(const struct filling *f, struct slice text, int depth);

/* inside: what stands between the braces. */
static enum err fill_one(const struct filling *f, struct slice inside, int depth)
{
    const char *colon = inside.n ? memchr(inside.p, ':', inside.n) : NULL;
    struct slice name = slice_of(inside.p, colon ? (size_t)(colon - inside.p) : inside.n);
    if (!is_name(name)) {
        why_set(f->why, "${...}: a name has 1-%d letters, digits, _ . -", PLACEHOLDER_NAME_MAX);
        return ERR_INVALID;
    }
    char text[PLACEHOLDER_NAME_MAX + 1];
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    const char *value = f->value(f->ctx, text);
    if (value) {
        buf_text(f->out, value);
        return OK;
    }
    if (colon)
        return fill(f, slice_of(colon + 1, inside.n - name.n - 1), depth + 1);
    why_set(f->why, "${%s}: there is no such variable, and no default (${%s:default})", text, text);
    return ERR_INVALID;
}

static enum err fill(const struct filling *f, struct slice text, int depth)
{
    if (depth > PLACEHOLDER_DEPTH_MAX) {
        why_set(f->why, "${...}: more than %d within each other", PLACEHOLDER_DEPTH_MAX);
        return ERR_INVALID;
    }
    for (size_t i = 0; i < text.n;) {
        const char *p = text.p + i;
        size_t left = text.n - i;
        if (p[0] == '\\' && opens(p + 1, left - 1)) {
            buf_text(f->out, "${");
            i += 3;
            continue;
        }
        if (!opens(p, left)) {
            buf_char(f->out, *p);
            i++;
            continue;
        }
        size_t n = closing(p + 2, left - 2);
        if (n == left - 2) {
            why_set(f->why, "${ has no } that ends it; for the text itself write \\\\${");
            return ERR_INVALID;
        }
        enum err err = fill_one(f, slice_of(p + 2, n), depth);
        if (err)
            return err;
        i += n + 3;
    }
    return OK;
}

enum err placeholder_fill(struct slice text, placeholder_fn *value, void *ctx, struct buf *out,
                          struct why *why)
{
    const struct filling f = { value, ctx, out, why };
    enum err err = fill(&f, text, 0);
    if (!err && out->failed) {
        why_set(why, "with its placeholders filled in it has more than %zu bytes", out->max);
        return ERR_TOOBIG;
    }
    return err;
}
