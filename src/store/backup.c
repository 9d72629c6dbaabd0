/* SPDX-License-Identifier: Apache-2.0 */
/* Backups in a folder: named by their time in UTC, so that the order of their names is that of
 * their making, and found again by the form of the name alone. Files with other names are not
 * touched. */
#include "base/file.h"
#include "base/mem.h"
#include "cron/civil.h"
#include "store/backup.h"
#include "store/backup_name.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORM "peal-00000000T000000.000Z.db" /* a 0 stands for any digit */
#define NAME_BYTES (sizeof(FORM) - 1)
#define DAY_MS INT64_C(86400000)

static bool is_named(const char *name, const char *behind)
{
    for (size_t i = 0; i < NAME_BYTES; i++)
        if (FORM[i] == '0' ? name[i] < '0' || name[i] > '9' : name[i] != FORM[i])
            return false;
    return strcmp(name + NAME_BYTES, behind) == 0;
}

void backup_name(int64_t ms, char to[BACKUP_NAME_SIZE])
{
    struct civil day = civil_from_days(ms / DAY_MS);
    int64_t rest = ms % DAY_MS;
    snprintf(to, BACKUP_NAME_SIZE, "peal-%04d%02d%02dT%02d%02d%02d.%03dZ.db", day.year, day.month,
             day.day, (int)(rest / 3600000), (int)(rest / 60000 % 60), (int)(rest / 1000 % 60),
             (int)(rest % 1000));
}

static int digits(const char *p, int n)
{
    int v = 0;
    while (n-- > 0)
        v = v * 10 + *p++ - '0';
    return v;
}

static int64_t time_of(const char *name)
{
    const char *p = name + 5; /* behind peal- */
    int64_t days = civil_to_days(digits(p, 4), digits(p + 4, 2), digits(p + 6, 2));
    return days * DAY_MS + digits(p + 9, 2) * INT64_C(3600000) + digits(p + 11, 2) * 60000 +
           digits(p + 13, 2) * 1000 + digits(p + 16, 3);
}

/* Newest first. */
static int later(const void *a, const void *b)
{
    return strcmp(*(char *const *)b, *(char *const *)a);
}

static enum err cannot(const char *what, const char *path, struct why *why)
{
    why_set(why, "cannot %s %s: %s", what, path, strerror(errno));
    return ERR_IO;
}

static enum err remove_one(const char *folder, const char *name, const char *behind,
                           struct why *why)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s%s", folder, name, behind);
    return unlink(path) == 0 || errno == ENOENT ? OK : cannot("remove", path, why);
}

/* A part that no process holds was left by a kill. */
static void remove_part(const char *folder, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (file_lock(fd) == OK)
        (void)!unlink(path);
    close(fd);
}

struct names {
    char **items; /* owned */
    int n;
};

static void add(struct names *l, const char *name)
{
    l->items = mem_resize(l->items, ((size_t)l->n + 1) * sizeof(*l->items));
    l->items[l->n++] = mem_dup(name);
}

static void names_done(struct names *l)
{
    for (int i = 0; i < l->n; i++)
        free(l->items[i]);
    free(l->items);
}

static enum err look(const char *folder, struct names *ret, struct names *parts, struct why *why)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return cannot("read the folder", folder, why);
    for (struct dirent *e; (e = readdir(dir));) {
        if (is_named(e->d_name, ""))
            add(ret, e->d_name);
        else if (parts && is_named(e->d_name, ".part"))
            add(parts, e->d_name);
    }
    closedir(dir);
    if (ret->n)
        qsort(ret->items, (size_t)ret->n, sizeof(*ret->items), later);
    return OK;
}

enum err store_backup_keep(const char *folder, int keep, const char *made, struct why *why)
{
    struct names found = { 0 }, parts = { 0 };
    const char *slash = strrchr(made, '/'), *name = slash ? slash + 1 : made;
    enum err err = look(folder, &found, &parts, why);
    for (int i = keep; i < found.n && !err; i++) {
        if (strcmp(found.items[i], name) == 0)
            continue;
        err = remove_one(folder, found.items[i], "", why);
        if (!err)
            err = remove_one(folder, found.items[i], ".sha256", why);
    }
    for (int i = 0; i < parts.n; i++)
        remove_part(folder, parts.items[i]);
    names_done(&found);
    names_done(&parts);
    return err;
}

int64_t store_backup_newest_ms(const char *folder)
{
    struct names found = { 0 };
    int64_t ms = look(folder, &found, NULL, NULL) == OK && found.n ? time_of(found.items[0]) : 0;
    names_done(&found);
    return ms;
}
