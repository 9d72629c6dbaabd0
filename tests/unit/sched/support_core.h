/* SPDX-License-Identifier: Apache-2.0 */
/* support_core.h - a center without a network: the core, the planner and a store in memory, in
 * virtual time, driven step by step from a test.
 *
 * Nothing happens by itself. core_run lets time pass as a server would (ticks, batches); a call
 * that the core makes waits in a list until the test answers it, or the executor function does. */
#ifndef PEAL_TESTS_SUPPORT_CORE_H
#define PEAL_TESTS_SUPPORT_CORE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "sched/flight.h"
#include "sched/sched.h"
#include "store/store.h"
#include "ledger/txn.h"

#define CORE_NOW_MS 1800000000000 /* wall time at the start: a whole minute */

struct core_call { /* one that waits for its answer */
    enum call_kind kind;
    char *address, *param;
    int64_t log_id, job_id, scheduled_ms, due_ms, log_time_ms;
    uint32_t ticket;
    int32_t shard, shard_total, attempt;
    struct trace_root root;
    int64_t sent_wall_ms; /* when the core asked for it */
    bool left;            /* its first byte: a /run that the core has let go, or another call */
};

struct core_told { /* an edit, a trigger or a kill was answered */
    enum action_kind kind;
    enum err err;
    int64_t id; /* of the edited thing; log id of the others */
    void *reply;
    char text[512];
};

struct core {
    struct sched_config config; /* of the next core_start */
    struct sched *s;            /* NULL: down */
    struct store *store;
    struct planner *planner;
    struct now now;
    struct batch *batch; /* taken, not yet done */
    bool written;        /* its transaction has been run */
    struct core_call *calls;
    int ncalls;
    struct core_told *told;
    int ntold;
    int nacks;              /* requests whose results are kept */
    int nwarm;              /* ACTION_WARM */
    struct core_call *sent; /* every CALL_RUN that ever left, in order; never taken away */
    int nsent;
    bool opening;   /* connections are being opened: a /run leaves when core_leaves says so */
    uint32_t slots; /* of the recorder of the next life; 0: it has none */
    struct flight_head *recorder[2]; /* NULL: there is no such file */
    int own;                         /* which of them this life writes, if it has one */
    int lives;
    bool shared; /* the next life is one of several centers, and plans all */
    /* Answers calls as they are made, if set; false: leave it in the list. */
    bool (*executor)(struct core *c, const struct core_call *call, struct call_result *answer);
    void *ctx; /* the test's */
};

/* A center that has started on an empty store, with group 1 (app "app", by registry). */
extern const struct share core_alone; /* one center, which plans all jobs */
struct core *core_new(void);
void core_free(struct core *c);
/* cmocka fixtures: *state is a struct core. */
int core_setup(void **state);
int core_teardown(void **state);

/* ---- life ---- */
void core_crash(struct core *c); /* the process is gone; calls and what was not written with it */
void core_power_cut(struct core *c); /* and the recorder */
void core_stop(
    struct core *c); /* politely: drains, leaves the watermark clean; calls must be answered */
void core_start(struct core *c); /* with config, on what the store holds */

/* ---- the driver ---- */
void core_pump(struct core *c);      /* pop all actions */
bool core_take(struct core *c);      /* a batch, if one is due; false: none */
void core_take_next(struct core *c); /* time goes on until there is one */
void core_write(struct core *c);     /* its transaction */
void core_done(struct core *c);      /* the core hears of it */
bool core_commit(struct core *c);    /* the three at once */
void core_settle(struct core *c);    /* time stands but for batches, until nothing is wanted */
void core_run(struct core *c, int64_t ms); /* both clocks go on; batches are written at once */
void core_step_clock(struct core *c, int64_t by_ms); /* the wall clock is set */

/* ---- addresses ---- */
int64_t core_group(struct core *c, const char *app, const char *by_hand); /* its id */
void core_register(struct core *c, const char *app, const char *address);
void core_unregister(struct core *c, const char *app, const char *address);

/* ---- jobs ---- */
/* A record of group 1 with the given schedule, enabled; text is owned: job_record_done. */
struct job_record core_record(const char *type, const char *conf);
void core_text(char **field, const char *text);               /* replace owned text */
int64_t core_job(struct core *c, const struct job_record *r); /* insert; its id */
int64_t core_simple_job(struct core *c, const char *type, const char *conf);
struct job_record core_job_row(struct core *c, int64_t id); /* job_record_done */
enum err core_edit(struct core *c, struct edit *e);         /* takes it; until answered */
enum err core_update(struct core *c, int64_t id, struct job_record *r); /* takes r's text */
enum err core_switch(struct core *c, int64_t id, enum edit_kind kind);  /* start, stop, delete */
/* Trigger by hand: log id of the first row, 0 if refused. */
int64_t core_trigger(struct core *c, int64_t job_id, const char *choices);

/* ---- calls ---- */
struct core_call *core_call_of(struct core *c, enum call_kind kind,
                               int64_t log_id); /* NULL: none */
int core_calls(const struct core *c, enum call_kind kind);
/* Answered with this code, and for CALL_LOG with what the log says. The call goes. */
void core_answer(struct core *c, struct core_call *call, int code, enum log_state log);
void core_fails(struct core *c, struct core_call *call, enum call_outcome outcome);
void core_reply(struct core *c, struct core_call *call, const struct call_result *r);
/* The connection of a /run stands: may it leave? False: it did not, and the call has ended. */
bool core_leaves(struct core *c, struct core_call *call);
bool core_accepts(struct core *c, const struct core_call *call, struct call_result *r); /* an
                                                              executor: 200 to each /run and beat */
void core_result(struct core *c, int64_t log_id, int code); /* a callback, acknowledged */

/* ---- what the store holds ---- */
struct run_row *core_row(struct core *c, int64_t log_id); /* live; borrowed; NULL: none */
/* Live rows of the job (0: all), by log id, into an array of max. */
int core_rows(struct core *c, int64_t job_id, struct run_row **rows, int max);
bool core_log(struct core *c, int64_t log_id, struct log_record *ret); /* log_record_done */
int core_times_sent(const struct core *c, int64_t job_id, int64_t scheduled_ms);
int64_t core_unaccounted(struct core *c);

#endif
