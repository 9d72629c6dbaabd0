/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - the core's calls as HTTP: one body a kind, and what the answer means. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/state.h"
#include "wire/executor_api.h"
#include "wire/log_scan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_TIMEOUT_MS 3000 /* as the original's default */
#define FORM_MAX (4u << 20)  /* a job's texts in a /run body */
#define SWEEP_MS 60000
#define FOREIGN_TEXT                                                                               \
    "the address does not speak HTTP; it looks like a 2.1 executor (binary protocol)"

struct out_call {
    struct httpc_call http;
    struct list_node node; /* in center.calls */
    struct center *center;
    enum call_kind kind;
    int64_t log_id, due_ms;
    uint32_t ticket;
    char *address;
    struct wire_log_scan scan;
};

struct httpc_peer *calls_peer(struct center *c, const char *address, struct why *why)
{
    struct slice key = slice_text(address);
    struct httpc_peer *p = textmap_find(&c->peers, key);
    if (!p && !httpc_peer_new(c->client, key, &p, why))
        textmap_set(&c->peers, key, p);
    return p;
}

void calls_sweep(struct center *c, int64_t boot_ms)
{
    void *value;
    if (boot_ms < c->peers_boot_ms)
        return;
    c->peers_boot_ms = boot_ms + SWEEP_MS;
    for (size_t i = 0; textmap_next(&c->peers, &i, &value);) {
        if (httpc_peer_connections(value))
            continue;
        /* what moves into its place is looked at the next time */
        textmap_take(&c->peers, slice_text(httpc_peer_address(value)));
        httpc_peer_free(value);
    }
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

static void tell(struct out_call *o, struct call_result *r)
{
    r->kind = o->kind;
    r->log_id = o->log_id;
    r->ticket = o->ticket;
    r->address = o->address;
    sched_on_call(o->center->sched, center_now(), r);
}

static void measure(struct out_call *o)
{
    struct metrics *m = &o->center->metrics;
    if (o->kind != CALL_RUN || !o->http.sent_us)
        return;
    histogram_add(&m->lateness, o->http.sent_us - o->due_ms * 1000);
    histogram_add(&m->phase[METRIC_ANSWER], clock_wall_us() - o->http.sent_us);
}

static void done(struct httpc_call *http)
{
    struct out_call *o = container_of(http, struct out_call, http);
    struct call_result r = { .outcome = outcome_of(http) };
    struct wire_reply reply = { .code = 0 };
    measure(o);
    if (o->kind == CALL_LOG) {
        r.log = log_state_of(o);
    } else if (r.outcome == CALL_ANSWERED) {
        wire_reply_parse(http->status, http->body, &reply);
        r.code = reply.code;
        r.repeat = reply.repeat;
        r.msg = reply.msg.n ? reply.msg : reply.note;
        if (o->kind == CALL_RUN && r.code != 200 && !reply.clear)
            r.outcome = CALL_IN_DOUBT; /* a proxy's page proves no refusal */
    }
    if (r.outcome == CALL_FOREIGN && o->kind == CALL_RUN)
        r.msg = slice_text(FOREIGN_TEXT);
    else if (r.outcome != CALL_ANSWERED && http->why)
        r.msg = slice_text(http->why);
    if (r.outcome == CALL_FULL)
        log_warn("dispatch", "%s: %s; the call is made a little later", o->address, http->why);
    tell(o, &r);
    wire_reply_done(&reply);
    list_remove(&o->node);
    free(o->address);
    free(o);
}

/* Right before the first byte: the one place where the core lets a run go, or does not. */
static bool on_leaving(struct httpc_call *http)
{
    const struct out_call *o = container_of(http, struct out_call, http);
    return sched_leaving(o->center->sched, center_now(), o->log_id, o->ticket);
}

static bool on_log_piece(struct httpc_call *http, struct slice piece)
{
    wire_log_scan_feed(&container_of(http, struct out_call, http)->scan, piece);
    return true;
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

static bool body_of(const struct call *call, struct buf *out)
{
    switch (call->kind) {
    case CALL_RUN:
        return run_body(call, out);
    case CALL_BEAT:
        buf_text(out, WIRE_BEAT_BODY);
        return true;
    case CALL_LOG:
        wire_log_body(out, call->log_id, call->log_time_ms, 1);
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

static struct out_call *out_new(struct center *c, const struct call *call)
{
    struct out_call *o = mem_new(sizeof(*o));
    o->center = c;
    o->kind = call->kind;
    o->log_id = call->log_id;
    o->due_ms = call->due_ms;
    o->ticket = call->ticket;
    o->address = mem_dup(call->address);
    o->http.done = done;
    if (call->kind == CALL_RUN)
        o->http.leaving = on_leaving;
    if (call->kind == CALL_LOG) {
        wire_log_scan_init(&o->scan);
        o->http.on_body = on_log_piece;
        o->http.body_max = WIRE_LOG_SCAN_MAX;
    }
    list_push(&c->calls, &o->node);
    return o;
}

/* It cannot even be tried: tell the core in place of done. */
static void fail(struct out_call *o, enum httpc_outcome outcome, enum err err, const char *why)
{
    o->http.outcome = outcome;
    o->http.err = err;
    o->http.why = why;
    done(&o->http);
}

void calls_start(struct center *c, const struct call *call)
{
    static struct buf body = BUF_INIT(8u << 20); /* the scheduler's thread only; kept */
    struct out_call *o = out_new(c, call);
    struct why why = { "" };
    struct httpc_peer *peer = calls_peer(c, call->address, &why);
    if (!peer) {
        fail(o, HTTPC_NOT_SENT, ERR_INVALID, why.text);
        return;
    }
    buf_reset(&body);
    if (!body_of(call, &body)) {
        fail(o, HTTPC_NOT_SENT, ERR_TOOBIG,
             "the parameters and the script are larger than 4 MiB together");
        return;
    }
    char headers[128];
    int n = 0;
    if (call->kind == CALL_RUN)
        n = snprintf(headers, sizeof(headers),
                     "Peal-Moment: %lld\r\nPeal-Attempt: %d\r\nPeal-Deadline: %lld\r\n",
                     (long long)call->scheduled_ms, call->attempt,
                     (long long)call->due_ms + call->job->start_deadline_ms);
    struct slice piece = slice_of(body.data, body.len);
    struct httpc_post post = { action_of(call->kind), slice_of(headers, (size_t)n), &piece, 1,
                               CALL_TIMEOUT_MS };
    enum err err = httpc_call(peer, &post, &o->http);
    if (err)
        fail(o, HTTPC_NOT_SENT, err,
             err == ERR_FULL ? "every connection to the executor is in use" : err_text(err));
}

void calls_warm(struct center *c, const char *address, int connections)
{
    struct why why = { "" };
    struct httpc_peer *peer = calls_peer(c, address, &why);
    if (peer) /* an address that cannot be one: the first run says so */
        httpc_warm(peer, connections);
}

void calls_abort(struct center *c)
{
    struct list_node *n;
    while ((n = list_first(&c->calls))) {
        struct out_call *o = container_of(n, struct out_call, node);
        fail(o, httpc_abort(&o->http), ERR_STOPPING, "the center is stopping");
    }
}
