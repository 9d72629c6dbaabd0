/* SPDX-License-Identifier: Apache-2.0 */
/* What one HTTP round trip costs each side: server and client in two threads on loopback, a 493
 * byte POST, 64 kept-alive connections, CPU from getrusage(RUSAGE_THREAD). The budget is about 6 us
 * a side; a rate means little on a shared machine, CPU per request is what to compare.
 *
 *   bench_http [seconds [connections]] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "base/clock.h"
#include "base/mem.h"
#include "net/httpc.h"
#include "net/httpd.h"

enum { BODY_SIZE = 493 };

struct server {
    struct loop *l;
    struct httpd *h;
    double cpu_us;
};

struct client {
    struct loop *l;
    struct httpc_peer *peer;
    struct loop_timer end;
    bool ending;
    int open;
    uint64_t answered, failed;
    struct httpc_post post;
};

struct slot {
    struct httpc_call call;
    struct client *c;
};

static double thread_cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_THREAD, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void on_request(struct httpd_request *q, void *arg)
{
    (void)arg;
    httpd_reply(q, 200, "application/json", slice_of("", 0),
                slice_of("{\"code\":200,\"msg\":null}......", 29));
}

static void *server_thread(void *arg)
{
    struct server *s = arg;
    double before = thread_cpu_us();
    loop_run(s->l);
    s->cpu_us = thread_cpu_us() - before;
    return NULL;
}

static void next(struct slot *s)
{
    if (s->c->ending || httpc_call(s->c->peer, &s->c->post, &s->call)) {
        if (--s->c->open == 0)
            loop_stop(s->c->l);
    }
}

static void on_done(struct httpc_call *call)
{
    struct slot *s = container_of(call, struct slot, call);
    if (call->outcome == HTTPC_ANSWERED)
        s->c->answered++;
    else
        s->c->failed++;
    next(s);
}

static void on_end(struct loop_timer *t)
{
    container_of(t, struct client, end)->ending = true;
}

static double run_client(struct client *c, int connections, int seconds)
{
    struct slot *slots = mem_new((size_t)connections * sizeof(*slots));
    double before = thread_cpu_us();
    c->open = connections;
    loop_timer_set(c->l, &c->end, clock_boot_ms() + seconds * 1000);
    for (int i = 0; i < connections; i++) {
        slots[i] = (struct slot){ .call.done = on_done, .c = c };
        next(&slots[i]);
    }
    loop_run(c->l);
    double cpu = thread_cpu_us() - before;
    free(slots);
    return cpu;
}

int main(int argc, char **argv)
{
    int seconds = 3, connections = 64;
    if ((argc > 1 && !parse_int(slice_text(argv[1]), &seconds)) ||
        (argc > 2 && !parse_int(slice_text(argv[2]), &connections)) || seconds < 1 ||
        connections < 1) {
        fprintf(stderr, "usage: bench_http [seconds [connections]]\n");
        return 2;
    }
    struct httpd_config sc = { .on_request = on_request };
    struct server s = { .l = loop_new() };
    struct addr_listen at = { "127.0.0.1", 0 };
    struct why why = { "" };
    s.h = httpd_new(s.l, &sc);
    if (httpd_listen(s.h, &at, &why)) {
        fprintf(stderr, "%s\n", why.text);
        return 1;
    }
    pthread_t thread;
    pthread_create(&thread, NULL, server_thread, &s);

    char address[64], body[BODY_SIZE];
    memset(body, 'x', sizeof(body));
    snprintf(address, sizeof(address), "127.0.0.1:%u", httpd_port(s.h));
    struct slice piece = slice_of(body, sizeof(body));
    struct client c = { .l = loop_new(), .end.fire = on_end };
    c.post =
        (struct httpc_post){ .action = "run", .pieces = &piece, .npieces = 1, .timeout_ms = 3000 };
    struct httpc_config cc = { .token = "default_token", .connections = connections };
    struct httpc *client;
    if (httpc_new(c.l, &cc, &client, &why) ||
        httpc_peer_new(client, slice_text(address), &c.peer, &why)) {
        fprintf(stderr, "%s\n", why.text);
        return 1;
    }
    int64_t start = clock_boot_us();
    double client_us = run_client(&c, connections, seconds);
    double wall_s = (double)(clock_boot_us() - start) / 1e6;
    loop_stop(s.l);
    pthread_join(thread, NULL);

    double n = c.answered ? (double)c.answered : 1;
    printf("http: %d connections, %.0f requests/s, failed %llu, CPU us per request: server %.2f, "
           "client %.2f\n",
           connections, (double)c.answered / wall_s, (unsigned long long)c.failed, s.cpu_us / n,
           client_us / n);
    httpc_free(client);
    httpd_free(s.h);
    loop_free(c.l);
    loop_free(s.l);
    return c.failed != 0;
}
