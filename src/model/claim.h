/* SPDX-License-Identifier: Apache-2.0 */
/* claim.h - for which groups the sender of a request may bring results. Needed where that is looked
 * at later than the request: a result of a run that is not live waits for its log row. Pure. */
#ifndef PEAL_MODEL_CLAIM_H
#define PEAL_MODEL_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct claim {
    int refs;    /* the scheduler's thread alone makes and drops them; the writer only reads */
    bool others; /* all groups but those of ids; else those alone */
    int64_t *ids;
    size_t n;
    unsigned refused; /* results that were of other groups, by commits so far */
};

struct claim *claim_new(bool others, int64_t *ids, size_t n); /* takes ids; one reference */
struct claim *claim_ref(struct claim *c);                     /* NULL is fine, here and below */
void claim_unref(struct claim *c);
/* NULL: whoever sends it may bring results of any group. */
bool claim_has(const struct claim *c, int64_t group_id);

#endif
