/* SPDX-License-Identifier: Apache-2.0 */
/* One action on many jobs. Each job is an edit (or a run) of its own, which can be refused alone;
 * a slice of them is asked for at once, so that they share a commit, and then waited for. The audit
 * has one entry, which is written with the first of them that is done. */
#include "api/audit.h"
#include "api/body.h"
#include "api/edits.h"
#include "api/gate.h"
#include "api/idem.h"
#include "api/run_now.h"
#include "api/v1/batch.h"
#include "api/v1/consequences.h"
#include "api/v1/job_json.h"
#include "api/v1/job_page.h"
#include "base/clock.h"
#include "base/mem.h"
#include "wire/json.h"
#include <string.h>

#define SLICE 64 /* asked for at once */
#define OWNER_MAX 64

enum act { ACT_START, ACT_STOP, ACT_TRIGGER, ACT_DELETE, ACT_SET_OWNER, ACT_MOVE_GROUP };

static const struct {
    const char *name, *audit;
    enum permission permission;
    enum edit_kind edit;
} acts[] = {
    [ACT_START] = { "start", "job.start", PERM_RUN, EDIT_JOB_START },
    [ACT_STOP] = { "stop", "job.stop", PERM_RUN, EDIT_JOB_STOP },
    [ACT_TRIGGER] = { "trigger", "job.trigger", PERM_RUN, EDIT_JOB_START },
    [ACT_DELETE] = { "delete", "job.delete", PERM_JOBS_WRITE, EDIT_JOB_DELETE },
    [ACT_SET_OWNER] = { "set_owner", "job.update", PERM_JOBS_WRITE, EDIT_JOB_UPDATE },
    [ACT_MOVE_GROUP] = { "move_group", "job.update", PERM_JOBS_WRITE, EDIT_JOB_UPDATE },
};

struct batch_in {
    struct body_word action;
    struct body_ids ids;
    struct slice reason, owner;
    int64_t group_id;
    bool dry_run;
};

static const struct body_field batch_fields[] = {
    { "action", FIELD_WORD, offsetof(struct batch_in, action), true, 0, 0 },
    { "ids", FIELD_IDS, offsetof(struct batch_in, ids), true, 1, BATCH_MAX },
    { "reason", FIELD_TEXT, offsetof(struct batch_in, reason), false, 0, 255 },
    { "owner", FIELD_TEXT, offsetof(struct batch_in, owner), false, 0, OWNER_MAX },
    { "groupId", FIELD_I64, offsetof(struct batch_in, group_id), false, 1, ROUTER_ID_MAX },
    { "dryRun", FIELD_BOOL, offsetof(struct batch_in, dry_run), false, 0, 0 },
};

struct job_batch {
    struct web_call *call;
    const struct batch_in *in;
    enum act act;
    struct json_t *patch; /* of an update, the same for each job; NULL: none */
    struct audit_many *audit;
    struct batch_answer answer;
    struct consequences sum; /* of a dry run */
};

struct item { /* one job of a slice */
    int64_t id;
    struct batch_result result;
    struct request *asked; /* NULL: refused, or a dry run */
};

/* ---- what is asked for --------------------------------------------------------------------------
 */

/* Firings, runs that wait, rows of the log? */
static bool takes_away(enum act act)
{
    return act == ACT_STOP || act == ACT_DELETE || act == ACT_MOVE_GROUP;
}

static enum act act_of(struct slice name)
{
    enum act act = ACT_START;
    while (!slice_eq(name, acts[act].name))
        act++;
    return act;
}

/* The group to move to: it is there, and the asker may have jobs in it. False: answered. */
static bool may_move(struct web_call *call, int64_t group_id)
{
    struct group_record r = { 0 };
    struct why why = { "" };
    enum err err = call->db->ops->catalog->group_get(call->db, group_id, &r, &why);
    group_record_done(&r);
    if (err && err != ERR_NOTFOUND) {
        problem_err(call, err, &why);
        return false;
    }
    if (!err && actor_may(call->actor, PERM_READ, group_id))
        return gate_group_for(call, PERM_JOBS_WRITE, group_id, "group", group_id);
    v1_refuse_field(call, "/groupId", "group.exists", "there is no such group");
    return false;
}

static bool has_what_it_takes(struct web_call *call, const struct batch_in *in, enum act act)
{
    bool owner = act != ACT_SET_OWNER || in->owner.p;
    bool group = act != ACT_MOVE_GROUP || in->group_id;
    if (!owner)
        v1_refuse_field(call, "/owner", "required", "set_owner needs it");
    else if (!group)
        v1_refuse_field(call, "/groupId", "required", "move_group needs it");
    return owner && group && (act != ACT_MOVE_GROUP || may_move(call, in->group_id));
}

static struct json_t *patch_of(const struct batch_in *in, enum act act)
{
    struct buf b = BUF_INIT(OWNER_MAX * 8 + 100);
    struct jsonw w = jsonw_on(&b);
    struct json_t *patch = NULL;
    struct why why = { "" };
    if (act != ACT_SET_OWNER && act != ACT_MOVE_GROUP)
        return NULL;
    jsonw_object(&w, NULL);
    if (act == ACT_SET_OWNER)
        jsonw_slice(&w, "owner", in->owner);
    else
        jsonw_i64(&w, "groupId", in->group_id);
    jsonw_object_end(&w);
    if (body_parse(slice_of(b.data, b.len), &patch, &why))
        patch = NULL;
    buf_done(&b);
    return patch;
}

/* ---- one job ------------------------------------------------------------------------------------
 */

/* Move e->job by the patch, by all rules. */
static bool patch_job(struct job_batch *b, struct edit *e, struct batch_result *x)
{
    const struct job_rules rules = edit_rules(b->call);
    struct problem_errors errors;
    uint64_t said = 0;
    int64_t group_id = b->act == ACT_MOVE_GROUP ? b->in->group_id : e->job.group_id;
    bool script = e->job.glue_source && e->job.glue_source[0] && group_id != e->job.group_id;
    if (script && !batch_may(b->call, PERM_SCRIPTS_WRITE, group_id, "group", x))
        return false;
    problem_errors_init(&errors);
    enum err err = job_json_update(b->patch, &rules, &e->job, &said, &errors, &x->why);
    if (err == ERR_INVALID)
        batch_refuse(x, PROBLEM_INVALID, errors.first);
    else if (err)
        batch_refuse_err(x, err, "job");
    problem_errors_done(&errors);
    return !err;
}

/* The edit of a job that was read, which is taken. NULL: refused. */
static struct edit *edit_of(struct job_batch *b, struct job_record *r, struct batch_result *x)
{
    struct edit *e = edit_new(acts[b->act].edit);
    e->id = r->id;
    if (!b->patch)
        return e;
    job_record_done(&e->job);
    e->job = *r;
    job_record_init(r);
    e->version = e->job.version;
    if (patch_job(b, e, x))
        return e;
    edit_free(e);
    return NULL;
}

static void ask_edit(struct job_batch *b, struct job_record *r, struct item *item)
{
    struct edit *e = edit_of(b, r, &item->result);
    if (e)
        item->asked = edit_ask(b->call, e, b->audit);
}

/* Would it be done, and what would it take away? */
static void try_edit(struct job_batch *b, struct job_record *r, struct item *item)
{
    struct batch_result *x = &item->result;
    struct consequences sum = b->sum;
    enum err err =
        takes_away(b->act) ? consequences_add(b->call, r, acts[b->act].edit, &sum, &x->why) : OK;
    if (err) {
        batch_refuse_err(x, err, "job");
        return;
    }
    struct edit *e = edit_of(b, r, x);
    x->ok = e != NULL;
    if (x->ok)
        b->sum = sum;
    edit_free(e);
}

static void ask_run(struct job_batch *b, const struct job_record *r, struct item *item)
{
    if (b->in->dry_run)
        item->result.ok = true;
    else
        item->asked = run_now_ask(b->call, r, b->audit);
}

/* By this very request, when it came the first time? */
static bool was_deleted(struct web_call *call, int64_t id)
{
    struct why why = { "" };
    int64_t made;
    return idem_made(call, id, &made, &why) == OK;
}

static void ask(struct job_batch *b, struct item *item)
{
    struct batch_result *x = &item->result;
    struct job_record r;
    b->call->idem_item = item->id;
    enum err err = job_read(b->call, item->id, &r, &x->why);
    if (err == ERR_NOTFOUND && b->act == ACT_DELETE && was_deleted(b->call, item->id))
        x->ok = true;
    else if (err)
        batch_refuse_err(x, err, "job");
    else if (!batch_may(b->call, acts[b->act].permission, r.group_id, "job", x))
        x->ok = false;
    else if (b->act == ACT_TRIGGER)
        ask_run(b, &r, item);
    else if (b->in->dry_run)
        try_edit(b, &r, item);
    else
        ask_edit(b, &r, item);
    job_record_done(&r);
}

static void take_answer(struct job_batch *b, struct item *item)
{
    struct batch_result *x = &item->result;
    if (!item->asked)
        return;
    int64_t made = 0;
    enum err err = b->act == ACT_TRIGGER ? run_now_answer(b->call, item->asked, &made, &x->why)
                                         : edit_answer(b->call, item->asked, NULL, &x->why);
    if (err == ERR_EXISTS) /* by this very request, when it came the first time */
        err = idem_made(b->call, item->id, &made, &x->why);
    if (b->act == ACT_TRIGGER)
        x->run_id = made;
    x->ok = !err;
    if (err)
        batch_refuse_err(x, err, "job");
}

/* ---- all of them --------------------------------------------------------------------------------
 */

static void slice(struct job_batch *b, size_t from, size_t n, bool late)
{
    struct item items[SLICE] = { { 0 } };
    for (size_t i = 0; i < n; i++) {
        items[i].id = body_id(&b->in->ids, from + i);
        if (late)
            batch_refuse(&items[i].result, PROBLEM_UNAVAILABLE,
                         "the batch took too long; this one was not begun");
        else
            ask(b, &items[i]);
    }
    for (size_t i = 0; i < n; i++) {
        take_answer(b, &items[i]);
        batch_put(&b->answer, items[i].id, &items[i].result);
    }
}

static struct audit_many *audit_of(const struct job_batch *b)
{
    struct audit_many *many = audit_many_new(b->call, acts[b->act].audit);
    struct buf owner = BUF_INIT(OWNER_MAX * 8), group = BUF_INIT(32);
    jsonw_quote(&owner, b->in->owner);
    buf_printf(&group, "%lld", (long long)b->in->group_id);
    if (b->act == ACT_SET_OWNER)
        audit_many_json(many, "/owner", buf_str(&owner));
    if (b->act == ACT_MOVE_GROUP)
        audit_many_json(many, "/groupId", buf_str(&group));
    buf_done(&owner);
    buf_done(&group);
    return many;
}

static void batch(struct web_call *call, const struct batch_in *in, enum act act)
{
    struct job_batch b = { .call = call, .in = in, .act = act, .patch = patch_of(in, act) };
    int64_t end_ms = clock_boot_ms() + BATCH_MS;
    b.audit = audit_of(&b);
    batch_begin(&b.answer, call, in->dry_run);
    for (size_t i = 0; i < in->ids.n; i += SLICE)
        slice(&b, i, in->ids.n - i < SLICE ? in->ids.n - i : SLICE, clock_boot_ms() >= end_ms);
    batch_consequences(&b.answer);
    if (in->dry_run && takes_away(act))
        consequences_write(&b.answer.w, &b.sum);
    batch_end(&b.answer);
    audit_many_free(b.audit);
    wire_json_free(b.patch);
}

void v1_jobs_batch(struct web_call *call)
{
    struct batch_in in = { .action = { .words =
                                           "start,stop,trigger,delete,set_owner,move_group" } };
    if (!idem_open(call) || !body_read(call, batch_fields, countof(batch_fields), &in))
        return;
    if (in.dry_run)
        idem_drop(call);
    enum act act = act_of(in.action.text);
    call->reason = in.reason;
    if (gate_has(call, acts[act].permission) && has_what_it_takes(call, &in, act))
        batch(call, &in, act);
}
