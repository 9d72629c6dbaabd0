/* SPDX-License-Identifier: Apache-2.0 */
/* A log, an index and a shared file with the input's bytes in them, read from the line that the
 * input says. Whatever they hold, a page is what counting lines from the beginning gives, and what
 * is found in the shared file is a whole record of that id, the last one.
 * Input: flags (1), line (2), length of the index (2), index, then the log or the shared file. Flag
 * 1: a shared file; 2: the log is repeated until it has thousands of lines; 4: the index is the
 * writer's own, with the input's bytes over it; 8: whole lines only. */
#include "executor/log/runlog.h"
#include "executor/log/runlog_read.h"
#include "executor/log/runlog_file.h"
#include "executor/log/runlog_index.h"
#include "executor/log/shared_map.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "fuzz.h"

#define DATE 1700000000000ll
enum { ID = 7, REPEATED = 300000 };

static char folder[64], day[RUNLOG_DAY];

static void clean_up(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    CHECK(system(command) == 0);
}

static void set_up(void)
{
    char path[RUNLOG_PATH];
    if (folder[0])
        return;
    snprintf(folder, sizeof(folder), "%s/fuzz-runlog-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    CHECK(mkdtemp(folder));
    atexit(clean_up);
    runlog_day(DATE, day);
    CHECK(runlog_day_path(folder, day, NULL, path) && mkdir(path, 0700) == 0);
}

static void plant(const char *name, const void *p, size_t n)
{
    char path[RUNLOG_PATH];
    CHECK(runlog_day_path(folder, day, name, path));
    unlink(path);
    if (!p)
        return;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, p, n) == (ssize_t)n);
    close(fd);
}

static void append(const char *name, const void *p, size_t n)
{
    char path[RUNLOG_PATH];
    CHECK(runlog_day_path(folder, day, name, path));
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    CHECK(fd >= 0 && write(fd, p, n) == (ssize_t)n);
    close(fd);
}

/* The index that the writer makes of this log. */
static void make_index(struct slice log, struct buf *to)
{
    char path[RUNLOG_PATH];
    unsigned char entry[RUNLOG_INDEX_ENTRY];
    struct runlog_index x = { .log_id = ID };
    CHECK(runlog_path(folder, day, ID, ".log", path));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t line = 0;
    for (size_t i = 0; i < log.n; i++) {
        if (log.p[i] != '\n' || ++line % RUNLOG_INDEX_EVERY)
            continue;
        CHECK(runlog_index_next(&x, fd, (int64_t)i + 1, entry));
        buf_add(to, entry, sizeof(entry));
    }
    close(fd);
}

/* What a page must be: by counting, with nothing of the reader's own. */
static void expect(struct slice log, int from, bool whole, const struct runlog_page *p)
{
    int line = 1, last = 0;
    size_t at = 0, done = 0;
    for (size_t end; at < log.n; at = end, line++) {
        const char *lf = memchr(log.p + at, '\n', log.n - at);
        if (!lf && whole)
            break;
        end = lf ? (size_t)(lf - log.p) + 1 : log.n;
        if (line < from)
            continue;
        last = line;
        CHECK(done + (end - at) + !lf <= p->content.len);
        CHECK(memcmp(p->content.data + done, log.p + at, end - at) == 0);
        done += end - at;
        if (!lf)
            CHECK(p->content.data[done++] == '\n');
    }
    CHECK(p->to_line == last && p->content.len == done);
}

static void try_log(struct slice log, struct slice index, int from, unsigned flags)
{
    struct buf many = BUF_INIT(REPEATED), made = BUF_INIT(REPEATED * 16);
    struct runlog_page p;
    while (flags & 2 && log.n && many.len + log.n < REPEATED)
        buf_slice(&many, log);
    if (many.len)
        log = slice_of(many.data, many.len);
    plant("runs", NULL, 0);
    plant("7.log", log.n ? log.p : "", log.n);
    if (flags & 4) {
        make_index(log, &made);
        for (size_t i = 0; i < index.n && i < made.len; i++)
            made.data[i] = (char)(made.data[i] ^ index.p[i]);
        index = slice_of(buf_str(&made), made.len);
    }
    plant("7.idx", index.n ? index.p : "", index.n);
    runlog_read(folder, DATE, ID, from, flags & 8, NULL, &p);
    CHECK(p.found);
    expect(log, from < 1 ? 1 : from, flags & 8, &p);
    buf_done(&p.content);
    buf_done(&many);
    buf_done(&made);
}

/* The last line of the file that is a whole record of this id. */
static bool last_record(struct slice runs, struct buf *to)
{
    bool found = false;
    struct buf one = BUF_INIT(SHARED_RECORD);
    for (size_t at = 0; at < runs.n;) {
        const char *lf = memchr(runs.p + at, '\n', runs.n - at);
        if (!lf)
            break;
        size_t end = (size_t)(lf - runs.p) + 1;
        buf_reset(&one);
        if (end - at <= SHARED_RECORD &&
            shared_content(slice_of(runs.p + at, end - at), ID, &one)) {
            found = true;
            buf_reset(to);
            buf_add(to, one.data, one.len);
        }
        at = end;
    }
    buf_done(&one);
    return found;
}

static void try_shared(struct slice runs, struct slice text, int from)
{
    struct buf all = BUF_INIT(1 << 22), content = BUF_INIT(SHARED_RECORD);
    struct shared_record *r = shared_make(DATE, ID, text);
    struct runlog_page p;
    buf_slice(&all, runs);
    if (r && from & 1) { /* an honest record among them, at any place of the file */
        buf_char(&all, '\n');
        buf_add(&all, r->text, r->n - (from & 2 ? 1 : 0));
        buf_slice(&all, runs);
    }
    plant("7.log", NULL, 0);
    plant("7.idx", NULL, 0);
    struct shared_map map = { .searches = 0 };
    plant("runs", buf_str(&all), all.len / 2); /* learned by halves */
    runlog_read(folder, DATE, ID, from, false, &map, &p);
    buf_done(&p.content);
    append("runs", buf_str(&all) + all.len / 2, all.len - all.len / 2);
    bool found = last_record(slice_of(buf_str(&all), all.len), &content);
    for (int i = 0; i < 2; i++) {
        runlog_read(folder, DATE, ID, from, false, i ? &map : NULL, &p);
        CHECK(p.found == found);
        if (found)
            expect(slice_of(buf_str(&content), content.len), from < 1 ? 1 : from, false, &p);
        buf_done(&p.content);
    }
    shared_map_done(&map);
    buf_done(&all);
    buf_done(&content);
    free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 5 || size > 100000)
        return 0;
    set_up();
    size_t nindex = (size_t)data[3] << 8 | data[4];
    nindex = nindex < size - 5 ? nindex : size - 5;
    struct slice index = slice_of((const char *)data + 5, nindex);
    struct slice rest = slice_of((const char *)data + 5 + nindex, size - 5 - nindex);
    int from = (int)(int16_t)(data[1] << 8 | data[2]);
    if (data[0] & 1)
        try_shared(rest, index, from);
    else
        try_log(rest, index, from, data[0]);
    return 0;
}
