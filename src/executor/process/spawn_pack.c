/* SPDX-License-Identifier: Apache-2.0 */
/* A program and its limits on the way to the fork server: a head, the numbers of the groups, then
 * texts, each ending in a NUL: path, home, arguments, environment. Both sides are one program, so
 * numbers are in its own layout; sizes are looked at all the same. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "executor/process/limits.h"
#include "executor/process/spawn.h"

enum { PACK_MAX = 32 << 20, TEXTS_MAX = 1 << 20, GROUPS_MAX = 1 << 16 };

struct head {
    uint64_t nargs, nenv, ngroups;
    int64_t memory;
    int32_t processes, files;
    uid_t uid;
    gid_t gid;
    uint32_t change_user;
};

struct packed { /* what spawn_unpack allocates; the arrays and the texts follow */
    struct spawn spawn;
    struct limits limits;
};

static size_t count(char *const *list)
{
    size_t n = 0;
    while (list[n])
        n++;
    return n;
}

static void add_text(struct buf *b, const char *text)
{
    buf_add(b, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void pack(struct buf *b, const struct spawn *s)
{
    const struct limits *l = s->limits;
    struct head h = { .nargs = count(s->argv),
                      .nenv = count(s->envp),
                      .ngroups = (uint64_t)l->ngroups,
                      .memory = l->memory,
                      .processes = l->processes,
                      .files = l->files,
                      .uid = l->uid,
                      .gid = l->gid,
                      .change_user = l->change_user };
    buf_add(b, &h, sizeof(h));
    if (h.ngroups)
        buf_add(b, l->groups, h.ngroups * sizeof(*l->groups));
    add_text(b, s->path);
    add_text(b, l->home);
    for (size_t i = 0; i < h.nargs; i++)
        add_text(b, s->argv[i]);
    for (size_t i = 0; i < h.nenv; i++)
        add_text(b, s->envp[i]);
}

int spawn_pack(const struct spawn *s)
{
    struct buf b = BUF_INIT(PACK_MAX);
    pack(&b, s);
    int fd = b.failed ? -1 : memfd_create("peal-spawn", MFD_CLOEXEC);
    if (b.failed)
        errno = E2BIG;
    if (fd >= 0 && !file_write(fd, slice_of(b.data, b.len))) {
        int saved = errno;
        close(fd);
        errno = saved;
        fd = -1;
    }
    buf_done(&b);
    return fd;
}

/* --- the other side --- */

/* The next of the texts; NULL: there is none. */
static char *next_text(char **at, const char *end)
{
    char *text = *at, *nul = text < end ? memchr(text, '\0', (size_t)(end - text)) : NULL;
    if (nul)
        *at = nul + 1;
    return nul ? text : NULL;
}

static bool take_texts(char **list, uint64_t n, char **at, const char *end)
{
    for (uint64_t i = 0; i < n; i++)
        if (!(list[i] = next_text(at, end)))
            return false;
    list[n] = NULL;
    return true;
}

/* lists: room for both, with their NULLs; texts: all of the file, beginning with the head. */
static bool unpack(struct packed *p, const struct head *head, char **lists, char *texts,
                   size_t size)
{
    struct head h = *head;
    size_t groups = h.ngroups * sizeof(gid_t);
    if (groups > size - sizeof(h))
        return false;
    char *at = texts + sizeof(h) + groups;
    const char *end = texts + size;
    char **args = lists, **env = lists + h.nargs + 1;
    p->limits = (struct limits){ .change_user = h.change_user,
                                 .uid = h.uid,
                                 .gid = h.gid,
                                 .groups = (gid_t *)(void *)(texts + sizeof(h)),
                                 .ngroups = (int)h.ngroups,
                                 .memory = h.memory,
                                 .processes = h.processes,
                                 .files = h.files };
    p->spawn = (struct spawn){ .argv = args, .envp = env, .limits = &p->limits };
    p->spawn.path = next_text(&at, end);
    p->limits.home = next_text(&at, end);
    return p->limits.home && take_texts(args, h.nargs, &at, end) &&
           take_texts(env, h.nenv, &at, end);
}

static struct spawn *broken(void *p)
{
    free(p);
    errno = EINVAL;
    return NULL;
}

struct spawn *spawn_unpack(int fd)
{
    struct head h;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return NULL;
    size_t size = (size_t)st.st_size;
    if (size < sizeof(h) || size > PACK_MAX || file_read(fd, 0, &h, sizeof(h)) != sizeof(h) ||
        h.nargs == 0 || h.nargs > TEXTS_MAX || h.nenv > TEXTS_MAX || h.ngroups > GROUPS_MAX)
        return broken(NULL);
    size_t lists = (h.nargs + h.nenv + 2) * sizeof(char *);
    struct packed *p = try_alloc(sizeof(*p) + lists + size);
    if (!p) {
        errno = ENOMEM;
        return NULL;
    }
    char **list = (char **)(p + 1);
    char *texts = (char *)list + lists;
    if (file_read(fd, 0, texts, size) != size || !unpack(p, &h, list, texts, size))
        return broken(p);
    return &p->spawn;
}
