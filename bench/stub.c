/* SPDX-License-Identifier: Apache-2.0 */
/* peal_stub: the executor of the benchmarks. It does no work: /run is answered at once and called
 * back at once, so that what a benchmark measures is the center. One thread, no files.
 *
 * What it proves: every log id it was given is counted (so lost and doubled runs can be told from
 * the center's own table), every result is called back until a center has acknowledged it, and the
 * lateness of each run's arrival (now minus its Peal-Moment header) is kept as a histogram.
 * GET /stub/stats answers the figures as JSON; SIGTERM prints the same and ends it.
 *
 * --had says which ids it ran before it began, as an executor that outlived its center: it has
 * their logs, and tells their results once more after --late seconds, as a stock one does every 30.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "net/httpc.h"
#include "net/httpd.h"
#include "wire/executor_side.h"
#include "wire/open_api.h"
#include "wire/texts.h"

enum {
    PORTS_MAX = 64,
    BATCH_MAX = 1000,
    CALLS_MAX = 2048,
    JOIN_EVERY_MS = 20000,
    AGAIN_MS = 1000,
    CALL_TIMEOUT_MS = 10000,
    PAGE_IDS = 65536,      /* log ids of one page of the tally */
    LATE_FINE_US = 100000, /* lateness below: one cell per 10 us */
    LATE_FINE_STEP = 10,
    LATE_COARSE_MS = 60000, /* above: one cell per ms, the last for all beyond */
};

/* --- the tally: how often was each log id run --- */

struct tally {
    uint8_t **pages; /* by id / PAGE_IDS; NULL: none of it was seen */
    size_t npages;
    uint64_t runs, distinct, doubled;
    int64_t first, last; /* ids seen */
};

static void tally_add(struct tally *t, int64_t id)
{
    if (id < 0 || id / PAGE_IDS >= 1 << 24)
        return; /* a center's ids are small; a page table must not follow what is not one */
    size_t page = (size_t)(id / PAGE_IDS);
    if (page >= t->npages) {
        t->pages = mem_resize(t->pages, (page + 1) * sizeof(*t->pages));
        memset(t->pages + t->npages, 0, (page + 1 - t->npages) * sizeof(*t->pages));
        t->npages = page + 1;
    }
    if (!t->pages[page])
        t->pages[page] = mem_new(PAGE_IDS);
    uint8_t *count = &t->pages[page][id % PAGE_IDS];
    t->distinct += *count == 0;
    t->doubled += *count == 1;
    if (*count < UINT8_MAX)
        ++*count;
    if (t->runs++ == 0 || id < t->first)
        t->first = id;
    if (id > t->last)
        t->last = id;
}

static int tally_count(const struct tally *t, int64_t id)
{
    size_t page = id < 0 ? SIZE_MAX : (size_t)(id / PAGE_IDS);
    return page < t->npages && t->pages[page] ? t->pages[page][id % PAGE_IDS] : 0;
}

/* --- lateness --- */

struct lateness {
    uint64_t fine[LATE_FINE_US / LATE_FINE_STEP], coarse[LATE_COARSE_MS + 1];
    uint64_t n, early;
    int64_t max_us, min_us;
};

static void lateness_add(struct lateness *l, int64_t us)
{
    if (l->n == 0 || us < l->min_us)
        l->min_us = us;
    if (l->n == 0 || us > l->max_us)
        l->max_us = us;
    l->n++;
    l->early += us < 0;
    if (us < 0)
        us = 0;
    if (us < LATE_FINE_US)
        l->fine[us / LATE_FINE_STEP]++;
    else
        l->coarse[us / 1000 < LATE_COARSE_MS ? us / 1000 : LATE_COARSE_MS]++;
}

static int64_t clip(int64_t v, int64_t max)
{
    return v < max ? v : max;
}

/* The upper edge of the cell in which the p-th part of all runs lies, in us. */
static int64_t lateness_at(const struct lateness *l, double p)
{
    uint64_t want = (uint64_t)(p * (double)l->n), seen = 0;
    for (size_t i = 0; i < countof(l->fine); i++)
        if ((seen += l->fine[i]) > want)
            return clip((int64_t)(i + 1) * LATE_FINE_STEP, l->max_us);
    for (size_t i = 0; i < countof(l->coarse); i++)
        if ((seen += l->coarse[i]) > want)
            return clip((int64_t)(i + 1) * 1000, l->max_us);
    return l->max_us;
}

/* --- the program --- */

struct result {
    int64_t log_id, log_date_ms;
};

struct result_queue { /* a ring */
    struct result *items;
    size_t cap, first, len;
};

struct callback { /* a connection's turn with the center */
    struct httpc_call call;
    struct loop_timer again;
    struct stub *stub;
    struct callback *next_free;
    struct result items[BATCH_MAX];
    size_t n;
};

struct join { /* registration of one port */
    struct httpc_call call;
    struct loop_timer again;
    struct stub *stub;
    char address[128];
};

struct stub {
    struct loop *loop;
    struct httpc *client;
    struct httpc_peer *center;
    struct httpd *fronts[PORTS_MAX];
    struct join joins[PORTS_MAX];
    struct callback callbacks[CALLS_MAX], *free;
    struct result_queue queue;
    struct loop_fd signals;
    struct buf body;
    struct tally tally;
    struct lateness late;
    uint64_t sent, acknowledged, failed, acknowledged_results, idle_beats, logs;
    int64_t first_us, last_us; /* of runs, wall clock */
    /* settings */
    const char *center_address, *token, *app, *host;
    int port, ports, batch, connections, late_s;
    int64_t had_first, had_last; /* ids of runs from before; 0, -1: none */
    struct loop_timer late_timer;
};

/* --- results --- */

static void queue_push(struct result_queue *q, struct result r)
{
    if (q->len == q->cap) {
        size_t cap = q->cap ? q->cap * 2 : 1024;
        struct result *to = mem_new(cap * sizeof(*to));
        for (size_t i = 0; i < q->len; i++)
            to[i] = q->items[(q->first + i) % q->cap];
        free(q->items);
        q->items = to;
        q->cap = cap;
        q->first = 0;
    }
    q->items[(q->first + q->len++) % q->cap] = r;
}

static struct result queue_pop(struct result_queue *q)
{
    struct result r = q->items[q->first];
    q->first = (q->first + 1) % q->cap;
    q->len--;
    return r;
}

static void callback_post(struct callback *cb);

static void callback_free(struct callback *cb)
{
    cb->next_free = cb->stub->free;
    cb->stub->free = cb;
}

static void callbacks_go(struct stub *s)
{
    while (s->queue.len && s->free) {
        struct callback *cb = s->free;
        s->free = cb->next_free;
        for (cb->n = 0; cb->n < (size_t)s->batch && s->queue.len;)
            cb->items[cb->n++] = queue_pop(&s->queue);
        callback_post(cb);
    }
}

static void callback_done(struct httpc_call *call)
{
    struct callback *cb = container_of(call, struct callback, call);
    struct stub *s = cb->stub;
    if (call->outcome == HTTPC_ANSWERED && wire_admin_accepts(call->status, call->body, NULL)) {
        s->acknowledged++;
        s->acknowledged_results += cb->n;
        callback_free(cb);
        callbacks_go(s);
        return;
    }
    s->failed++;
    loop_timer_set(s->loop, &cb->again, loop_now_ms(s->loop) + AGAIN_MS);
}

static void callback_again(struct loop_timer *t)
{
    callback_post(container_of(t, struct callback, again));
}

static void callback_post(struct callback *cb)
{
    struct stub *s = cb->stub;
    struct wire_callback items[BATCH_MAX];
    for (size_t i = 0; i < cb->n; i++)
        items[i] = (struct wire_callback){ .log_id = cb->items[i].log_id,
                                           .log_date_ms = cb->items[i].log_date_ms,
                                           .code = WIRE_CODE_OK,
                                           .has_code = true };
    buf_reset(&s->body);
    wire_callback_body(&s->body, items, cb->n);
    struct slice body = slice_of(buf_str(&s->body), s->body.len);
    struct httpc_post post = {
        .action = "api/callback", .pieces = &body, .npieces = 1, .timeout_ms = CALL_TIMEOUT_MS
    };
    cb->call = (struct httpc_call){ .done = callback_done };
    s->sent++;
    if (httpc_call(s->center, &post, &cb->call))
        loop_timer_set(s->loop, &cb->again, loop_now_ms(s->loop) + AGAIN_MS);
}

/* --- registration --- */

static void join_done(struct httpc_call *call)
{
    struct join *j = container_of(call, struct join, call);
    struct why why = { { 0 } };
    bool yes =
        call->outcome == HTTPC_ANSWERED && wire_admin_accepts(call->status, call->body, &why);
    if (!yes)
        fprintf(stderr, "peal_stub: %s is not registered: %s\n", j->address,
                call->outcome == HTTPC_ANSWERED ? why.text : call->why);
    loop_timer_set(j->stub->loop, &j->again,
                   loop_now_ms(j->stub->loop) + (yes ? JOIN_EVERY_MS : AGAIN_MS));
}

static void join_again(struct loop_timer *t)
{
    struct join *j = container_of(t, struct join, again);
    struct stub *s = j->stub;
    buf_reset(&s->body);
    wire_registry_body(&s->body, slice_text(s->app), slice_text(j->address));
    struct slice body = slice_of(buf_str(&s->body), s->body.len);
    struct httpc_post post = { .action = "api/registry",
                               .headers = slice_text(WIRE_HEADER_EXECUTOR ": 1\r\n"),
                               .pieces = &body,
                               .npieces = 1,
                               .timeout_ms = CALL_TIMEOUT_MS };
    j->call = (struct httpc_call){ .done = join_done };
    if (httpc_call(s->center, &post, &j->call))
        loop_timer_set(s->loop, &j->again, loop_now_ms(s->loop) + AGAIN_MS);
}

/* --- figures --- */

static double cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void write_lateness(struct jsonw *w, const struct lateness *l)
{
    jsonw_object(w, "lateness_us");
    jsonw_i64(w, "n", (int64_t)l->n);
    jsonw_i64(w, "early", (int64_t)l->early);
    jsonw_i64(w, "min", l->min_us);
    jsonw_i64(w, "p50", lateness_at(l, 0.5));
    jsonw_i64(w, "p90", lateness_at(l, 0.9));
    jsonw_i64(w, "p99", lateness_at(l, 0.99));
    jsonw_i64(w, "p999", lateness_at(l, 0.999));
    jsonw_i64(w, "max", l->max_us);
    jsonw_object_end(w);
}

static void write_stats(const struct stub *s, struct buf *out)
{
    struct jsonw w = jsonw_on(out);
    const struct tally *t = &s->tally;
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "runs", (int64_t)t->runs);
    jsonw_i64(&w, "distinct", (int64_t)t->distinct);
    jsonw_i64(&w, "doubled", (int64_t)t->doubled);
    jsonw_i64(&w, "first_id", t->first);
    jsonw_i64(&w, "last_id", t->last);
    jsonw_i64(&w, "callback_requests", (int64_t)s->sent);
    jsonw_i64(&w, "callback_requests_acknowledged", (int64_t)s->acknowledged);
    jsonw_i64(&w, "callback_requests_failed", (int64_t)s->failed);
    jsonw_i64(&w, "results_acknowledged", (int64_t)s->acknowledged_results);
    jsonw_i64(&w, "results_waiting", s->center ? (int64_t)(t->runs - s->acknowledged_results) : 0);
    jsonw_i64(&w, "idle_beats", (int64_t)s->idle_beats);
    jsonw_i64(&w, "logs", (int64_t)s->logs);
    jsonw_i64(&w, "first_run_us", s->first_us);
    jsonw_i64(&w, "last_run_us", s->last_us);
    jsonw_i64(&w, "cpu_us", (int64_t)cpu_us());
    jsonw_i64(&w, "cpu_ns_per_run", t->runs ? (int64_t)(cpu_us() * 1e3 / (double)t->runs) : 0);
    write_lateness(&w, &s->late);
    jsonw_object_end(&w);
    buf_char(out, '\n');
}

/* --- requests --- */

static void reply_text(struct httpd_request *q, const char *text)
{
    httpd_reply(q, 200, "application/json", slice_of("", 0), slice_text(text));
}

/* The value of a number member of a flat, well-formed object: no general reader, because the stub
 * shares its cores with what is being measured, and only a benchmark's center speaks to it. */
static int64_t number_of(struct slice body, const char *name)
{
    const char *p = memmem(body.p, body.n, name, strlen(name));
    int64_t v = 0;
    if (!p)
        return -1;
    for (p += strlen(name); p < body.p + body.n && *p >= '0' && *p <= '9'; p++)
        v = v * 10 + (*p - '0');
    return v;
}

static void on_run(struct stub *s, struct httpd_request *q)
{
    int64_t now_us = clock_wall_us(), scheduled_ms;
    struct result r = { number_of(q->body, "\"logId\":"), number_of(q->body, "\"logDateTime\":") };
    if (r.log_id < 0) {
        reply_text(q, "{\"code\":500,\"msg\":\"logId is missing\"}");
        return;
    }
    if (parse_i64(httpd_header(q, WIRE_HEADER_SCHEDULED), &scheduled_ms))
        lateness_add(&s->late, now_us - scheduled_ms * 1000);
    if (s->tally.runs == 0)
        s->first_us = now_us;
    s->last_us = now_us;
    tally_add(&s->tally, r.log_id);
    if (s->center)
        queue_push(&s->queue, r);
    reply_text(q, WIRE_REPLY_OK);
}

/* So that a center in doubt finds out what is true: the id was never here, or it has ended. */
static void on_log(struct stub *s, struct httpd_request *q)
{
    int64_t id = number_of(q->body, "\"logId\":");
    bool seen = tally_count(&s->tally, id) > 0 || (id >= s->had_first && id <= s->had_last);
    struct buf b = BUF_INIT(4096);
    if (seen)
        wire_log_page_reply(&b, 1, 2, slice_text(WIRE_START_MARK "\n" WIRE_END_MARK "finish)\n"),
                            false);
    else
        wire_log_page_reply(&b, 1, 0, slice_text(WIRE_TEXT_NO_LOG), true);
    reply_text(q, buf_str(&b));
    buf_done(&b);
}

/* The tally itself: ids from..to as text, a digit for each (9: nine times or more). */
static void on_ids(struct stub *s, struct httpd_request *q)
{
    struct buf b = BUF_INIT(64 << 20);
    int64_t to = s->tally.last;
    for (int64_t id = s->tally.first; s->tally.runs && id <= to && !b.failed; id++) {
        int n = tally_count(&s->tally, id);
        buf_char(&b, (char)('0' + (n > 9 ? 9 : n)));
    }
    httpd_reply(q, 200, "text/plain", slice_of("", 0), slice_of(buf_str(&b), b.len));
    buf_done(&b);
}

static void on_request(struct httpd_request *q, void *arg)
{
    struct stub *s = arg;
    if (slice_eq(q->path, "/run")) {
        on_run(s, q);
    } else if (slice_eq(q->path, "/log")) {
        s->logs++;
        on_log(s, q);
    } else if (slice_eq(q->path, "/stub/ids")) {
        on_ids(s, q);
    } else if (slice_eq(q->path, "/stub/stats")) {
        struct buf b = BUF_INIT(65536);
        write_stats(s, &b);
        reply_text(q, buf_str(&b));
        buf_done(&b);
    } else { /* /beat, /idleBeat, /kill: always idle */
        s->idle_beats += slice_eq(q->path, "/idleBeat");
        reply_text(q, WIRE_REPLY_OK);
    }
}

/* Results of this turn's requests leave together, so that batches form by themselves. */
static void before_sleep(void *arg)
{
    callbacks_go(arg);
}

/* --- what it ran before --- */

static void tell_late(struct loop_timer *t)
{
    struct stub *s = container_of(t, struct stub, late_timer);
    int64_t now_ms = clock_wall_ms();
    for (int64_t id = s->had_first; id <= s->had_last; id++)
        queue_push(&s->queue, (struct result){ id, now_ms });
}

/* --- start and end --- */

static void on_signal(struct loop_fd *f, uint32_t events)
{
    struct stub *s = container_of(f, struct stub, signals);
    (void)events;
    loop_stop(s->loop);
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "peal_stub: %s: %s\n", what, why);
    return 2;
}

static enum err open_center(struct stub *s, struct why *why)
{
    struct httpc_config cf = { .token = s->token,
                               .connections = s->connections + s->ports,
                               .idle_ms = 60000 };
    enum err err = httpc_new(s->loop, &cf, &s->client, why);
    if (!err)
        err = httpc_peer_new(s->client, slice_text(s->center_address), &s->center, why);
    for (int i = 0; !err && i < s->connections; i++) {
        s->callbacks[i].stub = s;
        s->callbacks[i].again.fire = callback_again;
        callback_free(&s->callbacks[i]);
    }
    return err;
}

static enum err open_port(struct stub *s, int i, struct why *why)
{
    struct httpd_config cf = { .on_request = on_request, .arg = s };
    struct addr_listen at = { .port = (uint16_t)(s->port ? s->port + i : 0) };
    text_copy(at.host, sizeof(at.host), slice_text(s->host));
    s->fronts[i] = httpd_new(s->loop, &cf);
    enum err err = httpd_listen(s->fronts[i], &at, why);
    if (err)
        return err;
    struct join *j = &s->joins[i];
    j->stub = s;
    j->again.fire = join_again;
    snprintf(j->address, sizeof(j->address), "http://%s:%u/", s->host, httpd_port(s->fronts[i]));
    printf("listening on %s\n", j->address);
    if (s->center)
        join_again(&j->again);
    return OK;
}

static void watch_signals(struct stub *s)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    s->signals = (struct loop_fd){ .fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                                   .events = EPOLLIN,
                                   .ready = on_signal };
    if (s->signals.fd < 0 || loop_fd_add(s->loop, &s->signals))
        abort();
}

static const char usage[] =
    "usage: peal_stub --center URL --app NAME [OPTIONS]\n"
    "  --token TEXT         shared token [PEAL_ACCESS_TOKEN]\n"
    "  --host HOST          to listen on and to register [127.0.0.1]\n"
    "  --port N             the first port; 0: any [0]\n"
    "  --ports N            addresses to register, on ports N, N+1, ... [1]\n"
    "  --callbacks KIND     results a request: single, batch (up to 1000) or a number [single]\n"
    "  --connections N      to the center, 1-2048 [16 for single, 2 for batch]\n"
    "  --had A-B            log ids that it ran before it began\n"
    "  --late N             seconds after which it tells their results [15]\n"
    "Without --center it only answers. GET /stub/stats: figures; GET /stub/ids: how often each id\n"
    "from first_id on was run, a digit each.\n";

static bool read_had(struct stub *s, struct slice value)
{
    const char *dash = memchr(value.p, '-', value.n);
    size_t n = dash ? (size_t)(dash - value.p) : 0;
    return dash && parse_i64(slice_of(value.p, n), &s->had_first) && s->had_first > 0 &&
           parse_i64(slice_of(dash + 1, value.n - n - 1), &s->had_last) &&
           s->had_last >= s->had_first;
}

static int read_options(struct stub *s, int argc, char **argv)
{
    static const struct option options[] = {
        { "center", required_argument, NULL, 'c' },
        { "app", required_argument, NULL, 'a' },
        { "token", required_argument, NULL, 't' },
        { "host", required_argument, NULL, 'h' },
        { "port", required_argument, NULL, 'p' },
        { "ports", required_argument, NULL, 'n' },
        { "callbacks", required_argument, NULL, 'k' },
        { "connections", required_argument, NULL, 'C' },
        { "had", required_argument, NULL, 'H' },
        { "late", required_argument, NULL, 'L' },
        { "help", no_argument, NULL, '?' },
        { NULL, 0, NULL, 0 },
    };
    bool good = true;
    for (int o; good && (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        struct slice value = slice_text(optarg);
        if (o == 'c')
            s->center_address = optarg;
        else if (o == 'a')
            s->app = optarg;
        else if (o == 't')
            s->token = optarg;
        else if (o == 'h')
            s->host = optarg;
        else if (o == 'p')
            good = parse_int(value, &s->port) && s->port >= 0 && s->port < 65536;
        else if (o == 'n')
            good = parse_int(value, &s->ports) && s->ports >= 1 && s->ports <= PORTS_MAX;
        else if (o == 'C')
            good = parse_int(value, &s->connections) && s->connections >= 1 &&
                   s->connections <= CALLS_MAX;
        else if (o == 'H')
            good = read_had(s, value);
        else if (o == 'L')
            good = parse_int(value, &s->late_s) && s->late_s >= 0 && s->late_s <= 86400;
        else if (o == 'k' && (slice_eq(value, "single") || slice_eq(value, "batch")))
            s->batch = slice_eq(value, "batch") ? BATCH_MAX : 1;
        else if (o == 'k')
            good = parse_int(value, &s->batch) && s->batch >= 1 && s->batch <= BATCH_MAX;
        else
            good = false;
    }
    if (good && optind == argc)
        return 0;
    fputs(usage, stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static struct stub s = { .host = "127.0.0.1",
                             .app = "bench",
                             .ports = 1,
                             .batch = 1,
                             .body = BUF_INIT(16 << 20),
                             .late_s = 15,
                             .had_last = -1 };
    struct why why = { { 0 } };
    s.token = getenv("PEAL_ACCESS_TOKEN");
    if (read_options(&s, argc, argv))
        return 2;
    if (!s.connections) /* few of them, and batches grow by themselves */
        s.connections = s.batch == 1 ? 16 : 2;
    s.loop = loop_new();
    watch_signals(&s);
    if (s.center_address && open_center(&s, &why))
        return fail("--center", why.text);
    for (int i = 0; i < s.ports; i++)
        if (open_port(&s, i, &why))
            return fail("--port", why.text);
    fflush(stdout);
    if (s.center)
        loop_before_sleep(s.loop, before_sleep, &s);
    s.late_timer.fire = tell_late;
    if (s.center && s.had_last >= 0)
        loop_timer_set(s.loop, &s.late_timer, loop_now_ms(s.loop) + s.late_s * 1000);
    loop_run(s.loop);
    struct buf b = BUF_INIT(65536);
    write_stats(&s, &b);
    fputs(buf_str(&b), stdout);
    buf_done(&b);
    return 0;
}
