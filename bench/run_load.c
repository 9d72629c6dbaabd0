/* SPDX-License-Identifier: Apache-2.0 */
/* peal_run_load: the other end of an executor, for benchmarks and crash rounds: a center that has
 * no schedule and no database. It waits until an executor registers, sends it runs over kept-alive
 * connections with several requests on their way in each, and takes the results. One thread.
 *
 * What it proves: the fate of each log id is kept. An answer of 200 means accepted, any other
 * answer refused, no answer in doubt: such a run is sent again with the same id, until an answer
 * comes ("repeat" is one: it is there). Each result is counted, and one that differs from an
 * earlier one of the same id is a conflict. GET /ledger on the control port prints all of it.
 *
 * The control port also answers /stats, and /stop, /go (no new runs; again), /away, /back (the
 * center cannot be reached; again), /refuse (it refuses every call until /back), /quit. */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/jsonw.h"
#include "base/map.h"
#include "base/mem.h"
#include "net/addr.h"
#include "net/httpd.h"
#include "wire/open_api.h"
#include "wire/texts.h"

enum {
    KINDS_MAX = 16,
    CONNECTIONS_MAX = 256,
    WINDOW_MAX = 256,
    READ_ROOM = 65536,
    REQUEST_MAX = 1 << 20,
    AGAIN_MS = 10, /* until a broken connection is opened again */
    TICK_MS = 1,
};

/* --- the ledger: what became of each id --- */

enum state { NEW, SENT, DOUBT, ACCEPTED, REFUSED };
static const char *const state_names[] = { "new", "sent", "doubt", "accepted", "refused" };

struct entry {
    uint8_t state, results, conflict;
    uint16_t code;
    uint64_t msg; /* hash of the first result's message */
};

struct ids { /* a ring of ids */
    int64_t *items;
    size_t cap, first, len;
};

static void ids_push(struct ids *q, int64_t id)
{
    if (q->len == q->cap) {
        size_t cap = q->cap ? q->cap * 2 : 1024;
        int64_t *to = mem_new(cap * sizeof(*to));
        for (size_t i = 0; i < q->len; i++)
            to[i] = q->items[(q->first + i) % q->cap];
        free(q->items);
        q->items = to;
        q->cap = cap;
        q->first = 0;
    }
    q->items[(q->first + q->len++) % q->cap] = id;
}

static int64_t ids_pop(struct ids *q)
{
    int64_t id = q->items[q->first];
    q->first = (q->first + 1) % q->cap;
    q->len--;
    return id;
}

/* --- the program --- */

struct kind { /* what the runs of some jobs are */
    const char *handler, *block;
    struct slice before, after; /* the parameter, around the log id */
    bool with_id;
    int timeout_s;
};

struct conn {
    struct loop_fd fd; /* fd.fd < 0: closed */
    struct loop_timer again;
    struct load *load;
    struct buf out, in;
    struct ids flight; /* ids whose answers are to come, in order */
    bool connecting;
};

struct load {
    struct loop *loop;
    struct httpd *center, *control;
    uint16_t center_port;
    struct conn conns[CONNECTIONS_MAX];
    struct loop_timer tick;
    struct entry *entries; /* by id - first_id */
    size_t nentries, cap;
    struct ids resend;
    struct buf body;
    struct addr_url to; /* of the executor; port 0: none has registered */
    char address[ADDR_TEXT_MAX];
    char refusal[256]; /* the latest */
    bool stopped, refusing;
    /* counts */
    int64_t sent, answered, accepted, refused, repeated, distinct, again, conflicts, of_refused,
        unknown, callbacks, broken, open;
    int64_t first_us, last_answer_us, last_result_us;
    /* settings */
    const char *token, *host;
    int port, control_port, jobs, connections, window, runs, rate, max_open;
    int64_t first_id, rate_began_us, rate_sent;
    struct kind kinds[KINDS_MAX];
    int nkinds;
};

static struct entry *entry_of(struct load *l, int64_t id)
{
    int64_t i = id - l->first_id;
    return i < 0 || i >= (int64_t)l->nentries ? NULL : &l->entries[i];
}

static int64_t entry_new(struct load *l)
{
    if (l->nentries == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 65536;
        l->entries = mem_resize(l->entries, l->cap * sizeof(*l->entries));
    }
    l->entries[l->nentries] = (struct entry){ .state = NEW };
    return l->first_id + (int64_t)l->nentries++;
}

/* --- requests --- */

static void write_body(struct load *l, int64_t id)
{
    int64_t job = (id - l->first_id) % l->jobs;
    const struct kind *k = &l->kinds[job % l->nkinds];
    struct buf *b = &l->body;
    static int64_t second_ms; /* a run that is sent again has the date that it had */
    if (!second_ms)
        second_ms = clock_wall_us() / 1000000 * 1000;
    buf_reset(b);
    buf_printf(b, "{\"jobId\":%lld,\"executorHandler\":\"%s\",\"executorParams\":\"",
               (long long)job + 1, k->handler);
    buf_slice(b, k->before);
    if (k->with_id)
        buf_i64(b, id);
    buf_slice(b, k->after);
    buf_printf(b,
               "\",\"executorBlockStrategy\":\"%s\",\"executorTimeout\":%d,\"logId\":%lld,"
               "\"logDateTime\":%lld,\"glueType\":\"BEAN\",\"glueSource\":\"\","
               "\"glueUpdatetime\":1700000000000,\"broadcastIndex\":0,\"broadcastTotal\":1}",
               k->block, k->timeout_s, (long long)id, (long long)second_ms);
}

static void post_run(struct conn *c, int64_t id)
{
    struct load *l = c->load;
    write_body(l, id);
    buf_printf(&c->out,
               "POST %srun HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json;charset=UTF-8\r\n"
               "%s: %s\r\nContent-Length: %zu\r\n\r\n",
               l->to.path, l->to.host, WIRE_HEADER_TOKEN, l->token, l->body.len);
    buf_add(&c->out, buf_str(&l->body), l->body.len);
    ids_push(&c->flight, id);
    entry_of(l, id)->state = SENT;
    l->sent++;
    if (!l->first_us)
        l->first_us = clock_wall_us();
}

static bool may_begin(struct load *l)
{
    if (l->stopped || (l->runs && (int64_t)l->nentries >= l->runs))
        return false;
    if (l->max_open && l->open + l->sent - l->answered >= l->max_open)
        return false;
    if (!l->rate)
        return true;
    int64_t due = (clock_wall_us() - l->rate_began_us) * l->rate / 1000000;
    return l->rate_sent < due;
}

/* The id that is sent next; 0: none now. */
static int64_t next_id(struct load *l)
{
    if (l->resend.len)
        return ids_pop(&l->resend);
    if (!may_begin(l))
        return 0;
    l->rate_sent++;
    return entry_new(l);
}

static void conn_flush(struct conn *c);

static void pump(struct load *l)
{
    for (bool more = l->to.port; more;) {
        more = false;
        for (int i = 0; i < l->connections; i++) { /* one each in turn, so that they share */
            struct conn *c = &l->conns[i];
            if (c->fd.fd < 0 || c->connecting || c->flight.len >= (size_t)l->window)
                continue;
            int64_t id = next_id(l);
            if (!id)
                break;
            post_run(c, id);
            more = true;
        }
    }
    for (int i = 0; i < l->connections; i++)
        if (l->conns[i].fd.fd >= 0 && !l->conns[i].connecting)
            conn_flush(&l->conns[i]);
}

/* --- answers --- */

static void answered(struct load *l, int64_t id, struct slice body)
{
    struct entry *e = entry_of(l, id);
    bool yes = memmem(body.p, body.n, "\"code\":200", 10) != NULL;
    bool there = !yes && memmem(body.p, body.n, "\"repeat", 7) != NULL;
    l->answered++;
    l->last_answer_us = clock_wall_us();
    if (yes || there) {
        e->state = ACCEPTED;
        l->accepted++;
        l->repeated += there;
        l->open += e->results == 0;
        return;
    }
    e->state = REFUSED;
    l->refused++;
    l->of_refused += e->results > 0;
    text_copy(l->refusal, sizeof(l->refusal), body);
}

/* Takes the answer that begins at *at. 0: it is not whole yet; -1: it is none. */
static int take_answer(struct conn *c, size_t *at)
{
    const char *p = c->in.data + *at;
    size_t have = c->in.len - *at;
    const char *end = memmem(p, have, "\r\n\r\n", 4);
    if (!end)
        return 0;
    const char *length = strcasestr(p, "\r\nContent-Length:");
    if (!length || length > end || !c->flight.len)
        return -1;
    size_t n = strtoul(length + 17, NULL, 10), head = (size_t)(end - p) + 4;
    if (have < head + n)
        return 0;
    answered(c->load, ids_pop(&c->flight), slice_of(p + head, n));
    *at += head + n;
    return 1;
}

/* --- connections --- */

static void conn_close(struct conn *c)
{
    struct load *l = c->load;
    loop_fd_remove(l->loop, &c->fd);
    close(c->fd.fd);
    c->fd.fd = -1;
    l->broken += c->flight.len > 0;
    while (c->flight.len) {
        int64_t id = ids_pop(&c->flight);
        entry_of(l, id)->state = DOUBT;
        l->sent--;
        ids_push(&l->resend, id);
    }
    buf_reset(&c->out);
    buf_reset(&c->in);
    loop_timer_set(l->loop, &c->again, loop_now_ms(l->loop) + AGAIN_MS);
}

static void conn_flush(struct conn *c)
{
    while (c->out.len) {
        ssize_t n = send(c->fd.fd, c->out.data, c->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            conn_close(c);
            return;
        }
        buf_eat(&c->out, (size_t)n);
    }
    loop_fd_change(c->load->loop, &c->fd, c->out.len ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void conn_read(struct conn *c)
{
    char *room = buf_room(&c->in, READ_ROOM);
    ssize_t n = room ? recv(c->fd.fd, room, READ_ROOM - 1, MSG_DONTWAIT) : 0;
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        conn_close(c);
        return;
    }
    c->in.len += (size_t)n;
    c->in.data[c->in.len] = '\0';
    size_t at = 0;
    int took = 1;
    while (took > 0)
        took = take_answer(c, &at);
    buf_eat(&c->in, at);
    if (took < 0)
        conn_close(c);
}

static void conn_ready(struct loop_fd *f, uint32_t events)
{
    struct conn *c = container_of(f, struct conn, fd);
    if (c->connecting) {
        int err = 0;
        socklen_t size = sizeof(err);
        getsockopt(f->fd, SOL_SOCKET, SO_ERROR, &err, &size);
        if (err) {
            conn_close(c);
            return;
        }
        c->connecting = false;
    }
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        conn_read(c);
    if (f->fd >= 0 && !c->connecting)
        conn_flush(c);
}

static void conn_open(struct conn *c)
{
    struct load *l = c->load;
    struct sockaddr_storage to;
    socklen_t size;
    int one = 1;
    if (!addr_numeric(l->to.host, l->to.port, &to, &size))
        return; /* none has registered, or one with a name: a benchmark's executor has a number */
    c->fd =
        (struct loop_fd){ .fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
                          .events = EPOLLIN | EPOLLOUT,
                          .ready = conn_ready };
    if (c->fd.fd < 0)
        abort();
    setsockopt(c->fd.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    c->connecting = true;
    int failed = connect(c->fd.fd, (struct sockaddr *)&to, size) && errno != EINPROGRESS;
    if (loop_fd_add(l->loop, &c->fd))
        abort();
    if (failed)
        conn_close(c);
}

static void conn_again(struct loop_timer *t)
{
    conn_open(container_of(t, struct conn, again));
}

/* The executor is somewhere else now, or here for the first time. */
static void executor_moved(struct load *l, struct slice address)
{
    if (slice_eq(address, l->address) || addr_url_parse(address, &l->to, NULL))
        return;
    text_copy(l->address, sizeof(l->address), address);
    for (int i = 0; i < l->connections; i++) {
        struct conn *c = &l->conns[i];
        if (c->fd.fd >= 0)
            conn_close(c);
        else
            loop_timer_set(l->loop, &c->again, loop_now_ms(l->loop));
    }
    l->rate_began_us = clock_wall_us();
    l->rate_sent = 0;
}

/* --- what the executor says --- */

static void reply_text(struct httpd_request *q, const char *text)
{
    httpd_reply(q, 200, "application/json", slice_of("", 0), slice_text(text));
}

static void on_registry(struct load *l, struct slice body)
{
    struct wire_registry r;
    if (wire_registry_parse(body, wire_address_check, &r, NULL))
        return;
    executor_moved(l, r.value);
    wire_registry_done(&r);
}

static void result(struct load *l, const struct wire_callback *item)
{
    struct entry *e = entry_of(l, item->log_id);
    uint64_t msg = hash_text(item->msg);
    if (!e) {
        l->unknown++;
        return;
    }
    if (e->results == 0) {
        e->code = (uint16_t)item->code;
        e->msg = msg;
        l->distinct++;
        l->open -= e->state == ACCEPTED;
        l->of_refused += e->state == REFUSED;
    } else {
        bool other = e->code != (uint16_t)item->code || e->msg != msg;
        e->conflict |= other;
        l->conflicts += other;
        l->again++;
    }
    if (e->results < UINT8_MAX)
        e->results++;
}

static void on_callback(struct load *l, struct slice body)
{
    struct wire_callbacks all;
    if (wire_callbacks_parse(body, &all, NULL))
        return;
    l->callbacks++;
    l->last_result_us = clock_wall_us();
    for (size_t i = 0; i < all.n; i++)
        result(l, &all.items[i]);
    wire_callbacks_done(&all);
}

static bool ends_in(struct slice path, const char *end)
{
    size_t n = strlen(end);
    return path.n >= n && memcmp(path.p + path.n - n, end, n) == 0;
}

static void on_center(struct httpd_request *q, void *arg)
{
    struct load *l = arg;
    if (l->refusing) {
        reply_text(q, "{\"code\":500,\"msg\":\"not now\"}");
        return;
    }
    if (ends_in(q->path, "/api/registry"))
        on_registry(l, q->body);
    else if (ends_in(q->path, "/api/callback"))
        on_callback(l, q->body);
    reply_text(q, WIRE_REPLY_OK);
}

static enum err center_open(struct load *l, struct why *why)
{
    struct httpd_config cf = { .on_request = on_center, .arg = l, .body_max = WIRE_CALLBACK_MAX };
    struct addr_listen at = { .port = l->center_port };
    text_copy(at.host, sizeof(at.host), slice_text(l->host));
    l->center = httpd_new(l->loop, &cf);
    enum err err = httpd_listen(l->center, &at, why);
    l->center_port = err ? l->center_port : httpd_port(l->center);
    return err;
}

static void center_close(struct load *l)
{
    httpd_free(l->center);
    l->center = NULL;
}

/* --- control --- */

static void write_stats(const struct load *l, struct buf *out)
{
    const struct {
        const char *name;
        int64_t value;
    } all[] = {
        { "begun", (int64_t)l->nentries },
        { "accepted", l->accepted },
        { "refused", l->refused },
        { "waiting_for_answers", l->sent - l->answered + (int64_t)l->resend.len },
        { "open", l->open },
        { "repeats", l->repeated },
        { "broken_connections", l->broken },
        { "results", l->distinct },
        { "results_again", l->again },
        { "conflicts", l->conflicts },
        { "results_of_refused", l->of_refused },
        { "results_unknown", l->unknown },
        { "callbacks", l->callbacks },
        { "first_us", l->first_us },
        { "last_answer_us", l->last_answer_us },
        { "last_result_us", l->last_result_us },
    };
    struct jsonw w = jsonw_on(out);
    jsonw_object(&w, NULL);
    for (size_t i = 0; i < countof(all); i++)
        jsonw_i64(&w, all[i].name, all[i].value);
    jsonw_text(&w, "executor", l->address);
    jsonw_text(&w, "refusal", l->refusal);
    jsonw_object_end(&w);
}

/* A line a run: id, handler, state, results, code, 1 if results differed. */
static void write_ledger(const struct load *l, struct buf *out)
{
    for (size_t i = 0; i < l->nentries; i++) {
        const struct entry *e = &l->entries[i];
        const struct kind *k = &l->kinds[(int64_t)i % l->jobs % l->nkinds];
        buf_printf(out, "%lld %s %s %u %u %u\n", (long long)l->first_id + (long long)i, k->handler,
                   state_names[e->state], e->results, e->code, e->conflict);
    }
}

static void command(struct load *l, struct slice path)
{
    if (slice_eq(path, "/stop")) {
        l->stopped = true;
    } else if (slice_eq(path, "/go")) {
        l->stopped = false;
        l->rate_began_us = clock_wall_us();
        l->rate_sent = 0;
    } else if (slice_eq(path, "/refuse")) {
        l->refusing = true;
    } else if (slice_eq(path, "/away") && l->center) {
        center_close(l);
    } else if (slice_eq(path, "/back")) {
        l->refusing = false;
        if (!l->center && center_open(l, NULL))
            abort(); /* the port is ours: it was kept out of the range that others take */
    } else if (slice_eq(path, "/quit")) {
        loop_stop(l->loop);
    }
}

static void on_control(struct httpd_request *q, void *arg)
{
    struct load *l = arg;
    struct buf b = BUF_INIT(1u << 30);
    command(l, q->path);
    if (slice_eq(q->path, "/ledger"))
        write_ledger(l, &b);
    else
        write_stats(l, &b);
    httpd_reply(q, 200, "text/plain", slice_of("", 0), slice_of(buf_str(&b), b.len));
    buf_done(&b);
}

static void before_sleep(void *arg)
{
    pump(arg);
}

static void on_tick(struct loop_timer *t)
{
    struct load *l = container_of(t, struct load, tick);
    loop_timer_set(l->loop, t, loop_now_ms(l->loop) + TICK_MS);
}

/* --- start --- */

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "peal_run_load: %s: %s\n", what, why);
    return 2;
}

static const char usage[] =
    "usage: peal_run_load [OPTIONS]\n"
    "  --kind SPEC          HANDLER[,param=TEXT][,block=STRATEGY][,timeout=S]; several: the jobs\n"
    "                       have them in turn. {id} in TEXT becomes the log id [emptyJobHandler]\n"
    "  --jobs N             [1000]\n"
    "  --runs N             to send; 0: until /stop [0]\n"
    "  --rate N             runs a second; 0: as fast as they are answered [0]\n"
    "  --open N             at most so many without a result; 0: any number [0]\n"
    "  --connections N      to the executor, 1-256 [4]\n"
    "  --window N           requests on their way in each, 1-256 [16]\n"
    "  --first-id N         log id of the first run [1]\n"
    "  --host HOST          to listen on [127.0.0.1]\n"
    "  --port N             of the center that executors register at; 0: any [0]\n"
    "  --control N          port of /stats, /ledger, /stop, /go, /away, /refuse, /back, /quit [0]\n"
    "The token comes from PEAL_ACCESS_TOKEN. Sending begins when an executor registers.\n";

static bool add_kind(struct load *l, char *spec)
{
    if (l->nkinds == KINDS_MAX)
        return false;
    struct kind *k = &l->kinds[l->nkinds++];
    *k = (struct kind){ .handler = strsep(&spec, ","), .block = "SERIAL_EXECUTION" };
    for (char *part; (part = strsep(&spec, ","));) {
        if (strncmp(part, "param=", 6) == 0) {
            char *id = strstr(part, "{id}");
            k->with_id = id;
            k->before = id ? slice_of(part + 6, (size_t)(id - part) - 6) : slice_text(part + 6);
            k->after = slice_text(id ? id + 4 : NULL);
        } else if (strncmp(part, "block=", 6) == 0) {
            k->block = part + 6;
        } else if (strncmp(part, "timeout=", 8) != 0 ||
                   !parse_int(slice_text(part + 8), &k->timeout_s)) {
            return false;
        }
    }
    return true;
}

static int read_options(struct load *l, int argc, char **argv)
{
    const struct {
        const char *name;
        int *to, min, max;
    } numbers[] = {
        { "jobs", &l->jobs, 1, 1 << 30 },
        { "runs", &l->runs, 0, 1 << 30 },
        { "rate", &l->rate, 0, 1 << 30 },
        { "open", &l->max_open, 0, 1 << 30 },
        { "connections", &l->connections, 1, CONNECTIONS_MAX },
        { "window", &l->window, 1, WINDOW_MAX },
        { "port", &l->port, 0, 65535 },
        { "control", &l->control_port, 0, 65535 },
    };
    struct option options[countof(numbers) + 4] = { { NULL, 0, NULL, 0 } };
    for (size_t i = 0; i < countof(numbers); i++)
        options[i] = (struct option){ numbers[i].name, required_argument, NULL, (int)i + 1000 };
    options[countof(numbers)] = (struct option){ "kind", required_argument, NULL, 'k' };
    options[countof(numbers) + 1] = (struct option){ "first-id", required_argument, NULL, 'i' };
    options[countof(numbers) + 2] = (struct option){ "host", required_argument, NULL, 'h' };
    bool good = true;
    for (int o; good && (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o >= 1000) {
            int *to = numbers[o - 1000].to;
            good = parse_int(slice_text(optarg), to) && *to >= numbers[o - 1000].min &&
                   *to <= numbers[o - 1000].max;
        } else if (o == 'k') {
            good = add_kind(l, optarg);
        } else if (o == 'i') {
            good = parse_i64(slice_text(optarg), &l->first_id) && l->first_id > 0;
        } else if (o == 'h') {
            l->host = optarg;
        } else {
            good = false;
        }
    }
    if (good && optind == argc)
        return 0;
    fputs(usage, stderr);
    return 2;
}

static enum err open_fronts(struct load *l, struct why *why)
{
    struct httpd_config cf = { .on_request = on_control, .arg = l };
    struct addr_listen at = { .port = (uint16_t)l->control_port };
    text_copy(at.host, sizeof(at.host), slice_text(l->host));
    l->center_port = (uint16_t)l->port;
    l->control = httpd_new(l->loop, &cf);
    enum err err = center_open(l, why);
    return err ? err : httpd_listen(l->control, &at, why);
}

int main(int argc, char **argv)
{
    static struct load l = { .host = "127.0.0.1",
                             .jobs = 1000,
                             .connections = 4,
                             .window = 16,
                             .first_id = 1,
                             .body = BUF_INIT(REQUEST_MAX) };
    struct why why = { { 0 } };
    char standard[] = "emptyJobHandler";
    l.token = getenv("PEAL_ACCESS_TOKEN") ? getenv("PEAL_ACCESS_TOKEN") : "";
    if (read_options(&l, argc, argv) || (!l.nkinds && !add_kind(&l, standard)))
        return 2;
    signal(SIGPIPE, SIG_IGN);
    l.loop = loop_new();
    if (open_fronts(&l, &why))
        return fail("cannot listen", why.text);
    for (int i = 0; i < l.connections; i++) {
        struct conn *c = &l.conns[i];
        c->load = &l;
        c->fd.fd = -1;
        c->again.fire = conn_again;
        buf_init(&c->out, 64u << 20);
        buf_init(&c->in, 64u << 20);
    }
    printf("center http://%s:%u control http://%s:%u\n", l.host, l.center_port, l.host,
           httpd_port(l.control));
    fflush(stdout);
    l.tick.fire = on_tick;
    if (l.rate)
        loop_timer_set(l.loop, &l.tick, loop_now_ms(l.loop) + TICK_MS);
    loop_before_sleep(l.loop, before_sleep, &l);
    loop_run(l.loop);
    return 0;
}
