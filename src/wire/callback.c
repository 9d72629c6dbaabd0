/* SPDX-License-Identifier: Apache-2.0 */
/* The callback request, element by element. The array is walked here; an element of the common flat
 * shape is read in place, without a tree and mostly without a copy. Whatever is unusual about an
 * element (a number in quotes, an unknown or repeated member, a bad escape) sends that element
 * through jansson instead, so the quick reader never has to decide a doubtful case: it only has to
 * agree with jansson where it says yes, and fuzz_callback holds it to that. */
#include "wire/open_api.h"
#include "wire/json.h"
#include "wire/quick.h"
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* An element is rarely shorter than this: the first guess at how many there are. */
#define USUAL_ELEMENT 64

/* Where the members of one element gather before the two shapes are reconciled. */
struct parts {
    unsigned seen; /* BIT of each member that was there and not null */
    int64_t log_id, log_date_ms, code, old_code;
    struct slice msg, old_msg;
};

enum part { LOG_ID, LOG_DATE, CODE, MSG, OLD, OLD_CODE, OLD_MSG, OLD_CONTENT };
#define BIT(n) (1u << (n))

/* ---- the quick reader: false means "let jansson look", never "wrong" ---- */

/* A repeated member is unusual: which one counts is jansson's affair. */
static bool first_time(unsigned *members, enum part part)
{
    bool first = !(*members & BIT(part));
    *members |= BIT(part);
    return first;
}

/* A value, or a null, which is as if the member were not there. */
static bool number_value(struct wire_quick *c, enum part part, int64_t *ret, unsigned *seen)
{
    if (wire_quick_word(c, "null", 4))
        return true;
    if (!wire_quick_integer(c, ret))
        return false;
    *seen |= BIT(part);
    return true;
}

static bool text_value(struct wire_quick *c, struct wire_arena *arena, enum part part,
                       struct slice *ret, unsigned *seen)
{
    if (wire_quick_word(c, "null", 4))
        return true;
    if (!wire_quick_text(c, arena, ret))
        return false;
    *seen |= BIT(part);
    return true;
}

static bool quick_old(struct wire_quick *c, struct wire_arena *arena, struct parts *e)
{
    unsigned members = 0;
    struct slice name, ignored;
    e->seen |= BIT(OLD);
    if (!wire_quick_take(c, '{'))
        return false;
    do {
        if (!wire_quick_name(c, &name))
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
    } while (wire_quick_take(c, ','));
    return wire_quick_take(c, '}');
}

static bool quick_member(struct wire_quick *c, struct wire_arena *arena, struct slice name,
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

static bool quick_element(struct wire_quick *c, struct wire_arena *arena, struct parts *e)
{
    unsigned members = 0;
    struct slice name;
    if (!wire_quick_take(c, '{'))
        return false;
    do {
        if (!wire_quick_name(c, &name) || !quick_member(c, arena, name, &members, e))
            return false;
    } while (wire_quick_take(c, ','));
    if (!wire_quick_take(c, '}'))
        return false;
    wire_quick_blanks(c);
    return c->p < c->end && (*c->p == ',' || *c->p == ']');
}

/* ---- the thorough reader ---- */

/* The text of the value at c, by brackets alone; c moves behind it. False: it has no end. */
static bool extent(struct wire_quick *c, struct slice *ret)
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
        e->log_date_ms = 0; /* nothing needs it: no reason to lose a result */
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
                             bool *ret_unread, struct why *why)
{
    json_t *doc = NULL;
    enum err err = wire_json_parse_mended(text, WIRE_CALLBACK_MAX, "element", &doc, why);
    *ret_unread = err && err != ERR_NOMEM;
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

static enum err read_element(struct wire_quick *c, bool quick, struct wire_arena *arena,
                             struct wire_callback *ret, struct why *why)
{
    struct parts e = { 0 };
    struct wire_quick start = *c;
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
    enum err err = slow_element(text, arena, &e, &ret->unread, &reason);
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

static enum err read_elements(struct wire_quick *c, bool quick, struct builder *b, struct why *why)
{
    enum err err = OK;
    wire_quick_blanks(c);
    if (wire_quick_take(c, ']'))
        return OK;
    do {
        struct wire_callback *item = next_item(b, &err, why);
        if (!item)
            return err;
        wire_quick_blanks(c);
        err = read_element(c, quick, &b->out.arena, item, why);
        if (err)
            return err;
        b->out.n++;
        b->out.nfault += item->fault != NULL;
        b->out.nunread += item->unread;
    } while (wire_quick_take(c, ','));
    if (wire_quick_take(c, ']'))
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
    struct wire_quick c = { body.p, body.p + body.n };
    wire_quick_word(&c, "\xEF\xBB\xBF", 3);
    if (!wire_quick_take(&c, '[')) {
        why_set(why, "callback body: must be a JSON array");
        return ERR_INVALID;
    }
    struct builder b = { { 0 }, body.n / USUAL_ELEMENT + 1 };
    if (b.cap > WIRE_CALLBACK_ITEMS_MAX)
        b.cap = WIRE_CALLBACK_ITEMS_MAX;
    b.out.items = malloc(b.cap * sizeof(*b.out.items));
    enum err err = b.out.items ? read_elements(&c, quick, &b, why) : ERR_NOMEM;
    wire_quick_blanks(&c);
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
