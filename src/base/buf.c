/* SPDX-License-Identifier: Apache-2.0 */
/* Room doubles up to the maximum. A failed buffer stays failed and keeps what it had, so that a
 * builder looks once at the end. */
#include "base/buf.h"
#include "base/mem.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf)BUF_INIT(max);
}

void buf_done(struct buf *b)
{
    free(b->data);
    buf_init(b, b->max);
}

void buf_reset(struct buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data)
        b->data[0] = '\0';
}

char *buf_room(struct buf *b, size_t n)
{
    if (n > b->max || b->len > b->max - n) {
        b->failed = true;
        return NULL;
    }
    if (b->len + n < b->cap)
        return b->data + b->len;
    size_t cap = b->cap ? b->cap * 2 : 256;
    while (cap <= b->len + n)
        cap *= 2;
    if (cap > b->max + 1)
        cap = b->max + 1;
    char *data = realloc(b->data, cap);
    if (!data) {
        b->failed = true;
        return NULL;
    }
    b->data = data;
    b->cap = cap;
    return data + b->len;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    char *to = buf_room(b, n);
    if (!to)
        return;
    if (n)
        memcpy(to, p, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void buf_text(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text));
}

void buf_slice(struct buf *b, struct slice s)
{
    buf_add(b, s.p, s.n);
}

void buf_char(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_i64(struct buf *b, int64_t v)
{
    char digits[24];
    char *end = digits + sizeof(digits), *p = end;
    uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do {
        *--p = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    if (v < 0)
        *--p = '-';
    buf_add(b, p, (size_t)(end - p));
}

void buf_printf(struct buf *b, const char *format, ...)
{
    char small[512];
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(small, sizeof(small), format, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
    } else if ((size_t)n < sizeof(small)) {
        buf_add(b, small, (size_t)n);
    } else if (buf_room(b, (size_t)n)) {
        vsnprintf(b->data + b->len, (size_t)n + 1, format, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void buf_eat(struct buf *b, size_t n)
{
    if (n >= b->len) {
        b->len = 0;
    } else {
        memmove(b->data, b->data + n, b->len - n);
        b->len -= n;
    }
    if (b->data)
        b->data[b->len] = '\0';
}

const char *buf_str(const struct buf *b)
{
    return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
    char *data = b->data ? b->data : mem_new(1);
    b->data = NULL;
    b->len = b->cap = 0;
    b->failed = false;
    return data;
}
