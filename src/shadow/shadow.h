/* SPDX-License-Identifier: Apache-2.0 */
/* shadow.h - what Peal would fire, beside what an XXL-JOB installation fires.
 *
 * A shadow looks at the database every few seconds: jobs and groups as they are, new rows of the
 * log. Between two looks it plans each running job with Peal's own planner and gives firings and
 * rows to the matcher. It only reads. One thread. */
#ifndef PEAL_SHADOW_SHADOW_H
#define PEAL_SHADOW_SHADOW_H

#include "shadow/source.h"

struct shadow; /* opaque */

struct shadow_config {
    struct db_url url;
    struct zone *zone;     /* in which the admins read cron expressions; counted */
    struct zone *log_zone; /* in which they write datetimes; counted */
    int64_t grace_ms;      /* how late a firing may come before it is missing */
    int last_year;
};

struct shadow_state {
    int64_t started_ms, jobs, running;
    int64_t looks, failures; /* of these, the database did not answer */
    int64_t shifts;          /* rates that XXL-JOB has moved by serving them late */
    const struct layout *layout;
};

/* finding: is told as it is found, with the job's name ("" if it is not known). The text is
 * borrowed.
 */
typedef void shadow_fn(void *ctx, const struct finding *f, const char *job);

struct shadow *shadow_new(const struct shadow_config *config, shadow_fn *fn, void *ctx);
void shadow_free(struct shadow *s); /* NULL is fine */

/* Connect and take the state from which the comparison starts. ERR_INVALID: why has the text that
 * mends it; warn is told what does not hinder it. */
MUST_CHECK enum err shadow_start(struct shadow *s, void (*warn)(void *ctx, const char *text),
                                 void *ctx, struct why *why);
/* A look at now, and judgement of what is old enough. ERR_NET: the database does not answer; try
 * again. */
MUST_CHECK enum err shadow_look(struct shadow *s, struct why *why);

struct shadow_state shadow_state(const struct shadow *s);
const struct match_counts *shadow_counts(const struct shadow *s);

#endif
