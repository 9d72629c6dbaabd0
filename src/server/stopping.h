/* SPDX-License-Identifier: Apache-2.0 */
/* stopping.h - how a center stops. For the scheduler's thread. */
#ifndef PEAL_SERVER_STOPPING_H
#define PEAL_SERVER_STOPPING_H

#include "server/state.h"

/* The loop has returned: begins to stop if that was asked for, or hurries if it was asked again.
 * center->finished: it is over. */
void stopping_asked(struct center *c);
/* Once in each turn of the loop: has what is waited for come? */
void stopping_look(struct center *c);
/* Boot ms at which it is to be looked at the latest: boot_ms, or earlier. */
int64_t stopping_next(const struct center *c, int64_t boot_ms);

#endif
