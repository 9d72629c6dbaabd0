/* SPDX-License-Identifier: Apache-2.0 */
/* httpJobHandler's parameter. Both forms fill the same struct through the same setters, so a rule
 * about a URL or a header stands once. Fields that are not known are skipped and named in the run's
 * log: a job that was written for another executor runs here, and its owner sees what did not
 * count. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "executor/agent/builtin_http.h"

#define DATA_MAX (5u << 20)

static const char *const methods[] = { "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS" };

static const char *const keys[] = { "url",     "method", "contentType", "headers", "cookies",
                                    "timeout", "data",   "form",        "auth" };

static enum err bad(struct why *why, const char *field, const char *rule)
{
    why_set(why, "httpJobHandler: %s: %s", field, rule);
    return ERR_INVALID;
}

/* --- pieces --- */

static enum err set_url(struct http_param *p, struct slice url, struct why *why)
{
    url = slice_trim(url);
    if (url.n == 0)
        return bad(why, "url", "must be given");
    if (url.n > HTTP_URL_MAX)
        return bad(why, "url", "at most 8192 bytes");
    for (size_t i = 0; i < url.n; i++)
        if ((unsigned char)url.p[i] <= ' ' || url.p[i] == 127)
            return bad(why, "url", "must not contain blanks or control characters");
    free(p->url);
    p->url = mem_dupn(url.p, url.n);
    return OK;
}

static enum err set_method(struct http_param *p, struct slice name, struct why *why)
{
    name = slice_trim(name);
    for (size_t i = 0; i < countof(methods); i++)
        if (slice_eq_nocase(name, methods[i])) {
            p->method = methods[i];
            return OK;
        }
    return bad(why, "method", "must be GET, POST, PUT, DELETE, PATCH, HEAD or OPTIONS");
}

/* RFC 9110, 5.6.2 */
static bool is_token(struct slice s)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!word && (c == '\0' || !strchr(others, c)))
            return false;
    }
    return s.n > 0;
}

/* A line end in a value would begin another header. */
static bool is_value(struct slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (((unsigned char)s.p[i] < ' ' && s.p[i] != '\t') || s.p[i] == 127)
            return false;
    return true;
}

/* Headers by which a request says where it goes and where it ends: another value would reach
 * another site of the host, or hide a second request behind this one. */
static bool is_ours(struct slice name)
{
    static const char *const names[] = { "Host",       "Content-Length", "Transfer-Encoding",
                                         "Connection", "Keep-Alive",     "Proxy-Connection",
                                         "TE",         "Trailer",        "Upgrade",
                                         "Expect" };
    for (size_t i = 0; i < countof(names); i++)
        if (slice_eq_nocase(name, names[i]))
            return true;
    return false;
}

static enum err add_header(struct http_param *p, const char *field, const char *name,
                           struct slice value, struct why *why)
{
    struct buf text = BUF_INIT(65536);
    if (!is_token(slice_text(name)) || !is_value(value))
        return bad(why, field, "names and values must be fit for an HTTP header");
    if (is_ours(slice_text(name)))
        return bad(why, field,
                   "Host, Content-Length, Transfer-Encoding and what is about the connection are "
                   "not for the parameter to say");
    if (p->nheaders == HTTP_HEADERS_MAX)
        return bad(why, field, "at most 100 headers");
    buf_printf(&text, "%s: %.*s", name, (int)value.n, value.p);
    if (text.failed) {
        buf_done(&text);
        return bad(why, field, "at most 64 KiB");
    }
    p->headers[p->nheaders++] = buf_take(&text);
    p->headers[p->nheaders] = NULL;
    return OK;
}

/* --- JSON --- */

static struct slice text_of(const json_t *v)
{
    return slice_of(json_string_value(v), json_string_length(v));
}

static enum err take_headers(struct http_param *p, json_t *all, struct why *why)
{
    const char *name;
    json_t *value;
    enum err err = OK;
    json_object_foreach(all, name, value)
    {
        if (!json_is_string(value))
            return bad(why, "headers", "must be an object of texts");
        err = add_header(p, "headers", name, text_of(value), why);
        if (err)
            return err;
    }
    return err;
}

static enum err take_cookies(struct http_param *p, json_t *all, struct why *why)
{
    const char *name;
    json_t *value;
    struct buf text = BUF_INIT(32768);
    json_object_foreach(all, name, value)
    {
        struct slice v = text_of(value);
        if (!json_is_string(value) || !is_token(slice_text(name)) || memchr(v.p, ';', v.n)) {
            buf_done(&text);
            return bad(why, "cookies", "must be an object of texts without ;");
        }
        buf_printf(&text, "%s%s=%.*s", text.len ? "; " : "", name, (int)v.n, v.p);
    }
    enum err err = text.failed ? bad(why, "cookies", "at most 32 KiB") : OK;
    if (!err && text.len)
        err = add_header(p, "cookies", "Cookie", slice_of(text.data, text.len), why);
    buf_done(&text);
    return err;
}

static void add_encoded(struct buf *to, struct slice s)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '.' || c == '_' || c == '*';
        if (plain) {
            buf_char(to, (char)c);
        } else if (c == ' ') {
            buf_char(to, '+');
        } else {
            buf_char(to, '%');
            buf_char(to, hex[c >> 4]);
            buf_char(to, hex[c & 15]);
        }
    }
}

static enum err take_form(struct http_param *p, json_t *all, struct why *why)
{
    const char *name;
    json_t *value;
    if (p->data.len)
        return bad(why, "form", "not together with data");
    json_object_foreach(all, name, value)
    {
        if (!json_is_string(value))
            return bad(why, "form", "must be an object of texts");
        if (p->data.len)
            buf_char(&p->data, '&');
        add_encoded(&p->data, slice_text(name));
        buf_char(&p->data, '=');
        add_encoded(&p->data, text_of(value));
    }
    return OK;
}

static enum err take_timeout(struct http_param *p, const json_t *v, struct why *why)
{
    json_int_t ms = json_integer_value(v);
    if (!json_is_integer(v) || ms < 1 || ms > HTTP_TIMEOUT_MOST_MS)
        return bad(why, "timeout", "must be 1-86400000 milliseconds");
    p->timeout_ms = ms;
    return OK;
}

static enum err take_member(struct http_param *p, const char *key, json_t *v, struct why *why)
{
    bool object =
        strcmp(key, "headers") == 0 || strcmp(key, "cookies") == 0 || strcmp(key, "form") == 0;
    if (strcmp(key, "timeout") == 0)
        return take_timeout(p, v, why);
    if (object ? !json_is_object(v) : !json_is_string(v))
        return bad(why, key, object ? "must be an object" : "must be a text");
    if (strcmp(key, "url") == 0)
        return set_url(p, text_of(v), why);
    if (strcmp(key, "method") == 0)
        return set_method(p, text_of(v), why);
    if (strcmp(key, "contentType") == 0)
        return add_header(p, key, "Content-Type", text_of(v), why);
    if (strcmp(key, "auth") == 0)
        return add_header(p, key, "Authorization", text_of(v), why);
    if (strcmp(key, "headers") == 0)
        return take_headers(p, v, why);
    if (strcmp(key, "cookies") == 0)
        return take_cookies(p, v, why);
    if (strcmp(key, "form") == 0)
        return take_form(p, v, why);
    buf_slice(&p->data, text_of(v));
    return OK;
}

static void note_unknown(struct http_param *p, json_t *object)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        bool dedup = false;
        for (size_t i = 0; i < countof(keys); i++)
            dedup |= strcmp(name, keys[i]) == 0;
        if (!dedup)
            why_set(&p->note, "%.100s is no setting of httpJobHandler and is left alone", name);
    }
}

static bool has_type(const struct http_param *p)
{
    for (int i = 0; i < p->nheaders; i++)
        if (strncasecmp(p->headers[i], "Content-Type:", 13) == 0)
            return true;
    return false;
}

static enum err parse_json(struct http_param *p, struct slice text, struct why *why)
{
    json_error_t error;
    json_t *object = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(object)) {
        why_set(why, "httpJobHandler: the parameter is no JSON object: %s (line %d)",
                object ? "another value" : error.text, error.line);
        json_decref(object);
        return ERR_INVALID;
    }
    enum err err = OK;
    for (size_t i = 0; !err && i < countof(keys); i++) {
        json_t *v = json_object_get(object, keys[i]);
        if (v && !json_is_null(v))
            err = take_member(p, keys[i], v, why);
    }
    if (!err && p->data.len && !has_type(p))
        err = add_header(p, "contentType", "Content-Type",
                         slice_text(json_object_get(object, "form")
                                        ? "application/x-www-form-urlencoded"
                                        : "application/json;charset=UTF-8"),
                         why);
    note_unknown(p, object);
    json_decref(object);
    return err;
}

/* --- lines --- */

static bool starts(struct slice *line, const char *key)
{
    size_t n = strlen(key);
    if (line->n < n || memcmp(line->p, key, n) != 0)
        return false;
    *line = slice_trim(slice_of(line->p + n, line->n - n));
    return true;
}

static enum err parse_lines(struct http_param *p, struct slice text, struct why *why)
{
    struct slice line;
    enum err err = OK;
    while (!err && slice_cut(&text, '\n', &line)) {
        line = slice_trim(line);
        if (starts(&line, "url:")) {
            err = set_url(p, line, why);
        } else if (starts(&line, "method:")) {
            err = set_method(p, line, why);
        } else if (starts(&line, "data:")) {
            buf_reset(&p->data);
            buf_slice(&p->data, line);
        } else if (line.n) {
            why_set(&p->note,
                    "a line that begins with neither url:, method: nor data: is left alone");
        }
    }
    if (!err && p->data.len)
        err = add_header(p, "data", "Content-Type", slice_text("application/json;charset=UTF-8"),
                         why);
    return err;
}

enum err http_param_parse(struct slice text, struct http_param *ret, struct why *why)
{
    struct http_param p = { .method = "GET", .timeout_ms = HTTP_TIMEOUT_MS };
    buf_init(&p.data, DATA_MAX);
    text = slice_trim(text);
    enum err err =
        text.n && text.p[0] == '{' ? parse_json(&p, text, why) : parse_lines(&p, text, why);
    if (!err && !p.url)
        err = bad(why, "url", "must be given");
    if (!err && p.data.failed)
        err = bad(why, "data", "at most 5 MiB");
    if (err)
        http_param_done(&p);
    else
        *ret = p;
    return err;
}

void http_param_done(struct http_param *p)
{
    for (int i = 0; i < p->nheaders; i++)
        free(p->headers[i]);
    free(p->url);
    buf_done(&p->data);
}
