/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the only place that asks what time it is. Forbidden in the pure folders. Any thread. */
#ifndef PEAL_BASE_CLOCK_H
#define PEAL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

int64_t clock_wall_ms(void); /* epoch milliseconds (CLOCK_REALTIME), for calendars */
int64_t clock_wall_us(void);
/* CLOCK_REALTIME as the machine has it, also where this process does not follow it. */
int64_t clock_machine_ms(void);
int64_t clock_boot_ms(void); /* CLOCK_BOOTTIME, for waits and leases: never steps */
int64_t clock_boot_us(void);
/* From now on this process goes by the boot clock, and not by the wall clock, after a step of the
 * latter, until clock_follow says that the machine's clock is right: its steps are not seen by
 * clock_wall_ms before. Of the whole process. */
void clock_hold(void);
void clock_follow(void);
/* By how much the machine's clock has stepped since this process has followed it; 0: it has not. */
int64_t clock_step_ms(void);
/* ms from now on CLOCK_MONOTONIC, for waits on condition variables of that clock. */
struct timespec clock_after_ms(int64_t ms);

#endif
