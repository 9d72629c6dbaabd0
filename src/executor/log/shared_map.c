/* SPDX-License-Identifier: Apache-2.0 */
/* The map of a file is the smallest and largest id of each block. It is extended by reading on from
 * `covered`, never changed behind it, and thrown away if the file is another one or became shorter.
 * A file is known by its device, inode and first bytes. */
#include "executor/log/shared_map.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/file.h"
#include "base/mem.h"
#include "executor/log/runlog_file.h"

void shared_map_done(struct shared_map *m)
{
    for (int i = 0; i < SHARED_MAP_DAYS; i++)
        free(m->days[i].blocks);
    *m = (struct shared_map){ .searches = 0 };
}

static void forget(struct shared_day *d, int fd, const struct stat *st)
{
    d->nfirst = file_read(fd, 0, d->first, sizeof(d->first));
    d->dev = st->st_dev;
    d->ino = st->st_ino;
    d->covered = 0;
    d->within = false;
    d->n = 0;
}

static bool is_file(const struct shared_day *d, int fd, const struct stat *st)
{
    char first[sizeof(d->first)];
    return d->used && d->dev == st->st_dev && d->ino == st->st_ino && st->st_size >= d->covered &&
           file_read(fd, 0, first, d->nfirst) == d->nfirst &&
           memcmp(first, d->first, d->nfirst) == 0;
}

/* What is known of this file; of a new one, or one that became shorter, nothing yet. */
static struct shared_day *day_of(struct shared_map *m, int fd, const struct stat *st)
{
    struct shared_day *d = &m->days[0];
    for (int i = 0; i < SHARED_MAP_DAYS; i++) {
        struct shared_day *other = &m->days[i];
        if (is_file(other, fd, st)) {
            other->used = ++m->searches;
            return other;
        }
        if (other->used < d->used)
            d = other;
    }
    forget(d, fd, st);
    d->used = ++m->searches;
    return d;
}

/* --- learning --- */

static struct shared_block *block_at(struct shared_day *d, int64_t at)
{
    size_t i = (size_t)(at / SHARED_BLOCK);
    if (i >= d->cap) {
        d->cap = i + i / 2 + 16;
        d->blocks = mem_resize(d->blocks, d->cap * sizeof(*d->blocks));
    }
    for (; d->n <= i; d->n++)
        d->blocks[d->n] = (struct shared_block){ INT64_MAX, INT64_MIN };
    return &d->blocks[i];
}

/* A line that begins there. */
static void learn(struct shared_day *d, int64_t at, const char *line, size_t n)
{
    int64_t id;
    const char *blank = memchr(line, ' ', n < 32 ? n : 32);
    if (!blank || !parse_i64(slice_of(line, (size_t)(blank - line)), &id))
        return;
    struct shared_block *b = block_at(d, at);
    b->min = id < b->min ? id : b->min;
    b->max = id > b->max ? id : b->max;
}

/* The lines that end in a piece; how many bytes are done with. */
static size_t learn_piece(struct shared_day *d, const char *piece, size_t n)
{
    size_t at = 0;
    for (const char *lf; (lf = memchr(piece + at, '\n', n - at));) {
        size_t end = (size_t)(lf - piece);
        if (!d->within)
            learn(d, d->covered + (int64_t)at, piece + at, end - at);
        d->within = false;
        at = end + 1;
    }
    if (at > 0 || n < SHARED_CHUNK)
        return at;
    d->within = true; /* no record is that long */
    return n;
}

static void read_on(struct shared_day *d, int fd, char *piece)
{
    for (size_t done = 1; done;) {
        size_t n = file_read(fd, d->covered, piece, SHARED_CHUNK);
        done = learn_piece(d, piece, n);
        d->covered += (int64_t)done;
    }
}

/* --- searching --- */

bool shared_map_find(struct shared_map *m, int fd, int64_t log_id, struct buf *to)
{
    struct stat st;
    char *piece = try_alloc(SHARED_CHUNK);
    if (!piece || fstat(fd, &st) < 0) {
        free(piece);
        return shared_find(fd, log_id, to);
    }
    struct shared_day *d = day_of(m, fd, &st);
    read_on(d, fd, piece);
    free(piece);
    bool found = false;
    for (size_t i = d->n; !found && i-- > 0;) {
        int64_t start = (int64_t)i * SHARED_BLOCK;
        if (d->blocks[i].min <= log_id && log_id <= d->blocks[i].max)
            found = shared_find_between(fd, start, start + SHARED_BLOCK, log_id, to);
    }
    return found;
}
