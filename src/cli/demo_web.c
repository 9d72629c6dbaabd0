/* SPDX-License-Identifier: Apache-2.0 */
/* A blocking socket with a deadline: poll, then read or write. Answers are read by the same parser
 * as the server's requests (net/http.h). */
#include "cli/demo_web.h"
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "base/clock.h"
#include "net/http.h"

enum { CALL_MS = 5000, SLICE_MS = 100, BODY_MAX = 8 << 20 };

void demo_web_field(struct buf *form, const char *name, const char *value)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (form->len)
        buf_char(form, '&');
    buf_text(form, name);
    buf_char(form, '=');
    for (; *value; value++) {
        if (strchr(plain, *value))
            buf_char(form, *value);
        else
            buf_printf(form, "%%%02X", (unsigned)(unsigned char)*value);
    }
}

void demo_web_field_i64(struct buf *form, const char *name, int64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)value);
    demo_web_field(form, name, text);
}

void demo_web_free(struct json_t *value)
{
    json_decref(value);
}

/* ---- one exchange -----------------------------------------------------------------------------
 */

static enum err connect_to(const struct demo_web *w, int *ret_fd, struct why *why)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons(w->port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval slice = { 0, SLICE_MS * 1000 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof(slice)) == 0 &&
        connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0) {
        *ret_fd = fd;
        return OK;
    }
    why_set(why, "cannot connect to 127.0.0.1:%u: %s", w->port, strerror(errno));
    if (fd >= 0)
        close(fd);
    return ERR_NET;
}

static enum err send_all(int fd, const struct buf *b, struct why *why)
{
    for (size_t at = 0; at < b->len;) {
        ssize_t n = send(fd, b->data + at, b->len - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            why_set(why, "the center closed the connection: %s", strerror(errno));
            return ERR_NET;
        }
        at += (size_t)n;
    }
    return OK;
}

static enum err receive(const struct demo_web *w, int fd, struct buf *in, struct http_reader *r,
                        struct why *why)
{
    int64_t until = clock_boot_ms() + CALL_MS;
    http_begin(r, HTTP_RESPONSE, 0, BODY_MAX);
    for (enum http_event event = HTTP_MORE; event != HTTP_DONE;) {
        char *room = buf_room(in, 16384);
        ssize_t n = room ? recv(fd, room, 16384, 0) : 0;
        if (n > 0)
            in->len += (size_t)n;
        bool waits = n < 0 && (errno == EAGAIN || errno == EINTR);
        if (*w->stop)
            return ERR_STOPPING;
        if (n < 0 && !waits) {
            why_set(why, "no answer from the center: %s", strerror(errno));
            return ERR_NET;
        }
        if (clock_boot_ms() > until) {
            why_set(why, "no answer from the center within %d s", CALL_MS / 1000);
            return ERR_TIMEOUT;
        }
        event = waits ? HTTP_MORE : n == 0 ? http_eof(r) : http_read(r, in);
        if (event == HTTP_BAD) {
            why_set(why, "the answer cannot be read: %s", r->why ? r->why : "not HTTP");
            return ERR_NET;
        }
    }
    return OK;
}

/* form NULL: GET. On OK the answer is in in, read by r. */
static enum err exchange(const struct demo_web *w, const char *path, const struct buf *form,
                         struct buf *in, struct http_reader *r, struct why *why)
{
    struct buf out = BUF_INIT(1 << 20);
    int fd;
    enum err err = connect_to(w, &fd, why);
    if (err)
        return err;
    buf_printf(&out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n",
               form ? "POST" : "GET", path, w->port);
    if (w->cookie[0])
        buf_printf(&out, "Cookie: %s\r\n", w->cookie);
    if (form)
        buf_printf(&out,
                   "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %zu\r\n",
                   form->len);
    buf_text(&out, "\r\n");
    if (form)
        buf_add(&out, buf_str(form), form->len);
    err = send_all(fd, &out, why);
    if (!err)
        err = receive(w, fd, in, r, why);
    close(fd);
    buf_done(&out);
    return err;
}

enum err demo_web_get(struct demo_web *w, const char *path, struct buf *ret, struct why *why)
{
    struct buf in = BUF_INIT(BODY_MAX);
    struct http_reader r;
    enum err err = exchange(w, path, NULL, &in, &r, why);
    if (!err)
        buf_slice(ret, http_body(&r, &in));
    if (!err && r.status != 200) {
        why_set(why, "%s: HTTP %d", path, r.status);
        err = ERR_INVALID;
    }
    buf_done(&in);
    return err;
}

static enum err data_of(const char *path, int status, struct slice body, struct json_t **ret,
                        struct why *why)
{
    json_t *reply = json_loadb(body.n ? body.p : "", body.n, 0, NULL);
    json_int_t code = json_integer_value(json_object_get(reply, "code"));
    enum err err = OK;
    if (status != 200 || code != 200) {
        const char *msg = json_string_value(json_object_get(reply, "msg"));
        why_set(why, "%s: %s (HTTP %d, code %lld)", path, msg ? msg : "refused", status,
                (long long)code);
        err = ERR_INVALID;
    } else {
        json_t *data = json_object_get(reply, "data");
        *ret = data && !json_is_null(data) ? json_incref(data) : NULL;
    }
    json_decref(reply);
    return err;
}

static enum err post(struct demo_web *w, const char *path, const struct buf *form, struct buf *in,
                     struct http_reader *r, struct json_t **ret, struct why *why)
{
    enum err err = exchange(w, path, form, in, r, why);
    return err ? err : data_of(path, r->status, http_body(r, in), ret, why);
}

enum err demo_web_post(struct demo_web *w, const char *path, struct buf *form, struct json_t **ret,
                       struct why *why)
{
    struct buf in = BUF_INIT(BODY_MAX);
    struct http_reader r;
    enum err err = post(w, path, form, &in, &r, ret, why);
    buf_done(&in);
    return err;
}

enum err demo_web_login(struct demo_web *w, const char *user, const char *password, struct why *why)
{
    struct buf form = BUF_INIT(4096), in = BUF_INIT(BODY_MAX);
    struct http_reader r;
    json_t *data = NULL;
    demo_web_field(&form, "userName", user);
    demo_web_field(&form, "password", password);
    enum err err = post(w, "/auth/doLogin", &form, &in, &r, &data, why);
    if (!err) {
        struct slice cookie = http_header(&r, &in, "Set-Cookie");
        const char *end = cookie.n ? memchr(cookie.p, ';', cookie.n) : NULL;
        size_t n = end ? (size_t)(end - cookie.p) : cookie.n;
        if (n == 0 || n >= sizeof(w->cookie)) {
            why_set(why, "/auth/doLogin: the answer has no usable cookie");
            err = ERR_INVALID;
        } else {
            text_copy(w->cookie, sizeof(w->cookie), slice_of(cookie.p, n));
        }
    }
    json_decref(data);
    buf_done(&form);
    buf_done(&in);
    return err;
}
