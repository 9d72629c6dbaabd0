/* SPDX-License-Identifier: Apache-2.0 */
/* ages.h - whether the wall clock may be believed where rows are deleted by their age. A clock that
 * is wrong for a minute would delete in that minute what cannot be brought back, so after a step of
 * more than AGES_STEP_MS, or a start far ahead of what is in the database, nothing is deleted by
 * its age for AGES_WAIT_MS. Any thread. */
#ifndef PEAL_SERVER_AGES_H
#define PEAL_SERVER_AGES_H

#include "server/metrics.h"

#define AGES_STEP_MS 600000   /* 10 min */
#define AGES_WAIT_MS 3600000  /* 1 h */
#define AGES_AHEAD_MS 3600000 /* at the start: ahead of the newest commit by so much */

/* The clock has stepped, and this server follows it. */
void ages_stepped(struct metrics *m, int64_t by_ms);
/* At the start: newest_ms is what the database was last known to be good for; 0: it is new. */
void ages_begin(struct metrics *m, int64_t newest_ms);
/* Nothing is deleted by its age now. ret_step: because of a step; may be NULL. */
bool ages_held(struct metrics *m, bool *ret_step);

#endif
