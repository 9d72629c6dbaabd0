/* SPDX-License-Identifier: Apache-2.0 */
/* A page is cut from a stream of pieces: of the run's file, from where the index says, or of its
 * record in the day's shared file. A line that does not fit any more is the first of the next page.
 */
#include "executor/log/runlog_read.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "executor/log/runlog_file.h"
#include "executor/log/runlog_index.h"
#include "executor/log/shared_map.h"

#define READ_SIZE 65536

/* --- pages --- */

struct reading {
    struct runlog_page *page;
    int64_t from, line; /* line: the one that the next byte belongs to */
    size_t line_start;  /* in content */
    bool full;
};

static struct reading begin(struct runlog_page *ret, int from_line, int64_t line)
{
    *ret = (struct runlog_page){ .found = true };
    buf_init(&ret->content, RUNLOG_PAGE);
    return (struct reading){ .page = ret, .from = from_line < 1 ? 1 : from_line, .line = line };
}

/* One piece of the log, cut at line ends. */
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
                r->page->to_line = (int)r->line;
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
    r->page->to_line = (int)r->line;
    to->failed = false;
    buf_char(to, '\n');
}

void runlog_page_of(struct slice text, int from_line, struct runlog_page *ret)
{
    struct reading r = begin(ret, from_line, 1);
    take(&r, text.p, text.n);
    last_line(&r, false);
}

/* --- files --- */

/* Never waits for the other end of a pipe that lies there. */
static int open_plain(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
        return fd;
    close(fd);
    return -1;
}

static int open_suffix(const char *logpath, const char *day, int64_t log_id, const char *suffix)
{
    char path[RUNLOG_PATH];
    return runlog_path(logpath, day, log_id, suffix, path) ? open_plain(path) : -1;
}

static struct runlog_place place_of(const char *logpath, const char *day, int fd, int64_t log_id,
                                    int from_line)
{
    struct runlog_place at = { 0, 1 };
    if (from_line <= RUNLOG_INDEX_EVERY)
        return at;
    int index = open_suffix(logpath, day, log_id, RUNLOG_INDEX_SUFFIX);
    if (index < 0)
        return at;
    at = runlog_index_find(index, fd, log_id, from_line);
    close(index);
    return at;
}

static void read_file(int fd, struct runlog_place at, int from_line, bool whole_lines,
                      struct runlog_page *ret)
{
    char piece[READ_SIZE];
    struct reading r = begin(ret, from_line, at.line);
    size_t n;
    for (; !r.full && (n = file_read(fd, at.offset, piece, sizeof(piece))); at.offset += n)
        take(&r, piece, n);
    last_line(&r, whole_lines);
}

static bool own_file(const char *logpath, const char *day, int64_t log_id, int from_line,
                     bool whole_lines, struct runlog_page *ret)
{
    int fd = open_suffix(logpath, day, log_id, ".log");
    if (fd < 0)
        return false;
    struct runlog_place at = place_of(logpath, day, fd, log_id, from_line);
    read_file(fd, at, from_line, whole_lines, ret);
    close(fd);
    return true;
}

static bool shared_file(const char *logpath, const char *day, int64_t log_id, int from_line,
                        struct shared_map *map, struct runlog_page *ret)
{
    char path[RUNLOG_PATH];
    int fd = runlog_day_path(logpath, day, SHARED_NAME, path) ? open_plain(path) : -1;
    if (fd < 0)
        return false;
    struct buf text = BUF_INIT(SHARED_RECORD);
    bool found = map ? shared_map_find(map, fd, log_id, &text) : shared_find(fd, log_id, &text);
    if (found)
        runlog_page_of(slice_of(buf_str(&text), text.len), from_line, ret);
    buf_done(&text);
    close(fd);
    return found;
}

void runlog_read(const char *logpath, int64_t date_ms, int64_t log_id, int from_line,
                 bool whole_lines, struct shared_map *map, struct runlog_page *ret)
{
    char days[3][RUNLOG_DAY];
    runlog_days(date_ms, days);
    for (int i = 0; i < 3; i++)
        if (own_file(logpath, days[i], log_id, from_line, whole_lines, ret))
            return;
    for (int i = 0; i < 3; i++)
        if (shared_file(logpath, days[i], log_id, from_line, map, ret))
            return;
    *ret = (struct runlog_page){ .found = false };
    buf_init(&ret->content, RUNLOG_PAGE);
}
