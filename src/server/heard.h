/* SPDX-License-Identifier: Apache-2.0 */
/* heard.h - what others on the same database do to groups, access tokens and registrations: the
 * other servers of a cluster, and XXL-JOB's Java admins, which end runs as well. Read on the
 * maintenance thread, told to the scheduler.
 *
 * Every look reads all rows of groups, tokens and the registry. The other servers count the
 * transactions in which they change any of these, so a look comes when that number has moved;
 * Java admins count nothing and are looked at every few seconds. */
#ifndef PEAL_SERVER_HEARD_H
#define PEAL_SERVER_HEARD_H

#include "base/mailbox.h"
#include "server/node.h"
#include "store/store.h"

struct center;
struct heard;

/* ---- news ---------------------------------------------------------------------------------- */

struct heard_moved { /* came with the next token of its group */
    int64_t group_id;
    char *address;
};

struct heard_ended { /* a run, by its executor's word to a Java admin */
    int64_t log_id;
    int code;
    char *msg;
};

struct heard_news {
    struct message message;
    uint64_t seq;                /* of the last batch that was done */
    int64_t *ids;                /* of all groups, ascending */
    struct group_record *groups; /* those that say something else than before */
    struct group_token *tokens;  /* of all groups, by group; so are those that have moved */
    struct heard_moved *moved;
    struct registry_record *rows;
    struct heard_ended *ended;
    size_t nids, ngroups, ntokens, nmoved, nrows, nended;
};

/* One more at the end of the list; it doubles at powers of two. */
#define HEARD_ADD(list, n, value)                                                                  \
    do {                                                                                           \
        if (((n) & ((n)-1)) == 0)                                                                  \
            (list) = mem_resize((list), ((n) ? (n)*2 : 1) * sizeof(*(list)));                      \
        (list)[(n)++] = (value);                                                                   \
    } while (0)

/* The token of that group; NULL: it has none of its own. */
const struct group_token *heard_token(const struct heard_news *news, int64_t group_id);
void heard_drop(struct message *m); /* frees a message */

/* ---- life ---------------------------------------------------------------------------------- */

/* What is heard goes to tell, as messages of that kind. NULL: node has the database alone (or is
 * NULL) and no Java admin schedules on it. java: one does. */
struct heard *heard_new(struct node *node, bool java, struct mailbox *tell, int kind);
void heard_free(struct heard *h); /* NULL is fine, here and below */

/* ---- the maintenance thread ---------------------------------------------------------------- */

bool heard_due(struct heard *h); /* is there something to look at? */
/* An error is logged, and a later look tries again. */
void heard_look(struct heard *h, struct store *reader);

/* ---- the scheduler's thread ---------------------------------------------------------------- */

/* A batch is done: a look that begins now sees what it has written. */
void heard_committed(struct heard *h, uint64_t seq);
/* This server has changed the group, its token or its executors: what a look has found of it may
 * be older, and is told again. */
void heard_again(struct heard *h, int64_t group_id);
/* Groups of which the news were not taken. */
void heard_untold(struct heard *h, const struct heard_news *news);
void heard_take(struct center *c, struct message *m); /* what it says; frees it: heard_take.c */

#endif
