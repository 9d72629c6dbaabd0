/* SPDX-License-Identifier: Apache-2.0 */
/* The file is filled completely before it is mapped, because a store into a hole of a full tmpfs is
 * a SIGBUS. It is read and judged before the new one is made. */
#include "server/flight_file.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/secret.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define BOOT_SIZE 40
#define BYTES flight_bytes(FLIGHT_SLOTS)
#define OLD_S (7 * 24 * 3600)
#define ALIVE_MS (3600 * 1000)

struct flight_file {
    char *dir;            /* NULL: there shall be no recorder */
    char name[2][64];     /* within dir */
    char boot[BOOT_SIZE]; /* "" if the kernel does not say */
    int own;              /* which name this life writes */
    struct flight_head *head;
    int fd;           /* of head, for its lock; -1: none */
    int64_t alive_ms; /* boot: when its time was last set */
};

/* ---- names ---------------------------------------------------------------------------------- */

/* $RUNTIME_DIRECTORY may hold several, separated by colons: systemd made the first for the first
 * RuntimeDirectory= of the unit. */
static char *default_dir(void)
{
    const char *made = getenv("RUNTIME_DIRECTORY");
    if (made && made[0] == '/')
        return mem_dupn(made, strcspn(made, ":"));
    return mem_dup("/dev/shm");
}

/* From path and inode: a database that was copied or moved finds no file that is not its own. Not
 * from the device: container file systems number it anew with each mount. */
static void key_of(const char *db, char key[17])
{
    const char *file = strncmp(db, "sqlite:", 7) == 0 ? db + 7 : db;
    char path[PATH_MAX], text[PATH_MAX + 64], hex[65];
    struct stat st = { 0 };
    unsigned char digest[32];
    if (!realpath(file, path) || stat(path, &st))
        snprintf(path, sizeof(path), "%s", file);
    int n = snprintf(text, sizeof(text), "%s %llx", path, (unsigned long long)st.st_ino);
    sha256(text, (size_t)n, digest);
    hex_text(digest, sizeof(digest), hex);
    text_copy(key, 17, slice_of(hex, 16));
}

static void boot_read(char boot[BOOT_SIZE])
{
    int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
    char text[BOOT_SIZE];
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    text_copy(boot, BOOT_SIZE, slice_trim(slice_of(text, n > 0 ? (size_t)n : 0)));
}

struct flight_file *flight_file_new(const char *dir, const char *db)
{
    struct flight_file *f = mem_new(sizeof(*f));
    char key[17];
    f->fd = -1;
    if (!dir)
        f->dir = default_dir();
    else if (dir[0] && strcmp(dir, "none") != 0)
        f->dir = mem_dup(dir);
    key_of(db, key);
    for (int i = 0; i < 2; i++)
        snprintf(f->name[i], sizeof(f->name[i]), "peal-%lu-%s.%c", (unsigned long)geteuid(), key,
                 'a' + i);
    boot_read(f->boot);
    return f;
}

static int folder_open(const struct flight_file *f, struct why *why)
{
    struct statfs fs;
    int dir = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) {
        why_set(why, "cannot open %s: %s", f->dir, strerror(errno));
        return -1;
    }
    if (fstatfs(dir, &fs) == 0 && fs.f_type == TMPFS_MAGIC)
        return dir;
    why_set(why, "%s is not on tmpfs", f->dir);
    close(dir);
    return -1;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The whole file in memory of its own, so that no other process can change it meanwhile; NULL if it
 * is not one that this program makes. Freed by the caller. */
static struct flight_head *file_load(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (fd < 0)
        return NULL;
    struct flight_head *h = NULL;
    bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                (st.st_mode & 077) == 0 && st.st_size == (off_t)BYTES;
    if (ours)
        h = mem_new(BYTES);
    bool whole = h && file_read(fd, 0, h, BYTES) == BYTES;
    close(fd);
    if (whole)
        return h;
    free(h);
    return NULL;
}

bool flight_file_read(struct flight_file *f, const struct watermark *watermark,
                      struct flight_said *ret, struct why *why)
{
    struct flight_head *named = NULL;
    struct why none = { "" };
    int dir = f->dir ? folder_open(f, &none) : -1;
    for (int i = 0; dir >= 0 && i < 2 && !named && watermark->recorder[0]; i++) {
        struct flight_head *h = file_load(dir, f->name[i]);
        if (h && strnlen(h->id, sizeof(h->id)) < sizeof(h->id) &&
            strcmp(h->id, watermark->recorder) == 0) {
            named = h;
            f->own = 1 - i;
        } else {
            free(h);
        }
    }
    if (dir >= 0)
        close(dir);
    bool believed = flight_read(named, named ? BYTES : 0, watermark, f->boot, ret, why);
    free(named);
    return believed;
}

/* ---- writing -------------------------------------------------------------------------------- */

static enum err file_fill(int fd, struct flight_head **ret, struct why *why)
{
    int rc = posix_fallocate(fd, 0, (off_t)BYTES);
    if (rc) {
        why_set(why, "no room for %zu KiB: %s", BYTES / 1024, strerror(rc));
        return ERR_FULL;
    }
    void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (p == MAP_FAILED) {
        why_set(why, "cannot map it: %s", strerror(errno));
        return ERR_IO;
    }
    if (madvise(p, BYTES, MADV_DONTFORK)) { /* a child that kept it could write after our death */
        why_set(why, "cannot keep it from children: %s", strerror(errno));
        munmap(p, BYTES);
        return ERR_IO;
    }
    int locked =
        mlock(p, BYTES); /* not allowed: it may be swapped out, slower and right all the same */
    (void)locked;
    *ret = p;
    return OK;
}

static struct flight_head *file_make(struct flight_file *f, int dir, struct why *why)
{
    const char *name = f->name[f->own];
    if (unlinkat(dir, name, 0) && errno != ENOENT) {
        why_set(why, "cannot remove the old %s/%s: %s", f->dir, name, strerror(errno));
        return NULL;
    }
    int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        why_set(why, "cannot make %s/%s: %s", f->dir, name, strerror(errno));
        return NULL;
    }
    struct flight_head *h = NULL;
    if (file_fill(fd, &h, why)) {
        close(fd);
        unlinkat(dir, name, 0);
        return NULL;
    }
    (void)!file_lock(fd); /* without it another's sweep takes it in a week */
    f->fd = fd;
    char id[RECORDER_ID_SIZE];
    unsigned char random[(RECORDER_ID_SIZE - 1) / 2];
    secret_random(random, sizeof(random));
    hex_text(random, sizeof(random), id);
    flight_make(h, FLIGHT_SLOTS, f->boot, id);
    return h;
}

struct flight_head *flight_file_make(struct flight_file *f, struct why *why)
{
    if (!f->dir) {
        why_set(why, "the setting is none");
        return NULL;
    }
    if (!f->boot[0]) {
        why_set(why, "the kernel does not tell its boot id (%s)", BOOT_ID);
        return NULL;
    }
    int dir = folder_open(f, why);
    if (dir < 0)
        return NULL;
    f->head = file_make(f, dir, why);
    close(dir);
    return f->head;
}

void flight_file_alive(struct flight_file *f, int64_t boot_ms)
{
    if (f->fd < 0 || boot_ms < f->alive_ms + ALIVE_MS)
        return;
    f->alive_ms = boot_ms;
    futimens(f->fd, NULL); /* stores through the map do not do that on tmpfs */
}

/* ---- removing -------------------------------------------------------------------------------- */

/* Some database's recorder of this user, by its name; not one of ours. */
static bool is_others(const struct flight_file *f, const char *name)
{
    size_t key = strrchr(f->name[0], '-') + 1 - f->name[0], n = strlen(f->name[0]);
    return strlen(name) == n && memcmp(name, f->name[0], key) == 0 &&
           strspn(name + key, "0123456789abcdef") == n - key - 2 && name[n - 2] == '.' &&
           (name[n - 1] == 'a' || name[n - 1] == 'b') && memcmp(name, f->name[0], n - 1) != 0;
}

static bool is_old(int fd, const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() && (st->st_mode & 077) == 0 &&
           st->st_size == (off_t)BYTES && time(NULL) - st->st_mtime > OLD_S && !file_lock(fd);
}

static bool remove_old(int dir, const char *name)
{
    struct stat st, named;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool gone = fstat(fd, &st) == 0 && is_old(fd, &st) &&
                fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_ino == st.st_ino &&
                unlinkat(dir, name, 0) == 0;
    close(fd);
    return gone;
}

int flight_file_sweep(const struct flight_file *f)
{
    struct why why = { "" };
    int fd = f->head ? folder_open(f, &why) : -1, n = 0;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    for (struct dirent *e; (e = readdir(dir));)
        n += is_others(f, e->d_name) && remove_old(fd, e->d_name);
    closedir(dir);
    return n;
}

static void file_remove(const struct flight_file *f, int i)
{
    struct why why = { "" };
    int dir = f->dir ? folder_open(f, &why) : -1;
    if (dir < 0)
        return;
    unlinkat(dir, f->name[i], 0); /* one that stays is not believed: its id is not named any more */
    close(dir);
}

void flight_file_settle(struct flight_file *f)
{
    file_remove(f, 1 - f->own);
}

void flight_file_free(struct flight_file *f, bool clean)
{
    if (!f)
        return;
    if (f->head) {
        munmap(f->head, BYTES);
        if (clean)
            file_remove(f, f->own);
    }
    if (f->fd >= 0)
        close(f->fd);
    free(f->dir);
    free(f);
}
