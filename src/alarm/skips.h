/* SPDX-License-Identifier: Apache-2.0 */
/* skips.h - which jobs have lost a firing to their misfire strategy lately, for rules of kind late.
 *
 * A skipped firing is an event and no state: it counts for a minute, and then is over. A job has
 * one row for an outage, which grows while nothing of the job fires in between, so what is new is
 * told by comparing. One thread. */
#ifndef PEAL_ALARM_SKIPS_H
#define PEAL_ALARM_SKIPS_H

#include "store/store.h"

enum {
    SKIPS_MAX = 500,      /* jobs: those whose skipped firing is the youngest */
    SKIPS_HOLD_MS = 60000 /* so long it counts */
};

struct skips {
    struct skip_seen {
        int64_t id, job_id, to_ms, count; /* of the row; to_ms: the last firing that was skipped */
        int64_t seen_ms;                  /* wall; 0: it was there before */
    } rows[SKIPS_MAX];
    int n;
    bool begun;
};

/* Read what there is. Of the first time nothing is new. */
MUST_CHECK enum err skips_look(struct skips *k, struct store *reader, int64_t now_ms,
                               struct why *why);
/* Did the job not run within longer_ms of that firing's scheduled time, found out within the last
 * minute and since since_ms? Pure. */
bool skips_late(const struct skip_seen *s, int64_t longer_ms, int64_t since_ms, int64_t now_ms);

#endif
