/* SPDX-License-Identifier: Apache-2.0 */
/* edit.h - what a user's edit does to runs that are planned but have not left. */
#ifndef PEAL_SCHED_EDIT_H
#define PEAL_SCHED_EDIT_H

#include "sched/sched.h"

void edit_prepare(struct sched *s, struct now now, struct edit *e);
void edit_done(struct sched *s, struct now now, struct edit *e);

#endif
