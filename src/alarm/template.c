/* SPDX-License-Identifier: Apache-2.0 */
/* template.c - a text of a job may stand in JSON, in a URL or in a line: only who writes the
 * template knows, so a field that can hold any character says how it is escaped. */
#include "alarm/template.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "alarm/told.h"
#include "base/jsonw.h"

enum field_kind { F_SAFE, F_TEXT, F_NUMBER, F_INT, F_LINES };

struct field {
    const char *name;
    enum field_kind kind;
    size_t at;
};

#define AT(member) offsetof(struct alarm_message, member)

static const struct field fields[] = {
    { "id", F_SAFE, AT(id) },
    { "key", F_SAFE, AT(key) },
    { "event", F_SAFE, AT(event) },
    { "level", F_SAFE, AT(level) },
    { "state", F_SAFE, AT(state) },
    { "title", F_TEXT, AT(title) },
    { "text", F_LINES, 0 },
    { "since_ms", F_NUMBER, AT(since_ms) },
    { "closed_ms", F_NUMBER, AT(closed_ms) },
    { "run_id", F_NUMBER, AT(log_id) },
    { "job_id", F_NUMBER, AT(job_id) },
    { "group_id", F_NUMBER, AT(group_id) },
    { "job", F_TEXT, AT(job) },
    { "handler", F_TEXT, AT(handler) },
    { "group", F_TEXT, AT(group) },
    { "app", F_TEXT, AT(app) },
    { "outcome", F_TEXT, AT(outcome) },
    { "scheduled_for", F_TEXT, AT(when) },
    { "executor", F_TEXT, AT(address) },
    { "code", F_INT, AT(code) },
    { "cause", F_TEXT, AT(cause) },
    { "trigger_msg", F_TEXT, AT(trigger_msg) },
    { "handle_msg", F_TEXT, AT(handle_msg) },
    { "alarm_id", F_NUMBER, AT(alarm_id) },
    { "rule_id", F_NUMBER, AT(rule_id) },
    { "rule", F_TEXT, AT(rule) },
    { "jobs", F_NUMBER, AT(jobs) },
    { "open", F_NUMBER, AT(open) },
    { "held", F_NUMBER, AT(held) },
};

/* ---- reading --------------------------------------------------------------------------------- */

enum escape { E_NONE, E_JSON, E_URL, E_TEXT };

struct place { /* what stands between two pairs of braces */
    const struct field *field;
    enum escape escape;
};

static const struct field *field_of(struct slice name)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (slice_eq(name, fields[i].name))
            return &fields[i];
    return NULL;
}

static bool needs_escape(const struct field *f)
{
    return f->kind == F_TEXT || f->kind == F_LINES;
}

/* The next place: what stands before it goes to *before. False: there is none, *before is all. */
static bool place_next(struct slice *rest, struct slice *before, struct slice *ret)
{
    const char *open = rest->n > 1 ? memmem(rest->p, rest->n, "{{", 2) : NULL;
    while (open && open + 2 < rest->p + rest->n && open[2] == '{')
        open++; /* a brace of JSON before it */
    *before = open ? slice_of(rest->p, (size_t)(open - rest->p)) : *rest;
    if (!open)
        return false;
    size_t from = before->n + 2, left = rest->n - from;
    const char *close = left > 1 ? memmem(rest->p + from, left, "}}", 2) : NULL;
    size_t n = close ? (size_t)(close - rest->p) - from : left;
    *ret = close ? slice_trim(slice_of(rest->p + from, n)) : slice_of(NULL, 0);
    n += close ? 2 : 0;
    *rest = slice_of(rest->p + from + n, left - n);
    return true;
}

static enum err refuse(struct why *why, struct slice place, const char *rule)
{
    why_set(why, "{{%.*s}}: %s", (int)utf8_cut(place.p, place.n, 60), place.p ? place.p : "", rule);
    return ERR_INVALID;
}

static enum err place_read(struct slice text, struct place *ret, struct why *why)
{
    struct slice name = text, word;
    *ret = (struct place){ .escape = E_NONE };
    if (!text.p)
        return refuse(why, text, "there is no }} behind it");
    if (slice_cut(&name, ' ', &word) && slice_trim(name).n)
        ret->escape = slice_eq(word, "json")   ? E_JSON
                      : slice_eq(word, "url")  ? E_URL
                      : slice_eq(word, "text") ? E_TEXT
                                               : E_NONE;
    if (ret->escape == E_NONE && slice_trim(name).n)
        return refuse(why, text, "before the field may stand json, url or text, nothing else");
    ret->field = field_of(slice_trim(ret->escape == E_NONE ? text : name));
    if (!ret->field)
        return refuse(why, text, "there is no such field");
    if (ret->escape == E_NONE && needs_escape(ret->field))
        return refuse(why, text, "this field can hold any character: put json, url or text first");
    return OK;
}

enum err template_check(struct slice text, struct why *why)
{
    struct slice before, one;
    struct place place;
    if (text.n > TEMPLATE_MAX) {
        why_set(why, "must have at most %d bytes", TEMPLATE_MAX);
        return ERR_INVALID;
    }
    while (place_next(&text, &before, &one))
        if (place_read(one, &place, why))
            return ERR_INVALID;
    return OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void percent(struct buf *out, struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("-._~", c);
        if (plain && c)
            buf_char(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
}

static void escaped(struct buf *out, enum escape e, struct slice s)
{
    if (e == E_JSON)
        jsonw_quote(out, s);
    else if (e == E_URL)
        percent(out, s);
    else
        buf_slice(out, s);
}

static void value(struct buf *out, const struct field *f, const struct alarm_message *m)
{
    const char *at = (const char *)m + f->at;
    if (f->kind == F_NUMBER)
        buf_i64(out, *(const int64_t *)(const void *)at);
    else if (f->kind == F_INT)
        buf_i64(out, *(const int *)(const void *)at);
    else if (f->kind == F_LINES)
        told_text(out, m);
    else
        buf_text(out, *(const char *const *)(const void *)at);
}

void template_write(struct buf *out, struct slice text, const struct alarm_message *m)
{
    struct slice before, one;
    struct place place;
    struct why why = { "" };
    struct buf b = BUF_INIT(1u << 20);
    for (bool more = true; more;) {
        more = place_next(&text, &before, &one);
        buf_slice(out, before);
        if (!more || place_read(one, &place, &why))
            continue;
        buf_reset(&b);
        value(&b, place.field, m);
        escaped(out, place.escape, slice_of(buf_str(&b), b.len));
        out->failed |= b.failed;
    }
    buf_done(&b);
}
