/* SPDX-License-Identifier: Apache-2.0 */
/* job_page.h - jobs as /api/v1 shows them: read with the scheduled times that will really fire, and
 * written with the group that they are in. Private to src/api; blocks on the store. */
#ifndef PEAL_API_V1_JOB_PAGE_H
#define PEAL_API_V1_JOB_PAGE_H

#include "api/front.h"
#include "base/jsonw.h"

/* The members of a job, for the parameter "fields": bit i is job_members[i]. */
#define JOB_MEMBERS 23
extern const char *const job_members[JOB_MEMBERS];

struct job_writer { /* of one answer */
    struct web_call *call;
    struct jsonw *w;
    uint64_t members;            /* 0: all */
    struct group_record *groups; /* private: those that were met */
    size_t ngroups;
};

void job_writer_init(struct job_writer *x, struct web_call *call, struct jsonw *w,
                     uint64_t members);
void job_writer_done(struct job_writer *x);
/* One job as an object. */
MUST_CHECK enum err job_write(struct job_writer *x, const struct job_record *r, struct why *why);

/* The job as it is now, if the asker may read it; ERR_NOTFOUND. *ret needs job_record_done. */
MUST_CHECK enum err job_read(struct web_call *call, int64_t id, struct job_record *ret,
                             struct why *why);

#endif
