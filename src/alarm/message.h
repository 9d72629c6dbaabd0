/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - what is told of an alarm, whatever the channel: plain data, made by who composes it,
 * read by channels. */
#ifndef PEAL_ALARM_MESSAGE_H
#define PEAL_ALARM_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include "wire/trigger_text.h"

/* Events: "run.failed" (one run, as XXL-JOB tells it), "job.failed", "job.streak", "job.recovered",
 * "job.slow", "job.late", "job.stopped", "group.empty", "executor.gone", "center.…", "test". */
#define ALARM_RUN_FAILED "run.failed"
#define ALARM_TEST "test"

#define ALARM_ITEMS_MAX 20 /* that a message lists; the others are counted */

struct alarm_item {         /* one job that the message is about; texts "" where there is none */
    int64_t job_id, log_id; /* log_id 0: no run */
    const char *job;        /* its description */
    const char *cause;      /* folded, one line */
    const char *since;      /* RFC 3339 */
    int64_t failures;       /* in a row; 0: not counted */
    int64_t took_ms;        /* of the run; 0: it is not about that */
    bool open;              /* it has not recovered */
};

/* Told to one target. No text is NULL; all of them are hostile: they come from users and executors,
 * may hold any character, and are at most as long as their columns. */
struct alarm_message {
    const char *id;     /* the same at each try: who gets it twice can tell. A-Z a-z 0-9 . - */
    const char *target; /* "" where the channel has one of its own */
    const char *event;  /* see above */
    const char *level;  /* "info", "warning", "critical" */
    const char *state;  /* "opened", "again", "closed"; "" for what is over when it is told */
    const char *key;    /* the same for all messages of one alarm, its end too. Bytes as id */
    const char *title;  /* one line for people */
    int64_t since_ms;   /* epoch: it began */
    int64_t closed_ms;  /* epoch: it is over; -1 */

    /* The run of ALARM_RUN_FAILED; of others what they have in common, else 0 and "". */
    int64_t log_id, job_id, group_id;
    const char *job;     /* its description */
    const char *handler; /* "" for scripts */
    const char *group, *app;
    const char *outcome; /* "failed", "timed out", … (phase_text) */
    const char *when;    /* trigger_time, RFC 3339 in the server's zone; "" */
    const char *address; /* of the executor; "" if there was none */
    int code;
    const char *cause;       /* folded, one line */
    const char *trigger_msg; /* "" unless the call of the executor failed */
    const char *handle_msg;  /* "" unless the run failed after that */

    /* Of a rule's message. */
    int64_t alarm_id, rule_id; /* 0: none */
    const char *rule;          /* its name */
    const struct alarm_item *items;
    int nitems;         /* at most ALARM_ITEMS_MAX */
    int64_t jobs, open; /* that it is about, those not listed too; of these not recovered */
    int64_t held;       /* messages that the channel's limit of rate has held back before this */

    enum wire_lang lang; /* of the server's messages */
};

#endif
