/* SPDX-License-Identifier: Apache-2.0 */
/* runlog.h - the rolling log of a run: a file in XXL-JOB's layout, made when it is needed.
 *
 * {logpath}/{yyyy-MM-dd of the run's logDateTime, local zone}/{logId}.log, lines end in LF. Only
 * appended to, so it can be read by line number while it grows. The file is made at the first line
 * or byte of the handler: making one costs more than most runs. Until then the start line is in
 * memory, and a run that logs nothing leaves start and end as a record in its day's shared file
 * (shared.h). Bounded: beyond RUNLOG_MAX bytes only the executor's own last lines are taken.
 * A disk that takes nothing costs lines, never the run; the executor's log says so once per run,
 * and the run's log has a line with the number of bytes where they are missing.
 *
 *   WAITS --runlog_start--> HELD --first line or byte--> FILE --runlog_end--> ended
 *                             +----------runlog_end-----> ended, with a record
 *
 * Threads: init and done belong to the owner of the run. start, raw, line and end may come from any
 * threads of the handler: they take turns. runlog_peek may be called by any thread at any time
 * between init and done and never waits: what it reads is published once and not changed again.
 * runlog_note may run anywhere. */
#ifndef PEAL_EXECUTOR_LOG_RUNLOG_H
#define PEAL_EXECUTOR_LOG_RUNLOG_H

#include <pthread.h>
#include <stdatomic.h>
#include "base/buf.h"
#include "executor/log/runlog_file.h"
#include "executor/log/runlog_index.h"

#define RUNLOG_MAX (256ll << 20) /* bytes of one log */

struct shared_record;

struct runlog { /* embed it; all members are private */
    pthread_mutex_t lock;
    const char *logpath;
    int64_t date_ms, log_id;
    bool again;
    struct buf start;                       /* the start line; not changed after "held" */
    _Atomic bool held, in_file;             /* start can be read; the file has it */
    _Atomic(struct shared_record *) record; /* owned; the end of a run without a file */
    int fd, index_fd;                       /* -1: not open */
    int64_t size, lines;                    /* of the file */
    struct runlog_index index;
    bool indexed;   /* lines are counted from the file's beginning */
    bool open_line; /* the last byte was not a line's end */
    bool cut;       /* the limit was reached, and said */
    bool said;      /* a loss was reported */
    int64_t lost;   /* bytes that are not in the file, not yet noted there */
    int why;        /* errno of the last loss */
};

/* logpath: borrowed until runlog_done. again: an earlier execution of this run may have left a file
 * (an executor that died): if it did, go on with it from the start line on. */
void runlog_init(struct runlog *l, const char *logpath, int64_t date_ms, int64_t log_id,
                 bool again);
void runlog_done(struct runlog *l);

/* The start line: "2026-01-31 09:00:00 [executor#run]-[0]-[thread] text". Once, first. */
void runlog_start(struct runlog *l, const char *thread, struct slice text);
/* Bytes as they are: a script's output. */
void runlog_raw(struct runlog *l, const char *p, size_t n);
/* "2026-01-31 09:00:00 [where#function]-[line]-[thread] text". */
void runlog_line(struct runlog *l, const char *where, const char *function, int line,
                 const char *thread, struct slice text);
/* The end line, also beyond the limit; the file is closed. Once, last. */
void runlog_end(struct runlog *l, const char *thread, struct slice text);
/* After runlog_end. Had the run a file of its own? */
bool runlog_has_file(const struct runlog *l);
/* After runlog_end. NULL if the run had a file; else its start and end line, for log_writer_share.
 * The caller owns it. */
struct shared_record *runlog_take(struct runlog *l);

/* What a live run has said so far, if that is in memory and nowhere else: its lines, each with its
 * LF, are added to "to". False: it has not begun, or look for the file. */
bool runlog_peek(struct runlog *l, struct buf *to);

/* A line about its callback for the log of a run that is over; nothing if it has no file of its
 * own. word: "finish" or "fail". */
void runlog_note(const char *logpath, int64_t date_ms, int64_t log_id, const char *word);

#endif
