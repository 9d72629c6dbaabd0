/* SPDX-License-Identifier: Apache-2.0 */
/* log_writer.h - the thread that reads logs, writes what runs without a file leave, adds late lines
 * and removes old days, so that a slow disk or a large log holds up neither the loop nor a worker.
 *
 * Shares and notes are gathered for LOG_WRITER_GATHER_MS, or until LOG_WRITER_GATHER_BYTES of them
 * wait, and then written together; a read writes them first, so it sees what was handed over before
 * it. An executor that is killed loses the lines of those milliseconds, not the results. When the
 * disk does not keep up, what goes beyond LOG_WRITER_WAITING_MAX bytes (notes: beyond
 * LOG_WRITER_NOTES_MAX, the center knows what they say) is dropped and counted in the executor's
 * log. */
#ifndef PEAL_EXECUTOR_LOG_LOG_WRITER_H
#define PEAL_EXECUTOR_LOG_LOG_WRITER_H

#include "base/mailbox.h"
#include "executor/log/runlog_read.h"

enum {
    LOG_WRITER_GATHER_MS = 20,
    LOG_WRITER_GATHER_BYTES = 1 << 20,
    LOG_WRITER_WAITING_MAX = 64 << 20,
    LOG_WRITER_NOTES_MAX = 2 << 20,
};

struct log_writer; /* opaque */
struct shared_record;

struct log_writer_read {    /* an order, and its answer */
    struct message message; /* comes back with the kind that it had */
    int64_t log_id, log_date_ms;
    int from_line;
    bool whole_lines;
    void *user;
    struct runlog_page page; /* the receiver releases page.content */
};

/* logpath, loop: borrowed. loop: where the answers go. retention_days: log_pruner.h. The thread
 * writes to the caller's log sink. NULL: the system gives no thread. */
struct log_writer *log_writer_new(const char *logpath, int retention_days, struct mailbox *loop);
/* Writes what it was given and answers what was ordered, then ends. NULL is fine. */
void log_writer_free(struct log_writer *lw);
/* Any thread. r belongs to the log writer until it comes back as a message. */
void log_writer_read(struct log_writer *lw, struct log_writer_read *r);
/* Any thread. r is the log writer's from here on; NULL is fine: a run with a file of its own. */
void log_writer_share(struct log_writer *lw, struct shared_record *r);
/* Any thread. A line about the callback for a run that has a file; word is "finish" or "fail",
 * static. */
void log_writer_note(struct log_writer *lw, int64_t log_id, int64_t log_date_ms, const char *word);

#endif
