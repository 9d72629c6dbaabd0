/* SPDX-License-Identifier: Apache-2.0 */
/* http.c - the address is looked at when the connection is about to be made, after the name was
 * resolved: there is no second look-up that could say something else. */
#include "alarm/http.h"
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "alarm/targets.h"

#define CONNECT_MS 10000

/* ---- addresses ------------------------------------------------------------------------------- */

enum err http_url_check(const char *name, const char *url, struct why *why)
{
    char *scheme = NULL, *host = NULL, *user = NULL;
    CURLU *u = curl_url();
    bool good = u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
                curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) &&
                curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                curl_url_get(u, CURLUPART_USER, &user, 0) != CURLUE_OK;
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_url_cleanup(u);
    if (good)
        return OK;
    why_set(why, "%s must be http://HOST/… or https://HOST/…, without a user", name);
    return ERR_INVALID;
}

/* A part of a URL, NULL where it has none; curl_free. */
static char *part(const char *url, CURLUPart which)
{
    char *text = NULL;
    CURLU *u = curl_url();
    if (u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK)
        (void)!curl_url_get(u, which, &text, 0);
    curl_url_cleanup(u);
    return text;
}

char *http_url_target(const char *url)
{
    struct buf b = BUF_INIT(4096);
    char *scheme = part(url, CURLUPART_SCHEME), *host = part(url, CURLUPART_HOST);
    char *port = part(url, CURLUPART_PORT);
    if (scheme && host)
        buf_printf(&b, "%s://%s%s%s", scheme, host, port ? ":" : "", port ? port : "");
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    return buf_take(&b);
}

/* ---- the connection -------------------------------------------------------------------------- */

struct call {
    const struct http_call *c;
    struct buf *answer;
    char *host; /* as the URL names it */
    bool refused;
};

static bool allowed(const struct call *c, const struct sockaddr *a)
{
    return c->c->private_too || targets_allow(c->c->targets, c->host ? c->host : "", a);
}

static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct call *c = arg;
    if (purpose != CURLSOCKTYPE_IPCXN || !allowed(c, &a->addr)) {
        c->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static size_t take(char *p, size_t size, size_t n, void *arg)
{
    struct buf *b = ((struct call *)arg)->answer;
    size_t left = b ? HTTP_ANSWER_MAX - b->len : 0;
    if (b)
        buf_add(b, p, size * n < left ? size * n : left);
    return size * n;
}

static int look(void *stop, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return *(const _Atomic bool *)stop;
}

static void connection(CURL *curl, struct call *call)
{
    const struct http_call *c = call->c;
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* none of the environment's either */
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    if (c->ca)
        curl_easy_setopt(curl, CURLOPT_CAINFO, c->ca);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, call);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)c->try_ms);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    /* else the end of a try waits for the end of its look-up, which nothing can cut short */
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, (void *)c->stop);
}

static void request(CURL *curl, struct call *call)
{
    const struct http_call *c = call->c;
    curl_easy_setopt(curl, CURLOPT_URL, c->url);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "peal/" PEAL_VERSION);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)c->body.n);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, c->body.n ? c->body.p : "");
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, c->method);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, call);
}

static struct curl_slist *headers(const char *lines)
{
    struct curl_slist *list = NULL, *more;
    struct slice rest = slice_text(lines), one;
    char line[4200];
    while (slice_cut(&rest, '\n', &one)) {
        text_copy(line, sizeof(line), one);
        more = curl_slist_append(list, line);
        list = more ? more : list;
    }
    more = curl_slist_append(list, "Expect:"); /* no waiting for a 100 */
    return more ? more : list;
}

/* What the receiver says of this message, for good; other refusals may be mended within the hour.
 */
static bool final(long status)
{
    return status == 400 || status == 410 || status == 413 || status == 415 || status == 422;
}

static enum delivery_outcome perform(CURL *curl, const struct call *c, struct why *said)
{
    char error[CURL_ERROR_SIZE] = "";
    long status = 0;
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    if (c->refused && code != CURLE_OK) {
        why_set(said, "%s", c->c->refused);
        return DELIVERY_NEVER;
    }
    if (code != CURLE_OK) {
        why_set(said, "%s", error[0] ? error : curl_easy_strerror(code));
        return DELIVERY_AGAIN;
    }
    why_set(said, "HTTP %ld", status);
    if (status >= 200 && status <= 299)
        return DELIVERY_SENT;
    return final(status) ? DELIVERY_NEVER : DELIVERY_AGAIN;
}

enum delivery_outcome http_send(const struct http_call *c, struct buf *answer, struct why *said)
{
    struct call call = { .c = c, .answer = answer };
    enum delivery_outcome outcome = DELIVERY_AGAIN;
    CURL *curl = curl_easy_init();
    if (curl) {
        struct curl_slist *list = headers(c->headers);
        call.host = part(c->url, CURLUPART_HOST);
        connection(curl, &call);
        request(curl, &call);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
        outcome = perform(curl, &call, said);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, NULL);
        curl_slist_free_all(list);
        curl_free(call.host);
    } else {
        why_set(said, "%s", err_text(ERR_NOMEM));
    }
    curl_easy_cleanup(curl);
    return outcome;
}
