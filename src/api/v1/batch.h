/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - what came of each thing of a bulk action, and how that is answered. Private to src/api;
 * a worker's thread. */
#ifndef PEAL_API_V1_BATCH_H
#define PEAL_API_V1_BATCH_H

#include "api/problem.h"
#include "api/v1/v1.h"
#include "model/permission.h"

#define BATCH_MAX 1000 /* things of one request */
#define BATCH_MS 60000 /* a batch begins nothing after that */

struct batch_result { /* of one thing */
    bool ok;
    int64_t run_id; /* 0: none was made */
    enum problem_kind kind;
    struct why why;
};

void batch_refuse(struct batch_result *x, enum problem_kind kind, const char *text);
/* What a lower layer said. */
void batch_refuse_err(struct batch_result *x, enum err err, const char *what);
/* Has the asker the permission on the group of the thing? what: "job". */
MUST_CHECK bool batch_may(const struct web_call *call, enum permission wanted, int64_t group_id,
                          const char *what, struct batch_result *x);

struct batch_answer {
    struct web_call *call;
    struct jsonw w;
    int64_t done, refused;
};

void batch_begin(struct batch_answer *a, struct web_call *call, bool dry_run);
void batch_put(struct batch_answer *a, int64_t id, const struct batch_result *x);
/* Behind it the caller writes the members of "consequences", then batch_end. */
void batch_consequences(struct batch_answer *a);
void batch_end(struct batch_answer *a);

#endif
