/* SPDX-License-Identifier: Apache-2.0 */
/* sched.h - the scheduling core: what a center decides, without doing any of it.
 *
 * Time, dice and results come in as arguments; actions go out as values (sched_pop, batches). It
 * calls no clock, no network, no disk, so the simulation runs whole centers in virtual time from
 * a seed. One thread. The protocol is docs/model/ledger.pml; docs/internals/sched.md tells it in
 * words.
 *
 * The driver's duty: after every call pop all actions; hand a batch to the writer whenever none is
 * under way; call sched_tick when sched_next_* says so; ask sched_leaving before a CALL_RUN leaves,
 * and answer every CALL exactly once. What a call's pointers name is valid until the next pop. */
#ifndef PEAL_SCHED_SCHED_H
#define PEAL_SCHED_SCHED_H

#include "base/list.h"
#include "model/call.h"
#include "model/executor.h"
#include "model/story.h"
#include "sched/batch.h"
#include "sched/flight.h"

struct claim;
struct sched;

struct now {         /* the two clocks */
    int64_t wall_ms; /* CLOCK_REALTIME: calendars */
    int64_t boot_ms; /* CLOCK_BOOTTIME: waits */
};

#define SCHED_LIVE_MAX 2000000
#define SCHED_LANE_CONNECTIONS 256 /* defaults, which are those of the settings too */
#define SCHED_LANE_QUEUE 10000

struct sched_config {
    uint64_t seed;
    int lane_connections;  /* calls in flight to one address, if it answers slowly */
    int spare_connections; /* by how much all lanes together may exceed 64 each (4096) */
    int lane_queue;        /* runs that wait for one address before others are tried */
    int64_t horizon_ms;    /* how far ahead planning writes (5000) */
    int plan_max_rows;     /* rows of one slice (2000) */
    int planned_max;       /* planned rows in memory at which planning pauses (200,000) */
    int dispatch_at_once;  /* due runs that one tick takes up (6000): sending them takes some 60 ms,
                              which results and commits wait */
    int64_t batch_gap_ms;  /* between two starts of transactions (4): small ones cost more than they
                              hurry; among n centers n times as long, at most four times */
    int64_t batch_wait_ms; /* the same of one with nothing in it that is waited for (4), unless it
                              has */
    int batch_rows;        /* so many rows (500) */
    int live_max;          /* live runs at which planning pauses (2,000,000) */
    int64_t watermark_ahead_ms; /* 2000 */
    int64_t dead_after_ms;      /* an address that has not beaten for so long is gone (90,000) */
    int64_t reconcile_gap_ms;   /* between two reconciliation rounds (3000) */
    int64_t end_wait_ms;     /* a run whose log has ended waits so long for its callback (90,000) */
    int64_t gone_after_ms;   /* neither registered nor answering for so long: LOST (600,000) */
    int64_t adopted_wait_ms; /* a run of a life that others ended is first asked for after (2000) */
    int64_t reconcile_first_ms; /* an accepted run is first reconciled after (10,000) */
    int64_t lost_keep_ms; /* a LOST run without a retry may still be finished for (3,600,000) */
};

void sched_config_default(struct sched_config *c);

struct sched *sched_new(const struct sched_config *config);
void sched_free(struct sched *s);

/* ---- start: what the disk holds, then sched_started once ------------------------------------- */
/* First of all: the watermark, and whether the last process left it clean (store.h,
 * watermark_clean). */
void sched_load_watermark(struct sched *s, int64_t watermark_ms, bool clean);
/* Also later, when another program has changed it or made it. */
void sched_load_group(struct sched *s, const struct group_record *g);
void sched_load_registry(struct sched *s, struct now now, const struct registry_record *r);
/* The recorder of this life, empty; it outlives s. None: the next life goes by the watermark. */
void sched_record(struct sched *s, struct flight_head *recorder);
/* The number of the last batch that is done. */
uint64_t sched_committed(const struct sched *s);
/* Another program has deleted the group. */
void sched_group_gone(struct sched *s, int64_t group_id);
/* All rows of the registry, as they were read when batch seq was the last that was done: addresses
 * that others have taken are there, those without a row are not, and nothing of it is written.
 * False: an address of an older row has left here since, nothing was heard; read them again. */
bool sched_heard_registry(struct sched *s, struct now now, const struct registry_record *rows,
                          int n, uint64_t seq);
/* Takes a reference of its own to the job; the row is copied. known: what the recorder of the life
 * before says about this id. */
void sched_load_run(struct sched *s, struct now now, const struct run_row *row, struct job *job,
                    enum flight_known known);
/* Nothing is sent before the first batch is done: it says on disk what was decided about each row,
 * and names the new recorder, or none. */
void sched_started(struct sched *s, struct now now);

/* Nothing is planned from now on, but for what edits and runs by hand ask for. What is planned goes
 * on. */
void sched_plan_ends(struct sched *s);
/* After that: has all that the schedules had planned become due? */
bool sched_empty(const struct sched *s, struct now now);
/* Nothing is sent, planned or asked from now on; results and commits still come in. When no send is
 * under way any more, a last batch leaves the watermark clean: what is planned then was not sent,
 * and the next start need not reconcile it. */
void sched_drain(struct sched *s);
bool sched_drained(const struct sched *s); /* everything that was to be written is on disk */

/* ---- time ------------------------------------------------------------------------------------ */
/* Takes up what is due, a bounded part of it. When sched_next_wall lies in the past afterwards
 * there is more: the driver looks at its other events and ticks again. */
void sched_tick(struct sched *s, struct now now);
int64_t sched_next_wall(const struct sched *s); /* call sched_tick then; NEVER_MS: nothing waits */
int64_t sched_next_boot(const struct sched *s);
/* The wall clock was set; by_ms < 0: back. */
void sched_clock_stepped(struct sched *s, struct now now, int64_t by_ms);
/* The system's time zones have changed: every job is parsed anew, CRON jobs' next scheduled times
 * follow. What is planned already (at most the horizon) fires as it was planned. */
void sched_zones_changed(struct sched *s);

/* ---- actions --------------------------------------------------------------------------------- */
enum action_kind {
    ACTION_CALL,    /* a call to an executor; answer with sched_on_call */
    ACTION_ACK,     /* the results that this ack stands for are kept: answer the callback */
    ACTION_EDITED,  /* an edit is done: edit->err; the driver frees it */
    ACTION_SPAWNED, /* a manual trigger is planned, or refused: reply, err */
    ACTION_KILLED,  /* a kill is done: reply, err, text */
    ACTION_WARM, /* a burst comes: open so many connections to call.address, if there are fewer */
};

struct action {
    enum action_kind kind;
    struct call call;
    struct ack *ack;
    struct edit *edit;
    void *reply;
    enum err err;
    int connections;
    int64_t log_id;
    struct lane *lane; /* private */
    char text[256];
};

bool sched_pop(struct sched *s, struct action *ret);

/* This center is one of several on its database: from the call on runs leave only before that boot
 * time, and only what falls due up to mark_ms; both may grow. Before sched_started and whenever
 * they have changed. */
void sched_lease(struct sched *s, struct now now, int64_t until_boot_ms, int64_t mark_ms);
/* Which of them plans which job from now on. */
void sched_share(struct sched *s, const struct share *share);
/* The next batch moves a slice of the jobs whose home is another by now. One at a time. */
void sched_homes(struct sched *s, const struct home_row *from);
/* Another center has changed the job: runs that are planned here by an older version leave no more
 * from now on, and the next batch decides what becomes of them. Old news are harmless. */
void sched_job_changed(struct sched *s, struct now now, const struct job_news *c);
/* Another center may have left what is due: the next batch looks for it. */
void sched_claim(struct sched *s);
/* The next batch takes a slice of another center's runs over; they go on here when it is done, as
 * those of the last life do at a start. One at a time: not again before that batch is done. */
void sched_adopt(struct sched *s, const struct adoption *a);

/* May this /run leave? To be asked once for each CALL_RUN, immediately before its first byte can be
 * written: from a yes on the run counts as sent, whatever becomes of this process. False: nothing
 * of it may leave, the call ends with CALL_AGAIN. */
bool sched_leaving(struct sched *s, struct now now, int64_t log_id, uint32_t ticket);
void sched_on_call(struct sched *s, struct now now, const struct call_result *r);

/* ---- what executors say ---------------------------------------------------------------------- */
/* ours: the executor remembers log ids. False if the app or address cannot be taken (limits). */
bool sched_register(struct sched *s, struct now now, struct slice app, struct slice address,
                    bool ours);
void sched_unregister(struct sched *s, struct now now, struct slice app, struct slice address);

/* A request that waits for its results to be kept. Embedded by the driver; comes back once by
 * ACTION_ACK. */
struct ack {
    struct list_node node; /* private */
    uint64_t seq;          /* private */
};

/* Is a result surely one of another run, which had this log id in a database that has been
 * replaced? date_ms: the logDateTime that it brings back, 0: none. To be asked before sched_result;
 * it learns from each what the address sends. */
bool sched_result_foreign(struct sched *s, int64_t log_id, int64_t date_ms);
/* One result. It is kept once the ack comes back; unknown and repeated ids are fine. False: too
 * many wait whose runs are not in memory; nothing is kept of it, and it must not be acknowledged.
 */
bool sched_result(struct sched *s, struct now now, int64_t log_id, int code, struct slice msg);
/* The same of a run whose log row another program has ended: that one sees to its retry, its
 * children and its alarms. Does nothing if the run is not open here. */
void sched_result_elsewhere(struct sched *s, struct now now, int64_t log_id, int code,
                            struct slice msg);
/* The same of one that was acknowledged by an earlier process. There is always room for it. */
void sched_result_again(struct sched *s, struct now now, int64_t log_id, int code,
                        struct slice msg);
/* The same of a sender that may not speak for every group: where the group is not known now, it is
 * looked at with the log row; the batch says what was refused. Takes a reference. */
bool sched_result_claimed(struct sched *s, struct now now, int64_t log_id, int code,
                          struct slice msg, struct claim *claim);
/* The group of a run that a result may still be for. False: it is not known now. */
bool sched_result_group(const struct sched *s, int64_t log_id, int64_t *ret_group_id);
/* The same of one that another server took for this one. It may come more than once; its row goes
 * with the batch that ends the run, or that finds that it is over. */
void sched_inbox(struct sched *s, struct now now, const struct inbox_row *row);
/* After all results of a request. */
void sched_ack_after(struct sched *s, struct now now, struct ack *ack);

/* ---- what users ask -------------------------------------------------------------------------- */
void sched_edit(struct sched *s, struct now now, struct edit *e); /* takes e */
/* Run a job now; the spawn is copied, its text taken. Answered by ACTION_SPAWNED. */
void sched_trigger(struct sched *s, struct now now, struct spawn *spawn);
/* Answered by ACTION_KILLED; a kill that worked, when the run's end is kept. */
void sched_kill(struct sched *s, struct now now, int64_t log_id, void *reply);
/* Does the address stand in the group's list by hand? */
bool sched_address_listed(const struct sched *s, int64_t group_id, struct slice address);
/* Is the address registered for the group, or in its list? */
bool sched_address_known(const struct sched *s, int64_t group_id, struct slice address);

struct sched_look {      /* a run that has not ended */
    const char *address; /* NULL: none yet; borrowed until the next call */
    int64_t log_ms;      /* run_log_ms */
    struct trace_root root;
};
/* False: the run has ended, as far as is known here, or there is none. */
bool sched_look(const struct sched *s, int64_t log_id, struct sched_look *ret);

/* ---- writing --------------------------------------------------------------------------------- */
/* What has gathered, or NULL if there is nothing to write. One batch at a time. */
struct batch *sched_take_batch(struct sched *s, struct now now);
/* The driver has something of its own to write with the next batch: there is one soon, though
 * nothing else may be in it. */
void sched_want_batch(struct sched *s);
/* For how many milliseconds no batch begins unless one is wanted at once. */
int64_t sched_batch_in(const struct sched *s, struct now now);
/* It was committed (b->err OK), takes b. A failed one is given to the writer again instead. */
void sched_batch_done(struct sched *s, struct now now, struct batch *b);

/* ---- for those who look on --------------------------------------------------------------------
 */

/* A run came, or went to another open phase. Its end is told by the batch that writes it. */
struct run_seen {
    int64_t log_id, job_id, group_id; /* the group of its log row */
    int64_t scheduled_ms, due_ms;
    int64_t at_ms; /* wall: when */
    int32_t shard;
    uint8_t phase, kind; /* enum phase, enum kind */
};

/* From now on this is noted. What is out is noted at once, since when it left. Again: anew. */
void sched_watch(struct sched *s, struct now now);
void sched_unwatch(struct sched *s);
/* What was noted since the last call, in its order; the caller's: free(). NULL: nothing. */
struct run_seen *sched_seen(struct sched *s, size_t *ret_n);
/* Addresses of which a page would show another state than at the last call, or other groups; fn
 * borrows what it is told. It walks over all addresses. anew: what there is now counts as told. */
struct executor_seen {
    const char *address;
    enum executor_state state; /* EXECUTOR_STATES: it has gone */
    const int64_t *groups;     /* ids, ascending: those that it has or had */
    size_t ngroups;
};
typedef void sched_seen_fn(void *ctx, const struct executor_seen *e);
void sched_executors_seen(struct sched *s, struct now now, bool anew, sched_seen_fn *fn, void *ctx);
/* What an edit of the job would find now; to ask changes nothing. */
struct sched_withdrawn {
    int firings; /* planned and not sent, which it takes */
    int retries; /* the same of retries */
    int open;    /* runs that are out: they go on, a deletion closes them */
};
void sched_withdrawn(const struct sched *s, int64_t job_id, enum edit_kind kind,
                     struct sched_withdrawn *ret);
/* Where a live run has gone; borrowed until the next entry. NULL: nowhere yet, or not live. */
const char *sched_run_address(const struct sched *s, int64_t log_id);
/* What has happened to a live run so far. False: it is not live. */
bool sched_story(const struct sched *s, int64_t log_id, struct story *ret);

/* ---- what it looks like from outside --------------------------------------------------------- */
struct sched_stats {
    int live, planned, in_flight, in_doubt, accepted, lost, addresses, dead, lanes_waiting;
    int64_t horizon_ms; /* planned up to this scheduled time */
    int64_t watermark_ms;
    uint64_t fired, refused, doubts, resent, queries, ignored_results;
    uint64_t refused_results; /* too many waited */
    uint64_t contradicted;    /* results of runs that the recorder had called unsent */
    int words;                /* in the recorder: runs that are out, as far as the disk knows */
    int without_word;         /* runs that are out and found no place in it */
    bool recorded;            /* there is a recorder */
};
void sched_stats(const struct sched *s, struct sched_stats *ret);
/* Every address of a group, for lists: calls fn for each in order. */
typedef void sched_group_fn(void *ctx, int64_t group_id, int addresses, int up);
void sched_groups(const struct sched *s, sched_group_fn *fn, void *ctx); /* in any order */
typedef void sched_address_fn(void *ctx, const char *address, bool dead);
void sched_addresses(const struct sched *s, int64_t group_id, sched_address_fn *fn, void *ctx);
/* The addresses that have registered or stand in a list, in order; fn borrows the view. How many
 * the filter has in all. */
typedef void sched_executor_fn(void *ctx, const struct executor_view *v);
int sched_executors(const struct sched *s, struct now now, const struct executors_filter *f,
                    sched_executor_fn *fn, void *ctx);
/* What is on the way to an address. False: there is no such lane. */
struct lane_out {
    int waiting, in_flight, window;
    int64_t accepted, unknown;
};
bool sched_lane_out(const struct sched *s, struct slice address, struct lane_out *ret);
/* Forget the address for all apps until it registers again. False: it is not registered. */
bool sched_forget(struct sched *s, struct now now, struct slice address);
/* Jobs of which a run is accepted or in doubt at that address, each once; how many. Of a lane with
 * thousands of runs, those of the first ones. */
#define SCHED_BUSY_MAX 100
struct sched_busy {
    int64_t job_id, group_id;
};
int sched_busy(const struct sched *s, const char *address, struct sched_busy ret[SCHED_BUSY_MAX]);
/* What came of a beat that a user asked for. */
void sched_probed(struct sched *s, struct now now, const struct call_result *c);

#endif
