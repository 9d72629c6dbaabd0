/* SPDX-License-Identifier: Apache-2.0 */
/* runlog_read.h - a run's log by line number: from its file, or from its day's shared file, where
 * it looks as if the run had a file of its own. Any thread. */
#ifndef PEAL_EXECUTOR_LOG_RUNLOG_READ_H
#define PEAL_EXECUTOR_LOG_RUNLOG_READ_H

#include "base/buf.h"

#define RUNLOG_PAGE (8u << 20) /* bytes of one answer to /log */

struct shared_map;

struct runlog_page {
    bool found; /* else nothing below is set */
    int to_line;
    struct buf content; /* whole lines, each with its LF; the owner releases it */
};

/* Lines from from_line (1 is the first) on, at most RUNLOG_PAGE bytes. The day before and the day
 * after are looked at too: centers round the date. whole_lines: leave out a last line without end,
 * it may still be written to. map: shared_map.h, of the calling thread; NULL: search without. */
void runlog_read(const char *logpath, int64_t date_ms, int64_t log_id, int from_line,
                 bool whole_lines, struct shared_map *map, struct runlog_page *ret);
/* The same of a text in memory: what runlog_peek gave. */
void runlog_page_of(struct slice text, int from_line, struct runlog_page *ret);

#endif
