/* SPDX-License-Identifier: Apache-2.0 */
/* A journal is written as the input says (appends and resets), then damaged as it says, then read.
 * Whatever the bytes are, reading stays inside them and its figures agree; undamaged, exactly what
 * was written since the last reset comes back. Input: operations of one byte and their operands. */
#include "server/journal/journal_format.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROOM 32768u

static unsigned char file[ROOM];

struct input {
    const uint8_t *p;
    size_t n;
};

struct written {
    int64_t id;
    size_t at; /* of its message in texts */
    uint8_t n;
};

static struct state {
    uint64_t generation, salt, next;
    size_t end, length;
    struct written results[512];
    size_t n, seen;
    size_t text;
    bool damaged;
} s;

static char texts[ROOM];

static void check(bool ok)
{
    if (!ok)
        abort();
}

static unsigned take(struct input *in)
{
    if (!in->n)
        return 0;
    in->n--;
    return *in->p++;
}

static void reset(struct input *in)
{
    s.generation++;
    s.salt = s.salt * 2862933555777941757u + take(in) + 3037000493u;
    s.end = JOURNAL_HEAD;
    s.next = s.n = 0;
    struct journal_owner owner = { s.salt, s.generation };
    journal_header(file + (s.generation & 1) * JOURNAL_SLOT, s.generation, s.salt, &owner);
}

static void append(struct input *in)
{
    size_t n = take(in);
    n = n < in->n ? n : in->n;
    struct journal_result r = { (int64_t)take(in) - 3, (int64_t)s.next, (int)take(in) - 3, { 0 } };
    n = n < in->n ? n : in->n;
    r.msg = slice_of((const char *)in->p, n);
    in->p += n;
    in->n -= n;
    struct buf b = BUF_INIT(ROOM);
    journal_record(&b, &r);
    if (b.len <= ROOM - s.end && s.n < 512 && s.text + n <= sizeof(texts)) {
        journal_seal(b.data, b.len, s.salt, s.next++);
        memcpy(file + s.end, b.data, b.len);
        s.end += b.len;
        memcpy(texts + s.text, r.msg.p, n);
        s.results[s.n++] = (struct written){ r.log_id, s.text, (uint8_t)n };
        s.text += n;
    }
    buf_done(&b);
}

static void damage(struct input *in)
{
    size_t at = take(in) << 8;
    at |= take(in);
    file[at % ROOM] ^= (unsigned char)take(in);
    s.damaged = true;
}

static void on_result(void *ctx, const struct journal_result *r)
{
    (void)ctx;
    const unsigned char *msg = (const unsigned char *)r->msg.p;
    check(msg >= file + JOURNAL_HEAD && msg + r->msg.n <= file + s.length);
    check(r->msg.n <= JOURNAL_MSG_MAX);
    if (!s.damaged) {
        const struct written *w = &s.results[s.seen];
        check(s.seen < s.n && w->id == r->log_id && w->n == r->msg.n &&
              memcmp(texts + w->at, msg, w->n) == 0);
    }
    s.seen++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    memset(file, 0, sizeof(file));
    memset(&s, 0, sizeof(s));
    s.length = ROOM;
    reset(&in);
    while (in.n) {
        unsigned op = take(&in);
        if (op < 128)
            append(&in);
        else if (op < 160)
            reset(&in);
        else if (op < 250)
            damage(&in);
        else { /* cut */
            s.length = take(&in) << 8;
            s.length = (s.length | take(&in)) % (ROOM + 1);
            s.damaged = true;
        }
    }
    struct journal_scan scan;
    journal_scan(file, s.length, on_result, NULL, &scan);
    check(scan.records == s.seen && scan.end <= s.length);
    check(scan.header || (!scan.records && !scan.end));
    check(!scan.header || scan.version != JOURNAL_VERSION || scan.end >= JOURNAL_HEAD);
    check(scan.lost <= scan.end && (scan.gaps > 0) == (scan.lost > 0));
    check(s.damaged || (scan.header && s.seen == s.n && !scan.gaps && !scan.torn && !scan.odd &&
                        scan.end == s.end && scan.next == s.next));
    return 0;
}
