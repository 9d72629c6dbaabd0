/* SPDX-License-Identifier: Apache-2.0 */
/* node_lock.h - what a data folder remembers of its server on a database that others can open:
 * node.lock, which one process at a time has. */
#ifndef PEAL_SERVER_NODE_LOCK_H
#define PEAL_SERVER_NODE_LOCK_H

#include <stdint.h>
#include "base/err.h"
#include "base/why.h"

struct node_lock {
    int fd;        /* -1: not open */
    char key[65];  /* of the database's URL; what the file says of another one does not count */
    int64_t epoch; /* of the last process with this folder on this database; 0: none is known */
    int64_t lost;  /* commits, as that process has found */
};

/* Take the lock and read what stands there. db: a URL. ERR_BUSY: another process has it; ERR_IO.
 * *ret is to be closed in any case. */
MUST_CHECK enum err node_lock_open(const char *data, const char *db, struct node_lock *ret,
                                   struct why *why);
/* For the next process of the folder. What cannot be written is said in the log. */
void node_lock_write(const struct node_lock *l, int64_t epoch, int64_t lost);
void node_lock_close(struct node_lock *l);

#endif
