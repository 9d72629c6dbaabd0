/* SPDX-License-Identifier: Apache-2.0 */
#include "api/xxl/jobs.h"
#include "api/xxl/fields.h"
#include "api/xxl/job_form.h"
#include "api/xxl/login.h"
#include "api/xxl/reply.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEXT_COUNT 5
#define LIST_BYTES_MAX 65535 /* of a trigger's addresses */

/* ---- output ------------------------------------------------------------------------------------
 */

struct writing {
    struct page page;
    struct zone *zone;
};

static void write_own(struct jsonw *w, const struct job_record *r)
{
    char backoff[40];
    jsonw_text(w, "zone", r->zone ? r->zone : "");
    jsonw_text(w, "dst", r->dst);
    jsonw_i64(w, "misfireMax", r->misfire_max);
    jsonw_i64(w, "retryDelayMs", r->retry_delay_ms);
    snprintf(backoff, sizeof(backoff), ",\"retryBackoff\":%.15g", r->retry_backoff);
    buf_text(w->out, backoff); /* the writer knows no fractions; members stand around this one */
    jsonw_i64(w, "startDeadlineMs", r->start_deadline_ms);
    jsonw_text(w, "onDoubt", r->on_doubt);
    jsonw_text(w, "stopReason", r->stop_reason);
}

static void write_job(struct jsonw *w, enum shape shape, const struct zone *zone,
                      const struct job_record *r)
{
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", r->id);
    jsonw_i64(w, "jobGroup", r->group_id);
    jsonw_text(w, "jobDesc", r->description);
    reply_date(w, shape, zone, "addTime", r->added_ms > 0 ? r->added_ms : -1);
    reply_date(w, shape, zone, "updateTime", r->updated_ms > 0 ? r->updated_ms : -1);
    jsonw_text(w, "author", r->author);
    jsonw_text(w, "alarmEmail", r->alarm_email);
    jsonw_text(w, "scheduleType", r->schedule_type);
    jsonw_text(w, "scheduleConf", r->schedule_conf);
    jsonw_text(w, "misfireStrategy", r->misfire);
    jsonw_text(w, "executorRouteStrategy", r->route);
    jsonw_text(w, "executorHandler", r->handler);
    jsonw_text(w, "executorParam", r->param);
    jsonw_text(w, "executorBlockStrategy", r->block);
    jsonw_i64(w, "executorTimeout", r->timeout_s);
    jsonw_i64(w, "executorFailRetryCount", r->retries);
    jsonw_text(w, "glueType", r->glue_type);
    jsonw_text(w, "glueSource", r->glue_source);
    jsonw_text(w, "glueRemark", r->glue_remark);
    reply_date(w, shape, zone, "glueUpdatetime", r->glue_updated_ms > 0 ? r->glue_updated_ms : -1);
    jsonw_text(w, "childJobId", r->children);
    jsonw_i64(w, "triggerStatus", r->enabled);
    jsonw_i64(w, "triggerLastTime", r->last_ms);
    jsonw_i64(w, "triggerNextTime", r->next_ms == NEVER_MS ? 0 : r->next_ms);
    write_own(w, r);
    jsonw_object_end(w);
}

static bool add_row(void *ctx, const struct job_record *r)
{
    struct writing *out = ctx;
    write_job(&out->page.w, out->page.shape, out->zone, r);
    return !out->page.rows.failed;
}

static enum err list_filter(struct web_call *call, const struct page *p, struct jobs_filter *f,
                            struct why *why)
{
    const struct form *form = &call->form;
    *f = (struct jobs_filter){ .status = -1,
                               .description = form_get(form, "jobDesc"),
                               .handler = form_get(form, "executorHandler"),
                               .author = form_get(form, "author"),
                               .offset = p->offset,
                               .limit = p->limit,
                               .now_ms = clock_wall_ms() };
    enum err err = form_i64(form, "jobGroup", &f->group_id, why);
    if (!err)
        err = form_int(form, "triggerStatus", &f->status, why);
    if (!err && !login_may(call, f->group_id)) {
        why_set(why, "permission limit");
        err = ERR_INVALID;
    }
    return err;
}

void jobs_list(struct web_call *call)
{
    struct writing out;
    struct jobs_filter f;
    struct why why = { "" };
    int64_t total = 0;
    enum err err = page_begin(call, &out.page, &why);
    if (err) {
        reply_err(call, err, &why);
        return;
    }
    out.zone = call_zone(call);
    err = list_filter(call, &out.page, &f, &why);
    if (!err)
        err = call->db->ops->jobs_page(call->db, &f, add_row, &out, &total, &why);
    if (err)
        reply_err(call, err, &why);
    else
        page_reply(call, &out.page, total);
    page_done(&out.page);
    zone_unref(out.zone);
}

/* ---- change ------------------------------------------------------------------------------------
 */

static bool may_group(const void *ctx, int64_t group_id)
{
    return login_may(ctx, group_id);
}

static struct job_rules rules_of(const struct web_call *call)
{
    return (struct job_rules){
        .db = call->db,
        .zones = center_zones(call->center),
        .zone = center_zone_name(call->center),
        .last_year = center_last_year(call->center),
        .user = call->user.username,
        .start_deadline_ms = call->config->start_deadline_ms,
        .may = may_group,
        .may_ctx = call,
    };
}

static enum err permission(const struct web_call *call, int64_t group_id, struct why *why)
{
    if (login_may(call, group_id))
        return OK;
    why_set(why, "permission limit");
    return ERR_INVALID;
}

/* The job of the form's id, if the user may work on it. */
static enum err own_job(struct web_call *call, struct job_record *r, struct why *why)
{
    int64_t id;
    job_record_init(r);
    enum err err = field_id(&call->form, &id, why);
    if (!err)
        err = call->db->ops->job_get(call->db, id, r, why);
    return err ? err : permission(call, r->group_id, why);
}

static void reply_edit(struct web_call *call, struct edit *e)
{
    struct why why = { "" };
    enum err err = field_edit(call, e, NULL, &why);
    if (err)
        reply_err(call, err, &why);
    else
        reply_ok(call);
}

void jobs_insert(struct web_call *call)
{
    struct why why = { "" };
    int64_t group = 0, id = 0;
    struct job_rules rules = rules_of(call);
    struct edit *e = edit_new(EDIT_JOB_INSERT);
    enum err err = form_i64(&call->form, "jobGroup", &group, &why);
    if (!err)
        err = permission(call, group, &why);
    if (!err)
        err = job_form_insert(&call->form, &rules, &e->job, &why);
    if (err)
        edit_free(e);
    else
        err = field_edit(call, e, &id, &why);
    if (err) {
        reply_err(call, err, &why);
        return;
    }
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)id);
    reply_text(call, text);
}

/* The form is read on top of the job as it is now, with all rules. */
static enum err update(struct web_call *call, struct why *why)
{
    struct job_rules rules = rules_of(call);
    struct edit *e = edit_new(EDIT_JOB_UPDATE);
    enum err err = own_job(call, &e->job, why);
    e->id = e->job.id;
    e->version = e->job.version;
    if (!err)
        err = job_form_update(&call->form, &rules, &e->job, why);
    if (!err)
        err = permission(call, e->job.group_id, why); /* the group it moves to */
    if (!err)
        return field_edit(call, e, NULL, why);
    edit_free(e);
    return err;
}

void jobs_update(struct web_call *call)
{
    field_update(call, update);
}

static void simple_edit(struct web_call *call, enum edit_kind kind)
{
    struct why why = { "" };
    struct job_record r;
    enum err err = own_job(call, &r, &why);
    struct edit *e = edit_new(kind);
    e->id = r.id;
    job_record_done(&r);
    if (err) {
        edit_free(e);
        reply_err(call, err, &why);
    } else {
        reply_edit(call, e);
    }
}

void jobs_delete(struct web_call *call)
{
    simple_edit(call, EDIT_JOB_DELETE);
}

void jobs_start(struct web_call *call)
{
    simple_edit(call, EDIT_JOB_START);
}

void jobs_stop(struct web_call *call)
{
    simple_edit(call, EDIT_JOB_STOP);
}

/* ---- run once ----------------------------------------------------------------------------------
 */

/* The addresses of a manual run, trimmed and joined, into out; each must be one of the group's: a
 * request must not make the center call anywhere else. */
static enum err choose(struct web_call *call, int64_t group_id, const char *list, struct buf *out,
                       struct why *why)
{
    struct slice rest = slice_text(list);
    if (rest.n > LIST_BYTES_MAX) {
        why_set(why, "addressList: at most %d bytes", LIST_BYTES_MAX);
        return ERR_TOOBIG;
    }
    if (plan_choices(list) > PLAN_CHOICES_MAX) {
        why_set(why, "addressList: at most %d addresses", PLAN_CHOICES_MAX);
        return ERR_TOOBIG;
    }
    for (struct slice address; slice_item(&rest, &address);) {
        if (!center_address_known(call->center, group_id, address)) {
            why_set(why,
                    "addressList: %.*s is neither registered for the job's group nor in its list",
                    (int)utf8_cut(address.p, address.n, 200), address.p);
            return ERR_INVALID;
        }
        if (out->len)
            buf_char(out, ',');
        buf_slice(out, address);
    }
    return OK;
}

static enum err trigger(struct web_call *call, const struct job_record *r, struct why *why)
{
    const char *param = form_get(&call->form, "executorParam");
    struct buf choices = BUF_INIT(LIST_BYTES_MAX + 1);
    if (param && strlen(param) > JOB_PARAM_MAX) {
        why_set(why, "executorParam: at most %d bytes", JOB_PARAM_MAX);
        return ERR_TOOBIG;
    }
    enum err err = choose(call, r->group_id, form_get(&call->form, "addressList"), &choices, why);
    if (!err) {
        struct spawn spawn = { .job_id = r->id,
                               .kind = KIND_MANUAL,
                               .retries_left = -1,
                               .param = mem_dup(param ? param : ""),
                               .choices = choices.len ? mem_dup(buf_str(&choices)) : NULL };
        int64_t log_id = 0;
        err = center_trigger(call->center, &spawn, &log_id, why);
    }
    buf_done(&choices);
    return err;
}

void jobs_trigger(struct web_call *call)
{
    struct why why = { "" };
    struct job_record r;
    enum err err = own_job(call, &r, &why);
    if (!err)
        err = trigger(call, &r, &why);
    job_record_done(&r);
    if (err)
        reply_err(call, err, &why);
    else
        reply_ok(call);
}

/* ---- preview -----------------------------------------------------------------------------------
 */

void jobs_next(struct web_call *call)
{
    struct why why = { "" };
    struct job_rules rules = rules_of(call);
    struct schedule s = { 0 };
    enum err err = job_form_schedule(&call->form, &rules, &s, &why);
    if (err) {
        reply_err(call, err, &why);
        return;
    }
    struct buf b = BUF_INIT(4096);
    struct jsonw w = jsonw_on(&b);
    int64_t ms = clock_wall_ms();
    jsonw_array(&w, NULL);
    for (int i = 0; i < NEXT_COUNT && !schedule_next(&s, ms, &ms); i++) {
        char text[RFC3339_SIZE];
        jsonw_text(&w, NULL, walltime_format(ms, s.zone, text));
    }
    jsonw_array_end(&w);
    reply_json(call, slice_of(b.data, b.len));
    buf_done(&b);
    schedule_done(&s);
}
