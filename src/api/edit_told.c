/* SPDX-License-Identifier: Apache-2.0 */
/* edit_told.c - an edit is answered when it holds at all servers. Those that have runs of the job
 * which may leave confirm it in the rows of these runs (peal_run.told), so rows are what is looked
 * at. Who takes the runs of a dead server over confirms for that one. */
#include "api/edit_told.h"
#include "base/clock.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WAIT_MS 1000 /* from when the edit was written on */
#define LOOK_MS 20
#define SOON_MS 300
#define LATER_MS 100

struct left { /* who has not confirmed */
    int64_t runs;
    char nodes[160];
};

static bool add(void *ctx, const struct untold *u)
{
    struct left *l = ctx;
    size_t n = strlen(l->nodes);
    if (!u->unsent)
        return true;
    l->runs += u->unsent;
    snprintf(l->nodes + n, sizeof(l->nodes) - n, "%s%s", n ? ", " : "", u->node);
    return true;
}

/* They have been told to look at once; one that has not heard of that looks each 200 ms. */
static void pause_from(int64_t begun_ms)
{
    bool soon = clock_boot_ms() < begun_ms + SOON_MS;
    const struct timespec pause = { .tv_nsec = (soon ? LOOK_MS : LATER_MS) * 1000000L };
    nanosleep(&pause, NULL);
}

enum err edit_told(struct web_call *call, const struct edit *done, struct why *why)
{
    int64_t begun_ms = clock_boot_ms(), end_ms = done->done_boot_ms + WAIT_MS;
    int64_t epoch = center_metrics(call->center)->node.epoch;
    int64_t version = done->now ? done->now->version : VERSION_DELETED;
    struct left left = { .runs = done->untold };
    if (left.runs)
        center_nudge(call->center);
    while (left.runs) {
        if (clock_boot_ms() >= end_ms) {
            why_set(why,
                    "the change is recorded, but server %s has not confirmed it yet: until it "
                    "does, or is given up, it may send %lld runs of job %lld as it was before",
                    left.nodes, (long long)left.runs, (long long)done->id);
            return ERR_TIMEOUT;
        }
        pause_from(begun_ms);
        left = (struct left){ .runs = 0 };
        enum err err = call->db->ops->cluster->runs_untold(call->db, done->id, version, epoch, add,
                                                           &left, why);
        if (err) {
            struct why read = *why;
            why_set(why, "the change is recorded; whether all servers know it cannot be read: %s",
                    read.text);
            return err;
        }
    }
    return OK;
}

enum err edits_told(struct web_call *call, struct edit *const *done, int n, struct why *why)
{
    enum err first = OK;
    for (int i = 0; i < n; i++) {
        struct why one = { "" };
        enum err err = edit_told(call, done[i], &one);
        if (err && !first)
            *why = one;
        first = first ? first : err;
    }
    return first;
}
