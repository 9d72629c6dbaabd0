/* SPDX-License-Identifier: Apache-2.0 */
/* journal_file.h - a file of results that the database has not taken yet: format, reading, writing.
 *
 * Made once at its full size, so that it can be written when the disk is full. Two header slots,
 * then records one behind the other. A reset writes a header with the next generation and a new
 * salt; as each record's checksum begins with the salt, what stands behind from before is nothing
 * at once. Layout and what is done about each kind of damage: docs/internals/journal.md. One thread
 * at a time. All calls may wait for the disk. */
#ifndef PEAL_SERVER_JOURNAL_JOURNAL_FILE_H
#define PEAL_SERVER_JOURNAL_JOURNAL_FILE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/why.h"

#define JOURNAL_VERSION 1
#define JOURNAL_SLOT 4096 /* bytes from one header slot to the next */
#define JOURNAL_HEADER 64 /* bytes of a header; the rest of its slot is zero */
#define JOURNAL_HEAD 8192 /* where the records begin */
#define JOURNAL_RECORD 40 /* bytes of a record before its message */
/* Longer messages are cut; the database gets them whole, unless the process dies before. */
#define JOURNAL_MSG_MAX 8192
#define JOURNAL_MAX (64u << 20) /* no more of a file is looked at */

struct journal_result {
    int64_t log_id, at_ms; /* at: wall clock, when it came */
    int code;
    struct slice msg; /* borrowed */
};

typedef void journal_each_fn(void *ctx, const struct journal_result *r);

/* Which state of a database a file's results belong to: that of the life that wrote them or, until
 * that life's first commit, of the life before. Numbers of recorders; life 0: it had none, no life
 * can tell. */
struct journal_owner {
    uint64_t life, before;
};

/* The number in a recorder's id, 0 for "". */
uint64_t journal_life(const char *recorder);

struct journal_scan { /* what a file's bytes say */
    bool header;      /* one of the two was readable; the rest is 0 if not */
    bool both;        /* the other one says the same */
    bool odd;         /* the other one is neither readable nor empty */
    uint8_t version;
    uint64_t generation, salt;
    struct journal_owner owner; /* no life if the two headers differ in it */
    size_t end;                 /* where the next record goes */
    uint64_t next;              /* its number */
    unsigned records;           /* readable ones */
    unsigned gaps;              /* places that are not readable though records stand behind them */
    size_t lost;                /* bytes of these */
    bool torn;                  /* a record was begun at end and not finished */
};

/* Read the bytes of a file; calls each in order of writing for every readable record of the newest
 * generation. Pure: any bytes are fine. A version that is not ours is told and not read further. */
void journal_scan(const void *bytes, size_t n, journal_each_fn *each, void *ctx,
                  struct journal_scan *ret);

struct journal_file; /* opaque */

/* Open, or make with bytes of room; what stands in it goes to each. ERR_FULL: no room to make one.
 * ERR_BUSY: another process has it. ERR_INVALID: written by a newer version, left as it is. A
 * damaged file is copied to PATH.damaged, said in the log, and used on. One with results of another
 * database, or of a state that owner's has never been in, becomes PATH.of-LIFE, said in the log,
 * and a new one is made. From now on the file is owner's; life 0: any file is taken. */
MUST_CHECK enum err journal_file_open(const char *path, size_t bytes,
                                      const struct journal_owner *owner, journal_each_fn *each,
                                      void *ctx, struct journal_file **ret, struct why *why);
void journal_file_close(struct journal_file *f); /* NULL is fine */

/* Append a record to out, to be given to journal_file_put; any thread. The message is cut. */
void journal_record(struct buf *out, const struct journal_result *r);

/* Write n records (bytes of them, changed in place), all or none. Not kept before
 * journal_file_sync. ERR_FULL: no room until the next reset. */
MUST_CHECK enum err journal_file_put(struct journal_file *f, char *records, size_t bytes,
                                     unsigned n, struct why *why);
/* Keep what was put. On failure all of it since the last success is taken back. */
MUST_CHECK enum err journal_file_sync(struct journal_file *f, struct why *why);
/* Nothing that was put counts any more. After a failure it is tried again before the next record.
 */
MUST_CHECK enum err journal_file_reset(struct journal_file *f, struct why *why);

unsigned journal_file_records(const struct journal_file *f); /* since the last reset */
size_t journal_file_room(const struct journal_file *f);      /* bytes */

#endif
