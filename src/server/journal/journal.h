/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h - the thread that makes results durable before the database has them.
 *
 * The scheduler's loop posts results and is told when they are durable; it never waits for the
 * disk. What has gathered meanwhile is written together and made durable once (group commit). There
 * are two files, so that one can be emptied while the other takes what comes. A file and its
 * format: journal_file.h; when they are used: results_journal.c. */
#ifndef PEAL_SERVER_JOURNAL_JOURNAL_H
#define PEAL_SERVER_JOURNAL_JOURNAL_H

#include "base/mailbox.h"
#include "server/journal/journal_file.h"
#include "server/metrics.h"

enum { JOURNAL_FILES = 2 };

struct journal; /* opaque */

struct journal_message { /* results that are written together */
    struct message message;
    struct buf records;  /* filled with journal_record */
    unsigned n;          /* how many */
    int file;            /* which one takes them */
    struct list waiting; /* the sender's; may be changed while the journal has the message */
    enum err err;        /* when it comes back: OK, they are durable */
};

struct journal_message *journal_message_new(void);
void journal_message_free(struct journal_message *m);

/* Takes the files, of which the second may be NULL. Mails come back to the mailbox done with this
 * kind. */
struct journal *journal_new(struct journal_file *const files[JOURNAL_FILES], struct mailbox *done,
                            int done_kind, struct metrics *metrics);
/* The message belongs to the journal until it comes back. */
void journal_give(struct journal *j, struct journal_message *m);
/* Everything given to this file so far is in the database: forget it. */
void journal_reset(struct journal *j, int file);
/* After all that was given is written; joins the thread. NULL is fine. */
void journal_free(struct journal *j);

#endif
