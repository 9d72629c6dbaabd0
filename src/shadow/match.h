/* SPDX-License-Identifier: Apache-2.0 */
/* match.h - which row of XXL-JOB's log belongs to which firing that Peal has planned.
 *
 * Firings and rows come in as they become known, in any order of jobs; `matcher_close` judges what
 * is older than the grace and forgets it. The log has whole seconds, so a row of the scheduled
 * time's second or the one after it is on time. Pure; one thread. */
#ifndef PEAL_SHADOW_MATCH_H
#define PEAL_SHADOW_MATCH_H

#include "model/model.h"

enum difference {
    DIFFERENCE_MISSING,    /* a firing of Peal's has no row */
    DIFFERENCE_DOUBLED,    /* a second row for one firing */
    DIFFERENCE_LATE,       /* its row is of more than a second later */
    DIFFERENCE_EARLY,      /* its row is of the second before */
    DIFFERENCE_EXECUTOR,   /* it went to another address than the route allows */
    DIFFERENCE_UNEXPECTED, /* a row of the schedule that Peal would not have fired */
    DIFFERENCE_NEXT,       /* the next scheduled time is another one */
    DIFFERENCE_REFUSED,    /* Peal cannot schedule the job */
    DIFFERENCE_COUNT
};

const char *difference_text(enum difference d); /* "missing", ... */

struct finding {
    enum difference what;
    int64_t job_id;
    int64_t scheduled_ms; /* Peal's; 0: none */
    int64_t fired_ms;     /* the row's second, or XXL-JOB's next scheduled time; 0: none */
    int64_t log_id;       /* 0: no row */
    int shard;            /* -1: no broadcast */
    const char *wanted;   /* address, or a reason; borrowed, may be NULL */
    const char *found;
};
typedef void finding_fn(void *ctx, const struct finding *f);

struct match_firing {
    int64_t job_id, scheduled_ms;
    bool optional; /* it may have no row: the job was being edited */
    enum route route;
    struct group_view *views[2]; /* before and now; borrowed, may be NULL */
};

/* Why a row is there, as far as its message tells. */
enum match_kind { MATCH_UNKNOWN, MATCH_SCHEDULE, MATCH_MISFIRE, MATCH_OTHER };

struct match_row {
    int64_t log_id, job_id;
    int64_t fired_s; /* epoch seconds */
    enum match_kind kind;
    bool told;           /* the admin has written where it went */
    int shard, shards;   /* shards 0: no broadcast */
    const char *address; /* borrowed; NULL: none */
};

struct match_counts {
    int64_t firings;  /* judged, those of an edit's seconds apart */
    int64_t matched;  /* of these, with a row */
    int64_t optional; /* firings of an edit's seconds */
    int64_t others;   /* rows that no schedule asked for: manual, retries, children */
    int64_t loose;    /* rows of an edit's seconds without a firing */
    int64_t unread;   /* rows whose reason cannot be told, without a firing */
    int64_t misfires; /* rows that made up for firings that were missed */
};

struct matcher;

/* Rows of before the start are not looked at. */
struct matcher *matcher_new(int64_t start_ms, int64_t grace_ms, finding_fn *fn, void *ctx);
void matcher_free(struct matcher *m);

void matcher_firing(struct matcher *m, const struct match_firing *f);
/* A row that is known already is brought up to date. */
void matcher_row(struct matcher *m, const struct match_row *r);
/* Between these times nothing is certain: firings are optional there, rows are no surprise. */
void matcher_loosen(struct matcher *m, int64_t job_id, int64_t from_ms, int64_t until_ms);
/* Judge all that is older than the grace. */
void matcher_close(struct matcher *m, int64_t now_ms);
const struct match_counts *matcher_counts(const struct matcher *m);

#endif
