/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h - a rule of alarms: what is to be told, of which jobs, to which channels, how often. Plain
 * data; pure. */
#ifndef PEAL_MODEL_RULE_H
#define PEAL_MODEL_RULE_H

#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

#define RULES_MAX 200          /* of a database */
#define RULE_NAME_MAX 100      /* characters */
#define RULE_CHANNELS_MAX 20   /* of a rule */
#define RULE_CHANNEL_MAX 64    /* characters of a channel's name */
#define RULE_IN_A_ROW_MAX 1000 /* failures */
#define RULE_LONGER_MIN_MS 1000
#define RULE_LONGER_MAX_MS (INT64_C(30) * 86400000)
#define RULE_REPEAT_MIN_MS 60000
#define RULE_REPEAT_MAX_MS (INT64_C(7) * 86400000)
#define RULE_BURST_MS 10000 /* what comes within so long of the first is told with it */
#define RULE_DAY_MINUTES 1440

#define SILENCES_MAX 500       /* of a database */
#define SILENCE_REASON_MAX 200 /* characters */
#define SILENCE_MAX_MS (INT64_C(90) * 86400000)
#define SILENCES_KEPT_MS (INT64_C(30) * 86400000) /* that are over */

/* What happened. The texts stand in the database and in the API. */
enum rule_kind {
    RULE_FAILED,    /* a job failed: the first time after a success, or so often in a row */
    RULE_RECOVERED, /* a job that failed has succeeded again */
    RULE_SLOW,      /* a run took longer than the rule's limit */
    RULE_STOPPED,   /* the center has stopped a job */
    /* What is looked for now and then, see rule_watches: */
    RULE_LATE,   /* a job was not sent within the limit after its scheduled time */
    RULE_EMPTY,  /* a group has enabled jobs and no executor */
    RULE_GONE,   /* a registered executor does not beat, or refuses connections */
    RULE_CENTER, /* the center itself is not well */
    RULE_KINDS
};

enum rule_level { RULE_INFO, RULE_WARNING, RULE_CRITICAL, RULE_LEVELS };

struct rule_record { /* texts owned */
    int64_t id, version;
    char *name;
    enum rule_kind kind;
    enum rule_level level;
    int64_t group_id, job_id; /* of this group, of this job; both 0: of all jobs */
    int in_a_row;             /* RULE_FAILED: so many failures; else 0 */
    int64_t longer_ms;        /* RULE_SLOW, RULE_LATE: the limit; of the others that are looked
                                 for: what has lasted so long. Else 0 */
    char *channels;           /* their names, comma separated */
    int quiet_from, quiet_to; /* minutes of the day in the server's zone; -1: no quiet hours */
    int64_t repeat_ms;        /* what goes on is told again after so long; 0: never */
    bool enabled;
    int64_t created_ms, updated_ms;
};

/* Nothing is told of alarms of that group and that rule from from_ms until before until_ms. */
struct silence_record { /* texts owned */
    int64_t id;
    int64_t group_id, rule_id; /* 0: of all */
    int64_t job_id; /* of what is about this job alone, whose group group_id is; 0: of all */
    int64_t from_ms, until_ms, made_ms;
    char *reason;
    char *by; /* name of a user */
};

void silence_record_done(struct silence_record *r);
void silence_record_copy(struct silence_record *to, const struct silence_record *from);

/* Is it one of a job, and holds for what the rule found about that one? */
static inline bool silence_holds_job(const struct silence_record *s, int64_t job_id,
                                     int64_t rule_id, int64_t now_ms)
{
    return s->job_id && s->job_id == job_id && (!s->rule_id || s->rule_id == rule_id) &&
           now_ms >= s->from_ms && now_ms < s->until_ms;
}

/* Does it hold at that time, for what the rule found in the group, whatever the jobs? */
static inline bool silence_holds(const struct silence_record *s, int64_t group_id, int64_t rule_id,
                                 int64_t now_ms)
{
    return !s->job_id && (!s->group_id || s->group_id == group_id) &&
           (!s->rule_id || s->rule_id == rule_id) && now_ms >= s->from_ms && now_ms < s->until_ms;
}

void rule_record_done(struct rule_record *r);
void rule_record_copy(struct rule_record *to, const struct rule_record *from);

const char *rule_kind_text(enum rule_kind k);   /* "failed" */
const char *rule_level_text(enum rule_level l); /* "warning" */
/* False: there is none of that name. */
bool rule_kind_of(struct slice text, enum rule_kind *ret);
bool rule_level_of(struct slice text, enum rule_level *ret);

/* Is it about that job? */
static inline bool rule_is_of(const struct rule_record *r, int64_t group_id, int64_t job_id)
{
    return (!r->job_id || r->job_id == job_id) && (!r->group_id || r->group_id == group_id);
}

/* Is what the rule finds a state that lasts, and is looked for, not the end of a run? */
static inline bool rule_watches(enum rule_kind k)
{
    return k >= RULE_LATE;
}

/* An alarm of the kind stays open until its jobs have recovered, or the state is over. Others are
 * over when they are told. */
static inline bool rule_stays(enum rule_kind k)
{
    return k == RULE_FAILED || rule_watches(k);
}

/* How many minutes of its quiet hours are left in that minute of the day; 0: none. */
int rule_quiet_left(const struct rule_record *r, int minute);

#endif
