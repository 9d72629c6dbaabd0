/* SPDX-License-Identifier: Apache-2.0 */
/* A line is put together in one buffer and written by one write(), so that lines of several threads
 * do not mix. A small table by format counts what repeats within a second. */
#include "base/log.h"
#include "base/clock.h"
#include "base/log_line.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BURST 20 /* lines of one format a second */
#ifdef PEAL_LIBRARY
enum { SILENT = 1 }; /* a library speaks when it is asked to */
#else
enum { SILENT = 0 };
#endif

static _Atomic int limit = LOG_INFO;
static _Atomic int style = LOG_LOGFMT; /* an enum log_format */
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

void log_set_format(enum log_format format)
{
    style = (int)format;
}

enum log_format log_format(void)
{
    return (enum log_format)style;
}

bool log_format_of(const char *name, enum log_format *ret)
{
    static const char *const names[] = { "logfmt", "text", "json" }; /* as the enum */
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0) {
            *ret = (enum log_format)i;
            return true;
        }
    return false;
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

static void write_event(const struct log_event *e)
{
    struct buf b = BUF_INIT(LOG_LINE_MAX);
    log_line_write(&b, log_format(), e);
    ssize_t ignored = write(STDERR_FILENO, b.data, b.len);
    (void)ignored;
    buf_done(&b);
}

void log_print(enum log_level level, const char *module, const char *text)
{
    const struct log_event e = {
        .level = level, .module = module, .text = text, .at_ms = clock_wall_ms()
    };
    write_event(&e);
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
    char text[LOG_TEXT_MAX];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    if (here)
        say_line(level, module, text);
    else
        write_event(&(const struct log_event){ level, module, text, dropped, now });
}
