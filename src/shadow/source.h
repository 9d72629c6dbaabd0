/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - what a shadow reads of a live XXL-JOB database: jobs, groups, new rows of the log.
 *
 * Statements name the columns of its layout. Times of the log are wall times in a zone, and become
 * epoch seconds. One thread. */
#ifndef PEAL_SHADOW_SOURCE_H
#define PEAL_SHADOW_SOURCE_H

#include "shadow/match.h"
#include "store/mysql/reader.h"

struct source; /* opaque */

struct source_job {
    int64_t id, group_id;
    struct slice name, type, conf, misfire, route, updated; /* borrowed until the call returns */
    int retries;
    bool running;
    int64_t next_ms;
};

/* zone: of the log's times; it is counted. The URL is copied. */
struct source *source_new(const struct db_url *url, struct zone *zone);
void source_free(struct source *s); /* NULL is fine */

/* Connect (again, if the connection is gone) and look at the layout, which is borrowed. */
MUST_CHECK enum err source_open(struct source *s, const struct layout **ret, struct why *why);
/* The server's clock less ours, ms; and how far the newest registration lies ahead of now, in
 * seconds, when read in the log's zone (INT64_MIN: there is none). */
MUST_CHECK enum err source_clock(struct source *s, int64_t *ret_ahead_ms, int64_t *ret_beat_s,
                                 struct why *why);

MUST_CHECK enum err source_jobs(struct source *s, void (*fn)(void *ctx, const struct source_job *j),
                                void *ctx, struct why *why);
/* list: addresses, separated by commas; an empty slice if there are none. */
MUST_CHECK enum err source_groups(struct source *s,
                                  void (*fn)(void *ctx, int64_t id, struct slice list), void *ctx,
                                  struct why *why);

/* Rows that come from now on are new ones. */
MUST_CHECK enum err source_log_begin(struct source *s, struct why *why);
/* New rows, and those that were read before the admin had finished them. retries: what the job
 * asks for, -1 if it is not known. */
MUST_CHECK enum err source_log(struct source *s, int (*retries)(void *ctx, int64_t job_id),
                               void (*fn)(void *ctx, const struct match_row *r), void *ctx,
                               struct why *why);

#endif
