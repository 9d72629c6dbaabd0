/* SPDX-License-Identifier: Apache-2.0 */
/* ended.h - epochs that are over, and which node may adopt their runs now.
 *
 * There is no election. An epoch that was ended for its silence names the epoch of the node that
 * ended it as its heir; a node that starts again after a kill is the heir of its last life. The
 * heir adopts alone as long as it lives, and for HEIR_MS at most; then, and where there is no heir,
 * every node takes slices. Pure; owned by its cluster. */
#ifndef PEAL_SCHED_ENDED_H
#define PEAL_SCHED_ENDED_H

#include <stdbool.h>
#include <stdint.h>

#define ENDED_MAX 64  /* epochs that are looked after at once; others come later */
#define HEIR_MS 10000 /* so long an heir adopts alone */

struct ended {
    int64_t epoch, watermark_ms;
    int64_t heir;     /* 0: none */
    int64_t since_ms; /* boot clock: first read as ended */
    int64_t again_ms; /* not looked at before */
    bool clean, done; /* done: no run of it is left */
};

struct ended_list {
    struct ended all[ENDED_MAX];
    int n;
};

struct ended_asker {
    int64_t epoch;                                 /* that wants to adopt */
    bool (*lives)(const void *ctx, int64_t epoch); /* by what was read last */
    const void *ctx;
};

/* NULL if it is not known. Valid until the next ended_note. */
struct ended *ended_find(struct ended_list *l, int64_t epoch);
/* An epoch was read as ended. again: runs of it have been seen now. A list that is full of epochs
 * with runs leaves it out. */
void ended_note(struct ended_list *l, const struct ended *e, bool again);
/* One whose runs the asker may adopt now; NULL if there is none. */
const struct ended *ended_open(const struct ended_list *l, const struct ended_asker *by,
                               int64_t boot_ms);
/* Boot time at which ended_open may find one; INT64_MAX if only an event can change that. */
int64_t ended_next(const struct ended_list *l, const struct ended_asker *by);

#endif
