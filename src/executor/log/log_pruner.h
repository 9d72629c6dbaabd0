/* SPDX-License-Identifier: Apache-2.0 */
/* log_pruner.h - removes the logs of old days.
 *
 * At the first step and then daily: each folder directly under logpath whose name is a real date
 * (yyyy-MM-dd) that lies more than "days" days before today, local zone. Its files go, then the
 * folder. Symbolic links are removed or left, never followed; a folder inside a day is not ours: it
 * stays, and its day with it, with a warning. Fewer than 3 days: nothing is ever removed, as
 * XXL-JOB has it. Done in small steps, so that the thread can do other work between
 * them. Thread: one at a time. */
#ifndef PEAL_EXECUTOR_LOG_LOG_PRUNER_H
#define PEAL_EXECUTOR_LOG_LOG_PRUNER_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    LOG_PRUNER_STEP = 256,    /* files of one step */
    LOG_PRUNER_PAUSE_MS = 10, /* between two steps */
    LOG_PRUNER_DAYS_MIN = 3,
};

struct log_pruner { /* embed it; all members are private */
    const char *logpath;
    int days;
    DIR *base, *day;         /* NULL: between two rounds, two days */
    char name[16];           /* of the day */
    bool removed;            /* something, since the day was opened or read from the beginning */
    long long ndays, nfiles; /* removed in this round */
};

/* logpath: borrowed. */
void log_pruner_init(struct log_pruner *c, const char *logpath, int days);
void log_pruner_done(struct log_pruner *c);
/* now_ms: wall clock. How many ms to wait before the next step; -1: never. */
int64_t log_pruner_step(struct log_pruner *c, int64_t now_ms);

/* Days from 1970-01-01 to a name that is a real date; false: it is none. */
bool log_pruner_date(const char *name, int64_t *ret_days);

#endif
