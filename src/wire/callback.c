/* SPDX-License-Identifier: Apache-2.0 */
/* The callback request, element by element. The array is walked here; an element of the common flat
 * shape is read in place, without a tree and mostly without a copy. Whatever is unusual about an
 * element (a number in quotes, an unknown or repeated member, a bad escape) sends that element
 * through jansson instead, so the quick reader never has to decide a doubtful case: it only has to
 * agree with jansson where it says yes, and fuzz_callback holds it to that. */
#include "wire/open_api.h"
#include "wire/json.h"
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* An element is rarely shorter than this: the first guess at how many there are. */
#define USUAL_ELEMENT 64

struct cursor {
    const char *p, *end;
};

/* Where the members of one element gather before the two shapes are reconciled. */
struct parts {
    unsigned seen; /* BIT of each member that was there and not null */
    int64_t log_id, log_date_ms, code, old_code;
    struct slice msg, old_msg;
};

enum part { LOG_ID, LOG_DATE, CODE, MSG, OLD, OLD_CODE, OLD_MSG, OLD_CONTENT };
#define BIT(n) (1u << (n))

static void skip_blanks(struct cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\r' || *c->p == '\t'))
        c->p++;
}

static bool take(struct cursor *c, char want)
{
    skip_blanks(c);
    if (c->p == c->end || *c->p != want)
        return false;
    c->p++;
    return true;
}

static bool take_word(struct cursor *c, const char *word, size_t n)
{
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n))
        return false;
    c->p += n;
    return true;
}

/* ---- the quick reader: false means "let jansson look", never "wrong" ---- */

/* An integer of up to 18 digits, as RFC 8259 writes it; more could overflow. */
static bool quick_integer(struct cursor *c, int64_t *ret)
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
        char ch = p[i];
        unsigned digit = ch >= '0' && ch <= '9'   ? (unsigned)(ch - '0')
                         : ch >= 'a' && ch <= 'f' ? (unsigned)(ch - 'a' + 10)
                         : ch >= 'A' && ch <= 'F' ? (unsigned)(ch - 'A' + 10)
                                                  : 16;
        if (digit == 16)
            return false;
        v = v * 16 + digit;
    }
    *ret = v;
    return true;
}

static char *put_utf8(char *to, unsigned u)
{
    if (u < 0x80) {
        *to++ = (char)u;
    } else if (u < 0x800) {
        *to++ = (char)(0xC0 | u >> 6);
        *to++ = (char)(0x80 | (u & 0x3F));
    } else if (u < 0x10000) {
        *to++ = (char)(0xE0 | u >> 12);
        *to++ = (char)(0x80 | (u >> 6 & 0x3F));
        *to++ = (char)(0x80 | (u & 0x3F));
    } else {
        *to++ = (char)(0xF0 | u >> 18);
        *to++ = (char)(0x80 | (u >> 12 & 0x3F));
        *to++ = (char)(0x80 | (u >> 6 & 0x3F));
        *to++ = (char)(0x80 | (u & 0x3F));
    }
    return to;
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
        return true;
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
            to = put_utf8(to, u);
        } else {
            wire_arena_shrink(arena, raw.n);
            return false;
        }
    }
    *ret = slice_of(start, (size_t)(to - start));
    wire_arena_shrink(arena, raw.n - ret->n);
    return true;
}

/* A text; borrowed from the input when nothing in it is escaped. */
static bool quick_text(struct cursor *c, struct wire_arena *arena, struct slice *ret)
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

/* A member's name and its colon; the names of interest need no escapes. */
static bool quick_name(struct cursor *c, struct slice *ret)
{
    if (!take(c, '"'))
        return false;
    const char *start = c->p;
    while (c->p < c->end && ((*c->p >= 'a' && *c->p <= 'z') || (*c->p >= 'A' && *c->p <= 'Z')))
        c->p++;
    *ret = slice_of(start, (size_t)(c->p - start));
    if (c->p == c->end || *c->p++ != '"' || !take(c, ':'))
        return false;
    skip_blanks(c);
    return true;
}

/* A repeated member is unusual: which one counts is jansson's affair. */
static bool first_time(unsigned *members, enum part part)
{
    bool first = !(*members & BIT(part));
    *members |= BIT(part);
    return first;
}

/* A value, or a null, which is as if the member were not there. */
static bool number_value(struct cursor *c, enum part part, int64_t *ret, unsigned *seen)
{
    if (take_word(c, "null", 4))
        return true;
    if (!quick_integer(c, ret))
        return false;
    *seen |= BIT(part);
    return true;
}

static bool text_value(struct cursor *c, struct wire_arena *arena, enum part part,
                       struct slice *ret, unsigned *seen)
{
    if (take_word(c, "null", 4))
        return true;
    if (!quick_text(c, arena, ret))
        return false;
    *seen |= BIT(part);
    return true;
}

static bool quick_old(struct cursor *c, struct wire_arena *arena, struct parts *e)
{
    unsigned members = 0;
    struct slice name, ignored;
    e->seen |= BIT(OLD);
    if (!take(c, '{'))
        return false;
    do {
        if (!quick_name(c, &name))
            return false;
        bool ok;
        if (slice_eq(name, "code"))
            ok =
                first_time(&members, OLD_CODE) && number_value(c, OLD_CODE, &e->old_code, &e->seen);
        else if (slice_eq(name, "msg"))
            ok = first_time(&members, OLD_MSG) &&
                 text_value(c, arena, OLD_MSG, &e->old_msg, &e->seen);
        else
            ok = slice_eq(name, "content") && first_time(&members, OLD_CONTENT) &&
                 text_value(c, arena, OLD_CONTENT, &ignored, &e->seen);
        if (!ok)
            return false;
    } while (take(c, ','));
    return take(c, '}');
}

static bool quick_member(struct cursor *c, struct wire_arena *arena, struct slice name,
                         unsigned *members, struct parts *e)
{
    switch (name.n) {
    case 5:
        return slice_eq(name, "logId") && first_time(members, LOG_ID) &&
               number_value(c, LOG_ID, &e->log_id, &e->seen);
    case 9:
        return slice_eq(name, "handleMsg") && first_time(members, MSG) &&
               text_value(c, arena, MSG, &e->msg, &e->seen);
    case 10:
        if (slice_eq(name, "handleCode"))
            return first_time(members, CODE) && number_value(c, CODE, &e->code, &e->seen);
        return slice_eq(name, "logDateTim") && first_time(members, LOG_DATE) &&
               number_value(c, LOG_DATE, &e->log_date_ms, &e->seen);
    case 13:
        return slice_eq(name, "executeResult") && first_time(members, OLD) &&
               quick_old(c, arena, e);
    default:
        return false;
    }
}

static bool quick_element(struct cursor *c, struct wire_arena *arena, struct parts *e)
{
    unsigned members = 0;
    struct slice name;
    if (!take(c, '{'))
        return false;
    do {
        if (!quick_name(c, &name) || !quick_member(c, arena, name, &members, e))
            return false;
    } while (take(c, ','));
    if (!take(c, '}'))
        return false;
    skip_blanks(c);
    return c->p < c->end && (*c->p == ',' || *c->p == ']');
}

/* ---- the thorough reader ---- */

/* The text of the value at c, by brackets alone; c moves behind it. False: it has no end. */
static bool extent(struct cursor *c, struct slice *ret)
{
    const char *start = c->p;
    int64_t depth = 0;
    for (; c->p < c->end; c->p++) {
        char ch = *c->p;
        if (depth == 0 && (ch == ',' || ch == ']' || ch == '}'))
            break;
        if (ch == '"') {
            for (c->p++; c->p < c->end && *c->p != '"'; c->p++)
                if (*c->p == '\\' && c->p + 1 < c->end)
                    c->p++;
            if (c->p == c->end)
                return false;
        } else if (ch == '{' || ch == '[') {
            depth++;
        } else if (ch == '}' || ch == ']') {
            depth--;
        }
    }
    *ret = slice_of(start, (size_t)(c->p - start));
    return depth == 0 && c->p < c->end;
}

static struct slice keep(struct wire_arena *arena, struct slice s, enum err *err)
{
    char *copy = wire_arena_copy(arena, s);
    if (!copy)
        *err = ERR_NOMEM;
    return slice_of(copy, copy ? s.n : 0);
}

static bool has(const json_t *o, const char *name)
{
    const json_t *v = json_object_get(o, name);
    return v && !json_is_null(v);
}

static enum err gather(json_t *doc, struct wire_arena *arena, struct parts *e, struct why *why)
{
    json_t *old = json_object_get(doc, "executeResult");
    struct slice msg = { NULL, 0 }, old_msg = { NULL, 0 };
    if (!json_is_object(doc)) {
        why_set(why, "element must be an object");
        return ERR_INVALID;
    }
    if (old && !json_is_null(old) && !json_is_object(old)) {
        why_set(why, "executeResult: must be an object");
        return ERR_INVALID;
    }
    enum err err = wire_json_i64(doc, "logId", &e->log_id, why);
    if (wire_json_i64(doc, "logDateTim", &e->log_date_ms, NULL))
        e->log_date_ms = 0; /* nobody needs it: no reason to lose a result */
    if (!err)
        err = wire_json_i64(doc, "handleCode", &e->code, why);
    if (!err)
        err = wire_json_i64(old, "code", &e->old_code, why);
    e->seen = (has(doc, "logId") ? BIT(LOG_ID) : 0) | (has(doc, "handleCode") ? BIT(CODE) : 0) |
              (has(doc, "handleMsg") ? BIT(MSG) : 0) | (has(old, "code") ? BIT(OLD_CODE) : 0) |
              (has(old, "msg") ? BIT(OLD_MSG) : 0);
    if (!err)
        err = wire_json_any(doc, "handleMsg", &msg, why);
    if (!err && json_is_object(old))
        err = wire_json_any(old, "msg", &old_msg, why);
    if (!err)
        e->msg = keep(arena, msg, &err);
    if (!err)
        e->old_msg = keep(arena, old_msg, &err);
    return err;
}

static enum err slow_element(struct slice text, struct wire_arena *arena, struct parts *e,
                             struct why *why)
{
    json_t *doc = NULL;
    enum err err = wire_json_parse(text, WIRE_CALLBACK_MAX, "element", &doc, why);
    if (!err)
        err = gather(doc, arena, e, why);
    wire_json_free(doc);
    return err;
}

/* ---- both ---- */

/* handleCode counts, executeResult fills in; the message likewise, the own shape's first. */
static const char *settle(const struct parts *e, struct wire_callback *ret)
{
    bool new_shape = e->seen & BIT(CODE);
    int64_t code = new_shape ? e->code : e->old_code;
    ret->log_id = e->log_id;
    ret->log_date_ms = e->log_date_ms;
    if (!(e->seen & BIT(LOG_ID)))
        return "logId: is missing";
    if (e->log_id <= 0)
        return "logId: must be above 0";
    if (code < INT_MIN || code > INT_MAX)
        return "handleCode: must be a whole number of at most 32 bits";
    ret->has_code = e->seen & (BIT(CODE) | BIT(OLD_CODE));
    ret->code = ret->has_code ? (int)code : 0;
    bool use_new = (e->seen & BIT(MSG)) && (new_shape || !(e->seen & BIT(OLD_MSG)));
    if (use_new)
        ret->msg = e->msg;
    else if (e->seen & BIT(OLD_MSG))
        ret->msg = e->old_msg;
    return NULL;
}

static enum err read_element(struct cursor *c, bool quick, struct wire_arena *arena,
                             struct wire_callback *ret, struct why *why)
{
    struct parts e = { 0 };
    struct cursor start = *c;
    *ret = (struct wire_callback){ 0 };
    if (quick && quick_element(c, arena, &e)) {
        ret->fault = settle(&e, ret);
        return OK;
    }
    struct slice text;
    struct why reason = { "" };
    *c = start;
    if (!extent(c, &text)) {
        why_set(why, "callback body: its array does not end");
        return ERR_INVALID;
    }
    memset(&e, 0, sizeof(e));
    enum err err = slow_element(text, arena, &e, &reason);
    if (err == OK)
        ret->fault = settle(&e, ret);
    else if (err != ERR_NOMEM)
        ret->fault = wire_arena_copy(arena, slice_text(reason.text));
    if (err != OK && !ret->fault)
        return ERR_NOMEM;
    return OK;
}

struct builder {
    struct wire_callbacks out;
    size_t cap;
};

static struct wire_callback *next_item(struct builder *b, enum err *err, struct why *why)
{
    if (b->out.n == WIRE_CALLBACK_ITEMS_MAX) {
        why_set(why, "callback body: has more than %d elements", WIRE_CALLBACK_ITEMS_MAX);
        *err = ERR_TOOBIG;
        return NULL;
    }
    if (b->out.n == b->cap) {
        size_t cap = b->cap * 2;
        struct wire_callback *items = realloc(b->out.items, cap * sizeof(*items));
        if (!items) {
            *err = ERR_NOMEM;
            return NULL;
        }
        b->out.items = items;
        b->cap = cap;
    }
    return &b->out.items[b->out.n];
}

static enum err read_elements(struct cursor *c, bool quick, struct builder *b, struct why *why)
{
    enum err err = OK;
    skip_blanks(c);
    if (take(c, ']'))
        return OK;
    do {
        struct wire_callback *item = next_item(b, &err, why);
        if (!item)
            return err;
        skip_blanks(c);
        err = read_element(c, quick, &b->out.arena, item, why);
        if (err)
            return err;
        b->out.n++;
        b->out.nfault += item->fault != NULL;
    } while (take(c, ','));
    if (take(c, ']'))
        return OK;
    why_set(why, "callback body: element %zu is followed by neither a comma nor the end", b->out.n);
    return ERR_INVALID;
}

static enum err parse(struct slice body, bool quick, struct wire_callbacks *ret, struct why *why)
{
    if (body.n > WIRE_CALLBACK_MAX) {
        why_set(why, "callback body: is longer than %u bytes", WIRE_CALLBACK_MAX);
        return ERR_TOOBIG;
    }
    struct cursor c = { body.p, body.p + body.n };
    take_word(&c, "\xEF\xBB\xBF", 3);
    if (!take(&c, '[')) {
        why_set(why, "callback body: must be a JSON array");
        return ERR_INVALID;
    }
    struct builder b = { { 0 }, body.n / USUAL_ELEMENT + 1 };
    if (b.cap > WIRE_CALLBACK_ITEMS_MAX)
        b.cap = WIRE_CALLBACK_ITEMS_MAX;
    b.out.items = malloc(b.cap * sizeof(*b.out.items));
    enum err err = b.out.items ? read_elements(&c, quick, &b, why) : ERR_NOMEM;
    skip_blanks(&c);
    if (!err && c.p != c.end) {
        why_set(why, "callback body: text follows the array");
        err = ERR_INVALID;
    }
    if (err)
        wire_callbacks_done(&b.out);
    else
        *ret = b.out;
    return err;
}

enum err wire_callbacks_parse(struct slice body, struct wire_callbacks *ret, struct why *why)
{
    return parse(body, true, ret, why);
}

enum err wire_callbacks_parse_slowly(struct slice body, struct wire_callbacks *ret, struct why *why)
{
    return parse(body, false, ret, why);
}

void wire_callbacks_done(struct wire_callbacks *c)
{
    free(c->items);
    wire_arena_done(&c->arena);
    *c = (struct wire_callbacks){ 0 };
}
