/* SPDX-License-Identifier: Apache-2.0 */
/* incident.c - when an alarm of a rule is told. A burst gathers for RULE_BURST_MS; what goes on is
 * told again after the rule's interval; what was told as open is told as closed. */
#include "model/incident.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

static const char *const states[TELL_STATES] = {
    [TELL_OPENED] = "opened",
    [TELL_AGAIN] = "again",
    [TELL_CLOSED] = "closed",
};

void incident_record_done(struct incident_record *r)
{
    free(r->address);
    free(r->text);
    free(r->closed_by);
    free(r->acknowledged_by);
    memset(r, 0, sizeof(*r));
}

void incident_record_copy(struct incident_record *to, const struct incident_record *from)
{
    *to = *from;
    to->address = mem_dup(from->address);
    to->text = mem_dup(from->text);
    to->closed_by = mem_dup(from->closed_by);
    to->acknowledged_by = mem_dup(from->acknowledged_by);
}

void incident_job_done(struct incident_job *j)
{
    free(j->text);
    memset(j, 0, sizeof(*j));
}

void incident_job_copy(struct incident_job *to, const struct incident_job *from)
{
    *to = *from;
    to->text = mem_dup(from->text);
}

const char *tell_state_text(enum tell_state s)
{
    return states[s];
}

int64_t incident_due_ms(const struct incident_record *i, const struct rule_record *r,
                        enum tell_state *ret_state)
{
    *ret_state = TELL_OPENED;
    if (i->settled)
        return INT64_MAX;
    if (i->told_ms < 0) /* also if it has recovered meanwhile: a short failure is one */
        return i->since_ms + RULE_BURST_MS;
    *ret_state = TELL_CLOSED;
    if (i->closed_ms >= 0)
        return i->closed_ms;
    *ret_state = rule_stays(i->kind) || i->untold ? TELL_AGAIN : TELL_NOTHING;
    if (*ret_state == TELL_AGAIN && (i->acknowledged_ms >= 0 || !r->repeat_ms))
        return INT64_MAX;
    return i->told_ms + r->repeat_ms;
}
