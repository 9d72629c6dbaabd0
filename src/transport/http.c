/* SPDX-License-Identifier: Apache-2.0 */
/* http.c - calls as XXL-JOB's executors take them: a POST to the address, one body a kind, and what
 * the answer means.
 *
 * One peer of the client an address, made at first use and kept while it has a connection:
 * addresses of containers come and go for ever. What an outcome proves is net/httpc.h's; here
 * ANSWERED is refined once more, because a proxy's page says nothing about the executor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/mem.h"
#include "net/httpc.h"
#include "net/targets.h"
#include "transport/transport.h"
#include "wire/executor_api.h"
#include "wire/log_scan.h"
#include "wire/open_api.h"
#include "wire/texts.h"

#define CALL_TIMEOUT_MS 3000 /* as the original's default */
#define PAGE_TIMEOUT_MS 5000 /* of a log's page, for which a user waits */
#define PAGE_MAX (8u << 20)
#define FORM_MAX (4u << 20) /* a job's texts in a /run body */
#define BODY_MAX (8u << 20)
#define SWEEP_MS 60000

extern const struct transport_ops transport_http; /* the row's */

struct http {
    struct transport base;
    struct httpc *client;
    struct textmap peers; /* address -> struct httpc_peer */
    int64_t sweep_ms;     /* boot: when they are looked through again */
    struct buf body;      /* of the call that is begun; kept */
};

struct out_call {
    struct httpc_call http;
    struct transport_call *of;
    enum call_kind kind;
    struct wire_log_scan scan; /* LOG without a page */
};

/* ---- addresses ------------------------------------------------------------------------------ */

static struct http *http_of(struct transport *t)
{
    return container_of(t, struct http, base);
}

static enum err peer_of(struct http *h, const char *address, struct httpc_peer **ret,
                        struct why *why)
{
    struct slice key = slice_text(address);
    *ret = textmap_find(&h->peers, key);
    if (*ret)
        return OK;
    enum err err = httpc_peer_new(h->client, key, ret, why);
    if (!err)
        textmap_set(&h->peers, key, *ret);
    return err;
}

static void sweep(struct transport *t, int64_t boot_ms)
{
    struct http *h = http_of(t);
    void *value;
    if (boot_ms < h->sweep_ms)
        return;
    h->sweep_ms = boot_ms + SWEEP_MS;
    for (size_t i = 0; textmap_next(&h->peers, &i, &value);) {
        if (httpc_peer_connections(value))
            continue;
        /* what moves into its place is looked at the next time */
        textmap_take(&h->peers, slice_text(httpc_peer_address(value)));
        httpc_peer_free(value);
    }
}

static void warm(struct transport *t, const char *address, int connections)
{
    struct why why = { "" };
    struct httpc_peer *peer;
    if (!peer_of(http_of(t), address, &peer, &why)) /* else the first run says what is wrong */
        httpc_warm(peer, connections);
}

/* ---- answers -------------------------------------------------------------------------------- */

static enum log_state log_state_of(const struct out_call *o)
{
    bool whole = o->http.outcome == HTTPC_ANSWERED;
    switch (wire_log_scan_end(&o->scan, o->http.status, whole)) {
    case WIRE_LOG_NONE:
        return LOG_NONE;
    case WIRE_LOG_STARTED:
        return LOG_STARTED;
    case WIRE_LOG_ENDED:
        return LOG_ENDED;
    default:
        return LOG_CANNOT_TELL;
    }
}

static enum call_outcome outcome_of(const struct httpc_call *http)
{
    switch (http->outcome) {
    case HTTPC_ANSWERED:
        return CALL_ANSWERED;
    case HTTPC_NOT_SENT:
        return http->err == ERR_FULL        ? CALL_FULL
               : http->err == ERR_TOOBIG    ? CALL_UNFIT
               : http->err == ERR_OVERTAKEN ? CALL_AGAIN
                                            : CALL_NOT_SENT;
    case HTTPC_NOT_HTTP:
        return CALL_FOREIGN;
    default:
        return CALL_IN_DOUBT;
    }
}

/* The caller's memory may go with done, and so ours goes here. */
static void tell(struct out_call *o, struct call_result *r)
{
    struct transport_call *c = o->of;
    c->sent_us = o->http.sent_us;
    c->err = r->outcome == CALL_ANSWERED ? OK : o->http.err;
    if (r->outcome == CALL_FOREIGN && o->kind == CALL_RUN)
        r->msg = slice_text("the address does not speak HTTP; it looks like a 2.1 executor "
                            "(binary protocol)");
    else if (r->outcome != CALL_ANSWERED && o->http.why)
        r->msg = slice_text(o->http.why);
    c->done(c, r);
    free(o);
}

static void tell_reply(struct out_call *o, struct call_result *r)
{
    struct wire_reply reply;
    wire_reply_parse(o->http.status, o->http.body, &reply);
    r->code = reply.code;
    r->repeat = reply.repeat;
    r->msg = reply.msg.n ? reply.msg : reply.note;
    if (o->kind == CALL_RUN && r->code != 200 && !reply.clear)
        r->outcome = CALL_IN_DOUBT; /* a proxy's page proves no refusal */
    tell(o, r);
    wire_reply_done(&reply);
}

static void tell_page(struct out_call *o, struct call_result *r)
{
    struct transport_page *page = o->of->page;
    struct wire_log_page got;
    wire_log_page_parse(o->http.status, o->http.body, PAGE_MAX, &got);
    r->code = got.reply.code;
    r->msg = got.reply.msg;
    page->present = got.present;
    if (got.present)
        *page =
            (struct transport_page){ got.from_line, got.to_line, true, got.is_end, got.content };
    tell(o, r);
    wire_log_page_done(&got);
}

static void on_done(struct httpc_call *http)
{
    struct out_call *o = container_of(http, struct out_call, http);
    struct call_result r = { .outcome = outcome_of(http) };
    bool scanned = o->kind == CALL_LOG && !o->of->page;
    if (scanned)
        r.log = log_state_of(o);
    if (r.outcome != CALL_ANSWERED || scanned)
        tell(o, &r);
    else if (o->kind == CALL_LOG)
        tell_page(o, &r);
    else
        tell_reply(o, &r);
}

static bool on_log_piece(struct httpc_call *http, struct slice piece)
{
    wire_log_scan_feed(&container_of(http, struct out_call, http)->scan, piece);
    return true;
}

static bool on_leaving(struct httpc_call *http)
{
    struct transport_call *c = container_of(http, struct out_call, http)->of;
    return c->leaving(c->arg);
}

/* ---- calls ---------------------------------------------------------------------------------- */

static bool run_form(struct job *j, struct wire_run_form *ret)
{
    if (!j->form) {
        struct wire_job w = {
            .job_id = j->id,
            .handler = slice_text(j->handler),
            .params = slice_text(j->param),
            .block = slice_text(block_text(j->block)),
            .timeout_s = j->timeout_s,
            .glue_type = slice_text(j->glue_type),
            .glue_source = slice_text(j->glue_source),
            .glue_update_ms = j->glue_updated_ms,
        };
        struct wire_run_form form;
        if (wire_run_form_init(&form, &w, FORM_MAX))
            return false;
        j->form = form.text;
        memcpy(j->form_parts, (uint32_t[]){ form.head, form.params, form.middle, form.tail },
               sizeof(j->form_parts));
    }
    *ret = (struct wire_run_form){ j->form, j->form_parts[0], j->form_parts[1], j->form_parts[2],
                                   j->form_parts[3] };
    return true;
}

static bool run_body(const struct call *call, struct buf *out)
{
    struct wire_run_form form;
    if (!run_form(call->job, &form))
        return false;
    bool own = call->param != call->job->param;
    struct slice params = slice_text(call->param);
    struct wire_run run = {
        .log_id = call->log_id,
        .log_date_ms = call->log_time_ms,
        .shard = call->shard,
        .shard_total = call->shard_total,
        .params = own ? &params : NULL,
    };
    wire_run_body(out, &form, &run);
    return !out->failed;
}

static bool body_of(const struct call *call, const struct transport_page *page, struct buf *out)
{
    switch (call->kind) {
    case CALL_RUN:
        return run_body(call, out);
    case CALL_BEAT:
        buf_text(out, WIRE_BEAT_BODY);
        return true;
    case CALL_LOG:
        wire_log_body(out, call->log_id, call->log_time_ms, page ? page->from_line : 1);
        return true;
    default:
        wire_job_body(out, call->job_id);
        return true;
    }
}

static const char *action_of(enum call_kind kind)
{
    static const char *const names[] = { "run", "beat", "idleBeat", "log", "kill" };
    return names[kind];
}

static struct out_call *out_new(const struct call *call, struct transport_call *c)
{
    struct out_call *o = mem_new(sizeof(*o));
    o->of = c;
    o->kind = call->kind;
    o->http.done = on_done;
    if (c->leaving)
        o->http.leaving = on_leaving;
    if (c->page) {
        o->http.body_max = PAGE_MAX;
    } else if (call->kind == CALL_LOG) {
        wire_log_scan_init(&o->scan);
        o->http.on_body = on_log_piece;
        o->http.body_max = WIRE_LOG_SCAN_MAX;
    }
    c->own = o;
    return o;
}

static enum err post_it(struct http *h, const struct call *call, struct httpc_peer *peer,
                        struct out_call *o)
{
    char headers[256];
    int n = 0;
    if (call->trace.span) {
        memcpy(headers, WIRE_HEADER_TRACE ": ", sizeof(WIRE_HEADER_TRACE ": ") - 1);
        n = sizeof(WIRE_HEADER_TRACE ": ") - 1;
        trace_parent_text(&call->trace, headers + n);
        n += TRACE_PARENT_SIZE - 1;
        headers[n++] = '\r';
        headers[n++] = '\n';
    }
    if (call->kind == CALL_RUN)
        n += snprintf(headers + n, sizeof(headers) - (size_t)n,
                      "Peal-Moment: %lld\r\nPeal-Attempt: %d\r\nPeal-Deadline: %lld\r\n",
                      (long long)call->scheduled_ms, call->attempt,
                      (long long)call->due_ms + call->job->start_deadline_ms);
    struct slice piece = slice_of(h->body.data, h->body.len);
    struct httpc_post post = { action_of(call->kind),
                               slice_of(headers, (size_t)n),
                               &piece,
                               1,
                               o->of->page ? PAGE_TIMEOUT_MS : CALL_TIMEOUT_MS,
                               call->token };
    return httpc_call(peer, &post, &o->http);
}

/* It cannot even be tried: tell in place of the client. */
static void not_sent(struct out_call *o, enum err err, const char *why)
{
    o->http.outcome = HTTPC_NOT_SENT;
    o->http.err = err;
    o->http.why = why;
    on_done(&o->http);
}

static void begin(struct transport *t, const struct call *call, struct transport_call *c)
{
    struct http *h = http_of(t);
    struct out_call *o = out_new(call, c);
    struct why why = { "" };
    struct httpc_peer *peer;
    enum err err = peer_of(h, call->address, &peer, &why);
    if (err) {
        not_sent(o, err, why.text);
        return;
    }
    buf_reset(&h->body);
    if (!body_of(call, c->page, &h->body)) {
        not_sent(o, ERR_TOOBIG, "the parameters and the script are larger than 4 MiB together");
        return;
    }
    err = post_it(h, call, peer, o);
    if (err)
        not_sent(o, err,
                 err == ERR_FULL ? "every connection to the executor is in use" : err_text(err));
}

static enum call_outcome reset_call(struct transport_call *c)
{
    struct out_call *o = c->own;
    enum httpc_outcome outcome = httpc_abort(&o->http);
    c->sent_us = o->http.sent_us;
    c->own = NULL;
    free(o);
    return outcome == HTTPC_NOT_SENT ? CALL_NOT_SENT : CALL_IN_DOUBT;
}

/* ---- the transport -------------------------------------------------------------------------- */

static enum err make(struct loop *l, const struct transport_config *config, struct transport **ret,
                     struct why *why)
{
    struct http *h = mem_new(sizeof(*h));
    struct httpc_config client = { .token = config->token,
                                   .connections = config->connections,
                                   .tls = { .setting = "executor.ca" },
                                   .trust = config->trust };
    if (config->targets) {
        client.takes = targets_take;
        client.takes_arg = config->targets;
        client.takes_setting = "executor.targets";
    }
    enum err err = httpc_new(l, &client, &h->client, why);
    if (err) {
        free(h);
        return err;
    }
    h->base.ops = &transport_http;
    textmap_init(&h->peers);
    buf_init(&h->body, BODY_MAX);
    *ret = &h->base;
    return OK;
}

static void destroy(struct transport *t)
{
    struct http *h = http_of(t);
    httpc_free(h->client); /* its peers with it */
    textmap_done(&h->peers);
    buf_done(&h->body);
    free(h);
}

const struct transport_ops transport_http = {
    .make = make,
    .free = destroy,
    .call = begin,
    .abort = reset_call,
    .warm = warm,
    .sweep = sweep,
    .check = wire_address_check,
};
