/* SPDX-License-Identifier: Apache-2.0 */
#include "support_center.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/mem.h"

static const char yes[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                          "Content-Length: 38\r\nConnection: close\r\n\r\n"
                          "{\"code\":200,\"msg\":null,\"content\":null}";

static const char no[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                         "Content-Length: 38\r\nConnection: close\r\n\r\n"
                         "{\"code\":500,\"msg\":null,\"content\":null}";

/* All of a message: head and as many bytes as it announces; to be freed. */
static char *read_message(int fd)
{
    char *text = mem_new(1);
    size_t len = 0, want = 0;
    for (;;) {
        text = mem_resize(text, len + 65537);
        ssize_t n = read(fd, text + len, 65536);
        if (n <= 0)
            break;
        len += (size_t)n;
        text[len] = '\0';
        const char *body = strstr(text, "\r\n\r\n");
        const char *length = strcasestr(text, "content-length:");
        if (!body)
            continue;
        want = (size_t)(body + 4 - text) + (length ? strtoul(length + 15, NULL, 10) : 0);
        if (len >= want)
            break;
    }
    text[len] = '\0';
    return text;
}

static void remember(struct center *c, const char *message)
{
    const char *body = strstr(message, "\r\n\r\n");
    if (!strstr(message, "/api/callback") || !body)
        return;
    pthread_mutex_lock(&c->lock);
    char *both = mem_join(c->said, body + 4);
    free(c->said);
    c->said = both;
    pthread_cond_broadcast(&c->came);
    pthread_mutex_unlock(&c->lock);
}

static void *serve(void *arg)
{
    struct center *c = arg;
    for (int fd; (fd = accept(c->fd, NULL, NULL)) >= 0;) {
        char *message = read_message(fd);
        bool refused = c->refuses && strstr(message, "/api/callback");
        if (!refused)
            remember(c, message);
        free(message);
        ssize_t n = send(fd, refused ? no : yes, sizeof(yes) - 1, MSG_NOSIGNAL);
        (void)n;
        close(fd);
    }
    return NULL;
}

void center_listen(struct center *c)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    *c = (struct center){ .said = mem_dup("") };
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->came, NULL);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(c->fd, (struct sockaddr *)&at, len) || listen(c->fd, 64) ||
        getsockname(c->fd, (struct sockaddr *)&at, &len))
        abort();
    snprintf(c->url, sizeof(c->url), "http://127.0.0.1:%u", ntohs(at.sin_port));
}

void center_serve(struct center *c)
{
    pthread_create(&c->thread, NULL, serve, c);
}

void center_start(struct center *c)
{
    center_listen(c);
    center_serve(c);
}

void center_stop(struct center *c)
{
    shutdown(c->fd, SHUT_RDWR);
    pthread_join(c->thread, NULL);
    close(c->fd);
    free(c->said);
    pthread_cond_destroy(&c->came);
    pthread_mutex_destroy(&c->lock);
}

static const char *find(const struct center *c, int64_t log_id)
{
    char mark[64];
    snprintf(mark, sizeof(mark), "\"logId\":%lld,", (long long)log_id);
    return strstr(c->said, mark);
}

char *center_result(struct center *c, int64_t log_id)
{
    const char *at;
    pthread_mutex_lock(&c->lock);
    while (!(at = find(c, log_id)))
        pthread_cond_wait(&c->came, &c->lock);
    const char *end = strchr(at, '}');
    end = end ? strchr(end + 1, '}') : NULL;
    char *text = end ? mem_dupn(at, (size_t)(end - at)) : mem_dup(at);
    pthread_mutex_unlock(&c->lock);
    return text;
}

int center_count(struct center *c, int64_t log_id)
{
    char mark[64];
    int n = 0;
    snprintf(mark, sizeof(mark), "\"logId\":%lld,", (long long)log_id);
    pthread_mutex_lock(&c->lock);
    for (const char *at = c->said; (at = strstr(at, mark)); at++)
        n++;
    pthread_mutex_unlock(&c->lock);
    return n;
}

/* --- calls --- */

static int connect_to(const char *address)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    at.sin_port = htons((uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0)
        return fd;
    close(fd);
    return -1;
}

char *center_post(const char *address, const char *action, const char *headers, const char *body)
{
    char head[512];
    int fd = connect_to(address);
    if (fd < 0)
        return mem_dup("");
    int n = snprintf(head, sizeof(head),
                     "POST /%s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %zu\r\n\r\n", action,
                     headers, strlen(body));
    ssize_t sent = send(fd, head, (size_t)n, MSG_NOSIGNAL | MSG_MORE);
    sent = send(fd, body, strlen(body), MSG_NOSIGNAL);
    (void)sent;
    char *message = read_message(fd);
    close(fd);
    const char *reply = strstr(message, "\r\n\r\n");
    char *ret = mem_dup(reply ? reply + 4 : "");
    free(message);
    return ret;
}

bool center_run(const char *address, int64_t job, int64_t log, const char *handler,
                const char *params, int timeout_s)
{
    struct buf body = BUF_INIT(1 << 20);
    buf_printf(&body,
               "{\"jobId\":%lld,\"logId\":%lld,\"logDateTime\":1700000000000,\"glueType\":\"BEAN\","
               "\"executorHandler\":\"%s\",\"executorParams\":\"%s\",\"executorTimeout\":%d}",
               (long long)job, (long long)log, handler, params, timeout_s);
    char *reply = center_post(address, "run",
                              "Peal-Moment: 1700000000123\r\nPeal-Attempt: 2\r\n"
                              "traceparent: " CENTER_TRACE "\r\n",
                              buf_str(&body));
    buf_done(&body);
    bool ok = strstr(reply, "\"code\":200");
    free(reply);
    return ok;
}

void center_kill(const char *address, int64_t job)
{
    char body[64];
    snprintf(body, sizeof(body), "{\"jobId\":%lld}", (long long)job);
    free(center_post(address, "kill", "", body));
}
