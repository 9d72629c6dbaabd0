/* SPDX-License-Identifier: Apache-2.0 */
/* run_page.h - runs as /api/v1 shows them. Private to src/api; blocks on the store. */
#ifndef PEAL_API_V1_RUN_PAGE_H
#define PEAL_API_V1_RUN_PAGE_H

#include "api/front.h"
#include "base/jsonw.h"
#include "model/log_outcome.h"

/* The members of a run, for the parameter "fields": bit i is run_members[i]. */
#define RUN_MEMBERS 22
extern const char *const run_members[RUN_MEMBERS];

struct run_writer { /* of one answer */
    struct web_call *call;
    struct jsonw *w;
    uint64_t members; /* 0: all */
    /* Of the one run that is written, borrowed; NULL: what is kept of each is looked up. */
    const struct story *story;
    struct job_record job; /* private: the last that was met, */
    struct group_record group;
    int64_t job_id, group_id; /* and their ids; 0: none yet */
};

void run_writer_init(struct run_writer *x, struct web_call *call, struct jsonw *w,
                     uint64_t members);
void run_writer_done(struct run_writer *x);
/* One run as an object, the member of that name (NULL: an element). */
void run_write(struct run_writer *x, const char *key, const struct log_record *r);

enum log_outcome run_outcome(const struct log_record *r);
/* Why a run has not succeeded, "PE-2002"; NULL for one that has, or is open. */
const char *run_cause_code(enum log_outcome o);
/* From its scheduled second to its end; -1: there is none. */
int64_t run_took_ms(const struct log_record *r);

/* The run of the path, if the asker may see it and has the row's permission on its group. False:
 * answered. *ret needs log_record_done. */
MUST_CHECK bool run_find_for(struct web_call *call, struct log_record *ret);

#endif
