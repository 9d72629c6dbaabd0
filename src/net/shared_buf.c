/* SPDX-License-Identifier: Apache-2.0 */
/* One block: the chunk's size line, the content, CRLF. */
#include "net/shared_buf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

struct shared_buf *shared_buf_new(struct slice bytes)
{
    char line[24];
    int at = snprintf(line, sizeof(line), "%zx\r\n", bytes.n);
    struct shared_buf *b = mem_new(sizeof(*b) + (size_t)at + bytes.n + 2);
    b->refs = 1;
    b->at = (uint32_t)at;
    b->n = bytes.n;
    memcpy(b->bytes, line, (size_t)at);
    memcpy(b->bytes + at, bytes.p, bytes.n);
    memcpy(b->bytes + at + bytes.n, "\r\n", 2);
    return b;
}

struct shared_buf *shared_buf_hold(struct shared_buf *b)
{
    b->refs++;
    return b;
}

void shared_buf_drop(struct shared_buf *b)
{
    if (b && --b->refs == 0)
        free(b);
}

struct slice shared_buf_content(const struct shared_buf *b)
{
    return slice_of(b->bytes + b->at, b->n);
}

struct slice shared_buf_chunk(const struct shared_buf *b)
{
    return slice_of(b->bytes, b->at + b->n + 2);
}
