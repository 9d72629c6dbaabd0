/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - a job while it has runs in memory. */
#ifndef PEAL_SCHED_JOB_H
#define PEAL_SCHED_JOB_H

#include "sched/sched.h"

struct run;

struct live_job {
    int64_t id;
    struct job *def; /* counted: the newest that is known */
    struct list runs;
    struct list probes;         /* idleBeats for it, one an address at most */
    struct list_node broadcast; /* in the core's list of those that have had broadcasts */
    int nruns;
    bool deleted;
    /* Among other servers: the version to which all its runs belong, or have been held against; the
     * latest that was heard of. What is unsent does not leave while the first is older. */
    int64_t told, news;
    bool syncing;            /* and the edit that sees to that is on its way (share.c) */
    uint64_t anew_seq;       /* the last batch that lays a firing of its schedule anew */
    int64_t started_sent_ms; /* boot: when the last to leave of those known to have started left */
    uint32_t started_lane;   /* and to which lane's id */
    uint64_t overdue_look;   /* dispatch.c: the look at what is due that the next one is of */
    int64_t overdue_ms;      /* wall: the latest scheduled time that was planned and overdue then */
};

/* An edit at another server is known, and what it makes of the job's runs is not. */
static inline bool job_behind(const struct live_job *j)
{
    return j->syncing;
}

struct live_job *job_live(struct sched *s, int64_t id); /* NULL if it has no runs */
struct live_job *job_enter(struct sched *s, struct job *def);
/* The job as it is from now on. Runs that are there know what their log rows say: firings of the
 * schedule that leave later do so with the new parameter, the others with the one that they have.
 */
void job_define(struct live_job *j, struct job *def);
void job_settle(struct sched *s, struct live_job *j); /* frees it when nothing is left of it */
/* Is a scheduled run of the job open, or on its way to become a row: a retry, or a firing that is
 * planned again with the batch that gathers? */
bool job_is_out(const struct sched *s, const struct live_job *j);
/* FIX_DELAY counts from the end of the last shard's last attempt, however it ended: if none of the
 * job's scheduled runs is open any more, its next scheduled time is asked for. */
void job_delay(struct sched *s, struct now now, const struct live_job *j);
/* The run is known to have begun at its executor. */
void job_started(struct run *r);
struct run *retry_of(const struct run *r);

#endif
