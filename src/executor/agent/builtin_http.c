/* SPDX-License-Identifier: Apache-2.0 */
/* httpJobHandler: one request, by libcurl. The URL is read by the parser that the request is made
 * with, so the host that is checked is the host that is asked. Addresses are checked where they are
 * used: when libcurl is about to connect to one, after the name was resolved; there is no second
 * look-up that could say something else. Redirects are followed by hand, each checked as the first.
 */
#include "executor/agent/builtin_http.h"
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/address.h"
#include "base/clock.h"
#include "base/mem.h"
#include "executor/agent/builtin.h"
#include "peal/executor.h"

enum {
    HOPS_MAX = 5,
    SHOWN_MAX = 1 << 20, /* bytes of the answer in the log */
    CONNECT_MS = 10000,
    TURN_MS = 1000,
};

struct request {
    struct peal_run *run;
    const struct builtin_config *config;
    struct http_param param;
    CURL *curl;
    CURLM *multi;
    int64_t end_ms; /* boot: when its time is over */
    size_t shown;
    bool refused, cut;
    char last; /* byte of the answer that is in the log */
    char error[CURL_ERROR_SIZE];
};

static int fail(struct peal_run *run, const char *text)
{
    peal_result(run, 500, "httpJobHandler: %s", text);
    return 0;
}

/* --- what is allowed --- */

static const char *refuse_parts(const struct builtin_config *c, const char *scheme,
                                const char *host, const char *port, bool user)
{
    int number = 0;
    if (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)
        return "url: must begin with http:// or https://";
    if (user)
        return "url: must not hold a user or password; there is auth";
    if (!parse_int(slice_text(port), &number) || !http_host_allowed(c->http_hosts, host, number))
        return "url: the host is not in this executor's peal.executor.http.hosts";
    return NULL;
}

/* NULL, or why not. */
static const char *refuse_url(const struct builtin_config *c, const char *url)
{
    char *scheme = NULL, *host = NULL, *port = NULL, *user = NULL;
    const char *why = "url: cannot be read";
    CURLU *u = curl_url();
    if (!u)
        return "out of memory";
    if (curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK) {
        bool has_user = curl_url_get(u, CURLUPART_USER, &user, 0) == CURLUE_OK ||
                        curl_url_get(u, CURLUPART_PASSWORD, &user, 0) == CURLUE_OK;
        why = refuse_parts(c, scheme, host, port, has_user);
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_free(user);
    curl_url_cleanup(u);
    return why;
}

static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct request *q = arg;
    if (purpose != CURLSOCKTYPE_IPCXN || (!q->config->http_private && address_private(&a->addr))) {
        q->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* --- the answer --- */

static size_t take_body(char *p, size_t size, size_t n, void *arg)
{
    struct request *q = arg;
    size_t room = SHOWN_MAX - q->shown, keep = n * size < room ? n * size : room;
    if (keep) {
        peal_log_raw(q->run, p, keep);
        q->last = p[keep - 1];
    }
    q->shown += keep;
    q->cut |= keep < n * size;
    return n * size;
}

static void end_body(struct request *q)
{
    if (q->shown && q->last != '\n')
        peal_log_raw(q->run, "\n", 1);
    if (q->cut)
        peal_log(q->run, "the answer is longer than %d bytes: the rest is not shown", SHOWN_MAX);
    q->shown = 0;
    q->cut = false;
}

/* --- the request --- */

/* Any other header may hold a key: X-Api-Key, X-Auth-Token, and names that only their owner knows.
 */
static bool is_harmless(const char *header)
{
    static const char *const names[] = { "Accept:", "Accept-Language:", "Content-Type:",
                                         "User-Agent:" };
    for (size_t i = 0; i < countof(names); i++)
        if (strncasecmp(header, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static struct curl_slist *header_list(const struct http_param *p, bool secrets)
{
    struct curl_slist *list = NULL;
    for (int i = 0; i < p->nheaders; i++) {
        struct curl_slist *more =
            !secrets && !is_harmless(p->headers[i]) ? list : curl_slist_append(list, p->headers[i]);
        list = more ? more : list;
    }
    struct curl_slist *more = curl_slist_append(list, "Expect:"); /* no waiting for a 100 */
    return more ? more : list;
}

static void set_method(struct request *q)
{
    const struct http_param *p = &q->param;
    bool head = strcmp(p->method, "HEAD") == 0, get = strcmp(p->method, "GET") == 0;
    curl_easy_setopt(q->curl, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(q->curl, CURLOPT_NOBODY, head ? 1L : 0L);
    if (p->data.len && !head && !get) {
        curl_easy_setopt(q->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)p->data.len);
        curl_easy_setopt(q->curl, CURLOPT_POSTFIELDS, p->data.data);
    } else if (strcmp(p->method, "POST") == 0) {
        curl_easy_setopt(q->curl, CURLOPT_POSTFIELDSIZE, 0L);
        curl_easy_setopt(q->curl, CURLOPT_POSTFIELDS, "");
    }
    curl_easy_setopt(q->curl, CURLOPT_CUSTOMREQUEST, head ? NULL : p->method);
}

static void set_up(struct request *q)
{
    curl_easy_setopt(q->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(q->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(q->curl, CURLOPT_PROXY, ""); /* none of the environment's either */
    curl_easy_setopt(q->curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(q->curl, CURLOPT_USERAGENT, "peal/" PEAL_VERSION);
    /* else the end of a request waits for the end of its look-up, which nothing can cut short */
    curl_easy_setopt(q->curl, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(q->curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(q->curl, CURLOPT_OPENSOCKETDATA, q);
    curl_easy_setopt(q->curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(q->curl, CURLOPT_WRITEDATA, q);
    curl_easy_setopt(q->curl, CURLOPT_ERRORBUFFER, q->error);
}

/* Until it is done or the run has to end, which is CURLE_ABORTED_BY_CALLBACK. */
static CURLcode transfer(struct request *q)
{
    CURLcode code = CURLE_ABORTED_BY_CALLBACK;
    int going = 1, left;
    curl_multi_add_handle(q->multi, q->curl);
    while (going && peal_stopping(q->run) == PEAL_GOES_ON) {
        struct curl_waitfd stop = { .fd = peal_stop_fd(q->run), .events = CURL_WAIT_POLLIN };
        if (curl_multi_perform(q->multi, &going) != CURLM_OK)
            break;
        if (going)
            curl_multi_poll(q->multi, &stop, 1, TURN_MS, NULL);
        if (stop.revents && peal_stopping(q->run) == PEAL_GOES_ON)
            peal_wait(q->run, 1); /* rung for the run before this one: that clears it */
    }
    for (CURLMsg *m; (m = curl_multi_info_read(q->multi, &left));)
        if (m->msg == CURLMSG_DONE)
            code = m->data.result;
    curl_multi_remove_handle(q->multi, q->curl);
    return code;
}

/* The timeout is for all of it, redirects included. */
static bool set_time(struct request *q)
{
    int64_t left = q->end_ms - clock_boot_ms();
    if (left <= 0)
        return false;
    curl_easy_setopt(q->curl, CURLOPT_TIMEOUT_MS, (long)left);
    curl_easy_setopt(q->curl, CURLOPT_CONNECTTIMEOUT_MS,
                     left < CONNECT_MS ? (long)left : (long)CONNECT_MS);
    return true;
}

static CURLcode ask(struct request *q, const char *url, bool secrets, long *status)
{
    if (!set_time(q))
        return CURLE_OPERATION_TIMEDOUT;
    struct curl_slist *headers = header_list(&q->param, secrets);
    q->refused = false;
    q->error[0] = '\0';
    curl_easy_setopt(q->curl, CURLOPT_URL, url);
    curl_easy_setopt(q->curl, CURLOPT_HTTPHEADER, headers);
    set_method(q);
    peal_log(q->run, "%s %s", q->param.method, url);
    CURLcode code = transfer(q);
    end_body(q);
    curl_easy_setopt(q->curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    curl_easy_getinfo(q->curl, CURLINFO_RESPONSE_CODE, status);
    if (code == CURLE_OK)
        peal_log(q->run, "HTTP %ld", *status);
    return code;
}

/* --- redirects --- */

/* Scheme, host and port, as a text to compare; owned by the caller; NULL: cannot be read. */
static char *origin(const char *url)
{
    char *text = NULL;
    CURLU *u = curl_url();
    if (u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_set(u, CURLUPART_PATH, "/", 0) == CURLUE_OK &&
        curl_url_set(u, CURLUPART_QUERY, NULL, 0) == CURLUE_OK &&
        curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK)
        curl_url_get(u, CURLUPART_URL, &text, CURLU_DEFAULT_PORT);
    curl_url_cleanup(u);
    return text;
}

static bool same_origin(const char *a, const char *b)
{
    char *x = origin(a), *y = origin(b);
    bool same = x && y && strcasecmp(x, y) == 0;
    curl_free(x);
    curl_free(y);
    return same;
}

/* As browsers do: after 303 it is a GET, after 301 and 302 a POST becomes one. */
static void change_method(struct http_param *p, long status)
{
    bool head = strcmp(p->method, "HEAD") == 0;
    if ((status == 303 && !head) || (status < 303 && strcmp(p->method, "POST") == 0))
        p->method = "GET";
}

static char *redirect_of(struct request *q, long status)
{
    char *to = NULL;
    if (status != 301 && status != 302 && status != 303 && status != 307 && status != 308)
        return NULL;
    curl_easy_getinfo(q->curl, CURLINFO_REDIRECT_URL, &to);
    return to ? mem_dup(to) : NULL;
}

static void tell(struct request *q, CURLcode code, long status)
{
    if (peal_stopping(q->run) != PEAL_GOES_ON)
        return; /* the reason is the result */
    if (q->refused && code != CURLE_OK)
        fail(q->run, "the host's address is not a public one, and peal.executor.http.private is "
                     "not set");
    else if (code == CURLE_OPERATION_TIMEDOUT)
        peal_result(q->run, 502, "httpJobHandler: no answer within %lld ms",
                    (long long)q->param.timeout_ms);
    else if (code != CURLE_OK)
        fail(q->run, q->error[0] ? q->error : curl_easy_strerror(code));
    else if (status < 200 || status > 299)
        peal_result(q->run, 500, "httpJobHandler: HTTP %ld", status);
    else
        peal_result(q->run, 200, "HTTP %ld", status);
}

static void follow(struct request *q)
{
    char *url = mem_dup(q->param.url);
    bool secrets = true;
    q->end_ms = clock_boot_ms() + q->param.timeout_ms;
    for (int hop = 0;; hop++) {
        long status = 0;
        const char *why = refuse_url(q->config, url);
        if (why) {
            fail(q->run, why);
            break;
        }
        CURLcode code = ask(q, url, secrets, &status);
        char *to = code == CURLE_OK ? redirect_of(q, status) : NULL;
        if (!to) {
            tell(q, code, status);
            break;
        }
        secrets = secrets && same_origin(url, to);
        free(url);
        url = to;
        change_method(&q->param, status);
        if (hop == HOPS_MAX) {
            fail(q->run, "more than 5 redirects");
            break;
        }
    }
    free(url);
}

int builtin_http(struct peal_run *run)
{
    struct why why = { { 0 } };
    struct request q = { .run = run, .config = peal_arg(run) };
    enum err err =
        http_param_parse(slice_of(peal_param(run), peal_param_size(run)), &q.param, &why);
    if (err) {
        peal_result(run, 500, "%s", why.text[0] ? why.text : err_text(err));
        return 0;
    }
    if (q.param.note.text[0])
        peal_log(run, "%s", q.param.note.text);
    q.curl = curl_easy_init();
    q.multi = curl_multi_init();
    if (q.curl && q.multi) {
        set_up(&q);
        follow(&q);
    } else {
        fail(run, "out of memory");
    }
    curl_easy_cleanup(q.curl);
    curl_multi_cleanup(q.multi);
    http_param_done(&q.param);
    return 0;
}
