/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - /jobinfo: job definitions. Private to src/api. */
#ifndef PEAL_API_XXL_JOBS_H
#define PEAL_API_XXL_JOBS_H

#include "api/front.h"

void jobs_list(struct web_call *call);
void jobs_of_group(struct web_call *call);
void jobs_insert(struct web_call *call);
void jobs_update(struct web_call *call);
void jobs_delete(struct web_call *call);
void jobs_start(struct web_call *call);
void jobs_stop(struct web_call *call);
void jobs_trigger(struct web_call *call);
void jobs_next(struct web_call *call);

#endif
