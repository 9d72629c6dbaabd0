/* SPDX-License-Identifier: Apache-2.0 */
/* One table gives each kind its status, code and title. Errors of fields are written as JSON when
 * they are found, so their number and size are bounded by one buffer. */
#include "api/problem.h"
#include "api/front.h"
#include "base/jsonw.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int status;
    const char *code, *title;
} kinds[PROBLEM_KINDS] = {
    [PROBLEM_MALFORMED] = { 400, "malformed", "The request cannot be read" },
    [PROBLEM_UNAUTHENTICATED] = { 401, "unauthenticated", "Not logged in" },
    [PROBLEM_FORBIDDEN] = { 403, "forbidden", "Not permitted" },
    [PROBLEM_FOREIGN] = { 403, "forbidden", "Not permitted" },
    [PROBLEM_NOT_FOUND] = { 404, "not_found", "There is no such thing" },
    [PROBLEM_METHOD] = { 405, "method_not_allowed", "Not with this method" },
    [PROBLEM_NOT_ACCEPTABLE] = { 406, "not_acceptable", "No such type of answer" },
    [PROBLEM_CONFLICT] = { 409, "conflict", "This does not fit the state of the thing" },
    [PROBLEM_CHANGED] = { 412, "changed_meanwhile", "Somebody changed it meanwhile" },
    [PROBLEM_TOO_LARGE] = { 413, "too_large", "The body is too large" },
    [PROBLEM_MEDIA_TYPE] = { 415, "unsupported_media_type", "Not this type of body" },
    [PROBLEM_INVALID] = { 422, "invalid", "The request breaks a rule" },
    [PROBLEM_KEY_REUSED] = { 422, "idempotency_mismatch", "The key was used for another request" },
    [PROBLEM_NO_IF_MATCH] = { 428, "if_match_required", "If-Match is required" },
    [PROBLEM_TOO_MANY] = { 429, "too_many_requests", "Too many requests" },
    [PROBLEM_INTERNAL] = { 500, "internal", "An error of the server" },
    [PROBLEM_UNAVAILABLE] = { 503, "unavailable", "Not now" },
    [PROBLEM_TIMEOUT] = { 504, "timeout", "No answer in time" },
};

int problem_status(enum problem_kind kind)
{
    return kinds[kind].status;
}

void request_id_new(char to[REQUEST_ID_SIZE])
{
    static const char symbols[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    unsigned char random[8];
    uint64_t bits = 0;
    secret_random(random, sizeof(random));
    for (size_t i = 0; i < sizeof(random); i++)
        bits = bits << 8 | random[i];
    for (size_t i = 0; i < REQUEST_ID_SIZE - 1; i++) {
        to[i] = symbols[bits >> 59];
        bits <<= 5;
    }
    to[REQUEST_ID_SIZE - 1] = '\0';
}

/* ---- fields -------------------------------------------------------------------------------------
 */

void problem_errors_init(struct problem_errors *e)
{
    *e = (struct problem_errors){ .first = "" };
    buf_init(&e->list, 128 * 1024);
}

void problem_errors_done(struct problem_errors *e)
{
    buf_done(&e->list);
}

/* Format into text, cut on a character. */
static void print(char *text, size_t size, const char *format, va_list args)
{
    int n = vsnprintf(text, size, format, args);
    if (n >= (int)size)
        text[utf8_cut(text, size - 1, size - 1)] = '\0';
}

void problem_error(struct problem_errors *e, const char *field, const char *rule,
                   const struct problem_limits *limits, const char *format, ...)
{
    char detail[256], placed[sizeof(e->place) + 400];
    va_list args;
    if (e->n++ >= PROBLEM_ERRORS_MAX)
        return;
    va_start(args, format);
    print(detail, sizeof(detail), format, args);
    va_end(args);
    if (e->n == 1)
        memcpy(e->first, detail, sizeof(detail));
    struct jsonw w = jsonw_on(&e->list);
    if (e->n > 1)
        buf_char(&e->list, ',');
    jsonw_object(&w, NULL);
    snprintf(placed, sizeof(placed), "%s%s", e->place, field);
    jsonw_text(&w, "field", placed);
    jsonw_text(&w, "rule", rule);
    jsonw_text(&w, "detail", detail);
    if (limits) {
        jsonw_object(&w, "params");
        jsonw_i64(&w, "min", limits->min);
        jsonw_i64(&w, "max", limits->max);
        jsonw_object_end(&w);
    }
    jsonw_object_end(&w);
}

/* ---- the document -------------------------------------------------------------------------------
 */

/* "too_large" is explained at /problems/too-large. */
static void write_type(struct jsonw *w, const char *code)
{
    char type[64];
    snprintf(type, sizeof(type), "/problems/%s", code);
    for (char *p = type; *p; p++)
        if (*p == '_')
            *p = '-';
    jsonw_text(w, "type", type);
}

void problem_write(struct buf *out, enum problem_kind kind, const char *request_id,
                   const char *detail, const struct problem_errors *errors, int64_t retry_ms)
{
    struct jsonw w = jsonw_on(out);
    jsonw_object(&w, NULL);
    write_type(&w, kinds[kind].code);
    jsonw_text(&w, "title", kinds[kind].title);
    jsonw_i64(&w, "status", kinds[kind].status);
    jsonw_text(&w, "code", kinds[kind].code);
    if (detail && detail[0])
        jsonw_text(&w, "detail", detail);
    if (errors && errors->n) {
        buf_text(out, ",\"errors\":[");
        buf_slice(out, slice_of(errors->list.data, errors->list.len));
        buf_char(out, ']');
    }
    if (retry_ms >= 0)
        jsonw_i64(&w, "retryAfterMs", retry_ms);
    if (request_id)
        jsonw_text(&w, "requestId", request_id);
    jsonw_object_end(&w);
}

/* ---- answers of calls ---------------------------------------------------------------------------
 */

static void answer(struct web_call *call, enum problem_kind kind, const char *detail,
                   const struct problem_errors *errors, int64_t retry_ms)
{
    call->status = kinds[kind].status;
    call->content_type = "application/problem+json";
    if (kind == PROBLEM_UNAUTHENTICATED)
        buf_text(&call->headers, "WWW-Authenticate: Bearer realm=\"peal\"\r\n");
    if (retry_ms >= 0)
        buf_printf(&call->headers, "Retry-After: %lld\r\n", (long long)((retry_ms + 999) / 1000));
    buf_reset(&call->output);
    problem_write(&call->output, kind, call->request_id, detail, errors, retry_ms);
}

void problem(struct web_call *call, enum problem_kind kind, const char *format, ...)
{
    char detail[1024];
    va_list args;
    va_start(args, format);
    print(detail, sizeof(detail), format, args);
    va_end(args);
    answer(call, kind, detail, NULL, -1);
}

void problem_fields(struct web_call *call, enum problem_kind kind, const struct problem_errors *e)
{
    answer(call, kind, e->first, e, -1);
}

void problem_wait(struct web_call *call, enum problem_kind kind, int64_t wait_ms,
                  const char *detail)
{
    answer(call, kind, detail, NULL, wait_ms);
}

static enum problem_kind kind_of(enum err err)
{
    switch (err) {
    case ERR_INVALID:
        return PROBLEM_INVALID;
    case ERR_TOOBIG:
        return PROBLEM_TOO_LARGE;
    case ERR_NOTFOUND:
        return PROBLEM_NOT_FOUND;
    case ERR_EXISTS:
        return PROBLEM_CONFLICT;
    case ERR_NOMEM:
    case ERR_BUSY:
    case ERR_FULL:
    case ERR_READONLY:
    case ERR_STORE:
    case ERR_IO:
    case ERR_TIMEOUT:
    case ERR_STOPPING:
        return PROBLEM_UNAVAILABLE;
    default:
        return PROBLEM_INTERNAL;
    }
}

void problem_err(struct web_call *call, enum err err, const struct why *why)
{
    enum problem_kind kind = kind_of(err);
    const char *text = why->text[0] ? why->text : err_text(err);
    if (kinds[kind].status >= 500)
        log_warn("web", "request %s: %s", call->request_id, text);
    answer(call, kind, text, NULL, kind == PROBLEM_UNAVAILABLE ? 1000 : -1);
}
