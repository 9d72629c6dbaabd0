/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/runlog.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "wire/texts.h"

#define DAY_MS 86400000ll
#define LAST_DATE_MS 253402300799999ll
#define READ_SIZE 65536
#define CUT_TEXT "the log ends here: it has reached its limit"

/* --- names --- */

/* Dates come from strangers: beyond the year 9999 they all name the same day. */
static void day_of(int64_t ms, char *to, size_t size)
{
    int64_t day = ms < 0 ? 0 : ms > LAST_DATE_MS ? LAST_DATE_MS : ms;
    time_t second = (time_t)(day / 1000);
    struct tm tm;
    localtime_r(&second, &tm);
    strftime(to, size, "%Y-%m-%d", &tm);
}

static bool path_of(const char *logpath, int64_t date_ms, int64_t log_id, char *to, char *folder)
{
    char day[32];
    day_of(date_ms, day, sizeof(day));
    int n = snprintf(folder, RUNLOG_PATH, "%s/%s", logpath, day);
    if (n < 0 || n >= RUNLOG_PATH)
        return false;
    n = snprintf(to, RUNLOG_PATH, "%s/%s/%lld.log", logpath, day, (long long)log_id);
    return n > 0 && n < RUNLOG_PATH;
}

/* --- writing --- */

enum err runlog_open(struct runlog *l, const char *logpath, int64_t log_date_ms, int64_t log_id,
                     struct why *why)
{
    char path[RUNLOG_PATH], folder[RUNLOG_PATH];
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    if (!path_of(logpath, log_date_ms, log_id, path, folder)) {
        why_set(why, "log path: too long");
        return ERR_IO;
    }
    int fd = open(path, flags, 0644);
    if (fd < 0 && errno == ENOENT && (mkdir(folder, 0755) == 0 || errno == EEXIST))
        fd = open(path, flags, 0644);
    if (fd < 0) {
        why_set(why, "%.400s: %s", path, strerror(errno));
        return ERR_IO;
    }
    struct stat st;
    *l = (struct runlog){ .fd = fd, .size = fstat(fd, &st) == 0 ? st.st_size : 0 };
    return OK;
}

void runlog_close(struct runlog *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

/* A full disk loses log lines, not runs: what cannot be written is left out. */
static void put(struct runlog *l, const char *p, size_t n)
{
    while (n > 0 && l->fd >= 0) {
        ssize_t done = write(l->fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            l->failed = done < 0 ? errno : ENOSPC;
            return;
        }
        l->open_line = p[done - 1] != '\n';
        l->size += done;
        p += done;
        n -= (size_t)done;
    }
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

void runlog_raw(struct runlog *l, const char *p, size_t n)
{
    if (!l->cut && within_limit(l, n))
        put(l, p, n);
}

static void compose(struct buf *b, const char *where, const char *function, int line,
                    const char *thread, struct slice text)
{
    time_t now = (time_t)(clock_wall_ms() / 1000);
    struct tm tm;
    char stamp[32];
    localtime_r(&now, &tm);
    strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &tm);
    buf_printf(b, "%s [%s#%s]-[%d]-[%s] ", stamp, where, function, line, thread);
    buf_slice(b, text);
    buf_char(b, '\n');
}

void runlog_line(struct runlog *l, const char *where, const char *function, int line,
                 const char *thread, struct slice text, bool last)
{
    struct buf b = BUF_INIT(text.n + 4096);
    if (l->open_line)
        buf_char(&b, '\n');
    compose(&b, where, function, line, thread, text);
    if (last || (!l->cut && within_limit(l, b.len)))
        put(l, buf_str(&b), b.len);
    buf_done(&b);
}

void runlog_note(const char *logpath, int64_t log_date_ms, int64_t log_id, const char *word)
{
    char path[RUNLOG_PATH], folder[RUNLOG_PATH];
    if (!path_of(logpath, log_date_ms, log_id, path, folder))
        return;
    struct runlog l = { .fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC) };
    if (l.fd < 0)
        return;
    char text[128];
    snprintf(text, sizeof(text), WIRE_LOG_CALLBACK, word);
    runlog_line(&l, "executor", "report", __LINE__, "keeper", slice_text(text), true);
    runlog_close(&l);
}

/* --- reading --- */

static int open_any_day(const char *logpath, int64_t date_ms, int64_t log_id)
{
    int64_t near = date_ms < 0 ? 0 : date_ms > LAST_DATE_MS ? LAST_DATE_MS : date_ms;
    const int64_t dates[] = { near, near - DAY_MS, near + DAY_MS };
    for (int i = 0; i < 3; i++) {
        char path[RUNLOG_PATH], folder[RUNLOG_PATH];
        if (!path_of(logpath, dates[i], log_id, path, folder))
            continue;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            return fd;
    }
    return -1;
}

struct reading {
    struct runlog_page *page;
    int from, line;    /* line: the one that the next byte belongs to */
    size_t line_start; /* in content */
    bool full;
};

/* One piece of the file, cut at line ends. */
static void take(struct reading *r, const char *p, size_t n)
{
    struct buf *to = &r->page->content;
    while (n > 0 && !r->full) {
        const char *end = memchr(p, '\n', n);
        size_t len = end ? (size_t)(end - p) + 1 : n;
        if (r->line >= r->from) {
            buf_add(to, p, len);
            if (to->failed) { /* the page is full: this line is the next one's first */
                r->full = true;
                return;
            }
        }
        if (end) {
            if (r->line >= r->from)
                r->page->to_line = r->line;
            r->line_start = to->len;
            r->full = r->line == INT_MAX;
            r->line++;
        }
        p += len;
        n -= len;
    }
}

/* A line that is not complete: show it, hide it, or, if it alone fills the page, show its part. */
static void last_line(struct reading *r, bool whole_lines)
{
    struct buf *to = &r->page->content;
    bool alone = r->full && r->page->to_line == 0;
    if (to->len == r->line_start)
        return;
    if ((whole_lines && !alone) || (r->full && !alone)) {
        to->len = r->line_start;
        to->data[to->len] = '\0';
        return;
    }
    r->page->to_line = r->line;
    to->failed = false;
    buf_char(to, '\n');
}

void runlog_read(const char *logpath, int64_t log_date_ms, int64_t log_id, int from_line,
                 bool whole_lines, struct runlog_page *ret)
{
    char piece[READ_SIZE];
    int fd = open_any_day(logpath, log_date_ms, log_id);
    *ret = (struct runlog_page){ .found = fd >= 0 };
    buf_init(&ret->content, RUNLOG_PAGE);
    if (fd < 0)
        return;
    struct reading r = { .page = ret, .from = from_line < 1 ? 1 : from_line, .line = 1 };
    ssize_t n;
    while (!r.full && ((n = read(fd, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0)
            take(&r, piece, (size_t)n);
    last_line(&r, whole_lines);
    close(fd);
}
