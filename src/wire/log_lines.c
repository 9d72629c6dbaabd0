/* SPDX-License-Identifier: Apache-2.0 */
/* The usual line is borrowed as it stands; a copy is made of one that has to be changed. */
#include "wire/log_lines.h"
#include <string.h>

#define BREAK "<br>"
#define RULE "-----------" /* what stands behind XXL-JOB's own breaks */
#define REPLACEMENT "\xef\xbf\xbd"
#define CHANGED_MAX (4 * LOG_LINE_MAX) /* each bad byte becomes three */

void log_lines_begin(struct log_lines *l, struct slice text)
{
    l->rest = text;
    buf_init(&l->line, CHANGED_MAX);
}

void log_lines_done(struct log_lines *l)
{
    buf_done(&l->line);
}

static bool breaks(struct slice s)
{
    const size_t n = sizeof(BREAK RULE) - 1;
    return s.n >= n && memcmp(s.p, BREAK RULE, n) == 0;
}

static bool is_plain(struct slice s)
{
    return utf8_valid(s.p, s.n) && !(s.n && memmem(s.p, s.n, BREAK RULE, sizeof(BREAK RULE) - 1));
}

static void put_changed(struct buf *to, struct slice s)
{
    while (s.n) {
        size_t n = 1;
        if (breaks(s)) {
            n = sizeof(BREAK) - 1;
            buf_char(to, '\n');
        } else if ((n = utf8_char(s.p, s.n)) > 0) {
            buf_add(to, s.p, n);
        } else {
            n = 1;
            buf_text(to, REPLACEMENT);
        }
        s = slice_of(s.p + n, s.n - n);
    }
}

bool log_lines_next(struct log_lines *l, struct slice *ret)
{
    struct slice line;
    if (!slice_cut(&l->rest, '\n', &line))
        return false;
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    struct slice kept = slice_of(line.p, line.n);
    if (line.n > LOG_LINE_MAX)
        kept.n = utf8_cut(line.p, line.n, LOG_LINE_MAX);
    if (kept.n == line.n && is_plain(kept)) {
        *ret = kept;
        return true;
    }
    buf_reset(&l->line);
    put_changed(&l->line, kept);
    if (kept.n < line.n)
        buf_printf(&l->line, " [cut: this line has %zu bytes]", line.n);
    *ret = slice_of(buf_str(&l->line), l->line.len);
    return true;
}
