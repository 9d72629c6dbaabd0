/* SPDX-License-Identifier: Apache-2.0 */
/* incident.h - what a rule has found: an alarm that is open until its jobs have recovered, the jobs
 * that it is about, and when it was told. Plain data; pure. Times are epoch milliseconds, -1: never
 * or not yet. */
#ifndef PEAL_MODEL_INCIDENT_H
#define PEAL_MODEL_INCIDENT_H

#include "model/rule.h"

#define INCIDENTS_KEPT_MS (INT64_C(30) * 86400000) /* closed ones */

/* What its failures have in common. The numbers stand in the database. */
enum incident_cause {
    CAUSE_GROUP,       /* the group alone */
    CAUSE_EXECUTOR,    /* the executor at an address: it did not answer, or lost the runs */
    CAUSE_NO_EXECUTOR, /* the group has none */
    CAUSE_CENTER,      /* a check of the center */
    CAUSES
};

#define INCIDENT_NODE '@' /* between a check and the server's name */

struct incident_record { /* texts owned */
    int64_t id, rule_id, group_id;
    enum rule_kind kind; /* of the rule, when it was opened; and: */
    enum rule_level level;
    enum incident_cause cause;
    char *address;           /* of the executor, with CAUSE_EXECUTOR; with CAUSE_CENTER the name of
                                the check ("disk", of one among several servers "disk@two"); else "" */
    int64_t since_ms;        /* the first event */
    int64_t log_id;          /* its run; 0: there is none */
    char *text;              /* why that one failed, folded; "" */
    int64_t last_ms;         /* the last event that it was written for */
    int64_t jobs, open;      /* that it has been about, and is */
    int64_t events, untold;  /* that have opened it or added to it; since the last message */
    int64_t told_ms;         /* the last message of what goes on */
    int64_t told;            /* messages */
    int64_t closed_ms;       /* -1: it is open */
    char *closed_by;         /* the name of who closed it; NULL: its jobs recovered */
    int64_t acknowledged_ms; /* no repeats since then */
    char *acknowledged_by;   /* name of a user; NULL */
    bool settled;            /* nothing of it is to be told any more */
};

struct incident_job { /* texts owned */
    int64_t incident_id, rule_id, job_id;
    int64_t log_id; /* the run that put it there; 0: none did */
    int64_t since_ms;
    int64_t events;    /* of it */
    int64_t took_ms;   /* of the run, RULE_SLOW */
    int64_t closed_ms; /* -1: it has not recovered */
    char *text;        /* why it failed, folded; why it was stopped */
};

enum tell_state {
    TELL_OPENED,
    TELL_AGAIN,
    TELL_CLOSED,
    TELL_STATES,
    TELL_NOTHING = TELL_STATES, /* it is over, and there is nothing more to tell */
};

/* One message to the channels of a rule: a row of peal_alarm whose log_id is -id each. */
struct tell_record {
    int64_t id, incident_id;
    enum tell_state state;
    int64_t at_ms;
};

void incident_record_done(struct incident_record *r);
void incident_record_copy(struct incident_record *to, const struct incident_record *from);
void incident_job_done(struct incident_job *j);
void incident_job_copy(struct incident_job *to, const struct incident_job *from);

const char *tell_state_text(enum tell_state s); /* "opened" */

/* When the next message of it is due: a time that may have passed, INT64_MAX for never. *ret_state:
 * which message. Pure: quiet hours are the caller's. */
int64_t incident_due_ms(const struct incident_record *i, const struct rule_record *r,
                        enum tell_state *ret_state);

#endif
