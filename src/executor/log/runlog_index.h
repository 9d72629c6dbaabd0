/* SPDX-License-Identifier: Apache-2.0 */
/* runlog_index.h - where each 1,000th line of a log ends, beside it in {log id}.idx.
 *
 * Entry k (from 1 on), 16 bytes, little endian: the offset at which line 1000 k + 1 begins, and a
 * check over the entries before, k, this offset, and the bytes of the log in front of it. Made by
 * the log's writer when it writes line 1,000; a smaller log has no index, and one that an earlier
 * process began keeps what it has. An index is a shortcut and never the truth: what is missing,
 * torn, of another log or of a log that was changed does not pass the check, and the reader counts
 * from the beginning. The check finds accidents, not forgery: a process that can write here can
 * write the log itself. Functions may run anywhere. */
#ifndef PEAL_EXECUTOR_LOG_RUNLOG_INDEX_H
#define PEAL_EXECUTOR_LOG_RUNLOG_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNLOG_INDEX_SUFFIX ".idx"
enum { RUNLOG_INDEX_EVERY = 1000, RUNLOG_INDEX_ENTRY = 16 };

struct runlog_index {  /* of the writer: how far it is */
    int64_t log_id, k; /* k: the last entry made */
    uint64_t check;    /* its check; 0 before the first */
};

/* The next entry, for the line that begins at offset of log_fd (readable). False: no line ends in
 * front of it; the index is as it was. */
bool runlog_index_next(struct runlog_index *x, int log_fd, int64_t offset,
                       unsigned char to[RUNLOG_INDEX_ENTRY]);

struct runlog_place {
    int64_t offset, line; /* line begins at offset */
};

/* A place from which the wanted line is found by counting on: at best fewer than 1,000 lines before
 * it, at worst line 1. */
struct runlog_place runlog_index_find(int index_fd, int log_fd, int64_t log_id, int64_t line);

#endif
