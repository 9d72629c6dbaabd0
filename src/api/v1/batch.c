/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk actions are answered thing by thing: a refusal is a problem of its own, as the action on
 * that thing alone would have been answered. */
#include "api/v1/batch.h"
#include "base/mem.h"
#include <stdio.h>

void batch_refuse(struct batch_result *x, enum problem_kind kind, const char *text)
{
    x->ok = false;
    x->kind = kind;
    why_clear(&x->why);
    why_set(&x->why, "%s", text);
}

void batch_refuse_err(struct batch_result *x, enum err err, const char *what)
{
    char text[120];
    x->ok = false;
    switch (err) {
    case ERR_NOTFOUND:
        snprintf(text, sizeof(text), "the %s does not exist, or you may not see it", what);
        batch_refuse(x, PROBLEM_NOT_FOUND, text);
        return;
    case ERR_INVALID: /* it can be read, and its state does not allow it */
        x->kind = PROBLEM_CONFLICT;
        break;
    case ERR_OVERTAKEN:
        x->kind = PROBLEM_CHANGED;
        break;
    case ERR_TOOBIG:
        x->kind = PROBLEM_INVALID;
        break;
    default:
        x->kind = PROBLEM_UNAVAILABLE;
        break;
    }
    if (!x->why.text[0])
        why_set(&x->why, "%s", err_text(err));
}

bool batch_may(const struct web_call *call, enum permission wanted, int64_t group_id,
               const char *what, struct batch_result *x)
{
    char text[120];
    if (actor_may(call->actor, wanted, group_id))
        return true;
    if (!actor_may(call->actor, PERM_READ, group_id)) {
        batch_refuse_err(x, ERR_NOTFOUND, what);
        return false;
    }
    snprintf(text, sizeof(text), "the permission %s is missing on its group",
             permission_text(wanted));
    batch_refuse(x, PROBLEM_FORBIDDEN, text);
    return false;
}

/* ---- the answer --------------------------------------------------------------------------------
 */

void batch_begin(struct batch_answer *a, struct web_call *call, bool dry_run)
{
    *a = (struct batch_answer){ .call = call, .w = jsonw_on(&call->output) };
    jsonw_object(&a->w, NULL);
    jsonw_bool(&a->w, "dryRun", dry_run);
    jsonw_array(&a->w, "items");
}

void batch_put(struct batch_answer *a, int64_t id, const struct batch_result *x)
{
    struct jsonw *w = &a->w;
    a->done += x->ok;
    a->refused += !x->ok;
    jsonw_object(w, NULL);
    jsonw_i64(w, "id", id);
    jsonw_bool(w, "ok", x->ok);
    if (x->run_id)
        jsonw_i64(w, "runId", x->run_id);
    else
        jsonw_null(w, "runId");
    if (x->ok) {
        jsonw_null(w, "problem");
    } else {
        buf_text(&a->call->output, ",\"problem\":");
        problem_write(&a->call->output, x->kind, NULL, x->why.text, NULL, -1);
    }
    jsonw_object_end(w);
}

void batch_consequences(struct batch_answer *a)
{
    jsonw_array_end(&a->w);
    jsonw_i64(&a->w, "done", a->done);
    jsonw_i64(&a->w, "refused", a->refused);
    jsonw_object(&a->w, "consequences");
}

void batch_end(struct batch_answer *a)
{
    jsonw_object_end(&a->w);
    jsonw_object_end(&a->w);
}
