/* SPDX-License-Identifier: Apache-2.0 */
/* Each read marks its parameter as asked for; what is left over at the end is unknown. */
#include "api/v1/query.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_MAX 500
#define LIMIT_DEFAULT 50
#define INSTANT_MAX 40 /* bytes */

void query_begin(struct query *q, struct web_call *call)
{
    *q = (struct query){ .call = call };
    problem_errors_init(&q->errors);
}

void query_bad(struct query *q, const char *name, const char *rule, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    problem_error(&q->errors, name, rule, NULL, "%s: %s", name, text);
}

/* The parameter's only value; NULL: it is absent. */
static const char *ask(struct query *q, const char *name)
{
    const struct form *form = &q->call->form;
    const char *value = NULL;
    for (size_t i = 0; i < form->n; i++) {
        if (strcmp(form->items[i].name, name) != 0)
            continue;
        if (value && !q->asked[i])
            query_bad(q, name, "once", "must not be given twice");
        else if (!value)
            value = form->items[i].value;
        q->asked[i] = true;
    }
    return value;
}

bool query_end(struct query *q)
{
    const struct form *form = &q->call->form;
    for (size_t i = 0; i < form->n; i++)
        if (!q->asked[i])
            query_bad(q, form->items[i].name, "unknown", "there is no such parameter");
    bool good = q->errors.n == 0;
    if (!good)
        problem_fields(q->call, PROBLEM_MALFORMED, &q->errors);
    problem_errors_done(&q->errors);
    return good;
}

/* ---- one value ----------------------------------------------------------------------------------
 */

static void out_of_range(struct query *q, const char *name, const char *rule, int64_t min,
                         int64_t max, const char *unit)
{
    const struct problem_limits limits = { min, max };
    problem_error(&q->errors, name, rule, &limits, "%s: must %s %lld to %lld%s", name,
                  unit[0] ? "have" : "be from", (long long)min, (long long)max, unit);
}

const char *query_text(struct query *q, const char *name, int64_t max)
{
    const char *text = ask(q, name);
    int64_t n = 0;
    for (const char *p = text ? text : ""; *p; p++)
        n += ((unsigned char)*p & 0xC0) != 0x80;
    if (n <= max)
        return text;
    out_of_range(q, name, "text.length", 0, max, " characters");
    return NULL;
}

int64_t query_i64(struct query *q, const char *name, int64_t min, int64_t max, int64_t fallback)
{
    const char *text = ask(q, name);
    int64_t v;
    if (!text)
        return fallback;
    if (!parse_i64(slice_text(text), &v))
        query_bad(q, name, "type.integer", "must be a whole number");
    else if (v < min || v > max)
        out_of_range(q, name, "number.range", min, max, "");
    else
        return v;
    return fallback;
}

int query_bool(struct query *q, const char *name, int fallback)
{
    const char *text = ask(q, name);
    if (!text)
        return fallback;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return text[0] == 't';
    query_bad(q, name, "type.boolean", "must be true or false");
    return fallback;
}

int64_t query_instant(struct query *q, const char *name, int64_t fallback)
{
    const char *text = ask(q, name);
    int64_t ms;
    if (!text)
        return fallback;
    if (strlen(text) <= INSTANT_MAX && ((parse_i64(slice_text(text), &ms) && ms >= 0) ||
                                        !rfc3339_parse(slice_text(text), &ms, NULL)))
        return ms;
    query_bad(q, name, "type.instant",
              "must be RFC 3339, such as 2026-11-21T14:32:08Z, or epoch "
              "milliseconds");
    return fallback;
}

int64_t query_limit(struct query *q)
{
    return query_i64(q, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT);
}

bool query_cursor(struct query *q, struct cursor *ret)
{
    const char *text = ask(q, "cursor");
    const struct web_call *call = q->call;
    struct why why = { "" };
    if (!text)
        return false;
    if (!cursor_read(slice_text(text), cursor_filter(call->path, &call->form),
                     call->config->cursor_key, ret, &why))
        return true;
    problem_error(&q->errors, "cursor", "cursor", NULL, "%s", why.text);
    return false;
}

/* ---- lists --------------------------------------------------------------------------------------
 */

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

size_t query_ids(struct query *q, const char *name, int64_t *ids, size_t max)
{
    struct slice rest = slice_text(ask(q, name)), one;
    size_t n = 0, kept = 0;
    for (int64_t id; slice_item(&rest, &one); ids[n++] = id) {
        if (!parse_i64(one, &id) || id < 1 || id > ROUTER_ID_MAX) {
            query_bad(q, name, "type.ids", "must be ids, separated by commas");
            return 0;
        }
        if (n == max) {
            query_bad(q, name, "list.length", "at most %zu ids", max);
            return 0;
        }
    }
    qsort(ids, n, sizeof(*ids), by_number);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || ids[kept - 1] != ids[i])
            ids[kept++] = ids[i];
    return kept;
}

static int word_of(struct slice one, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slice_eq(one, words[i]))
            return (int)i;
    return -1;
}

static void bad_word(struct query *q, const char *name, struct slice one)
{
    query_bad(q, name, "enum", "%.*s is none of its words", (int)utf8_cut(one.p, one.n, 40), one.p);
}

int query_word(struct query *q, const char *name, const char *const *words, size_t n)
{
    const char *text = ask(q, name);
    int i = text ? word_of(slice_text(text), words, n) : -1;
    if (text && i < 0)
        bad_word(q, name, slice_text(text));
    return i;
}

uint64_t query_words(struct query *q, const char *name, const char *const *words, size_t n)
{
    struct slice rest = slice_text(ask(q, name)), one;
    uint64_t set = 0;
    while (slice_item(&rest, &one)) {
        int i = word_of(one, words, n);
        if (i < 0) {
            bad_word(q, name, one);
            return 0;
        }
        set |= UINT64_C(1) << i;
    }
    return set;
}

bool query_dry_run(struct web_call *call, bool *ret)
{
    struct query q;
    query_begin(&q, call);
    *ret = query_bool(&q, "dryRun", 0) == 1;
    return query_end(&q);
}
