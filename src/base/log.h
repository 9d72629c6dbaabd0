/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - what the process says about itself: one line an event on standard error.
 *
 * error = someone must act; warn = we went on, and say how; info = life cycle; debug = the rest.
 * A line that repeats (same format) more than 20 times in a second is counted, not printed.
 * Never log tokens, passwords, or parameters above debug. Any thread. */
#ifndef PEAL_BASE_LOG_H
#define PEAL_BASE_LOG_H

#include <pthread.h>
#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
/* key=value with a quoted msg; a line for people; an object of JSON: log_line.h. */
enum log_format { LOG_LOGFMT, LOG_TEXT, LOG_JSON };

/* Where the lines of a thread go. Two executors in one program speak each to its own owner; threads
 * without a sink write to standard error (libpeal, built with PEAL_LIBRARY: nowhere). */
struct log_sink {
    void (*say)(void *arg, enum log_level level, const char *module, const char *text);
    void *arg;
    pthread_mutex_t lock; /* one line at a time; the owner's to initialise */
};

/* For the calling thread from now on; borrowed; NULL: the default. A thread that starts another one
 * hands its sink on: log_sink_here() before, log_to() in the new one. */
void log_to(struct log_sink *sink);
struct log_sink *log_sink_here(void);

void log_set_level(enum log_level level);
/* Of all lines that go to standard error; logfmt as long as nothing is said. */
void log_set_format(enum log_format format);
enum log_format log_format(void);
/* By its name: logfmt, text, json. False: there is no such format. */
bool log_format_of(const char *name, enum log_format *ret);
/* The text becomes the line's message; what the format cannot hold is escaped in it. */
void log_line(enum log_level level, const char *module, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The default place of a line, for a sink that wants to use it: standard error. */
void log_print(enum log_level level, const char *module, const char *text);

#define log_error(module, ...) log_line(LOG_ERROR, module, __VA_ARGS__)
#define log_warn(module, ...) log_line(LOG_WARN, module, __VA_ARGS__)
#define log_info(module, ...) log_line(LOG_INFO, module, __VA_ARGS__)
#define log_debug(module, ...) log_line(LOG_DEBUG, module, __VA_ARGS__)

#endif
