/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of phases and kinds stand in logs, metrics and databases, so a text that has shipped does
 * not change. */
#include "model/run.h"
#include "model/claim.h"
#include "model/job.h"
#include <stdlib.h>
#include <string.h>

static const char *const phases[PHASE_COUNT] = {
    [PHASE_PLANNED] = "planned",
    [PHASE_SENT] = "sent",
    [PHASE_UNKNOWN] = "unknown",
    [PHASE_ACCEPTED] = "accepted",
    [PHASE_LOST] = "lost",
    [PHASE_SUCCEEDED] = "succeeded",
    [PHASE_FAILED] = "failed",
    [PHASE_TIMED_OUT] = "timed_out",
    [PHASE_KILLED] = "killed",
    [PHASE_REJECTED] = "rejected",
    [PHASE_UNROUTABLE] = "unroutable",
    [PHASE_SKIPPED] = "skipped",
    [PHASE_WITHDRAWN] = "withdrawn",
};
static const char *const kinds[KIND_COUNT] = {
    "CRON", "MISFIRE", "MANUAL", "RETRY", "PARENT", "API"
};

const char *phase_text(enum phase p)
{
    return p < PHASE_COUNT && phases[p] ? phases[p] : "?";
}

enum outcome phase_outcome(enum phase p)
{
    static const enum outcome outcomes[PHASE_COUNT] = {
        [PHASE_LOST] = OUTCOME_LOST,           [PHASE_SUCCEEDED] = OUTCOME_SUCCEEDED,
        [PHASE_FAILED] = OUTCOME_FAILED,       [PHASE_TIMED_OUT] = OUTCOME_TIMED_OUT,
        [PHASE_KILLED] = OUTCOME_KILLED,       [PHASE_REJECTED] = OUTCOME_REJECTED,
        [PHASE_UNROUTABLE] = OUTCOME_REJECTED, [PHASE_SKIPPED] = OUTCOME_SKIPPED,
        [PHASE_WITHDRAWN] = OUTCOME_WITHDRAWN,
    };
    return p < PHASE_COUNT ? outcomes[p] : OUTCOME_NONE;
}

const char *kind_text(enum kind k)
{
    return k < KIND_COUNT ? kinds[k] : "?";
}

int64_t run_log_ms(enum kind kind, int64_t scheduled_ms, int64_t due_ms)
{
    int64_t ms = kind == KIND_RETRY ? due_ms : scheduled_ms, rest = ms % 1000;
    if (rest >= 0)
        return ms - rest;
    return ms < INT64_MIN + 1000 ? INT64_MIN : ms - rest - 1000;
}

void run_row_done(struct run_row *r)
{
    free(r->address);
    free(r->handler);
    free(r->param);
    free(r->choices);
    memset(r, 0, sizeof(*r));
}

void run_change_done(struct run_change *c)
{
    free(c->address);
    free(c->handler);
    free(c->param);
    free(c->trigger_msg);
    free(c->handle_msg);
    free(c->story);
    job_unref(c->job);
    memset(c, 0, sizeof(*c));
}

void late_result_done(struct late_result *l)
{
    free(l->msg);
    claim_unref(l->claim);
}
