/* SPDX-License-Identifier: Apache-2.0 */
/* room.h - lanes whose calls found the client full. */
#ifndef PEAL_SCHED_ROOM_H
#define PEAL_SCHED_ROOM_H

#include "sched/sched.h"

void room_look(struct sched *s, struct now now); /* the timer: lanes that rest try again */

#endif
