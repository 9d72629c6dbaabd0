/* SPDX-License-Identifier: Apache-2.0 */
/* incidents_internal.h - alarms as rows, shared by the files incidents*.c only.
 *
 * From the ground up: incidents_rows.c (an alarm takes jobs, and lets them go), incidents_states.c
 * (states that last), incidents_tell.c (messages), incidents.c (what rules find in ends). All of it
 * is called in a transaction. */
#ifndef PEAL_LEDGER_INCIDENTS_INTERNAL_H
#define PEAL_LEDGER_INCIDENTS_INTERNAL_H

#include "ledger/internal.h"

struct incident_event { /* of one job, for one rule */
    const struct rule_record *rule;
    int64_t group_id, job_id, log_id, took_ms;
    enum incident_cause cause;
    char address[256];
    const char *text;
};

/* The alarm that takes the event: one that is open, or a new one. Its texts are the caller's. */
MUST_CHECK enum err incident_for(struct txn *t, const struct incident_event *e,
                                 struct incident_record *ret);
/* The event's job comes into that alarm. */
MUST_CHECK enum err incident_happened(struct txn *t, const struct incident_event *e);
/* The job is well again, for that rule; 0: for all. */
MUST_CHECK enum err incidents_recovered(struct txn *t, int64_t rule_id, int64_t job_id);

#endif
