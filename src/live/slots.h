/* SPDX-License-Identifier: Apache-2.0 */
/* slots.h - how many runs have succeeded and failed, by quarter hours of UTC, two weeks back. */
#ifndef PEAL_LIVE_SLOTS_H
#define PEAL_LIVE_SLOTS_H

#include <stdint.h>

#define SLOT_MS INT64_C(900000)
#define SLOTS (14 * 24 * 4)

struct slots { /* all zero: empty */
    struct slot {
        uint32_t quarter, succeeded, failed; /* quarter: its number since 1970 */
    } at[SLOTS];
};

/* Add to the quarter in which the instant lies (epoch ms), or take off. What is older than two
 * weeks behind the newest quarter that was added to is forgotten. */
void slots_add(struct slots *s, int64_t at_ms, int64_t succeeded, int64_t failed);
/* Add to the sums what lies from that instant on, in n steps of step_ms, a multiple of SLOT_MS;
 * from_ms lies on one. */
void slots_sum(const struct slots *s, int64_t from_ms, int64_t step_ms, int n, int64_t *succeeded,
               int64_t *failed);

#endif
