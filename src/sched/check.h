/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - do the core's counts agree with what it holds? */
#ifndef PEAL_SCHED_CHECK_H
#define PEAL_SCHED_CHECK_H

#include "sched/sched.h"

/* To be called when no entry is under way. A sum that is wrong is our bug and ends the process. It
 * costs a walk over everything; sched.c calls it in debug builds, and so seldom in a core with many
 * runs that they cost no more than a few looks an entry. */
void sched_check(struct sched *s);

#endif
