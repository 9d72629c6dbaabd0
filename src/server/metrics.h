/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - counters and histograms in the text format of Prometheus (0.0.4).
 *
 * Fixed at compile time: no labels come from input. Updated by the scheduler's and the writer's
 * thread with relaxed atomics, read by any. Names: docs/operations.md. */
#ifndef PEAL_SERVER_METRICS_H
#define PEAL_SERVER_METRICS_H

#include <stdatomic.h>
#include "base/buf.h"
#include "ledger/retention.h"
#include "model/alarm.h"
#include "model/model.h"
#include "sched/sched.h"

#define HISTOGRAM_BUCKETS 22 /* bounds in metrics.c; the last one has none */

struct histogram { /* of microseconds */
    _Atomic uint64_t bucket[HISTOGRAM_BUCKETS];
    _Atomic uint64_t sum_us, max_us;
};

enum metric_phase { METRIC_ANSWER, METRIC_RUN, METRIC_COMMIT, METRIC_PLAN, METRIC_PHASES };

#define METRIC_CHANNELS 16

struct metric_channel { /* an alarm channel: what tries came to */
    const char *name;   /* NULL: free */
    _Atomic uint64_t outcomes[DELIVERIES];
};

struct metric_node {  /* this server among those of its database; before there are threads */
    const char *name; /* lent for good; NULL: not known yet */
    int64_t node, epoch;
};

struct metrics {
    struct histogram lateness;             /* the send's write() minus the scheduled time */
    struct histogram phase[METRIC_PHASES]; /* sent to answered, answered to finished, a commit, a
                                              planning slice */
    _Atomic int64_t totals[TOTAL_COUNT];   /* as on disk after the last commit */
    _Atomic int64_t open;                  /* open runs in memory */
    _Atomic int64_t jobs;                  /* whose home is this server, -1: not counted yet */
    _Atomic int64_t queue_planned, queue_lanes, queue_writer, in_flight, in_doubt, accepted;
    _Atomic int64_t addresses, dead;
    _Atomic int64_t horizon_ms; /* wall: planned up to */
    _Atomic int64_t recorded;   /* 1: there is a flight recorder */
    _Atomic int64_t recorder_words,
        recorder_without; /* runs that are out, with and without a word */
    _Atomic uint64_t recorder_wrong;
    _Atomic int64_t planned_jobs; /* jobs that planning has looked at */
    _Atomic uint64_t batches, batch_errors;
    _Atomic uint64_t refused; /* writes that the database does not take for their values */
    _Atomic uint64_t db_conflicts, db_unheard; /* of these errors */
    _Atomic uint64_t db_lost;  /* commits that the database had acknowledged and does not have */
    _Atomic int64_t db_server; /* 1: the database is a server's, and what follows */
    _Atomic int64_t db_skew_ms, db_beat_ms; /* its clock minus ours; wall: the last beat it took */
    struct metric_node node;
    _Atomic uint64_t beats, beat_errors; /* that the database took, and all others */
    _Atomic int64_t shared;              /* 1: other servers may have the database, too; and: */
    _Atomic uint64_t inbox_given, inbox_taken;                /* results */
    _Atomic uint64_t forwarded, received;                     /* the same, directly */
    _Atomic uint64_t peer_failures, peer_refused, peer_looks; /* calls from node to node */
    _Atomic uint64_t node_looks; /* at the database, because of the last of these */
    _Atomic int64_t beat_us;     /* round trip of the last one it took */
    _Atomic uint64_t http_requests, http_bad, callbacks, callbacks_foreign;
    _Atomic uint64_t results_refused; /* there was no room for them */
    _Atomic int64_t journal_records;  /* on disk, not yet forgotten */
    _Atomic uint64_t journal_full, journal_errors;
    _Atomic int64_t ages_ms;              /* boot: nothing is deleted by its age before (ages.h) */
    _Atomic bool ages_step;               /* because the clock has stepped */
    _Atomic int64_t log_gone[GONE_COUNT]; /* log rows deleted, by enum retention_gone */
    struct metric_channel channels[METRIC_CHANNELS];
    _Atomic int64_t backup_every_ms; /* 0: none are made */
    _Atomic int64_t backup_ms;       /* when the last one was; 0: never */
    _Atomic uint64_t backup_errors;
    int64_t started_ms;
};

/* That of the name, which is lent for good. Before there are threads. */
struct metric_channel *metric_channel(struct metrics *m, const char *name);
void histogram_add(struct histogram *h, int64_t us);
/* What it has counted so far; the difference of two is what was counted between them. */
void histogram_read(const struct histogram *h, uint64_t counts[HISTOGRAM_BUCKETS]);
/* The milliseconds below which per_mille of the counts lie, interpolated; -1: there are none. */
double histogram_at(const uint64_t counts[HISTOGRAM_BUCKETS], int per_mille);
/* A text as the value of a label, without the quotes around it. */
void metrics_label(struct buf *out, const char *text);
/* totals: as the tables say now, of all servers that have the database. */
void metrics_write(struct metrics *m, const struct totals *totals, int64_t unaccounted,
                   struct buf *out);

#endif
