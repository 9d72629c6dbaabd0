/* SPDX-License-Identifier: Apache-2.0 */
/* /jobcode: the script of a GLUE job, as XXL-JOB's editor saves it. Whoever saves last wins there:
 * the form does not say which version it was made from. */
#include "api/xxl/jobcode.h"
#include "api/scripts.h"
#include "api/xxl/fields.h"
#include "api/xxl/login.h"
#include "api/xxl/reply.h"
#include <string.h>

static enum err check(const struct script_new *script, struct why *why)
{
    size_t n = script->remark ? utf8_units(script->remark, strlen(script->remark)) : 0;
    if (n < SCRIPT_REMARK_MIN || n > SCRIPT_REMARK_MAX) {
        why_set(why, "glueRemark: must have %d-%d characters", SCRIPT_REMARK_MIN,
                SCRIPT_REMARK_MAX);
        return ERR_INVALID;
    }
    if (field_blank(script->source)) {
        why_set(why, "glueSource: must not be empty");
        return ERR_INVALID;
    }
    return OK;
}

static enum err save(struct web_call *call, struct why *why)
{
    const struct script_new script = { form_get(&call->form, "glueSource"),
                                       form_get(&call->form, "glueRemark"), SCRIPT_ANY_BASE };
    struct job_record job;
    int64_t id, version;
    job_record_init(&job);
    enum err err = check(&script, why);
    if (!err)
        err = field_id(&call->form, &id, why);
    if (!err)
        err = call->db->ops->catalog->job_get(call->db, id, &job, why);
    if (!err)
        err = login_may(call, PERM_SCRIPTS_WRITE, job.group_id, why);
    if (!err)
        err = script_publish(call, id, &script, &version, why);
    job_record_done(&job);
    return err;
}

void jobcode_save(struct web_call *call)
{
    struct why why = { "" };
    enum err err = save(call, &why);
    if (err)
        reply_err(call, err, &why);
    else
        reply_ok(call);
}
