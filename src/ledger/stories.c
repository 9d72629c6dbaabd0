/* SPDX-License-Identifier: Apache-2.0 */
/* stories.c - what happened to the runs of which more than the log row is kept, written with their
 * end. Most firings have none, and cost the look at one pointer. */
#include "ledger/internal.h"
#include "model/story.h"

enum err stories_put(struct txn *t)
{
    enum err err = OK;
    for (int i = 0; !err && i < t->b->nchanges; i++) {
        const struct run_change *c = &t->b->changes[i];
        if (!c->story || c->missing || c->what & CHANGE_DROP)
            continue;
        struct story story = *c->story;
        story_note_ms(&story, STORY_WRITTEN, t->b->now_ms);
        err = t->ops->runs->story_put(t->store, c->log_id, &story, &t->b->why);
    }
    return err;
}
