/* SPDX-License-Identifier: Apache-2.0 */
/* runlog.h - the rolling log of a run: a file in XXL-JOB's layout.
 *
 * {logpath}/{yyyy-MM-dd of the run's logDateTime, local zone}/{logId}.log, lines end in LF. Only
 * appended to, so it can be read by line number while it grows. Bounded: beyond RUNLOG_MAX bytes
 * only the executor's own last lines are taken.
 * Thread: a struct runlog belongs to one thread; the functions with a path may run anywhere. */
#ifndef PEAL_EXECUTOR_RUNLOG_H
#define PEAL_EXECUTOR_RUNLOG_H

#include "base/buf.h"
#include "base/err.h"
#include "base/why.h"

#define RUNLOG_MAX (256ll << 20) /* bytes of one log */
#define RUNLOG_PAGE (8u << 20)   /* bytes of one answer to /log */
enum { RUNLOG_PATH = 4096 };

struct runlog { /* embed it, zeroed with fd -1 */
    int fd;
    int64_t size;
    bool open_line; /* the last byte was not a line's end */
    bool cut;       /* the limit was reached, and said */
    int failed;     /* errno of a write that lost bytes, or 0 */
};

/* Create the folder and the file if they are missing. ERR_IO with the reason in why. */
MUST_CHECK enum err runlog_open(struct runlog *l, const char *logpath, int64_t log_date_ms,
                                int64_t log_id, struct why *why);
void runlog_close(struct runlog *l);
/* Bytes as they are: a script's output. */
void runlog_raw(struct runlog *l, const char *p, size_t n);
/* "2026-01-31 09:00:00 [where#function]-[line]-[thread] text". last: also beyond the limit. */
void runlog_line(struct runlog *l, const char *where, const char *function, int line,
                 const char *thread, struct slice text, bool last);

/* A line about its callback for the log of a run that is over; nothing if it has none. word:
 * "finish" or "fail". */
void runlog_note(const char *logpath, int64_t log_date_ms, int64_t log_id, const char *word);

struct runlog_page {
    bool found; /* else nothing below is set */
    int to_line;
    struct buf content; /* whole lines, each with its LF; the owner releases it */
};

/* Lines from from_line (1 is the first) on, at most RUNLOG_PAGE bytes. The day before and the day
 * after are looked at too: centers round the date. whole_lines: leave out a last line without end,
 * it may still be written to. */
void runlog_read(const char *logpath, int64_t log_date_ms, int64_t log_id, int from_line,
                 bool whole_lines, struct runlog_page *ret);

#endif
