/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h - what other servers on the same database commit, as they commit it: the ends of their
 * runs, read from peal_delta each 200 ms by a thread and a connection of its own. The figures count
 * them, and whoever looks on is told. */
#ifndef PEAL_SERVER_FOLLOW_H
#define PEAL_SERVER_FOLLOW_H

#include "ledger/figures.h"
#include "model/cause.h"
#include "store/store.h"

struct follow;

struct follow_end { /* a run that another server has ended */
    struct run_end end;
    int64_t ended_ms;
    /* Of one that has failed, as far as its row was read, else empty; texts are lent. */
    struct failure failure;
};

/* On the thread of the follower; does not block. no: the commit's number. */
typedef void follow_fn(void *arg, int64_t node, int64_t no, const struct follow_end *ends,
                       size_t n);

/* Takes the reader. node: this server's own number. */
struct follow *follow_new(struct store *reader, int64_t node, struct figures *figures);
/* Whom to tell; NULL: nobody any more, and nobody is being told when it returns. Any thread. */
void follow_on(struct follow *f, follow_fn *fn, void *arg);
void follow_free(struct follow *f); /* NULL is fine, here and above */

#endif
