/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h - FAILOVER and BUSYOVER: addresses that are asked before a run is sent. */
#ifndef PEAL_SCHED_PROBE_H
#define PEAL_SCHED_PROBE_H

#include "sched/sched.h"

struct lane;
struct run;

bool probe_wanted(const struct run *r);
void probe_begin(struct sched *s, struct now now, struct run *r);
/* The address that said yes has died or left: ask the others. */
void probe_anew(struct sched *s, struct now now, struct run *r);
void probe_on_beat(struct sched *s, struct now now, const struct call_result *c);
void probe_on_idle(struct sched *s, struct now now, const struct call_result *c);
void probe_pump(struct sched *s, struct lane *lane);
void probe_sweep(struct sched *s, struct now now, struct lane *lane);
void probes_free(struct lane *lane);

#endif
