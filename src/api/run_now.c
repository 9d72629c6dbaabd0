/* SPDX-License-Identifier: Apache-2.0 */
/* A request must not make the center call anywhere else than where the group's executors are, so
 * each address is looked up before the scheduler is asked. */
#include "api/run_now.h"
#include "api/audit.h"
#include "api/run_trace.h"
#include "base/mem.h"
#include <string.h>

/* The addresses, trimmed and joined, into out. */
static enum err choose(struct web_call *call, int64_t group_id, const char *list, const char *name,
                       struct buf *out, struct why *why)
{
    struct slice rest = slice_text(list);
    if (rest.n > RUN_NOW_LIST_MAX) {
        why_set(why, "%s: at most %d bytes", name, RUN_NOW_LIST_MAX);
        return ERR_TOOBIG;
    }
    if (plan_choices(list) > PLAN_CHOICES_MAX) {
        why_set(why, "%s: at most %d addresses", name, PLAN_CHOICES_MAX);
        return ERR_TOOBIG;
    }
    for (struct slice address; slice_item(&rest, &address);) {
        if (!center_address_known(call->center, group_id, address)) {
            why_set(why, "%s: %.*s is neither registered for the job's group nor in its list", name,
                    (int)utf8_cut(address.p, address.n, 200), address.p);
            return ERR_INVALID;
        }
        if (out->len)
            buf_char(out, ',');
        buf_slice(out, address);
    }
    return OK;
}

/* The spawn's texts are taken. */
static struct request *spawn_ask(struct web_call *call, const struct job_record *job,
                                 struct spawn spawn, struct audit_many *audit)
{
    spawn.job_id = job->id;
    spawn.kind = KIND_MANUAL;
    spawn.retries_left = -1;
    spawn.trace = run_trace_asked(call);
    audit_spawn(call, audit, job->description, &spawn);
    return center_trigger_ask(call->center, &spawn);
}

struct request *run_now_ask(struct web_call *call, const struct job_record *job,
                            struct audit_many *audit)
{
    return spawn_ask(call, job, (struct spawn){ 0 }, audit);
}

enum err run_now_answer(struct web_call *call, struct request *asked, int64_t *ret_log_id,
                        struct why *why)
{
    return center_trigger_answer(call->center, asked, ret_log_id, why);
}

enum err run_now(struct web_call *call, const struct job_record *job, const char *param,
                 const char *addresses, struct run_now_names *names, int64_t *ret_log_id,
                 struct why *why)
{
    struct buf choices = BUF_INIT(RUN_NOW_LIST_MAX + 1);
    const size_t param_max = (size_t)job_columns[JOB_COLUMN_param].max;
    names->bad = names->param;
    if (param && strlen(param) > param_max) {
        why_set(why, "%s: at most %zu bytes", names->param, param_max);
        return ERR_TOOBIG;
    }
    names->bad = names->addresses;
    enum err err = choose(call, job->group_id, addresses, names->addresses, &choices, why);
    if (!err) {
        const struct spawn spawn = { .param = mem_dup(param),
                                     .choices = choices.len ? mem_dup(buf_str(&choices)) : NULL };
        struct request *asked = spawn_ask(call, job, spawn, NULL);
        err = run_now_answer(call, asked, ret_log_id, why);
    }
    if (err == ERR_VALUE) { /* all else is the job's own, or has been looked at */
        why_clear(why);
        names->bad = names->param;
        why_set(why, "%s: the log's column in this database does not take this text", names->param);
        err = ERR_INVALID;
    }
    buf_done(&choices);
    return err;
}
