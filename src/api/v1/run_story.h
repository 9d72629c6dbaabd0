/* SPDX-License-Identifier: Apache-2.0 */
/* run_story.h - the story of a run, as its page tells it. Private to src/api; blocks on the store
 * and on the scheduler. */
#ifndef PEAL_API_V1_RUN_STORY_H
#define PEAL_API_V1_RUN_STORY_H

#include "api/elsewhere.h"
#include "base/jsonw.h"
#include "model/story.h"

/* What is known of a run in microseconds: from the scheduler that has it while it is live, else
 * what was kept. False: nothing; silent names the server that would know. */
bool run_story_find(struct web_call *call, const struct log_record *r, struct story *ret,
                    struct elsewhere_silent *silent);
/* The members story and exact. NULL: from the columns of the row. */
void run_story_write(struct jsonw *w, const struct log_record *r, const struct story *story);

#endif
