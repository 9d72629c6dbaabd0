/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - what the process says about itself: one line an event, logfmt, on standard error.
 *
 * error = someone must act; warn = we went on, and say how; info = life cycle; debug = the rest.
 * A line that repeats (same format) more than 20 times in a second is counted, not printed.
 * Never log tokens, passwords, or parameters above debug. Any thread. */
#ifndef PEAL_BASE_LOG_H
#define PEAL_BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_set_level(enum log_level level);
/* The text becomes msg="…"; control characters and quotes are escaped. */
void log_line(enum log_level level, const char *module, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(module, ...) log_line(LOG_ERROR, module, __VA_ARGS__)
#define log_warn(module, ...) log_line(LOG_WARN, module, __VA_ARGS__)
#define log_info(module, ...) log_line(LOG_INFO, module, __VA_ARGS__)
#define log_debug(module, ...) log_line(LOG_DEBUG, module, __VA_ARGS__)

#endif
