/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - what the files of the checker share. */
#ifndef PEAL_TESTS_CHECK_H
#define PEAL_TESTS_CHECK_H

#include "sim.h"
#include "store/memory/memory.h"

/* check.c */
struct shadow *shadow_of(struct sim *s, int64_t job_id);
const struct mem_run *live_row(struct sim *s, int64_t log_id);   /* NULL: none */
const struct log_record *log_row(struct sim *s, int64_t log_id); /* NULL: none */
bool never_ran(enum phase p);
bool ended(enum phase p);
bool of_schedule(enum kind k);
uint64_t mix(uint64_t h, int64_t v);
/* What this commit brings may have been decided before the center heard that the job was edited. */
bool check_edit_unheard(const struct sim *s, const struct shadow *j);

/* An edit is on disk (1), or is answered (-1). */
void check_edit_open(struct sim *s, const struct edit *e, int by);
/* An edit of the job or of a group is on disk, and the center's memory may not know it yet. */
bool edit_open(struct sim *s, int64_t job_id);

/* check_wire.c */
struct peer *peer_of(struct sim *s, const char *address);
void check_admitted(struct sim *s, int64_t id); /* it is about to be sent */
void check_proof(struct sim *s, int64_t id);    /* it is counted lost */
bool check_silent(struct sim *s,
                  const struct wire *w);     /* ... because nothing was heard for 10 minutes */
bool check_unreadable(const struct wire *w); /* ... where its log cannot be read */
bool check_unsure(struct sim *s, struct ghost *g); /* it runs again */
void check_resends(struct sim *s, bool complete);
void check_wire_free(struct sim *s);

/* check_ends.c */
void check_change(struct sim *s, const struct run_change *c);
void check_kept(struct sim *s, const struct run_change *c); /* the disk says what the batch said */
void check_codes(struct sim *s, int64_t id, const struct ghost *g);

/* check_figures.c: a run is about to end so */
void check_figures_end(struct sim *s, int64_t id, const struct ghost *g, enum phase to);

/* check_plan.c */
struct missed { /* what one pass of planning has decided of one job */
    int all;    /* scheduled times too old to fire as planned */
    int fired;  /* of them, by the policy */
    int holes;  /* that were not, behind the first that was */
    int planned, late, gaps;
    bool loose; /* rows of an earlier pass are among them */
};
void check_param(struct sim *s, const struct run_row *r);
void check_sent_param(struct sim *s, const struct call *c);
void check_called_with(struct sim *s, const struct conn *c, const struct mem_run *r);
void check_decided(struct sim *s, const struct batch *b, struct missed *m, int64_t scheduled_ms,
                   int64_t id);
void check_missed(struct sim *s, const struct batch *b, struct shadow *j, const struct due_row *due,
                  const struct missed *m);
void check_delay(struct sim *s, const struct batch *b, const struct due_row *due);
/* What is wrong with how the job stands; NULL: nothing. */
const char *check_job_end(struct sim *s, const struct shadow *j, const struct due_row *due);

/* check_routes.c */
void check_choice(struct sim *s, const struct planned *p); /* an address is planned */
void check_address(struct sim *s, const struct call *c);   /* and used */
void choices_forget(struct sim *s, int64_t job_id);        /* its next one may be any */
struct asked *asked_of(struct sim *s, int64_t job_id, int peer);
void check_routes_free(struct sim *s);

/* The addresses that the center routes over, now, and when the batch was taken that is written. */
void listing_of(struct sim *s, int64_t group_id, struct listing *v);
const struct listing *listing_taken(const struct sim *s, int64_t group_id);

/* check_shards.c */
void check_shard_planned(struct sim *s, const struct run_row *r); /* a row is planned */
void check_planned_whole(struct sim *s);                          /* these were all */
void check_shard(struct sim *s, const struct run_row *r, const struct call *c); /* it leaves */

/* check_progress.c */
/* A firing of its schedule is open, or any retry. */
bool check_open_run(struct sim *s, int64_t job_id, bool any_retry);

/* check_births.c */
bool is_rate(const struct shadow *j);
/* It is a rate job, or was one, and the clock has gone back: re-based it meets scheduled times of
 * the clock as it was before, and runs of them that are still out. */
bool check_two_clocks(struct sim *s, int64_t job_id);
void check_birth(struct sim *s, const struct planned *p);
void check_retried(struct sim *s, int64_t log_id);  /* a failure has its retry */
void check_followed(struct sim *s, int64_t log_id); /* a success has its children */

/* check_schedules.c */
bool check_takes(const struct edit_run *x); /* the edit has taken the run */
bool enumerable(const struct shadow *j);
void check_edit_schedules(struct sim *s, const struct batch *b, const struct edit *e);
void check_schedules(struct sim *s, const struct batch *b, const struct due_row *due);

#endif
