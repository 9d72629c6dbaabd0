/* SPDX-License-Identifier: Apache-2.0 */
/* bitset.h - the values of one field of an expression, as they are put into words. For src/cron.
 */
#ifndef PEAL_CRON_BITSET_H
#define PEAL_CRON_BITSET_H

#include "cron/phrases.h"

struct bitset {
    uint64_t bits;
    int min, max; /* of the field; 0-63 */
};

struct bitset bitset_of(uint64_t bits, int min, int max);
bool bitset_has(const struct bitset *s, int bit); /* false beyond the field */
int bitset_count(const struct bitset *s);
bool bitset_full(const struct bitset *s);
bool bitset_one(const struct bitset *s); /* one member, no more */
int bitset_first(const struct bitset *s);
int bitset_last(const struct bitset *s);
/* Two members at least, and all gaps are equal: the gap; else 0. */
int bitset_step(const struct bitset *s);
/* Stretches of members that follow each other; the last one of the stretch that has this member. */
int bitset_runs(const struct bitset *s);
int bitset_run_end(const struct bitset *s, int member);
/* "1, 5 to 9 and 15"; two in a row read better apart. */
void bitset_list(const struct bitset *s, enum language lang, struct buf *out);

#endif
