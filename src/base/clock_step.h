/* SPDX-License-Identifier: Apache-2.0 */
/* clock_step.h - what is a step of the wall clock, and what is drift. Pure. */
#ifndef PEAL_BASE_CLOCK_STEP_H
#define PEAL_BASE_CLOCK_STEP_H

#include <stdint.h>

#define CLOCK_STEP_MS 500 /* a smaller difference between the clocks is drift */

/* How far the wall clock has stepped when it has come apart from the boot clock by so many ms since
 * both were compared; 0: it has not. */
static inline int64_t clock_step_of(int64_t apart_ms)
{
    return apart_ms > -CLOCK_STEP_MS && apart_ms < CLOCK_STEP_MS ? 0 : apart_ms;
}

#endif
