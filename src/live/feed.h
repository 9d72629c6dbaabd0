/* SPDX-License-Identifier: Apache-2.0 */
/* feed.h - what the scheduler's loop tells the web loop: what runs go through, how they have ended,
 * which jobs and groups were edited.
 *
 * Once an iteration of the scheduler's loop, without a lock on its way. What is told of ends and
 * edits is on disk. A web loop that falls behind by FEED_BACKLOG_MAX costs the scheduler nothing
 * more: what waits is the last that is told, and readers begin anew. */
#ifndef PEAL_LIVE_FEED_H
#define PEAL_LIVE_FEED_H

#include "model/cause.h"
#include "net/loop.h"
#include "sched/sched.h"

struct center;
struct feed;

#define FEED_BACKLOG_MAX (64u << 20) /* bytes */
#define FEED_MESSAGE_MAX 2000        /* bytes of what a failure said that are told */

struct feed_end {
    struct run_end end;
    int64_t ended_ms;
    /* Of one that has failed, else empty: its columns, the messages from their first character that
     * is not blank. The texts are borrowed for the call. */
    struct failure failure;
};

struct feed_edit {
    enum edit_kind kind;
    int64_t id;           /* of the job or group */
    int64_t version;      /* of the job, after it; 0 of a group and of what was deleted */
    int64_t group_id;     /* of the job, after it; of a deleted one, before; 0 of a group */
    int64_t was_group_id; /* of a job that was updated or deleted, before it; else 0 */
    bool enabled;         /* of the job, after it */
};

struct feed_executor {
    const char *address;
    enum executor_state state; /* EXECUTOR_STATES: it has gone */
    size_t ngroups;
    int64_t groups[]; /* ids, ascending: those that it has or had */
};

/* One that reads, embedded in its owner. All are called on the web loop's thread, in the order in
 * which things happened, and do not block; what they are given is borrowed for the call. Any but
 * begin may be NULL. */
struct feed_reader {
    struct list_node node; /* private */
    /* All that was told before is void. These runs are out or planned now; what ended before is in
     * the figures (ledger/figures.h). First of all calls. */
    void (*begin)(struct feed_reader *r, const struct run_seen *open, size_t n);
    void (*runs)(struct feed_reader *r, const struct run_seen *runs, size_t n);
    /* no: the commit's number in the figures. An end of a run that was told as open ends it;
     * end.was LOST: it was told to be lost before. */
    void (*ends)(struct feed_reader *r, const struct feed_end *ends, size_t n, int64_t no);
    /* The same of runs that another server has ended, which are not told as open before. no: the
     * commit's number in that server's figures. Of late ones words may be missing. */
    void (*others)(struct feed_reader *r, int64_t node, const struct feed_end *ends, size_t n,
                   int64_t no);
    void (*edits)(struct feed_reader *r, const struct feed_edit *edits, size_t n);
    /* An executor that has come or gone, or is in another state or other groups; looked at twice a
     * second. */
    void (*executor)(struct feed_reader *r, const struct feed_executor *e);
};

/* Reads the center from here on. web: the loop on whose thread readers are called. Before either
 * loop turns. */
MUST_CHECK enum err feed_new(struct center *c, struct loop *web, struct feed **ret);
/* Neither loop turns any more. NULL is fine. */
void feed_free(struct feed *f);

/* Web loop's thread, or before it turns. A reader that comes later is told begin when all are told
 * it the next time; feed_again asks for that. */
void feed_add(struct feed *f, struct feed_reader *r);
void feed_remove(struct feed *f, struct feed_reader *r); /* harmless if it is not there */
void feed_again(struct feed *f);

#endif
