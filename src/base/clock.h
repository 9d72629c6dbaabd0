/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the only place that asks what time it is. Forbidden in the pure folders. Any thread. */
#ifndef PEAL_BASE_CLOCK_H
#define PEAL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

int64_t clock_wall_ms(void); /* epoch milliseconds (CLOCK_REALTIME), for calendars */
int64_t clock_wall_us(void);
int64_t clock_boot_ms(void); /* CLOCK_BOOTTIME, for waits and leases: never steps */
int64_t clock_boot_us(void);
/* ms from now on CLOCK_MONOTONIC, for waits on condition variables of that clock. */
struct timespec clock_after_ms(int64_t ms);

#endif
