/* SPDX-License-Identifier: Apache-2.0 */
/* The names are metric labels. One function holds the sum that must be 0 after each transaction, so
 * that the metric, the tests and the simulation agree on it. */
#include "model/totals.h"

static const char *const totals[TOTAL_COUNT] = { "planned", "finished",  "rejected", "lost",
                                                 "skipped", "withdrawn", "sent",     "resent",
                                                 "late",    "found" };

int64_t totals_unaccounted(const struct totals *t, int64_t open)
{
    int64_t lost = t->n[TOTAL_LOST] - t->n[TOTAL_FOUND];
    return t->n[TOTAL_PLANNED] - t->n[TOTAL_FINISHED] - t->n[TOTAL_REJECTED] - lost -
           t->n[TOTAL_SKIPPED] - t->n[TOTAL_WITHDRAWN] - open;
}

const char *total_name(enum total t)
{
    return t < TOTAL_COUNT ? totals[t] : "?";
}
