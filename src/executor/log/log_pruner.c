/* SPDX-License-Identifier: Apache-2.0 */
/* One step removes at most LOG_PRUNER_STEP files of one day. Between steps the open directories are
 * the only state, so a step can be the last one at any time. Names are used relative to those
 * descriptors: a folder that is replaced by a link meanwhile leads nowhere else. */
#include "executor/log/log_pruner.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "executor/log/runlog_file.h"

void log_pruner_init(struct log_pruner *c, const char *logpath, int days)
{
    *c = (struct log_pruner){ .logpath = logpath, .days = days };
}

static void close_dir(DIR **d)
{
    if (*d)
        closedir(*d);
    *d = NULL;
}

void log_pruner_done(struct log_pruner *c)
{
    close_dir(&c->day);
    close_dir(&c->base);
}

/* --- names --- */

static int digits(const char *p, int n)
{
    int v = 0;
    for (; n > 0; n--, p++) {
        if (*p < '0' || *p > '9')
            return -1;
        v = v * 10 + (*p - '0');
    }
    return v;
}

static int month_days(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Years begin in March here, so that the leap day is the last one: Howard Hinnant, "chrono-
 * Compatible Low-Level Date Algorithms", days_from_civil. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return y * 365 + y / 4 - y / 100 + y / 400 + in_year - 719468;
}

bool log_pruner_date(const char *name, int64_t *ret_days)
{
    if (strlen(name) != 10 || name[4] != '-' || name[7] != '-')
        return false;
    int year = digits(name, 4), month = digits(name + 5, 2), day = digits(name + 8, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > month_days(year, month))
        return false;
    *ret_days = days_of(year, month, day);
    return true;
}

/* --- a round --- */

static DIR *open_folder(int at, const char *name, int flags)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !d)
        close(fd);
    return d;
}

static int64_t end_round(struct log_pruner *c)
{
    if (c->ndays)
        log_info("executor", "logs of %lld old days were removed, %lld files", c->ndays, c->nfiles);
    c->ndays = c->nfiles = 0;
    close_dir(&c->base);
    return RUNLOG_DAY_MS;
}

static bool is_old(const struct log_pruner *c, const char *name, int64_t now_ms)
{
    char text[RUNLOG_DAY];
    int64_t day, today;
    runlog_day(now_ms, text);
    return log_pruner_date(name, &day) && log_pruner_date(text, &today) && today - day > c->days;
}

/* The next old day; false: there is none. */
static bool next_day(struct log_pruner *c, int64_t now_ms)
{
    for (struct dirent *d; (d = readdir(c->base));) {
        if (!is_old(c, d->d_name, now_ms))
            continue;
        c->day = open_folder(dirfd(c->base), d->d_name, O_NOFOLLOW);
        if (!c->day)
            continue; /* a link, or a file: not ours */
        memcpy(c->name, d->d_name, sizeof("2026-01-31"));
        c->removed = false;
        return true;
    }
    return false;
}

/* All its names were read once. */
static void end_day(struct log_pruner *c)
{
    if (unlinkat(dirfd(c->base), c->name, AT_REMOVEDIR) == 0) {
        c->ndays++;
    } else if (c->removed) { /* reading while removing may pass some names over */
        c->removed = false;
        rewinddir(c->day);
        return;
    } else {
        log_warn("executor", "the logs of %s cannot be removed: %s", c->name, strerror(errno));
    }
    close_dir(&c->day);
}

static void clean_day(struct log_pruner *c)
{
    for (int i = 0; i < LOG_PRUNER_STEP; i++) {
        struct dirent *d = readdir(c->day);
        if (!d) {
            end_day(c);
            return;
        }
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(c->day), d->d_name, 0) == 0) {
            c->removed = true;
            c->nfiles++;
        }
    }
}

int64_t log_pruner_step(struct log_pruner *c, int64_t now_ms)
{
    if (c->days < LOG_PRUNER_DAYS_MIN)
        return -1;
    if (!c->base && !(c->base = open_folder(AT_FDCWD, c->logpath, 0))) {
        log_warn("executor", "old logs cannot be looked for: %s", strerror(errno));
        return RUNLOG_DAY_MS;
    }
    if (!c->day && !next_day(c, now_ms))
        return end_round(c);
    clean_day(c);
    return LOG_PRUNER_PAUSE_MS;
}
