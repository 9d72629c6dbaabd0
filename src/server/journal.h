/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h - the thread that keeps results in a file while the database does not take them.
 *
 * The scheduler's loop posts results and is told when they are durable; it never waits for the
 * disk. What has gathered meanwhile is written together and made durable once (group commit). The
 * file and its format: journal_file.h; when it is used: results.c. */
#ifndef PEAL_SERVER_JOURNAL_H
#define PEAL_SERVER_JOURNAL_H

#include "base/mailbox.h"
#include "server/journal_file.h"
#include "server/metrics.h"

struct journal; /* opaque */

struct journal_mail { /* the results of one request */
    struct letter letter;
    struct buf records; /* filled with journal_record */
    unsigned n;         /* how many */
    void *owner;        /* the poster's; may be changed while the journal has the mail */
    enum err err;       /* when it comes back: OK, they are durable */
};

struct journal_mail *journal_mail_new(void);
void journal_mail_free(struct journal_mail *m);

/* Takes the file. Mails come back to the mailbox done with this kind. */
struct journal *journal_new(struct journal_file *file, struct mailbox *done, int done_kind,
                            struct metrics *metrics);
/* The mail belongs to the journal until it comes back. */
void journal_give(struct journal *j, struct journal_mail *m);
/* Everything given so far is in the database: forget it. */
void journal_reset(struct journal *j);
/* After all that was given is written; joins the thread. NULL is fine. */
void journal_free(struct journal *j);

#endif
