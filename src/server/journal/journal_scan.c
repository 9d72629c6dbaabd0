/* SPDX-License-Identifier: Apache-2.0 */
/* journal_scan.c - the journal's bytes: headers and records, written and read; no file here. */
#include "base/crc32c.h"
#include "server/journal/journal_format.h"
#include <string.h>

#define STEP 8 /* records begin on multiples of it */

static const char magic[8] = { 'P', 'E', 'A', 'L', 'J', 'R', 'N', 'L' };

static void put32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> 8 * i);
}

static void put64(unsigned char *p, uint64_t v)
{
    put32(p, (uint32_t)v);
    put32(p + 4, (uint32_t)(v >> 32));
}

uint64_t journal_life(const char *recorder)
{
    uint64_t life = 0;
    for (int i = 0; i < 16 && recorder[i]; i++) {
        int digit = hex_digit(recorder[i]);
        life = life << 4 | (uint64_t)(digit > 0 ? digit : 0);
    }
    return life;
}

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const unsigned char *p)
{
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

/* ---- headers: magic 8, checksum of the rest 4, version 1, zeros 3, generation 8, salt 8, owner
 * 16, zeros -- */

void journal_header(unsigned char *to, uint64_t generation, uint64_t salt,
                    const struct journal_owner *owner)
{
    memset(to, 0, JOURNAL_HEADER);
    memcpy(to, magic, sizeof(magic));
    to[12] = JOURNAL_VERSION;
    put64(to + 16, generation);
    put64(to + 24, salt);
    put64(to + 32, owner->life);
    put64(to + 40, owner->before);
    put32(to + 8, crc32c(0, to + 12, JOURNAL_HEADER - 12));
}

static bool header_ok(const unsigned char *p)
{
    return memcmp(p, magic, sizeof(magic)) == 0 &&
           get32(p + 8) == crc32c(0, p + 12, JOURNAL_HEADER - 12);
}

static bool zero(const unsigned char *p, size_t n)
{
    while (n && !*p) {
        p++;
        n--;
    }
    return n == 0;
}

static void read_headers(const unsigned char *p, struct journal_scan *ret)
{
    const unsigned char *a = p, *b = p + JOURNAL_SLOT;
    bool good_a = header_ok(a), good_b = header_ok(b);
    if (!good_a && !good_b)
        return;
    if (!good_a || (good_b && get64(b + 16) > get64(a + 16))) {
        const unsigned char *swap = a;
        a = b;
        b = swap;
    }
    ret->header = true;
    ret->both = good_a && good_b && memcmp(a, b, JOURNAL_HEADER) == 0;
    ret->odd = !(good_a && good_b) && !zero(b, JOURNAL_HEADER);
    ret->version = a[12];
    ret->generation = get64(a + 16);
    ret->salt = get64(a + 24);
    /* Two owners of one generation: the file was about to change hands, or an older release, which
     * knows no owners, has written on. */
    if (!good_a || !good_b || get64(b + 16) != ret->generation || memcmp(a + 32, b + 32, 16) == 0)
        ret->owner = (struct journal_owner){ get64(a + 32), get64(a + 40) };
}

/* ---- records: checksum 4, bytes of message 4, number 8, log id 8, at 8, code 4, mark 4, message
 * -- */

static uint32_t record_crc(const unsigned char *p, uint64_t salt)
{
    unsigned char s[8];
    put64(s, salt);
    return crc32c(crc32c(0, s, sizeof(s)), p + 4, JOURNAL_RECORD - 4 + get32(p + 4));
}

static size_t record_size(const unsigned char *p)
{
    return (JOURNAL_RECORD + (size_t)get32(p + 4) + STEP - 1) / STEP * STEP;
}

void journal_record(struct buf *out, const struct journal_result *r)
{
    static const char zeros[STEP];
    size_t n = r->msg.n;
    if (n > JOURNAL_MSG_MAX)
        n = utf8_cut(r->msg.p, n, JOURNAL_MSG_MAX);
    unsigned char head[JOURNAL_RECORD] = { 0 };
    put32(head + 4, (uint32_t)n);
    put64(head + 16, (uint64_t)r->log_id);
    put64(head + 24, (uint64_t)r->at_ms);
    put32(head + 32, (uint32_t)r->code);
    buf_add(out, head, sizeof(head));
    buf_add(out, r->msg.p, n);
    buf_add(out, zeros, record_size(head) - JOURNAL_RECORD - n);
}

void journal_seal(char *records, size_t bytes, uint64_t salt, uint64_t number)
{
    for (size_t at = 0; at < bytes;) {
        unsigned char *p = (unsigned char *)records + at;
        put64(p + 8, number++);
        put32(p + 36, (uint32_t)salt);
        put32(p, record_crc(p, salt));
        at += record_size(p);
    }
}

/* A whole record of this generation with this number or a later one? */
static bool record_ok(const unsigned char *p, size_t room, const struct journal_scan *s)
{
    return room >= JOURNAL_RECORD && get32(p + 36) == (uint32_t)s->salt &&
           get64(p + 8) >= s->next && get32(p + 4) <= JOURNAL_MSG_MAX && record_size(p) <= room &&
           get32(p) == record_crc(p, s->salt);
}

static void take_record(const unsigned char *p, journal_each_fn *each, void *ctx,
                        struct journal_scan *s)
{
    struct journal_result r = {
        .log_id = (int64_t)get64(p + 16),
        .at_ms = (int64_t)get64(p + 24),
        .code = (int32_t)get32(p + 32),
        .msg = slice_of((const char *)p + JOURNAL_RECORD, get32(p + 4)),
    };
    if (each)
        each(ctx, &r);
    s->records++;
    s->next = get64(p + 8) + 1;
    s->end += record_size(p);
}

/* Was a record begun here? Its mark stands in the first 40 bytes; an older generation has another.
 */
static bool begun(const unsigned char *p, size_t room, const struct journal_scan *s)
{
    return room >= JOURNAL_RECORD && get32(p + 36) == (uint32_t)s->salt;
}

/* Where a record may begin, from at on: n if nowhere. A file is mostly empty, so only its mark is
 * looked at. */
static size_t next_mark(const unsigned char *p, size_t at, size_t n, const struct journal_scan *s)
{
    unsigned char mark[4];
    put32(mark, (uint32_t)s->salt);
    uint32_t want, got;
    memcpy(&want, mark, sizeof(want));
    for (; at < n && n - at >= JOURNAL_RECORD; at += STEP) {
        memcpy(&got, p + at + 36, sizeof(got));
        if (got == want)
            return at;
    }
    return n;
}

void journal_scan(const void *bytes, size_t n, journal_each_fn *each, void *ctx,
                  struct journal_scan *ret)
{
    const unsigned char *p = bytes;
    memset(ret, 0, sizeof(*ret));
    if (n < JOURNAL_HEAD)
        return;
    read_headers(p, ret);
    if (!ret->header || ret->version != JOURNAL_VERSION)
        return;
    ret->end = JOURNAL_HEAD;
    for (;;) {
        while (record_ok(p + ret->end, n - ret->end, ret))
            take_record(p + ret->end, each, ctx, ret);
        size_t at = next_mark(p, ret->end, n, ret);
        while (at < n && !record_ok(p + at, n - at, ret))
            at = next_mark(p, at + STEP, n, ret);
        if (at >= n)
            break;
        ret->gaps++;
        ret->lost += at - ret->end;
        ret->end = at;
    }
    ret->torn = begun(p + ret->end, n - ret->end, ret);
}
