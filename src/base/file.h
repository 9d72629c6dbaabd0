/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - all bytes of a read or write, a name that survives a power cut, a lock. Any thread.
 *
 * Which lock: file_lock for a file that is open anyway, in a process that makes no children that
 * could outlive it; filelock.h by a file's name, whatever children the process has. */
#ifndef PEAL_BASE_FILE_H
#define PEAL_BASE_FILE_H

#include "base/err.h"
#include "base/str.h"

/* Write all of it where the descriptor stands, whatever interrupts. False: errno says why, ENOSPC
 * if the system does not; a part may be written. */
MUST_CHECK bool file_write(int fd, struct slice s);
/* Read n bytes from that place on, whatever interrupts. Bytes read: fewer at the end of the file
 * (errno 0) or when the disk fails (errno says why). */
MUST_CHECK size_t file_read(int fd, int64_t at, void *to, size_t n);
/* The folder of path on disk: a name that was made, renamed or removed in it stays so. False: errno
 * says why. */
MUST_CHECK bool file_sync_folder(const char *path);
/* Take the whole file without waiting. ERR_BUSY: another opening of it has the lock. ERR_IO: errno
 * says why. The lock goes when the last copy of the descriptor is closed. */
MUST_CHECK enum err file_lock(int fd);

#endif
