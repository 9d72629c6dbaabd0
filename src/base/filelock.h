/* SPDX-License-Identifier: Apache-2.0 */
/* filelock.h - a lock by the name of a file: one holder on the machine, within a process too.
 *
 * A record lock (fcntl): the kernel takes it back however the process ends, and unlike flock it is
 * not handed on by fork, so that a child which outlives its parent does not keep it. Such a lock
 * knows only processes; the table of what this process holds is kept here. Any thread. */
#ifndef PEAL_BASE_FILELOCK_H
#define PEAL_BASE_FILELOCK_H

#include "base/err.h"
#include <stdint.h>

struct filelock; /* opaque */

/* Make the file if it is missing (0600) and take the lock. ERR_BUSY: *ret_holder is the process
 * that has it. ERR_READONLY, ERR_FULL, ERR_IO: errno says why the file cannot be had. */
MUST_CHECK enum err filelock_take(const char *path, struct filelock **ret, int64_t *ret_holder);
void filelock_free(struct filelock *l); /* gives it back; the file stays. NULL is fine */

#endif
