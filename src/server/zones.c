/* SPDX-License-Identifier: Apache-2.0 */
/* A table by name under one lock. A zone is counted: a file that changed gives a new one, and jobs
 * that were planned by the old one keep it until they are planned again. */
#include "server/zones.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_AGAIN_MS = 5000, LIST_AGAIN_S = 60, LIST_DEPTH = 3, LIST_MAX = 2000 };

static const char default_dir[] = "/usr/share/zoneinfo";

struct stamp { /* what tells one version of a file from the next */
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec mtime;
};

struct entry {
    char name[ZONES_NAME_MAX + 1];
    struct zone *zone; /* counted; the newest version that could be read */
    struct stamp stamp;
    int64_t looked_ms; /* clock_boot_ms of the last look */
};

struct listed {
    char name[ZONES_NAME_MAX + 1];
    int east_s;
};

struct zones {
    pthread_mutex_t lock; /* the table and its entries */
    struct textmap entries;
    char *dir;
    pthread_mutex_t listing; /* what follows; held while files are read for it */
    struct listed *list;     /* by name */
    size_t nlist;
    int64_t listed_s; /* when; 0: never */
};

struct zones *zones_new(const char *dir)
{
    struct zones *z = mem_new(sizeof(*z));
    if (!dir || !*dir)
        dir = getenv("TZDIR");
    if (!dir || !*dir)
        dir = default_dir;
    z->dir = mem_dup(dir);
    textmap_init(&z->entries);
    pthread_mutex_init(&z->lock, NULL);
    pthread_mutex_init(&z->listing, NULL);
    return z;
}

void zones_free(struct zones *z)
{
    if (!z)
        return;
    void *value;
    for (size_t i = 0; textmap_next(&z->entries, &i, &value);) {
        struct entry *e = value;
        zone_unref(e->zone);
        free(e);
    }
    textmap_done(&z->entries);
    pthread_mutex_destroy(&z->lock);
    pthread_mutex_destroy(&z->listing);
    free(z->list);
    free(z->dir);
    free(z);
}

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+';
}

/* Parts of messages, digits, _ - + joined by single slashes: nothing that leaves the directory. */
static bool name_valid(const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n > ZONES_NAME_MAX || name[0] == '/' || name[n - 1] == '/')
        return false;
    for (size_t i = 0; i < n; i++)
        if (!name_char(name[i]) && (name[i] != '/' || name[i + 1] == '/'))
            return false;
    return true;
}

static bool stamp_eq(const struct stamp *a, const struct stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec;
}

static struct stamp stamp_of(const struct stat *st)
{
    return (struct stamp){ st->st_dev, st->st_ino, st->st_size, st->st_mtim };
}

static enum err io_fail(const char *name, struct why *why)
{
    bool absent = errno == ENOENT || errno == ENOTDIR;
    if (absent)
        why_set(why,
                "time zone %s: unknown; names are those of the tz database, such as "
                "Asia/Shanghai",
                name);
    else
        why_set(why, "time zone %s: its file cannot be read: %s", name, strerror(errno));
    return absent ? ERR_NOTFOUND : ERR_IO;
}

static enum err load_open(int fd, const char *name, struct zone **ret, struct stamp *ret_stamp,
                          struct why *why)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return io_fail(name, why);
    if (!S_ISREG(st.st_mode)) {
        why_set(why, "time zone %s: that is a directory of zones, not a zone", name);
        return ERR_NOTFOUND;
    }
    size_t max = ZONE_FILE_MAX + 1;
    char *bytes = try_alloc(max);
    if (!bytes)
        return ERR_NOMEM;
    enum err err = OK;
    size_t n = file_read(fd, 0, bytes, max); /* tzdata is replaced by renaming: one version */
    if (n < max && errno)
        err = io_fail(name, why);
    else if (zone_parse(bytes, n, name, ret, why))
        err = ERR_CORRUPT;
    else
        *ret_stamp = stamp_of(&st);
    free(bytes);
    return err;
}

static enum err load(const struct zones *z, const char *name, struct zone **ret,
                     struct stamp *ret_stamp, struct why *why)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/%s", z->dir, name) >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return io_fail(name, why);
    }
    /* nonblocking: a FIFO in the place of a zone must not stop us */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return io_fail(name, why);
    enum err err = load_open(fd, name, ret, ret_stamp, why);
    close(fd);
    return err;
}

/* Has the entry's file changed? Then its zone is replaced; a file that went away or broke is not
 * a reason to lose a zone that works. Locked. */
static bool entry_refresh(const struct zones *z, struct entry *e)
{
    e->looked_ms = clock_boot_ms();
    char path[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", z->dir, e->name);
    if (stat(path, &st) != 0)
        return false;
    struct stamp now = stamp_of(&st);
    if (stamp_eq(&now, &e->stamp))
        return false;
    struct zone *zone;
    if (load(z, e->name, &zone, &e->stamp, NULL))
        return false;
    zone_unref(e->zone);
    e->zone = zone;
    return true;
}

static enum err get_locked(struct zones *z, const char *name, struct zone **ret, struct why *why)
{
    struct entry *e = textmap_find(&z->entries, slice_text(name));
    if (!e) {
        struct zone *zone;
        struct stamp stamp;
        enum err err = load(z, name, &zone, &stamp, why);
        if (err)
            return err;
        e = mem_new(sizeof(*e));
        text_copy(e->name, sizeof(e->name), slice_text(name));
        e->zone = zone;
        e->stamp = stamp;
        e->looked_ms = clock_boot_ms();
        textmap_set(&z->entries, slice_text(name), e);
    } else if (clock_boot_ms() - e->looked_ms >= LOOK_AGAIN_MS) {
        entry_refresh(z, e);
    }
    *ret = zone_ref(e->zone);
    return OK;
}

static bool from_environment(void)
{
    const char *tz = getenv("TZ");
    return tz && *tz;
}

enum err zones_get(struct zones *z, const char *name, struct zone **ret, struct why *why)
{
    char local[ZONES_NAME_MAX + 1];
    bool own = !*name;
    if (own) {
        zones_local_name(local);
        name = local;
    }
    if (strcmp(name, "UTC") == 0) {
        *ret = zone_utc();
        return OK;
    }
    if (!name_valid(name)) {
        why_set(why,
                "time zone: a name of the tz database is wanted, such as Asia/Shanghai (at "
                "most %d letters, digits, _ - + and single slashes)",
                ZONES_NAME_MAX);
        return ERR_INVALID;
    }
    pthread_mutex_lock(&z->lock);
    enum err err = get_locked(z, name, ret, own && !from_environment() ? NULL : why);
    pthread_mutex_unlock(&z->lock);
    /* a machine that has a zone's name but no tzdata runs in UTC; a TZ that was asked for does not
     */
    if (err == ERR_NOTFOUND && own && !from_environment()) {
        *ret = zone_utc();
        err = OK;
    }
    return err;
}

int zones_refresh(struct zones *z)
{
    int changed = 0;
    void *value;
    pthread_mutex_lock(&z->lock);
    for (size_t i = 0; textmap_next(&z->entries, &i, &value);)
        changed += entry_refresh(z, value);
    pthread_mutex_unlock(&z->lock);
    return changed;
}

/* --- all of them --------------------------------------------------------------------------- */

static void list_add(struct zones *z, const char *name, int64_t now_s)
{
    struct zone *zone = zone_utc();
    struct stamp stamp;
    if (strcmp(name, "UTC") != 0 && load(z, name, &zone, &stamp, NULL))
        return;
    z->list = mem_resize(z->list, (z->nlist + 1) * sizeof(*z->list));
    struct listed *l = &z->list[z->nlist++];
    text_copy(l->name, sizeof(l->name), slice_text(name));
    l->east_s = zone_offset_at(zone, now_s);
    zone_unref(zone);
}

/* Names of zones begin with a capital; other files and folders there are none, or zones that count
 * leap seconds. */
static void list_folder(struct zones *z, const char *prefix, int depth, int64_t now_s)
{
    char path[PATH_MAX], name[ZONES_NAME_MAX + 2];
    DIR *dir = snprintf(path, sizeof(path), "%s/%s", z->dir, prefix) < (int)sizeof(path)
                   ? opendir(path)
                   : NULL;
    if (!dir)
        return;
    for (struct dirent *e; z->nlist < LIST_MAX && (e = readdir(dir));) {
        struct stat st;
        if (e->d_name[0] < 'A' || e->d_name[0] > 'Z' ||
            snprintf(name, sizeof(name), "%s%s", prefix, e->d_name) > ZONES_NAME_MAX ||
            !name_valid(name) || strcmp(name, "UTC") == 0 ||
            snprintf(path, sizeof(path), "%s/%s", z->dir, name) >= (int)sizeof(path) ||
            stat(path, &st) != 0)
            continue;
        if (S_ISREG(st.st_mode)) {
            list_add(z, name, now_s);
        } else if (S_ISDIR(st.st_mode) && depth > 1 && strlen(name) < ZONES_NAME_MAX) {
            text_copy(name + strlen(name), 2, slice_text("/"));
            list_folder(z, name, depth - 1, now_s);
        }
    }
    closedir(dir);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct listed *)a)->name, ((const struct listed *)b)->name);
}

void zones_each(struct zones *z, int64_t now_s, zones_fn *fn, void *ctx)
{
    pthread_mutex_lock(&z->listing);
    if (!z->listed_s || now_s - z->listed_s >= LIST_AGAIN_S || now_s < z->listed_s) {
        z->nlist = 0;
        list_add(z, "UTC", now_s);
        list_folder(z, "", LIST_DEPTH, now_s);
        qsort(z->list, z->nlist, sizeof(*z->list), by_name);
        z->listed_s = now_s;
    }
    for (size_t i = 0; i < z->nlist; i++)
        fn(ctx, z->list[i].name, z->list[i].east_s);
    pthread_mutex_unlock(&z->listing);
}

/* --- the machine's own zone ---------------------------------------------------------------- */

static bool take_name(const char *from, char name[ZONES_NAME_MAX + 1])
{
    if (!name_valid(from))
        return false;
    text_copy(name, ZONES_NAME_MAX + 1, slice_text(from));
    return true;
}

/* What follows "zoneinfo/" in a path. */
static bool take_path(const char *path, char name[ZONES_NAME_MAX + 1])
{
    static const char mark[] = "zoneinfo/";
    const char *at = strstr(path, mark);
    return at && take_name(at + sizeof(mark) - 1, name);
}

static bool local_from_tz(char name[ZONES_NAME_MAX + 1])
{
    const char *tz = getenv("TZ");
    if (!tz || !*tz)
        return false;
    if (*tz == ':')
        tz++;
    if (*tz == '/' ? take_path(tz, name) : take_name(tz, name))
        return true;
    text_copy(name, ZONES_NAME_MAX + 1, slice_text("TZ?")); /* no zone's name: zones_get refuses */
    return true;
}

static bool local_from_link(char name[ZONES_NAME_MAX + 1])
{
    char to[PATH_MAX];
    ssize_t n = readlink("/etc/localtime", to, sizeof(to) - 1);
    if (n <= 0)
        return false;
    to[n] = '\0';
    return take_path(to, name);
}

static bool local_from_file(char name[ZONES_NAME_MAX + 1])
{
    char line[ZONES_NAME_MAX + 2] = "";
    FILE *f = fopen("/etc/timezone", "re");
    if (!f)
        return false;
    bool found = fgets(line, sizeof(line), f) != NULL;
    fclose(f);
    line[strcspn(line, "\r\n")] = '\0';
    return found && take_name(line, name);
}

void zones_local_name(char name[ZONES_NAME_MAX + 1])
{
    if (local_from_tz(name) || local_from_link(name) || local_from_file(name)) {
        /* these three are UTC by other names, and need no file */
        if (!strcmp(name, "Etc/UTC") || !strcmp(name, "Etc/UCT") || !strcmp(name, "UTC0"))
            take_name("UTC", name);
        return;
    }
    take_name("UTC", name);
}
