/* SPDX-License-Identifier: Apache-2.0 */
/* incidents.h - what rules find in the ends of runs, in the transaction that writes these; and what
 * is told of it.
 *
 * A rule looks at the transition of a job: its failures in a row before an end and with it. A
 * transition opens an alarm (a row of peal_incident), adds the job to one that is open, or takes it
 * out again; the alarm of which no job is left is closed. What becomes a message is decided later
 * (tells_write), so that a burst is one. Rules are in memory; nothing is read from the database but
 * where a transition concerns a rule. */
#ifndef PEAL_LEDGER_INCIDENTS_H
#define PEAL_LEDGER_INCIDENTS_H

#include "ledger/write.h"

struct incidents; /* the rules in memory; the thread of the ledger */

struct incidents *incidents_new(void);
void incidents_free(struct incidents *x); /* NULL is fine */
/* Before the first transaction: other servers end runs of the same jobs, and write what they find
 * into the same alarms. */
void incidents_share(struct incidents *x);
/* Any thread; also within a transaction that writes rules: the next one reads them anew. */
void incidents_stale(struct incidents *x);

/* In a transaction: a rule goes, or means something else from now on. Its open alarms are closed,
 * and nothing is told of that. */
MUST_CHECK enum err incidents_drop_rule(struct store *s, int64_t rule_id, int64_t now_ms,
                                        struct why *why);
/* In a transaction that will change it: the alarm as it is. Other servers that ask for one of the
 * same rule wait until the transaction ends. ERR_NOTFOUND. */
MUST_CHECK enum err incident_take(struct store *s, int64_t id, struct incident_record *ret,
                                  struct why *why);
/* In a transaction: a user closes the alarm. Its channels are told, if they were told that it is
 * open. ERR_NOTFOUND; ERR_EXISTS: it is closed. */
MUST_CHECK enum err incident_close(struct store *s, int64_t id, const char *by, int64_t now_ms,
                                   struct why *why);

#define TELLS_MAX 50 /* messages of one write */

struct tell {
    int64_t incident_id;
    int64_t told; /* how many were told of it when it was looked at */
    enum tell_state state;
};

struct tell_to { /* a channel whose messages go to several targets; texts owned */
    char *channel, *targets;
};

struct tells {
    int64_t now_ms;
    struct tell_to *to; /* owned */
    int nto;
    int n; /* at most TELLS_MAX */
    struct tell tells[TELLS_MAX];
};

/* The write of a struct tells, which it frees: each message is a row of peal_tell and one of
 * peal_alarm for each channel of the rule. What was told meanwhile is left out, so the same write
 * may be made again. */
extern const struct ledger_write tells_write;
void tells_free(struct tells *t); /* one that was not written; NULL is fine */

/* ---- states that last ------------------------------------------------------------------------ */

#define CONDITIONS_MAX 200 /* of one write */

/* That a rule that looks for states (rule_watches) has found one, or that it is over. */
struct condition {
    int64_t rule_id, group_id, job_id; /* 0: of none. A job: of RULE_LATE alone */
    enum incident_cause cause;
    bool over;
    char address[256]; /* as in struct incident_record */
    char text[300];
};

struct conditions {
    int64_t now_ms;
    int n; /* at most CONDITIONS_MAX */
    struct condition items[CONDITIONS_MAX];
};

/* The write of a struct conditions, which it frees. What is open already is not opened again, so
 * the same write may be made again. */
extern const struct ledger_write conditions_write;

#endif
