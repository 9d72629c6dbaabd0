/* SPDX-License-Identifier: Apache-2.0 */
/* news.h - edits of jobs that other servers have made, read from peal_change.
 *
 * They are read as the inbox is: on the node's thread, each 200 ms what is new. Ids are not
 * committed in their order, so the ids of the last seconds are read again, and each 10 s all that
 * is there. What is read twice does nothing the second time. */
#ifndef PEAL_SERVER_NEWS_H
#define PEAL_SERVER_NEWS_H

#include "store/store.h"

struct news {                    /* all zero at first; belongs to one thread */
    int64_t seen_id;             /* the greatest that was read */
    int64_t mid_id, before_id;   /* the same, up to a second ago, and a second before that */
    int64_t second_ms, whole_ms; /* boot: when these are moved on, and when all is read */
    int64_t next_ms;             /* boot: the next read */
};

struct news_rows {
    struct job_news *items;
    int n;
};

/* Read what has come, behind what rows holds. boot_ms: now. Rows that were read before an error
 * stay. */
MUST_CHECK enum err news_read(struct news *in, struct store *store, int64_t boot_ms,
                              struct news_rows *rows, struct why *why);
/* Nothing was read now, because what was read last has not been taken yet. */
void news_later(struct news *in, int64_t boot_ms);
void news_now(struct news *in); /* the next read is due */
void news_rows_done(struct news_rows *rows);

#endif
