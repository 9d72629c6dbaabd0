/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs in the words of XXL-JOB's forms. The members of a list come from the table of job columns;
 * the rules are job_form.c's. Permission is checked against the group of the row, and again against
 * the group that the form moves it to. */
#include "api/xxl/jobs.h"
#include "api/edits.h"
#include "api/run_now.h"
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
#define GROUP_JOBS_MAX 100000 /* of one answer */

/* ---- output ------------------------------------------------------------------------------------
 */

struct writing {
    struct page page;
    struct zone *zone;
};

static void write_column(struct jsonw *w, enum shape shape, const struct zone *zone,
                         struct job_record *r, const struct job_column *c)
{
    int64_t n = c->type < JOB_REAL ? job_number(r, c) : 0;
    switch (c->type) {
    case JOB_TIME:
        reply_date(w, shape, zone, c->form, n > 0 ? n : -1);
        break;
    case JOB_NEXT:
        jsonw_i64(w, c->form, n == NEVER_MS ? 0 : n);
        break;
    case JOB_REAL:
        jsonw_real(w, c->form, *job_real(r, c));
        break;
    case JOB_TEXT:
    case JOB_BYTES:
    case JOB_WORD:
    case JOB_IDS:
        jsonw_text(w, c->form, *job_text(r, c));
        break;
    default:
        jsonw_i64(w, c->form, n);
    }
}

static void write_job(struct jsonw *w, enum shape shape, const struct zone *zone,
                      const struct job_record *record)
{
    struct job_record r = *record;
    if (!r.zone)
        r.zone = ""; /* the server's */
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", r.id);
    for (const struct job_column *c = job_columns; c < job_columns + JOB_COLUMNS; c++)
        if (c->use != JOB_HIDDEN)
            write_column(w, shape, zone, &r, c);
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
                               .scope = actor_scope(call->actor, PERM_READ),
                               .now_ms = clock_wall_ms() };
    enum err err = form_i64(form, "jobGroup", &f->group_id, why);
    if (!err)
        err = form_int(form, "triggerStatus", &f->status, why);
    return err ? err : login_may(call, PERM_READ, f->group_id, why);
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
        err = call->db->ops->pages->jobs_page(call->db, &f, add_row, &out, &total, &why);
    if (err)
        reply_err(call, err, &why);
    else
        page_reply(call, &out.page, total);
    page_done(&out.page);
    zone_unref(out.zone);
}

/* 2.1.0 to 3.1.1: the whole jobs of a group, in one answer. */
void jobs_of_group(struct web_call *call)
{
    struct jobs_filter f = { .status = -1, .limit = GROUP_JOBS_MAX, .now_ms = clock_wall_ms() };
    struct writing out = { .zone = call_zone(call), .page = { .shape = call_shape(call) } };
    struct why why = { "" };
    int64_t total;
    buf_init(&out.page.rows, WEB_REPLY_MAX - 4096);
    out.page.w = jsonw_on(&out.page.rows);
    jsonw_array(&out.page.w, NULL);
    enum err err = form_i64(&call->form, "jobGroup", &f.group_id, &why);
    if (!err)
        err = login_may(call, PERM_READ, f.group_id, &why);
    if (!err)
        err = call->db->ops->pages->jobs_page(call->db, &f, add_row, &out, &total, &why);
    jsonw_array_end(&out.page.w);
    if (err)
        reply_err(call, err, &why);
    else if (out.page.rows.failed)
        reply_fail(call, "the group's jobs are more than 32 MiB: ask for pages");
    else
        reply_json(call, slice_of(out.page.rows.data, out.page.rows.len));
    buf_done(&out.page.rows);
    zone_unref(out.zone);
}

/* ---- change ------------------------------------------------------------------------------------
 */

/* May the user have this job in its group? Its script counts as written there. */
static enum err may_keep(const struct web_call *call, const struct job_record *r, struct why *why)
{
    bool script = r->glue_source && r->glue_source[0];
    enum err err = login_may(call, PERM_JOBS_WRITE, r->group_id, why);
    return err || !script ? err : login_may(call, PERM_SCRIPTS_WRITE, r->group_id, why);
}

/* The job of the form's id, if the user has the row's permission for it. */
static enum err own_job(struct web_call *call, struct job_record *r, struct why *why)
{
    int64_t id;
    job_record_init(r);
    enum err err = field_id(&call->form, &id, why);
    if (!err)
        err = call->db->ops->catalog->job_get(call->db, id, r, why);
    enum permission wanted = (enum permission)call->match.row->permission;
    return err ? err : login_may(call, wanted, r->group_id, why);
}

void jobs_insert(struct web_call *call)
{
    struct why why = { "" };
    int64_t group = 0, id = 0;
    struct job_rules rules = edit_rules(call);
    struct edit *e = edit_new(EDIT_JOB_INSERT);
    enum err err = form_i64(&call->form, "jobGroup", &group, &why);
    if (!err)
        err = login_may(call, PERM_JOBS_WRITE, group, &why);
    if (!err)
        err = job_form_insert(&call->form, &rules, &e->job, &why);
    if (!err)
        err = may_keep(call, &e->job, &why);
    if (err)
        edit_free(e);
    else
        err = edit_make(call, e, &id, &why);
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
    struct job_rules rules = edit_rules(call);
    struct edit *e = edit_new(EDIT_JOB_UPDATE);
    enum err err = own_job(call, &e->job, why);
    e->id = e->job.id;
    e->version = e->job.version;
    if (!err)
        err = job_form_update(&call->form, &rules, &e->job, why);
    if (!err)
        err = may_keep(call, &e->job, why); /* in the group that it moves to */
    if (!err)
        return edit_make(call, e, NULL, why);
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
    field_finish(call, e, err, &why);
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

void jobs_trigger(struct web_call *call)
{
    struct run_now_names names = { .param = "executorParam", .addresses = "addressList" };
    struct why why = { "" };
    int64_t log_id = 0;
    struct job_record r;
    enum err err = own_job(call, &r, &why);
    if (!err) {
        const char *param = form_get(&call->form, "executorParam");
        err = run_now(call, &r, param ? param : "", form_get(&call->form, "addressList"), &names,
                      &log_id, &why);
    }
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
    struct job_rules rules = edit_rules(call);
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
