/* SPDX-License-Identifier: Apache-2.0 */
/* run_kill.h - a user ends a run, for both APIs. Private to src/api; blocks. */
#ifndef PEAL_API_RUN_KILL_H
#define PEAL_API_RUN_KILL_H

#include "api/front.h"

/* As center_kill; of a run that another server on the same database owns, too. That one is asked by
 * a row, and answered for within 4 s: ERR_TIMEOUT after that, and the kill stands. ERR_NOTFOUND: it
 * has ended. said has 256 bytes. */
MUST_CHECK enum err run_kill(struct web_call *call, int64_t log_id, char *said, struct why *why);

#endif
