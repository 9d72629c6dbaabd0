/* SPDX-License-Identifier: Apache-2.0 */
/* text/event-stream, line by line. A line is bounded: an event has at most as many bytes as a page
 * of a log. */
#include "cli/ctl/transfer.h"
#include <string.h>

enum { LINE_MAX_BYTES = 8 << 20 };

struct stream {
    struct buf line; /* not yet whole */
    struct buf data; /* of the event */
    char event[32];
    ctl_event_fn *fn;
    void *ctx;
    bool enough, bye, spoke;
};

static bool begins(struct slice line, const char *name, struct slice *ret)
{
    size_t n = strlen(name);
    if (line.n < n + 1 || memcmp(line.p, name, n) != 0 || line.p[n] != ':')
        return false;
    size_t skip = n + 1 < line.n && line.p[n + 1] == ' ' ? n + 2 : n + 1;
    *ret = slice_of(line.p + skip, line.n - skip);
    return true;
}

static void dispatch(struct stream *s)
{
    json_t *data = s->data.len ? json_loadb(s->data.data, s->data.len, 0, NULL) : NULL;
    s->spoke = true;
    if (strcmp(s->event, "bye") == 0)
        s->bye = true;
    else if (data && !s->fn(s->ctx, s->event, data))
        s->enough = true;
    json_decref(data);
    buf_reset(&s->data);
    s->event[0] = '\0';
}

static void take_line(struct stream *s, struct slice line)
{
    struct slice v;
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    if (!line.n && (s->data.len || s->event[0]))
        dispatch(s);
    else if (begins(line, "event", &v))
        text_copy(s->event, sizeof(s->event), v);
    else if (begins(line, "data", &v))
        buf_slice(&s->data, v);
}

static size_t on_bytes(char *p, size_t size, size_t n, void *arg)
{
    struct stream *s = arg;
    struct slice rest = slice_of(p, size * n);
    while (rest.n && !s->enough && !s->bye) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t part = end ? (size_t)(end - rest.p) : rest.n;
        buf_add(&s->line, rest.p, part);
        if (s->line.failed || s->data.failed)
            return 0;
        rest = slice_of(rest.p + part, rest.n - part);
        if (!end)
            break;
        rest = slice_of(rest.p + 1, rest.n - 1);
        take_line(s, slice_of(buf_str(&s->line), s->line.len));
        buf_reset(&s->line);
    }
    return s->enough || s->bye ? 0 : size * n;
}

static CURLcode follow(struct ctl *c, const char *path, int64_t max_ms, struct stream *s,
                       struct transfer *t)
{
    CURL *curl = c->http->curl;
    struct curl_slist *list = transfer_header(NULL, "Accept", "text/event-stream");
    if (c->token)
        list = transfer_bearer(list, c->token);
    transfer_set(c, path, list);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, s);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)ctl_left_ms(c, max_ms) + 1);
    CURLcode code = transfer_perform(c, t);
    curl_slist_free_all(list);
    return code;
}

enum ctl_exit ctl_stream(struct ctl *c, const char *path, int64_t max_ms, ctl_event_fn *fn,
                         void *ctx, bool *ret_more)
{
    struct stream s = { .fn = fn, .ctx = ctx };
    struct transfer t;
    buf_init(&s.line, LINE_MAX_BYTES);
    buf_init(&s.data, LINE_MAX_BYTES);
    CURLcode code = follow(c, path, max_ms, &s, &t);
    bool too_long = s.line.failed || s.data.failed;
    buf_done(&s.line);
    buf_done(&s.data);
    *ret_more = false;
    if (s.enough)
        return CTL_DONE;
    if (c->deadline_ms && !ctl_left_ms(c, 1))
        return ctl_say(c, CTL_TIMED_OUT, "--timeout has passed");
    if (too_long)
        return ctl_say(c, CTL_FAILED, "the center sent a line of over %d MiB",
                       LINE_MAX_BYTES >> 20);
    if (s.bye || s.spoke || code == CURLE_OK || (code == CURLE_OPERATION_TIMEDOUT && t.status)) {
        *ret_more = true;
        return CTL_DONE;
    }
    if (code == CURLE_HTTP_RETURNED_ERROR) { /* a plain request says why */
        *ret_more = true;
        return CTL_DONE;
    }
    return transfer_failed(c, code, &t);
}
