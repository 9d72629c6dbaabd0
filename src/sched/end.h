/* SPDX-License-Identifier: Apache-2.0 */
/* end.h - the end of a run, and what follows from it. */
#ifndef PEAL_SCHED_END_H
#define PEAL_SCHED_END_H

#include "sched/sched.h"

struct run;

/* The end of a run: columns, totals, retry, children, FIX_DELAY's next scheduled time. */
void run_finish(struct sched *s, struct now now, struct run *r, enum phase to, int code,
                const char *msg);
void run_refuse(struct sched *s, struct now now, struct run *r, enum phase to, const char *why);
/* Never ran: skipped or withdrawn. Drops both rows, or closes them if it was ever in doubt. */
void run_withdraw(struct sched *s, struct now now, struct run *r, enum phase to,
                  const char *reason);
/* The same for a run that is planned again in the same batch: nothing follows from it. */
void run_forget(struct sched *s, struct now now, struct run *r, enum phase to, const char *reason);
/* The job was changed since the row was planned: it is withdrawn, true. */
bool run_withdraw_outdated(struct sched *s, struct now now, struct run *r);
/* What the figures count, before the run moves to that phase. */
void run_note_end(struct now now, struct run_change *c, const struct run *r, enum phase to);
struct run_change *change_withdrawn(struct run_change *c, const struct run *r, int64_t now_ms,
                                    enum phase to, const char *reason);
void run_close_lost(struct sched *s, struct run *r); /* its retry leaves: LOST is final */
/* This retry ends without having left: the run that it retries, if LOST, waits for a late result
 * by the clock again. */
void run_release_cause(struct sched *s, struct now now, const struct run *retry);
void spawn_add(struct sched *s, struct now now, const struct spawn *spawn);

#endif
