/* SPDX-License-Identifier: Apache-2.0 */
/* A system call may do less than it was asked for, or be interrupted before it did anything: each
 * loop goes on until all is done or the system says no. */
#include "base/file.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

bool file_write(int fd, struct slice s)
{
    while (s.n) {
        ssize_t n = write(fd, s.p, s.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return false;
        s = slice_of(s.p + n, s.n - (size_t)n);
    }
    return true;
}

size_t file_read(int fd, int64_t at, void *to, size_t n)
{
    size_t done = 0;
    errno = 0;
    while (done < n) {
        ssize_t got = pread(fd, (char *)to + done, n - done, at + (int64_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = 0;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

bool file_sync_folder(const char *path)
{
    char *copy = mem_dup(path); /* dirname writes into it */
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    bool ok = fd >= 0 && fsync(fd) == 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return ok;
}

enum err file_lock(int fd)
{
    int rc;
    while ((rc = flock(fd, LOCK_EX | LOCK_NB)) && errno == EINTR)
        ;
    if (!rc)
        return OK;
    return errno == EWOULDBLOCK ? ERR_BUSY : ERR_IO;
}
