/* SPDX-License-Identifier: Apache-2.0 */
/* Two header slots are written in turn, and each record's checksum begins with the salt of its
 * generation, so that a torn write is told from an older record. */
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"
#include "server/journal/journal_format.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

struct journal_file {
    int fd;
    char *path;
    size_t size; /* bytes of room, headers included */
    uint64_t generation, salt;
    struct journal_owner owner;
    uint64_t next, next_kept; /* number of the next record; and as of the last sync */
    size_t end, end_kept;
    unsigned records, records_kept;
    bool both;   /* both slots hold this generation's header */
    bool odd;    /* a slot held neither a header nor nothing when it was opened */
    bool unsure; /* a reset failed: which generation the disk has is not known */
};

static enum err fail(struct why *why, const char *path, const char *what)
{
    int e = errno;
    why_set(why, "%s: cannot %s: %s", path, what, strerror(e));
    return e == ENOSPC || e == EDQUOT || e == EFBIG ? ERR_FULL : ERR_IO;
}

static bool write_at(int fd, const void *p, size_t n, size_t at)
{
    const char *from = p;
    while (n) {
        ssize_t did = pwrite(fd, from, n, (off_t)at);
        if (did < 0 && errno == EINTR)
            continue;
        if (did <= 0)
            return false;
        from += did;
        at += (size_t)did;
        n -= (size_t)did;
    }
    return true;
}

/* Room that is written once, not only promised: an overwrite then needs nothing of a full disk, not
 * even space for a changed map of the file. */
static bool fill(int fd, size_t from, size_t to)
{
    static const char zeros[1u << 16];
    int e = posix_fallocate(fd, (off_t)from, (off_t)(to - from));
    if (e && e != EOPNOTSUPP && e != EINVAL) {
        errno = e;
        return false;
    }
    for (size_t at = from; at < to;) {
        size_t n = to - at < sizeof(zeros) ? to - at : sizeof(zeros);
        if (!write_at(fd, zeros, n, at))
            return false;
        at += n;
    }
    return true;
}

static bool write_header(const struct journal_file *f, int fd, unsigned slot)
{
    unsigned char header[JOURNAL_HEADER];
    journal_header(header, f->generation, f->salt, &f->owner);
    return write_at(fd, header, sizeof(header), (size_t)slot * JOURNAL_SLOT);
}

static void next_generation(struct journal_file *f)
{
    f->generation++;
    secret_random(&f->salt, sizeof(f->salt));
    f->end = f->end_kept = JOURNAL_HEAD;
    f->next = f->next_kept = 0;
    f->records = f->records_kept = 0;
    f->both = false;
}

/* ---- opening -------------------------------------------------------------------------------- */

/* Made under another name, so that the name stands for a whole file only. */
static enum err make(struct journal_file *f, size_t bytes, struct why *why)
{
    char *temporary = mem_join(f->path, ".new");
    unlink(temporary);
    enum err err = OK;
    int fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    next_generation(f);
    if (fd < 0)
        err = fail(why, temporary, "make the file");
    else if (!fill(fd, 0, bytes) || !write_header(f, fd, (unsigned)(f->generation & 1)) ||
             fsync(fd))
        err = fail(why, temporary, "write it whole");
    else if (rename(temporary, f->path) || !file_sync_folder(f->path))
        err = fail(why, f->path, "give it its name");
    if (fd >= 0)
        close(fd);
    if (err)
        unlink(temporary);
    free(temporary);
    return err;
}

static enum err open_fd(struct journal_file *f, struct why *why)
{
    struct stat st;
    f->fd = open(f->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (f->fd < 0)
        return errno == ENOENT ? ERR_NOTFOUND : fail(why, f->path, "open it");
    if (fstat(f->fd, &st) || !S_ISREG(st.st_mode)) {
        why_set(why, "%s is not a file", f->path);
        return ERR_IO;
    }
    enum err err = file_lock(f->fd);
    if (err == ERR_BUSY)
        why_set(why, "%s belongs to another process", f->path);
    if (err)
        return err == ERR_BUSY ? err : fail(why, f->path, "lock it");
    if (fchmod(f->fd, 0600)) /* results can hold private data */
        log_warn("journal", "%s: cannot make it private: %s", f->path, strerror(errno));
    f->size = st.st_size > (off_t)JOURNAL_MAX ? JOURNAL_MAX : (size_t)st.st_size;
    return OK;
}

/* All of it; pages that the disk cannot read are zeros, and so damage. */
static bool read_all(const struct journal_file *f, char *to)
{
    for (size_t at = 0; at < f->size;) {
        size_t left = f->size - at, page = PAGE - at % PAGE;
        ssize_t did = pread(f->fd, to + at, left, (off_t)at);
        if (did < 0 && errno == EINTR)
            continue;
        if (did < 0 && errno == EIO) { /* as far as the first bad page was read before this */
            log_error("journal", "%s: the disk cannot read it at byte %zu", f->path, at);
            did = pread(f->fd, to + at, page < left ? page : left, (off_t)at);
            if (did < 0)
                at += page < left ? page : left;
            else
                at += (size_t)did;
            continue;
        }
        if (did < 0)
            return false;
        if (did == 0)
            return true; /* cut meanwhile: zeros */
        at += (size_t)did;
    }
    return true;
}

static void keep_aside(const struct journal_file *f, const char *bytes)
{
    char *aside = mem_join(f->path, ".damaged");
    unlink(aside);
    int fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || !write_at(fd, bytes, f->size, 0) || fsync(fd)) {
        log_error("journal", "the damaged file cannot be kept as %s: %s", aside, strerror(errno));
        unlink(aside);
    } else {
        log_error("journal", "the damaged file is kept as %s", aside);
    }
    if (fd >= 0)
        close(fd);
    free(aside);
}

static void tell_damage(const struct journal_file *f, const struct journal_scan *s,
                        const char *bytes)
{
    if (s->torn)
        log_warn("journal",
                 "%s: the record that was being written at the end is left out; it was "
                 "not acknowledged",
                 f->path);
    if (s->header && !s->gaps && !s->odd)
        return;
    if (!s->header)
        log_error("journal", "%s: neither header is readable, so its results cannot be read",
                  f->path);
    else if (s->gaps)
        log_error("journal",
                  "%s: damaged in %u places, %zu bytes together; %u results could be read, the "
                  "others are gone: their runs will be reconciled",
                  f->path, s->gaps, s->lost, s->records);
    else
        log_error("journal", "%s: one of its two headers is damaged; the results are readable",
                  f->path);
    keep_aside(f, bytes);
}

/* Results that belong to no state that this database has been in; nothing proves that of unknown
 * ones.
 */
static bool foreign(const struct journal_file *f, const struct journal_scan *s)
{
    return s->records && s->owner.life && f->owner.life && s->owner.life != f->owner.before &&
           s->owner.before != f->owner.before;
}

static enum err set_aside(const struct journal_file *f, const struct journal_scan *s,
                          struct why *why)
{
    char end[32];
    snprintf(end, sizeof(end), ".of-%016llx", (unsigned long long)s->owner.life);
    char *aside = mem_join(f->path, end);
    enum err err = OK;
    if (rename(f->path, aside) || !file_sync_folder(f->path))
        err = fail(why, f->path, "set it aside");
    else
        log_error("journal",
                  "%s holds %u results of another database, or of this one in a state that it is "
                  "not in; they are not taken, the file is kept as %s",
                  f->path, s->records, aside);
    free(aside);
    return err;
}

/* ERR_OVERTAKEN: it was set aside. */
static enum err read_old(struct journal_file *f, journal_each_fn *each, void *ctx, struct why *why)
{
    struct journal_scan s;
    char *bytes = try_alloc(f->size + 1);
    if (!bytes) {
        why_set(why, "%s: no memory to read it", f->path);
        return ERR_NOMEM;
    }
    enum err err = OK;
    if (!read_all(f, bytes)) {
        err = fail(why, f->path, "read it");
        goto out;
    }
    journal_scan(bytes, f->size, NULL, NULL, &s);
    if (s.header && s.version != JOURNAL_VERSION) {
        why_set(why, "%s was written by another version of peal (format %u, this one reads %d)",
                f->path, s.version, JOURNAL_VERSION);
        err = ERR_INVALID;
        goto out;
    }
    if (foreign(f, &s)) {
        err = set_aside(f, &s, why);
        err = err ? err : ERR_OVERTAKEN;
        goto out;
    }
    journal_scan(bytes, f->size, each, ctx, &s);
    tell_damage(f, &s, bytes);
    f->generation = s.generation;
    f->salt = s.salt;
    f->next = f->next_kept = s.next;
    f->end = f->end_kept = s.end;
    f->records = f->records_kept = s.records;
    bool own = s.owner.life == f->owner.life && s.owner.before == f->owner.before;
    f->both = s.both && own;
    f->odd = s.odd || !s.header;
    f->unsure = !s.header || (!s.records && !own); /* begun anew below */
out:
    free(bytes);
    return err;
}

/* A file that was cut (copied, restored) gets its size back if there is room. */
static void grow(struct journal_file *f, size_t bytes)
{
    if (f->size >= bytes)
        return;
    if (fill(f->fd, f->size, bytes) && fsync(f->fd) == 0)
        f->size = bytes;
    else
        log_warn("journal", "%s: no room for its full size, %zu bytes must do: %s", f->path,
                 f->size, strerror(errno));
}

/* Both slots say the same again, so that damage is told once, and whose the results are before the
 * database names this life. One after the other: one of them is whole at any time. */
static void mend(struct journal_file *f)
{
    bool ok = true;
    for (unsigned i = 1; i <= 2 && ok && !f->both; i++)
        ok = write_header(f, f->fd, (unsigned)(f->generation + i) & 1) && fdatasync(f->fd) == 0;
    f->both = ok;
}

static enum err open_or_make(struct journal_file *f, size_t bytes, struct why *why)
{
    enum err err = open_fd(f, why);
    if (err != ERR_NOTFOUND)
        return err;
    err = make(f, bytes, why);
    return err ? err : open_fd(f, why);
}

enum err journal_file_open(const char *path, size_t bytes, const struct journal_owner *owner,
                           journal_each_fn *each, void *ctx, struct journal_file **ret,
                           struct why *why)
{
    struct journal_file *f = mem_new(sizeof(*f));
    f->fd = -1;
    f->path = mem_dup(path);
    f->owner = *owner;
    enum err err = open_or_make(f, bytes, why);
    if (!err)
        err = read_old(f, each, ctx, why);
    if (err == ERR_OVERTAKEN) {
        close(f->fd);
        err = open_or_make(f, bytes, why);
        if (!err)
            err = read_old(f, each, ctx, why);
    }
    if (!err)
        grow(f, bytes);
    if (!err && f->size < JOURNAL_HEAD) {
        why_set(why, "%s has no room for a header", path);
        err = ERR_FULL;
    }
    if (!err && f->unsure)
        err = journal_file_reset(f, why);
    if (!err && (f->records || f->odd))
        mend(f);
    if (err) {
        journal_file_close(f);
        return err == ERR_NOTFOUND ? ERR_IO : err;
    }
    *ret = f;
    return OK;
}

void journal_file_close(struct journal_file *f)
{
    if (!f)
        return;
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f);
}

/* ---- writing -------------------------------------------------------------------------------- */

enum err journal_file_reset(struct journal_file *f, struct why *why)
{
    next_generation(f);
    f->unsure = true;
    if (!write_header(f, f->fd, (unsigned)(f->generation & 1)) || fdatasync(f->fd))
        return fail(why, f->path, "reset it");
    f->unsure = false;
    return OK;
}

enum err journal_file_put(struct journal_file *f, char *records, size_t bytes, unsigned n,
                          struct why *why)
{
    if (f->unsure) {
        enum err err = journal_file_reset(f, why);
        if (err)
            return err;
    }
    if (bytes > f->size - f->end) {
        why_set(why, "%s is full: %u results wait for the database", f->path, f->records);
        return ERR_FULL;
    }
    /* From the first record on both slots say the same, so that losing one loses no record. */
    if (!f->both && !write_header(f, f->fd, (unsigned)(~f->generation & 1)))
        return fail(why, f->path, "write it");
    f->both = true;
    journal_seal(records, bytes, f->salt, f->next);
    if (!write_at(f->fd, records, bytes, f->end))
        return fail(why, f->path, "write it");
    f->end += bytes;
    f->next += n;
    f->records += n;
    return OK;
}

enum err journal_file_sync(struct journal_file *f, struct why *why)
{
    if (fdatasync(f->fd)) { /* the next attempt writes the same pages again: they are not trusted */
        enum err err = fail(why, f->path, "sync it");
        f->end = f->end_kept;
        f->next = f->next_kept;
        f->records = f->records_kept;
        f->both = false;
        return err;
    }
    f->end_kept = f->end;
    f->next_kept = f->next;
    f->records_kept = f->records;
    return OK;
}

unsigned journal_file_records(const struct journal_file *f)
{
    return f->records;
}

size_t journal_file_room(const struct journal_file *f)
{
    return f->size - f->end;
}
