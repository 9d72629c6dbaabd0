/* SPDX-License-Identifier: Apache-2.0 */
/* shared.h - the start and end lines of runs that logged nothing: one file a day, {day}/runs.
 *
 * A record is one line:
 *
 *     <log id> <text> <crc>LF
 *
 * log id: decimal. text: what the run's own file would hold, without the last LF; in it "\n" stands
 * for LF and "\\" for a backslash, and nothing else is escaped. So a foreign text cannot begin
 * a record, and `grep '^123 ' runs` finds run 123. crc: CRC-32C of everything before the blank in
 * front of it, eight hexadecimal digits: what a crash tore, or a disk damaged, is skipped. At
 * most SHARED_RECORD bytes; a run with more to say gets a file of its own.
 *
 * Written in batches with one write each; what a crash left half done is ended with a LF before the
 * next batch. Of several records of one id the last counts. Searched from the end, because the
 * young are asked for. Functions may run anywhere, but only one thread may write a day's file. */
#ifndef PEAL_EXECUTOR_LOG_SHARED_H
#define PEAL_EXECUTOR_LOG_SHARED_H

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"

#define SHARED_NAME "runs"
#define SHARED_RECORD (64u << 10) /* bytes of a record, its LF included */
#define SHARED_CHUNK (256u << 10) /* bytes that a search reads at a time */

struct shared_record { /* free() releases it */
    struct list_node node;
    int64_t date_ms, log_id;
    size_t n;
    char text[]; /* the whole record, with its LF; a NUL follows */
};

/* content: lines, each with its LF. NULL: too large for a record, or no memory. */
struct shared_record *shared_make(int64_t date_ms, int64_t log_id, struct slice content);
/* The content of a record, each line with its LF, added to "to". False: it is not a whole record of
 * this id; "to" is as before. */
bool shared_content(struct slice record, int64_t log_id, struct buf *to);
/* Append records (bytes) to a day's file. ERR_IO and errno: some or all are not written. */
MUST_CHECK enum err shared_append(const char *logpath, const char *day, struct slice records);
/* The youngest record of this id in a file; its content is added to "to". False: there is none. */
bool shared_find(int fd, int64_t log_id, struct buf *to);
/* The same among the lines that begin at an offset from low on and below high. */
bool shared_find_between(int fd, int64_t low, int64_t high, int64_t log_id, struct buf *to);

#endif
