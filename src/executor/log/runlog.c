/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a run, from its worker's side. Everything happens under the log's lock, but for
 * runlog_peek: what it reads is published by an atomic store and not changed afterwards.
 *
 * A write that fails is counted in `lost` and noted in the file by the next write that succeeds, at
 * the place where the bytes are missing. The index is written beside it and given up at its first
 * error: readers then count lines. */
#include "executor/log/runlog.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/log.h"
#include "executor/log/runlog_file.h"
#include "executor/log/runlog_index.h"
#include "executor/log/shared.h"
#include "wire/texts.h"

#define CUT_TEXT "the log ends here: it has reached its limit"
#define FIRST_MAX 65536 /* bytes that are written together with the start line */
#define SMALL 4096      /* lines up to here are put together on the stack */

void runlog_init(struct runlog *l, const char *logpath, int64_t date_ms, int64_t log_id, bool again)
{
    *l = (struct runlog){ .logpath = logpath,
                          .date_ms = date_ms,
                          .log_id = log_id,
                          .again = again,
                          .fd = -1,
                          .index_fd = -1 };
    pthread_mutex_init(&l->lock, NULL);
}

static void close_files(struct runlog *l)
{
    if (l->fd >= 0)
        close(l->fd);
    if (l->index_fd >= 0)
        close(l->index_fd);
    l->fd = l->index_fd = -1;
}

void runlog_done(struct runlog *l)
{
    close_files(l);
    free(atomic_load(&l->record));
    buf_done(&l->start);
    pthread_mutex_destroy(&l->lock);
}

/* --- the index: what it cannot do is no loss --- */

static void open_index(struct runlog *l)
{
    char day[RUNLOG_DAY], path[RUNLOG_PATH];
    runlog_day(l->date_ms, day);
    if (runlog_path(l->logpath, day, l->log_id, RUNLOG_INDEX_SUFFIX, path))
        l->index_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0640);
    l->index = (struct runlog_index){ .log_id = l->log_id };
}

static void index_line(struct runlog *l, int64_t offset)
{
    unsigned char entry[RUNLOG_INDEX_ENTRY];
    if (l->index_fd < 0)
        open_index(l);
    l->indexed = l->index_fd >= 0 && runlog_index_next(&l->index, l->fd, offset, entry) &&
                 write(l->index_fd, entry, sizeof(entry)) == (ssize_t)sizeof(entry);
}

/* Bytes are in the file: which lines end in them? */
static void count_lines(struct runlog *l, const char *p, size_t n)
{
    const char *end = p;
    while (l->indexed && (end = memchr(end, '\n', (size_t)(p + n - end)))) {
        end++;
        if (++l->lines % RUNLOG_INDEX_EVERY == 0)
            index_line(l, l->size + (end - p));
    }
}

/* --- the file --- */

static void lose(struct runlog *l, size_t n, int why)
{
    l->lost += (int64_t)n;
    l->why = why;
    if (!l->said)
        log_warn("executor", "run %lld: lines of its log are lost: %s", (long long)l->log_id,
                 strerror(why));
    l->said = true;
}

/* How much of it the disk took; 0 in *ret_why: all. */
static size_t write_out(struct runlog *l, const char *p, size_t n, int *ret_why)
{
    size_t done = 0;
    *ret_why = 0;
    while (done < n) {
        ssize_t more = write(l->fd, p + done, n - done);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0) {
            *ret_why = more < 0 ? errno : ENOSPC;
            break;
        }
        count_lines(l, p + done, (size_t)more);
        l->size += more;
        done += (size_t)more;
        l->open_line = p[done - 1] != '\n';
    }
    return done;
}

static void loss_text(const struct runlog *l, struct buf *b)
{
    buf_printf(b, "%s[%lld bytes are missing here: %s]\n", l->open_line ? "\n" : "",
               (long long)l->lost, strerror(l->why));
}

/* The disk takes bytes again: say first what is missing. */
static bool note_loss(struct runlog *l)
{
    int why;
    struct buf b = BUF_INIT(512);
    loss_text(l, &b);
    bool noted = write_out(l, buf_str(&b), b.len, &why) == b.len;
    buf_done(&b);
    if (noted)
        l->lost = 0;
    return noted;
}

/* A full disk loses log lines, not runs: what cannot be written is counted and left out. */
static void put(struct runlog *l, const char *p, size_t n)
{
    int why = l->why;
    size_t done = l->lost && !note_loss(l) ? 0 : write_out(l, p, n, &why);
    if (done < n)
        lose(l, n - done, why);
}

/* The start line; in front of it, if an earlier execution died within a line, that line's end. The
 * handler's first bytes go with it: a write less. */
static void begin_file(struct runlog *l, const char *p, size_t n)
{
    char last;
    struct buf b = BUF_INIT(l->start.len + n + 1);
    int64_t lost = l->lost;
    l->lost = 0; /* what is missing is missing behind the start line */
    if (l->size > 0 && file_read(l->fd, l->size - 1, &last, 1) == 1 && last != '\n')
        buf_char(&b, '\n');
    buf_add(&b, buf_str(&l->start), l->start.len);
    if (!lost)
        buf_add(&b, p, n);
    if (b.failed)
        lose(l, n, ENOMEM);
    put(l, buf_str(&b), b.len);
    buf_done(&b);
    l->lost += lost;
    if (lost)
        put(l, p, n);
}

static bool open_file(struct runlog *l)
{
    char day[RUNLOG_DAY], path[RUNLOG_PATH];
    runlog_day(l->date_ms, day);
    if (!runlog_path(l->logpath, day, l->log_id, ".log", path))
        errno = ENAMETOOLONG;
    else
        l->fd = runlog_open_day(l->logpath, day, path, &l->size);
    l->indexed = l->size == 0 && l->log_id != 0; /* runs without an id write to one file */
    return l->fd >= 0;
}

/* From now on the run has a file of its own. False: it cannot be made; errno. */
static bool file_made(struct runlog *l, const char *p, size_t n)
{
    if (!open_file(l))
        return false;
    begin_file(l, p, n);
    atomic_store(&l->in_file, true);
    return true;
}

static bool within_limit(struct runlog *l, size_t n)
{
    if (l->size + (int64_t)n <= RUNLOG_MAX)
        return true;
    if (!l->cut)
        put(l, "\n" CUT_TEXT "\n", sizeof("\n" CUT_TEXT "\n") - 1);
    l->cut = true;
    return false;
}

static void take_text(struct runlog *l, const char *p, size_t n)
{
    if (l->fd < 0) {
        size_t first = n <= FIRST_MAX ? n : 0;
        if (!file_made(l, p, first)) {
            lose(l, n, errno);
            return;
        }
        p += first;
        n -= first;
    }
    if (n && !l->cut && within_limit(l, n))
        put(l, p, n);
}

static bool had_file(const struct runlog *l)
{
    char day[RUNLOG_DAY], path[RUNLOG_PATH];
    runlog_day(l->date_ms, day);
    return runlog_path(l->logpath, day, l->log_id, ".log", path) && access(path, F_OK) == 0;
}

/* --- what a run says --- */

void runlog_start(struct runlog *l, const char *thread, struct slice text)
{
    pthread_mutex_lock(&l->lock);
    buf_init(&l->start, text.n + SMALL);
    runlog_compose(&l->start, "executor", "run", 0, thread, text);
    atomic_store(&l->held, true);
    if (l->again && had_file(l) && !file_made(l, NULL, 0))
        lose(l, 0, errno);
    pthread_mutex_unlock(&l->lock);
}

void runlog_raw(struct runlog *l, const char *p, size_t n)
{
    if (!n)
        return;
    pthread_mutex_lock(&l->lock);
    take_text(l, p, n);
    pthread_mutex_unlock(&l->lock);
}

void runlog_line(struct runlog *l, const char *where, const char *function, int line,
                 const char *thread, struct slice text)
{
    struct buf b = BUF_INIT(text.n + SMALL);
    buf_char(&b, '\n'); /* ends an open line; left out where there is none */
    runlog_compose(&b, where, function, line, thread, text);
    pthread_mutex_lock(&l->lock);
    size_t skip = l->open_line ? 0 : 1;
    if (b.failed)
        lose(l, text.n, ENOMEM);
    else
        take_text(l, b.data + skip, b.len - skip);
    pthread_mutex_unlock(&l->lock);
    buf_done(&b);
}

/* Start and end as a record. False: they need a file. */
static bool made_record(struct runlog *l, const struct buf *end)
{
    struct buf all = BUF_INIT(SHARED_RECORD);
    buf_add(&all, buf_str(&l->start), l->start.len);
    if (l->lost)
        loss_text(l, &all);
    buf_add(&all, buf_str(end), end->len);
    struct shared_record *r =
        all.failed ? NULL : shared_make(l->date_ms, l->log_id, slice_of(all.data, all.len));
    buf_done(&all);
    atomic_store(&l->record, r);
    return r != NULL;
}

void runlog_end(struct runlog *l, const char *thread, struct slice text)
{
    struct buf b = BUF_INIT(text.n + SMALL);
    pthread_mutex_lock(&l->lock);
    bool file = l->fd >= 0;
    if (file && l->open_line)
        buf_char(&b, '\n');
    runlog_compose(&b, "executor", "run", 0, thread, text);
    if (!file && !made_record(l, &b)) {
        if (!file_made(l, buf_str(&b), b.len))
            lose(l, b.len, errno);
    }
    if (file)
        put(l, buf_str(&b), b.len);
    close_files(l);
    pthread_mutex_unlock(&l->lock);
    buf_done(&b);
}

bool runlog_has_file(const struct runlog *l)
{
    return atomic_load(&l->in_file);
}

struct shared_record *runlog_take(struct runlog *l)
{
    return atomic_exchange(&l->record, NULL);
}

bool runlog_peek(struct runlog *l, struct buf *to)
{
    if (!atomic_load(&l->held) || atomic_load(&l->in_file))
        return false;
    const struct shared_record *r = atomic_load(&l->record);
    if (r)
        return shared_content(slice_of(r->text, r->n), l->log_id, to);
    buf_add(to, buf_str(&l->start), l->start.len);
    return true;
}

void runlog_note(const char *logpath, int64_t date_ms, int64_t log_id, const char *word)
{
    char day[RUNLOG_DAY], path[RUNLOG_PATH], text[128];
    runlog_day(date_ms, day);
    if (!runlog_path(logpath, day, log_id, ".log", path))
        return;
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    snprintf(text, sizeof(text), WIRE_LOG_CALLBACK, word);
    struct buf b = BUF_INIT(1024);
    runlog_compose(&b, "executor", "report", 0, "log-writer", slice_text(text));
    ssize_t n = write(fd, buf_str(&b), b.len);
    (void)n; /* a line that says what the center knows is nothing to fight for */
    buf_done(&b);
    close(fd);
}
