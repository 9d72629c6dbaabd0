/* SPDX-License-Identifier: Apache-2.0 */
/* log_lines.h - bytes of a log as lines of text that people read. Pure.
 *
 * A line ends with LF or CRLF; the rest of the text is its last line. What is not UTF-8 becomes
 * U+FFFD. A line of more than LOG_LINE_MAX bytes is cut at the end of a character, and says how
 * long it was. XXL-JOB writes lines that hold several, with <br> before each
 * ("<br>----------- …"): these get a line feed in its place and stay one line, so that a line keeps
 * the number that its executor gave it. Every other <br> is the job's own and stays. */
#ifndef PEAL_WIRE_LOG_LINES_H
#define PEAL_WIRE_LOG_LINES_H

#include "base/buf.h"

#define LOG_LINE_MAX 65536 /* bytes of a line as it came */

struct log_lines { /* private, all of it */
    struct slice rest;
    struct buf line;
};

/* text is borrowed until log_lines_done. */
void log_lines_begin(struct log_lines *l, struct slice text);
/* The next line, valid until the next call. False: there is none. */
bool log_lines_next(struct log_lines *l, struct slice *ret);
void log_lines_done(struct log_lines *l);

#endif
