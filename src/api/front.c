/* SPDX-License-Identifier: Apache-2.0 */
/* front.c - the web loop: requests come in, answers go out, connections move to the scheduler's
 * loop and back.
 *
 * One thread owns all web connections, four workers own the calls that they run. A call goes web
 * loop -> queue -> worker -> mailbox -> web loop, and is freed there. */
#include "api/front_internal.h"
#include "api/answers.h"
#include "api/context.h"
#include "api/session.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/thread.h"
#include "live/attention.h"
#include "live/board.h"
#include "live/forecast.h"
#include "live/vitals.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STOP_MS 2000 /* answers under way may leave when the center stops */

static void give_back(struct web *w, struct httpd_request *q)
{
    struct httpd_moved *m = httpd_detach(q);
    m->message.kind = MESSAGE_MOVED;
    mailbox_send(w->back, &m->message);
}

static size_t body_max(const struct router_match *m)
{
    return web_class_of(m) == WEB_PASSWORD ? WEB_PASSWORD_BODY_MAX : WEB_BODY_MAX;
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
    web_refuse(w, web_call_new(w, q), PROBLEM_TOO_LARGE, too_large);
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
    struct web_call *call = web_call_new(w, q);
    if (q->body.n > body_max(&call->match)) {
        web_refuse(w, call, PROBLEM_TOO_LARGE, too_large);
        return;
    }
    if (!web_rate_admit(w, call)) {
        web_refuse(w, call, PROBLEM_TOO_MANY,
                   "too many requests in this minute: see RateLimit-Policy");
        return;
    }
    web_queue_or_refuse(w, call);
}

static void on_web_message(struct loop_mailbox *m, struct message *l)
{
    struct web *w = container_of(m, struct web, incoming);
    switch (l->kind) {
    case MESSAGE_MOVED:
        httpd_attach(w->front, container_of(l, struct httpd_moved, message));
        break;
    case MESSAGE_ANSWER:
        web_answer(w, container_of(l, struct web_call, message));
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
    if (err) {
        store_close(reader);
        return err;
    }
    web_live_start(w);
    w->board = board_new(w->feed, w->loop, center_figures(w->center), reader);
    w->attention = attention_new(w->center, w->loop, w->board);
    w->vitals = vitals_new(w->center, w->loop);
    w->answers = answers_new();
    char name[32];
    int rc = thread_start(&w->thread, "peal-web", 0, web_main, w);
    while (!rc && w->nworkers < WEB_WORKERS) {
        snprintf(name, sizeof(name), "peal-web-%d", w->nworkers + 1);
        rc = thread_start(&w->workers[w->nworkers], name, 0, web_work, w);
        w->nworkers += rc == 0;
    }
    if (!rc)
        return OK;
    log_error("web", "cannot start a thread: %s", strerror(rc));
    abort(); /* at start, with nothing done yet */
}

/* A start that failed, before the first thread. */
static void web_undo(struct web *w)
{
    web_live_undo(w);
    httpd_free(w->front);
    feed_free(w->feed);
    if (list_linked(&w->incoming.node))
        loop_mailbox_remove(w->loop, &w->incoming);
    if (list_linked(&w->back_incoming.node))
        loop_mailbox_remove(center_loop(w->center), &w->back_incoming);
    mailbox_free(w->mailbox);
    mailbox_free(w->back);
    loop_free(w->loop);
    pthread_cond_destroy(&w->ready);
    pthread_mutex_destroy(&w->lock);
    logins_free(w->logins);
    free(w);
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
    web_live_new(w);
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
    web_queues_init(w);
    enum err err = start(w, why);
    if (err) {
        web_undo(w);
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
            web_call_free(container_of(l, struct web_call, message));
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
            web_call_free(container_of(n, struct web_call, waiting));
    web_live_free(w);
    httpd_free(w->front);
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
