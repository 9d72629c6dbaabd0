/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done with runs: end one, run its job again, either of them for many; delete old ones.
 * The rules are those of the form API: run_kill.h, run_now.h, clean.h. */
#include "api/audit.h"
#include "api/body.h"
#include "api/clean.h"
#include "api/gate.h"
#include "api/idem.h"
#include "api/run_kill.h"
#include "api/run_now.h"
#include "api/v1/batch.h"
#include "api/v1/run_page.h"
#include "api/v1/trigger.h"
#include "api/v1/v1.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

#define COUNT_MAX 1000000

/* ---- kill --------------------------------------------------------------------------------------
 */

static enum problem_kind kill_problem(enum err err)
{
    switch (err) {
    case ERR_BUSY:
        return PROBLEM_CONFLICT;
    case ERR_NET:
    case ERR_TIMEOUT:
        return PROBLEM_TIMEOUT;
    default:
        return PROBLEM_UNAVAILABLE;
    }
}

/* End the run. *ret_outcome: "killed", "withdrawn", or "ended_before" where there is nothing to
 * end. said has 256 bytes. */
static enum err kill_one(struct web_call *call, const struct log_record *r,
                         const char **ret_outcome, char *said, struct why *why)
{
    enum err err = r->phase ? run_kill(call, r->id, said, why) : ERR_NOTFOUND;
    if (!err || err == ERR_TIMEOUT) /* the kill stands */
        audit_note(call, "run.kill", r->id, r->handler);
    *ret_outcome = strncmp(said, "withdrawn", 9) == 0 ? "withdrawn" : "killed";
    if (err == ERR_NOTFOUND) {
        *ret_outcome = "ended_before";
        text_copy(said, 256, slice_text("the run has ended already"));
        return OK;
    }
    return err;
}

void v1_run_kill(struct web_call *call)
{
    struct log_record r;
    struct why why = { "" };
    char said[256] = "";
    const char *outcome;
    if (!run_find_for(call, &r))
        return;
    enum err err = kill_one(call, &r, &outcome, said, &why);
    log_record_done(&r);
    if (err) {
        problem(call, kill_problem(err), "%s", why.text[0] ? why.text : err_text(err));
        return;
    }
    struct jsonw w = jsonw_on(&call->output);
    jsonw_object(&w, NULL);
    jsonw_text(&w, "outcome", outcome);
    jsonw_text(&w, "said", said);
    jsonw_object_end(&w);
}

/* ---- again -------------------------------------------------------------------------------------
 */

void v1_run_rerun(struct web_call *call)
{
    struct log_record r;
    struct job_record job;
    struct why why = { "" };
    if (!idem_open(call) || !run_find_for(call, &r))
        return;
    enum err err = call->db->ops->catalog->job_get(call->db, r.job_id, &job, &why);
    if (err == ERR_NOTFOUND)
        problem(call, PROBLEM_CONFLICT, "the job of run %lld has been deleted", (long long)r.id);
    else if (err)
        problem_err(call, err, &why);
    /* the job may have moved to a group of others since */
    else if (gate_group(call, job.group_id, "run", r.id))
        v1_trigger(call, &job, r.param ? r.param : "");
    if (!err)
        job_record_done(&job);
    log_record_done(&r);
}

/* ---- many --------------------------------------------------------------------------------------
 */

struct batch_in {
    struct body_word action;
    struct body_ids ids;
    bool dry_run;
};

static const struct body_field batch_fields[] = {
    { "action", FIELD_WORD, offsetof(struct batch_in, action), true, 0, 0 },
    { "ids", FIELD_IDS, offsetof(struct batch_in, ids), true, 1, BATCH_MAX },
    { "dryRun", FIELD_BOOL, offsetof(struct batch_in, dry_run), false, 0, 0 },
};

static void kill_of_many(struct web_call *call, const struct log_record *r, bool dry,
                         struct batch_result *x)
{
    const char *outcome;
    char said[256] = "";
    if (!r->phase) {
        batch_refuse(x, PROBLEM_CONFLICT, "the run has ended already");
        return;
    }
    enum err err = dry ? OK : kill_one(call, r, &outcome, said, &x->why);
    x->ok = !err;
    x->kind = kill_problem(err);
}

static void rerun_of_many(struct web_call *call, const struct log_record *r, bool dry,
                          struct batch_result *x)
{
    struct run_now_names names = { .param = "param", .addresses = "addresses" };
    struct job_record job;
    enum err err = call->db->ops->catalog->job_get(call->db, r->job_id, &job, &x->why);
    if (err) {
        batch_refuse(x, err == ERR_NOTFOUND ? PROBLEM_CONFLICT : PROBLEM_UNAVAILABLE,
                     err == ERR_NOTFOUND ? "its job has been deleted" : x->why.text);
        return;
    }
    if (batch_may(call, PERM_RUN, job.group_id, "run", x)) {
        call->idem_item = r->id;
        if (!dry)
            err = run_now(call, &job, r->param ? r->param : "", NULL, &names, &x->run_id, &x->why);
        if (err == ERR_EXISTS) /* by this very request, when it came the first time */
            err = idem_made(call, r->id, &x->run_id, &x->why);
        x->ok = !err;
        x->kind = err == ERR_INVALID || err == ERR_TOOBIG ? PROBLEM_INVALID : PROBLEM_UNAVAILABLE;
    }
    job_record_done(&job);
}

static void one_of_many(struct web_call *call, const struct batch_in *in, int64_t id,
                        struct batch_result *x)
{
    struct log_record r = { 0 };
    enum err err = call->db->ops->pages->log_get(call->db, id, &r, &x->why);
    if (err == ERR_NOTFOUND)
        batch_refuse(x, PROBLEM_NOT_FOUND, "the run does not exist, or you may not see it");
    else if (err)
        x->kind = PROBLEM_UNAVAILABLE;
    else if (batch_may(call, PERM_RUN, r.group_id, "run", x) && slice_eq(in->action.text, "kill"))
        kill_of_many(call, &r, in->dry_run, x);
    else if (!x->why.text[0])
        rerun_of_many(call, &r, in->dry_run, x);
    log_record_done(&r);
}

static void batch(struct web_call *call, const struct batch_in *in)
{
    int64_t end_ms = clock_boot_ms() + BATCH_MS;
    struct batch_answer answer;
    batch_begin(&answer, call, in->dry_run);
    for (size_t i = 0; i < in->ids.n; i++) {
        struct batch_result x = { .ok = false };
        int64_t id = body_id(&in->ids, i);
        if (clock_boot_ms() < end_ms)
            one_of_many(call, in, id, &x);
        else
            batch_refuse(&x, PROBLEM_UNAVAILABLE,
                         "the batch took too long; this one was not begun");
        batch_put(&answer, id, &x);
    }
    batch_consequences(&answer);
    batch_end(&answer);
}

void v1_runs_batch(struct web_call *call)
{
    struct batch_in in = { .action = { .words = "kill,rerun" } };
    if (!idem_open(call) || !body_read(call, batch_fields, countof(batch_fields), &in))
        return;
    if (in.dry_run)
        idem_drop(call);
    batch(call, &in);
}

/* ---- delete ------------------------------------------------------------------------------------
 */

struct clean_in {
    struct body_word rule;
    int64_t group_id, job_id;
    bool dry_run;
};

static const struct body_field clean_fields[] = {
    { "rule", FIELD_WORD, offsetof(struct clean_in, rule), true, 0, 0 },
    { "groupId", FIELD_I64_OR_NULL, offsetof(struct clean_in, group_id), false, 1, ROUTER_ID_MAX },
    { "jobId", FIELD_I64_OR_NULL, offsetof(struct clean_in, job_id), false, 1, ROUTER_ID_MAX },
    { "dryRun", FIELD_BOOL, offsetof(struct clean_in, dry_run), false, 0, 0 },
};

static int rule_of(struct slice name)
{
    int rule = CLEAN_RULE_MIN;
    while (!slice_eq(name, clean_rule_names[rule - 1]))
        rule++;
    return rule;
}

/* What the body names is there, and the asker may delete its rows. What is out of sight does not
 * exist. False: answered. */
static bool may_clean(struct web_call *call, int64_t group_id, const char *pointer,
                      const char *what, int64_t id)
{
    char text[64];
    if (actor_may(call->actor, PERM_READ, group_id))
        return gate_group(call, group_id, what, id);
    snprintf(text, sizeof(text), "there is no %s %lld", what, (long long)id);
    v1_refuse_field(call, pointer, "exists", text);
    return false;
}

/* The groups whose rows may go: the one that is named, else all that the asker may write to; so
 * rows that a job has in groups of others stay. False: answered. */
static bool clean_scope(struct web_call *call, struct clean_in *in, struct scope *ret)
{
    struct job_record job;
    struct why why = { "" };
    *ret = *actor_scope(call->actor, PERM_JOBS_WRITE);
    if (in->group_id) {
        *ret = (struct scope){ .ids = &in->group_id, .n = 1 };
        if (!may_clean(call, in->group_id, "/groupId", "group", in->group_id))
            return false;
    }
    if (!in->job_id)
        return true;
    enum err err = call->db->ops->catalog->job_get(call->db, in->job_id, &job, &why);
    if (err == ERR_NOTFOUND)
        return may_clean(call, 0, "/jobId", "job", in->job_id); /* rows of a deleted one */
    if (err) {
        problem_err(call, err, &why);
        return false;
    }
    bool good = may_clean(call, job.group_id, "/jobId", "job", in->job_id);
    job_record_done(&job);
    return good;
}

static bool no_row(void *ctx, const struct log_record *r)
{
    (void)ctx;
    (void)r;
    return false;
}

/* How many rows the walk would delete, as far as one look goes. */
static enum err clean_count(struct web_call *call, const struct log_clean *walk, int64_t *ret_rows,
                            bool *ret_exact, struct why *why)
{
    const unsigned ended = (LOG_OUTCOME_BIT(LOG_OUTCOMES) - 1) & ~LOG_OUTCOME_BIT(LOG_OPEN);
    const struct runs_filter f = { .scope = &walk->scope,
                                   .jobs = &walk->job_id,
                                   .njobs = walk->job_id > 0,
                                   .outcomes = ended,
                                   .from_ms = -1,
                                   .to_ms = walk->before_ms == NEVER_MS ? -1 : walk->before_ms,
                                   .below_id = INT64_MAX,
                                   .count_max = COUNT_MAX };
    struct runs_end end;
    enum err err = call->db->ops->pages->runs_page(call->db, &f, no_row, NULL, &end, why);
    *ret_rows = end.counted > walk->keep ? end.counted - walk->keep : 0;
    *ret_exact = end.exact;
    return err;
}

void v1_runs_clean(struct web_call *call)
{
    static const char words[] = "older_1_month,older_3_months,older_6_months,older_12_months,"
                                "keep_1000,keep_10000,keep_30000,keep_100000,all";
    struct clean_in in = { .rule = { .words = words }, .dry_run = true };
    struct why why = { "" };
    int64_t rows = 0;
    bool exact = false;
    struct scope scope;
    if (!body_read(call, clean_fields, countof(clean_fields), &in) ||
        !clean_scope(call, &in, &scope))
        return;
    struct log_clean walk = clean_walk_now(call, rule_of(in.rule.text));
    walk.scope = scope;
    walk.job_id = in.job_id;
    enum err err = clean_count(call, &walk, &rows, &exact, &why);
    if (!err && !in.dry_run)
        err = clean_ask(call, &walk, &why);
    if (err) {
        problem_err(call, err, &why);
        return;
    }
    struct jsonw w = jsonw_on(&call->output);
    jsonw_object(&w, NULL);
    jsonw_bool(&w, "dryRun", in.dry_run);
    jsonw_i64(&w, "rows", rows);
    jsonw_bool(&w, "exact", exact);
    jsonw_object_end(&w);
}
