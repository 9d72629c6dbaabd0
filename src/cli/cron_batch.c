/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: one block is read, all its lines are answered into one buffer, that is written, and so
 * on; the end of an unfinished line moves to the front of the block. Zones are looked up once. */
#include "cli/cron_batch.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "cron/rfc3339.h"
#include "server/zones.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK = 256 * 1024,    /* also the longest line; a longer one is INVALID */
    OUT_SOFT = 256 * 1024, /* written when it has grown beyond */
    OUT_MAX = 64 * 1024 * 1024,
    TEXT_MAX = CRON_TEXT_MAX + 1, /* one more than allowed, to be refused by the parser */
};

struct batch {
    int in, out, count, last_year;
    enum dst_policy dst;
    struct zones *files;
    struct textmap zones; /* name -> zone, counted; only names that exist, so it is bounded */
    char recent_name[ZONES_NAME_MAX + 1];
    size_t recent_len;
    struct zone *recent; /* borrowed from zones */
    struct buf answer;
};

static struct zone *batch_zone(struct batch *b, struct slice name)
{
    if (b->recent && name.n == b->recent_len && memcmp(name.p, b->recent_name, name.n) == 0)
        return b->recent;
    if (name.n == 0 || name.n > ZONES_NAME_MAX || memchr(name.p, '\0', name.n))
        return NULL;
    struct zone *z = textmap_find(&b->zones, name);
    char text[ZONES_NAME_MAX + 1];
    text_copy(text, sizeof(text), name);
    if (!z) {
        if (zones_get(b->files, text, &z, NULL))
            return NULL;
        textmap_set(&b->zones, name, z);
    }
    memcpy(b->recent_name, text, sizeof(text));
    b->recent_len = name.n;
    b->recent = z;
    return z;
}

/* \uXXXX: control characters become their byte; the rest one that the parser refuses anyway. */
static bool unescape_u(const char *p, size_t n, char *to)
{
    unsigned code = 0;
    if (n < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return false;
        code = code << 4 | (unsigned)digit;
    }
    *to = code < 0x80 ? (char)code : (char)0xff;
    return true;
}

/* Resolve the escapes of an expression. Text beyond the maximum is cut, and so refused later. */
static bool unescape(struct slice s, char to[TEXT_MAX], size_t *ret_n)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n && n < TEXT_MAX; i++) {
        char c = s.p[i];
        if (c == '\\') {
            if (++i == s.n)
                return false;
            switch (s.p[i]) {
            case '\\':
                break;
            case 't':
                c = '\t';
                break;
            case 'n':
                c = '\n';
                break;
            case 'r':
                c = '\r';
                break;
            case 'u':
                if (!unescape_u(s.p + i + 1, s.n - i - 1, &c))
                    return false;
                i += 4;
                break;
            default:
                return false;
            }
        }
        to[n++] = c;
    }
    *ret_n = n;
    return true;
}

/* The next column of a line; false when there is none left. */
static bool column(struct slice *line, struct slice *ret)
{
    if (!line->p)
        return false;
    const char *tab = memchr(line->p, '\t', line->n);
    size_t n = tab ? (size_t)(tab - line->p) : line->n;
    *ret = slice_of(line->p, n);
    *line = tab ? slice_of(tab + 1, line->n - n - 1) : slice_of(NULL, 0);
    return true;
}

static bool read_line(struct batch *b, struct slice line, struct cron *ret_cron,
                      struct zone **ret_zone, int64_t *ret_ms)
{
    struct slice expression, zone, start;
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    if (!column(&line, &expression) || !column(&line, &zone) || !column(&line, &start))
        return false;
    const char *p = expression.p;
    char text[TEXT_MAX];
    size_t n = expression.n;
    if (memchr(p, '\\', n)) {
        if (!unescape(expression, text, &n))
            return false;
        p = text;
    }
    *ret_zone = batch_zone(b, zone);
    return *ret_zone && !rfc3339_parse(start, ret_ms, NULL) &&
           !cron_parse(slice_of(p, n), b->last_year, ret_cron, NULL);
}

static void answer(struct batch *b, struct slice line)
{
    struct cron c;
    struct zone *z;
    int64_t ms;
    if (!read_line(b, line, &c, &z, &ms)) {
        buf_text(&b->answer, "INVALID\n");
        return;
    }
    int i = 0;
    for (; i < b->count && !cron_next(&c, z, b->dst, ms, &ms); i++) {
        if (i)
            buf_char(&b->answer, ',');
        buf_i64(&b->answer, ms);
    }
    buf_text(&b->answer, i ? "\n" : "-\n");
}

static enum err write_answer(struct batch *b, struct why *why)
{
    if (b->answer.failed) {
        why_set(why, "out of memory for the answers");
        return ERR_NOMEM;
    }
    if (!file_write(b->out, slice_of(b->answer.data, b->answer.len))) {
        why_set(why, "cannot write: %s", strerror(errno));
        return ERR_IO;
    }
    buf_reset(&b->answer);
    return OK;
}

/* Answer the complete lines among the first n bytes. Returns how many bytes they took. */
static enum err answer_lines(struct batch *b, const char *block, size_t n, bool *skipping,
                             size_t *ret_used, struct why *why)
{
    size_t used = 0;
    const char *newline;
    while ((newline = memchr(block + used, '\n', n - used))) {
        size_t len = (size_t)(newline - block) - used;
        if (*skipping)
            buf_text(&b->answer, "INVALID\n");
        else
            answer(b, slice_of(block + used, len));
        *skipping = false;
        used += len + 1;
        if (b->answer.len < OUT_SOFT)
            continue;
        enum err err = write_answer(b, why);
        if (err)
            return err;
    }
    *ret_used = used;
    return OK;
}

static enum err run(struct batch *b, char *block, struct why *why)
{
    size_t n = 0;
    bool skipping = false; /* inside a line that is too long */
    for (;;) {
        ssize_t r = read(b->in, block + n, BLOCK - n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0) {
            why_set(why, "cannot read: %s", strerror(errno));
            return ERR_IO;
        }
        if (r == 0)
            break;
        n += (size_t)r;
        size_t used = 0;
        enum err err = answer_lines(b, block, n, &skipping, &used, why);
        if (!err)
            err = write_answer(b, why);
        if (err)
            return err;
        n -= used;
        memmove(block, block + used, n);
        if (n == BLOCK) {
            skipping = true;
            n = 0;
        }
    }
    if (skipping)
        buf_text(&b->answer, "INVALID\n");
    else if (n)
        answer(b, slice_of(block, n)); /* the last line lacks its newline */
    return write_answer(b, why);
}

enum err cron_batch(int in, int out, int count, enum dst_policy dst, struct why *why)
{
    struct batch b = { .in = in, .out = out, .count = count, .dst = dst };
    b.last_year = wall_year(clock_wall_ms(), zone_utc()) + 100;
    b.files = zones_new(NULL);
    textmap_init(&b.zones);
    buf_init(&b.answer, OUT_MAX);
    char *block = mem_new(BLOCK);
    enum err err = run(&b, block, why);
    free(block);
    buf_done(&b.answer);
    void *zone;
    for (size_t i = 0; textmap_next(&b.zones, &i, &zone);)
        zone_unref(zone);
    textmap_done(&b.zones);
    zones_free(b.files);
    return err;
}
