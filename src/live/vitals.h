/* SPDX-License-Identifier: Apache-2.0 */
/* vitals.h - the few numbers that say whether the center does its work. */
#ifndef PEAL_LIVE_VITALS_H
#define PEAL_LIVE_VITALS_H

#include "net/loop.h"

struct center;
struct vitals;

struct vitals_now {
    bool ok;
    char reason[768];                          /* why not; it can name files */
    double lateness_p99_ms, commit_p99_ms;     /* of the last minute; -1: there was none */
    int64_t planned;                           /* firings ever */
    int64_t horizon_ms;                        /* planned so far ahead */
    int64_t in_flight, unknown, waiting, open; /* runs */
};

/* Looks at the center's metrics every ten seconds, on the loop's thread. Before it turns. */
struct vitals *vitals_new(struct center *c, struct loop *web);
void vitals_free(struct vitals *v); /* the loop turns no more; NULL is fine */
/* Any thread. */
void vitals_read(struct vitals *v, struct vitals_now *ret);

#endif
