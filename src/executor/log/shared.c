/* SPDX-License-Identifier: Apache-2.0 */
/* Records are written whole lines at a time and found from the end of the file backwards, in pieces
 * that overlap by the beginning of a record. A record counts only if its checksum is right. */
#include "executor/log/shared.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/crc32c.h"
#include "base/file.h"
#include "executor/log/runlog_file.h"

enum {
    CRC = 8,       /* hexadecimal digits */
    TAIL = CRC + 2 /* the blank before them, the LF after them */
};

/* --- one record --- */

static void escape(struct buf *b, struct slice s)
{
    while (s.n) {
        size_t plain = 0;
        while (plain < s.n && s.p[plain] != '\n' && s.p[plain] != '\\')
            plain++;
        buf_add(b, s.p, plain);
        if (plain == s.n)
            return;
        buf_add(b, s.p[plain] == '\n' ? "\\n" : "\\\\", 2);
        s = slice_of(s.p + plain + 1, s.n - plain - 1);
    }
}

struct shared_record *shared_make(int64_t date_ms, int64_t log_id, struct slice content)
{
    struct shared_record *r = NULL;
    struct buf b = BUF_INIT(SHARED_RECORD);
    char tail[TAIL + 1];
    if (content.n && content.p[content.n - 1] == '\n')
        content.n--;
    buf_i64(&b, log_id);
    buf_char(&b, ' ');
    escape(&b, content);
    snprintf(tail, sizeof(tail), " %08x\n", crc32c(0, buf_str(&b), b.len));
    buf_add(&b, tail, TAIL);
    if (!b.failed && (r = try_alloc(sizeof(*r) + b.len + 1))) {
        r->date_ms = date_ms;
        r->log_id = log_id;
        r->n = b.len;
        memcpy(r->text, b.data, b.len);
    }
    buf_done(&b);
    return r;
}

static bool unescape(struct slice s, struct buf *to)
{
    while (s.n) {
        const char *mark = memchr(s.p, '\\', s.n);
        size_t plain = mark ? (size_t)(mark - s.p) : s.n;
        buf_add(to, s.p, plain);
        if (!mark)
            return true;
        if (plain + 1 == s.n || (mark[1] != 'n' && mark[1] != '\\'))
            return false;
        buf_char(to, mark[1] == 'n' ? '\n' : '\\');
        s = slice_of(mark + 2, s.n - plain - 2);
    }
    return true;
}

/* "123 ", as it stands at the beginning of a record. */
static size_t head_of(int64_t log_id, char to[32])
{
    return (size_t)snprintf(to, 32, "%lld ", (long long)log_id);
}

static bool crc_fits(struct slice record)
{
    char tail[TAIL + 1];
    snprintf(tail, sizeof(tail), " %08x\n", crc32c(0, record.p, record.n - TAIL));
    return memcmp(record.p + record.n - TAIL, tail, TAIL) == 0;
}

bool shared_content(struct slice record, int64_t log_id, struct buf *to)
{
    char head[32];
    size_t n = head_of(log_id, head), before = to->len;
    if (record.n < n + TAIL || memcmp(record.p, head, n) != 0 || !crc_fits(record))
        return false;
    if (unescape(slice_of(record.p + n, record.n - n - TAIL), to)) {
        buf_char(to, '\n');
        if (!to->failed)
            return true;
    }
    to->len = before;
    to->failed = false;
    return false;
}

/* --- writing --- */

/* Does the file end inside a record? Then that one is lost, but must not spoil the next. */
static bool torn(int fd, int64_t size)
{
    char last;
    return size > 0 && file_read(fd, size - 1, &last, 1) == 1 && last != '\n';
}

enum err shared_append(const char *logpath, const char *day, struct slice records)
{
    char path[RUNLOG_PATH];
    int64_t size;
    errno = ENAMETOOLONG;
    if (!runlog_day_path(logpath, day, SHARED_NAME, path))
        return ERR_IO;
    int fd = runlog_open_day(logpath, day, path, &size);
    if (fd < 0)
        return ERR_IO;
    bool written =
        (!torn(fd, size) || file_write(fd, slice_of("\n", 1))) && file_write(fd, records);
    int why = errno;
    close(fd);
    errno = why;
    return written ? OK : ERR_IO;
}

/* --- searching --- */

/* What stands at this place is the record of this id, whole? */
static bool content_at(int fd, int64_t at, int64_t log_id, struct buf *to)
{
    char *record = try_alloc(SHARED_RECORD);
    if (!record)
        return false;
    size_t n = file_read(fd, at, record, SHARED_RECORD);
    const char *end = memchr(record, '\n', n);
    bool found = end && shared_content(slice_of(record, (size_t)(end - record) + 1), log_id, to);
    free(record);
    return found;
}

/* The last place before "before" in a piece at which a line begins with the head; -1: none. The
 * piece begins at the file's beginning (line), or with the byte in front of a place. */
static int64_t last_head(const char *piece, size_t n, bool line, struct slice head)
{
    for (size_t at = n; at-- > 0;) {
        const char *lf = memrchr(piece, '\n', at + 1);
        if (!lf)
            break;
        at = (size_t)(lf - piece);
        if (n - at - 1 >= head.n && memcmp(lf + 1, head.p, head.n) == 0)
            return (int64_t)at + 1;
    }
    return line && n >= head.n && memcmp(piece, head.p, head.n) == 0 ? 0 : -1;
}

bool shared_find_between(int fd, int64_t low, int64_t high, int64_t log_id, struct buf *to)
{
    char head[32];
    int64_t nhead = (int64_t)head_of(log_id, head);
    int64_t floor = low > 0 ? low - 1 : 0; /* the LF in front of a line counts */
    struct stat st;
    char *piece = try_alloc(SHARED_CHUNK);
    bool found = false;
    int64_t end = piece && fstat(fd, &st) == 0 ? st.st_size : 0;
    if (high < end - nhead)
        end = high + nhead - 1;
    /* pieces overlap by a head: each line's beginning lies whole in one of them */
    while (!found && end > floor) {
        int64_t start = end - floor > SHARED_CHUNK ? end - SHARED_CHUNK : floor;
        size_t n = file_read(fd, start, piece, (size_t)(end - start));
        int64_t at = last_head(piece, n, start == 0, slice_of(head, (size_t)nhead));
        if (at >= 0) {
            found = content_at(fd, start + at, log_id, to);
            end = start + at + nhead - 1; /* a damaged one: go on in front of it */
        } else {
            end = start > floor ? start + nhead : floor;
        }
    }
    free(piece);
    return found;
}

bool shared_find(int fd, int64_t log_id, struct buf *to)
{
    return shared_find_between(fd, 0, INT64_MAX, log_id, to);
}
