/* SPDX-License-Identifier: Apache-2.0 */
/* send.h - the queue of a lane, and the /run call itself. */
#ifndef PEAL_SCHED_SEND_H
#define PEAL_SCHED_SEND_H

#include "sched/sched.h"

struct lane;
struct run;

bool send_leaving(struct sched *s, struct now now, int64_t log_id, uint32_t ticket); /* sched.h */
/* Whether this center's lease lets it leave now (sched_lease). */
bool send_leased(const struct sched *s, struct now now, const struct run *r);
void send_call(struct sched *s, struct run *r); /* ticket, place in the lane */
void lane_pump(struct sched *s, struct now now, struct lane *lane);
void lane_enqueue(struct sched *s, struct now now, struct run *r);
void lane_wait(struct sched *s, struct run *r, bool first); /* in its queue; nothing is sent */

#endif
