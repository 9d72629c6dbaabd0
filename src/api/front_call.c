/* SPDX-License-Identifier: Apache-2.0 */
/* front_call.c - a call: made of a request, answered, freed. */
#include "api/front_internal.h"
#include "api/client.h"
#include "api/context.h"
#include "api/gate.h"
#include "api/idem.h"
#include "base/mem.h"
#include "wire/json.h"
#include "wire/texts.h"
#include <stdlib.h>
#include <string.h>

struct web_call *web_call_new(struct web *w, struct httpd_request *q)
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

void web_call_free(struct web_call *call)
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

void web_answer(struct web *w, struct web_call *call)
{
    if (call->done) {
        call->done(call, &w->live);
        *call->under_way = false;
        web_call_free(call);
        return;
    }
    web_rate_answer(w, call);
    if (call->user.id)
        httpd_proved(call->request);
    if (call->stream && call->status == 200 && call->stream(call, &w->live)) {
        web_call_free(call);
        return;
    }
    if (call->output.failed || call->headers.failed)
        httpd_reply_error(call->request, 500, "the answer is larger than this server sends");
    else
        httpd_reply(call->request, call->status, call->content_type,
                    slice_of(call->headers.data, call->headers.len),
                    slice_of(call->output.data, call->output.len));
    web_call_free(call);
}

void web_refuse(struct web *w, struct web_call *call, enum problem_kind kind, const char *text)
{
    if (call->done) { /* there will be a next time */
        *call->under_way = false;
        web_call_free(call);
        return;
    }
    if (!call->match.table->problems) {
        httpd_reply_error(call->request, problem_status(kind), text);
        web_call_free(call);
        return;
    }
    gate_headers(call);
    if (kind == PROBLEM_UNAVAILABLE)
        problem_wait(call, kind, 1000, text);
    else if (kind == PROBLEM_TOO_MANY)
        problem_wait(call, kind, call->rate.state.wait_ms, text);
    else
        problem(call, kind, "%s", text);
    web_answer(w, call);
}

void web_queue_or_refuse(struct web *w, struct web_call *call)
{
    struct web_call *out = web_queue(w, call);
    if (out)
        web_refuse(w, out, PROBLEM_UNAVAILABLE, "busy: too many requests wait, try again");
}
