/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - what has been counted since the rows of peal_figure were written, in memory: of the
 * whole, of each group, of each job. Private to src/ledger; figures.h says what threads may do. */
#ifndef PEAL_LEDGER_TALLY_H
#define PEAL_LEDGER_TALLY_H

#include "base/list.h"
#include "base/map.h"
#include "model/job_stat.h"

struct part { /* of one slot: a quarter hour, or an hour of a job */
    int64_t slot;
    int64_t through; /* while loading: the row includes the commits up to this one */
    struct figure figure;
    uint32_t *durations; /* NULL: a job's */
};

struct tally {
    struct list_node dirty; /* of a group: in the list of those that have something which no row
                               includes, by since_n. A job's shelf stands there for it */
    int64_t id;             /* of the group or job; 0: the whole */
    bool of_job;
    int64_t since_n, since_ms; /* of a group: commit and time of the first of it */
    int64_t through;           /* of a job: its rows include the commits up to this one */
    struct part *parts;
    int nparts; /* of a job: 0 means that its rows include everything */
};

struct job_tally {
    struct tally tally; /* first */
    struct shelf *shelf;
    struct job_stat stat;
    struct job_stat *staged; /* as it will be when the transaction is committed; NULL: as it is */
};

/* Jobs whose numbers are neighbours, and so are their rows: written together they change few pages
 * of the database, and one by one as many as there are jobs. */
#define SHELF_JOBS 64
struct shelf {
    struct list_node dirty; /* as of a group */
    int64_t since_n, since_ms;
    struct job_tally *jobs[SHELF_JOBS]; /* by the low bits of the number; NULL: none */
};

struct tallies {
    struct zone *zone;
    struct map shelves, groups;
    size_t njobs;
    struct tally whole;
    struct list dirty_shelves, dirty_groups;
    struct { /* hours of quarters that were asked for lately */
        int64_t quarter, hour;
    } hours[64];
};

void tallies_init(struct tallies *t, struct zone *zone); /* counts the zone */
void tallies_done(struct tallies *t);
/* Found, or made: with the rows through that commit. */
struct job_tally *tallies_job(struct tallies *t, int64_t id, int64_t through);
struct job_tally *tallies_find_job(const struct tallies *t, int64_t id); /* NULL: none */
/* Ask for the memory in which tallies_find_job will look, and in which tally_part will. */
void tallies_ahead(const struct tallies *t, int64_t id);
#define CACHE_LINE 64
static inline void tally_ahead(const struct tally *t)
{
    const char *parts = (const char *)t->parts;
    for (size_t at = 0; at < (size_t)t->nparts * sizeof(*t->parts); at += CACHE_LINE)
        __builtin_prefetch(parts + at, 1);
}
/* Walk over all jobs: for (size_t i = 0, k = 0; (j = tallies_next_job(t, &i, &k));) */
struct job_tally *tallies_next_job(const struct tallies *t, size_t *i, size_t *k);
void tallies_drop_job(struct tallies *t, int64_t id);
/* All jobs of a shelf: those whose number divided by SHELF_JOBS is that. */
void tallies_drop_shelf(struct tallies *t, int64_t shelf);
int64_t tallies_shelf_of(int64_t job_id);
struct tally *tallies_group(struct tallies *t, int64_t id);
struct tally *tallies_find_group(struct tallies *t, int64_t id); /* 0: the whole. NULL: none */

/* The slots in which an end counts. */
int64_t tallies_quarter(const struct run_end *e);
int64_t tallies_hour(struct tallies *t, const struct run_end *e);

/* The part of a slot; *ret_new: it was made now. */
struct part *tally_part(struct tally *t, int64_t slot, bool *ret_new);
/* Count an end of that commit and time. */
void tally_end(struct tallies *all, struct tally *t, struct part *p, const struct run_end *e,
               int64_t n, int64_t at_ms);
/* All of it stands in rows. */
void tally_clean(struct tally *t, int64_t through);

/* What a tally adds to its rows: one a slot of each level. */
struct tally_rows {
    struct figure_row *rows;
    uint32_t (*durations)[DURATION_BUCKETS]; /* of each */
    int n, cap;
};
void tally_rows_add(struct tally_rows *rows, const struct tallies *all, const struct tally *t,
                    int64_t through);
void tally_rows_end(struct tally_rows *rows); /* there come no more: they can be written */
void tally_rows_done(struct tally_rows *rows);
/* What a tally has of one slot of any level, added to *figure and (of a group) to durations. */
void tally_sum(const struct tallies *all, const struct tally *t, int64_t slot,
               struct figure *figure, uint32_t *durations);

#endif
