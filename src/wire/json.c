/* SPDX-License-Identifier: Apache-2.0 */
/* A scan without recursion measures the text first; only what is within bounds reaches the parser.
 */
#include "wire/json.h"
#include "wire/json_mend.h"
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Past this a double no longer holds every integer: 2^53. */
#define EXACT 9007199254740992.0

/* Index of the quote that ends the text opened before i, or text.n. */
static size_t string_end(struct slice text, size_t i)
{
    while (i < text.n && text.p[i] != '"')
        i += text.p[i] == '\\' ? 2 : 1;
    return i < text.n ? i : text.n;
}

/* Depth and number of values before anything is built. Says nothing about validity. */
static enum err measure(struct slice text, const struct wire_json_rules *rules, const char *what,
                        struct why *why)
{
    size_t values = 1, most = rules->values ? rules->values : WIRE_JSON_VALUES;
    int levels = rules->depth;
    int depth = 0;
    for (size_t i = 0; i < text.n; i++) {
        switch (text.p[i]) {
        case '"':
            i = string_end(text, i + 1);
            break;
        case '[':
        case '{':
            values++;
            if (++depth > levels) {
                why_set(why, "%s is nested deeper than %d levels", what, levels);
                return ERR_TOOBIG;
            }
            break;
        case ']':
        case '}':
            depth--;
            break;
        case ',':
            values++;
            break;
        }
    }
    if (values <= most)
        return OK;
    why_set(why, "%s has more than %zu values", what, most);
    return ERR_TOOBIG;
}

static json_t *load(struct slice text, const struct wire_json_rules *rules, json_error_t *e)
{
    size_t flags = rules->strict ? JSON_REJECT_DUPLICATES : rules->mend ? 0 : JSON_ALLOW_NUL;
    return json_loadb(text.p, text.n, JSON_DECODE_ANY | flags, e);
}

/* jansson may call a lack of memory a syntax error. A real one is found again in the same place,
 * with words; what is not is told as ERR_NOMEM, so that a good request is sent again and not
 * thrown away. */
static enum err load_surely(struct slice text, const struct wire_json_rules *rules,
                            json_t **ret_doc, json_error_t *e)
{
    json_error_t again;
    *ret_doc = load(text, rules, e);
    if (!*ret_doc && e->text[0]) {
        *ret_doc = load(text, rules, &again);
        if (!*ret_doc && strcmp(e->text, again.text) == 0 && e->position == again.position)
            return ERR_INVALID;
    }
    return *ret_doc ? OK : ERR_NOMEM;
}

/* Is it the text within, and not the JSON, that cannot be read? Then a peer has cut it in the
 * middle of a character, or written it in another character set: what else it says must not be
 * lost. */
static enum err load_mended(struct slice text, const struct wire_json_rules *rules,
                            json_t **ret_doc, json_error_t *e)
{
    struct buf mended;
    buf_init(&mended, text.n * 6 + 1);
    enum err err = ERR_INVALID;
    if (json_mend(text, &mended))
        err = mended.failed ? ERR_NOMEM
                            : load_surely(slice_of(mended.data, mended.len), rules, ret_doc, e);
    buf_done(&mended);
    return err;
}

enum err wire_json_read(struct slice text, const struct wire_json_rules *rules, const char *what,
                        json_t **ret_doc, struct why *why)
{
    if (text.n > rules->max) {
        why_set(why, "%s is longer than %zu bytes", what, rules->max);
        return ERR_TOOBIG;
    }
    if (text.n >= 3 && memcmp(text.p, "\xEF\xBB\xBF", 3) == 0)
        text = slice_of(text.p + 3, text.n - 3);
    if (slice_trim(text).n == 0) {
        why_set(why, "%s is empty", what);
        return ERR_INVALID;
    }
    enum err err = measure(text, rules, what, why);
    if (err)
        return err;
    json_error_t e;
    json_t *doc;
    err = load_surely(text, rules, &doc, &e);
    if (err == ERR_INVALID && rules->mend)
        err = load_mended(text, rules, &doc, &e);
    if (err == ERR_INVALID)
        why_set(why, "%s is not valid JSON at byte %d: %s", what, e.position, e.text);
    else if (err)
        why_set(why, "%s: %s", what, err_text(err));
    else
        *ret_doc = doc;
    return err;
}

enum err wire_json_parse(struct slice text, size_t max, const char *what, json_t **ret_doc,
                         struct why *why)
{
    const struct wire_json_rules rules = { .max = max, .depth = WIRE_JSON_DEPTH };
    return wire_json_read(text, &rules, what, ret_doc, why);
}

enum err wire_json_parse_mended(struct slice text, size_t max, const char *what, json_t **ret_doc,
                                struct why *why)
{
    const struct wire_json_rules rules = { .max = max, .depth = WIRE_JSON_DEPTH, .mend = true };
    return wire_json_read(text, &rules, what, ret_doc, why);
}

void wire_json_free(json_t *doc)
{
    json_decref(doc);
}

bool wire_json_is_object(const json_t *doc)
{
    return json_is_object(doc);
}

static json_t *member(const json_t *o, const char *name)
{
    json_t *v = json_object_get(o, name);
    return json_is_null(v) ? NULL : v;
}

bool wire_lenient_i64(struct slice text, int64_t *ret)
{
    text = slice_trim(text);
    if (text.n && text.p[0] == '+')
        text = slice_of(text.p + 1, text.n - 1);
    const char *dot = memchr(text.p ? text.p : "", '.', text.n);
    if (dot) {
        const char *end = text.p + text.n;
        for (const char *p = dot + 1; p < end; p++)
            if (*p != '0')
                return false;
        if (dot + 1 == end)
            return false;
        text.n = (size_t)(dot - text.p);
    }
    return parse_i64(text, ret);
}

static bool whole(double v, int64_t *ret)
{
    if (!(fabs(v) <= EXACT) || v != floor(v))
        return false;
    *ret = (int64_t)v;
    return true;
}

static bool integer(const json_t *v, int64_t *ret)
{
    if (json_is_integer(v)) {
        *ret = json_integer_value(v);
        return true;
    }
    if (json_is_real(v))
        return whole(json_real_value(v), ret);
    return json_is_string(v) &&
           wire_lenient_i64(slice_of(json_string_value(v), json_string_length(v)), ret);
}

enum err wire_json_i64(const json_t *o, const char *name, int64_t *ret, struct why *why)
{
    const json_t *v = member(o, name);
    if (!v || integer(v, ret))
        return OK;
    why_set(why, "%s: must be a whole number of at most 64 bits", name);
    return ERR_INVALID;
}

enum err wire_json_int(const json_t *o, const char *name, int *ret, struct why *why)
{
    const json_t *v = member(o, name);
    int64_t wide;
    if (!v)
        return OK;
    if (!integer(v, &wide) || wide < INT_MIN || wide > INT_MAX) {
        why_set(why, "%s: must be a whole number of at most 32 bits", name);
        return ERR_INVALID;
    }
    *ret = (int)wide;
    return OK;
}

enum err wire_json_bool(const json_t *o, const char *name, bool *ret, struct why *why)
{
    const json_t *v = member(o, name);
    if (!v)
        return OK;
    if (json_is_boolean(v)) {
        *ret = json_is_true(v);
        return OK;
    }
    struct slice text = slice_of(json_string_value(v), json_string_length(v));
    if (json_is_string(v) && (slice_eq_nocase(text, "true") || slice_eq_nocase(text, "false"))) {
        *ret = text.n == 4;
        return OK;
    }
    why_set(why, "%s: must be true or false", name);
    return ERR_INVALID;
}

/* Put the JSON text of member name in its place. */
static enum err retext(json_t *o, const char *name, json_t **v)
{
    char *text = json_dumps(*v, JSON_COMPACT | JSON_ENCODE_ANY);
    json_t *s = text ? json_string(text) : NULL;
    free(text);
    if (json_object_set_new(o, name, s))
        return ERR_NOMEM;
    *v = s;
    return OK;
}

enum err wire_json_any(json_t *o, const char *name, struct slice *ret, struct why *why)
{
    json_t *v = member(o, name);
    if (!v)
        return OK;
    if (!json_is_string(v)) {
        enum err err = retext(o, name, &v);
        if (err) {
            why_set(why, "%s: %s", name, err_text(err));
            return err;
        }
    }
    *ret = slice_of(json_string_value(v), json_string_length(v));
    return OK;
}

enum err wire_json_text(json_t *o, const char *name, struct slice *ret, struct why *why)
{
    const json_t *v = member(o, name);
    if (json_is_object(v) || json_is_array(v)) {
        why_set(why, "%s: must be text", name);
        return ERR_INVALID;
    }
    return wire_json_any(o, name, ret, why);
}
