/* SPDX-License-Identifier: Apache-2.0 */
/* What executors answer. Nearly every answer is one of a handful of exact texts, which are compared
 * before anything is parsed; the rest goes through jansson. */
#include "wire/executor_api.h"
#include "base/mem.h"
#include "wire/json.h"
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a foreign answer that our sentence shows. */
#define QUOTED 80

static bool good_status(int http_status)
{
    return http_status >= 200 && http_status < 300;
}

/* Code 500 with a sentence of ours. */
__attribute__((format(printf, 2, 3))) static void own_words(struct wire_reply *r,
                                                            const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(r->text, sizeof(r->text), format, ap);
    va_end(ap);
    r->code = 500;
    r->msg = slice_text(r->text);
}

/* The bodies that executors send all day (Java 2.x and 3.x, Go, npm, ours). */
static bool common(struct slice body)
{
    static const struct {
        const char *text;
        size_t n;
    } known[] = {
#define KNOWN(text) { text, sizeof(text) - 1 }
        KNOWN("{\"code\":200}"),
        KNOWN("{\"code\":200,\"msg\":\"Success\"}"),
        KNOWN("{\"code\":200,\"msg\":\"\"}"),
        KNOWN("{\"code\":200,\"msg\":null}"),
        KNOWN("{\"code\":200,\"msg\":null,\"content\":null}"),
        KNOWN("{\"code\":200,\"msg\":null,\"content\":null,\"data\":null}"),
#undef KNOWN
    };
    for (size_t i = 0; i < countof(known); i++)
        if (body.n == known[i].n && memcmp(body.p, known[i].text, body.n) == 0)
            return true;
    return false;
}

static bool starts_with(struct slice s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

static void text_of(json_t *o, const char *name, struct slice *ret)
{
    enum err err = wire_json_any(o, name, ret, NULL);
    (void)err; /* without memory the text is simply missing */
}

static void string_of(const json_t *o, const char *name, struct slice *ret)
{
    const json_t *v = json_object_get(o, name);
    if (json_is_string(v))
        *ret = slice_of(json_string_value(v), json_string_length(v));
}

/* {"code":…,"msg":…}. A missing code would leave the run in flight for ever: it is a no. */
static void read_object(struct wire_reply *r, int http_status)
{
    int code = 0;
    if (wire_json_int(r->doc, "code", &code, NULL))
        code = 0;
    text_of(r->doc, "msg", &r->msg);
    string_of(r->doc, "content", &r->note);
    if (!r->note.n)
        string_of(r->doc, "data", &r->note);
    r->clear = code != 0;
    r->code = code;
    if (!r->clear && !r->msg.n)
        own_words(r, "the answer has no code");
    else if (!r->clear)
        r->code = 500;
    else if (code == 200 && !good_status(http_status))
        own_words(r, "the answer came with HTTP status %d", http_status);
}

/* The Go executor refuses a run with the array that it would call back with. */
static void read_array(struct wire_reply *r, int http_status)
{
    json_t *first = json_array_get(r->doc, 0), *old = json_object_get(first, "executeResult");
    int code = 0;
    r->array = true;
    if (wire_json_int(first, "handleCode", &code, NULL) ||
        (!code && wire_json_int(old, "code", &code, NULL)))
        code = 0;
    text_of(first, "handleMsg", &r->msg);
    if (!r->msg.n)
        text_of(old, "msg", &r->msg);
    r->clear = code != 0;
    r->code = code != 0 && (code != 200 || good_status(http_status)) ? code : 500;
    if (!r->clear && !r->msg.n)
        own_words(r, "the answer is an array without a code");
}

static void parse_into(int http_status, struct slice body, size_t max, struct wire_reply *r)
{
    *r = (struct wire_reply){ .code = 500 };
    body = slice_trim(body);
    if (good_status(http_status) && common(body)) {
        r->code = 200;
        r->clear = true;
        if (memmem(body.p, body.n, "Success", 7))
            r->msg = slice_text("Success");
        return;
    }
    if (body.n == 0) {
        own_words(r, "the answer is empty, HTTP status %d", http_status);
        return;
    }
    enum err err = wire_json_parse_mended(body, max, "reply", &r->doc, NULL);
    if (err == ERR_TOOBIG)
        own_words(r, "the answer is too large, HTTP status %d", http_status);
    else if (json_is_object(r->doc))
        read_object(r, http_status);
    else if (json_is_array(r->doc))
        read_array(r, http_status);
    else
        own_words(r, "the answer is not XXL-JOB's, HTTP status %d: %.*s", http_status,
                  (int)utf8_cut(body.p, body.n, QUOTED), body.p);
    r->repeat = r->clear && r->code != 200 && starts_with(r->msg, "repeat");
}

void wire_reply_parse(int http_status, struct slice body, struct wire_reply *ret)
{
    parse_into(http_status, body, WIRE_REPLY_MAX, ret);
}

void wire_reply_done(struct wire_reply *r)
{
    wire_json_free(r->doc);
    *r = (struct wire_reply){ .code = 500 };
}

/* content counts, else data. */
static json_t *page_of(const json_t *doc)
{
    json_t *page = json_object_get(doc, "content");
    if (!json_is_object(page))
        page = json_object_get(doc, "data");
    return json_is_object(page) ? page : NULL;
}

void wire_log_page_parse(int http_status, struct slice body, size_t max, struct wire_log_page *ret)
{
    *ret = (struct wire_log_page){ .present = false };
    parse_into(http_status, body, max, &ret->reply);
    json_t *page = page_of(ret->reply.doc);
    if (!page)
        return;
    ret->present = true;
    /* a member of another type is as good as missing: the lines are what people came for */
    if (wire_json_int(page, "fromLineNum", &ret->from_line, NULL))
        ret->from_line = 0;
    if (wire_json_int(page, "toLineNum", &ret->to_line, NULL))
        ret->to_line = 0;
    if (wire_json_bool(page, "isEnd", &ret->is_end, NULL))
        ret->is_end = false;
    text_of(page, "logContent", &ret->content);
}

void wire_log_page_done(struct wire_log_page *p)
{
    wire_reply_done(&p->reply);
    p->present = false;
    p->content = slice_of(NULL, 0);
}
