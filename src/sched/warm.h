/* SPDX-License-Identifier: Apache-2.0 */
/* warm.h - connections ahead of a burst. */
#ifndef PEAL_SCHED_WARM_H
#define PEAL_SCHED_WARM_H

#include "sched/sched.h"

void warm_lanes(struct sched *s, struct now now); /* once a second */

#endif
