/* SPDX-License-Identifier: Apache-2.0 */
/* runlog_file.h - where logs lie and how their lines begin; for the parts of the logs only.
 *
 * Stamps and days are kept per thread and second: localtime_r takes a lock of the C library and
 * costs more than the rest of a line. Any thread. */
#ifndef PEAL_EXECUTOR_LOG_RUNLOG_FILE_H
#define PEAL_EXECUTOR_LOG_RUNLOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

enum {
    RUNLOG_PATH = 4096, /* bytes of the longest path */
    RUNLOG_DAY = 16,    /* of a day's name */
};
#define RUNLOG_DAY_MS 86400000ll

/* "2026-01-31", local zone. Dates come from requests: what lies before 1970 or beyond the year
 * 9999 names the first or the last day. */
void runlog_day(int64_t ms, char to[RUNLOG_DAY]);
/* {logpath}/{day}/{log id}{suffix}; false: too long. */
bool runlog_path(const char *logpath, const char *day, int64_t log_id, const char *suffix,
                 char to[RUNLOG_PATH]);
/* {logpath}/{day}, or {logpath}/{day}/{name}; false: too long. */
bool runlog_day_path(const char *logpath, const char *day, const char *name, char to[RUNLOG_PATH]);
/* The day itself and its neighbours, in the order in which they are looked at: centers round. */
void runlog_days(int64_t ms, char to[3][RUNLOG_DAY]);
/* Open a file of a day for appending and reading, and make it and the day's folder if they are
 * missing. -1 and errno: EINVAL for what is no file, a pipe that would hold up its writer. */
int runlog_open_day(const char *logpath, const char *day, const char *path, int64_t *ret_size);
/* "2026-01-31 09:00:00 [where#function]-[line]-[thread] text" and a LF, for now. */
void runlog_compose(struct buf *b, const char *where, const char *function, int line,
                    const char *thread, struct slice text);

#endif
