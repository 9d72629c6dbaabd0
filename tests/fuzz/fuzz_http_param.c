/* SPDX-License-Identifier: Apache-2.0 */
/* Any parameter of httpJobHandler becomes a request within its bounds, whose pieces cannot end one
 * header and begin another, or is refused with a reason that names a field. A request, written as
 * JSON, is read as the same request. */
#include <jansson.h>
#include <string.h>
#include "base/mem.h"
#include "executor/agent/builtin_http.h"
#include "fuzz.h"

enum { DATA_MOST = 5 << 20, HEADER_MOST = 65536 };

static void check_url(const char *url)
{
    size_t n = strlen(url);
    CHECK(n > 0 && n <= HTTP_URL_MAX);
    for (size_t i = 0; i < n; i++)
        CHECK((unsigned char)url[i] > ' ' && url[i] != 127);
}

static void check_method(const char *method)
{
    static const char *const dedup[] = {
        "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"
    };
    bool found = false;
    for (size_t i = 0; i < countof(dedup); i++)
        found |= strcmp(method, dedup[i]) == 0;
    CHECK(found);
}

static void check_header(const char *header)
{
    const char *colon = strstr(header, ": ");
    CHECK(colon && colon > header && strlen(header) < HEADER_MOST);
    for (const char *p = header; *p; p++)
        CHECK((unsigned char)*p >= ' ' || (*p == '\t' && p > colon));
    for (const char *p = header; p < colon; p++)
        CHECK(*p > ' ' && !strchr("\"(),/:;<=>?@[\\]{}\177", *p));
}

static void check(const struct http_param *p)
{
    check_url(p->url);
    check_method(p->method);
    CHECK(p->timeout_ms >= 1 && p->timeout_ms <= HTTP_TIMEOUT_MOST_MS);
    CHECK(p->nheaders >= 0 && p->nheaders <= HTTP_HEADERS_MAX && !p->headers[p->nheaders]);
    for (int i = 0; i < p->nheaders; i++)
        check_header(p->headers[i]);
    CHECK(!p->data.failed && p->data.len <= DATA_MOST);
}

/* NULL: something of it has no form in JSON. Header names may come twice, by members of their own.
 */
static char *to_json(const struct http_param *p)
{
    json_t *headers = json_object();
    bool all = true;
    for (int i = 0; i < p->nheaders; i++) {
        char *name = mem_dup(p->headers[i]), *colon = strstr(name, ": ");
        *colon = '\0';
        all = all && !json_object_get(headers, name) &&
              json_object_set_new(headers, name, json_string(colon + 2)) == 0;
        free(name);
    }
    json_t *o = json_pack("{s:s, s:s, s:I, s:o, s:s%}", "url", p->url, "method", p->method,
                          "timeout", (json_int_t)p->timeout_ms, "headers", headers, "data",
                          buf_str(&p->data), p->data.len);
    char *text =
        all && o && !memchr(buf_str(&p->data), '\0', p->data.len) ? json_dumps(o, 0) : NULL;
    json_decref(o);
    return text;
}

static void check_again(const struct http_param *p)
{
    struct http_param q;
    char *text = to_json(p);
    if (!text)
        return;
    struct why why = { "" };
    CHECK(http_param_parse(slice_text(text), &q, &why) == OK);
    CHECK(strcmp(p->url, q.url) == 0 && p->method == q.method && p->timeout_ms == q.timeout_ms);
    CHECK(p->data.len == q.data.len &&
          memcmp(buf_str(&p->data), buf_str(&q.data), q.data.len) == 0);
    CHECK(p->nheaders == q.nheaders);
    for (int i = 0; i < p->nheaders; i++) {
        bool found = false;
        for (int k = 0; k < q.nheaders; k++)
            found |= strcmp(p->headers[i], q.headers[k]) == 0;
        CHECK(found);
    }
    free(text);
    http_param_done(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_param p;
    struct why why = { "" };
    enum err err = http_param_parse(slice_of((const char *)data, size), &p, &why);
    if (err) {
        CHECK(strncmp(why.text, "httpJobHandler: ", 16) == 0);
        return 0;
    }
    check(&p);
    check_again(&p);
    http_param_done(&p);
    return 0;
}
