/* SPDX-License-Identifier: Apache-2.0 */
/* keeper.h - the thread that reads logs and adds late lines to them, so that a slow disk or a large
 * log holds up neither the loop nor a worker. Orders are done one after another. */
#ifndef PEAL_EXECUTOR_KEEPER_H
#define PEAL_EXECUTOR_KEEPER_H

#include "base/mailbox.h"
#include "executor/runlog.h"

struct keeper; /* opaque */

struct keeper_read {      /* an order, and its answer */
    struct letter letter; /* comes back with the kind that it had */
    int64_t log_id, log_date_ms;
    int from_line;
    bool whole_lines;
    void *user;
    struct runlog_page page; /* the receiver releases page.content */
};

/* logpath, loop: borrowed. loop: where the answers go. Aborts if there is no thread at start. */
struct keeper *keeper_new(const char *logpath, struct mailbox *loop);
/* Answers what was ordered, then ends. */
void keeper_free(struct keeper *k);
/* Loop. r belongs to the keeper until it comes back as a letter. */
void keeper_read(struct keeper *k, struct keeper_read *r);
/* Loop. A line about the callback: word is "finish" or "fail", static. */
void keeper_note(struct keeper *k, int64_t log_id, int64_t log_date_ms, const char *word);

#endif
