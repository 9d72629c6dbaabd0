/* SPDX-License-Identifier: Apache-2.0 */
/* The rules are those of the form API (run_now.h); here are the names of the fields. */
#include "api/v1/trigger.h"
#include "api/body.h"
#include "api/idem.h"
#include "api/run_now.h"
#include "api/v1/v1.h"
#include "base/mem.h"
#include <string.h>

#define PARAM_MAX 65535 /* what a column of type text takes */
#define ADDRESSES_MAX 100

struct trigger {
    struct slice param;
    struct body_texts addresses;
};

static const struct body_field trigger_fields[] = {
    { "param", FIELD_TEXT_OR_NULL, offsetof(struct trigger, param), false, 0, PARAM_MAX },
    { "addresses", FIELD_TEXTS, offsetof(struct trigger, addresses), false, 0, ADDRESSES_MAX },
};

static void run(struct web_call *call, const struct job_record *job, const char *param,
                const struct trigger *in)
{
    struct run_now_names names = { .param = "/param", .addresses = "/addresses" };
    struct why why = { "" };
    struct buf list = BUF_INIT(RUN_NOW_LIST_MAX + ADDRESSES_MAX);
    for (size_t i = 0; i < in->addresses.n; i++) {
        buf_text(&list, i ? "," : "");
        buf_slice(&list, body_text(&in->addresses, i));
    }
    int64_t log_id = 0;
    idem_group(call, job->group_id);
    enum err err = run_now(call, job, in->param.p ? in->param.p : param,
                           list.len ? buf_str(&list) : NULL, &names, &log_id, &why);
    buf_done(&list);
    if (err == ERR_EXISTS) /* by this very request, when it came the first time */
        err = idem_made(call, 0, &log_id, &why);
    if (idem_clashes(call, err))
        return;
    if (err == ERR_INVALID || err == ERR_TOOBIG) {
        v1_refuse_field(call, names.bad, "run", why.text + strlen(names.bad) + 2);
    } else if (err) {
        problem_err(call, err, &why);
    } else {
        struct jsonw w = jsonw_on(&call->output);
        v1_created(call, "/runs", log_id);
        jsonw_object(&w, NULL);
        jsonw_i64(&w, "runId", log_id);
        jsonw_object_end(&w);
    }
}

void v1_trigger(struct web_call *call, const struct job_record *job, const char *param)
{
    struct trigger in = { .param = { NULL, 0 } };
    if (body_read(call, trigger_fields, countof(trigger_fields), &in))
        run(call, job, param, &in);
}
