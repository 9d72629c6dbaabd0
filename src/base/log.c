/* SPDX-License-Identifier: Apache-2.0 */
/* A line is put together in one buffer and written by one write(), so that lines of several threads
 * do not mix. A small table by format counts what repeats within a second. */
#include "base/log.h"
#include "base/buf.h"
#include "base/clock.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BURST 20 /* lines of one format a second */
#ifdef PEAL_LIBRARY
enum { SILENT = 1 }; /* a library speaks when it is asked to */
#else
enum { SILENT = 0 };
#endif

static _Atomic int limit = LOG_INFO;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *format;
    int64_t second;
    unsigned count;
} seen[64]; /* guarded by lock; a small hash of formats, collisions only share the limit */

static _Thread_local struct log_sink *here;

void log_to(struct log_sink *sink)
{
    here = sink;
}

struct log_sink *log_sink_here(void)
{
    return here;
}

void log_set_level(enum log_level level)
{
    limit = (int)level;
}

/* How many lines of this format were dropped in its last second; -1 = drop this one too. */
static int admit(const char *format, int64_t second)
{
    size_t i = ((size_t)format >> 4) % (sizeof(seen) / sizeof(*seen));
    int dropped = 0;
    if (seen[i].format != format || seen[i].second != second) {
        if (seen[i].format == format && seen[i].count > BURST)
            dropped = (int)(seen[i].count - BURST);
        seen[i].format = format;
        seen[i].second = second;
        seen[i].count = 0;
    }
    return ++seen[i].count > BURST ? -1 : dropped;
}

static void quote(struct buf *b, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", c);
        else if (c == '\n')
            buf_text(b, "\\n");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(b, "\\x%02x", c);
        else
            buf_char(b, (char)c);
    }
}

static void write_line(enum log_level level, const char *module, const char *text, int dropped,
                       int64_t now)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };
    struct tm tm;
    time_t second = (time_t)(now / 1000);
    gmtime_r(&second, &tm);
    struct buf b = BUF_INIT(8192);
    buf_printf(&b, "ts=%04d-%02d-%02dT%02d:%02d:%02d.%03dZ level=%s module=%s msg=\"",
               tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
               (int)(now % 1000), names[level], module);
    quote(&b, text);
    buf_char(&b, '"');
    if (dropped)
        buf_printf(&b, " repeated=%d", dropped);
    buf_char(&b, '\n');
    ssize_t ignored = write(STDERR_FILENO, b.data, b.len);
    (void)ignored;
    buf_done(&b);
}

void log_print(enum log_level level, const char *module, const char *text)
{
    write_line(level, module, text, 0, clock_wall_ms());
}

static void say_line(enum log_level level, const char *module, const char *text)
{
    pthread_mutex_lock(&here->lock);
    here->say(here->arg, level, module, text);
    pthread_mutex_unlock(&here->lock);
}

void log_line(enum log_level level, const char *module, const char *format, ...)
{
    if ((int)level > limit || (SILENT && !here))
        return;
    int64_t now = clock_wall_ms();
    pthread_mutex_lock(&lock);
    int dropped = admit(format, now / 1000);
    pthread_mutex_unlock(&lock);
    if (dropped < 0)
        return;
    char text[2048];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    if (here)
        say_line(level, module, text);
    else
        write_line(level, module, text, dropped, now);
}
