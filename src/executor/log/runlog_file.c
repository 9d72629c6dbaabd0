/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, days and stamps of logs: what writers, readers and the pruner must agree on. A day's text
 * and a second's text are kept per thread, because most lines of a thread fall into the same
 * second. */
#include "executor/log/runlog_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"

#define LAST_DATE_MS 253402300799999ll

/* --- the calendar --- */

struct second { /* a second as text; one a thread for days, one for stamps */
    int64_t second;
    char text[32];
};

static const char *local_text(struct second *m, int64_t second, const char *format)
{
    if (m->text[0] && m->second == second)
        return m->text;
    time_t t = (time_t)second;
    struct tm tm;
    localtime_r(&t, &tm);
    strftime(m->text, sizeof(m->text), format, &tm);
    m->second = second;
    return m->text;
}

void runlog_day(int64_t ms, char to[RUNLOG_DAY])
{
    static _Thread_local struct second last;
    int64_t near = ms < 0 ? 0 : ms > LAST_DATE_MS ? LAST_DATE_MS : ms;
    /* beyond the last second lies the year 10000 in zones east of Greenwich: cut, not overrun */
    text_copy(to, RUNLOG_DAY, slice_text(local_text(&last, near / 1000, "%Y-%m-%d")));
}

void runlog_days(int64_t ms, char to[3][RUNLOG_DAY])
{
    int64_t near = ms < 0 ? 0 : ms > LAST_DATE_MS ? LAST_DATE_MS : ms;
    runlog_day(near, to[0]);
    runlog_day(near - RUNLOG_DAY_MS, to[1]);
    runlog_day(near + RUNLOG_DAY_MS, to[2]);
}

/* --- names --- */

static bool fits(int n)
{
    return n > 0 && n < RUNLOG_PATH;
}

bool runlog_path(const char *logpath, const char *day, int64_t log_id, const char *suffix,
                 char to[RUNLOG_PATH])
{
    return fits(snprintf(to, RUNLOG_PATH, "%s/%s/%lld%s", logpath, day, (long long)log_id, suffix));
}

bool runlog_day_path(const char *logpath, const char *day, const char *name, char to[RUNLOG_PATH])
{
    return fits(name ? snprintf(to, RUNLOG_PATH, "%s/%s/%s", logpath, day, name)
                     : snprintf(to, RUNLOG_PATH, "%s/%s", logpath, day));
}

/* --- files --- */

static int open_or_make(const char *logpath, const char *day, const char *path)
{
    const int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK;
    char folder[RUNLOG_PATH];
    int fd = open(path, flags, 0640);
    if (fd >= 0 || errno != ENOENT || !runlog_day_path(logpath, day, NULL, folder))
        return fd;
    if (mkdir(folder, 0750) < 0 && errno != EEXIST)
        return -1;
    return open(path, flags, 0640);
}

int runlog_open_day(const char *logpath, const char *day, const char *path, int64_t *ret_size)
{
    struct stat st;
    int fd = open_or_make(logpath, day, path);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        *ret_size = st.st_size;
        return fd;
    }
    close(fd);
    errno = EINVAL;
    return -1;
}

/* --- lines --- */

void runlog_compose(struct buf *b, const char *where, const char *function, int line,
                    const char *thread, struct slice text)
{
    static _Thread_local struct second last;
    buf_text(b, local_text(&last, clock_wall_ms() / 1000, "%Y-%m-%d %H:%M:%S"));
    buf_add(b, " [", 2);
    buf_text(b, where);
    buf_char(b, '#');
    buf_text(b, function);
    buf_add(b, "]-[", 3);
    buf_i64(b, line);
    buf_add(b, "]-[", 3);
    buf_text(b, thread);
    buf_add(b, "] ", 2);
    buf_slice(b, text);
    buf_char(b, '\n');
}
