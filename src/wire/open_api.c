/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses and texts are checked while they are slices of the request, before anything is copied.
 */
#include "wire/open_api.h"
#include "base/jsonw.h"
#include "wire/executor_api.h"
#include "wire/json.h"
#include <string.h>

/* Widths of xxl_job_registry's columns, in UTF-16 code units. */
#define GROUP_UNITS 50
#define KEY_UNITS 255
#define VALUE_UNITS 255

/* ---- addresses ---- */

static bool alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static size_t host_end(struct slice s)
{
    size_t i = 0;
    if (s.n && s.p[0] == '[') {
        for (i = 1; i < s.n && (alnum(s.p[i]) || one_of(s.p[i], ":.")); i++)
            continue;
        return i > 1 && i < s.n && s.p[i] == ']' ? i + 1 : 0;
    }
    while (i < s.n && (alnum(s.p[i]) || one_of(s.p[i], ".-_")))
        i++;
    return i;
}

static size_t port_end(struct slice s, size_t i)
{
    int port = 0;
    size_t start = ++i;
    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
        i++;
    bool ok = i - start <= 5 && parse_int(slice_of(s.p + start, i - start), &port);
    return ok && port >= 1 && port <= 65535 ? i : 0;
}

static struct slice without_scheme(struct slice s)
{
    static const char *const schemes[] = { "http://", "https://" };
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(schemes[i]);
        if (s.n >= n && slice_eq_nocase(slice_of(s.p, n), schemes[i]))
            return slice_of(s.p + n, s.n - n);
    }
    return s;
}

enum err wire_address_check(struct slice address, const char *name, struct why *why)
{
    if (slice_trim(address).n == 0) {
        why_set(why, "%s: must not be blank", name);
        return ERR_INVALID;
    }
    if (address.n > VALUE_UNITS) {
        why_set(why, "%s: must not be longer than %d characters", name, VALUE_UNITS);
        return ERR_INVALID;
    }
    struct slice s = without_scheme(address);
    size_t i = host_end(s);
    if (i == 0) {
        why_set(why, "%s: must be [http[s]://]host[:port][/path]; the host is missing or wrong",
                name);
        return ERR_INVALID;
    }
    if (i < s.n && s.p[i] == ':' && (i = port_end(s, i)) == 0) {
        why_set(why, "%s: the port must be a number from 1 to 65535", name);
        return ERR_INVALID;
    }
    bool path = i < s.n && s.p[i] == '/';
    while (path && i < s.n && (alnum(s.p[i]) || one_of(s.p[i], "/-._~%!$&()*+;=:@")))
        i++;
    if (i == s.n)
        return OK;
    why_set(why, "%s: must be [http[s]://]host[:port][/path] without blanks, commas and queries",
            name);
    return ERR_INVALID;
}

/* ---- registry ---- */

static enum err text_check(struct slice s, const char *name, size_t max_units, struct why *why)
{
    if (slice_trim(s).n == 0) {
        why_set(why, "%s: must not be blank", name);
        return ERR_INVALID;
    }
    if (utf8_units(s.p, s.n) > max_units) {
        why_set(why, "%s: must not be longer than %zu characters", name, max_units);
        return ERR_INVALID;
    }
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        /* 0xC2 0x80..0x9F are the second block of controls */
        bool c1 = c == 0xC2 && i + 1 < s.n && (unsigned char)s.p[i + 1] < 0xA0;
        if (c < 0x20 || c == 0x7F || c1) {
            why_set(why, "%s: must not contain control characters", name);
            return ERR_INVALID;
        }
    }
    return OK;
}

static enum err registry_read(struct wire_registry *r, wire_address_fn *check, struct why *why)
{
    enum err err = wire_json_text(r->doc, "registryGroup", &r->group, why);
    if (!err)
        err = wire_json_text(r->doc, "registryKey", &r->key, why);
    if (!err)
        err = wire_json_text(r->doc, "registryValue", &r->value, why);
    if (!err)
        err = text_check(r->group, "registryGroup", GROUP_UNITS, why);
    if (!err)
        err = text_check(r->key, "registryKey", KEY_UNITS, why);
    if (!err)
        err = check(r->value, "registryValue", why);
    if (!err && !slice_eq(r->group, "EXECUTOR")) {
        why_set(why, "registryGroup: must be EXECUTOR");
        err = ERR_INVALID;
    }
    return err;
}

enum err wire_registry_parse(struct slice body, wire_address_fn *check, struct wire_registry *ret,
                             struct why *why)
{
    struct wire_registry r = { 0 };
    enum err err = wire_json_parse(body, WIRE_REGISTRY_MAX, "registry body", &r.doc, why);
    if (err)
        return err;
    err = registry_read(&r, check, why);
    if (err)
        wire_registry_done(&r);
    else
        *ret = r;
    return err;
}

void wire_registry_done(struct wire_registry *r)
{
    wire_json_free(r->doc);
    *r = (struct wire_registry){ 0 };
}

void wire_registry_body(struct buf *out, struct slice key, struct slice value)
{
    struct jsonw w = jsonw_on(out);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "registryGroup", "EXECUTOR");
    jsonw_slice(&w, "registryKey", key);
    jsonw_slice(&w, "registryValue", value);
    jsonw_object_end(&w);
}

/* ---- replies and callbacks, as they are written ---- */

void wire_reply_error(struct buf *out, int code, struct slice text)
{
    struct jsonw w = jsonw_on(out);
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "code", code);
    jsonw_slice(&w, "msg", text);
    jsonw_null(&w, "content");
    jsonw_null(&w, "data");
    jsonw_object_end(&w);
}

void wire_callback_body(struct buf *out, const struct wire_callback *items, size_t n)
{
    struct jsonw w = jsonw_on(out);
    jsonw_array(&w, NULL);
    for (size_t i = 0; i < n; i++) {
        jsonw_object(&w, NULL);
        jsonw_i64(&w, "logId", items[i].log_id);
        jsonw_i64(&w, "logDateTim", items[i].log_date_ms);
        jsonw_i64(&w, "handleCode", items[i].code);
        jsonw_slice(&w, "handleMsg", items[i].msg);
        jsonw_object(&w, "executeResult");
        jsonw_i64(&w, "code", items[i].code);
        jsonw_slice(&w, "msg", items[i].msg);
        jsonw_object_end(&w);
        jsonw_object_end(&w);
    }
    jsonw_array_end(&w);
}

bool wire_admin_accepts(int http_status, struct slice body, struct why *why)
{
    struct wire_reply r;
    wire_reply_parse(http_status, body, &r);
    bool yes = http_status == 200 && r.code == 200 && !r.array;
    if (!yes)
        why_set(why, "HTTP status %d, code %d: %.*s", http_status, r.code, (int)r.msg.n,
                r.msg.n ? r.msg.p : "");
    wire_reply_done(&r);
    return yes;
}
