/* SPDX-License-Identifier: Apache-2.0 */
/* inbox.h - results that came to other servers for runs of this one, read from peal_inbox.
 *
 * They are read on the node's thread, by the connection that looks at the other nodes: a batch that
 * takes long does not hold them up, and one statement by key, which finds nothing as a rule, does
 * not hold up the beat. The scheduler's thread takes what was read. Ids are not committed in their
 * order, so what is read again each time are the ids of the last seconds; and all that are there
 * every 10 s, and when runs have been taken over. A row that is read twice does nothing the second
 * time. It is read each 200 ms, and each 20 ms while results come. */
#ifndef PEAL_SERVER_INBOX_H
#define PEAL_SERVER_INBOX_H

#include "store/store.h"

struct inbox {                   /* all zero at first; belongs to one thread */
    int64_t seen_id;             /* the greatest that was read */
    int64_t mid_id, before_id;   /* the same, up to a second ago, and a second before that */
    int64_t second_ms, whole_ms; /* boot: when these are moved on, and when all is read */
    int64_t next_ms, busy_ms;    /* boot: the next read; until when there is one soon */
};

struct inbox_rows { /* texts are owned */
    struct inbox_row *items;
    int n;
};

/* Read what has come, behind what rows holds. boot_ms: now. Rows that were read before an error
 * stay. */
MUST_CHECK enum err inbox_read(struct inbox *in, struct store *store, int64_t boot_ms,
                               struct inbox_rows *rows, struct why *why);
void inbox_from_start(struct inbox *in); /* the next read looks at all that is there */
/* Nothing was read now, because what was read last has not been taken yet. */
void inbox_later(struct inbox *in, int64_t boot_ms);
void inbox_now(struct inbox *in);           /* the next read is due */
int64_t inbox_next(const struct inbox *in); /* boot: when to read */
void inbox_rows_done(struct inbox_rows *rows);

#endif
