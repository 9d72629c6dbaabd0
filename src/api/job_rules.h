/* SPDX-License-Identifier: Apache-2.0 */
/* job_rules.h - the rules for a job: one book for the form API and for /api/v1. Private to src/api.
 *
 * Each API reads a request into a struct job_in (xxl/job_form.c, v1/job_json.c), which says of each
 * column what the request says of it; the rules look at that, in the original's order, and tell
 * each fault by its column. An API names the field in its own words, and takes the first fault or
 * all of them. Blocks on the store only. */
#ifndef PEAL_API_JOB_RULES_H
#define PEAL_API_JOB_RULES_H

#include "server/zones.h"
#include "store/store.h"

struct job_rules { /* what the rules look at; borrowed */
    struct store *db;
    struct zones *zones;
    const char *zone; /* the server's */
    int last_year;
    const char *user;                               /* the author, if the request names none */
    int64_t start_deadline_ms;                      /* of new jobs that do not say */
    bool (*may)(const void *ctx, int64_t group_id); /* children must lie in permitted groups */
    const void *may_ctx;
    bool group_later; /* a new job need not name its group: this is a dry run */
};

/* One request for a job. A text that it names stands in the record already; a number stands here
 * until its limits have been looked at. */
struct job_in {
    struct job_record *r; /* as it shall be: of a change the row as it is, with the new texts */
    bool insert;
    bool whole;          /* a change keeps the rules of a new job, too */
    uint64_t said;       /* bits of the columns that the request names */
    uint64_t unreadable; /* those whose value is not of the column's type */
    uint64_t told;       /* those whose fault has been told: no rule tells another */
    int64_t numbers[JOB_COLUMNS];
    double reals[JOB_COLUMNS];
};

static inline uint64_t job_bit(const struct job_column *c)
{
    return (uint64_t)1 << (c - job_columns);
}

#define JOB_COLUMN_OF(member) (&job_columns[JOB_COLUMN_##member])

/* Does a request set the column at all? */
static inline bool job_takes(const struct job_in *in, const struct job_column *c)
{
    return c->use == JOB_TAKEN || (c->use == JOB_ON_INSERT && in->insert);
}

struct job_fault {
    const struct job_column *column;
    enum err err;
    const char *rule; /* a stable name, [a-z0-9_.] */
    bool limits;      /* min and max are the rule's */
    int64_t min, max;
    const char *text; /* behind the field's name: "must not be empty" */
};

/* Told each fault in order; false: one is enough. */
typedef bool job_fault_fn(void *ctx, const struct job_fault *fault);

/* Look at all rules; the numbers that keep theirs go into the record. The code of the first fault,
 * which fn has been told; or what the store said, in why. */
MUST_CHECK enum err job_rules_check(struct job_in *in, const struct job_rules *rules,
                                    job_fault_fn *fn, void *ctx, struct why *why);

/* The same for the columns of its schedule alone. */
MUST_CHECK enum err job_rules_check_schedule(struct job_in *in, const struct job_rules *rules,
                                             job_fault_fn *fn, void *ctx, struct why *why);

/* "must be NONE, CRON, FIX_RATE, FIX_DELAY or ONCE": of a column with words. */
void job_words_text(const struct job_column *c, char *to, size_t size);
/* What misses its scheduled time is dropped, unless it is the only one. */
const char *job_misfire_default(const struct job_record *r);

#endif
