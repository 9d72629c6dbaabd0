/* SPDX-License-Identifier: Apache-2.0 */
/* A run as a row of XXL-JOB's log. Columns that XXL-JOB fills at once and Peal stores in parts
 * (trigger_msg) are put together when they are read. The rolling log is the executor's: it is
 * fetched for each request. */
#include "api/xxl/logs.h"
#include "api/audit.h"
#include "api/clean.h"
#include "api/run_kill.h"
#include "api/run_trace.h"
#include "api/xxl/fields.h"
#include "api/xxl/login.h"
#include "api/xxl/reply.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the trigger message ------------------------------------------------------------------------
 * The database holds what the columns do not say; the rest is put together here. */

struct writing {
    struct web_call *call;
    struct page page;
    struct zone *zone;
    struct job_record job; /* the latest row's; id 0: none read yet */
    int64_t job_id;
    struct group_record group;
    int64_t group_id;
};

/* Rows of a page are mostly of one job: keep the latest. */
static void look_up(struct writing *out, const struct log_record *r)
{
    struct store *db = out->call->db;
    if (out->job_id != r->job_id) {
        job_record_done(&out->job);
        job_record_init(&out->job);
        out->job_id = r->job_id;
        (void)!db->ops->catalog->job_get(db, r->job_id, &out->job, NULL); /* it may be gone */
    }
    if (out->group_id != r->group_id) {
        group_record_done(&out->group);
        out->group = (struct group_record){ 0 };
        out->group_id = r->group_id;
        (void)!db->ops->catalog->group_get(db, r->group_id, &out->group, NULL);
    }
}

static void write_trigger_msg(struct writing *out, const struct log_record *r)
{
    char kind[16];
    if (r->trigger_code == 0 && !r->trigger_msg) {
        jsonw_null(&out->page.w, "triggerMsg"); /* nothing has happened yet */
        return;
    }
    snprintf(kind, sizeof(kind), "%s", r->kind < KIND_COUNT ? kind_text(r->kind) : "-");
    for (char *p = kind; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
    look_up(out, r);
    struct slice total_text = slice_text(r->sharding), shard_text; /* "1/3" */
    int shard = 0, total = 0;
    bool sharded = slice_cut(&total_text, '/', &shard_text) && parse_int(shard_text, &shard) &&
                   parse_int(total_text, &total);
    struct wire_trigger_note note = {
        .kind = slice_text(kind),
        .center = slice_text(out->call->config->address),
        .registered = out->group.address_type == 0,
        .address_list = slice_text(out->group.address_list),
        .route = slice_text(out->job.route),
        .sharded = sharded,
        .shard = shard,
        .shard_total = total,
        .block = slice_text(out->job.block),
        .timeout_s = out->job.timeout_s,
        .retries = r->retries,
        .address = slice_text(r->address),
        .handler = slice_text(r->handler),
        .code = r->trigger_code,
        .msg = slice_text(r->trigger_msg),
        .scheduled_ms = r->trigger_ms,
    };
    struct buf b = BUF_INIT(256 * 1024);
    wire_trigger_message(&b, out->call->config->lang, &note);
    jsonw_slice(&out->page.w, "triggerMsg", slice_of(b.data, b.len));
    buf_done(&b);
}

/* ---- list --------------------------------------------------------------------------------------
 */

static bool add_row(void *ctx, const struct log_record *r)
{
    struct writing *out = ctx;
    struct jsonw *w = &out->page.w;
    enum shape shape = out->page.shape;
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", r->id);
    jsonw_i64(w, "jobGroup", r->group_id);
    jsonw_i64(w, "jobId", r->job_id);
    jsonw_text(w, "executorAddress", r->address);
    jsonw_text(w, "executorHandler", r->handler);
    jsonw_text(w, "executorParam", r->param);
    jsonw_text(w, "executorShardingParam", r->sharding);
    jsonw_i64(w, "executorFailRetryCount", r->retries);
    reply_date(w, shape, out->zone, "triggerTime", r->trigger_ms);
    jsonw_i64(w, "triggerCode", r->trigger_code);
    write_trigger_msg(out, r);
    reply_date(w, shape, out->zone, "handleTime", r->handle_ms);
    jsonw_i64(w, "handleCode", r->handle_code);
    jsonw_text(w, "handleMsg", r->handle_msg);
    jsonw_i64(w, "alarmStatus", r->alarm_status);
    if (r->phase) {
        jsonw_text(w, "pealPhase", phase_text(r->phase));
        jsonw_i64(w, "pealMoment", r->scheduled_ms);
        jsonw_i64(w, "pealAttempt", r->attempt);
    }
    jsonw_object_end(w);
    return !out->page.rows.failed;
}

enum err log_filter_time(const char *text, const struct zone *zone, int64_t *ret_from_ms,
                         int64_t *ret_to_ms, struct why *why)
{
    static const char separator[] = " - ";
    struct slice s = slice_trim(slice_text(text));
    const char *at = s.n ? memmem(s.p, s.n, separator, sizeof(separator) - 1) : NULL;
    int64_t from, to;
    if (s.n == 0 || slice_eq(s, "0")) { /* scripts write 0 for none */
        *ret_from_ms = *ret_to_ms = -1;
        return OK;
    }
    size_t n = at ? (size_t)(at - s.p) : 0;
    size_t rest = n + sizeof(separator) - 1;
    if (!at || walltime_parse(slice_of(s.p, n), zone, &from, NULL) ||
        walltime_parse(slice_of(s.p + rest, s.n - rest), zone, &to, NULL)) {
        why_set(why, "filterTime: must be yyyy-MM-dd HH:mm:ss - yyyy-MM-dd HH:mm:ss");
        return ERR_INVALID;
    }
    *ret_from_ms = from;
    *ret_to_ms = to;
    return OK;
}

static enum err list_filter(struct writing *out, struct logs_filter *f, struct why *why)
{
    const struct form *form = &out->call->form;
    *f = (struct logs_filter){ .status = -1,
                               .from_ms = -1,
                               .to_ms = -1,
                               .offset = out->page.offset,
                               .limit = out->page.limit,
                               .scope = actor_scope(out->call->actor, PERM_READ),
                               .now_ms = clock_wall_ms() };
    enum err err = form_i64(form, "jobGroup", &f->group_id, why);
    if (!err)
        err = form_i64(form, "jobId", &f->job_id, why);
    if (!err)
        err = form_int(form, "logStatus", &f->status, why);
    if (!err)
        err = log_filter_time(form_get(form, "filterTime"), out->zone, &f->from_ms, &f->to_ms, why);
    return err ? err : login_may(out->call, PERM_READ, f->group_id, why);
}

void logs_list(struct web_call *call)
{
    struct writing out = { .call = call };
    struct logs_filter f;
    struct why why = { "" };
    int64_t total = 0;
    enum err err = page_begin(call, &out.page, &why);
    if (err) {
        reply_err(call, err, &why);
        return;
    }
    out.zone = call_zone(call);
    job_record_init(&out.job);
    err = list_filter(&out, &f, &why);
    if (!err)
        err = call->db->ops->pages->logs_page(call->db, &f, add_row, &out, &total, &why);
    if (err)
        reply_err(call, err, &why);
    else
        page_reply(call, &out.page, total);
    page_done(&out.page);
    job_record_done(&out.job);
    group_record_done(&out.group);
    zone_unref(out.zone);
}

/* ---- rolling log -------------------------------------------------------------------------------
 */

void log_escape(struct buf *out, struct slice text)
{
    static const char *const tags[] = { "<br>", "<b>", "</b>" };
    static const char from[] = "&<>\"'";
    static const char *const to[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
    for (size_t i = 0; i < text.n;) {
        size_t tag = 0;
        for (size_t k = 0; k < countof(tags) && !tag; k++)
            if (text.n - i >= strlen(tags[k]) && !memcmp(text.p + i, tags[k], strlen(tags[k])))
                tag = strlen(tags[k]);
        const char *special = text.p[i] ? strchr(from, text.p[i]) : NULL;
        if (tag)
            buf_add(out, text.p + i, tag);
        else if (special)
            buf_text(out, to[special - from]);
        else
            buf_char(out, text.p[i]);
        i += tag ? tag : 1;
    }
}

/* The log row that the form's parameter names, if the user has the row's permission for it. */
static enum err own_log(struct web_call *call, const char *name, struct log_record *r,
                        struct why *why)
{
    int64_t id = 0;
    enum err err = form_i64(&call->form, name, &id, why);
    if (!err && id <= 0) {
        why_set(why, "%s: is missing", name);
        err = ERR_INVALID;
    }
    if (!err)
        err = call->db->ops->pages->log_get(call->db, id, r, why);
    enum permission wanted = (enum permission)call->match.row->permission;
    return err ? err : login_may(call, wanted, r->group_id, why);
}

static void write_page(struct web_call *call, const struct center_log *page, bool end)
{
    struct buf content = BUF_INIT(WEB_REPLY_MAX), b = BUF_INIT(WEB_REPLY_MAX);
    struct jsonw w = jsonw_on(&b);
    log_escape(&content, slice_of(page->content, page->n));
    jsonw_object(&w, NULL);
    jsonw_i64(&w, "fromLineNum", page->from_line);
    jsonw_i64(&w, "toLineNum", page->to_line);
    jsonw_slice(&w, "logContent", slice_of(content.data, content.len));
    jsonw_bool(&w, "end", end);
    jsonw_object_end(&w);
    if (b.failed || content.failed)
        reply_fail(call, "the log is larger than 32 MiB: ask from a later line");
    else
        reply_json(call, slice_of(b.data, b.len));
    buf_done(&content);
    buf_done(&b);
}

static enum err detail(struct web_call *call, const struct log_record *r, struct why *why)
{
    int from = 1;
    enum err err = form_int(&call->form, "fromLineNum", &from, why);
    if (err)
        return err;
    if (field_blank(r->address)) {
        why_set(why, "the run was not sent to an executor: there is no log");
        return ERR_NOTFOUND;
    }
    const struct center_log_of of = run_trace_log_of(call, r);
    struct center_log page = { 0 };
    err = center_log_page(call->center, &of, from, &page, why);
    if (err)
        return err;
    /* the executor does not know whether more will come; the row does */
    write_page(call, &page, r->handle_code > 0 && (page.is_end || page.from_line > page.to_line));
    free(page.content);
    return OK;
}

void logs_detail(struct web_call *call)
{
    struct log_record r = { 0 };
    struct why why = { "" };
    enum err err = own_log(call, "logId", &r, &why);
    if (!err)
        err = detail(call, &r, &why);
    log_record_done(&r);
    if (err)
        reply_err(call, err, &why);
}

/* ---- kill --------------------------------------------------------------------------------------
 */

void logs_kill(struct web_call *call)
{
    struct log_record r = { 0 };
    struct why why = { "" };
    char text[256] = "";
    enum err err = own_log(call, "id", &r, &why);
    if (!err && r.trigger_code != 200 && !r.phase) {
        why_set(&why, "the run was not accepted by an executor: there is nothing to end");
        err = ERR_INVALID;
    }
    if (!err)
        err = run_kill(call, r.id, text, &why);
    if (!err || err == ERR_TIMEOUT) /* the kill stands */
        audit_note(call, "run.kill", r.id, r.handler);
    log_record_done(&r);
    if (err)
        reply_err(call, err, &why);
    else
        reply_text(call, text);
}

/* ---- deletion ----------------------------------------------------------------------------------
 */

void logs_clear(struct web_call *call)
{
    int64_t group = 0, job = 0;
    int rule = 0;
    struct why why = { "" };
    enum err err = form_i64(&call->form, "jobGroup", &group, &why);
    if (!err)
        err = form_i64(&call->form, "jobId", &job, &why);
    if (!err)
        err = form_int(&call->form, "type", &rule, &why);
    if (!err)
        err = login_may(call, PERM_JOBS_WRITE, group, &why);
    if (!err && (rule < CLEAN_RULE_MIN || rule > CLEAN_RULE_MAX)) {
        why_set(&why, "type: must be %d to %d", CLEAN_RULE_MIN, CLEAN_RULE_MAX);
        err = ERR_INVALID;
    }
    if (!err) {
        struct log_clean walk = clean_walk_now(call, rule);
        if (group > 0)
            walk.scope = (struct scope){ .ids = &group, .n = 1 };
        walk.job_id = job > 0 ? job : 0;
        err = clean_ask(call, &walk, &why);
    }
    if (err)
        reply_err(call, err, &why);
    else
        reply_ok(call);
}
