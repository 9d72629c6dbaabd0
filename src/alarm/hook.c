/* SPDX-License-Identifier: Apache-2.0 */
/* hook.c - the kind "webhook": a request whose method, headers and body an administrator chooses.
 * Without a body of one's own it is the JSON of docs/alarms.md. The body and the second at which it
 * was sent are signed with a secret that both sides have. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "alarm/hook.h"
#include "alarm/http.h"
#include "alarm/kind.h"
#include "alarm/template.h"
#include "alarm/told.h"
#include "base/secret.h"

#define HEADERS 20 /* lines */

static const struct channel_field fields[] = {
    { "url", CHANNEL_URL, true, true, 2000 },
    { "secret", CHANNEL_SECRET, false, true, 512 },
    { "method", CHANNEL_METHOD, false, false, 10 },
    { "headers", CHANNEL_HEADERS, false, true, 4000 },
    { "body", CHANNEL_BODY, false, false, TEMPLATE_MAX },
};

/* ---- settings -------------------------------------------------------------------------------- */

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

/* Headers that the request gets from the connection, or from us. */
static bool own(struct slice name)
{
    static const char *const names[] = { "host",       "content-length", "transfer-encoding",
                                         "connection", "expect",         "peal-alarm-id",
                                         "peal-time",  "peal-signature" };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (slice_eq_nocase(name, names[i]))
            return true;
    return false;
}

static bool header_ok(struct slice line)
{
    size_t n = 0;
    while (n < line.n && name_char(line.p[n]))
        n++;
    if (!n || n == line.n || line.p[n] != ':' || own(slice_of(line.p, n)))
        return false;
    for (size_t i = n; i < line.n; i++)
        if ((line.p[i] >= 0 && line.p[i] < ' ') || line.p[i] == 0x7f)
            return false;
    return slice_trim(slice_of(line.p + n + 1, line.n - n - 1)).n > 0;
}

enum err hook_headers_check(const char *text, struct why *why)
{
    struct slice rest = slice_text(text), one;
    int n = 0;
    while (slice_cut(&rest, '\n', &one)) {
        if (++n <= HEADERS && header_ok(one))
            continue;
        why_set(why,
                "line %d must be \"Name: value\", without control characters, at most %d lines, "
                "and none that the request has of its own (Host, Content-Length, Peal-Time, …)",
                n, HEADERS);
        return ERR_INVALID;
    }
    return OK;
}

static enum err check(const struct channel_values *v, const char **field, struct why *why)
{
    const char *method = v->v[CHANNEL_METHOD];
    *field = "method";
    if (method && strcmp(method, "POST") != 0 && strcmp(method, "PUT") != 0 &&
        strcmp(method, "PATCH") != 0) {
        why_set(why, "must be POST, PUT or PATCH");
        return ERR_INVALID;
    }
    *field = "headers";
    if (hook_headers_check(v->v[CHANNEL_HEADERS], why))
        return ERR_INVALID;
    *field = "body";
    return template_check(slice_text(v->v[CHANNEL_BODY]), why);
}

/* ---- the request ----------------------------------------------------------------------------- */

/* The signature is of "TIME.BODY". */
static void sign(const char *secret, const char *time, struct kind_request *r)
{
    unsigned char mac[32];
    char hex[65];
    struct buf b = BUF_INIT(HTTP_BODY_MAX + 64);
    buf_printf(&b, "%s.", time);
    buf_add(&b, r->body.data, r->body.len);
    hmac_sha256(slice_text(secret), b.data, b.len, mac);
    hex_text(mac, sizeof(mac), hex);
    buf_printf(&r->headers, "Peal-Signature: v1=%s\n", hex);
    buf_done(&b);
}

static bool has_header(const char *lines, const char *name)
{
    struct slice rest = slice_text(lines), one;
    size_t n = strlen(name);
    while (slice_cut(&rest, '\n', &one))
        if (one.n > n && strncasecmp(one.p, name, n) == 0 && one.p[n] == ':')
            return true;
    return false;
}

static void compose(const struct channel_values *v, const struct alarm_message *m, int64_t now_ms,
                    struct kind_request *r)
{
    const char *lines = v->v[CHANNEL_HEADERS], *body = v->v[CHANNEL_BODY];
    char time[24];
    if (body)
        template_write(&r->body, slice_text(body), m);
    else
        told_json(&r->body, m);
    if (!has_header(lines, "content-type"))
        buf_text(&r->headers, "Content-Type: application/json\n");
    snprintf(time, sizeof(time), "%lld", (long long)(now_ms / 1000));
    buf_printf(&r->headers, "Peal-Alarm-Id: %s\nPeal-Time: %s\n", m->id, time);
    if (v->v[CHANNEL_SECRET])
        sign(v->v[CHANNEL_SECRET], time, r);
    if (lines)
        buf_printf(&r->headers, "%s\n", lines);
}

const struct channel_kind kind_webhook = {
    .name = "webhook",
    .fields = fields,
    .nfields = countof(fields),
    .check = check,
    .compose = compose,
};
