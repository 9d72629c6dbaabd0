/* SPDX-License-Identifier: Apache-2.0 */
/* buf.h - a growing byte buffer that is born with a maximum.
 *
 * Appending past the maximum (or without memory) sets "failed" and drops the bytes, so that a
 * builder can write many pieces and look once at the end. The bytes are always followed by a
 * NUL that does not count. Owned by one thread at a time. */
#ifndef PEAL_BASE_BUF_H
#define PEAL_BASE_BUF_H

#include "base/str.h"

struct buf {
    char *data; /* NULL until the first byte */
    size_t len, cap, max;
    bool failed;
};

#define BUF_INIT(maximum)                                                                          \
    {                                                                                              \
        NULL, 0, 0, (maximum), false                                                               \
    }

void buf_init(struct buf *b, size_t max);
void buf_done(struct buf *b);
void buf_reset(struct buf *b); /* empty, not failed; keeps the memory */
/* Room for n more bytes at data + len; NULL (and failed) if the maximum forbids. */
char *buf_room(struct buf *b, size_t n);
void buf_add(struct buf *b, const void *p, size_t n);
void buf_text(struct buf *b, const char *text);
void buf_slice(struct buf *b, struct slice s);
void buf_char(struct buf *b, char c);
void buf_i64(struct buf *b, int64_t v);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Drop n bytes at the front. */
void buf_eat(struct buf *b, size_t n);
/* The bytes as text ("" when empty); valid until the next change. */
const char *buf_str(const struct buf *b);
/* Give the bytes (terminated, never NULL) to the caller, who frees them; b is empty afterwards. */
char *buf_take(struct buf *b);

#endif
