/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of the script of a GLUE job: the rows of xxl_job_logglue. While a job has none, as one
 * that XXL-JOB made, version 0 stands for the source in its own row. */
#include "api/scripts.h"
#include "api/body.h"
#include "api/gate.h"
#include "api/v1/etag.h"
#include "api/v1/job_page.h"
#include "api/v1/query.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

#define SOURCE_MAX 1048576 /* characters */

static void no_script(struct web_call *call, int64_t job_id, const char *version)
{
    problem(call, PROBLEM_NOT_FOUND, "job %lld has no version %.40s of its script",
            (long long)job_id, version);
}

/* The job of the path, which must have scripts. False: answered. */
static bool find(struct web_call *call, struct job_record *ret)
{
    int64_t id = call->params.items[0].number;
    struct why why = { "" };
    enum err err = job_read(call, id, ret, &why);
    if (err == ERR_NOTFOUND)
        problem(call, PROBLEM_NOT_FOUND, "job %lld does not exist, or you may not see it",
                (long long)id);
    else if (err)
        problem_err(call, err, &why);
    else if (gate_group(call, ret->group_id, "job", id))
        return true;
    job_record_done(ret);
    return false;
}

/* ---- output ------------------------------------------------------------------------------------
 */

static void write_script(struct jsonw *w, const struct script_record *r)
{
    jsonw_object(w, NULL);
    jsonw_i64(w, "version", r->id);
    jsonw_text(w, "remark", r->remark ? r->remark : "");
    jsonw_null(w, "author"); /* the table does not know */
    jsonw_i64(w, "bytes", r->bytes);
    v1_instant(w, "created", r->added_ms > 0 ? r->added_ms : 0);
    jsonw_text(w, "source", r->source);
    jsonw_object_end(w);
}

/* Version 0; its texts are the job's. */
static struct script_record own_source(const struct job_record *job)
{
    return (struct script_record){
        .job_id = job->id,
        .source = job->glue_source,
        .remark = job->glue_remark,
        .bytes = job->glue_source ? (int64_t)strlen(job->glue_source) : 0,
        .added_ms = job->glue_updated_ms > 0 ? job->glue_updated_ms : job->added_ms,
    };
}

/* ---- list --------------------------------------------------------------------------------------
 */

struct listing {
    struct jsonw w;
    int64_t limit, n, last;
};

static bool add_row(void *ctx, const struct script_record *r)
{
    struct listing *l = ctx;
    if (l->n++ == l->limit)
        return false;
    l->last = r->id;
    write_script(&l->w, r);
    return true;
}

static bool count_row(void *ctx, const struct script_record *r)
{
    (void)r;
    ++*(int64_t *)ctx;
    return true;
}

static int64_t count_all(struct web_call *call, int64_t job_id, enum err *err, struct why *why)
{
    int64_t n = 0;
    *err = call->db->ops->catalog->scripts_each(call->db, job_id, 0, INT32_MAX, count_row, &n, why);
    return n;
}

static void list(struct web_call *call, const struct job_record *job, int64_t limit, int64_t before)
{
    struct listing l = { .w = jsonw_on(&call->output), .limit = limit };
    struct why why = { "" };
    enum err err;
    int64_t total = count_all(call, job->id, &err, &why);
    v1_list_begin(&l.w);
    if (!err)
        err = call->db->ops->catalog->scripts_each(call->db, job->id, before, (int)limit + 1,
                                                   add_row, &l, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    if (total == 0 && script_has(job) && job->glue_source && job->glue_source[0]) {
        struct script_record own = own_source(job);
        own.source = NULL;
        write_script(&l.w, &own);
        total = 1;
    }
    struct cursor last = { .id = l.last };
    v1_list_end(call, &l.w, l.n > limit ? &last : NULL, total, true);
}

void v1_scripts_list(struct web_call *call)
{
    struct job_record job;
    struct query q;
    struct cursor at = { .id = 0 };
    query_begin(&q, call);
    int64_t limit = query_limit(&q);
    (void)query_cursor(&q, &at);
    if (!query_end(&q) || !find(call, &job))
        return;
    list(call, &job, limit, at.id);
    job_record_done(&job);
}

/* ---- one version -------------------------------------------------------------------------------
 */

static void write_one(struct web_call *call, const struct script_record *r)
{
    struct jsonw w = jsonw_on(&call->output);
    write_script(&w, r);
    etag_write(call, (struct etag){ 's', r->job_id, r->id });
}

static enum err load(struct web_call *call, const struct job_record *job, int64_t version,
                     struct script_record *ret, struct why *why)
{
    int64_t newest;
    if (version > 0)
        return call->db->ops->catalog->script_get(call->db, job->id, version, ret, why);
    enum err err = script_newest(call->db, job->id, &newest, why);
    if (err || newest || !script_has(job) || !job->glue_source)
        return err ? err : ERR_NOTFOUND;
    *ret = own_source(job);
    ret->source = mem_dup(ret->source);
    ret->remark = mem_dup(ret->remark);
    return OK;
}

static void get(struct web_call *call, const struct job_record *job, const char *text)
{
    struct script_record r = { .id = 0 };
    struct why why = { "" };
    int64_t version;
    enum err err = ERR_NOTFOUND;
    if (parse_i64(slice_text(text), &version) && version >= 0)
        err = load(call, job, version, &r, &why);
    if (err == ERR_NOTFOUND)
        no_script(call, job->id, text);
    else if (err)
        problem_err(call, err, &why);
    else
        write_one(call, &r);
    script_record_done(&r);
}

void v1_script_get(struct web_call *call)
{
    struct job_record job;
    if (!find(call, &job))
        return;
    get(call, &job, call->params.items[1].text);
    job_record_done(&job);
}

/* ---- publish -----------------------------------------------------------------------------------
 */

struct publish {
    struct slice source, remark;
    int64_t base;
};

static const struct body_field publish_fields[] = {
    { "source", FIELD_TEXT, offsetof(struct publish, source), true, 0, SOURCE_MAX },
    { "remark", FIELD_TEXT, offsetof(struct publish, remark), true, SCRIPT_REMARK_MIN,
      SCRIPT_REMARK_MAX },
    { "baseVersion", FIELD_I64_OR_NULL, offsetof(struct publish, base), false, 0, ROUTER_ID_MAX },
};

static void overtaken(struct web_call *call, int64_t job_id, const char *text)
{
    struct why why = { "" };
    int64_t newest;
    if (!script_newest(call->db, job_id, &newest, &why))
        etag_write(call, (struct etag){ 's', job_id, newest });
    problem(call, PROBLEM_CHANGED, "%s", text);
}

static void answer_new(struct web_call *call, int64_t job_id, int64_t version)
{
    struct script_record r = { .id = 0 };
    struct why why = { "" };
    char path[64];
    enum err err = call->db->ops->catalog->script_get(call->db, job_id, version, &r, &why);
    if (err) { /* 30 others came meanwhile, or the job has gone */
        problem_err(call, err, &why);
        return;
    }
    write_one(call, &r);
    snprintf(path, sizeof(path), "/jobs/%lld/scripts", (long long)job_id);
    v1_created(call, path, version);
    script_record_done(&r);
}

static void publish(struct web_call *call, const struct job_record *job, const struct publish *in)
{
    const struct script_new new = { in->source.p, in->remark.p, in->base };
    struct why why = { "" };
    int64_t version = 0;
    enum err err = script_publish(call, job->id, &new, &version, &why);
    if (err == ERR_OVERTAKEN)
        overtaken(call, job->id, why.text);
    else if (err == ERR_INVALID)
        problem(call, PROBLEM_CONFLICT, "%s", why.text);
    else if (err)
        problem_err(call, err, &why);
    else
        answer_new(call, job->id, version);
}

void v1_script_publish(struct web_call *call)
{
    struct publish in = { .base = SCRIPT_ANY_BASE };
    struct problem_errors errors;
    struct job_record job;
    if (!find(call, &job))
        return;
    problem_errors_init(&errors);
    body_fields(call->json, publish_fields, countof(publish_fields), &in, &errors);
    if (!body_has(call->json, "baseVersion"))
        body_missing_error(&errors, "/baseVersion");
    if (in.source.p && slice_trim(in.source).n == 0)
        problem_error(&errors, "/source", "text.empty", NULL, "source: must not be empty");
    if (errors.n)
        problem_fields(call, PROBLEM_INVALID, &errors);
    else
        publish(call, &job, &in);
    problem_errors_done(&errors);
    job_record_done(&job);
}
