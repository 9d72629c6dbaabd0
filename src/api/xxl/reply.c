/* SPDX-License-Identifier: Apache-2.0 */
/* Both generations of clients get the same envelope with the payload under both names; only lists
 * and dates differ by generation. */
#include "api/xxl/reply.h"
#include "api/cookie.h"
#include "cron/rfc3339.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PAYLOAD_TWICE_MAX                                                                          \
    (256 * 1024) /* a larger payload is sent in one of the two members only                        \
                  */
#define PAGE_DEFAULT 10
#define PAGE_MAX 1000

enum shape call_shape(const struct web_call *call)
{
    const struct form *f = &call->form;
    if (form_get(f, "offset") || form_get(f, "pagesize"))
        return SHAPE_3;
    if (form_get(f, "start") || form_get(f, "length"))
        return SHAPE_2;
    return cookie_is_new(call) ? SHAPE_3 : SHAPE_2;
}

static void envelope(struct web_call *call, int code, const char *msg, struct slice payload)
{
    static const struct slice null = { "null", 4 };
    struct buf *out = &call->output;
    buf_reset(out);
    struct jsonw w = jsonw_on(out);
    bool twice = payload.n <= PAYLOAD_TWICE_MAX, new = call_shape(call) == SHAPE_3;
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "code", code);
    jsonw_text(&w, "msg", msg);
    buf_text(out, ",\"content\":");
    buf_slice(out, twice || !new ? payload : null);
    buf_text(out, ",\"data\":");
    buf_slice(out, twice || new ? payload : null);
    jsonw_object_end(&w);
}

void reply_ok(struct web_call *call)
{
    reply_json(call, slice_text("null"));
}

void reply_text(struct web_call *call, const char *text)
{
    struct buf b = BUF_INIT(WEB_REPLY_MAX);
    jsonw_quote(&b, slice_text(text));
    reply_json(call, slice_of(b.data, b.len));
    buf_done(&b);
}

void reply_json(struct web_call *call, struct slice payload)
{
    envelope(call, 200, call_shape(call) == SHAPE_3 ? "Success" : NULL, payload);
}

void reply_fail(struct web_call *call, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (n >= (int)sizeof(text))
        text[utf8_cut(text, sizeof(text) - 1, sizeof(text) - 1)] = '\0';
    envelope(call, 500, text, slice_text("null"));
}

void reply_err(struct web_call *call, enum err err, const struct why *why)
{
    reply_fail(call, "%s", why->text[0] ? why->text : err_text(err));
}

void reply_status(struct web_call *call, int status, const char *text)
{
    call->status = status;
    envelope(call, status, text, slice_text("null"));
}

enum err page_begin(struct web_call *call, struct page *ret, struct why *why)
{
    const struct form *f = &call->form;
    struct page p = { .limit = PAGE_DEFAULT, .shape = call_shape(call) };
    bool new = p.shape == SHAPE_3;
    enum err err = form_i64(f, new ? "offset" : "start", &p.offset, why);
    if (!err)
        err = form_i64(f, new ? "pagesize" : "length", &p.limit, why);
    if (err)
        return err;
    if (p.offset < 0 || p.limit < 0) {
        why_set(why, "%s: must not be negative", new ? "offset, pagesize" : "start, length");
        return ERR_INVALID;
    }
    if (p.limit > PAGE_MAX)
        p.limit = PAGE_MAX;
    *ret = p;
    buf_init(&ret->rows, WEB_REPLY_MAX - 4096);
    ret->w = jsonw_on(&ret->rows);
    jsonw_array(&ret->w, NULL);
    return OK;
}

void page_reply(struct web_call *call, struct page *p, int64_t total)
{
    jsonw_array_end(&p->w);
    struct slice rows = slice_of(p->rows.data, p->rows.len);
    if (p->rows.failed) {
        reply_fail(call, "the page is larger than 32 MiB: ask for fewer rows");
        return;
    }
    struct buf *out = &call->output;
    buf_reset(out);
    if (p->shape == SHAPE_2) {
        buf_printf(out,
                   "{\"recordsTotal\":%lld,\"recordsFiltered\":%lld,\"data\":", (long long)total,
                   (long long)total);
        buf_slice(out, rows);
        buf_text(out, "}");
        return;
    }
    buf_text(out, "{\"code\":200,\"msg\":\"Success\",\"content\":null,"
                  "\"data\":{\"offset\":0,\"pagesize\":0,\"data\":");
    buf_slice(out, rows);
    buf_printf(out, ",\"total\":%lld}}", (long long)total);
}

void page_done(struct page *p)
{
    buf_done(&p->rows);
}

void reply_date(struct jsonw *w, enum shape shape, const struct zone *zone, const char *key,
                int64_t ms)
{
    char text[RFC3339_SIZE];
    if (ms < 0) {
        jsonw_null(w, key);
    } else if (shape == SHAPE_3) {
        jsonw_text(w, key, walltime_format(ms, zone, text));
    } else { /* as Jackson writes it: milliseconds always, the offset as +00:00 */
        char utc[RFC3339_SIZE];
        walltime_format(ms, zone_utc(), utc);
        utc[10] = 'T';
        snprintf(text, sizeof(text), "%.19s.%03d+00:00", utc, (int)(ms % 1000));
        jsonw_text(w, key, text);
    }
}

struct zone *call_zone(const struct web_call *call)
{
    struct zone *zone;
    if (zones_get(center_zones(call->center), center_zone_name(call->center), &zone, NULL))
        return zone_ref(zone_utc());
    return zone;
}
