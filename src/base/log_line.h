/* SPDX-License-Identifier: Apache-2.0 */
/* log_line.h - what an event looks like as one line. Pure.
 *
 * Whatever the text holds, the line has one line feed, at its end, and no other control character:
 * a text cannot make a second line up, or steer a terminal. */
#ifndef PEAL_BASE_LOG_LINE_H
#define PEAL_BASE_LOG_LINE_H

#include "base/buf.h"
#include "base/log.h"

#define LOG_TEXT_MAX 2048 /* bytes of a text, its NUL included; longer ones are cut */
/* Bytes of the longest line: JSON writes six for a control character. */
#define LOG_LINE_MAX (6 * LOG_TEXT_MAX + 512)

struct log_event { /* texts are borrowed */
    enum log_level level;
    const char *module; /* a name of ours: printable ASCII */
    const char *text;
    int repeated;  /* such events of the second before that were not written; 0: none */
    int64_t at_ms; /* wall time */
};

void log_line_write(struct buf *out, enum log_format format, const struct log_event *e);

#endif
