/* SPDX-License-Identifier: Apache-2.0 */
/* beat.h - whether an address lives. */
#ifndef PEAL_SCHED_BEAT_H
#define PEAL_SCHED_BEAT_H

#include "sched/sched.h"

struct lane;

void lane_dead(struct sched *s, struct now now, struct lane *lane);
void lane_alive(struct sched *s, struct now now, struct lane *lane);
void lane_beat(struct sched *s, struct lane *lane); /* unless one is under way */
void lane_beaten(struct sched *s, struct now now, struct lane *lane, enum call_outcome outcome);

#endif
