/* SPDX-License-Identifier: Apache-2.0 */
/* One handle for all requests of a command, so that a connection is kept. What a refusal means is a
 * table: the status gives the exit status, the problem's own words the message. */
#include "cli/ctl/http.h"
#include "base/mem.h"
#include "base/secret.h"
#include "cli/ctl/transfer.h"
#include "cli/ctl/value.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* it reads from the body */
#include <zlib.h>

enum { WITH_GZIP_HEAD = 16 };
enum { TRIES = 10, PAUSE_MS = 500, RETRY_AFTER_MAX_MS = 10000, FAULTS_TOLD = 5 };

struct ctl_http *ctl_http_new(void)
{
    struct ctl_http *h = mem_new(sizeof(*h));
    if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) {
        h->curl = curl_easy_init();
        if (h->curl)
            return h;
        curl_global_cleanup();
    }
    free(h);
    return NULL;
}

void ctl_http_free(struct ctl_http *h)
{
    if (!h)
        return;
    curl_easy_cleanup(h->curl);
    curl_global_cleanup();
    free(h);
}

bool ctl_url_good(const char *url)
{
    char *scheme = NULL, *host = NULL, *rest = NULL;
    CURLU *u = curl_url();
    bool good = u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
                curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) &&
                curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                curl_url_get(u, CURLUPART_USER, &rest, 0) != CURLUE_OK &&
                curl_url_get(u, CURLUPART_QUERY, &rest, 0) != CURLUE_OK &&
                curl_url_get(u, CURLUPART_FRAGMENT, &rest, 0) != CURLUE_OK;
    curl_free(scheme);
    curl_free(host);
    curl_free(rest);
    curl_url_cleanup(u);
    return good;
}

void ctl_query(struct buf *path, const char *name, const char *value)
{
    if (!value)
        return;
    buf_char(path, strchr(buf_str(path), '?') ? '&' : '?');
    buf_text(path, name);
    buf_char(path, '=');
    char *text = curl_easy_escape(NULL, value, (int)strlen(value));
    buf_text(path, text ? text : "");
    curl_free(text);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
    struct buf *body = arg;
    buf_add(body, p, size * n);
    return body->failed ? 0 : size * n;
}

static bool header_is(const char *p, size_t n, const char *name, struct slice *ret)
{
    size_t len = strlen(name);
    if (n <= len || p[len] != ':' || !slice_eq_nocase(slice_of(p, len), name))
        return false;
    *ret = slice_trim(slice_of(p + len + 1, n - len - 1));
    return true;
}

struct heard { /* of the headers */
    struct ctl_answer *answer;
    int64_t retry_after_s;
};

static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
    struct heard *h = arg;
    struct slice v;
    if (header_is(p, size * n, "ETag", &v)) {
        text_copy(h->answer->etag, sizeof(h->answer->etag), v);
    } else if (header_is(p, size * n, "Set-Cookie", &v)) {
        const char *end = v.n ? memchr(v.p, ';', v.n) : NULL;
        text_copy(h->answer->cookie, sizeof(h->answer->cookie),
                  slice_of(v.p, end ? (size_t)(end - v.p) : v.n));
    } else if (header_is(p, size * n, "Retry-After", &v)) {
        if (!parse_i64(v, &h->retry_after_s) || h->retry_after_s > INT32_MAX)
            h->retry_after_s = INT32_MAX;
    }
    return size * n;
}

void ctl_answer_done(struct ctl_answer *a)
{
    json_decref(a->body);
    explicit_bzero(a->cookie, sizeof(a->cookie));
    a->body = NULL;
}

/* ---- what a refusal means -------------------------------------------------------------------- */

static enum ctl_exit exit_of(int status)
{
    switch (status) {
    case 401:
    case 403:
        return CTL_NOT_PERMITTED;
    case 404:
        return CTL_NOT_FOUND;
    case 409:
    case 412:
        return CTL_CONFLICT;
    case 429:
    case 502:
    case 503:
        return CTL_UNREACHABLE;
    case 504:
        return CTL_TIMED_OUT;
    default:
        return CTL_FAILED;
    }
}

static const char *advice(const struct ctl *c, int status)
{
    if (status == 401)
        return c->token
                   ? "\nThe token is wrong, revoked or out of date: log in again with peal ctl "
                     "login"
                   : "";
    if (status == 403)
        return "\nThe token, or its user, lacks the right: an administrator can grant it";
    if (status == 412)
        return "\nIt was changed meanwhile: look at it again, then repeat the command";
    if (status == 429 || status == 502 || status == 503)
        return "\nTry again later";
    return "";
}

/* The rules that were broken, each with its place: "FILE: /jobs/3/schedule/conf: …". */
static void add_faults(struct buf *text, const json_t *errors, const char *said, const char *where)
{
    size_t i;
    const json_t *e;
    json_array_foreach(errors, i, e)
    {
        const char *detail = ctl_text(e, "detail");
        if (i < FAULTS_TOLD && where)
            buf_printf(text, "%s%.200s/%.200s", text->len ? "\n" : "", where, detail);
        else if (i < FAULTS_TOLD && strcmp(detail, said) != 0)
            buf_printf(text, "\n%.200s", detail);
    }
}

static enum ctl_exit refused(const struct ctl *c, const struct ctl_ask *ask,
                             const struct ctl_answer *a)
{
    const char *said = ctl_text(a->body, "detail"), *where = ask->where;
    const json_t *errors = json_object_get(a->body, "errors");
    struct buf text = BUF_INIT(4000);
    bool placed = where && *where;
    said = *said ? said : ctl_text(a->body, "title");
    if (!placed || !json_array_size(errors))
        buf_printf(&text, "%s%s%.600s", placed ? where : "", placed ? ": " : "", said);
    if (!*said)
        buf_printf(&text, "HTTP %d, and not from a center: is the address right?", a->status);
    add_faults(&text, errors, said, placed ? where : NULL);
    enum ctl_exit status =
        ctl_say(c, exit_of(a->status), "%s%s", buf_str(&text), advice(c, a->status));
    buf_done(&text);
    return status;
}

/* ---- a request ------------------------------------------------------------------------------- */

static const char *type_of(const struct ctl_ask *ask)
{
    return strcmp(ask->method, "PATCH") == 0 ? "application/merge-patch+json" : "application/json";
}

struct sent {    /* the body */
    char *bytes; /* owned; NULL: none */
    size_t n;
};

/* False: no memory, and it stays as it is. */
static bool pack(struct sent *body)
{
    z_stream z = { .next_in = (const Bytef *)body->bytes, .avail_in = (uInt)body->n };
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + WITH_GZIP_HEAD, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    size_t room = deflateBound(&z, body->n);
    char *packed = mem_new(room);
    z.next_out = (Bytef *)packed;
    z.avail_out = (uInt)room;
    bool done = deflate(&z, Z_FINISH) == Z_STREAM_END;
    deflateEnd(&z);
    if (done)
        explicit_bzero(body->bytes, body->n);
    free(done ? body->bytes : packed);
    if (done)
        *body = (struct sent){ packed, room - z.avail_out };
    return done;
}

static struct curl_slist *headers_of(const struct ctl *c, const struct ctl_ask *ask,
                                     const char *key)
{
    struct curl_slist *list = NULL;
    list = transfer_header(list, "Accept", "application/json");
    if (ask->body)
        list = transfer_header(list, "Content-Type", type_of(ask));
    if (ask->packed)
        list = transfer_header(list, "Content-Encoding", "gzip");
    if (ask->if_match)
        list = transfer_header(list, "If-Match", ask->if_match);
    if (ask->cookie)
        list = transfer_header(list, "Cookie", ask->cookie);
    else if (c->token)
        list = transfer_bearer(list, c->token);
    if (ask->again && strcmp(ask->method, "POST") == 0)
        list = transfer_header(list, "Idempotency-Key", key);
    return list;
}

static void set_method(CURL *curl, const struct ctl_ask *ask, const struct sent *body)
{
    if (strcmp(ask->method, "GET") == 0) {
        curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
        return;
    }
    if (body->bytes || strcmp(ask->method, "POST") == 0) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->n);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->bytes ? body->bytes : "");
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, ask->method);
}

struct attempt {
    CURLcode code;
    int64_t retry_after_ms;
    struct transfer transfer;
};

static void read_body(struct ctl_answer *ret, const struct buf *body)
{
    json_decref(ret->body);
    ret->body = body->len ? json_loadb(body->data, body->len, 0, NULL) : NULL;
}

static struct attempt attempt(struct ctl *c, const struct ctl_ask *ask, const struct sent *body,
                              const char *key, struct ctl_answer *ret)
{
    struct attempt a = { .retry_after_ms = 0 };
    struct heard heard = { .answer = ret, .retry_after_s = 1 };
    struct buf got = BUF_INIT(CTL_ANSWER_MAX);
    CURL *curl = c->http->curl;
    struct curl_slist *list = headers_of(c, ask, key);
    transfer_set(c, ask->path, list);
    set_method(curl, ask, body);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &got);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &heard);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)ctl_left_ms(c, CTL_REQUEST_S * 1000) + 1);
    a.code = transfer_perform(c, &a.transfer);
    ret->status = (int)a.transfer.status;
    if (a.code == CURLE_OK)
        read_body(ret, &got);
    const json_t *exact = json_object_get(ret->body, "retryAfterMs");
    a.retry_after_ms =
        json_is_integer(exact) ? json_integer_value(exact) : heard.retry_after_s * 1000;
    curl_slist_free_all(list);
    buf_done(&got);
    return a;
}

/* Was it cut off, or is it "not now", and may it be sent once more? */
static bool once_more(const struct ctl *c, const struct ctl_ask *ask, const struct attempt *a,
                      int64_t *ret_pause_ms)
{
    *ret_pause_ms = PAUSE_MS;
    bool full = a->code == CURLE_OK && a->transfer.status == 429; /* nothing was done */
    if (!ask->again && (!full || ask->quiet || ask->cookie || !c->token))
        return false;
    bool cut = a->code == CURLE_RECV_ERROR || a->code == CURLE_SEND_ERROR ||
               a->code == CURLE_GOT_NOTHING || a->code == CURLE_PARTIAL_FILE;
    bool not_now = a->code == CURLE_OK && (a->transfer.status == 429 || a->transfer.status == 503);
    if (not_now) {
        if (a->retry_after_ms < 0 || a->retry_after_ms > RETRY_AFTER_MAX_MS)
            return false;
        *ret_pause_ms = a->retry_after_ms + 1;
    }
    return (cut || not_now) && ctl_left_ms(c, *ret_pause_ms) == *ret_pause_ms;
}

static enum ctl_exit judge(struct ctl *c, const struct ctl_ask *ask, const struct attempt *a,
                           const struct ctl_answer *ret)
{
    if (a->code != CURLE_OK)
        return ask->quiet ? CTL_UNREACHABLE : transfer_failed(c, a->code, &a->transfer);
    if (ret->status >= 200 && ret->status < 300 && (ret->body || ret->status == 204))
        return CTL_DONE;
    if (ask->quiet)
        return exit_of(ret->status);
    if (ask->refused && ret->body)
        return ask->refused(c, ret, exit_of(ret->status), ask->ctx);
    return refused(c, ask, ret);
}

static enum ctl_exit send_body(struct ctl *c, const struct ctl_ask *ask, struct sent *body,
                               struct ctl_answer *ret)
{
    char key[40];
    int64_t pause_ms;
    secret_token(key, sizeof(key), 16);
    if (ask->packed && !pack(body))
        return ctl_say(c, CTL_FAILED, "no memory");
    struct attempt a = attempt(c, ask, body, key, ret);
    for (int n = 1; n < TRIES && once_more(c, ask, &a, &pause_ms); n++) {
        (void)ctl_pause(c, pause_ms);
        a = attempt(c, ask, body, key, ret);
    }
    return judge(c, ask, &a, ret);
}

enum ctl_exit ctl_ask(struct ctl *c, const struct ctl_ask *ask, struct ctl_answer *ret)
{
    struct sent body = { ask->body ? json_dumps(ask->body, JSON_COMPACT) : NULL, 0 };
    enum ctl_exit status;
    memset(ret, 0, sizeof(*ret));
    body.n = body.bytes ? strlen(body.bytes) : 0;
    if (c->local) {
        const struct attempt a = { .code = CURLE_OK };
        c->local(c->local_arg, ask, body.bytes, ret);
        status = judge(c, ask, &a, ret);
    } else {
        status = send_body(c, ask, &body, ret);
    }
    if (body.bytes)
        explicit_bzero(body.bytes, body.n);
    free(body.bytes);
    return status;
}

enum ctl_exit ctl_get(struct ctl *c, const char *path, json_t **ret)
{
    struct ctl_answer a;
    struct ctl_ask ask = { .method = "GET", .path = path, .again = true };
    enum ctl_exit status = ctl_ask(c, &ask, &a);
    if (status == CTL_DONE)
        *ret = json_incref(a.body);
    ctl_answer_done(&a);
    return status;
}
