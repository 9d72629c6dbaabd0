/* SPDX-License-Identifier: Apache-2.0 */
/* What one process does to the files of a folder, written down in the order in which it does it:
 * LD_PRELOAD it. From this tests/support/power.py works out what a disk may hold when the power
 * goes: what was synced, and any part of the rest.
 *
 * POWER_TRACE: the file that is written. POWER_ROOT: the folder, without links in its path.
 * POWER_BOOT: what is read in place of the boot id. POWER_SYNC_US: a sync takes up to so long;
 * POWER_SLOW_US: that of a file whose name contains POWER_SLOW. It does nothing else: the files of
 * the process are not those that it finds after the cut.
 *
 * Bytes may be written at every instant and one process writes them all, so a kill between a call
 * and its record takes the call back, which is what a power cut may do. A sync has two records:
 * what is written while it goes on is not covered by it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FDS 65536
#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define PUBLIC __attribute__((visibility("default")))

enum kind { OPENED = 1, WRITTEN, TRUNCATED, SYNCING, SYNCED, RENAMED, UNLINKED, LINKED };

struct record {
    uint32_t kind, a, b, created; /* a, b: bytes that follow */
    uint64_t file;
    int64_t at;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char ours[FDS]; /* descriptors of files below root; 2: slow ones */
static char root[4096];
static size_t root_n;
static const char *boot, *slow;
static unsigned sync_us, slow_us, dice = 1;
static int trace = -1;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("POWER_TRACE"), *folder = getenv("POWER_ROOT"),
               *us = getenv("POWER_SYNC_US"), *more_us = getenv("POWER_SLOW_US");
    if (!path || !folder)
        return;
    root_n = (size_t)snprintf(root, sizeof(root), "%s", folder);
    boot = getenv("POWER_BOOT");
    slow = getenv("POWER_SLOW");
    sync_us = us ? (unsigned)atoi(us) : 0;
    slow_us = more_us ? (unsigned)atoi(more_us) : sync_us;
    dice = (unsigned)getpid();
    trace =
        (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (trace < 0 || root_n >= sizeof(root))
        abort();
    unsetenv("LD_PRELOAD"); /* programs that it starts are not part of the machine */
}

static void put(struct record r, const void *a, size_t na, const void *b, size_t nb)
{
    int before = errno;
    r.a = (uint32_t)na;
    r.b = (uint32_t)nb;
    struct iovec parts[] = { { &r, sizeof(r) }, { (void *)a, na }, { (void *)b, nb } };
    if (syscall(SYS_writev, trace, parts, 3) != (long)(sizeof(r) + na + nb))
        abort(); /* no room: what follows would be worth nothing */
    errno = before;
}

static int below(const char *path)
{
    return trace >= 0 && strncmp(path, root, root_n) == 0 &&
           (path[root_n] == '/' || path[root_n] == '\0');
}

static int is_ours(int fd)
{
    return fd >= 0 && fd < FDS && ours[fd];
}

static uint64_t file_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) ? 0 : (uint64_t)st.st_ino;
}

static int path_of(int fd, char *to, size_t n)
{
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t got = readlink(link, to, n - 1);
    to[got < 0 ? 0 : got] = '\0';
    return got > 0;
}

/* A name as the trace has it: whole. */
static const char *whole(int dir, const char *path, char *to, size_t n)
{
    if (path[0] == '/')
        return path;
    char folder[4096];
    if (dir == AT_FDCWD ? !getcwd(folder, sizeof(folder)) : !path_of(dir, folder, sizeof(folder)))
        return path;
    snprintf(to, n, "%s/%s", folder, path);
    return to;
}

static int do_open(int dir, const char *path, int flags, mode_t mode)
{
    char full[8192];
    if (trace < 0)
        return (int)syscall(SYS_openat, dir, path, flags, mode);
    if (boot && strcmp(path, BOOT_ID) == 0)
        return (int)syscall(SYS_openat, dir, boot, flags, mode);
    const char *name = whole(dir, path, full, sizeof(full));
    if (!below(name))
        return (int)syscall(SYS_openat, dir, path, flags, mode);
    pthread_mutex_lock(&lock);
    int there = faccessat(dir, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    int fd = (int)syscall(SYS_openat, dir, path, flags, mode);
    if (fd >= 0 && fd < FDS) {
        ours[fd] = slow && strstr(name, slow) ? 2 : 1;
        put((struct record){ .kind = OPENED, .created = !there, .file = file_of(fd) }, name,
            strlen(name), NULL, 0);
        if (there && flags & O_TRUNC)
            put((struct record){ .kind = TRUNCATED, .file = file_of(fd) }, NULL, 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

#define MODE(flags)                                                                                \
    mode_t mode = 0;                                                                               \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                       \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode = va_arg(more, mode_t);                                                               \
        va_end(more);                                                                              \
    }

PUBLIC int open(const char *path, int flags, ...)
{
    MODE(flags)
    return do_open(AT_FDCWD, path, flags, mode);
}

PUBLIC int open64(const char *path, int flags, ...)
{
    MODE(flags)
    return do_open(AT_FDCWD, path, flags, mode);
}

PUBLIC int openat(int dir, const char *path, int flags, ...)
{
    MODE(flags)
    return do_open(dir, path, flags, mode);
}

PUBLIC int openat64(int dir, const char *path, int flags, ...)
{
    MODE(flags)
    return do_open(dir, path, flags, mode);
}

PUBLIC int __open_2(const char *path, int flags)
{
    return do_open(AT_FDCWD, path, flags, 0);
}

PUBLIC int __open64_2(const char *path, int flags)
{
    return do_open(AT_FDCWD, path, flags, 0);
}

PUBLIC int __openat_2(int dir, const char *path, int flags)
{
    return do_open(dir, path, flags, 0);
}

PUBLIC int __openat64_2(int dir, const char *path, int flags)
{
    return do_open(dir, path, flags, 0);
}

PUBLIC int close(int fd)
{
    if (fd >= 0 && fd < FDS)
        ours[fd] = 0;
    return (int)syscall(SYS_close, fd);
}

static void written(int fd, const void *p, ssize_t n, off_t at)
{
    if (n > 0)
        put((struct record){ .kind = WRITTEN, .file = file_of(fd), .at = at }, p, (size_t)n, NULL,
            0);
}

PUBLIC ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    if (!is_ours(fd))
        return syscall(SYS_pwrite64, fd, p, n, at);
    pthread_mutex_lock(&lock);
    ssize_t did = syscall(SYS_pwrite64, fd, p, n, at);
    written(fd, p, did, at);
    pthread_mutex_unlock(&lock);
    return did;
}

PUBLIC ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
    return pwrite(fd, p, n, at);
}

PUBLIC ssize_t write(int fd, const void *p, size_t n)
{
    if (!is_ours(fd))
        return syscall(SYS_write, fd, p, n);
    pthread_mutex_lock(&lock);
    ssize_t did = syscall(SYS_write, fd, p, n);
    written(fd, p, did, did > 0 ? lseek(fd, 0, SEEK_CUR) - did : 0);
    pthread_mutex_unlock(&lock);
    return did;
}

PUBLIC ssize_t writev(int fd, const struct iovec *parts, int n)
{
    if (!is_ours(fd))
        return syscall(SYS_writev, fd, parts, n);
    ssize_t sum = 0; /* fewer bytes than asked for are allowed */
    for (int i = 0; i < n; i++) {
        ssize_t did = write(fd, parts[i].iov_base, parts[i].iov_len);
        if (did < 0)
            return sum ? sum : -1;
        sum += did;
        if ((size_t)did < parts[i].iov_len)
            break;
    }
    return sum;
}

PUBLIC int ftruncate(int fd, off_t size)
{
    if (!is_ours(fd))
        return (int)syscall(SYS_ftruncate, fd, size);
    pthread_mutex_lock(&lock);
    int rc = (int)syscall(SYS_ftruncate, fd, size);
    if (!rc)
        put((struct record){ .kind = TRUNCATED, .file = file_of(fd), .at = size }, NULL, 0, NULL,
            0);
    pthread_mutex_unlock(&lock);
    return rc;
}

PUBLIC int ftruncate64(int fd, off64_t size)
{
    return ftruncate(fd, size);
}

PUBLIC int posix_fallocate(int fd, off_t at, off_t n)
{
    if (!is_ours(fd))
        return syscall(SYS_fallocate, fd, 0, at, n) ? errno : 0;
    struct stat st;
    pthread_mutex_lock(&lock);
    int rc = fstat(fd, &st) || syscall(SYS_fallocate, fd, 0, at, n) ? errno : 0;
    if (!rc && at + n > st.st_size)
        put((struct record){ .kind = TRUNCATED, .file = (uint64_t)st.st_ino, .at = at + n }, NULL,
            0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return rc;
}

PUBLIC int posix_fallocate64(int fd, off64_t at, off64_t n)
{
    return posix_fallocate(fd, at, n);
}

static int do_sync(int fd, long call)
{
    if (!is_ours(fd))
        return (int)syscall(call, fd);
    pthread_mutex_lock(&lock);
    uint64_t file = file_of(fd);
    put((struct record){ .kind = SYNCING, .file = file, .at = fd }, NULL, 0, NULL, 0);
    unsigned most = ours[fd] == 2 ? slow_us : sync_us,
             us = most ? (unsigned)rand_r(&dice) % most : 0;
    pthread_mutex_unlock(&lock);
    usleep(us);
    pthread_mutex_lock(&lock);
    put((struct record){ .kind = SYNCED, .file = file, .at = fd }, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return 0;
}

PUBLIC int fsync(int fd)
{
    return do_sync(fd, SYS_fsync);
}

PUBLIC int fdatasync(int fd)
{
    return do_sync(fd, SYS_fdatasync);
}

static int do_rename(int from_dir, const char *from, int to_dir, const char *to, unsigned flags,
                     enum kind kind)
{
    char a[8192], b[8192];
    const char *old = whole(from_dir, from, a, sizeof(a)), *new = whole(to_dir, to, b, sizeof(b));
    pthread_mutex_lock(&lock);
    int rc = (int)(kind == LINKED ? syscall(SYS_linkat, from_dir, from, to_dir, to, flags)
                                  : syscall(SYS_renameat2, from_dir, from, to_dir, to, flags));
    if (!rc && below(old))
        put((struct record){ .kind = kind }, old, strlen(old), new, strlen(new));
    pthread_mutex_unlock(&lock);
    return rc;
}

PUBLIC int rename(const char *from, const char *to)
{
    return do_rename(AT_FDCWD, from, AT_FDCWD, to, 0, RENAMED);
}

PUBLIC int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    return do_rename(from_dir, from, to_dir, to, flags, RENAMED);
}

PUBLIC int link(const char *from, const char *to)
{
    return do_rename(AT_FDCWD, from, AT_FDCWD, to, 0, LINKED);
}

static int do_unlink(int dir, const char *path, int flags)
{
    char full[8192];
    const char *name = whole(dir, path, full, sizeof(full));
    pthread_mutex_lock(&lock);
    int rc = (int)syscall(SYS_unlinkat, dir, path, flags);
    if (!rc && below(name))
        put((struct record){ .kind = UNLINKED }, name, strlen(name), NULL, 0);
    pthread_mutex_unlock(&lock);
    return rc;
}

PUBLIC int unlink(const char *path)
{
    return do_unlink(AT_FDCWD, path, 0);
}

PUBLIC int unlinkat(int dir, const char *path, int flags)
{
    return do_unlink(dir, path, flags);
}
