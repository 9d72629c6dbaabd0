/* SPDX-License-Identifier: Apache-2.0 */
/* One thread owns all web connections, four workers own the calls that they run, and the lock is
 * held only while a call enters or leaves a queue. A call goes web loop -> queue -> worker ->
 * mailbox -> web loop, and is freed there. */
#include "api/front.h"
#include "api/alarm_look.h"
#include "api/answers.h"
#include "api/client.h"
#include "api/context.h"
#include "api/cookie.h"
#include "api/gate.h"
#include "api/idem.h"
#include "api/session.h"
#include "api/watch.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/thread.h"
#include "live/attention.h"
#include "live/board.h"
#include "live/feed.h"
#include "live/forecast.h"
#include "live/vitals.h"
#include "net/loop.h"
#include "wire/json.h"
#include "wire/texts.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORKERS 4
#define STOP_MS 2000 /* answers under way may leave when the center stops */

/* Of each class, how many requests run at once, and how many wait for that: above, one is answered
 * busy. A login takes 40 ms, so those that wait begin within two seconds or so. */
static const struct class
{
    int running, waiting;
} classes[WEB_CLASSES] = {
    [WEB_PAGE] = { WORKERS, 900 },
    [WEB_EXECUTOR] = { 2, 64 },
    [WEB_PASSWORD] = { 1, 32 },
};

enum message_kind { MESSAGE_MOVED, MESSAGE_ANSWER, MESSAGE_STOP, MESSAGE_LOG };

struct web {
    struct center *center;
    const struct api_config *config;
    struct logins *logins;
    struct router_match (*find)(struct slice method, struct slice path);
    void (*serve)(struct web_call *call);
    bool (*stays)(struct slice path);
    bool (*page)(struct httpd_request *q, struct slice path, const char *context);
    /* web loop's thread */
    struct loop *loop;
    struct rate_table rates;
    struct httpd *front;
    struct feed *feed;
    struct feed_reader edits; /* what the forecast follows */
    struct forecast *forecast;
    struct web_live live;
    bool checking; /* whether viewers may still see what they see */
    struct alarm_look *alarms;
    struct loop_timer alarms_timer;
    bool looking; /* at alarms */
    struct board *board;
    struct attention *attention;
    struct vitals *vitals;
    struct answers *answers;
    struct loop_timer patience;
    struct mailbox *mailbox; /* into it: moved connections, answers, the stop */
    struct loop_mailbox incoming;
    struct message stop;
    pthread_t thread;
    /* scheduler's thread */
    struct mailbox *back; /* connections that turned to what executors call */
    struct loop_mailbox back_incoming;
    /* workers */
    pthread_t workers[WORKERS];
    int nworkers;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t ready;
    struct waiting queues[WEB_CLASSES];
    int running[WEB_CLASSES];
    bool stopping;
};

/* ---- calls ------------------------------------------------------------------------------------
 */

static enum web_class class_of(const struct router_match *m)
{
    return m->near ? m->near->class : WEB_PAGE;
}

static struct web_call *call_new(struct web *w, struct httpd_request *q)
{
    struct web_call *call = mem_new(sizeof(*call));
    call->method = q->method;
    call->path = context_cut(q->path);
    call->query = q->query;
    call->body = q->body;
    call->type = httpd_header(q, "Content-Type");
    call->encoding = httpd_header(q, "Content-Encoding");
    call->accept = httpd_header(q, "Accept");
    call->authorization = httpd_header(q, "Authorization");
    call->cookie = httpd_header(q, "Cookie");
    call->origin = httpd_header(q, "Origin");
    call->referer = httpd_header(q, "Referer");
    call->fetch_site = httpd_header(q, "Sec-Fetch-Site");
    call->if_match = httpd_header(q, "If-Match");
    call->if_none_match = httpd_header(q, "If-None-Match");
    call->idempotency_key = httpd_header(q, "Idempotency-Key");
    call->last_event_id = httpd_header(q, "Last-Event-ID");
    call->traceparent = httpd_header(q, WIRE_HEADER_TRACE);
    struct client client;
    client_of(q, &client);
    call->host = client.host;
    call->source = call->waiting.source = client.source;
    memcpy(call->peer, client.address, sizeof(call->peer));
    call->tls = client.tls;
    struct httpd_stats stats;
    httpd_stats(q->front, &stats);
    call->streams = stats.streams;
    call->max_streams = stats.max_streams;
    call->message.kind = MESSAGE_ANSWER;
    call->request = q;
    call->config = w->config;
    call->center = w->center;
    call->logins = w->logins;
    call->forecast = w->forecast;
    call->board = w->board;
    call->vitals = w->vitals;
    call->answers = w->answers;
    call->context = context_of(q->path);
    call->cookie_path = context_is_prefix(q->path) ? call->context : "/";
    call->status = 200;
    call->content_type = "application/json;charset=UTF-8";
    buf_init(&call->headers, 8192);
    buf_init(&call->output, WEB_REPLY_MAX);
    call->match = w->find(call->method, call->path);
    if (call->match.table->problems)
        request_id_new(call->request_id);
    return call;
}

static void call_free(struct web_call *call)
{
    form_done(&call->form);
    wire_json_free(call->json);
    gate_large_done(call);
    user_record_done(&call->user);
    token_record_done(&call->token);
    actor_free(call->actor);
    if (call->who)
        viewer_who_done(call->who);
    free(call->who);
    (call->wish_free ? call->wish_free : free)(call->wish);
    idem_unref(call->idem);
    buf_done(&call->headers);
    buf_done(&call->output);
    free(call);
}

/* ---- workers -----------------------------------------------------------------------------------
 */

/* The call that has no place then, or NULL. */
static struct web_call *queue_call(struct web *w, struct web_call *call)
{
    pthread_mutex_lock(&w->lock);
    struct waiting_call *out =
        w->stopping ? &call->waiting
                    : waiting_put(&w->queues[class_of(&call->match)], &call->waiting);
    pthread_cond_signal(&w->ready);
    pthread_mutex_unlock(&w->lock);
    return out ? container_of(out, struct web_call, waiting) : NULL;
}

/* The next call that its class allows; waits for one. NULL: stop. Called with the lock. */
static struct web_call *next_call(struct web *w, enum web_class *ret_class)
{
    while (!w->stopping) {
        for (int i = 0; i < WEB_CLASSES; i++) {
            if (w->running[i] >= classes[i].running)
                continue;
            struct waiting_call *next = waiting_take(&w->queues[i]);
            if (next) {
                w->running[i]++;
                *ret_class = (enum web_class)i;
                return container_of(next, struct web_call, waiting);
            }
        }
        pthread_cond_wait(&w->ready, &w->lock);
    }
    return NULL;
}

static void *work(void *arg)
{
    struct web *w = arg;
    struct store *db = NULL;
    enum web_class class;
    struct web_call *call;
    pthread_mutex_lock(&w->lock);
    while ((call = next_call(w, &class))) {
        pthread_mutex_unlock(&w->lock);
        struct why why = { "" };
        if (!db && center_reader(w->center, &db, &why))
            log_warn("web", "pages cannot be read: %s", why.text);
        call->db = db;
        (call->task ? call->task : w->serve)(call);
        mailbox_send(w->mailbox, &call->message);
        pthread_mutex_lock(&w->lock);
        w->running[class]--;
        pthread_cond_signal(&w->ready); /* its class may have had to wait for this */
    }
    pthread_mutex_unlock(&w->lock);
    store_close(db);
    return NULL;
}

/* ---- how often somebody may ask ----------------------------------------------------------------
 * Before a worker is taken, so the token or session is only a text: until an answer has shown that
 * it is somebody's, its requests count as those of their address. Else a flood of invented tokens
 * would be as many askers. */

static struct slice bearer_of(const struct web_call *call)
{
    struct slice a = call->authorization;
    bool bearer = a.n > 7 && strncasecmp(a.p, "Bearer ", 7) == 0;
    return bearer ? slice_trim(slice_of(a.p + 7, a.n - 7)) : slice_of(NULL, 0);
}

static struct slice session_of(const struct web_call *call)
{
    for (size_t i = 0; cookie_names[i]; i++) {
        struct slice rest = call->cookie, value = cookie_next(&rest, cookie_names[i]);
        if (value.p)
            return value;
    }
    return slice_of(NULL, 0);
}

static bool is_login(const struct web_call *call)
{
    const struct web_route *row = call->match.row;
    return row && row->class == WEB_PASSWORD && row->permission == PERM_PUBLIC;
}

/* Which policy holds for the call. */
static void rate_policy(struct web *w, struct web_call *call)
{
    struct call_rate *r = &call->rate;
    struct slice token = bearer_of(call), session = session_of(call);
    r->stranger = true;
    if (is_login(call)) {
        r->name = "login";
        r->quota = w->config->login_limit;
    } else if (token.n) {
        r->name = "token";
        r->quota = w->config->token_limit;
        r->key = rate_key(&w->rates, 't', token);
    } else {
        r->name = "session";
        r->quota = w->config->session_limit;
        r->key = session.n ? rate_key(&w->rates, 's', session) : 0;
    }
    r->stranger = !r->key || !rate_known(&w->rates, r->key);
    if (r->quota <= 0 || !call->match.table->problems)
        r->name = NULL;
}

/* False: too often. Logins are counted by their failures, where they are looked at. */
static bool rate_admit(struct web *w, struct web_call *call)
{
    struct call_rate *r = &call->rate;
    struct slice source = slice_of((const char *)&call->source, sizeof(call->source));
    rate_policy(w, call);
    if (!r->name)
        return true;
    if (is_login(call)) {
        r->state = logins_state(w->logins, call->source, r->quota);
        return true;
    }
    uint64_t key = r->stranger ? rate_key(&w->rates, 'a', source) : r->key;
    return rate_take(&w->rates, key, r->quota, clock_boot_ms(), &r->state);
}

/* Behind the answer, which may have shown who it was. */
static void rate_answer(struct web *w, struct web_call *call)
{
    struct call_rate *r = &call->rate;
    if (!r->name)
        return;
    if (is_login(call)) {
        r->state = logins_state(w->logins, call->source, r->quota);
    } else if (r->key && r->stranger && call->user.id) {
        rate_keep(&w->rates, r->key, r->quota, clock_boot_ms());
        (void)rate_take(&w->rates, r->key, r->quota, clock_boot_ms(), &r->state);
    }
    buf_printf(&call->headers,
               "RateLimit: \"%s\";r=%d;t=%lld\r\nRateLimit-Policy: \"%s\";q=%d;w=%d\r\n", r->name,
               r->state.left, (long long)(r->state.full_ms + 999) / 1000, r->name, r->quota,
               RATE_WINDOW_S);
}

/* ---- the web loop ------------------------------------------------------------------------------
 */

static void give_back(struct web *w, struct httpd_request *q)
{
    struct httpd_moved *m = httpd_detach(q);
    m->message.kind = MESSAGE_MOVED;
    mailbox_send(w->back, &m->message);
}

static size_t body_max(const struct router_match *m)
{
    return class_of(m) == WEB_PASSWORD ? WEB_PASSWORD_BODY_MAX : WEB_BODY_MAX;
}

static void send_answer(struct web *w, struct web_call *call)
{
    if (call->done) {
        call->done(call, &w->live);
        *call->under_way = false;
        call_free(call);
        return;
    }
    rate_answer(w, call);
    if (call->user.id)
        httpd_proved(call->request);
    if (call->stream && call->status == 200 && call->stream(call, &w->live)) {
        call_free(call);
        return;
    }
    if (call->output.failed || call->headers.failed)
        httpd_reply_error(call->request, 500, "the answer is larger than this server sends");
    else
        httpd_reply(call->request, call->status, call->content_type,
                    slice_of(call->headers.data, call->headers.len),
                    slice_of(call->output.data, call->output.len));
    call_free(call);
}

/* Answer without a worker. */
static void refuse(struct web *w, struct web_call *call, enum problem_kind kind, const char *text)
{
    if (call->done) { /* there will be a next time */
        *call->under_way = false;
        call_free(call);
        return;
    }
    if (!call->match.table->problems) {
        httpd_reply_error(call->request, problem_status(kind), text);
        call_free(call);
        return;
    }
    gate_headers(call);
    if (kind == PROBLEM_UNAVAILABLE)
        problem_wait(call, kind, 1000, text);
    else if (kind == PROBLEM_TOO_MANY)
        problem_wait(call, kind, call->rate.state.wait_ms, text);
    else
        problem(call, kind, "%s", text);
    send_answer(w, call);
}

static const char too_large[] = "the body is larger than allowed";

/* Is the body of the length that its head says too large for an API that answers with problems? A
 * chunked body has no length there: the front under us counts it, and refuses in its own way. */
static bool refuse_length(struct web *w, struct httpd_request *q, const struct router_match *m)
{
    int64_t n;
    if (!m->table->problems || !parse_i64(httpd_header(q, "Content-Length"), &n) ||
        n <= (int64_t)body_max(m))
        return false;
    refuse(w, call_new(w, q), PROBLEM_TOO_LARGE, too_large);
    return true;
}

static size_t on_web_head(struct httpd_request *q, void *arg)
{
    struct web *w = arg;
    if (w->stays(q->path)) {
        give_back(w, q);
        return 0;
    }
    struct router_match m = w->find(q->method, context_cut(q->path));
    if (refuse_length(w, q, &m))
        return 0;
    return m.near ? body_max(&m) : 0;
}

static void on_web_request(struct httpd_request *q, void *arg)
{
    struct web *w = arg;
    if (w->stays(q->path)) {
        give_back(w, q);
        return;
    }
    if (w->page(q, context_cut(q->path), context_of(q->path)))
        return;
    struct web_call *call = call_new(w, q);
    if (q->body.n > body_max(&call->match)) {
        refuse(w, call, PROBLEM_TOO_LARGE, too_large);
        return;
    }
    if (!rate_admit(w, call)) {
        refuse(w, call, PROBLEM_TOO_MANY, "too many requests in this minute: see RateLimit-Policy");
        return;
    }
    struct web_call *out = queue_call(w, call);
    if (out)
        refuse(w, out, PROBLEM_UNAVAILABLE, "busy: too many requests wait, try again");
}

/* ---- streams -----------------------------------------------------------------------------------
 */

static void ask_log(void *arg, struct center_log_ask *a)
{
    struct web *w = arg;
    center_log_ask(w->center, a, w->mailbox, MESSAGE_LOG);
}

/* A call of the server's own; under_way: while there is one no other is made. */
static struct web_call *call_own(struct web *w, bool *under_way)
{
    struct web_call *call = mem_new(sizeof(*call));
    call->message.kind = MESSAGE_ANSWER;
    call->config = w->config;
    call->center = w->center;
    call->logins = w->logins;
    call->forecast = w->forecast;
    call->under_way = under_way;
    buf_init(&call->headers, 0);
    buf_init(&call->output, 0);
    return call;
}

static void queue_own(struct web *w, struct web_call *call)
{
    *call->under_way = true;
    struct web_call *out = queue_call(w, call);
    if (out)
        refuse(w, out, PROBLEM_UNAVAILABLE, "busy: too many requests wait, try again");
}

/* Whoever has logged out since, or has other rights now, sees no more. */
static void check_viewers(void *arg)
{
    struct web *w = arg;
    if (w->checking || !viewers_count(w->live.viewers))
        return;
    struct web_call *call = call_own(w, &w->checking);
    watch_collect(call, w->live.viewers);
    queue_own(w, call);
}

static void look_at_alarms(struct loop_timer *t)
{
    struct web *w = container_of(t, struct web, alarms_timer);
    loop_timer_set(w->loop, t, loop_now_ms(w->loop) + ALARM_LOOK_MS);
    if (w->looking || !alarm_look_wanted(w->alarms, w->live.events))
        return;
    struct web_call *call = call_own(w, &w->looking);
    alarm_look_collect(call, w->alarms);
    queue_own(w, call);
}

static void write_vitals(void *arg, struct jsonw *to)
{
    struct web *w = arg;
    struct vitals_now v;
    vitals_read(w->vitals, &v);
    jsonw_bool(to, "ok", v.ok);
    jsonw_i64(to, "inFlight", v.in_flight);
    jsonw_i64(to, "waiting", v.waiting);
    jsonw_i64(to, "unknown", v.unknown);
    if (v.lateness_p99_ms >= 0)
        jsonw_real(to, "latenessP99Ms", v.lateness_p99_ms);
    else
        jsonw_null(to, "latenessP99Ms");
    jsonw_i64(to, "horizonMs", v.horizon_ms);
    jsonw_i64(to, "nowMs", clock_wall_ms());
}

static void on_begin(struct feed_reader *r, const struct run_seen *open, size_t n)
{
    (void)r;
    (void)open;
    (void)n;
}

static void on_edits(struct feed_reader *r, const struct feed_edit *edits, size_t n)
{
    struct web *w = container_of(r, struct web, edits);
    for (size_t i = 0; i < n; i++)
        if (edits[i].kind <= EDIT_JOB_DELETE)
            forecast_changed(w->forecast, edits[i].id);
}

static void live_new(struct web *w)
{
    w->live.viewers = viewers_new(w->loop, 0, check_viewers, w);
    struct tails_config tails = {
        .loop = w->loop, .viewers = w->live.viewers, .ask = ask_log, .arg = w
    };
    w->live.tails = tails_new(&tails);
}

/* The feed is there. */
static void live_start(struct web *w)
{
    struct events_config events = { .loop = w->loop,
                                    .viewers = w->live.viewers,
                                    .feed = w->feed,
                                    .vitals = write_vitals,
                                    .arg = w };
    w->live.events = events_new(&events);
    w->alarms = alarm_look_new();
    w->alarms_timer.fire = look_at_alarms;
    loop_timer_set(w->loop, &w->alarms_timer, loop_now_ms(w->loop) + ALARM_LOOK_MS);
}

static void live_free(struct web *w)
{
    viewers_free(w->live.viewers);
    tails_free(w->live.tails);
    events_free(w->live.events);
    loop_timer_clear(w->loop, &w->alarms_timer);
    alarm_look_free(w->alarms);
}

static void on_web_message(struct loop_mailbox *m, struct message *l)
{
    struct web *w = container_of(m, struct web, incoming);
    switch (l->kind) {
    case MESSAGE_MOVED:
        httpd_attach(w->front, container_of(l, struct httpd_moved, message));
        break;
    case MESSAGE_ANSWER:
        send_answer(w, container_of(l, struct web_call, message));
        break;
    case MESSAGE_LOG:
        tails_answered(w->live.tails, container_of(l, struct center_log_ask, message));
        break;
    case MESSAGE_STOP:
        viewers_bye(w->live.viewers);
        loop_timer_set(w->loop, &w->patience, loop_now_ms(w->loop) + STOP_MS);
        httpd_drain(w->front);
        break;
    }
}

static void on_drained(void *arg)
{
    loop_stop(((struct web *)arg)->loop);
}

static void on_patience(struct loop_timer *t)
{
    loop_stop(container_of(t, struct web, patience)->loop);
}

static void *web_main(void *arg)
{
    loop_run(((struct web *)arg)->loop);
    return NULL;
}

/* ---- the scheduler's side ----------------------------------------------------------------------
 */

void web_take(struct web *w, struct httpd_request *q)
{
    struct httpd_moved *m = httpd_detach(q);
    m->message.kind = MESSAGE_MOVED;
    mailbox_send(w->mailbox, &m->message);
}

static void on_back(struct loop_mailbox *m, struct message *l)
{
    struct web *w = container_of(m, struct web, back_incoming);
    httpd_attach(center_front(w->center), container_of(l, struct httpd_moved, message));
}

/* ---- start, stop --------------------------------------------------------------------------------
 */

static enum err start(struct web *w, struct why *why)
{
    enum err err = loop_mailbox_add(w->loop, &w->incoming);
    if (!err)
        err = loop_mailbox_add(center_loop(w->center), &w->back_incoming);
    if (!err)
        err = feed_new(w->center, w->loop, &w->feed);
    struct store *reader = NULL;
    if (!err)
        err = center_reader(w->center, &reader, why);
    if (err) {
        why_set(why, "no descriptors left");
        return err;
    }
    err = forecast_new(w->center, &w->forecast, why);
    if (err)
        return err;
    w->edits.begin = on_begin;
    w->edits.edits = on_edits;
    feed_add(w->feed, &w->edits);
    live_start(w);
    w->board = board_new(w->feed, w->loop, center_figures(w->center), reader);
    w->attention = attention_new(w->center, w->loop, w->board);
    w->vitals = vitals_new(w->center, w->loop);
    w->answers = answers_new();
    char name[32];
    int rc = thread_start(&w->thread, "peal-web", 0, web_main, w);
    while (!rc && w->nworkers < WORKERS) {
        snprintf(name, sizeof(name), "peal-web-%d", w->nworkers + 1);
        rc = thread_start(&w->workers[w->nworkers], name, 0, work, w);
        w->nworkers += rc == 0;
    }
    if (!rc)
        return OK;
    log_error("web", "cannot start a thread: %s", strerror(rc));
    abort(); /* at start, with nothing done yet */
}

enum err web_new(struct center *c, const struct api_config *config,
                 struct router_match (*find)(struct slice method, struct slice path),
                 void (*serve)(struct web_call *call), bool (*stays)(struct slice path),
                 bool (*page)(struct httpd_request *q, struct slice path, const char *context),
                 struct web **ret, struct why *why)
{
    struct web *w = mem_new(sizeof(*w));
    w->center = c;
    w->config = config;
    w->logins = logins_new();
    secret_random(&w->rates.secret, sizeof(w->rates.secret));
    w->find = find;
    w->serve = serve;
    w->stays = stays;
    w->page = page;
    w->loop = loop_new();
    struct httpd_config front = { .on_request = on_web_request,
                                  .on_drained = on_drained,
                                  .arg = w,
                                  .on_head = on_web_head,
                                  .max_streams = config->streams_max,
                                  .body_max = WEB_BODY_MAX,
                                  .bodies_max = WEB_BODIES_MAX,
                                  .answered = &center_metrics(c)->http_requests };
    w->front = httpd_new(w->loop, &front);
    live_new(w);
    w->mailbox = mailbox_new();
    w->back = mailbox_new();
    w->incoming.mailbox = w->mailbox;
    w->incoming.message = on_web_message;
    w->back_incoming.mailbox = w->back;
    w->back_incoming.message = on_back;
    w->patience.fire = on_patience;
    w->stop.kind = MESSAGE_STOP;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ready, NULL);
    for (int i = 0; i < WEB_CLASSES; i++)
        waiting_init(&w->queues[i], classes[i].waiting);
    enum err err = start(w, why);
    if (err) {
        free(w); /* the process ends: nothing was started */
        return err;
    }
    *ret = w;
    return OK;
}

static void drop_messages(struct mailbox *m)
{
    struct list rest;
    list_init(&rest);
    while (mailbox_take(m, &rest))
        ;
    for (struct list_node *n; (n = list_pop(&rest));) {
        struct message *l = container_of(n, struct message, node);
        if (l->kind == MESSAGE_MOVED)
            httpd_moved_free(container_of(l, struct httpd_moved, message));
        else if (l->kind == MESSAGE_ANSWER)
            call_free(container_of(l, struct web_call, message));
        else if (l->kind == MESSAGE_LOG)
            center_log_ask_free(container_of(l, struct center_log_ask, message));
    }
}

void web_free(struct web *w)
{
    if (!w)
        return;
    mailbox_send(w->mailbox, &w->stop);
    pthread_join(w->thread, NULL);
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    pthread_cond_broadcast(&w->ready);
    pthread_mutex_unlock(&w->lock);
    for (int i = 0; i < w->nworkers; i++)
        pthread_join(w->workers[i], NULL);
    for (int i = 0; i < WEB_CLASSES; i++)
        for (struct waiting_call *n; (n = waiting_take(&w->queues[i]));)
            call_free(container_of(n, struct web_call, waiting));
    live_free(w);
    httpd_free(w->front);
    feed_remove(w->feed, &w->edits);
    forecast_free(w->forecast);
    answers_free(w->answers);
    vitals_free(w->vitals);
    attention_free(w->attention);
    board_free(w->board);
    feed_free(w->feed);
    loop_mailbox_remove(w->loop, &w->incoming);
    loop_mailbox_remove(center_loop(w->center), &w->back_incoming);
    drop_messages(w->mailbox);
    drop_messages(w->back);
    mailbox_free(w->mailbox);
    mailbox_free(w->back);
    loop_free(w->loop);
    pthread_cond_destroy(&w->ready);
    pthread_mutex_destroy(&w->lock);
    logins_free(w->logins);
    free(w);
}
