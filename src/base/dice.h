/* SPDX-License-Identifier: Apache-2.0 */
/* dice.h - chance that comes in through the door: a seeded generator, the same on every machine.
 *
 * splitmix64 (Steele, Lea, Flood, OOPSLA 2014). Not for secrets: those come from secret.h. Pure. */
#ifndef PEAL_BASE_DICE_H
#define PEAL_BASE_DICE_H

#include "base/map.h"

struct dice {
    uint64_t state;
};

static inline uint64_t dice_u64(struct dice *d)
{
    return hash_u64(d->state += 0x9e3779b97f4a7c15u);
}

/* Uniform in [0, n); 0 for n = 0. The bias of the multiplication is below n / 2^32. */
static inline uint32_t dice_below(struct dice *d, uint32_t n)
{
    return (uint32_t)(((dice_u64(d) >> 32) * n) >> 32);
}

/* True p times in a million. */
static inline bool dice_chance(struct dice *d, uint32_t ppm)
{
    return dice_below(d, 1000000) < ppm;
}

#endif
