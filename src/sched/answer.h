/* SPDX-License-Identifier: Apache-2.0 */
/* answer.h - the end of a /run call. */
#ifndef PEAL_SCHED_ANSWER_H
#define PEAL_SCHED_ANSWER_H

#include "sched/sched.h"

void answer_on_run(struct sched *s, struct now now, const struct call_result *c);

#endif
