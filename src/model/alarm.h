/* SPDX-License-Identifier: Apache-2.0 */
/* alarm.h - that a run has failed, on its way to the people who want to know: the rows of
 * peal_alarm and peal_delivery. Plain data. Times are epoch milliseconds. */
#ifndef PEAL_MODEL_ALARM_H
#define PEAL_MODEL_ALARM_H

#include <stdint.h>
#include "model/run.h"

/* The channel of xxl_job_info.alarm_email. */
#define ALARM_BY_JOB "mail"
#define ALARM_SAID_MAX 400 /* bytes of what a try came to that are kept */

/* xxl_job_log.alarm_status, as XXL-JOB has it: 0 -> -1 -> 1, 2 or 3. */
enum alarm_status {
    ALARM_CLAIMED = -1, /* an alarm is on its way */
    ALARM_UNSEEN = 0,
    ALARM_NOT_NEEDED = 1,
    ALARM_SENT = 2,   /* to all who are to be told */
    ALARM_FAILED = 3, /* to some of them it was given up */
    /* Of messages of rules alone, which no log row is about: */
    ALARM_HELD = 4, /* the limit of its channel kept it back */
};

/* One failed run, for one channel: at most one row of each (log_id, channel). Texts are owned,
 * NULL is NULL. */
struct alarm_record {
    int64_t id; /* 0 until the store has given one; never given twice */
    int64_t log_id, job_id, group_id;
    int64_t made_ms;
    enum phase phase;
    int code; /* as struct cause, which has the fingerprint too */
    uint64_t fingerprint;
    char *cause;   /* its text */
    char *channel; /* its name */
    char *targets; /* addresses of the job, comma separated; NULL: the channel's own target */
    /* Not written with the row: it begins open and claimed. */
    int64_t closed_ms; /* -1: open */
    enum alarm_status status;
    int64_t resent_ms; /* a user had it sent again; -1: never */
};

/* When it was made, or was sent again: its tries count from there. */
static inline int64_t alarm_begun_ms(const struct alarm_record *r)
{
    return r->resent_ms > r->made_ms ? r->resent_ms : r->made_ms;
}

void alarm_record_done(struct alarm_record *r);

enum delivery_outcome {
    DELIVERY_SENT,
    DELIVERY_AGAIN, /* failed, and will be tried again */
    DELIVERY_NEVER, /* failed, and given up */
    DELIVERY_HELD,  /* not sent: the limit of the channel */
    DELIVERIES
};

/* One try to send an alarm to one target. */
struct delivery_record {
    int64_t alarm_id;
    char *target; /* owned */
    int n;        /* 1: its first try */
    int64_t at_ms, took_ms;
    enum delivery_outcome outcome;
    char *said; /* by the other side, or what failed; owned, NULL: nothing */
};

void delivery_record_done(struct delivery_record *r);

#endif
