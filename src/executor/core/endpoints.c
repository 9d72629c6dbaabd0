/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of centers: /beat, /idleBeat, /run, /kill, /log; and requests of operators, in
 * endpoints_peal.c. Everything is answered with HTTP 200, and at once, except for /log, which the
 * log writer reads, and for /run, which is answered when the journal has the run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/secret.h"
#include "executor/core/internal.h"
#include "executor/process/script.h"
#include "wire/open_api.h"
#include "wire/texts.h"

#define CONTENT_TYPE "application/json;charset=UTF-8"
#define SCHEDULED_MAX_MS 253402300799999ll   /* the year 9999 */
#define REPLY_MAX (RUNLOG_PAGE * 12 + 65536) /* twice the page, each byte escaped */

static void answer(struct httpd_request *q, const struct buf *reply)
{
    httpd_reply(q, 200, CONTENT_TYPE, slice_of("", 0), slice_of(buf_str(reply), reply->len));
}

static void answer_yes(struct httpd_request *q)
{
    httpd_reply(q, 200, CONTENT_TYPE, slice_of("", 0), slice_text(WIRE_REPLY_OK));
}

static void answer_no(struct httpd_request *q, const char *text)
{
    struct buf reply = BUF_INIT(65536);
    wire_reply_error(&reply, WIRE_CODE_FAIL, slice_text(text));
    answer(q, &reply);
    buf_done(&reply);
}

static void answer_bad(struct httpd_request *q, const struct why *why)
{
    struct buf text = BUF_INIT(1024);
    buf_printf(&text, "%s%s", WIRE_TEXT_REQUEST_ERROR, why->text);
    answer_no(q, buf_str(&text));
    buf_done(&text);
}

/* --- /idleBeat, /kill --- */

static void idle_beat(struct executor *e, struct httpd_request *q)
{
    struct why why = { { 0 } };
    int64_t job_id;
    if (wire_job_request_parse(q->body, &job_id, &why))
        answer_bad(q, &why);
    else if (jobs_busy(&e->jobs, job_id))
        answer_no(q, WIRE_TEXT_BUSY);
    else
        answer_yes(q);
}

static void kill_job(struct executor *e, struct httpd_request *q)
{
    struct why why = { { 0 } };
    int64_t job_id;
    if (wire_job_request_parse(q->body, &job_id, &why)) {
        answer_bad(q, &why);
        return;
    }
    if (jobs_end(&e->jobs, job_id, RUN_KILLED)) {
        answer_yes(q);
        return;
    }
    struct buf reply = BUF_INIT(4096);
    wire_reply_note(&reply, slice_text(WIRE_TEXT_ALREADY_KILLED));
    answer(q, &reply);
    buf_done(&reply);
}

/* --- /run --- */

static void why_quoting(struct why *why, const char *format, struct slice name, const char *more)
{
    char text[256];
    snprintf(text, sizeof(text), format, (int)utf8_cut(name.p, name.n, 100), name.p ? name.p : "");
    why_set(why, "%s%s%s", text, more ? " " : "", more ? more : "");
}

static enum err choose_handler(const struct executor *e, const struct wire_run_request *q,
                               struct peal_run *r, struct why *why)
{
    r->handler = handlers_find(e->cf.handlers, q->handler);
    if (r->handler)
        return OK;
    why_quoting(why, WIRE_TEXT_NO_HANDLER, q->handler, e->cf.hint ? e->cf.hint(q->handler) : NULL);
    return ERR_NOTFOUND;
}

static bool has_nul(struct slice s)
{
    return s.n && memchr(s.p, '\0', s.n);
}

static enum err choose_script(const struct executor *e, const struct wire_run_request *q,
                              struct peal_run *r, struct why *why)
{
    r->script = script_kind_find(q->glue_type);
    if (!r->script) {
        why_quoting(why, WIRE_TEXT_NO_GLUE, q->glue_type, script_kind_hint(q->glue_type));
        return ERR_NOTFOUND;
    }
    if (!script_kind_allowed(r->script, e->cf.glue)) {
        char how[128];
        snprintf(how, sizeof(how),
                 "Such scripts are off on this executor; --peal.executor.glue=%s "
                 "allows them.",
                 r->script->name);
        why_quoting(why, WIRE_TEXT_NO_GLUE, q->glue_type, how);
        return ERR_INVALID;
    }
    if (has_nul(q->params) || has_nul(q->glue_source)) {
        why_set(why, "%s%s: must not contain a NUL in a script's run", WIRE_TEXT_REQUEST_ERROR,
                has_nul(q->params) ? "executorParams" : "glueSource");
        return ERR_INVALID;
    }
    return OK;
}

enum err endpoint_choose(const struct executor *e, const struct wire_run_request *q,
                         struct peal_run *r, struct why *why)
{
    if (slice_eq(q->glue_type, "BEAN"))
        return choose_handler(e, q, r, why);
    return choose_script(e, q, r, why);
}

/* Everything but the queue: may this run be here at all? */
static enum err admit(const struct executor *e, const struct wire_run_request *q,
                      struct peal_run *r, struct why *why)
{
    if (e->phase != RUNNING) {
        why_set(why, "this executor is shutting down");
        return ERR_STOPPING;
    }
    if (e->draining) {
        why_set(why, "this executor is draining: it takes no new runs");
        return ERR_STOPPING;
    }
    if (e->results.n >= RESULTS_MAX) {
        why_set(why, "%d results wait for a center to take them", RESULTS_MAX);
        return ERR_FULL;
    }
    return endpoint_choose(e, q, r, why);
}

/* A number of a header; untouched if there is none. */
static enum err number_header(const struct httpd_request *q, const char *name, int64_t max,
                              int64_t *ret, struct why *why)
{
    struct slice text = httpd_header(q, name);
    int64_t v;
    if (!text.p)
        return OK;
    if (parse_i64(slice_trim(text), &v) && v >= 0 && v <= max) {
        *ret = v;
        return OK;
    }
    why_set(why, "%s%s must be a number from 0 to %lld", WIRE_TEXT_REQUEST_ERROR, name,
            (long long)max);
    return ERR_INVALID;
}

/* What a Peal center says beside the body. */
static enum err read_headers(const struct httpd_request *q, struct peal_run *r, struct why *why)
{
    int64_t attempt = 0;
    enum err err = number_header(q, WIRE_HEADER_SCHEDULED, SCHEDULED_MAX_MS, &r->scheduled_ms, why);
    if (!err)
        err = number_header(q, WIRE_HEADER_ATTEMPT, INT32_MAX, &attempt, why);
    if (err)
        return err;
    r->attempt = (int)attempt;
    wire_trace_parent(httpd_header(q, WIRE_HEADER_TRACE), r->trace); /* else there is none */
    return OK;
}

static void refuse_run(struct executor *e, struct httpd_request *q, const char *text)
{
    e->counts.refused++;
    answer_no(q, text);
}

static void answer_duplicate(struct executor *e, struct httpd_request *q, int64_t log_id)
{
    struct why why = { { 0 } };
    why_set(&why, WIRE_TEXT_DUPLICATE, (long long)log_id);
    refuse_run(e, q, why.text);
}

/* A center that sends a run twice wants to hear that it is here: before anything else, and not
 * before that is so. */
static bool is_duplicate(struct executor *e, struct httpd_request *q, int64_t log_id,
                         int64_t log_date_ms)
{
    if (dedup_find(&e->jobs.dedup, log_id, log_date_ms) == DEDUP_NOT)
        return false;
    struct peal_run *r = jobs_writing(&e->jobs, log_id, log_date_ms);
    if (r) {
        q->user = r->asker->user;
        r->asker->user = q;
    } else {
        answer_duplicate(e, q, log_id);
    }
    return true;
}

static enum err take_run(struct executor *e, struct httpd_request *q,
                         const struct wire_run_request *request, struct why *why)
{
    struct peal_run *r = run_make(request, &e->context, false);
    if (!r)
        return ERR_NOMEM;
    r->asker = q;
    r->asked = q->body.n;
    r->size += r->asked;
    enum err err = admit(e, request, r, why);
    if (!err)
        err = read_headers(q, r, why);
    if (!err)
        err = jobs_offer(&e->jobs, r, request->block, why);
    if (err)
        run_drop(r);
    return err;
}

static void run_request(struct executor *e, struct httpd_request *q)
{
    struct why why = { { 0 } };
    struct wire_run_request request;
    if (wire_run_request_parse(q->body, &request, &why)) {
        e->counts.refused++;
        answer_bad(q, &why);
        return;
    }
    q->user = NULL;
    if (!is_duplicate(e, q, request.log_id, request.log_date_ms)) {
        enum err err = take_run(e, q, &request, &why);
        if (err)
            refuse_run(e, q, why.text[0] ? why.text : err_text(err));
    }
    wire_run_request_done(&request);
}

void endpoint_accepted(struct executor *e, struct peal_run *r, enum err err, const struct why *why)
{
    char text[sizeof(why->text) + 64];
    struct httpd_request *first = r->asker, *next;
    snprintf(text, sizeof(text), "the run cannot be kept: %s",
             why->text[0] ? why->text : err_text(err));
    r->asker = NULL;
    for (struct httpd_request *q = first; q; q = next) {
        next = q->user;
        if (err)
            refuse_run(e, q, text);
        else if (q == first)
            answer_yes(q);
        else
            answer_duplicate(e, q, r->log_id);
    }
}

/* --- /log --- */

/* A live run whose lines are in memory: no file to wait for. */
static bool peeked(struct peal_run *run, struct log_writer_read *r)
{
    struct buf text = BUF_INIT(WIRE_REQUEST_MAX + 65536);
    bool found = run && runlog_peek(&run->log, &text);
    if (found)
        runlog_page_of(slice_of(buf_str(&text), text.len), r->from_line, &r->page);
    buf_done(&text);
    return found;
}

static void log_request(struct executor *e, struct httpd_request *q)
{
    struct why why = { { 0 } };
    struct wire_log_request request;
    if (wire_log_request_parse(q->body, &request, &why)) {
        answer_bad(q, &why);
        return;
    }
    struct log_writer_read *r = mem_new(sizeof(*r));
    r->message.kind = MESSAGE_PAGE;
    r->log_id = request.log_id;
    r->log_date_ms = request.log_date_ms;
    r->from_line = request.from_line;
    r->user = q;
    struct peal_run *run = jobs_running(&e->jobs, request.log_id);
    r->whole_lines = run != NULL;
    if (peeked(run, r))
        endpoint_page(r);
    else
        log_writer_read(e->log_writer, r);
}

void endpoint_page(struct log_writer_read *r)
{
    struct buf reply = BUF_INIT(REPLY_MAX);
    const struct runlog_page *p = &r->page;
    if (p->found)
        wire_log_page_reply(&reply, r->from_line, p->to_line,
                            slice_of(buf_str(&p->content), p->content.len), false);
    else
        wire_log_page_reply(&reply, r->from_line, 0, slice_text(WIRE_TEXT_NO_LOG), true);
    if (reply.failed)
        answer_no(r->user, err_text(ERR_NOMEM));
    else
        answer(r->user, &reply);
    buf_done(&reply);
    buf_done(&r->page.content);
    free(r);
}

/* --- all of them --- */

static bool token_ok(const struct executor *e, const struct httpd_request *q)
{
    if (!e->cf.token[0])
        return true;
    struct slice given = httpd_header(q, WIRE_HEADER_TOKEN);
    if (!given.p)
        given = httpd_header(q, WIRE_HEADER_TOKEN_OLD);
    return given.p && secret_equal(given, slice_text(e->cf.token));
}

/* Path and query as they were sent, in one. */
static struct slice target_of(const struct httpd_request *q)
{
    bool query = q->query.p == q->path.p + q->path.n + 1;
    return slice_of(q->path.p, q->path.n + (query ? 1 + q->query.n : 0));
}

void endpoint_request(struct httpd_request *q, void *executor)
{
    struct executor *e = executor;
    struct buf refusal = BUF_INIT(65536);
    bool token = token_ok(e, q);
    if (token)
        httpd_proved(q);
    if (token && endpoint_peal(e, q))
        return;
    switch (wire_action_of(q->method, target_of(q), token, &refusal)) {
    case WIRE_REFUSED:
        answer(q, &refusal);
        break;
    case WIRE_BEAT:
        answer_yes(q);
        break;
    case WIRE_IDLE_BEAT:
        idle_beat(e, q);
        break;
    case WIRE_RUN:
        run_request(e, q);
        break;
    case WIRE_KILL:
        kill_job(e, q);
        break;
    case WIRE_LOG:
        log_request(e, q);
        break;
    }
    buf_done(&refusal);
}

/* Without the token a large body is not read. */
size_t endpoint_head(struct httpd_request *q, void *executor)
{
    struct executor *e = executor;
    if (token_ok(e, q))
        return WIRE_REQUEST_MAX;
    struct buf refusal = BUF_INIT(65536);
    if (wire_action_of(q->method, target_of(q), false, &refusal) == WIRE_REFUSED)
        answer(q, &refusal);
    buf_done(&refusal);
    return 0;
}
