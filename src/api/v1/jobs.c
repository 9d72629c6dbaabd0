/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: read, made, changed, deleted, started, stopped, run now. An edit answers with the job as it
 * is afterwards, read again: the scheduled times are those that planning has found. */
#include "api/body.h"
#include "api/edits.h"
#include "api/gate.h"
#include "api/idem.h"
#include "api/scripts.h"
#include "api/v1/etag.h"
#include "api/v1/job_json.h"
#include "api/v1/job_page.h"
#include "api/v1/query.h"
#include "api/v1/trigger.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

static struct etag tag_of(const struct job_record *r)
{
    return (struct etag){ 'j', r->id, r->version };
}

/* ---- one job -----------------------------------------------------------------------------------
 */

static void no_job(struct web_call *call, int64_t id)
{
    problem(call, PROBLEM_NOT_FOUND, "job %lld does not exist, or you may not see it",
            (long long)id);
}

static void refuse(struct web_call *call, int64_t id, enum err err, const struct why *why)
{
    if (err == ERR_NOTFOUND)
        no_job(call, id);
    else
        problem_err(call, err, why);
}

/* The job of the path, if the asker may see it, and has the row's permission on its group. False:
 * answered. */
static bool find(struct web_call *call, struct job_record *ret)
{
    int64_t id = call->params.items[0].number;
    struct why why = { "" };
    enum err err = job_read(call, id, ret, &why);
    if (err)
        refuse(call, id, err, &why);
    if (!err && gate_group(call, ret->group_id, "job", id))
        return true;
    job_record_done(ret);
    return false;
}

/* The job as an answer. False: it is a problem. */
static bool write_job(struct web_call *call, const struct job_record *r)
{
    struct why why = { "" };
    struct jsonw w = jsonw_on(&call->output);
    struct job_writer x;
    job_writer_init(&x, call, &w, 0);
    enum err err = job_write(&x, r, &why);
    job_writer_done(&x);
    if (err)
        problem_err(call, err, &why);
    return !err;
}

static void write_found(struct web_call *call, const struct job_record *r)
{
    if (write_job(call, r))
        etag_write_shown(call, tag_of(r));
}

void v1_job_get(struct web_call *call)
{
    struct job_record r;
    if (!find(call, &r))
        return;
    if (write_job(call, &r))
        etag_answer(call, tag_of(&r));
    job_record_done(&r);
}

/* The answer to an edit: the job as it is now. */
static void write_now(struct web_call *call, int64_t id)
{
    struct job_record r;
    struct why why = { "" };
    enum err err = job_read(call, id, &r, &why);
    if (err) /* somebody may have deleted it since */
        refuse(call, id, err, &why);
    else
        write_found(call, &r);
    job_record_done(&r);
}

/* Tell what the rules found. */
static void refuse_fields(struct web_call *call, enum err err, const struct problem_errors *errors,
                          const struct why *why)
{
    if (err == ERR_INVALID)
        problem_fields(call, PROBLEM_INVALID, errors);
    else if (err)
        problem_err(call, err, why);
}

/* ---- make --------------------------------------------------------------------------------------
 */

/* The body as a job, by all rules; false: answered. dry: its group may be made later. */
static bool read_new(struct web_call *call, struct job_record *r, bool dry)
{
    struct job_rules rules = edit_rules(call);
    struct problem_errors errors;
    struct why why = { "" };
    rules.group_later = dry;
    problem_errors_init(&errors);
    enum err err = job_json_insert(call->json, &rules, r, &errors, &why);
    refuse_fields(call, err, &errors, &why);
    problem_errors_done(&errors);
    return !err;
}

/* May the asker have this job in its group? A group out of sight does not exist for them. */
static bool may_keep(struct web_call *call, const struct job_record *r)
{
    bool script = r->glue_source && r->glue_source[0];
    char text[64];
    if (actor_may(call->actor, PERM_READ, r->group_id))
        return gate_group_for(call, PERM_JOBS_WRITE, r->group_id, "group", r->group_id) &&
               (!script ||
                gate_group_for(call, PERM_SCRIPTS_WRITE, r->group_id, "group", r->group_id));
    snprintf(text, sizeof(text), "there is no group %lld", (long long)r->group_id);
    v1_refuse_field(call, JOB_COLUMN_OF(group_id)->json, "group.exists", text);
    return false;
}

static void write_made(struct web_call *call, int64_t id)
{
    write_now(call, id);
    if (call->status == 200)
        v1_created(call, "/jobs", id);
}

void v1_job_create(struct web_call *call)
{
    struct why why = { "" };
    bool dry;
    if (!idem_open(call) || !query_dry_run(call, &dry))
        return;
    struct edit *e = edit_new(EDIT_JOB_INSERT);
    bool good = read_new(call, &e->job, dry);
    bool later = good && dry && !e->job.group_id;
    if (!good || (!later && !may_keep(call, &e->job))) {
        edit_free(e);
        return;
    }
    if (dry) {
        idem_drop(call);
        edit_free(e);
        v1_empty(call);
        return;
    }
    int64_t id = 0;
    idem_group(call, e->job.group_id);
    if (script_has(&e->job) && e->job.glue_source && e->job.glue_source[0])
        script_first(e);
    enum err err = edit_make(call, e, &id, &why);
    if (err == ERR_EXISTS) /* by this very request, when it came the first time */
        err = idem_made(call, 0, &id, &why);
    if (idem_clashes(call, err))
        return;
    if (err == ERR_INVALID) /* it has no firing to be started for, or its group has gone */
        v1_refuse_field(call, "/start", "schedule.over", why.text);
    else if (err)
        problem_err(call, err, &why);
    else
        write_made(call, id);
}

/* ---- change ------------------------------------------------------------------------------------
 */

/* The patch on top of e->job; false: answered. */
static bool read_patch(struct web_call *call, struct edit *e, uint64_t *ret_said)
{
    const struct job_rules rules = edit_rules(call);
    struct problem_errors errors;
    struct why why = { "" };
    int64_t group = e->job.group_id;
    problem_errors_init(&errors);
    enum err err = job_json_update(call->json, &rules, &e->job, ret_said, &errors, &why);
    refuse_fields(call, err, &errors, &why);
    problem_errors_done(&errors);
    return !err && (e->job.group_id == group || may_keep(call, &e->job));
}

/* An edit that somebody overtook: the client has not seen what it would have changed. */
static void overtaken(struct web_call *call, int64_t id)
{
    struct job_record r;
    struct why why = { "" };
    enum err err = job_read(call, id, &r, &why);
    if (err)
        refuse(call, id, err, &why);
    else
        etag_changed(call, tag_of(&r), "the job");
    job_record_done(&r);
}

/* again: an edit that was overtaken may be made anew. False: it may, and nothing is answered. */
static bool made_or_again(struct web_call *call, struct edit *e, int64_t id, bool again)
{
    struct why why = { "" };
    enum err err = edit_make(call, e, NULL, &why);
    if (err == ERR_OVERTAKEN && again)
        return false;
    if (err == ERR_OVERTAKEN)
        overtaken(call, id);
    else if (err == ERR_INVALID) /* its schedule has no firing any more */
        problem(call, PROBLEM_CONFLICT, "%s", why.text);
    else if (err)
        refuse(call, id, err, &why);
    else if (call->match.row->answer == ANSWER_EMPTY)
        v1_empty(call);
    else
        write_now(call, id);
    return true;
}

static void make_and_answer(struct web_call *call, struct edit *e, int64_t id)
{
    (void)made_or_again(call, e, id, false);
}

#define TRIES_OF_ANY                                                                               \
    8 /* of an edit by If-Match: *, which names no version that could be overtaken */

static bool update_once(struct web_call *call, bool dry, bool again)
{
    uint64_t said = 0;
    struct edit *e = edit_new(EDIT_JOB_UPDATE);
    if (!find(call, &e->job) || !etag_match(call, tag_of(&e->job), "the job") ||
        !read_patch(call, e, &said)) {
        edit_free(e);
        return true;
    }
    e->id = e->job.id;
    e->version = e->job.version;
    if (said && !dry)
        return made_or_again(call, e, e->id, again);
    if (dry)
        v1_empty(call);
    else
        write_found(call, &e->job); /* an empty patch changes nothing */
    edit_free(e);
    return true;
}

void v1_job_update(struct web_call *call)
{
    bool dry;
    int tries = etag_any(call) ? TRIES_OF_ANY : 1;
    if (!query_dry_run(call, &dry))
        return;
    while (!update_once(call, dry, --tries > 0))
        continue;
}

static bool delete_once(struct web_call *call, bool again)
{
    struct job_record r;
    bool answered = true;
    if (!find(call, &r))
        return true;
    if (etag_match(call, tag_of(&r), "the job")) {
        struct edit *e = edit_new(EDIT_JOB_DELETE);
        e->id = r.id;
        e->version = r.version;
        answered = made_or_again(call, e, r.id, again);
    }
    job_record_done(&r);
    return answered;
}

void v1_job_delete(struct web_call *call)
{
    int tries = etag_any(call) ? TRIES_OF_ANY : 1;
    while (!delete_once(call, --tries > 0))
        continue;
}

/* ---- start, stop -------------------------------------------------------------------------------
 */

static void simple_edit(struct web_call *call, enum edit_kind kind)
{
    struct job_record r;
    if (!find(call, &r))
        return;
    struct edit *e = edit_new(kind);
    e->id = r.id;
    make_and_answer(call, e, r.id);
    job_record_done(&r);
}

void v1_job_start(struct web_call *call)
{
    simple_edit(call, EDIT_JOB_START);
}

struct stop {
    struct slice reason;
};

static const struct body_field stop_fields[] = {
    { "reason", FIELD_TEXT, offsetof(struct stop, reason), false, 0, 255 },
};

void v1_job_stop(struct web_call *call)
{
    struct stop in = { .reason = { NULL, 0 } };
    if (!body_read(call, stop_fields, countof(stop_fields), &in))
        return;
    call->reason = in.reason;
    simple_edit(call, EDIT_JOB_STOP);
}

/* ---- run now -----------------------------------------------------------------------------------
 */

void v1_job_trigger(struct web_call *call)
{
    struct job_record r;
    if (!idem_open(call) || !find(call, &r))
        return;
    v1_trigger(call, &r, NULL);
    job_record_done(&r);
}
