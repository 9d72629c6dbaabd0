/* SPDX-License-Identifier: Apache-2.0 */
/* A disk with errors for one process: LD_PRELOAD it, with the path of a file of 16 bytes in
 * DISK_ERRORS_FILE: what fails (bits below), the errno, and a count of failures that comes back; or
 * what is held: a sync (HOLDS), or a write and a sync (STOPS), is not begun until that is over.
 * While it stops, the errno's place has how many syncs still pass, and what is written before each.
 * It touches files whose path contains DISK_ERRORS_PATH. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { READS = 1, WRITES = 2, SYNCS = 4, HOLDS = 8, STOPS = 16 };

struct control {
    _Atomic int32_t what, error;
    _Atomic int64_t failures;
};

static struct control *control;
static const char *part;

__attribute__((constructor)) static void map_control(void)
{
    const char *path = getenv("DISK_ERRORS_FILE");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at = fd < 0 ? MAP_FAILED
                      : mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    part = getenv("DISK_ERRORS_PATH");
    if (at == MAP_FAILED || !part)
        abort();
    close(fd);
    control = at;
}

static int touches(int fd, int what)
{
    char link[64], path[4096];
    if (!control || !(atomic_load(&control->what) & what))
        return 0;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    if (n < 0)
        return 0;
    path[n] = '\0';
    return strstr(path, part) != NULL;
}

static int fails(int fd, int what)
{
    if (!touches(fd, what))
        return 0;
    atomic_fetch_add(&control->failures, 1);
    errno = atomic_load(&control->error);
    return 1;
}

static void stop_before_write(int fd)
{
    while (touches(fd, STOPS) && atomic_load(&control->error) <= 0) {
        atomic_fetch_add(&control->failures, 1);
        usleep(5000);
    }
}

static void stop_before_sync(int fd)
{
    while (touches(fd, STOPS)) {
        int32_t passes = atomic_load(&control->error);
        if (passes > 0 && atomic_compare_exchange_strong(&control->error, &passes, passes - 1))
            return;
        atomic_fetch_add(&control->failures, 1);
        usleep(5000);
    }
    while (fails(fd, HOLDS))
        usleep(5000);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    return fails(fd, READS) ? -1 : syscall(SYS_pread64, fd, to, n, at);
}

ssize_t pread64(int fd, void *to, size_t n, off_t at)
{
    return pread(fd, to, n, at);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    stop_before_write(fd);
    return fails(fd, WRITES) ? -1 : syscall(SYS_pwrite64, fd, p, n, at);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off_t at)
{
    return pwrite(fd, p, n, at);
}

ssize_t write(int fd, const void *p, size_t n)
{
    stop_before_write(fd);
    return fails(fd, WRITES) ? -1 : syscall(SYS_write, fd, p, n);
}

ssize_t writev(int fd, const struct iovec *p, int n)
{
    stop_before_write(fd);
    return fails(fd, WRITES) ? -1 : syscall(SYS_writev, fd, p, n);
}

int fsync(int fd)
{
    stop_before_sync(fd);
    return fails(fd, SYNCS) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    stop_before_sync(fd);
    return fails(fd, SYNCS) ? -1 : (int)syscall(SYS_fdatasync, fd);
}
