/* SPDX-License-Identifier: Apache-2.0 */
/* rivals.h - lives that a new one cannot be beside, and whether they are alive. Private to
 * src/store.
 *
 * A rival is a life that has not ended. For a server that has its database alone, each is one.
 * Where servers share it, one is a rival that has the same name, that has the database alone, or
 * whose release cannot run beside this one (release.h). */
#ifndef PEAL_STORE_SQL_RIVALS_H
#define PEAL_STORE_SQL_RIVALS_H

#include "store/sql/sql.h"

struct sql_life { /* the newest of some lives; epoch 0: there is none */
    int64_t epoch, batch, beat;
    int64_t count;                /* of rivals: how many there are; batch and beat are sums */
    int64_t protocol, oldest;     /* of its release */
    bool shared;                  /* it has the database with others */
    char name[129], address[256]; /* empty: unknown */
    char version[33];             /* the same */
};

/* The rivals of a server of that name. */
MUST_CHECK enum err sql_rivals_read(struct sql *s, const char *name, struct sql_life *ret,
                                    struct why *why);
/* Before join: is a rival alive? Looks for 3 s whether its beat or its number of commits moves
 * (model/life.h: time in which the database did not answer does not count): ERR_BUSY names it, and
 * says what to do. Nothing to wait for after a clean stop, or where the caller knows that it has
 * ended (options.gone_epoch). */
MUST_CHECK enum err sql_epoch_watch(struct sql *s, const char *name, int64_t gone_epoch,
                                    struct why *why);
/* In join, where the newest life is locked and this one has its node and epoch: rivals end, and
 * this life is their heir. */
MUST_CHECK enum err sql_rivals_end(struct sql *s, struct why *why);
/* Before a migration behind number n that only protocols from oldest on may use the tables after:
 * no server may live, whatever its name. From here on older releases leave the database alone, also
 * if the migration fails. */
MUST_CHECK enum err sql_rivals_leave(struct sql *s, int64_t n, int64_t oldest, struct why *why);
/* In join: no release that this one is too old for has come meanwhile, and none comes before the
 * transaction ends. */
MUST_CHECK enum err sql_rivals_allow(struct sql *s, struct why *why);

#endif
